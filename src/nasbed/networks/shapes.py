"""Networks for shapes only: no weights are drawn and no number is computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

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


_NORMALISATIONS: dict[Callable[..., Any], Callable[..., Tensor]] = {
    functional.batch_norm: _batch_norm,
    functional.layer_norm: _layer_norm,
}
"""Each refuses, in torch's words, an input that is not of its shape."""


@contextmanager
def shapes_only() -> Iterator[None]:
    """Torch's meta device without what it is slow at: initial weights, and normalisations, which keep a shape.

    Gradients do not pass normalisations.

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
        if func in _NORMALISATIONS:
            return _NORMALISATIONS[func](*args, **kwargs)
        return func(*args, **kwargs)
