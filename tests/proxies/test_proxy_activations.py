"""Proxies made of activations, input gradients and drawn weights, against closed forms and invariances."""

from __future__ import annotations

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from torch import Tensor, nn  # noqa: E402

from nasbed.proxies import score_all  # noqa: E402


def batch(images: int = 6, classes: int = 3) -> tuple[Tensor, Tensor]:
    drawn = torch.Generator().manual_seed(3)
    return torch.randn(images, 3, 8, 8, generator=drawn), torch.arange(images) % classes


def convolutional(normalised: bool = True) -> nn.Sequential:
    torch.manual_seed(1)
    layers: list[nn.Module] = [nn.Conv2d(3, 4, 3, bias=False), nn.BatchNorm2d(4), nn.ReLU(), nn.Conv2d(4, 4, 3)]
    if not normalised:
        del layers[1]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3))


def weight_of(network: nn.Sequential, layer: int = 0) -> Tensor:
    """As it is stored."""
    weight = network[layer].weight
    assert isinstance(weight, Tensor)
    return weight.detach()


def value(
    network: nn.Module, name: str, images_and_labels: tuple[Tensor, Tensor] | None = None, seed: int = 0
) -> float:
    score = score_all(network, images_and_labels or batch(), proxies=[name], seed=seed)[name]
    assert score.value is not None, score.reason
    return score.value


def test_synflow_of_linear_layers_is_the_flow_once_for_each() -> None:
    """Each layer of a chain without biases carries the whole flow 1ᵀ|W₂||W₁|1."""
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(5, 7, bias=False), nn.ReLU(), nn.Linear(7, 3, bias=False))
    first, second = (weight_of(network, place).double().abs() for place in (0, 2))
    flow = float((second @ first @ torch.ones(5, dtype=torch.double)).sum())
    vectors_and_labels = torch.randn(4, 5), torch.arange(4) % 3
    assert value(network, "synflow", vectors_and_labels) == pytest.approx(math.log(2 * flow))
    with torch.no_grad():
        weight_of(network).mul_(-3)
        weight_of(network, 2).mul_(10)
    assert value(network, "synflow", vectors_and_labels) == pytest.approx(math.log(2 * flow * 30))


def test_synflow_sees_neither_data_nor_normalisation() -> None:
    images, labels = batch()
    expected = value(convolutional(normalised=False), "synflow")
    assert value(convolutional(), "synflow", (images * 100 + 7, labels.flip(0))) == pytest.approx(expected)


def test_synflow_of_many_layers_does_not_overflow_single_precision() -> None:
    network = nn.Sequential(*(nn.Linear(10, 10, bias=False) for _ in range(60)))
    for parameter in network.parameters():
        nn.init.ones_(parameter)
    assert value(network, "synflow", (torch.randn(2, 10), torch.arange(2))) == pytest.approx(
        math.log(60) + 61 * math.log(10)
    )


