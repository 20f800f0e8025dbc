"""A small search: the width and depth of a plain network, each tried for a moment."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

CANDIDATES = ((8, 2), (16, 2), (16, 3), (32, 3))
"""Channels after the first layer, and how often they double."""
SHARE = 0.1
"""Of the time that is left, for the whole search."""
STEPS = 30


def network(channels: int, side: int, classes: int, *, width: int, depth: int) -> nn.Sequential:
    """Convolutions that halve the image while there is something to halve, then one average and one linear layer."""
    layers: list[nn.Module] = []
    for level in range(depth):
        wide = width * 2**level
        layers += [nn.Conv2d(channels, wide, 3, padding=1, bias=False), nn.BatchNorm2d(wide), nn.ReLU()]
        if side > 2:
            layers.append(nn.MaxPool2d(2))
            side //= 2
        channels = wide
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes))


class NAS:
    """Finds a network for images of any channels and size."""

    def __init__(self, train_loader: Any, valid_loader: Any, metadata: dict[str, Any], clock: Any) -> None:
        self.train_loader, self.valid_loader, self.metadata, self.clock = train_loader, valid_loader, metadata, clock

    def search(self) -> nn.Module:
        """The candidate that validates best after a few steps, with new weights."""
        _, channels, height, width = self.metadata["input_shape"]
        classes = self.metadata["num_classes"]
        until = self.clock.check() * (1 - SHARE)
        best, best_right = CANDIDATES[0], -1
        for wide, depth in CANDIDATES:
            if self.clock.check() < until:
                break
            right = self._tried(network(channels, min(height, width), classes, width=wide, depth=depth))
            print(f"width {wide}, depth {depth}: {right} right")
            if right > best_right:
                best, best_right = (wide, depth), right
        return network(channels, min(height, width), classes, width=best[0], depth=best[1])

    def _tried(self, model: nn.Module) -> int:
        optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
        model.train()
        for step, (images, labels) in enumerate(self.train_loader):
            if step == STEPS:
                break
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(images), labels).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
        model.eval()
        right = 0
        with torch.no_grad():
            for step, (images, labels) in enumerate(self.valid_loader):
                if step == STEPS:
                    break
                right += int((model(images).argmax(1) == labels).sum())
        return right
