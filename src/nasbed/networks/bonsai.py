"""Networks of Bonsai-Net: one class for everything that a search holds, with gates, and for what is left, without."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from nasbed.core.architecture import Architecture
from nasbed.networks.blocks import DropPath, added, classifier, conv_bn, set_drop_path
from nasbed.networks.darts import operation
from nasbed.networks.skeletons import resized
from nasbed.spaces.bonsai.costs import BonsaiSkeleton
from nasbed.spaces.bonsai.frame import ENTRANCES, OPERATIONS
from nasbed.spaces.bonsai.genotype import BonsaiGenotype
from nasbed.spaces.image_size import Image


def network(arch: Architecture, *, classes: int, channels_in: int, image: Image, skeleton: Any) -> nn.Module:
    """The network of what lies on a path from the image to the output.

    Args:
        arch, classes, channels_in, image, skeleton: As of :class:`~nasbed.networks.NetworkBuilder`.
    """
    genotype = BonsaiGenotype.of(arch).pruned()
    sized = resized(skeleton, BonsaiSkeleton, classes=classes, image_channels=channels_in, image=image)
    sized.check(genotype.frame)
    return BonsaiNetwork(genotype, sized)


class BonsaiFlow(NamedTuple):
    """What an output, an entrance or a node carries; ``live`` is 0 if closed gates cut it off from the image, and None
    where there are no gates."""

    values: Tensor
    live: Tensor | None


class BonsaiNetwork(nn.Module):
    """A 3x3 stem, the cells of a pruned genotype, a classifier. Parameters are named alike in all networks of a frame.
    Where no path leads to the output, the classifier sees zeros."""

    def __init__(self, genotype: BonsaiGenotype, skeleton: BonsaiSkeleton) -> None:
        super().__init__()
        self.genotype = genotype
        widths = genotype.frame.channels(skeleton.channels)
        self.stem = conv_bn(skeleton.image_channels, skeleton.channels, 3)
        self.cells = nn.ModuleDict(
            {
                str(position): BonsaiNetworkCell(genotype, position, widths)
                for position, cell in enumerate(genotype.cells)
                if any(cell.operations)
            }
        )
        self.output = (widths[-1], *skeleton.output(genotype.frame))
        self.head = classifier(widths[-1], skeleton.classes)
        if skeleton.classifier == "pixels":
            self.head = nn.Sequential(nn.Flatten(), nn.Linear(math.prod(self.output), skeleton.classes))

    def forward(self, x: Tensor, gates: Tensor | None = None) -> Tensor:
        """The logits. ``gates`` has a factor for every flag of the frame, by which the flagged output is multiplied.
        With factors 0 and 1, the network equals the one without the operations and inputs that have 0."""
        gate_values = None if gates is None else gates.unbind()
        live = None if gates is None else gates.new_ones(())
        outputs: list[BonsaiFlow | None] = [BonsaiFlow(self.stem(x), live)]
        for name in map(str, range(len(self.genotype.cells))):
            outputs.append(self.cells[name](outputs, gate_values) if name in self.cells else None)
        last = outputs[-1]
        logits: Tensor = self.head(x.new_zeros(len(x), *self.output) if last is None else _cut(last))
        return logits

    def set_drop_path(self, probability: float) -> bool:
        """From now on drop each path of a sample with this probability while training. Returns whether a recorded step
        remains valid."""
        return set_drop_path(self, probability)


class BonsaiNetworkCell(nn.Module):
    """Entrances and nodes are normalised. A reducing cell doubles the channels at its entrances and halves the
    resolution on the edges from there."""

    def __init__(self, genotype: BonsaiGenotype, position: int, widths: Sequence[int]) -> None:
        super().__init__()
        frame, cell = genotype.frame, genotype.cells[position]
        self.position, self.last = position, frame.targets[-1]
        previous_width, width, reduces = widths[position], widths[position + 1], frame.cells[position] == "r"
        self.input_flags = {number: frame.inputs(position)[number] for number in cell.inputs}
        self.inputs = nn.ModuleDict({str(number): _input(widths[number], previous_width) for number in cell.inputs})
        self.into: dict[int, list[tuple[int, str, int]]] = {}
        self.operations = nn.ModuleDict()
        for edge, (source, target) in enumerate(frame.edges):
            stride = 2 if reduces and source < ENTRANCES else 1
            flags = dict(zip(OPERATIONS, frame.operations(position, edge), strict=True))
            for name in cell.operations[edge]:
                key = f"{source}-{target}-{name}"
                self.operations[key] = operation(name, width, stride)
                self.into.setdefault(target, []).append((source, key, flags[name]))
        used = {source for terms in self.into.values() for source, _, _ in terms}
        self.norms = nn.ModuleDict({str(node): nn.BatchNorm2d(width) for node in sorted(used | set(self.into))})
        self.widening = nn.ModuleDict(
            {
                str(entrance): nn.Conv2d(previous_width, width, 1, bias=False) if reduces else nn.Identity()
                for entrance in range(ENTRANCES)
                if entrance in used
            }
        )
        self.drop_path = DropPath()

    def forward(self, outputs: Sequence[BonsaiFlow | None], gates: Sequence[Tensor] | None) -> BonsaiFlow:
        nodes: dict[int, BonsaiFlow] = {}
        if "0" in self.widening:
            nodes[0] = self._entered(0, _present(outputs[self.position]))
        if "1" in self.widening:
            earlier = [
                _weighed(self.inputs[str(number)](flow.values), flow, flag, gates)
                for number, flag, flow in ((n, flag, _present(outputs[n])) for n, flag in self.input_flags.items())
            ]
            nodes[1] = self._entered(1, _summed(earlier))
        for target, terms in self.into.items():
            carried = [
                _weighed(self._carried(self.operations[key], nodes[source].values), nodes[source], flag, gates)
                for source, key, flag in terms
            ]
            total = _summed(carried)
            nodes[target] = BonsaiFlow(self.norms[str(target)](total.values), total.live)
        return nodes[self.last]

    def _entered(self, entrance: int, flow: BonsaiFlow) -> BonsaiFlow:
        return BonsaiFlow(self.norms[str(entrance)](self.widening[str(entrance)](flow.values)), flow.live)

    def _carried(self, operation: nn.Module, x: Tensor) -> Tensor:
        """Plain skips are never dropped."""
        result: Tensor = operation(x)
        return result if isinstance(operation, nn.Identity) else self.drop_path(result)


def remaining_weights(network: BonsaiNetwork, previous: BonsaiNetwork) -> None:
    """Give a network the weights and statistics of one that has all it has, and more."""
    stored: Mapping[str, Tensor] = previous.state_dict()
    network.load_state_dict({name: stored[name] for name in network.state_dict()})


def _input(c_in: int, c_out: int) -> nn.Module:
    """An earlier output brought to the channels and the resolution of the one before: where the former were doubled
    the latter was halved."""
    return nn.Identity() if c_in == c_out else nn.Conv2d(c_in, c_out, 1, stride=c_out // c_in, bias=False)


def _weighed(values: Tensor, source: BonsaiFlow, flag: int, gates: Sequence[Tensor] | None) -> BonsaiFlow:
    """Values times their gate, and whether they carry anything: through an open gate from a live source."""
    if gates is None or source.live is None:
        return BonsaiFlow(values, None)
    factor = gates[flag] * source.live
    return BonsaiFlow(values * factor.to(values.dtype), factor.detach().sign().abs())


def _summed(terms: Sequence[BonsaiFlow]) -> BonsaiFlow:
    lives = [term.live for term in terms if term.live is not None]
    return BonsaiFlow(added([term.values for term in terms]), torch.stack(lives).amax() if lives else None)


def _present(flow: BonsaiFlow | None) -> BonsaiFlow:
    assert flow is not None  # a cell without operations is on no path
    return flow


def _cut(flow: BonsaiFlow) -> Tensor:
    """Zeros where closed gates cut a flow off."""
    return flow.values if flow.live is None else flow.values * flow.live.to(flow.values.dtype)
