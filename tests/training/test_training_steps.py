"""One step at a time, against formulas and hand-written loops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch")

from torch import Tensor, nn  # noqa: E402
from torch.nn import functional  # noqa: E402

import nasbed  # noqa: E402
from nasbed import datasets  # noqa: E402
from nasbed.core.errors import InvalidOption  # noqa: E402
from nasbed.training import Recipe, train_network  # noqa: E402
from nasbed.training.images import TrainingImages  # noqa: E402
from nasbed.training.mixup import mixup  # noqa: E402
from nasbed.training.network_factory import recipe_network, recipe_skeleton  # noqa: E402
from nasbed.training.optimizers import TensorFlowRMSprop, recipe_optimizer  # noqa: E402
from nasbed.training.random_streams import epoch_draws, epoch_words, initial_weights  # noqa: E402
from nasbed.training.sharpness import sharpness_aware_gradient  # noqa: E402
from nasbed.training.steps import recipe_loss, step  # noqa: E402

RECIPE = Recipe(
    name="tiny",
    epochs=(2,),
    batch=64,
    learning_rate=0.1,
    final_learning_rate=0.01,
    weight_decay=1e-3,
    nesterov=True,
    crop_padding=1,
    label_smoothing=0.1,
    epoch_images=256,
    skeleton={"channels": 4, "cells_per_stage": 1},
)


def test_sgd_training_equals_a_loop_written_by_hand() -> None:
    dataset = datasets.load("digits")
    arch = nasbed.space("nb201").parse(
        "|nor_conv_3x3~0|+|nor_conv_1x1~0|skip_connect~1|+|none~0|avg_pool_3x3~1|nor_conv_3x3~2|"
    )
    trained, reference = (recipe_network(arch, dataset, RECIPE) for _ in range(2))
    initial_weights(trained, 1)
    initial_weights(reference, 1)
    outcome = train_network(trained, dataset, RECIPE, seed=1)

    images = TrainingImages(dataset, RECIPE)
    optimizer = torch.optim.SGD(reference.parameters(), lr=0.1, momentum=0.9, nesterov=True, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 8, eta_min=0.01)
    for epoch in range(2):
        draws = epoch_draws(RECIPE, torch.from_numpy(epoch_words(1, epoch, len(images))), images.side)
        losses, correct = [], 0
        for place in range(4):
            batch, labels = images.batch(draws, 64 * place, 64)
            logits = reference(batch)
            correct += sum(row.argmax().item() == label.item() for row, label in zip(logits, labels, strict=True))
            loss = functional.cross_entropy(logits, labels, label_smoothing=0.1)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
    for actual, expected in zip(trained.state_dict().values(), reference.state_dict().values(), strict=True):
        torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-6)
    assert outcome.train_loss == pytest.approx(np.mean(losses), rel=1e-4)
    assert outcome.train_accuracy == 100 * correct / 256, "of the last epoch alone"


def test_sharpness_aware_gradient_of_a_quadratic_is_the_closed_form() -> None:
    """Of w·A·w/2 it is A(w + radius·Aw/|Aw|)."""
    matrix = torch.tensor([[3.0, 1.0], [1.0, 2.0]], dtype=torch.float64)
    network = nn.Linear(2, 1, bias=False, dtype=torch.float64)
    start = torch.tensor([[1.0, -2.0]], dtype=torch.float64)
    with torch.no_grad():
        network.weight.copy_(start)
    loss = sharpness_aware_gradient(network, 0.5, lambda: (network.weight @ matrix @ network.weight.T).sum() / 2)
    gradient = start @ matrix
    assert torch.equal(network.weight.detach(), start) and loss.item() == pytest.approx((gradient @ start.T).item() / 2)
    torch.testing.assert_close(network.weight.grad, (start + 0.5 * gradient / gradient.norm()) @ matrix)


def test_sharpness_aware_gradient_updates_statistics_once() -> None:
    network = nn.BatchNorm1d(3)
    batch = torch.arange(12.0).reshape(4, 3)

    def loss() -> Tensor:
        total: Tensor = (network(batch) ** 3).sum()
        return total

    sharpness_aware_gradient(network, 0.1, loss)
    assert network.num_batches_tracked == 1 and network.track_running_stats
    torch.testing.assert_close(network.running_mean, 0.1 * batch.mean(0))


def test_rmsprop_is_tensorflows() -> None:
    """The formula of TensorFlow 1's documentation; its slot for the mean of squares begins at one."""
    weight = nn.Parameter(torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64))
    optimizer = TensorFlowRMSprop([weight], lr=0.2, decay=0.9, momentum=0.9, epsilon=1.0, weight_decay=1e-2)
    value, square, velocity = weight.detach().numpy().copy(), np.ones(3), np.zeros(3)
    for rate in (0.2, 0.1, 0.02):
        optimizer.param_groups[0]["lr"] = rate
        optimizer.zero_grad()
        (weight**3).sum().backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        gradient = 3 * value**2 + 1e-2 * value
        square = 0.9 * square + 0.1 * gradient**2
        velocity = 0.9 * velocity + rate * gradient / np.sqrt(square + 1.0)
        value = value - velocity
        np.testing.assert_allclose(weight.detach().numpy(), value, rtol=1e-12)


