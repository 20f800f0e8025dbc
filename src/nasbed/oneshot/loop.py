"""A search, from the first weights of a supernet or from a checkpoint to an architecture.

Chance comes from the seed, the epoch and the step alone: on a CPU the same search gives the same bits each time,
interrupted or not, in any process with as many threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import torch

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption, shorten
from nasbed.datasets.dataset import Dataset
from nasbed.oneshot import METHODS, SEARCHED_SPACES
from nasbed.oneshot import checkpoint as checkpoints
from nasbed.oneshot.captured import CapturedLoss
from nasbed.oneshot.cells import Layout
from nasbed.oneshot.chance import judging_chance, order_words, start_chance, step_chances
from nasbed.oneshot.curvature import search_eigenvalue
from nasbed.oneshot.evaluating import supernet_accuracy
from nasbed.oneshot.images import SearchImages
from nasbed.oneshot.inheriting import widen
from nasbed.oneshot.methods.base import Method, as_array
from nasbed.oneshot.settings import SearchSettings
from nasbed.oneshot.spaces.base import SearchedSpace, Supernet, SupernetSize
from nasbed.oneshot.steps import Step, architecture_step, weight_step
from nasbed.oneshot.stopping import StoppingRule
from nasbed.oneshot.trajectory import Searched, SearchEpoch
from nasbed.training.devices import chance_kept, chosen_device
from nasbed.training.draws import epoch_draws, epoch_words, initial_weights
from nasbed.training.optimizers import recipe_optimizer

Told = Callable[[SearchEpoch], None]
LEAST_JUDGED = 1_024
"""On so many images or more the supernet is judged after an epoch, however few the epoch had."""


def search(
    method: str,
    dataset: Dataset,
    settings: SearchSettings | None = None,
    *,
    space: str = "darts",
    options: Mapping[str, Any] | None = None,
    seed: int = 0,
    device: str | torch.device = "cpu",
    checkpoint: str | Path | None = None,
    progress: Told | None = None,
    stop: StoppingRule | None = None,
    images: SearchImages | None = None,
) -> Searched:
    """Search a space for an architecture by a one-shot method.

    ``options`` are hyperparameters of the method other than the published ones. With a ``checkpoint`` the search is
    saved there after every epoch, and goes on from there if the file exists. ``stop`` may end it early. ``images``
    spares making them anew where several searches run on one device; they are those of this dataset and settings.
    """
    checkpoint = None if checkpoint is None else Path(checkpoint)
    settings, options = settings or SearchSettings(), dict(options or {})
    chosen = chosen_device(device)
    of = {
        "method": method,
        "space": space,
        "dataset": f"{dataset.name} {dataset.hash}",
        "seed": seed,
        **{f"the setting {name}": value for name, value in settings.plain().items()},
        **{f"the option {name}": value for name, value in options.items()},
    }
    with ExitStack() as inside:
        inside.enter_context(chance_kept(chosen))
        running = _Search(method, dataset, settings, SEARCHED_SPACES.get(space), options, seed, chosen, images)
        inside.enter_context(closing(running))
        epochs: list[SearchEpoch] = []
        if checkpoint is not None and checkpoint.exists():
            state, epochs = checkpoints.load(checkpoint, of)
            try:
                running.load(state)
            except (KeyError, TypeError, ValueError, RuntimeError) as error:
                raise checkpoints.damaged(checkpoint, f"it does not fit, {shorten(str(error), 100)}") from None
        while True:
            taken = stop(epochs) if stop is not None else None
            seconds = epochs[-1].search_time_s if epochs else 0.0
            if taken is not None and len(epochs) < settings.epochs:
                reason = f"stopped after epoch {len(epochs)}, the architecture is that of epoch {taken.epoch}"
                return Searched("stopped", taken.architecture, tuple(epochs), seconds, reason)
            if len(epochs) == settings.epochs:
                return Searched("ok", epochs[-1].architecture, tuple(epochs), seconds)
            end = running.epoch(len(epochs), seconds)
            if isinstance(end, str):
                return Searched("diverged", None, tuple(epochs), seconds, end)
            epochs.append(end)
            if checkpoint is not None:
                checkpoints.save(checkpoint, of, running.state(), epochs)
            if progress is not None:
                progress(end)


def made_method(name: str, space: SearchedSpace, *, seed: int, options: Mapping[str, Any]) -> Method:
    """A method with its first parameters."""
    try:
        return METHODS.get(name)(space, seed=seed, **options)  # type: ignore[call-arg]
    except TypeError as error:
        raise InvalidOption(f"the method {name} cannot be set like this: {error}; change its options") from None


class _Search:
    """A supernet with a method and what moves both, epoch by epoch."""

    def __init__(
        self,
        method: str,
        dataset: Dataset,
        settings: SearchSettings,
        space: SearchedSpace,
        options: Mapping[str, Any],
        seed: int,
        device: torch.device,
        images: SearchImages | None,
    ) -> None:
        self.settings, self.space, self.seed, self.device = settings, space, seed, device
        self.recipe = settings.recipe()
        self.images = images or SearchImages(dataset, settings, device)
        self.method = made_method(method, space, seed=seed, options=options).to(device)
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

    def epoch(self, number: int, before_s: float) -> SearchEpoch | str:
        """Search for an epoch, counted from 0, and look at what came of it; a text says why it came to nothing."""
        start = perf_counter()
        self.method.begin(number, self.settings.epochs)
        if self.method.layout() != self.layout:
            self._rebuild()
        loss = self._steps(number)
        seconds = before_s + perf_counter() - start
        if not math.isfinite(loss):
            return f"the loss of epoch {number + 1} is no finite number"
        parameters = {name: as_array(values) for name, values in self.method.named_parameters()}
        if not all(np.isfinite(values).all() for values in parameters.values()):
            return f"an architecture parameter of epoch {number + 1} is no finite number"
        last = number + 1 == self.settings.epochs
        self.method.judge(self._judged, judging_chance(self.seed, number, self.device), last=last)
        accuracy = self._accuracy()
        if math.isnan(accuracy):
            return f"an output of the supernet after epoch {number + 1} is no finite number"
        architecture = self.method.architecture()
        return SearchEpoch(
            epoch=number + 1,
            architecture=architecture,
            validation_accuracy=accuracy,
            train_loss=loss,
            skips=self.space.skips(architecture),
            parameters=parameters,
            search_time_s=seconds,
            eigenvalue=self._eigenvalue(),
        )

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
        """Let go what steps alone need."""
        self.captured.close()

    def _build(self) -> None:
        self.layout: Layout = self.method.layout()
        supernet = self.space.supernet(self.size, self.method.cells, self.layout)
        initial_weights(supernet, self.seed)
        self.supernet: Supernet = supernet.to(self.device)
        self.weights_moved = recipe_optimizer(self.supernet, self.recipe)
        self.captured = CapturedLoss(self.supernet, self.recipe)

    def _rebuild(self) -> None:
        before = self.supernet
        self.close()
        self._build()
        widen(self.supernet, before)

    def _steps(self, number: int) -> float:
        """The steps of an epoch; the mean loss of the weights. On a CPU they end at the first loss that is no finite
        number; elsewhere asking at each step would hold the device up."""
        images, recipe, steps = self.images, self.recipe, self.images.steps
        self.supernet.train()
        side = images.weights.side
        drawn, others = (
            epoch_draws(recipe, torch.from_numpy(words).to(self.device), side)
            for words in (
                epoch_words(self.seed, number, len(images.weights)),
                order_words(self.seed, number, len(images.architecture)),
            )
        )
        learns = self.method.learns(number, self.settings.epochs)
        losses = torch.zeros(steps, device=self.device)
        for place, (first, second) in enumerate(step_chances(self.seed, number, steps, self.device)):
            step = Step(
                self.supernet,
                self.weights_moved,
                recipe,
                images.weights.batch(drawn, place * recipe.batch, recipe.batch),
                images.architecture.batch(others, place % images.architecture_steps * recipe.batch, recipe.batch),
                recipe.rate(number * steps + place, self.settings.epochs * steps),
                first,
                self.captured,
            )
            if learns and self.parameters_moved is not None:
                architecture_step(step, self.method, self.parameters_moved)
            with torch.no_grad():
                mixing = self.method.mixing(second)
            losses[place] = weight_step(step, mixing)
            if self.device.type == "cpu" and not math.isfinite(losses[place].item()):
                return math.nan
        return float(losses.double().mean())

    def _accuracy(self) -> float:
        with torch.no_grad():
            mixing = self.method.evaluated()
        asked = self.settings.epoch_images
        limit = None if asked is None else max(asked, LEAST_JUDGED)
        return supernet_accuracy(self.supernet, mixing, self.images.architecture, self.recipe, limit=limit)

    def _judged(self, arch: Architecture, limit: int | None) -> float:
        mixing = self.space.one_hot(arch, self.method.cells, device=self.device)
        found = supernet_accuracy(self.supernet, mixing, self.images.architecture, self.recipe, limit=limit)
        return -math.inf if math.isnan(found) else found

    def _eigenvalue(self) -> float | None:
        count = self.settings.eigenvalue_images
        if not count:
            return None
        batch = next(self.images.architecture.batches("train", count))
        generator = start_chance(self.seed, self.device).generator()
        return search_eigenvalue(self.supernet, self.method, batch, self.recipe, generator)
