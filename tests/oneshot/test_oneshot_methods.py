"""What each method draws, learns and reads from its parameters."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch")

from torch import Tensor  # noqa: E402
from torch.distributions import Dirichlet  # noqa: E402

import nasbed  # noqa: E402
from nasbed.core.architecture import Architecture  # noqa: E402
from nasbed.core.errors import InvalidOption  # noqa: E402
from nasbed.oneshot import METHODS, SEARCHED_SPACES, SearchSettings  # noqa: E402
from nasbed.oneshot.cells import Layout  # noqa: E402
from nasbed.oneshot.methods.base import SupernetMethod  # noqa: E402
from nasbed.oneshot.methods.dirichlet import dirichlet  # noqa: E402
from nasbed.oneshot.random_streams import Chance  # noqa: E402
from nasbed.oneshot.spaces.base import SupernetSize  # noqa: E402
from nasbed.oneshot.steps import Step  # noqa: E402
from nasbed.spaces.darts.cell import OPERATIONS  # noqa: E402
from nasbed.training.optimizers import recipe_optimizer  # noqa: E402
from support.supernet_methods import SUPERNET_METHODS, supernet_method  # noqa: E402

CPU = torch.device("cpu")


def step_of(method: SupernetMethod) -> Step:
    """A step on noise, with a small supernet."""
    torch.manual_seed(0)
    size = SupernetSize(8, 3 if method.space.name == "darts" else 1, (1, 8, 8), classes=3)
    supernet = method.space.supernet(size, method.cells, method.layout())
    recipe = SearchSettings(batch=8).recipe()
    batch = (torch.randn(8, 1, 8, 8), torch.arange(8) % 3)
    return Step(supernet, recipe_optimizer(supernet, recipe), recipe, batch, batch, 0.025, Chance(3, CPU))


@pytest.mark.parametrize("name", [name for name in SUPERNET_METHODS if name not in ("random-ws", "darts2")])
@pytest.mark.parametrize("space", ["darts", "nb201"])
def test_gradients_reach_every_edge(name: str, space: str) -> None:
    method = supernet_method(name, space)
    with torch.no_grad():
        for parameter in method.parameters():
            parameter.normal_(generator=torch.Generator().manual_seed(1))
    gradients = method.gradients(step_of(method))
    moved = gradients[0].abs().sum(dim=-1) > 0
    if (
        name == "gdas"
    ):  # edges where none was drawn carry nothing and learn nothing, nor do those that lead to them alone
        none = method.cells.operations.index("none")
        drawn = torch.tensor(method.mixing(Chance(3, CPU)).selected) != none
        assert (moved <= drawn).all()
        assert moved.any()
    else:
        assert moved.all()


@pytest.mark.parametrize("name", SUPERNET_METHODS)
@pytest.mark.parametrize("space", ["darts", "nb201"])
def test_mixing_is_drawn_from_chance_alone(name: str, space: str) -> None:
    method = supernet_method(name, space)
    first, repeated = (method.mixing(Chance(7, CPU)).operations for _ in range(2))
    assert torch.equal(first, repeated)
    nasbed.space(space).validate(method.architecture())


# --- GDAS ----------------------------------------------------------------------------------------------------------------


def test_gdas_draws_exactly_one_operation_an_edge_by_its_probabilities(thorough: bool) -> None:
    method = supernet_method("gdas")
    with torch.no_grad():
        method.get_parameter("alphas").normal_(generator=torch.Generator().manual_seed(0))
    counts = torch.zeros(method.cells.shape)
    draws = 4000 if thorough else 1000
    for seed in range(draws):
        mixing = method.mixing(Chance(seed, CPU))
        assert mixing.selected is not None
        torch.testing.assert_close(mixing.operations.sum(dim=-1), torch.ones(method.cells.shape[:2]))
        assert torch.equal((mixing.operations > 0.5).int().argmax(dim=-1), torch.tensor(mixing.selected))
        counts += (mixing.operations > 0.5).float()
    expected = method.get_parameter("alphas").softmax(dim=-1)
    deviations = (counts / draws - expected).abs() / (expected * (1 - expected) / draws).sqrt()
    assert deviations.max() < 5


@pytest.mark.parametrize("space", ["darts", "nb201"])
def test_gdas_is_judged_by_the_architecture_that_it_would_end_with(space: str) -> None:
    """In DARTS that architecture computes something even if "none" is strongest on every edge."""
    method = supernet_method("gdas", space)
    none = method.cells.operations.index("none")
    with torch.no_grad():
        method.get_parameter("alphas")[..., none] = 1.0
    mixing = method.evaluated()
    assert mixing.selected == method.space.selected(method.architecture(), method.cells)
    step = step_of(method)
    logits = step.supernet(step.train[0], mixing)
    assert bool((logits.std(dim=0) > 1e-3).any()) == (space == "darts")


def test_gdas_gradient_is_that_of_the_softmax_at_its_temperature() -> None:
    method = supernet_method("gdas", "nb201")
    method.begin(0, 50)
    assert float(method.get_buffer("temperature")) == 10
    method.begin(49, 50)
    assert float(method.get_buffer("temperature")) == pytest.approx(0.1)
    method.begin(25, 51)
    alphas = method.get_parameter("alphas")
    chance = Chance(5, CPU)
    chosen = method.mixing(chance).selected
    assert chosen is not None
    (gradient,) = torch.autograd.grad(method.mixing(chance).operations[0, 2, chosen[0][2]], alphas)
    noise = -torch.empty_like(alphas).exponential_(generator=chance.generator()).log()
    soft = ((alphas.log_softmax(-1) + noise) / 5.05).softmax(-1)
    (expected,) = torch.autograd.grad(soft[0, 2, chosen[0][2]], alphas)
    torch.testing.assert_close(gradient, expected)
    assert expected.abs().sum() > 0


# --- DrNAS ---------------------------------------------------------------------------------------------------------------


def test_dirichlet_has_its_mean_and_torchs_derivatives() -> None:
    concentration = torch.tensor([0.5, 1.0, 2.5, 4.0], dtype=torch.float64)
    generator = torch.Generator().manual_seed(0)
    samples = dirichlet(concentration.expand(40_000, 4), generator)
    mean = concentration / concentration.sum()
    deviation = (mean * (1 - mean) / (concentration.sum() + 1) / len(samples)).sqrt()
    assert ((samples.mean(dim=0) - mean).abs() < 5 * deviation).all()

    value = torch.tensor([3.0, -1.0, 0.5, 2.0], dtype=torch.float64)
    own, concentrations = (concentration.expand(50_000, 4).clone().requires_grad_() for _ in range(2))
    (gradient,) = torch.autograd.grad((dirichlet(own, generator) @ value).sum(), own)
    (reference,) = torch.autograd.grad((Dirichlet(concentrations).rsample() @ value).sum(), concentrations)
    total = concentration.sum()
    exact = value / total - (value * concentration).sum() / total**2  # of the mean, which both estimate
    torch.testing.assert_close(gradient.mean(0), exact, rtol=0.05, atol=0.01)
    torch.testing.assert_close(reference.mean(0), exact, rtol=0.05, atol=0.01)


def test_drnas_mean_is_its_expected_mixing_and_the_penalty_is_zero_at_the_anchor() -> None:
    method = supernet_method("drnas", "nb201", partial=(1, 1))
    betas = method.get_parameter("betas")
    with torch.no_grad():
        betas.copy_(torch.linspace(-2, 3, betas.numel()).view_as(betas))
        mean = torch.stack([method.mixing(Chance(seed, CPU)).operations for seed in range(3000)]).mean(0)
        torch.testing.assert_close(mean, method.expected().operations, atol=0.03, rtol=0)
        assert float(method.penalty() or 0) > 0
        betas.zero_()
        assert float(method.penalty() or 0) == 0
    torch.testing.assert_close(method.expected().operations, torch.full(method.cells.shape, 1 / 5))


def test_drnas_halves_the_operations_of_each_edge_before_its_second_stage() -> None:
    method = supernet_method("drnas")
    with torch.no_grad():
        method.get_parameter("betas").normal_(generator=torch.Generator().manual_seed(0))
    strongest = method.expected().operations.topk(4, dim=-1).indices.sort(dim=-1).values
    for epoch in range(25):
        method.begin(epoch, 50)
        assert method.layout() == Layout(6, ((tuple(range(8)),) * 14,) * 2)
    method.begin(25, 50)
    assert method.layout().partial == 4
    assert torch.equal(torch.tensor(method.layout().candidates), strongest)
    weights = method.mixing(Chance(0, CPU)).operations
    assert ((weights > 0).sum(dim=-1) <= 4).all()
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(2, 14))
    assert [method.learns(epoch, 50) for epoch in (0, 9, 10, 24, 25, 34, 35, 49)] == [False, False, True, True] * 2


def test_drnas_never_prunes_all_that_carries_something() -> None:
    method = supernet_method("drnas", partial=(1, 1, 1, 1))
    with torch.no_grad():
        method.get_parameter("betas")[..., -1] = 5.0
    method.begin(3, 4)
    candidates = method.layout().candidates
    assert candidates is not None
    assert all(row[0] != len(OPERATIONS) for table in candidates for row in table)
    nasbed.space("darts").validate(method.architecture())


# --- what is read from strengths -------------------------------------------------------------------------------------------


def table(entries: dict[tuple[int, int], dict[str, float]], operations: tuple[str, ...], edges: Any) -> Any:
    values = np.full((len(edges), len(operations)), 0.01)
    for edge, row in entries.items():
        for name, value in row.items():
            values[edges.index(edge), operations.index(name)] = value
    return values


def test_darts_keeps_the_two_edges_with_the_strongest_operations_that_carry_something() -> None:
    searched = SEARCHED_SPACES.get("darts")
    cells = searched.cells(with_none=True)
    normal = table(
        {
            (0, 2): {"skip_connect": 0.3, "none": 0.6},
            (1, 2): {"sep_conv_3x3": 0.2},
            (0, 3): {"none": 0.9, "sep_conv_5x5": 0.05},  # none counts for nothing
            (1, 3): {"dil_conv_3x3": 0.4, "max_pool_3x3": 0.39},  # two of one edge are one
            (2, 3): {"avg_pool_3x3": 0.1},
            (1, 4): {"sep_conv_3x3": 0.5},
            (3, 4): {"dil_conv_5x5": 0.6},
            (0, 5): {"max_pool_3x3": 0.2},
            (4, 5): {"skip_connect": 0.3},
            (2, 5): {"avg_pool_3x3": 0.1},
        },
        cells.operations,
        cells.edges,
    )
    arch = searched.strongest(np.stack([normal, normal]), cells)
    cell = "skip_connect:0,sep_conv_3x3:1/dil_conv_3x3:1,avg_pool_3x3:2/sep_conv_3x3:1,dil_conv_5x5:3/max_pool_3x3:0,skip_connect:4"
    names = [part.split(":") for node in cell.split("/") for part in node.split(",")]
    expected = [number for name, source in names for number in (int(source), OPERATIONS.index(name))]
    assert arch.code == tuple(expected * 2)
    assert searched.skips(arch) == {"normal": 2, "reduce": 2}


def test_nb201_keeps_the_strongest_operation_of_each_edge() -> None:
    searched = SEARCHED_SPACES.get("nb201")
    code = (0, 1, 2, 3, 4, 1)
    assert searched.strongest(np.eye(5)[list(code)][None], searched.cells(with_none=True)) == Architecture(
        "nb201", code
    )
    assert searched.skips(Architecture("nb201", code)) == {"cell": 2}


@pytest.mark.parametrize("space", ["darts", "nb201"])
def test_one_hot_mixing_reads_back_as_its_architecture(space: str) -> None:
    searched, rng = SEARCHED_SPACES.get(space), np.random.default_rng(0)
    cells = searched.cells(with_none=True)
    for _ in range(50):
        arch = nasbed.space(space).sample(rng)
        assert searched.strongest(searched.one_hot(arch, cells).operations.numpy(), cells) == arch


def test_pc_darts_weighs_operations_by_their_edges() -> None:
    """Edge 0→3 has the strongest operation, and loses its place by its edge."""
    method = supernet_method("pc-darts")
    alphas, betas = method.get_parameter("alphas"), method.get_parameter("betas")
    with torch.no_grad():
        alphas.zero_()
        betas.zero_()
        alphas[0, 2, 3], alphas[0, 3, 4], alphas[0, 4, 5] = 2.0, 1.0, 1.0  # the edges into node 3
        unweighed = method.architecture().code[4:8]
        betas[0, 2] = -3.0
        weighed = method.architecture().code[4:8]
    assert unweighed == (0, 3, 1, 4)
    assert weighed == (1, 4, 2, 5)
    edges = method.expected().edges
    assert edges is not None
    for first, past in ((0, 2), (2, 5), (5, 9), (9, 14)):
        torch.testing.assert_close(edges[:, first:past].sum(dim=1), torch.ones(2))


def test_pc_darts_learns_after_its_warm_up() -> None:
    method = supernet_method("pc-darts")
    assert [epoch for epoch in range(50) if method.learns(epoch, 50)] == list(range(15, 50))
    assert method.layout() == Layout(partial=4)


@pytest.mark.parametrize(
    ("name", "rate", "decay"),
    [("darts", 3e-4, 1e-3), ("gdas", 3e-4, 1e-3), ("pc-darts", 6e-4, 1e-3), ("drnas", 6e-4, 0)],
)
def test_parameters_move_by_adam_as_published(name: str, rate: float, decay: float) -> None:
    optimizer = supernet_method(name).optimizer()
    assert isinstance(optimizer, torch.optim.Adam)
    (group,) = optimizer.param_groups
    assert (group["lr"], group["betas"], group["weight_decay"]) == (rate, (0.5, 0.999), decay)


# --- weight-sharing random search --------------------------------------------------------------------------------------------


def test_random_ws_takes_the_best_that_it_judges() -> None:
    method = supernet_method("random-ws", samples=50, epoch_samples=5, judged_images=100)
    judged: list[Architecture] = []

    def accuracy(arch: Architecture, limit: int | None) -> float:
        assert limit == 100
        judged.append(arch)
        return float(sum(arch.code))

    for last, count in ((False, 5), (True, 50)):
        judged.clear()
        method.judge(accuracy, Chance(1, CPU), last=last)
        assert len(set(judged)) == count
        assert method.architecture() == max(judged, key=lambda arch: sum(arch.code))
    assert method.optimizer() is None and not method.learns(0, 1)


def test_random_ws_trains_only_what_it_draws() -> None:
    method = supernet_method("random-ws")
    step = step_of(method)
    mixing = method.mixing(Chance(2, CPU))
    assert mixing.selected is not None
    assert [sum(op is not None for op in row) for row in mixing.selected] == [8, 8]
    step.loss(step.train, mixing).backward()  # type: ignore[no-untyped-call]
    mixed = {
        name
        for name, weight in step.supernet.named_parameters()
        if weight.grad is not None and name.startswith("edges.")
    }
    for name in mixed:
        _, position, edge, _, operation, *_ = name.split(".")
        kind = int(int(position) in (1, 2))
        op = mixing.selected[kind][int(edge)]
        assert op is not None and method.cells.operations[op] == operation


def test_methods_refuse_options_they_do_not_have() -> None:
    with pytest.raises(InvalidOption, match="partal"):
        supernet_method("pc-darts", partal=4)
    with pytest.raises(InvalidOption, match="keeps a part"):
        supernet_method("drnas", kept=0.0)


@patch.dict(METHODS._entries)
def test_a_method_of_its_own_needs_a_class_and_a_line() -> None:
    from nasbed.oneshot.methods.darts import DartsMethod

    class Sharp(DartsMethod):
        def expected(self) -> Any:
            from nasbed.oneshot.mixing import Mixing

            return Mixing((5 * self.get_parameter("alphas")).softmax(dim=-1))

    METHODS.add("sharp-of-the-tests", Sharp)
    weights: Tensor = supernet_method("sharp-of-the-tests", deviation=1.0).expected().operations
    assert weights.max() > 0.99
