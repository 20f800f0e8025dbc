"""Second-order gradients and curvature against exact ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

torch = pytest.importorskip("torch", reason="needs torch")

from torch import Tensor  # noqa: E402
from torch.func import functional_call  # noqa: E402

from nasbed.oneshot import SEARCHED_SPACES, SearchSettings  # noqa: E402
from nasbed.oneshot.cells import Layout  # noqa: E402
from nasbed.oneshot.curvature import dominant_eigenvalue, search_eigenvalue  # noqa: E402
from nasbed.oneshot.methods.darts2 import unrolled_gradient  # noqa: E402
from nasbed.oneshot.mixing import Mixing  # noqa: E402
from nasbed.oneshot.random_streams import Chance  # noqa: E402
from nasbed.oneshot.spaces.base import Supernet, SupernetSize  # noqa: E402
from nasbed.oneshot.steps import Step, weight_step  # noqa: E402
from nasbed.training.optimizers import recipe_optimizer, set_rate  # noqa: E402
from support.supernet_methods import supernet_method  # noqa: E402

Loss = Callable[[Tensor, Sequence[Tensor]], Tensor]
"""Of architecture parameters and weights."""
RATE, MOMENTUM, DECAY = 0.1, 0.9, 3e-2


def toy() -> tuple[Loss, Loss, list[Tensor], Tensor]:
    """Two smooth losses of architecture parameters and weights, none of them quadratic."""
    generator = torch.Generator().manual_seed(0)
    x, y = (torch.randn(20, 3, generator=generator, dtype=torch.float64) for _ in range(2))
    weights = [
        torch.randn(3, 4, generator=generator, dtype=torch.float64),
        torch.randn(4, 3, generator=generator, dtype=torch.float64),
    ]
    alphas = torch.randn(4, generator=generator, dtype=torch.float64)

    def losses(inputs: Tensor, targets: Tensor) -> Loss:
        return lambda alphas, weights: (
            (torch.tanh(inputs @ weights[0]) * alphas.softmax(0) @ weights[1] - targets).square().mean()
        )

    return losses(x, y), losses(y, x.roll(1, 0)), weights, alphas


def exact(
    train: Loss,
    valid: Loss,
    weights: Sequence[Tensor],
    velocities: Sequence[Tensor],
    alphas: Tensor,
) -> Tensor:
    """The validation loss after one step of SGD on the training loss, to differentiate through."""
    current = [weight.detach().requires_grad_() for weight in weights]
    slopes = torch.autograd.grad(train(alphas, current), current, create_graph=True)
    ahead = [
        w.detach() - RATE * (slope + DECAY * w.detach() + MOMENTUM * v)
        for w, slope, v in zip(current, slopes, velocities, strict=True)
    ]
    return valid(alphas, ahead)


def test_second_order_gradient_is_that_through_the_unrolled_step() -> None:
    train, valid, weights, alphas = toy()
    velocities = [torch.full_like(weight, 0.1) for weight in weights]
    own = alphas.clone().requires_grad_()
    (reference,) = torch.autograd.grad(exact(train, valid, weights, velocities, own), own)
    errors = []
    for radius in (1e-1, 1e-2, 1e-3):
        (gradient,) = unrolled_gradient(
            lambda w: train(own, w), lambda w: valid(own, w), weights, [own],
            velocities=velocities, rate=RATE, momentum=MOMENTUM, weight_decay=DECAY, radius=radius,
        )  # fmt: skip
        errors.append(float((gradient - reference).norm() / reference.norm()))
    assert errors[1] < 1e-3 and errors[2] < 1e-5
    assert errors[1] < errors[0] / 30 and errors[2] < errors[1] / 30  # of second order in the radius

    step = 1e-5  # and by finite differences of the whole
    for place in range(len(alphas)):
        sides = []
        for sign in (1, -1):
            moved = alphas.clone()
            moved[place] += sign * step
            sides.append(float(exact(train, valid, weights, velocities, moved.requires_grad_()).detach()))
        assert (sides[0] - sides[1]) / (2 * step) == pytest.approx(float(reference[place]), rel=1e-6, abs=1e-9)
    (first_order,) = torch.autograd.grad(valid(own, weights), own)
    assert float((first_order - reference).norm() / reference.norm()) > 1e-2  # so that the test tells


def small_step() -> tuple[Step, Supernet]:
    torch.manual_seed(0)
    searched = SEARCHED_SPACES.get("nb201")
    supernet = searched.supernet(
        SupernetSize(2, 1, (1, 8, 8), classes=3, affine=True), searched.cells(with_none=True), Layout()
    ).double()
    recipe = SearchSettings(batch=6, gradient_clip=None).recipe()
    train, valid = ((torch.randn(6, 1, 8, 8, dtype=torch.float64), torch.arange(6) % 3) for _ in range(2))
    return Step(
        supernet, recipe_optimizer(supernet, recipe), recipe, train, valid, 0.025, Chance(0, torch.device("cpu"))
    ), supernet


def test_second_order_darts_foresees_the_step_that_sgd_makes() -> None:
    """The whole method on a supernet after some steps, against autograd through the step, and against SGD itself.

    The radius is small, since a ReLU that the difference steps across adds a jump divided by its step."""
    step, supernet = small_step()
    method = supernet_method("darts2", "nb201", radius=1e-6, deviation=0.5).double()
    alphas = method.get_parameter("alphas")
    for _ in range(3):
        weight_step(step, Mixing(alphas.detach().softmax(-1)))
    (gradient,) = method.gradients(step)

    names = [name for name, _ in supernet.named_parameters()]
    weights = [weight.detach().requires_grad_() for weight in supernet.parameters()]
    mixing = Mixing(alphas.softmax(-1))

    def loss(values: Sequence[Tensor], batch: tuple[Tensor, Tensor]) -> Tensor:
        logits = functional_call(supernet, dict(zip(names, values, strict=True)), (batch[0], mixing))
        value: Tensor = torch.nn.functional.cross_entropy(logits, batch[1])
        return value

    slopes = torch.autograd.grad(loss(weights, step.train), weights, create_graph=True)
    velocities = [step.optimizer.state[weight]["momentum_buffer"] for weight in supernet.parameters()]
    ahead = [
        w.detach() - 0.025 * (slope + 3e-4 * w.detach() + 0.9 * v)
        for w, slope, v in zip(weights, slopes, velocities, strict=True)
    ]
    (expected,) = torch.autograd.grad(loss(ahead, step.valid), alphas)
    torch.testing.assert_close(gradient, expected, rtol=1e-4, atol=1e-8)

    set_rate(step.optimizer, 0.025)
    weight_step(step, Mixing(alphas.detach().softmax(-1)))
    for moved, foreseen in zip(supernet.parameters(), ahead, strict=True):
        torch.testing.assert_close(moved.detach(), foreseen.detach())


def dense_eigenvalue(loss: Callable[[Tensor], Tensor], at: Tensor) -> float:
    hessian = torch.autograd.functional.hessian(loss, at.detach())
    values = torch.linalg.eigvalsh(hessian.reshape(at.numel(), at.numel()))
    return float(values[values.abs().argmax()])


@pytest.mark.parametrize("sign", [1, -1])
def test_dominant_eigenvalue_is_the_dense_hessians_largest(sign: int) -> None:
    train, _, weights, alphas = toy()
    joined = torch.cat([alphas, weights[0].reshape(-1)])

    def loss(values: Tensor) -> Tensor:
        return sign * train(values[:4], [values[4:].view(3, 4), weights[1]])

    parameters = [joined[:4].clone().requires_grad_(), joined[4:].clone().requires_grad_()]
    estimate = dominant_eigenvalue(
        lambda: loss(torch.cat(parameters)), parameters, torch.Generator().manual_seed(0), tolerance=1e-8
    )
    assert estimate == pytest.approx(dense_eigenvalue(loss, joined), rel=1e-6)


def test_dominant_eigenvalue_of_a_linear_loss_is_zero() -> None:
    values = torch.ones(3, requires_grad=True)
    assert dominant_eigenvalue(values.sum, [values], torch.Generator()) == 0


def test_search_eigenvalue_is_of_the_architecture_parameters() -> None:
    step, supernet = small_step()
    method = supernet_method("darts", "nb201").double()
    estimate = search_eigenvalue(supernet, method, step.valid, step.recipe, torch.Generator().manual_seed(0))

    def loss(values: Tensor) -> Tensor:
        value: Tensor = step.loss(step.valid, Mixing(values.view(method.cells.shape).softmax(-1)))
        return value

    assert estimate == pytest.approx(dense_eigenvalue(loss, method.get_parameter("alphas").flatten()), rel=1e-2)
    assert all(weight.grad is None for weight in supernet.parameters())
