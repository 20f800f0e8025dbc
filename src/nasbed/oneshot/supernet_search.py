"""A search with a supernet: its weights and a method's parameters move in turn, each on its half of the images."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch
from numpy.typing import NDArray

from nasbed.core.architecture import Architecture
from nasbed.oneshot.accuracy import supernet_accuracy
from nasbed.oneshot.cells import Layout
from nasbed.oneshot.cuda_graph_loss import CapturedLoss
from nasbed.oneshot.curvature import search_eigenvalue
from nasbed.oneshot.images import SearchImages
from nasbed.oneshot.random_streams import judging_chance, order_words, start_chance, step_chances
from nasbed.oneshot.search_interface import RunningSearch, SearchSetup, as_array
from nasbed.oneshot.settings import SearchSettings
from nasbed.oneshot.spaces.base import Supernet, SupernetSize
from nasbed.oneshot.steps import Step, architecture_step, weight_step
from nasbed.oneshot.weight_inheritance import widen
from nasbed.training.optimizers import recipe_optimizer
from nasbed.training.placement.network import place_network
from nasbed.training.random_streams import epoch_draws, epoch_words, initial_weights

if TYPE_CHECKING:
    from nasbed.oneshot.methods.base import SupernetMethod

LEAST_JUDGED = 1_024
"""The supernet is judged after an epoch on at least this many images."""


class SupernetSearch(RunningSearch[SearchSettings]):
    """A supernet with a method and what moves both."""

    def __init__(self, setup: SearchSetup[SearchSettings], method: SupernetMethod) -> None:
        super().__init__(setup)
        settings, dataset, self.space = setup.settings, setup.dataset, method.space
        self.images: SearchImages = setup.images or SearchImages(dataset, settings, setup.device)
        self.method = method.to(setup.device)
        self.size = SupernetSize(
            settings.channels,
            settings.cells,
            dataset.shape,
            len(dataset.classes),
            affine=settings.affine,
            normalised_pools=settings.normalised_pools,
        )
        self.parameters_moved = self.method.optimizer()
        self._build()

    def train_epoch(self, number: int) -> float:
        self.method.begin(number, self.epochs)
        if self.method.layout() != self.layout:
            self._rebuild()
        return self._steps(number)

    def parameters(self) -> dict[str, NDArray[Any]]:
        return {name: as_array(values) for name, values in self.method.named_parameters()}

    def judge(self, number: int) -> None:
        last = number + 1 == self.epochs
        self.method.judge(self._judged_accuracy, judging_chance(self.seed, number, self.device), last=last)

    def accuracy(self) -> float:
        with torch.no_grad():
            mixing = self.method.evaluated()
        count = self.settings.epoch_images
        limit = None if count is None else max(count, LEAST_JUDGED)
        return supernet_accuracy(self.supernet, mixing, self.images.architecture, self.recipe, limit=limit)

    def architecture(self) -> Architecture:
        return self.method.architecture()

    def skips(self, arch: Architecture) -> dict[str, int]:
        return self.space.skips(arch)

    def eigenvalue(self) -> float | None:
        count = self.settings.eigenvalue_images
        if not count:
            return None
        batch = next(self.images.architecture.batches("train", count))
        generator = start_chance(self.seed, self.device).generator()
        return search_eigenvalue(self.supernet, self.method, batch, self.recipe, generator)

    def state(self) -> dict[str, Any]:
        moved = self.parameters_moved
        return {
            "method": self.method.state_dict(),
            "parameters_moved": None if moved is None else moved.state_dict(),
            "supernet": self.supernet.state_dict(),
            "weights_moved": self.weights_moved.state_dict(),
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self.method.load_state_dict(state["method"])
        if self.parameters_moved is not None:
            self.parameters_moved.load_state_dict(state["parameters_moved"])
        if self.method.layout() != self.layout:
            self._build()
        self.supernet.load_state_dict(state["supernet"])
        self.weights_moved.load_state_dict(state["weights_moved"])

    def close(self) -> None:
        self.captured.close()

    def _build(self) -> None:
        self.layout: Layout = self.method.layout()
        supernet = self.space.supernet(self.size, self.method.cells, self.layout)
        initial_weights(supernet, self.seed)
        self.supernet: Supernet = place_network(supernet, self.device)
        self.supernet.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # faster on a GPU too
        self.weights_moved = recipe_optimizer(self.supernet, self.recipe)
        self.captured = CapturedLoss(self.supernet, self.recipe)

    def _rebuild(self) -> None:
        previous = self.supernet
        self.close()
        self._build()
        widen(self.supernet, previous)

    def _steps(self, number: int) -> float:
        """The steps of an epoch; the mean loss of the weights. On a CPU they end at the first loss that is not finite;
        elsewhere asking at each step would hold the device up."""
        images, recipe, steps = self.images, self.recipe, self.images.steps
        self.supernet.train()
        side = images.weights.side
        weight_draws, architecture_draws = (
            epoch_draws(recipe, torch.from_numpy(words).to(self.device), side)
            for words in (
                epoch_words(self.seed, number, len(images.weights)),
                order_words(self.seed, number, len(images.architecture)),
            )
        )
        learns = self.method.learns(number, self.epochs)
        losses = torch.zeros(steps, device=self.device)
        for index, (first, second) in enumerate(step_chances(self.seed, number, steps, self.device)):
            position = index % images.architecture_steps * recipe.batch
            step = Step(
                self.supernet,
                self.weights_moved,
                recipe,
                images.weights.batch(weight_draws, index * recipe.batch, recipe.batch),
                images.architecture.batch(architecture_draws, position, recipe.batch),
                recipe.rate(number * steps + index, self.epochs * steps),
                first,
                self.captured,
            )
            if learns and self.parameters_moved is not None:
                architecture_step(step, self.method, self.parameters_moved)
            with torch.no_grad():
                mixing = self.method.mixing(second)
            losses[index] = weight_step(step, mixing)
            if self.device.type == "cpu" and not math.isfinite(losses[index].item()):
                return math.nan
        return float(losses.double().mean())

    def _judged_accuracy(self, arch: Architecture, limit: int | None) -> float:
        mixing = self.space.one_hot(arch, self.method.cells, device=self.device)
        accuracy = supernet_accuracy(self.supernet, mixing, self.images.architecture, self.recipe, limit=limit)
        return -math.inf if math.isnan(accuracy) else accuracy
