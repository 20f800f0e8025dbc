"""Networks of which only shapes matter: no weights are drawn and no number is computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
_NORMALISATIONS = frozenset({functional.batch_norm, functional.layer_norm})


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
            return torch.empty_like(args[0] if args else kwargs["input"])
        return func(*args, **kwargs)