def test_jacov_is_highest_where_gradients_are_unlike() -> None:
    """Uncorrelated gradients have eigenvalues of one: −n (log 1 + 1) but for the offset."""

    class Own(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            directions = torch.tensor([[1.0, -1, 0, 0], [0, 0, 1, -1], [1, 1, -1, -1]], dtype=x.dtype)
            output: Tensor = (x.flatten(1) * directions).sum(1, keepdim=True).repeat(1, 2)
            return output

    jacov = value(Own(), "jacov", (torch.randn(3, 1, 2, 2), torch.arange(3) % 2))
    assert jacov == pytest.approx(-3, abs=1e-4)


def test_jacov_of_alike_images_is_the_closed_form() -> None:
    """A linear network has one gradient for all images: eigenvalues n and n − 1 zeros."""
    network = nn.Sequential(nn.Flatten(), nn.Linear(192, 3))
    offset = 1e-5
    expected = -(math.log(6 + offset) + 1 / (6 + offset)) - 5 * (math.log(offset) + 1 / offset)
    assert value(network, "jacov") == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("name", ["jacov", "nwot", "swap", "zen", "meco", "synflow", "ntk"])
def test_label_free_proxies_do_not_see_the_labels(name: str) -> None:
    images, labels = batch()
    assert value(convolutional(), name) == value(convolutional(), name, (images, (labels + 1) % 3))


@pytest.mark.parametrize("name", ["zen", "meco", "synflow", "l2_norm", "params", "flops"])
def test_data_free_proxies_do_not_see_the_images(name: str) -> None:
    images, labels = batch()
    assert value(convolutional(), name) == value(convolutional(), name, (images.flip(0) * 3, labels))


@pytest.mark.parametrize("name", ["nwot", "swap", "jacov"])
def test_pattern_and_correlation_proxies_do_not_see_the_scale_of_normalised_weights(name: str) -> None:
    network = convolutional().double()
    setattr(network[1], "eps", 1e-30)  # noqa: B010
    images, labels = batch()
    images_and_labels = images.double(), labels
    before = value(network, name, images_and_labels)
    with torch.no_grad():
        weight_of(network).mul_(16)
    assert value(network, name, images_and_labels) == pytest.approx(before, rel=1e-6)


def test_epe_nas_by_numpy() -> None:
    network, (images, labels) = convolutional().double(), batch(8)
    inputs = images.double().requires_grad_()
    (gradient,) = torch.autograd.grad(convolutional().double()(inputs).sum(), inputs)
    expected = 0.0
    for index in range(3):
        rows = gradient[labels == index].flatten(1).numpy()
        expected += abs(np.log(np.abs(np.corrcoef(rows)) + 1e-5).sum())
    assert value(network, "epe_nas", (images.double(), labels)) == pytest.approx(expected, rel=1e-6)


def test_epe_nas_of_many_classes_compares_them() -> None:
    """Classes alike in everything differ by nothing; the images of a class are the same image."""
    network = nn.Sequential(nn.Flatten(), nn.Linear(192, 101))
    assert value(network, "epe_nas", (batch(6)[0], torch.tensor([0, 0, 1, 1, 2, 2]))) == pytest.approx(0, abs=1e-3)


def test_epe_nas_of_many_classes_leaves_single_images_out() -> None:
    """By numpy: NASLib's own loop fails on the one number that ``np.corrcoef`` makes of a single row, and goes on."""
    torch.manual_seed(0)
    network = convolutional().double()
    network[-1] = nn.Linear(4, 101).double()
    images, labels = batch(8)[0].double(), torch.tensor([0, 0, 0, 1, 1, 2, 3, 4])
    inputs = images.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(network(inputs).sum(), inputs)
    sums = []
    for index in (0, 1):
        matrix = np.corrcoef(gradient[labels == index].flatten(1).numpy())
        sums.append(np.log(np.abs(matrix) + 1e-5).sum() / len(matrix))
    expected = 2 * abs(sums[0] - sums[1]) / 2
    assert value(network, "epe_nas", (images, labels)) == pytest.approx(expected, rel=1e-6)


def test_nwot_counts_rectifiers_that_lead_nowhere() -> None:
    """As the published scores do: the patterns of a branch whose output is not used."""
    reached, images_and_labels = nn.Sequential(nn.ReLU(), nn.Flatten(), nn.Linear(192, 3)), batch(4)

    class DeadEnd(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.used, self.unused = reached, nn.ReLU()

        def forward(self, x: Tensor) -> Tensor:
            self.unused(-x)
            output: Tensor = self.used(x)
            return output

    alone = value(reached, "nwot", images_and_labels)
    assert value(DeadEnd(), "nwot", images_and_labels) == pytest.approx(alone + 4 * np.log(2))


def test_nwot_by_counting_agreements() -> None:
    network, (images, labels) = nn.Sequential(nn.ReLU(), nn.Flatten(), nn.Linear(192, 3)), batch(4)
    patterns = (images > 0).flatten(1).numpy()
    alike = [[(first == second).sum() for second in patterns] for first in patterns]
    assert value(network, "nwot", (images, labels)) == pytest.approx(np.linalg.slogdet(np.array(alike))[1])


class Functional(nn.Module):
    """Rectifies by a function, which no module shows."""

    def __init__(self, layers: nn.Sequential) -> None:
        super().__init__()
        self.layers = layers

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = torch.relu(x) if isinstance(layer, nn.ReLU) else layer(x)
        return x


@pytest.mark.parametrize("name", ["nwot", "swap"])
def test_pattern_proxies_see_rectifiers_that_are_no_modules(name: str) -> None:
    assert value(Functional(convolutional()), name) == value(convolutional(), name)


@pytest.mark.parametrize("images", [5, 64, 70])
def test_swap_counts_different_columns(images: int) -> None:
    torch.manual_seed(0)
    inputs = torch.randn(images, 1, 2, 2)
    inputs = torch.cat([inputs, inputs, torch.ones_like(inputs)], dim=1)  # four patterns twice, and always on
    network = nn.Sequential(nn.ReLU(), nn.Flatten(), nn.Linear(12, 2))
    assert value(network, "swap", (inputs, torch.arange(images) % 2)) == 5


def test_zen_is_a_function_of_the_shape_and_the_seed() -> None:
    network = convolutional()
    before = value(network, "zen")
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(torch.rand_like(parameter) * 10)
    assert value(network, "zen") == before
    assert value(network, "zen", seed=1) != before


def test_zen_of_one_convolution_is_the_expected_size_of_a_gaussian() -> None:
    """The features move by 0.01 Wε: given W, each is normal with the standard deviation 0.01 ‖w‖."""
    network = nn.Sequential(nn.Conv2d(8, 400, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(400, 2))
    images_and_labels = torch.randn(64, 8, 4, 4), torch.arange(64) % 2
    mean_norm = math.sqrt(2) * math.gamma(4.5) / math.gamma(4)  # of eight standard normal weights
    expected = math.log(400 * 16 * 0.01 * math.sqrt(2 / math.pi) * mean_norm)
    assert value(network, "zen", images_and_labels) == pytest.approx(expected, abs=0.03)


def test_zen_adds_the_scale_that_normalisation_takes_away() -> None:
    """After a 1x1 convolution of n normal channels the variance is the squared norm of the weights, n on average."""

    def network(*last: nn.Module) -> nn.Sequential:
        return nn.Sequential(nn.Conv2d(50, 300, 1), *last, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(300, 2))

    images_and_labels = torch.randn(32, 50, 4, 4), torch.arange(32) % 2
    plain, normalised = (value(network(*last), "zen", images_and_labels) for last in ((), (nn.BatchNorm2d(300),)))
    running = 0.81 + 0.19 * 50
    assert normalised - plain == pytest.approx(math.log(running) / 2 - math.log(50) / 2, abs=0.02)


def test_meco_of_independent_and_of_equal_channels() -> None:
    """Many places of independent noise correlate little; a channel twice has the eigenvalue zero."""
    network = nn.Sequential(nn.Identity(), nn.Flatten(), nn.Linear(2 * 64 * 64, 2))
    images_and_labels = torch.randn(2, 2, 64, 64), torch.arange(2)
    drawn = torch.randn(1, 2, 64, 64, generator=torch.Generator().manual_seed(5))[0].flatten(1)
    expected = 1 - abs(np.corrcoef(drawn.numpy())[0, 1])
    assert value(network, "meco", images_and_labels, seed=5) == pytest.approx(expected, abs=1e-6)

    class Twice(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            doubled: Tensor = torch.cat([x, x], dim=1)
            return doubled

    assert value(nn.Sequential(Twice(), nn.Flatten(), nn.Linear(16384, 2)), "meco", images_and_labels) == pytest.approx(
        0, abs=1e-9
    )
