"""Networks of Bonsai-Net: one class for everything that a search holds, with gates, and for what is left, without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from nasbed.datasets.dataset import Dataset
from nasbed.networks.blocks import DropPath, added, classifier, conv_bn
from nasbed.networks.darts import operation
from nasbed.oneshot.bonsai.space import ENTRANCES, OPERATIONS, BonsaiArchitecture
from nasbed.training.devices import chance_kept
from nasbed.training.draws import initial_weights


def untrained(arch: BonsaiArchitecture, dataset: Dataset, *, channels: int = 8, seed: int = 0) -> BonsaiNetwork:
    """The network of an architecture for a dataset, with the initial weights of a seed, to train from scratch."""
    with chance_kept(torch.device("cpu")):
        network = BonsaiNetwork(arch, channels=channels, channels_in=dataset.shape[0], classes=len(dataset.classes))
    initial_weights(network, seed)
    return network


class Flow(NamedTuple):
    """What an output, an entrance or a node carries; ``live`` is 0 if closed gates cut it off from the image, and None
    where there are no gates."""

    values: Tensor
    live: Tensor | None


class BonsaiNetwork(nn.Module):
    """A 3x3 stem, the cells, a classifier. Parameters are named alike in all networks of a frame."""

    def __init__(self, arch: BonsaiArchitecture, *, channels: int, channels_in: int, classes: int) -> None:
        super().__init__()
        self.arch = arch
        widths = arch.frame.channels(channels)
        self.stem = conv_bn(channels_in, channels, 3)
        self.cells = nn.ModuleDict(
            {str(place): Cell(arch, place, widths) for place in range(len(arch.cells)) if _is_there(arch, place)}
        )
        self.head = classifier(widths[-1], classes)

    def forward(self, x: Tensor, gates: Tensor | None = None) -> Tensor:
        """The logits. ``gates`` has a number for every flag of the frame, by which what it flags is multiplied; 0 and 1
        make of the network what it is without those that have 0."""
        opened = None if gates is None else gates.unbind()
        live = None if gates is None else gates.new_ones(())
        outputs: list[Flow | None] = [Flow(self.stem(x), live)]
        for place in range(len(self.arch.cells)):
            outputs.append(self.cells[str(place)](outputs, opened) if str(place) in self.cells else None)
        logits: Tensor = self.head(_cut(outputs[-1]))
        return logits

    def set_drop_path(self, probability: float) -> None:
        """From now on drop each path of a sample with this probability while training."""
        for module in self.modules():
            if isinstance(module, DropPath):
                module.set(probability)


class Cell(nn.Module):
    """Entrances and nodes are normalised. A reducing cell doubles the channels at its entrances and halves the
    resolution on the edges from there."""

    def __init__(self, arch: BonsaiArchitecture, place: int, widths: Sequence[int]) -> None:
        super().__init__()
        frame, kept = arch.frame, arch.cells[place]
        self.place, self.last = place, frame.targets[-1]
        before, width, reduces = widths[place], widths[place + 1], frame.cells[place] == "r"
        self.input_flags = {each: frame.inputs(place)[each] for each in kept.inputs}
        self.inputs = nn.ModuleDict({str(each): _input(widths[each], before) for each in kept.inputs})
        self.into: dict[int, list[tuple[int, str, int]]] = {}
        self.operations = nn.ModuleDict()
        for edge, (source, target) in enumerate(frame.edges):
            stride = 2 if reduces and source < ENTRANCES else 1
            flags = dict(zip(OPERATIONS, frame.operations(place, edge), strict=True))
            for name in kept.operations[edge]:
                key = f"{source}-{target}-{name}"
                self.operations[key] = operation(name, width, stride)
                self.into.setdefault(target, []).append((source, key, flags[name]))
        used = {source for terms in self.into.values() for source, _, _ in terms}
        self.norms = nn.ModuleDict({str(node): nn.BatchNorm2d(width) for node in sorted(used | set(self.into))})
        self.widening = nn.ModuleDict(
            {
                str(entrance): nn.Conv2d(before, width, 1, bias=False) if reduces else nn.Identity()
                for entrance in range(ENTRANCES)
                if entrance in used
            }
        )
        self.drop_path = DropPath()

    def forward(self, outputs: Sequence[Flow | None], gates: Sequence[Tensor] | None) -> Flow:
        nodes: dict[int, Flow] = {}
        if "0" in self.widening:
            nodes[0] = self._entered(0, _there(outputs[self.place]))
        if "1" in self.widening:
            earlier = [
                _weighed(self.inputs[str(place)](_there(outputs[place]).values), _there(outputs[place]), flag, gates)
                for place, flag in self.input_flags.items()
            ]
            nodes[1] = self._entered(1, _summed(earlier))
        for target, terms in self.into.items():
            carried = [
                _weighed(self._carried(self.operations[key], nodes[source].values), nodes[source], flag, gates)
                for source, key, flag in terms
            ]
            total = _summed(carried)
            nodes[target] = Flow(self.norms[str(target)](total.values), total.live)
        return nodes[self.last]

    def _entered(self, entrance: int, flow: Flow) -> Flow:
        return Flow(self.norms[str(entrance)](self.widening[str(entrance)](flow.values)), flow.live)

    def _carried(self, operation: nn.Module, x: Tensor) -> Tensor:
        """Plain skips are never dropped."""
        result: Tensor = operation(x)
        return result if isinstance(operation, nn.Identity) else self.drop_path(result)


def remaining_weights(network: BonsaiNetwork, before: BonsaiNetwork) -> None:
    """Give a network the weights and statistics of one that has all it has, and more."""
    stored: Mapping[str, Tensor] = before.state_dict()
    network.load_state_dict({name: stored[name] for name in network.state_dict()})


def _is_there(arch: BonsaiArchitecture, place: int) -> bool:
    return any(arch.cells[place].operations)


def _input(c_in: int, c_out: int) -> nn.Module:
    """An earlier output brought to the channels and the resolution of the one before: where the former were doubled
    the latter was halved."""
    return nn.Identity() if c_in == c_out else nn.Conv2d(c_in, c_out, 1, stride=c_out // c_in, bias=False)


def _weighed(values: Tensor, source: Flow, flag: int, gates: Sequence[Tensor] | None) -> Flow:
    """Values times their gate, and whether they carry anything: through an open gate from a live source."""
    if gates is None or source.live is None:
        return Flow(values, None)
    factor = gates[flag] * source.live
    return Flow(values * factor.to(values.dtype), factor.detach().sign().abs())


def _summed(terms: Sequence[Flow]) -> Flow:
    lives = [term.live for term in terms if term.live is not None]
    return Flow(added([term.values for term in terms]), torch.stack(lives).amax() if lives else None)


def _there(flow: Flow | None) -> Flow:
    assert flow is not None  # a cell that is not there is on no path
    return flow


def _cut(flow: Flow | None) -> Tensor:
    flow = _there(flow)
    return flow.values if flow.live is None else flow.values * flow.live.to(flow.values.dtype)
