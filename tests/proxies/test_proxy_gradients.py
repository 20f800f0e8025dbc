"""Proxies made of gradients, against derivatives worked out by other means."""

from __future__ import annotations

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from torch import Tensor, nn  # noqa: E402
from torch.autograd import functional as autograd  # noqa: E402
from torch.func import functional_call, jacrev  # noqa: E402
from torch.nn import functional  # noqa: E402

from nasbed.networks.blocks import FactorizedReduce  # noqa: E402
from nasbed.proxies import score_all  # noqa: E402
from nasbed.proxies.passes import TANGENT_IMAGES  # noqa: E402


def batch(images: int = 6, features: int = 5, classes: int = 3) -> tuple[Tensor, Tensor]:
    drawn = torch.Generator().manual_seed(3)
    return torch.randn(images, features, generator=drawn, dtype=torch.double), torch.arange(images) % classes


def perceptron(bias: bool = True) -> nn.Sequential:
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(5, 7, bias=bias), nn.ReLU(), nn.Linear(7, 3, bias=bias)).double()


def value(network: nn.Module, name: str, images_and_labels: tuple[Tensor, Tensor] | None = None) -> float:
    score = score_all(network, images_and_labels or batch(), proxies=[name])[name]
    assert score.value is not None, score.reason
    return score.value


def weight_of(network: nn.Sequential, layer: int = 0) -> Tensor:
    """As it is stored."""
    weight = network[layer].weight
    assert isinstance(weight, Tensor)
    return weight.detach()


def softmax_regression_gradient(weight: Tensor, images_and_labels: tuple[Tensor, Tensor]) -> Tensor:
    """(softmax − one-hot)ᵀ x / n: the closed form for one linear layer without bias."""
    images, labels = images_and_labels
    errors = torch.softmax(images @ weight.T, dim=1) - functional.one_hot(labels, len(weight))
    gradient: Tensor = errors.T @ images / len(images)
    return gradient


def test_gradient_proxies_of_softmax_regression() -> None:
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(5, 3, bias=False)).double()
    weight = weight_of(network)
    gradient = softmax_regression_gradient(weight, batch())
    assert value(network, "grad_norm") == pytest.approx(float(gradient.norm()))
    assert value(network, "snip") == pytest.approx(float((weight * gradient).abs().sum()))
    assert value(network, "plain") == pytest.approx(float((weight * gradient).sum()))


def test_fisher_of_softmax_regression_by_hand() -> None:
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(5, 3, bias=False)).double()
    images, labels = batch()
    outputs = images @ weight_of(network).T
    gradient = (torch.softmax(outputs, dim=1) - functional.one_hot(labels, 3)) / len(images)
    by_channel = ((outputs * gradient) ** 2).mean(dim=0) / 2
    assert value(network, "fisher") == pytest.approx(5 * float(by_channel.sum()))


def test_fisher_of_a_convolution_sums_over_places_first() -> None:
    """The derivative of the loss as one channel of one image grows, by finite differences."""
    torch.manual_seed(0)
    network = nn.Sequential(nn.Conv2d(2, 3, 3, bias=False), nn.ReLU(inplace=True), nn.Flatten()).double()
    images = torch.randn(4, 2, 4, 4, dtype=torch.double)
    labels = torch.tensor([0, 5, 11, 3])
    output = network[0](images).detach()

    def loss(scaled: Tensor) -> float:
        return float(functional.cross_entropy(torch.relu(scaled).flatten(1), labels))

    total, step = 0.0, 1e-6
    for image in range(4):
        for channel in range(3):
            up, down = output.clone(), output.clone()
            up[image, channel] *= 1 + step
            down[image, channel] *= 1 - step
            total += ((loss(up) - loss(down)) / (2 * step)) ** 2
    assert value(network, "fisher", (images, labels)) == pytest.approx(total / 4 / 2 * 18, rel=1e-5)


def test_grasp_is_the_change_of_the_squared_gradient_norm() -> None:
    """−wᵀHg = −½ d/dt ‖g((1 + t) w)‖² at t = 0, by finite differences; and with the explicit Hessian."""
    network = perceptron(bias=False)
    weights = {name: parameter.detach() for name, parameter in network.named_parameters()}

    def squared_norm(scale: float) -> float:
        scaled = {name: (weight * scale).requires_grad_() for name, weight in weights.items()}
        loss = functional.cross_entropy(functional_call(network, scaled, (batch()[0],)), batch()[1])
        return sum(float(gradient.square().sum()) for gradient in torch.autograd.grad(loss, list(scaled.values())))

    step = 1e-5
    expected = -(squared_norm(1 + step) - squared_norm(1 - step)) / (2 * step) / 2
    grasp = value(network, "grasp")
    assert grasp == pytest.approx(expected, rel=1e-6)

    shapes = [weight.shape for weight in weights.values()]
    flat = torch.cat([weight.flatten() for weight in weights.values()])

    def loss_at(point: Tensor) -> Tensor:
        parts = torch.split(point, [shape.numel() for shape in shapes])
        first, second = (part.view(shape) for part, shape in zip(parts, shapes, strict=True))
        return functional.cross_entropy(torch.relu(batch()[0] @ first.T) @ second.T, batch()[1])

    curvature = autograd.hessian(loss_at, flat)  # type: ignore[no-untyped-call]
    slope = autograd.jacobian(loss_at, flat)  # type: ignore[no-untyped-call]
    assert grasp == pytest.approx(-float(flat @ curvature @ slope), rel=1e-9)


