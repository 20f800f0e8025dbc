"""Networks for shapes only: no weights are drawn and no number is computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode

_INITIAL = frozenset(
    {
        *(Tensor.uniform_, Tensor.normal_, Tensor.fill_, Tensor.zero_),
        *(nn.init.uniform_, nn.init.normal_, nn.init.trunc_normal_, nn.init.constant_),
        *(nn.init.kaiming_uniform_, nn.init.kaiming_normal_),
    }
)


def _batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    **_: Any,
) -> Tensor:
    channels = input.shape[1]
    vectors = {"running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias}
    for name, vector in vectors.items():
        if vector is not None and len(vector) != channels:
            raise RuntimeError(f"{name} should contain {channels} elements not {len(vector)}")
    return torch.empty_like(input)


def _layer_norm(input: Tensor, normalized_shape: Sequence[int], *_: Any, **__: Any) -> Tensor:
    shape = list(normalized_shape)
    if list(input.shape[-len(shape) :]) != shape:
        expected = ", ".join(map(str, ("*", *shape)))
        raise RuntimeError(
            f"Given normalized_shape={shape}, expected input with shape [{expected}], but got input of "
            f"size{list(input.shape)}"
        )
    return torch.empty_like(input)


def _same(input: Tensor, *_: Any, **__: Any) -> Tensor:
    return torch.empty_like(input)


def _broadcast(input: Tensor, other: Tensor | float, **_: Any) -> Tensor:
    other_shape = other.shape if isinstance(other, Tensor) else ()
    return input.new_empty(np.broadcast_shapes(input.shape, other_shape))


def _concatenated(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    first = tensors[0]
    shapes = [list(tensor.shape) for tensor in tensors]
    joined = sum(shape.pop(dim) for shape in shapes)
    if any(shape != shapes[0] for shape in shapes):
        raise RuntimeError(f"Sizes of tensors must match except in dimension {dim}, got {[*map(tuple, shapes)]}")
    place = dim % first.ndim
    return first.new_empty([*shapes[0][:place], joined, *shapes[0][place:]])


def _pooled(input: Tensor, output_size: int | Sequence[int | None]) -> Tensor:
    sides = (output_size, output_size) if isinstance(output_size, int) else output_size
    return input.new_empty(
        [*input.shape[:-2], *(old if new is None else new for old, new in zip(input.shape[-2:], sides, strict=True))]
    )


def _linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    if input.shape[-1] != weight.shape[1]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({tuple(input.shape)} and {tuple(weight.shape)})"
        )
    return input.new_empty([*input.shape[:-1], weight.shape[0]])


_RECTIFIERS = (functional.relu, functional.relu6, functional.leaky_relu, functional.elu, functional.hardtanh)
_SHAPES: dict[Callable[..., Any], Callable[..., Tensor]] = {
    functional.batch_norm: _batch_norm,
    functional.layer_norm: _layer_norm,
    functional.adaptive_avg_pool2d: _pooled,
    functional.linear: _linear,
    torch.cat: _concatenated,
    **dict.fromkeys((torch.relu, Tensor.relu, *_RECTIFIERS, functional.dropout), _same),
    **dict.fromkeys((torch.add, Tensor.add, Tensor.add_, Tensor.__add__, Tensor.__iadd__), _broadcast),
    **dict.fromkeys((torch.mul, Tensor.mul, Tensor.mul_, Tensor.__mul__), _broadcast),
}
"""Of each operation, what gives the shape alone. Each refuses, in torch's words, an input that is not of its shape."""


@contextmanager
def shapes_only() -> Iterator[None]:
    """Torch's meta device without what it is slow at: initial weights, normalisations, and operations for which it
    would load torch's compiler, which takes seconds.

    Gradients do not pass these operations.

    >>> with shapes_only():
    ...     nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))(torch.empty(2, 3, 8, 8)).shape
    torch.Size([2, 8, 6, 6])
    """
    with torch.device("meta"), _ShapesOnly():
        yield


class _ShapesOnly(TorchFunctionMode):
    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func in _INITIAL:
            return args[0] if args else kwargs["tensor"]
        if func in _SHAPES:
            return _SHAPES[func](*args, **kwargs)
        return func(*args, **kwargs)
