"""Torch's optimizers for steps that are not compiled.

The first step of an optimizer of torch loads torch's compiler, which takes two seconds in every new process. These do
not load it, and are the same to the bit.
"""

from __future__ import annotations

from inspect import unwrap
from typing import Any, TypeVar

import torch

O = TypeVar("O", bound=torch.optim.Optimizer)  # noqa: E741


def eager(kind: type[O]) -> type[O]:
    """An optimizer of torch without the wrappers by which torch excludes it from compilation."""
    names = ("add_param_group", "load_state_dict", "state_dict", "zero_grad")
    methods: dict[str, Any] = {name: unwrap(getattr(kind, name)) for name in names}
    return type(kind.__name__, (kind,), {**methods, "step": torch.no_grad()(unwrap(kind.step))})


SGD = eager(torch.optim.SGD)
Adam = eager(torch.optim.Adam)
AdamW = eager(torch.optim.AdamW)
