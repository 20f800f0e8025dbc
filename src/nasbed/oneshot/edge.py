"""An edge of a supernet: all its candidate operations, weighed and added up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from nasbed.core.errors import InvalidOption
from nasbed.networks.blocks import added
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
        places = [place for place, name in self.names.items() if name in self.operations]
        self.register_buffer("places", torch.tensor(places, dtype=torch.int64), persistent=False)
        self.register_buffer("shuffled", shuffle(channels, self.through), persistent=False)

    def forward(self, x: Tensor, mixing: EdgeMixing, shared: dict[str, Tensor] | None = None) -> Tensor | None:
        """What the edge carries, None for nothing at all. What operations without weights make of ``x`` is put into
        ``shared``, and taken from there: it is the same on every edge from one node."""
        shared = {} if shared is None else shared
        through = x[:, : self.through]
        terms: Tensor | None = None
        if mixing.computed is None:
            if self.operations:
                outputs = [self._output(name, through, shared) for name in self.operations]
                terms = weighed_sum(outputs, self._of_operations(mixing.operations))
        else:
            selected = [place for place in mixing.computed if self.names.get(place, NONE) in self.operations]
            weighed = [
                self._weighed(self._output(self.names[place], through, shared), mixing.operations[place])
                for place in selected
            ]
            terms = added(weighed) if weighed else None
        if self.through == self.channels:
            carried = terms
        elif mixing.computed == ():
            carried = None
        else:
            carried = self._join_channels(terms, x)
        return carried if carried is None or mixing.edge is None else carried * mixing.edge.to(carried.dtype)

    def _output(self, name: str, x: Tensor, shared: dict[str, Tensor]) -> Tensor:
        if name in shared:
            return shared[name]
        output: Tensor = self.operations[name](x)
        if name in self.free:
            shared[name] = output
        return output

    def _of_operations(self, weights: Tensor) -> Tensor:
        """The weights of those candidates that carry something."""
        return weights if len(self.places) == len(weights) else weights.index_select(0, self.places)

    def _weighed(self, output: Tensor, weight: Tensor) -> Tensor:
        return output * weight.to(output.dtype)

    def _join_channels(self, mixed: Tensor | None, x: Tensor) -> Tensor:
        """The mixed channels and those that passed by, shuffled."""
        passing = x[:, self.through :]
        if self.stride > 1:
            passing = functional.max_pool2d(passing, self.stride, ceil_mode=True)
        if mixed is None:
            mixed = passing.new_zeros(len(passing), self.through, *passing.shape[2:])
        joined = torch.cat([mixed, passing.to(mixed.dtype)], dim=1)
        if self.channels % self.through:
            return joined.index_select(1, self.shuffled)
        return torch.channel_shuffle(joined, self.channels // self.through)  # the same, and faster backwards


def weighed_sum(outputs: Sequence[Tensor], weights: Tensor) -> Tensor:
    """The weighted sum of tensors of one shape, as a product of two matrices. It takes a few kernels; separate products
    and sums take dozens, above all in the backward pass."""
    first = outputs[0]
    if not first.is_contiguous() and first.is_contiguous(memory_format=torch.channels_last):
        return weighed_sum([output.permute(0, 2, 3, 1) for output in outputs], weights).permute(0, 3, 1, 2)
    stacked = torch.stack(list(outputs))
    return (weights.to(stacked.dtype).unsqueeze(0) @ stacked.flatten(1)).view_as(first)


def shuffle(channels: int, through: int) -> Tensor:
    """An order of channels that spreads the first ``through`` of them evenly: the groups of that many are dealt out
    like cards.

    >>> shuffle(8, 2).tolist()
    [0, 2, 4, 6, 1, 3, 5, 7]
    """
    places = torch.arange(channels)
    return torch.argsort(places % through, stable=True)
