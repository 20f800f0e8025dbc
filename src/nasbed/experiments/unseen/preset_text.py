"""A preset of a NAS method in words, as results describe it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nasbed.oneshot.presets import CIFAR_ONLY, TRAINING


def preset_text(description: Mapping[str, Any], *, search_epochs: int, epochs: int) -> str:
    """A preset in words: its name, the epochs of the search and of the training if they are others, further changes.

    >>> changed = {"supernet.epochs": 50, "train.flip": True}
    >>> preset_text({"name": "paper", "changed": changed}, search_epochs=10, epochs=600)
    'preset paper, 10 of 50 epochs of search, without what it has for CIFAR only'
    """
    if not description:
        return ""
    changed = dict(description.get("changed", {}))
    parts = [f"preset {description['name']}"]
    full_search = changed.pop("supernet.epochs", None) or changed.pop("epochs", None)
    if full_search and search_epochs:
        parts.append(f"{search_epochs} of {full_search} epochs of search")
    if full_training := changed.pop(f"{TRAINING}epochs", None):
        parts.append(f"{epochs} of {full_training} epochs of training")
    others = {name: value for name, value in changed.items() if name.rpartition(".")[2] not in CIFAR_ONLY}
    if others:
        parts.append(f"changed from its {', '.join(f'{name} {value}' for name, value in others.items())}")
    if len(others) < len(changed):
        parts.append("without what it has for CIFAR only")
    return ", ".join(parts)
