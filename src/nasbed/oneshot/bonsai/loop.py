"""A search by Bonsai-Net: weights and pruners learn together from the same images, and what stays closed is removed.

Chance comes from the seed, the epoch and the step alone: on a CPU the same search gives the same bits each time,
interrupted or not, in any process with as many threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

import torch
from torch import Tensor, nn

from nasbed.core.errors import shorten
from nasbed.datasets.dataset import Dataset
from nasbed.oneshot import checkpoint as checkpoints
from nasbed.oneshot.bonsai.network import BonsaiNetwork, remaining_weights
from nasbed.oneshot.bonsai.outcome import BonsaiEpoch, BonsaiSearched
from nasbed.oneshot.bonsai.paths import useful
from nasbed.oneshot.bonsai.pruner import Compression, Pruners
from nasbed.oneshot.bonsai.settings import METHOD, BonsaiSettings
from nasbed.oneshot.bonsai.space import BonsaiArchitecture
from nasbed.training.devices import chance_kept, chosen_device, set_chance
from nasbed.training.draws import epoch_draws, epoch_words, initial_weights, step_words
from nasbed.training.evaluating import accuracy
from nasbed.training.images import TrainingImages
from nasbed.training.optimizers import recipe_optimizer
from nasbed.training.precision import computing
from nasbed.training.steps import move, recipe_loss

Told = Callable[[BonsaiEpoch], None]


def search(
    dataset: Dataset,
    settings: BonsaiSettings | None = None,
    *,
    seed: int = 0,
    device: str | torch.device = "cpu",
    checkpoint: Path | None = None,
    progress: Told | None = None,
    images: TrainingImages | None = None,
) -> BonsaiSearched:
    """Train and prune a network until little of it is left.

    With a ``checkpoint`` the search is saved there after every epoch, and goes on from there if the file exists.
    ``images`` spares making them anew where several searches run on one device; they are those of this dataset and
    settings.
    """
    settings = settings or BonsaiSettings()
    chosen = chosen_device(device)
    of = {
        "method": METHOD,
        "dataset": f"{dataset.name} {dataset.hash}",
        "seed": seed,
        **{f"the setting {name}": value for name, value in settings.plain().items()},
    }
    with chance_kept(chosen):
        running = _Search(dataset, settings, seed, chosen, images)
        epochs: list[BonsaiEpoch] = []
        if checkpoint is not None and checkpoint.exists():
            state, _ = checkpoints.load(checkpoint, of)
            try:
                epochs = [BonsaiEpoch.unpacked(each) for each in state["epochs"]]
                running.load(state)
            except (KeyError, TypeError, ValueError, RuntimeError) as error:
                raise checkpoints.damaged(checkpoint, f"it does not fit, {shorten(str(error), 100)}") from None
        while len(epochs) < settings.epochs:
            seconds = epochs[-1].search_time_s if epochs else 0.0
            end = running.epoch(len(epochs), seconds)
            if isinstance(end, str):
                return BonsaiSearched("diverged", None, None, tuple(epochs), seconds, end)
            epochs.append(end)
            if checkpoint is not None:
                state = running.state() | {"epochs": [each.packed() for each in epochs]}
                checkpoints.save(checkpoint, of, state, [])
            if progress is not None:
                progress(end)
        last = epochs[-1]
        network = running.pruned(last.architecture)
        return BonsaiSearched("ok", last.architecture, network, tuple(epochs), last.search_time_s)


class Gated(nn.Module):
    """A network with its pruners, which are parameters like all others."""

    def __init__(self, network: BonsaiNetwork, pruners: Pruners) -> None:
        super().__init__()
        self.network, self.pruners = network, pruners

    def forward(self, x: Tensor) -> Tensor:
        logits: Tensor = self.network(x, self.pruners())
        return logits


class _Search:
    """A gated network and what moves it, epoch by epoch."""

    def __init__(
        self,
        dataset: Dataset,
        settings: BonsaiSettings,
        seed: int,
        device: torch.device,
        images: TrainingImages | None,
    ) -> None:
        self.settings, self.seed, self.device = settings, seed, device
        self.recipe, self.frame = settings.recipe(), settings.frame()
        self.images = images or TrainingImages(dataset, self.recipe, device)
        self.steps = self.recipe.steps_per_epoch(len(self.images))
        self.width = {
            "channels": settings.channels,
            "channels_in": dataset.shape[0],
            "classes": len(dataset.classes),
        }
        self.present = self.frame.full()
        network = BonsaiNetwork(self.present, **self.width)
        initial_weights(network, seed)
        pruners = Pruners(self.frame, start=settings.gate_start, bound=settings.gate_bound, interval=settings.interval)
        self.gated = Gated(network, pruners).to(device)
        self.optimizer = recipe_optimizer(self.gated, self.recipe)
        self.compression = Compression(self.frame).to(device)

    def epoch(self, number: int, before_s: float) -> BonsaiEpoch | str:
        """Search for an epoch, counted from 0, and look at what came of it; a text says why it came to nothing."""
        start = perf_counter()
        loss, compression = self._steps(number)
        pruners = self.gated.pruners
        if not math.isfinite(loss + compression):
            return f"the loss of epoch {number + 1} is no finite number"
        if not bool(torch.isfinite(pruners.weights).all()):
            return f"a pruner of epoch {number + 1} is no finite number"
        pruners.end_epoch(self.steps)
        self._deadhead()
        if not any(useful(self.frame, pruners.open())):
            pruners.reopen()
        seconds = before_s + perf_counter() - start
        found = accuracy(self.gated, self.images, "valid", self.recipe)
        if found is not None and math.isnan(found):
            return f"an output of the network after epoch {number + 1} is no finite number"
        architecture = self.frame.architecture(pruners.open())
        return BonsaiEpoch(
            epoch=number + 1,
            architecture=architecture,
            operations=architecture.kept,
            parameters=architecture.parameters(**self.width),
            present=self.present.kept,
            size=self.present.size,
            train_loss=loss,
            compression_loss=compression,
            validation_accuracy=found,
            search_time_s=seconds,
        )

    def pruned(self, arch: BonsaiArchitecture) -> BonsaiNetwork:
        """The network of part of what is present, without gates and in evaluation mode."""
        network = BonsaiNetwork(arch, **self.width).to(self.device)
        remaining_weights(network, self.gated.network)
        return network.eval()

    def state(self) -> dict[str, Any]:
        return {
            "present": self.present.to_json(),
            "gated": self.gated.state_dict(),
            "optimizer": self.optimizer.state_dict(),
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self._leave(BonsaiArchitecture.from_json(state["present"]))
        self.gated.load_state_dict(state["gated"])
        self.optimizer.load_state_dict(state["optimizer"])

    def _steps(self, number: int) -> tuple[float, float]:
        """The steps of an epoch; the mean cross entropy and the mean compression loss. On a CPU they end at the first
        loss that is no finite number."""
        recipe, steps = self.recipe, self.steps
        self.gated.train()
        self.gated.network.set_drop_path(recipe.drop_path_in(number, self.settings.epochs))
        words = torch.from_numpy(epoch_words(self.seed, number, len(self.images))).to(self.device)
        drawn = epoch_draws(recipe, words, self.images.side)
        seeds = step_words(self.seed, number, steps).tolist()
        losses = torch.zeros(2, steps, device=self.device)
        for place in range(steps):
            set_chance(self.device, seeds[place][1])
            batch = self.images.batch(drawn, place * recipe.batch, recipe.batch)
            rate = recipe.rate(number * steps + place, self.settings.epochs * steps)
            losses[:, place] = self._step(batch, rate, number)
            if self.device.type == "cpu" and not math.isfinite(losses[0, place].item()):
                return math.nan, math.nan
        loss, compression = losses.double().mean(dim=1).tolist()
        return loss, compression

    def _step(self, batch: tuple[Tensor, Tensor], rate: float, epoch: int) -> Tensor:
        images, labels = batch
        gates = self.gated.pruners()
        self.optimizer.zero_grad(set_to_none=True)
        with computing(self.recipe, self.device):
            logits = self.gated.network(images, gates)
        loss = recipe_loss(logits, [(1.0, labels)], self.recipe)
        compression = self._compression(gates, epoch)
        (loss + compression).backward()  # type: ignore[no-untyped-call]
        self.gated.pruners.observe(gates)
        move(self.gated, self.optimizer, self.recipe, rate=rate)
        self.gated.pruners.clamp()
        return torch.stack([loss, compression]).detach()

    def _compression(self, gates: Tensor, epoch: int) -> Tensor:
        settings = self.settings
        if self.present.size <= settings.target:
            return gates.new_zeros(())
        operations, inputs = self.compression(gates, settings.aim)
        weighed: Tensor = settings.compression * operations + settings.input_compression * inputs
        return weighed * settings.strength(epoch)

    def _deadhead(self) -> None:
        """Remove what has withered, but nothing that would cut the output off from the image; what then lies on no path
        goes with it."""
        flags = list(self.present.flags)
        for place in self.gated.pruners.withered(self.settings.least_open):
            flags[place] = False
            if not any(useful(self.frame, flags)):
                flags[place] = True
        if tuple(flags) != self.present.flags:
            self._leave(self.frame.architecture(flags))

    def _leave(self, arch: BonsaiArchitecture) -> None:
        """Go on with part of what is present: weights, momenta and all."""
        before, moved = self.gated, self.optimizer.state
        network = BonsaiNetwork(arch, **self.width).to(self.device)
        remaining_weights(network, before.network)
        self.present, self.gated = arch, Gated(network, before.pruners)
        with torch.no_grad():
            self.gated.pruners.removed.copy_(~torch.tensor(arch.flags))
        self.optimizer = recipe_optimizer(self.gated, self.recipe)
        named = dict(before.named_parameters())
        for name, weight in self.gated.named_parameters():
            if named[name] in moved:
                self.optimizer.state[weight] = moved[named[name]]
