"""From a torch module to its program: the module's own forward is called once on a stand-in for the images, which notes
what is done to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

from torch import Tensor, nn

from nasbed.core.errors import InvalidOption
from nasbed.training.population.program import (
    Combine,
    Conv,
    Depthwise,
    Head,
    Norm,
    Operation,
    Planes,
    Pool,
    Program,
    Step,
    Term,
    read_planes,
)


def trace(network: nn.Module, *, channels: int, side: int) -> Program:
    """The program of a network for square images. Raises for layers that no population can train."""
    tracer = _Tracer(network)
    images = tracer.new_planes(channels, side)
    hooks = [part.register_forward_pre_hook(tracer.next_block) for part in _parts(network)]
    network.train()
    try:
        logits = network(Traced(tracer, [Term(images)], side))
    finally:
        for hook in hooks:
            hook.remove()
    if not isinstance(logits, Logits):
        raise InvalidOption(
            "a population trains networks that end in global average pooling and one linear layer, this one does not"
        )
    return Program(
        tuple(tracer.steps), logits.head, tuple(tracer.sides), channels, tracer.parameters, tracer.norm_channels
    )


def _parts(network: nn.Module) -> list[nn.Module]:
    """The stem, each cell, the classifier: what runs one after the other."""
    parts: list[nn.Module] = []
    for child in network.children():
        parts.extend(child if isinstance(child, nn.ModuleList) else [child])
    return parts


class _Tracer:
    """The program as it grows."""

    def __init__(self, network: nn.Module) -> None:
        self.steps: list[Step] = []
        self.sides: list[int] = []
        self.norm_channels = 0
        self.parameters = 0
        self.places: dict[int, int] = {}
        for parameter in network.parameters():
            self.places[id(parameter)] = self.parameters
            self.parameters += parameter.numel()
        self._block = 0
        self._made: list[tuple[int, int]] = []  # block and level of each plane

    def next_block(self, *_: Any) -> None:
        self._block += 1

    def new_planes(self, count: int, side: int) -> Planes:
        first = len(self.sides)
        self.sides.extend([side] * count)
        self._made.extend([(self._block, -1)] * count)
        return tuple(range(first, first + count))

    def add(self, operation: Operation) -> None:
        level = 1 + max(
            (level for block, level in (self._made[plane] for plane in read_planes(operation)) if block == self._block),
            default=-1,
        )
        self.steps.append(Step(operation, self._block, level))
        written = operation.inputs if isinstance(operation, Norm) else operation.outputs
        for plane in written:
            self._made[plane] = (self._block, level)

    def place(self, parameter: Tensor | None) -> int:
        if parameter is None or id(parameter) not in self.places:
            raise InvalidOption(
                "a population trains layers with parameters of their own, this one borrows or lacks them"
            )
        return self.places[id(parameter)]


class Traced:
    """Stands for a batch of activations: a sum of terms that is not computed before something needs its planes."""

    def __init__(self, tracer: _Tracer, terms: Sequence[Term], side: int, *, channels: int | None = None) -> None:
        self.tracer, self.terms, self.side = tracer, list(terms), side
        self.channels = channels if channels is not None else len(self.terms[0].planes)
        self.shift = 0
        self._planes: Planes | None = None

    @classmethod
    def __torch_function__(
        cls, function: Callable[..., Any], types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        name = getattr(function, "__name__", str(function)).lstrip("_")
        known = _FUNCTIONS.get(name)
        if known is None:
            raise InvalidOption(f"a population cannot train a network that uses {name}; train it alone")
        return known(*args, **(kwargs or {}))

    def planes(self) -> Planes:
        """The planes with the sum's values, computed by now."""
        if self._planes is None:
            plain = len(self.terms) == 1 and self.terms[0].norm < 0 and not self.terms[0].relu
            if plain:
                self._planes = self.terms[0].planes
            else:
                self._planes = self.tracer.new_planes(self.channels, self.side)
                self.tracer.add(Combine(tuple(self.terms), self._planes, self.side))
                self.terms = [Term(self._planes)]
        return self._planes

    def read(self) -> tuple[Planes, bool]:
        """Planes, and whether their negative part is to be cut off on reading."""
        if len(self.terms) == 1 and self.terms[0].relu and self.terms[0].norm < 0:
            return self.terms[0].planes, True
        return self.planes(), False

    @property
    def shape(self) -> tuple[int, int, int, int]:
        return 1, self.channels, self.side, self.side

    def size(self, dimension: int | None = None) -> Any:
        return self.shape if dimension is None else self.shape[dimension]

    def dim(self) -> int:
        return 4

    def __len__(self) -> int:
        return 1

    def __add__(self, other: Traced) -> Traced:
        return Traced(self.tracer, [*self.summands(), *other.summands()], self.side, channels=self.channels)

    def summands(self) -> list[Term]:
        """What to add up for it. A part cut off without being normalised is computed first."""
        if any(term.relu and term.norm < 0 for term in self.terms):
            self.planes()
        return self.terms

    def __getitem__(self, key: Any) -> Traced:
        parts = key if isinstance(key, tuple) else (key,)
        whole = slice(None)
        if len(parts) == 2 and parts[0] == whole:
            planes = self.planes()
            taken = tuple(planes[place] for place in range(*parts[1].indices(self.channels)))
            return Traced(self.tracer, [Term(taken)], self.side)
        if len(parts) == 4 and parts[:2] == (whole, whole) and parts[2] == parts[3] == slice(1, None):
            moved = Traced(self.tracer, self.terms, self.side, channels=self.channels)
            moved.shift = 1
            return moved
        raise InvalidOption("a population cuts off channels, or the first row and column of a map; train it alone")

    def new_zeros(self, _: int, channels: int, height: int, __: int) -> Traced:
        return Traced(self.tracer, [], height, channels=channels)

    def flatten(self, *_: int) -> Self:
        return self


