"""A population computes what its networks compute alone."""

from __future__ import annotations

import pytest
import torch
from populations import SKELETONS, batches, networks, parameters, programs
from torch import Tensor, nn
from torch.nn import functional

from nasbed.core.errors import InvalidOption
from nasbed.networks import NETWORKS
from nasbed.training.population.autograd import AutogradExecutor
from nasbed.training.population.program import Norm, read_planes
from nasbed.training.population.stages import stages
from nasbed.training.population.tracing import trace


@pytest.mark.parametrize("name", SKELETONS)
def test_population_has_the_losses_gradients_and_statistics_of_its_networks_alone(name: str) -> None:
    side = SKELETONS[name][1]
    singles = [network.double() for network in networks(name, 2 if name == "fbnet" else 3)]
    images, labels = batches(len(singles), 3, side, torch.float64)
    executor = AutogradExecutor(programs(singles, side), parameters(singles))
    executor.place(images)
    losses, correct = executor.backward(labels, smoothing=0.1)
    gradient = executor.gradient()
    for place, network in enumerate(singles):
        logits = network(images[place])
        assert correct[place] == sum(
            int(row.argmax()) == int(label) for row, label in zip(logits, labels[place], strict=True)
        )
        loss = functional.cross_entropy(logits, labels[place], label_smoothing=0.1)
        weights = list(network.parameters())
        gradients = torch.autograd.grad(loss, weights, materialize_grads=True, allow_unused=True)
        expected = torch.cat([values.flatten() for values in gradients])
        assert losses[place].item() == pytest.approx(loss.item(), rel=1e-10)
        actual = gradient[place]
        assert torch.allclose(actual[: len(expected)], expected, rtol=1e-6, atol=1e-9 * float(expected.abs().max()))
        assert not actual[len(expected) :].any()
    judged = executor.logits(training=False)
    for place, network in enumerate(singles):
        network.eval()
        assert torch.allclose(judged[place], network(images[place]), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", sorted({*SKELETONS} - {"fbnet"}))
@pytest.mark.parametrize("side", [(7, 10), (9, 9)])
def test_population_takes_odd_images_and_such_that_are_no_squares(name: str, side: tuple[int, int]) -> None:
    singles = [network.double() for network in networks(name, 2)]
    images = torch.randn(2, 3, 3, *side, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    labels = torch.arange(6).reshape(2, 3)
    executor = AutogradExecutor([trace(network, channels=3, side=side) for network in singles], parameters(singles))
    executor.place(images)
    losses, _ = executor.backward(labels)
    gradient = executor.gradient()
    for place, network in enumerate(singles):
        loss = functional.cross_entropy(network(images[place]), labels[place])
        weights = list(network.parameters())
        gradients = torch.autograd.grad(loss, weights, materialize_grads=True, allow_unused=True)
        expected = torch.cat([values.flatten() for values in gradients])
        assert losses[place].item() == pytest.approx(loss.item(), rel=1e-10)
        actual = gradient[place, : len(expected)]
        assert torch.allclose(actual, expected, rtol=1e-6, atol=1e-9 * float(expected.abs().max()))


def test_every_space_with_networks_is_tested_here() -> None:
    assert set(SKELETONS) == set(NETWORKS)


@pytest.mark.parametrize("name", SKELETONS)
def test_operations_of_many_networks_become_few_stages_in_which_each_comes_after_what_it_needs(name: str) -> None:
    side = SKELETONS[name][1]
    traced = programs(networks(name, 6), side)
    waves = stages(traced)
    plan = [stage for wave in waves for stage in wave]
    assert sum(len(stage.rows) for stage in plan) == sum(len(program.operations) for program in traced)
    assert len(plan) < sum(len(program.operations) for program in traced) / 2
    computed = [set(range(program.images)) for program in traced]
    normalised: list[set[int]] = [set() for _ in traced]
    for wave in waves:
        rows = [row for stage in wave for row in stage.rows]
        for number, operation in rows:
            assert computed[number].issuperset(read_planes(operation))
            for term in getattr(operation, "terms", ()):
                assert term.norm < 0 or normalised[number].issuperset(term.planes)
        for number, operation in rows:
            computed[number].update(getattr(operation, "outputs", ()))
            if isinstance(operation, Norm):
                normalised[number].update(operation.inputs)


class Uneven(nn.Module):
    """Adds a map to one of half its resolution."""

    def forward(self, x: Tensor) -> Tensor:
        return x + functional.max_pool2d(x, 2, 2)


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        (nn.Conv2d(3, 4, 3, padding=1), "without bias"),
        (nn.Conv2d(3, 4, 3, padding=0, bias=False), "keep or halve"),
        (nn.Sigmoid(), "uses sigmoid"),
        (nn.Identity(), "end in global average pooling"),
        (nn.Conv2d(3, 4, 3, stride=(1, 2), padding=1, bias=False), "rows and columns alike"),
        (nn.MaxPool2d(2, 2, dilation=2), "side by side"),
        (nn.AvgPool2d((2, 3)), "rows and columns alike"),
        (nn.ConstantPad2d(1, 0.0), "even sides only"),
        (Uneven(), "of one resolution"),
    ],
)
def test_network_that_no_population_can_train_is_refused_in_words(layer: nn.Module, message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        trace(nn.Sequential(layer), channels=3, side=8)
