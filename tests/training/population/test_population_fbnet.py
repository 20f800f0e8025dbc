"""FBNet networks by the recipe that collects them: in a population they become what they become alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from populations import flat
from torch import Tensor, nn
from torch.nn import functional

from nasbed import datasets
from nasbed.core.architecture import Architecture
from nasbed.datasets.dataset import LabelledImages
from nasbed.networks.eager_optimizers import SGD
from nasbed.spaces.fbnet.costs import BLOCKS
from nasbed.training.images import TrainingImages
from nasbed.training.network_factory import recipe_network, recipe_skeleton
from nasbed.training.outcome import Job
from nasbed.training.population.autograd import AutogradExecutor
from nasbed.training.population.training import Population
from nasbed.training.random_streams import epoch_draws, epoch_words, initial_weights
from nasbed.training.recipe_files import load_recipe

COLLECTED = load_recipe("collect-fbnet")
CHANNELS = {"stage_channels": (4, 6, 6, 8, 8, 10, 12), "stem_channels": 4, "header_channels": 20}
RECIPE = replace(
    COLLECTED,
    epochs=(2,),
    batch=16,
    epoch_images=32,
    split=(256, 32),
    precision="float32",
    skeleton={**COLLECTED.skeleton, **CHANNELS},
)
NETWORKS = [Architecture("fbnet", tuple((first + 4 * layer) % 9 for layer in range(22))) for first in (0, 5)]


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


class ExactImages(TrainingImages):
    """In float64, as everything that is computed from them."""

    def _normalised(self, images: Tensor) -> Tensor:
        return (images.double() / self.scale - self.mean) / self.std


def test_the_networks_have_every_block_where_an_identity_fits_and_where_none_does() -> None:
    layers, names = recipe_skeleton("fbnet", RECIPE).layers(), list(BLOCKS)
    unchanged, changed = (
        {
            names[op]
            for arch in NETWORKS
            for op, layer in zip(arch.code, layers, strict=True)
            if layer.keeps_shape == keeps_shape
        }
        for keeps_shape in (True, False)
    )
    assert unchanged == set(BLOCKS) and len(BLOCKS) == 9
    assert changed >= {"skip", "k3_e1_g2", "k5_e1_g2", "k5_e6", "k3_e3"}


def test_fbnet_population_becomes_in_float64_what_its_networks_become_alone() -> None:
    digits = datasets.load("digits")
    digits = replace(digits, test=LabelledImages(digits.test.images[:16], digits.test.labels[:16]))
    images = ExactImages(digits, RECIPE)
    jobs = [Job(arch, 2, seed) for seed, arch in enumerate(NETWORKS, start=3)]
    population = Population(jobs, digits, RECIPE, images, torch.device("cpu"))
    single = population.executor
    assert isinstance(single, AutogradExecutor)
    executor = AutogradExecutor(population.programs, single.parameters.double(), batch=RECIPE.batch)
    population.executor = executor
    together = population.train(2, None, learning_curve=True)

    for place, (job, outcome) in enumerate(zip(jobs, together, strict=True)):
        network = recipe_network(job.architecture, digits, RECIPE)
        initial_weights(network, job.seed)
        loss, accuracy, curve = trained_by_hand(network.double(), images, job.seed)
        weights = flat(network)
        row = executor.parameters[place, : len(weights)]
        torch.testing.assert_close(row, weights, rtol=1e-6, atol=1e-9)
        assert outcome.train_loss == pytest.approx(loss, rel=1e-9)
        assert outcome.train_accuracy == accuracy and outcome.validation_curve == tuple(curve)
        assert outcome.status == "ok" and outcome.validation_accuracy == curve[-1]


def trained_by_hand(network: nn.Module, images: TrainingImages, seed: int) -> tuple[float, float, list[float]]:
    """The mean loss and the accuracy of the last epoch, and the validation accuracy after each, by torch's own SGD."""
    optimizer = SGD(network.parameters(), lr=RECIPE.learning_rate, momentum=0.9, nesterov=True, weight_decay=5e-4)
    loss, correct, curve = 0.0, 0, []
    for epoch in range(2):
        loss, correct = 0.0, 0
        draws = epoch_draws(RECIPE, torch.from_numpy(epoch_words(seed, epoch, len(images))), images.side)
        network.train()
        for place in range(2):
            optimizer.param_groups[0]["lr"] = RECIPE.rate(2 * epoch + place, 4)
            batch, labels = images.batch(draws, 16 * place, 16)
            logits = network(batch)
            value = functional.cross_entropy(logits, labels, label_smoothing=0.1)
            optimizer.zero_grad()
            value.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            loss, correct = loss + value.item() / 2, correct + int((logits.argmax(1) == labels).sum())
        network.eval()
        ((batch, labels),) = images.batches("valid", 32)
        curve.append(100 * int((network(batch).argmax(1) == labels).sum()) / 32)
    return loss, 100 * correct / 32, curve


def test_last_maps_of_collected_networks_are_as_large_as_at_32_pixels() -> None:
    """HW-NAS-Bench's network for CIFAR-100 ends with 4x4 pixels; so does ours for images of 16x16."""
    usual, collected = recipe_skeleton("fbnet", load_recipe("snb-fbnet")), recipe_skeleton("fbnet", COLLECTED)
    assert usual.layers()[-1].out_size == replace(collected, image=16).layers()[-1].out_size == 4
    assert [2 * channels for channels in collected.stage_channels] == list(usual.stage_channels)
    COLLECTED.check_population()