class Logits:
    """What a linear layer gives."""

    def __init__(self, head: Head) -> None:
        self.head = head


def _conv(
    x: Traced,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Traced:
    out, per_group, kernel, across = weight.shape
    if bias is not None or kernel != across or padding[0] != dilation[0] * (kernel // 2) or stride[0] > 2:
        raise InvalidOption("a population trains square convolutions without bias that keep or halve a map")
    side = -(-x.side // stride[0])
    tracer = x.tracer
    planes, relu = x.read()
    outputs = tracer.new_planes(out, side)
    place = tracer.place(weight)
    if groups == out == len(planes) and groups > 1:
        if x.shift:
            raise InvalidOption("a population moves a map for convolutions of all channels only; train it alone")
        tracer.add(Depthwise(planes, outputs, kernel, stride[0], dilation[0], x.side, side, place, relu))
    else:
        if dilation[0] != 1:
            raise InvalidOption("a population trains dilated convolutions of single channels only; train it alone")
        share = out // groups
        for group in range(groups):
            tracer.add(
                Conv(
                    planes[group * per_group : (group + 1) * per_group],
                    outputs[group * share : (group + 1) * share],
                    kernel,
                    stride[0],
                    x.shift - padding[0],
                    x.side,
                    side,
                    place + group * share * per_group * kernel * kernel,
                    relu,
                )
            )
    return Traced(tracer, [Term(outputs)], side)


def _batch_norm(
    x: Traced,
    running_mean: Tensor,
    running_var: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Traced:
    tracer = x.tracer
    planes = x.planes()
    channels = tracer.norm_channels
    tracer.norm_channels += x.channels
    tracer.add(Norm(planes, channels, tracer.place(weight), tracer.place(bias), eps, momentum))
    return Traced(tracer, [Term(planes, channels)], x.side)


def _relu(x: Traced, inplace: bool = False) -> Traced:
    if len(x.terms) == 1:
        term = x.terms[0]
        return Traced(x.tracer, [Term(term.planes, term.norm, True)], x.side)
    return Traced(x.tracer, [Term(x.planes(), relu=True)], x.side)


def _pool(x: Traced, kernel: int, stride: int, padding: int, largest: bool) -> Traced:
    side = (x.side + 2 * padding - kernel) // stride + 1
    planes = x.planes()
    outputs = x.tracer.new_planes(x.channels, side)
    x.tracer.add(Pool(planes, outputs, largest, kernel, stride, padding, x.side, side))
    return Traced(x.tracer, [Term(outputs)], side)


def _max_pool(
    x: Traced, kernel: int, stride: int, padding: int = 0, dilation: int = 1, ceil_mode: bool = False, **_: Any
) -> Traced:
    return _pool(x, kernel, stride, padding, True)


def _avg_pool(
    x: Traced,
    kernel: int,
    stride: int,
    padding: int = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    *_: Any,
) -> Traced:
    if count_include_pad and padding:
        raise InvalidOption("a population averages over the pixels inside the image; train it alone")
    return _pool(x, kernel, stride, padding, False)


def _global_pool(x: Traced, size: Any) -> Traced:
    return x


def _linear(x: Traced, weight: Tensor, bias: Tensor | None = None) -> Logits:
    return Logits(Head(x.planes(), x.tracer.place(weight), x.tracer.place(bias), len(weight)))


def _cat(parts: Sequence[Traced], dim: int = 0) -> Traced:
    planes = tuple(plane for part in parts for plane in part.planes())
    return Traced(parts[0].tracer, [Term(planes)], parts[0].side)


def _pad(x: Traced, border: Sequence[int], *_: Any, **__: Any) -> Traced:
    """Only as it comes before cutting the first row and column off: what is beyond the edge reads as zero anyhow."""
    return x


def _channel_shuffle(x: Traced, groups: int) -> Traced:
    planes = x.planes()
    share = len(planes) // groups
    mixed = tuple(planes[group * share + place] for place in range(share) for group in range(groups))
    return Traced(x.tracer, [Term(mixed)], x.side)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "conv2d": _conv,
    "batch_norm": _batch_norm,
    "relu": _relu,
    "max_pool2d": _max_pool,
    "avg_pool2d": _avg_pool,
    "adaptive_avg_pool2d": _global_pool,
    "linear": _linear,
    "cat": _cat,
    "channel_shuffle": _channel_shuffle,
    "pad": _pad,
}
