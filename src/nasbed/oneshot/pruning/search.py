"""A search by Bonsai-Net: weights and pruners learn together from the same images, and what stays closed is removed for
good."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from nasbed.core.architecture import Architecture
from nasbed.networks.bonsai import BonsaiNetwork, remaining_weights
from nasbed.oneshot.pruning.gradient import GatedGradient, GatedLosses
from nasbed.oneshot.pruning.pruners import Compression, Pruners
from nasbed.oneshot.pruning.settings import BonsaiSettings
from nasbed.oneshot.search_interface import RunningSearch, SearchSetup, as_array
from nasbed.spaces.bonsai.costs import BonsaiSkeleton, network_costs
from nasbed.spaces.bonsai.genotype import BonsaiGenotype
from nasbed.training.accuracy import accuracy
from nasbed.training.images import TrainingImages
from nasbed.training.optimizers import recipe_optimizer
from nasbed.training.placement.network import place_network
from nasbed.training.precision import computing
from nasbed.training.random_streams import epoch_draws, epoch_words, initial_weights, step_words
from nasbed.training.steps import move, recipe_loss


class GatedNetwork(nn.Module):
    """A network with its pruners, which are parameters like all others."""

    def __init__(self, network: BonsaiNetwork, pruners: Pruners) -> None:
        super().__init__()
        self.network, self.pruners = network, pruners

    def forward(self, x: Tensor) -> Tensor:
        logits: Tensor = self.network(x, self.pruners())
        return logits


class PruningSearch(RunningSearch[BonsaiSettings]):
    """A gated network and what moves it. ``present`` is what is not removed yet."""

    def __init__(self, setup: SearchSetup[BonsaiSettings]) -> None:
        super().__init__(setup)
        settings, dataset = setup.settings, setup.dataset
        self.frame = settings.frame()
        self.images: TrainingImages = setup.images or TrainingImages(dataset, self.recipe, setup.device)
        self.steps = self.recipe.steps_per_epoch(len(self.images))
        self.skeleton = BonsaiSkeleton(
            channels=settings.channels,
            image=dataset.shape[1:],
            image_channels=dataset.shape[0],
            classes=len(dataset.classes),
            classifier=settings.classifier,
        )
        self.present = BonsaiGenotype.full(self.frame)
        network = self._network(self.present)
        initial_weights(network, setup.seed)
        pruners = Pruners(self.frame, start=settings.gate_start, bound=settings.gate_bound, interval=settings.interval)
        self.gated = place_network(GatedNetwork(network, pruners), setup.device)
        self.optimizer = recipe_optimizer(self.gated, self.recipe)
        self.compression = Compression(self.frame).to(setup.device)
        self.compression_loss = 0.0
        self.gradient = GatedGradient(self.gated, self.recipe, self._losses)

    def train_epoch(self, number: int) -> float:
        """The mean cross entropy. On a CPU the steps end at the first loss that is not finite."""
        recipe, steps = self.recipe, self.steps
        self.gated.train()
        if not self.gated.network.set_drop_path(recipe.drop_path_in(number, self.epochs)):
            self.gradient.forget()
        words = torch.from_numpy(epoch_words(self.seed, number, len(self.images))).to(self.device)
        draws = epoch_draws(recipe, words, self.images.side)
        seeds = step_words(self.seed, number, steps).tolist()
        losses = torch.zeros(2, steps, device=self.device)
        strength = torch.full((), self.settings.strength(number), device=self.device)
        for index, batch in enumerate(self.images.epoch(draws, steps, recipe.batch)):
            step = self.gradient(batch, strength, seed=seeds[index][1])
            losses[:, index] = torch.stack([step.cross_entropy, step.compression]).detach()
            self._move(step.gates, rate=recipe.rate(number * steps + index, self.epochs * steps))
            if self.device.type == "cpu" and not math.isfinite(losses[0, index].item()):
                return math.nan
        loss, self.compression_loss = losses.double().mean(dim=1).tolist()
        return loss if math.isfinite(self.compression_loss) else math.nan

    def parameters(self) -> dict[str, NDArray[Any]]:
        return {"pruners": as_array(self.gated.pruners.weights)}

    def end_epoch(self, number: int) -> None:
        """Remove what stayed closed; where every path is closed, open all gates that are left."""
        pruners = self.gated.pruners
        pruners.end_epoch(self.steps)
        self.deadhead()
        if not self.frame.reaches_output(pruners.open()):
            pruners.reopen()

    def accuracy(self) -> float | None:
        return accuracy(self.gated, self.images, "valid", self.recipe)

    def architecture(self) -> Architecture:
        """What has open gates, as far as it lies on a path from the image to the output."""
        return BonsaiGenotype.from_flags(self.frame, self.frame.pruned(self.gated.pruners.open())).architecture

    def skips(self, arch: Architecture) -> dict[str, int]:
        return BonsaiGenotype.of(arch).skips()

    def figures(self, arch: Architecture) -> dict[str, float]:
        """``operations`` and ``network_parameters`` of the architecture; ``present`` operations are not removed yet,
        and take the share ``size`` of all memory; ``compression_loss`` was added to the loss, as a mean."""
        genotype = BonsaiGenotype.of(arch)
        return {
            "operations": genotype.kept,
            "network_parameters": network_costs(genotype, self.skeleton).parameters,
            "present": self.present.kept,
            "size": self.present.size,
            "compression_loss": self.compression_loss,
        }

    def network(self, arch: Architecture) -> BonsaiNetwork:
        """The network without gates, in evaluation mode. It is already trained, since training and pruning are one."""
        network = place_network(self._network(BonsaiGenotype.of(arch)), self.device)
        remaining_weights(network, self.gated.network)
        return network.eval()

    def state(self) -> dict[str, Any]:
        return {
            "present": self.present.to_json(),
            "gated": self.gated.state_dict(),
            "optimizer": self.optimizer.state_dict(),
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self._keep(BonsaiGenotype.from_json(state["present"]))
        self.gated.load_state_dict(state["gated"])
        self.optimizer.load_state_dict(state["optimizer"])

    def close(self) -> None:
        self.gradient.forget()

    def deadhead(self) -> None:
        """Remove what has withered, but nothing that would cut the output off from the image; what then lies on no path
        goes with it."""
        flags = list(self.present.flags)
        for flag in self.gated.pruners.withered(self.settings.least_open):
            flags[flag] = False
            if not self.frame.reaches_output(flags):
                flags[flag] = True
        if tuple(flags) != self.present.flags:
            self._keep(BonsaiGenotype.from_flags(self.frame, self.frame.pruned(flags)))

    def _network(self, genotype: BonsaiGenotype) -> BonsaiNetwork:
        return BonsaiNetwork(genotype, self.skeleton)

    def _losses(self, images: Tensor, labels: Tensor, strength: Tensor) -> GatedLosses:
        gates = self.gated.pruners()
        with computing(self.recipe, self.device):
            logits = self.gated.network(images, gates)
        loss = recipe_loss(logits, [(1.0, labels)], self.recipe)
        return GatedLosses(loss, self._weighed_compression(gates, strength), gates)

    def _weighed_compression(self, gates: Tensor, strength: Tensor) -> Tensor:
        settings = self.settings
        if self.present.size <= settings.target:
            return gates.new_zeros(())
        operations, inputs = self.compression(gates, settings.aim)
        weighed: Tensor = settings.compression * operations + settings.input_compression * inputs
        return weighed * strength

    def _move(self, gates: Tensor, *, rate: float) -> None:
        """Move weights and pruners by the gradient that they have, and note which gates were open."""
        self.gated.pruners.observe(gates)
        move(self.optimizer, self.recipe, rate=rate)
        self.gated.pruners.clamp()

    def _keep(self, genotype: BonsaiGenotype) -> None:
        """Go on with part of what is present: weights, momenta and all."""
        self.gradient.forget()
        previous, moved = self.gated, self.optimizer.state
        network = place_network(self._network(genotype), self.device)
        remaining_weights(network, previous.network)
        self.present, self.gated = genotype, GatedNetwork(network, previous.pruners)
        with torch.no_grad():
            self.gated.pruners.removed.copy_(~torch.tensor(genotype.flags))
        self.gradient = GatedGradient(self.gated, self.recipe, self._losses)
        self.optimizer = recipe_optimizer(self.gated, self.recipe)
        parameters = dict(previous.named_parameters())
        for name, weight in self.gated.named_parameters():
            if parameters[name] in moved:
                self.optimizer.state[weight] = moved[parameters[name]]