def test_plain_is_nothing_before_batch_normalisation() -> None:
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(5, 8, bias=False), nn.BatchNorm1d(8, eps=1e-30), nn.ReLU()).double()
    assert value(network, "plain") == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(("name", "power"), [("grad_norm", -1), ("snip", 0), ("fisher", 0), ("grasp", -2)])
def test_gradient_proxies_as_weights_before_batch_normalisation_grow(name: str, power: int) -> None:
    """The network does not change, so its gradient is divided by the factor."""
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(5, 3, bias=False), nn.BatchNorm1d(3, eps=1e-30)).double()
    before = value(network, name)
    with torch.no_grad():
        weight_of(network).mul_(4)
    if name == "grasp":  # wᵀHg = −‖g‖² where only the direction counts
        assert before == pytest.approx(value(network, name) * 4**2)
        assert before > 0
    else:
        assert value(network, name) == pytest.approx(before * 4.0**power)


def test_zico_of_two_parts_by_hand() -> None:
    """Two numbers: their mean size over their spread is (|a| + |b|) / |a − b|."""
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(5, 3, bias=False)).double()
    images, labels = batch()
    first, second = (
        softmax_regression_gradient(weight_of(network), (images[part], labels[part]))
        for part in (slice(0, 3), slice(3, 6))
    )
    expected = math.log(float(((first.abs() + second.abs()) / (first - second).abs()).sum()))
    assert value(network, "zico") == pytest.approx(expected)


def test_zico_does_not_change_with_the_scale_of_the_loss() -> None:
    network, images_and_labels = perceptron(), batch()
    larger = score_all(
        network, images_and_labels, proxies=["zico"], loss=lambda *arguments: 8 * functional.cross_entropy(*arguments)
    )
    assert larger["zico"].value == pytest.approx(value(network, "zico"))


@pytest.mark.parametrize(("name", "counted"), [("ntk", "weight"), ("ntk_all", "")])
def test_ntk_is_the_condition_of_the_explicit_jacobian(name: str, counted: str) -> None:
    network, (images, labels) = perceptron(), batch(images=4)
    parameters = {name: parameter.detach() for name, parameter in network.named_parameters()}
    jacobians = jacrev(lambda values: functional_call(network, values, (images,)).sum(dim=1))(parameters)
    rows = torch.cat([jacobian.flatten(1) for name, jacobian in jacobians.items() if counted in name], dim=1)
    condition = float(np.linalg.cond((rows @ rows.T).numpy()))
    assert value(network, name, (images, labels)) == pytest.approx(-condition, rel=1e-6)


def test_ntk_does_not_see_biases_and_ntk_all_does() -> None:
    """Two images, logits w·x + b: the kernel of w is the matrix of the images' products, biases add one to each."""
    network = nn.Linear(2, 1).double()
    images, labels = torch.tensor([[1.0, 0.0], [0.0, 2.0]], dtype=torch.float64), torch.zeros(2, dtype=torch.int64)
    assert value(network, "ntk", (images, labels)) == pytest.approx(-4.0)
    assert value(network, "ntk_all", (images, labels)) == pytest.approx(-((7 + 13**0.5) / (7 - 13**0.5)))


def test_ntk_has_no_condition_where_normalisation_comes_last() -> None:
    """Outputs are then centred over the batch whatever the weights are, so the gradients of all images add up to 0."""
    network = nn.Sequential(
        nn.Conv2d(1, 3, 2), nn.BatchNorm2d(3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(3, 2)
    )
    images = torch.randn(6, 1, 5, 5, generator=torch.Generator().manual_seed(0))
    scores = score_all(network, (images, torch.arange(6) % 2), proxies=["ntk"])
    assert "singular" in scores["ntk"].reason


def test_ntk_looks_at_the_first_images_only() -> None:
    network, (images, labels) = perceptron(), batch(images=TANGENT_IMAGES + 9, features=5)
    first_images = score_all(network, (images[:TANGENT_IMAGES], labels[:TANGENT_IMAGES]), proxies=["ntk"])["ntk"]
    every = score_all(network, (images, labels), proxies=["ntk"])["ntk"]
    assert (first_images.value, first_images.reason) == (every.value, every.reason)


def test_l2_norm_and_params_count_what_they_say() -> None:
    network = nn.Sequential(nn.Conv2d(1, 2, 2), nn.BatchNorm2d(2), nn.Flatten(), nn.Linear(8, 3))
    for parameter in network.parameters():
        nn.init.constant_(parameter, 2.0)
    images_and_labels = torch.randn(4, 1, 3, 3), torch.arange(4) % 3
    assert value(network, "l2_norm", images_and_labels) == pytest.approx(2 * math.sqrt(8) + 2 * math.sqrt(24))
    assert value(network, "params", images_and_labels) == 8 + 2 + 4 + 24 + 3


def test_flops_by_hand() -> None:
    network = nn.Sequential(
        nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(64, 10)
    )
    images_and_labels = torch.randn(2, 3, 8, 8), torch.arange(2)
    expected = 27 * 4 * 64 + 2 * 4 * 64 + 4 * 64 + 4 * 4 * 16 + 640
    assert value(network, "flops", images_and_labels) == expected


def test_flops_of_a_factorized_reduction_by_hand() -> None:
    """The published DARTS network has its ReLU as a module, which the published counts see: 3 · 8 · 8 numbers. Each of
    the two convolutions makes 2 of 4 channels at every other pixel."""
    images_and_labels = torch.randn(2, 3, 8, 8), torch.arange(2)
    expected = 3 * 64 + 2 * (3 * 2 * 16) + 2 * 4 * 16
    assert value(FactorizedReduce(3, 4), "flops", images_and_labels) == expected