def test_mixed_labels_and_the_auxiliary_classifier_share_the_loss() -> None:
    """Mixing two labels is cross entropy with a label that is part this and part that."""
    recipe = replace(RECIPE, auxiliary_weight=0.4)
    logits, second = torch.randn(2, 5, 10, generator=torch.Generator().manual_seed(0))
    labels, partner_labels = torch.tensor([1, 2, 3, 4, 5]), torch.tensor([5, 4, 3, 2, 1])
    soft = 0.3 * functional.one_hot(labels, 10) + 0.7 * functional.one_hot(partner_labels, 10)
    expected = functional.cross_entropy(logits, soft, label_smoothing=0.1)
    expected = expected + 0.4 * functional.cross_entropy(second, soft, label_smoothing=0.1)
    torch.testing.assert_close(recipe_loss((logits, second), [(0.3, labels), (0.7, partner_labels)], recipe), expected)
    with pytest.raises(InvalidOption, match="gives no auxiliary logits"):
        recipe_loss(logits, [(1.0, labels)], recipe)


class Copying(nn.Module):
    """Its logits are the pixels; with an auxiliary classifier that is always wrong."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        logits = self.scale * x.flatten(1)
        return logits, -logits


@pytest.mark.parametrize("seed", range(6))
def test_mixed_image_counts_as_the_label_with_the_larger_share(seed: int) -> None:
    """An image that is its own label in one-hot form, mixed with another, is largest where the larger share is."""
    recipe = replace(RECIPE, mixup=1.0, auxiliary_weight=0.4)
    labels = torch.arange(10)
    images = functional.one_hot(labels, 10).float().view(10, 1, 2, 5)
    network = Copying()
    _, correct = step(network, recipe_optimizer(network, recipe), recipe, (images, labels), rate=0.1, seeds=(seed, 0))
    shares = {mixup(images, labels, 1.0, torch.Generator().manual_seed(number)).share > 0.5 for number in range(6)}
    assert correct == 10 and shares == {True, False}


def test_predictions_are_counted_where_the_weights_are_not_where_they_are_sharpest() -> None:
    """Seven of ten are right with the scale 1. Sharpness-aware minimisation looks again at 1 - 5, where none is."""
    recipe = replace(RECIPE, sharpness_radius=5.0, auxiliary_weight=0.01)
    labels = torch.arange(10)
    images = functional.one_hot((labels + (labels >= 7)) % 10, 10).float().view(10, 1, 2, 5)
    network = Copying()
    _, correct = step(network, recipe_optimizer(network, recipe), recipe, (images, labels), rate=0.1, seeds=(0, 0))
    assert correct == 7


def test_skeletons_are_set_as_the_recipe_says_or_refused() -> None:
    assert recipe_skeleton("nb201", RECIPE).channels == 4
    assert recipe_skeleton("transnas-micro", replace(RECIPE, skeleton={"modules": "14"})).modules == "14"
    assert recipe_skeleton("darts", replace(RECIPE, skeleton={}, auxiliary_weight=0.4)).auxiliary
    for space, change, message in (
        ("nb101", {}, "skeleton of nb101 has the settings .* got cells_per_stage"),
        ("nb201", {"auxiliary_weight": 0.4}, "nb201 have no auxiliary classifier"),
        ("fcnet", {}, "skeleton of fcnet has no settings"),
        ("nb201", {"skeleton": {"channels": "four"}}, "of a wrong kind"),
    ):
        with pytest.raises(InvalidOption, match=message):
            recipe_skeleton(space, replace(RECIPE, **change))
