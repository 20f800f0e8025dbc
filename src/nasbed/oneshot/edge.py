"""An edge of a supernet: all its candidate operations, weighed and added up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from nasbed.core.errors import InvalidOption
from nasbed.networks.blocks import added
from nasbed.networks.bundles import NodeMaps, bundled_outputs, has_channels_last
from nasbed.oneshot.mixing import EdgeMixing
from nasbed.spaces.facts import NONE

MakeOperation = Callable[[str, int, int], nn.Module | None]
"""An operation from its name, channels and stride; None for one that carries nothing."""


class MixedEdge(nn.Module):
    """``candidates`` are the names of those that exist, by their place among all.

    With ``partial`` above 1, one channel in ``partial`` goes through the operations (PC-DARTS, section 3.2). The others
    pass by, through a 2x2 max-pooling where the stride is 2, and then all are shuffled, so that the next edge takes
    others.

    Args:
        make: Makes an operation from its name, channels and stride.
        candidates: The names of the candidates by their place.
        channels: The channels of the edge.
        stride: 1, or 2 to halve the resolution.
        partial: One channel in this many goes through the operations.
    """

    places: Tensor
    shuffled: Tensor

    def __init__(
        self, make: MakeOperation, candidates: Mapping[int, str], *, channels: int, stride: int, partial: int = 1
    ) -> None:
        super().__init__()
        least = partial * stride  # a skip connection that halves the resolution is two of half the channels
        if channels < least:
            raise InvalidOption(
                f"one channel in {partial} goes through an edge's operations, got cells of {channels} channels; take "
                f"{least} or more"
            )
        self.channels, self.stride, self.through = channels, stride, channels // partial
        self.names = dict(candidates)
        modules = {name: make(name, self.through, stride) for name in candidates.values()}
        self.operations = nn.ModuleDict({name: module for name, module in modules.items() if module is not None})
        self.free = frozenset(name for name, module in self.operations.items() if not list(module.parameters()))
        self.carrying = tuple(place for place, name in self.names.items() if name in self.operations)
        self.register_buffer("places", torch.tensor(self.carrying, dtype=torch.int64), persistent=False)
        self.register_buffer("shuffled", shuffle(channels, self.through), persistent=False)

    def forward(self, x: Tensor, mixing: EdgeMixing, shared: dict[str, Tensor] | None = None) -> Tensor | None:
        """What the edge carries, None for nothing at all. Where the mixing names the candidates to compute, what those
        without weights make of ``x`` is put into ``shared``, and taken from there: it is the same on every edge from
        one node."""
        if mixing.computed is None:
            return mixed_sum([EdgePass(self, mixing, NodeOutputs(x, [self]))])
        through, passing = self.divided(x)
        shared = {} if shared is None else shared
        selected = [place for place in mixing.computed if self.names.get(place, NONE) in self.operations]
        weighed = [
            self.weighed_output(self.names[place], through, mixing.operations[place], shared) for place in selected
        ]
        terms = added(weighed) if weighed else None
        if passing is None:
            carried = terms
        elif mixing.computed == ():
            carried = None
        else:
            carried = self.join_channels(terms, passing)
        return carried if carried is None or mixing.edge is None else carried * mixing.edge.to(carried.dtype)

    def weights(self, mixing: EdgeMixing) -> Tensor:
        """The weights of those candidates that carry something, that of the edge included."""
        if self.carrying not in mixing.by_candidates:
            weights = mixing.operations
            if len(self.carrying) != len(weights):
                weights = weights.index_select(0, self.places)
            mixing.by_candidates[self.carrying] = weights if mixing.edge is None else weights * mixing.edge
        return mixing.by_candidates[self.carrying]

    def divided(self, x: Tensor) -> tuple[Tensor, Tensor | None]:
        """The channels that go through the operations, and those that pass by them, if any."""
        if self.through == self.channels:
            return x, None
        through, passing = torch.split(x, [self.through, self.channels - self.through], dim=1)
        return through, passing if self.stride == 1 else functional.max_pool2d(passing, self.stride, ceil_mode=True)

    def join_channels(self, mixed: Tensor | None, passing: Tensor) -> Tensor:
        """The mixed channels, None for zeros, and those that passed by, shuffled."""
        if mixed is None:
            mixed = passing.new_zeros(len(passing), self.through, *passing.shape[2:])
        joined = torch.cat([mixed, passing.to(mixed.dtype)], dim=1)
        if self.channels % self.through:
            return joined.index_select(1, self.shuffled)
        return shuffled(joined, self.channels // self.through)  # the same, and faster backwards

    def weighed_output(self, name: str, x: Tensor, weight: Tensor, shared: dict[str, Tensor]) -> Tensor:
        """What one candidate makes of maps, times its weight. ``shared`` has the outputs of those without weights."""
        output = shared[name] if name in shared else self.operations[name](x)
        if name in self.free:
            shared[name] = output
        return output * weight.to(output.dtype)


def all_candidates(
    with_candidate: Mapping[str, Sequence[MixedEdge]], node: NodeMaps
) -> Iterator[tuple[str, list[Tensor]]]:
    """Each candidate, and what it makes of a node's maps on all edges that have it, in their order."""
    for name, edges in with_candidate.items():
        yield name, candidate_outputs(name, edges, node)


