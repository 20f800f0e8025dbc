"""Training within the clock."""

from __future__ import annotations

from copy import deepcopy
from time import monotonic
from typing import Any

import torch
from torch import nn

EPOCHS = 20
SPARED = 0.2
"""Of the time at the start of training, left for predicting."""


class Trainer:
    """Trains what NAS found and predicts with the weights that validated best."""

    def __init__(
        self, model: nn.Module, device: Any, train_loader: Any, valid_loader: Any, metadata: dict[str, Any], clock: Any
    ) -> None:
        self.model, self.device, self.clock = model.to(device), device, clock
        self.train_loader, self.valid_loader = train_loader, valid_loader

    def train(self) -> nn.Module:
        """Epochs until all are done or the next would not end in time."""
        optimizer = torch.optim.AdamW(self.model.parameters(), lr=3e-3)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS)
        spared = SPARED * self.clock.check()
        best, best_weights = -1.0, deepcopy(self.model.state_dict())
        for epoch in range(EPOCHS):
            start = monotonic()
            self.model.train()
            for images, labels in self.train_loader:
                optimizer.zero_grad()
                loss = nn.functional.cross_entropy(self.model(images.to(self.device)), labels.to(self.device))
                loss.backward()  # type: ignore[no-untyped-call]
                optimizer.step()
                if self.clock.check() < spared:
                    break
            schedule.step()
            accuracy = self._accuracy()
            print(f"epoch {epoch + 1}: {accuracy:.1%} of the validation images right")
            if accuracy > best:
                best, best_weights = accuracy, deepcopy(self.model.state_dict())
            if self.clock.check() - (monotonic() - start) < spared:
                break
        self.model.load_state_dict(best_weights)
        return self.model

    def _accuracy(self) -> float:
        self.model.eval()
        right = total = 0
        with torch.no_grad():
            for images, labels in self.valid_loader:
                right += int((self.model(images.to(self.device)).argmax(1).cpu() == labels).sum())
                total += len(labels)
        return right / total

    def predict(self, test_loader: Any) -> list[int]:
        """A class number for each test image, in order."""
        self.model.eval()
        predictions: list[int] = []
        with torch.no_grad():
            for (images,) in test_loader:
                predictions += self.model(images.to(self.device)).argmax(1).tolist()
        return predictions
