"""The program of a torch module. Its own forward is called once on a stand-in for the images, which records what is
done to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

from torch import Tensor, nn

from nasbed.core.errors import InvalidOption
from nasbed.spaces.image_size import Image, sides
from nasbed.training.population.deduplication import simplified
from nasbed.training.population.program import (
    Combine,
    Conv,
    Depthwise,
    Head,
    NetworkProgram,
    Norm,
    Operation,
    Planes,
    Pool,
    Sides,
    Term,
)


def trace(network: nn.Module, *, channels: int, side: Image) -> NetworkProgram:
    """The program of a network for images of a height and width. Raises for layers that no population can train."""
    tracer = _Tracer(network)
    images = tracer.new_planes(channels, sides(side))
    network.train()
    logits = network(TracedMap(tracer, [Term(images)], sides(side)))
    if not isinstance(logits, Logits):
        raise InvalidOption(
            "this network does not end in global average pooling and one linear layer, which a population needs"
        )
    return NetworkProgram(
        simplified(tracer.operations),
        logits.head,
        tuple(tracer.sides),
        channels,
        tracer.parameters,
        tracer.norm_channels,
    )


class _Tracer:
    """The program as it grows."""

    def __init__(self, network: nn.Module) -> None:
        self.operations: list[Operation] = []
        self.sides: list[Sides] = []
        self.norm_channels = 0
        self.parameters = 0
        self.places: dict[int, int] = {}
        for parameter in network.parameters():
            self.places[id(parameter)] = self.parameters
            self.parameters += parameter.numel()

    def new_planes(self, count: int, side: Sides) -> Planes:
        first = len(self.sides)
        self.sides.extend([side] * count)
        return tuple(range(first, first + count))

    def add(self, operation: Operation) -> None:
        self.operations.append(operation)

    def place(self, parameter: Tensor | None) -> int:
        if parameter is None or id(parameter) not in self.places:
            raise InvalidOption(
                "a population trains layers with their own parameters, but this layer shares or lacks them"
            )
        return self.places[id(parameter)]


class TracedMap:
    """Stands for a batch of activations: a sum of terms that is not computed before something needs its planes."""

    def __init__(self, tracer: _Tracer, terms: Sequence[Term], side: Sides, *, channels: int | None = None) -> None:
        self.tracer, self.terms, self.side = tracer, list(terms), side
        self.channels = channels if channels is not None else len(self.terms[0].planes)
        self.shift = 0
        self.rectified: TracedMap | None = None
        self._planes: Planes | None = None

    @classmethod
    def __torch_function__(
        cls, function: Callable[..., Any], types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        name = getattr(function, "__name__", str(function)).lstrip("_")
        traced_function = _FUNCTIONS.get(name)
        if traced_function is None:
            raise InvalidOption(f"a population cannot train a network that uses {name}; train it alone")
        return traced_function(*args, **(kwargs or {}))

    def planes(self) -> Planes:
        """The planes that hold the sum; it is computed if it is not yet."""
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
        return 1, self.channels, *self.side

    def size(self, dimension: int | None = None) -> Any:
        return self.shape if dimension is None else self.shape[dimension]

    def dim(self) -> int:
        return 4

    def __len__(self) -> int:
        return 1

    def __add__(self, other: TracedMap) -> TracedMap:
        _check_alike([self, other])
        return TracedMap(self.tracer, [*self.summands(), *other.summands()], self.side, channels=self.channels)

    def summands(self) -> list[Term]:
        """What to add up for it. A part cut off without being normalised is computed first."""
        if any(term.relu and term.norm < 0 for term in self.terms):
            self.planes()
        return self.terms

    def __getitem__(self, key: Any) -> TracedMap:
        parts = key if isinstance(key, tuple) else (key,)
        full_slice = slice(None)
        if len(parts) == 2 and parts[0] == full_slice:
            planes = self.planes()
            selection = tuple(planes[place] for place in range(*parts[1].indices(self.channels)))
            return TracedMap(self.tracer, [Term(selection)], self.side)
        if _is_first_row_and_column(parts) and not any(side % 2 for side in self.side):
            return self.moved()
        raise InvalidOption("a population cuts off channels, or the first row and column of a map; train it alone")

    def moved(self) -> TracedMap:
        """The map without its first row and column, and with zeros beyond the last."""
        moved = TracedMap(self.tracer, self.terms, self.side, channels=self.channels)
        moved.shift = 1
        return moved

    def new_zeros(self, _: int, channels: int, height: int, width: int) -> TracedMap:
        return TracedMap(self.tracer, [], (height, width), channels=channels)

    def flatten(self, *_: int) -> Self:
        return self


class PaddedMap:
    """A map with a row and a column of zeros where its sides are odd; its first row and column are to be cut off."""

    def __init__(self, inside: TracedMap) -> None:
        self.inside = inside

    def __getitem__(self, key: Any) -> TracedMap:
        if not _is_first_row_and_column(key):
            raise InvalidOption("a population pads a map only to cut its first row and column off; train it alone")
        return self.inside.moved()


def _is_first_row_and_column(key: Any) -> bool:
    return isinstance(key, tuple) and key == (slice(None), slice(None), slice(1, None), slice(1, None))


def _check_alike(parts: Sequence[TracedMap]) -> None:
    if len({part.side for part in parts}) > 1:
        raise InvalidOption("a population adds up and concatenates maps of one resolution; train it alone")


class Logits:
    """What a linear layer gives."""

    def __init__(self, head: Head) -> None:
        self.head = head


def _conv(
    x: TracedMap,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> TracedMap:
    out, per_group, kernel, across = weight.shape
    if bias is not None or kernel != across or padding[0] != dilation[0] * (kernel // 2) or stride[0] > 2:
        raise InvalidOption("a population trains square convolutions without bias that keep or halve a map")
    if any(pair[0] != pair[1] for pair in (stride, padding, dilation)):
        raise InvalidOption("a population trains convolutions that treat rows and columns alike; train it alone")
    side = _strided(x.side, stride[0])
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
    return TracedMap(tracer, [Term(outputs)], side)


def _batch_norm(
    x: TracedMap,
    running_mean: Tensor,
    running_var: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> TracedMap:
    tracer = x.tracer
    planes = x.planes()
    channels = tracer.norm_channels
    tracer.norm_channels += x.channels
    tracer.add(Norm(planes, channels, tracer.place(weight), tracer.place(bias), eps, momentum))
    return TracedMap(tracer, [Term(planes, channels)], x.side)


def _relu(x: TracedMap, inplace: bool = False) -> TracedMap:
    if x.rectified is None:
        term = x.terms[0] if len(x.terms) == 1 else Term(x.planes())
        x.rectified = TracedMap(x.tracer, [Term(term.planes, term.norm, True)], x.side)
    return x.rectified


def _strided(side: Sides, stride: int) -> Sides:
    return -(-side[0] // stride), -(-side[1] // stride)


def _pool(x: TracedMap, kernel: int, stride: int, padding: int, largest: bool, ceil_mode: bool) -> TracedMap:
    if any(type(size) is not int for size in (kernel, stride, padding)):
        raise InvalidOption("a population pools rows and columns alike; train it alone")
    side = pooled(x.side[0], kernel, stride, padding, ceil_mode), pooled(x.side[1], kernel, stride, padding, ceil_mode)
    planes = x.planes()
    outputs = x.tracer.new_planes(x.channels, side)
    x.tracer.add(Pool(planes, outputs, largest, kernel, stride, padding, x.side, side))
    return TracedMap(x.tracer, [Term(outputs)], side)


def pooled(side: int, kernel: int, stride: int, padding: int, ceil_mode: bool) -> int:
    """How many windows of a pooling fit along one side.

    Args:
        side: The pixels of the side.
        kernel: The pixels of a window.
        stride: The distance between windows.
        padding: The pixels added at either end.
        ceil_mode: A last window may reach beyond the padding, if it begins before that.
    """
    room = side + 2 * padding - kernel
    if not ceil_mode:
        return room // stride + 1
    windows = -(-room // stride) + 1
    return windows - 1 if (windows - 1) * stride >= side + padding else windows


def _max_pool(
    x: TracedMap, kernel: int, stride: int, padding: int = 0, dilation: int = 1, ceil_mode: bool = False, **_: Any
) -> TracedMap:
    if dilation != 1:
        raise InvalidOption("a population pools pixels side by side; train it alone")
    return _pool(x, kernel, stride, padding, True, ceil_mode)


def _avg_pool(
    x: TracedMap,
    kernel: int,
    stride: int,
    padding: int = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    *_: Any,
) -> TracedMap:
    if count_include_pad and padding:
        raise InvalidOption("a population averages over the pixels inside the image; train it alone")
    return _pool(x, kernel, stride, padding, False, ceil_mode)


def _global_pool(x: TracedMap, size: Any) -> TracedMap:
    return x


def _linear(x: TracedMap, weight: Tensor, bias: Tensor | None = None) -> Logits:
    return Logits(Head(x.planes(), x.tracer.place(weight), x.tracer.place(bias), len(weight)))


def _cat(parts: Sequence[TracedMap], dim: int = 0) -> TracedMap:
    _check_alike(parts)
    planes = tuple(plane for part in parts for plane in part.planes())
    return TracedMap(parts[0].tracer, [Term(planes)], parts[0].side)


def _pad(x: TracedMap, border: Sequence[int], *_: Any, **__: Any) -> PaddedMap:
    """Only as it comes before cutting the first row and column off: what is beyond the edge reads as zero anyhow."""
    if tuple(border) != (0, x.side[1] % 2, 0, x.side[0] % 2):
        raise InvalidOption("a population pads a map to even sides only; train it alone")
    return PaddedMap(x)


def _channel_shuffle(x: TracedMap, groups: int) -> TracedMap:
    planes = x.planes()
    share = len(planes) // groups
    mixed = tuple(planes[group * share + place] for place in range(share) for group in range(groups))
    return TracedMap(x.tracer, [Term(mixed)], x.side)


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