def candidate_outputs(name: str, edges: Sequence[MixedEdge], node: NodeMaps) -> list[Tensor]:
    if name in edges[0].free:
        return [edges[0].operations[name](node.maps)] * len(edges)
    return bundled_outputs([edge.operations[name] for edge in edges], node)


class NodeOutputs:
    """What the edges from one node make of its maps. Each candidate is computed on all of them at once, and only once
    where it has no weights. ``passing`` are the channels that pass by the operations, if any."""

    def __init__(self, x: Tensor, edges: Sequence[MixedEdge]) -> None:
        through, self.passing = edges[0].divided(x)
        self._outputs: dict[MixedEdge, dict[str, Tensor]] = {edge: {} for edge in edges}
        with_candidate = {
            name: [edge for edge in edges if name in edge.operations]
            for name in dict.fromkeys(name for edge in edges for name in edge.operations)
        }
        for name, outputs in all_candidates(with_candidate, NodeMaps(through)):
            for edge, output in zip(with_candidate[name], outputs, strict=True):
                self._outputs[edge][name] = output

    def of(self, edge: MixedEdge) -> list[Tensor]:
        """The outputs of an edge's candidates, in their order."""
        return [self._outputs[edge][name] for name in edge.operations]


class EdgePass(NamedTuple):
    """An edge into a node, how it is mixed, and what it makes of the maps it comes from."""

    edge: MixedEdge
    mixing: EdgeMixing
    outputs: NodeOutputs


def mixed_sum(passes: Sequence[EdgePass]) -> Tensor | None:
    """What all edges into a node carry together, every candidate computed; None for nothing at all.

    Where some channels pass by the operations, shuffling the sum is the same as adding what is shuffled.
    """
    first, outputs = passes[0].edge, [output for part in passes for output in part.outputs.of(part.edge)]
    mixed = weighed_sum(outputs, torch.cat([part.edge.weights(part.mixing) for part in passes])) if outputs else None
    passing = [part.outputs.passing for part in passes if part.outputs.passing is not None]
    if not passing:
        return mixed
    edge_weights = [part.mixing.edge for part in passes if part.mixing.edge is not None]
    together = weighed_sum(passing, torch.stack(edge_weights)) if edge_weights else added(passing)
    return first.join_channels(mixed, together)


def weighed_sum(outputs: Sequence[Tensor], weights: Tensor) -> Tensor:
    """The weighted sum of tensors of one shape, as a product of two matrices. It takes a few kernels; separate products
    and sums take dozens, above all in the backward pass."""
    is_last = has_channels_last(outputs[0])
    stacked = torch.stack([output.permute(0, 2, 3, 1) if is_last else output for output in outputs])
    total = (weights.to(stacked.dtype).unsqueeze(0) @ stacked.flatten(1)).view(stacked.shape[1:])
    return total.permute(0, 3, 1, 2) if is_last else total


def shuffled(maps: Tensor, groups: int) -> Tensor:
    """Maps with their channels dealt out by groups, in the memory format that they have."""
    if not has_channels_last(maps):
        return torch.channel_shuffle(maps, groups)
    last = maps.permute(0, 2, 3, 1)
    return last.view(*last.shape[:3], groups, -1).transpose(3, 4).flatten(3).permute(0, 3, 1, 2)


def shuffle(channels: int, through: int) -> Tensor:
    """An order of channels that spreads the first ``through`` of them evenly: the groups of that many are dealt out
    like cards.

    >>> shuffle(8, 2).tolist()
    [0, 2, 4, 6, 1, 3, 5, 7]
    """
    places = torch.arange(channels)
    return torch.argsort(places % through, stable=True)
