"""The precision in which a network computes."""

from __future__ import annotations

import torch

from nasbed.training.recipe import Recipe


def computing(recipe: Recipe, device: torch.device) -> torch.autocast:
    """The context of a forward pass: with bfloat16, convolutions and linear layers compute in it while weights,
    normalisations and the loss stay float32."""
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=recipe.precision == "bfloat16")
