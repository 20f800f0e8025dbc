"""Which trials a campaign makes: shares, replay, known answers, grids, repeats, the poor region."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nasbed
from nasbed.core.errors import InvalidOption
from nasbed.core.execution import LocalEngine
from nasbed.core.observation import Observation
from nasbed.experiments.architecture_lists import listed_architectures
from nasbed.experiments.campaign import Campaign, FunctionTrainer, Grid, Repeats, collect, trainer_of
from nasbed.experiments.campaign.poor_region import operations_of, sample_poor
from nasbed.experiments.campaign.proposers import quotas, schedule
from nasbed.optimizers import OPTIMIZERS, Optimizer, Proposal
from nasbed.optimizers.random_search import RandomSearch
from nasbed.spaces import space
from nasbed.spaces.nb101 import NB101
from support.campaign_functions import ADAPTIVE, Row, quality, table


@given(st.lists(st.integers(1, 50), min_size=1, max_size=8), st.integers(1, 400))
def test_schedule_gives_exact_shares_and_is_fair_on_the_way(weights: list[int], trials: int) -> None:
    shares = {f"m{place}": weight / sum(weights) for place, weight in enumerate(weights)}
    turns = schedule(shares, trials)
    assert Counter(turns) == Counter(quotas(shares, trials))
    for name, share in shares.items():
        assert abs(turns.count(name) - share * trials) < 1
        trials_of_method = np.cumsum([turn == name for turn in turns])
        assert (np.abs(trials_of_method - share * np.arange(1, trials + 1)) < len(shares) + 1).all()


@pytest.fixture(scope="module")
def adaptive(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    journal = tmp_path_factory.mktemp("adaptive") / "journal.sqlite"
    collect(ADAPTIVE, trainer_of(ADAPTIVE), journal)
    return table(journal)


def test_campaign_shares_come_out_exactly(adaptive: list[Row]) -> None:
    assert Counter(row[0].method for row in adaptive) == {"rs": 160, "re": 120, "ls": 120, "repeats": 12}
    assert [row[0].number for row in adaptive] == list(range(412))
    first = Counter(row[0].method for row in adaptive if row[0].round == 0)
    assert first["re"] + first["ls"] + first["rs"] == 24 and abs(first["re"] - 7.2) < 1
    assert len({row[0].key for row in adaptive}) == 412, "nothing is evaluated twice"


def test_campaign_repeats_are_those_of_one_method_with_new_seeds(adaptive: list[Row]) -> None:
    repeated = [row[0] for row in adaptive if row[0].method == "repeats"]
    by_arch = Counter(trial.architecture for trial in repeated)
    assert set(by_arch.values()) == {2} and len(by_arch) == 6
    assert {trial.seed for trial in repeated} == {1, 2}
    assert set(by_arch) <= {row[0].architecture for row in adaptive if row[0].method == "re"}


def test_campaign_with_processes_makes_the_same_trials(adaptive: list[Row], tmp_path: Path) -> None:
    collect(ADAPTIVE, trainer_of(ADAPTIVE), tmp_path / "two.sqlite", engine=LocalEngine(2))
    assert table(tmp_path / "two.sqlite") == adaptive


def test_campaign_with_another_seed_makes_other_trials(adaptive: list[Row], tmp_path: Path) -> None:
    small = replace(ADAPTIVE, trials=24, repeats=None, seed=1)
    collect(small, trainer_of(small), tmp_path / "other.sqlite")
    assert {row[0].key for row in table(tmp_path / "other.sqlite")} != {row[0].key for row in adaptive[:24]}


def test_campaign_resumes_only_with_the_same_settings(tmp_path: Path) -> None:
    campaign = Campaign("one", trials=20, shares={"rs": 0.5, "re": 0.5}, round=5)
    trainer, journal = FunctionTrainer(quality, "nb201"), tmp_path / "one.sqlite"
    collect(campaign, trainer, journal)
    for changed, message in [
        (replace(campaign, trials=10), "campaign trials 20, not 10"),
        (replace(campaign, seed=1), "campaign seed 0, not 1"),
        (replace(campaign, settings={"re": {"sample_size": 2}}), "campaign settings re None, not"),
    ]:
        with pytest.raises(InvalidOption, match=message):
            collect(changed, trainer, journal)
    with pytest.raises(InvalidOption, match="campaign space nb201, not darts"):
        collect(campaign, FunctionTrainer(quality, "darts"), journal)
    with pytest.raises(InvalidOption, match="trainer fidelities"):
        collect(campaign, FunctionTrainer(quality, "nb201", fidelities=(1, 2)), journal)


def test_campaign_reports_that_its_methods_have_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = Campaign("changed", trials=20, shares={"rs": 1}, round=5)
    trainer, journal = FunctionTrainer(quality, "nb201"), tmp_path / "changed.sqlite"
    collect(campaign, trainer, journal)
    before = table(journal)
    collect(campaign, trainer, journal)
    assert table(journal) == before
    monkeypatch.setattr(RandomSearch, "ask", lambda self, n=1: [Proposal(self.space.parse(FIXED))] * n)
    with pytest.raises(
        InvalidOption, match="trial 0 of round 0 differs from the recorded one, so a method, the trainer or a"
    ):
        collect(campaign, trainer, journal)


FIXED = "|none~0|+|none~0|none~1|+|none~0|none~1|none~2|"


class Stubborn(Optimizer):
    """Proposes the same architecture each time, and counts its calls of ``tell``."""

    name = "stubborn"
    summary = "proposes the same for ever"
    observations: list[Observation]

    def ask(self, n: int = 1) -> list[Proposal]:
        self.observations = getattr(self, "observations", [])
        INSTANCES[:] = [self]
        return [Proposal(self.space.parse(FIXED))]

    def tell(self, observations: Sequence[Observation]) -> None:
        self.observations.extend(observations)


class FailingOptimizer(Optimizer):
    """Breaks in its second round."""

    name = "breaking"
    summary = "breaks"

    def ask(self, n: int = 1) -> list[Proposal]:
        return [Proposal(self.space.sample(self.rng)) for _ in range(n)]

    def tell(self, observations: Sequence[Observation]) -> None:
        raise ArithmeticError("singular matrix")


INSTANCES: list[Stubborn] = []


@pytest.fixture
def own_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in (Stubborn, FailingOptimizer):
        monkeypatch.setitem(OPTIMIZERS._entries, kind.name, kind)


@pytest.mark.usefixtures("own_methods")
def test_campaign_answers_what_is_known_and_fills_with_random_ones(tmp_path: Path) -> None:
    campaign = Campaign("stubborn", trials=20, shares={"stubborn": 0.5, "rs": 0.5}, round=10)
    status = collect(campaign, FunctionTrainer(quality, "nb201"), tmp_path / "journal.sqlite")
    assert dict(status.by_method) == {"stubborn": 1, "rs": 10, "fill": 9}
    value = quality(nasbed.space("nb201").parse(FIXED), 1, 0)
    assert len(INSTANCES[0].observations) > 20
    assert {observation["validation_value"] for observation in INSTANCES[0].observations} == {value}


@pytest.mark.usefixtures("own_methods")
def test_campaign_continues_without_a_method_that_breaks(tmp_path: Path) -> None:
    campaign = Campaign("breaking", trials=20, shares={"breaking": 0.5, "rs": 0.5}, round=10)
    trainer, journal = FunctionTrainer(quality, "nb201"), tmp_path / "journal.sqlite"
    status = collect(campaign, trainer, journal)
    assert dict(status.by_method) == {"breaking": 5, "rs": 10, "fill": 5}
    (note,) = status.notes
    assert note.startswith(
        "round 1: breaking failed, random architectures replace its proposals: ArithmeticError: singular"
    )
    assert collect(campaign, trainer, journal).by_method == status.by_method


def test_campaign_ends_when_its_space_is_used_up(tmp_path: Path) -> None:
    from ConfigSpace import ConfigurationSpace

    campaign = Campaign("tiny", trials=100, shares={"rs": 0.5, "ls": 0.5}, round=4)
    trainer = FunctionTrainer(quality, ConfigurationSpace({"a": ["x", "y", "z"], "b": ["u", "v"]}))
    status = collect(campaign, trainer, tmp_path / "journal.sqlite")
    assert (status.done, status.planned, status.complete) == (6, 6, True)
    assert "trials were omitted: the space has no new architecture" in status.notes[-1]


@pytest.mark.parametrize("method", ["hb", "asha", "dehb"])
def test_campaign_methods_may_ask_for_lower_fidelities(method: str, tmp_path: Path) -> None:
    campaign = Campaign("several", trials=60, shares={method: 1}, round=12)
    collect(campaign, FunctionTrainer(quality, "nb201", fidelities=(1, 3, 9)), tmp_path / "journal.sqlite")
    assert {row[0].fidelity for row in table(tmp_path / "journal.sqlite")} == {1, 3, 9}


# --- the poor region -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["darts", "fbnet", "nb101", "nb201", "transnas-micro"])
def test_poor_region_is_made_of_operations_without_parameters(name: str) -> None:
    """Judged by the names of the operations as the space writes them, and by the parameters of the networks."""
    space, rng = nasbed.space(name), np.random.default_rng(0)
    poor = [sample_poor(space, rng) for _ in range(300)]
    usual = [space.sample(rng) for _ in range(300)]
    for arch in poor:
        space.validate(arch)
    places, free = operations_of(space).places, operations_of(space).without_parameters
    counts = [sum(arch.code[place] in free for place in places) for arch in poor]
    assert min(counts) == (len(places) + 1) // 2 and max(counts) == len(places)
    if space.costs(usual).shape[1]:
        assert np.median(space.costs(poor)[:, 0]) < 0.8 * np.median(space.costs(usual)[:, 0])
    parameter_free = poor[counts.index(len(places))]
    assert "conv" not in space.format(parameter_free) and "k3" not in space.format(parameter_free)


def test_poor_region_of_another_space_is_refused(tmp_path: Path) -> None:
    campaign = Campaign("poor", trials=10, shares={"poor": 1})
    with pytest.raises(
        InvalidOption, match=r"the share poor: a known-poor region needs operations .*, fcnet declares none"
    ):
        collect(campaign, FunctionTrainer(quality, "fcnet"), tmp_path / "journal.sqlite")


# --- space-filling designs -------------------------------------------------------------------------------------------


def test_space_filling_shares_are_balanced_over_the_rounds_of_a_campaign(tmp_path: Path) -> None:
    """A Latin hypercube of 32 points has four in each eighth of a side, a Sobol sequence too, whatever the rounds."""
    campaign = Campaign("filled", trials=96, shares={"sobol": 1 / 3, "lhs": 1 / 3, "rs": 1 / 3}, round=10)
    collect(campaign, FunctionTrainer(quality, "nats-sss"), tmp_path / "journal.sqlite")
    rows = table(tmp_path / "journal.sqlite")
    assert Counter(row[0].method for row in rows) == {"sobol": 32, "lhs": 32, "rs": 32}
    for name in ("sobol", "lhs"):
        codes = np.array([row[0].architecture.code for row in rows if row[0].method == name])
        assert all(np.bincount(column).tolist() == [4] * 8 for column in codes.T)


def test_space_filling_settings_are_refused(tmp_path: Path) -> None:
    campaign = Campaign("filled", trials=10, shares={"lhs": 1}, settings={"lhs": {"points": 3}})
    with pytest.raises(InvalidOption, match=r"\[settings.lhs\] is not what lhs takes"):
        collect(campaign, FunctionTrainer(quality, "nats-sss"), tmp_path / "journal.sqlite")


# --- grids -----------------------------------------------------------------------------------------------------------


def test_grid_is_every_small_cell_with_every_seed_and_fidelity(tmp_path: Path) -> None:
    """1 + 6 + 84 unique cells of up to four vertices are published."""
    campaign = Campaign("grid", grid=Grid("nb101:4", (0, 1, 2), (4, 36)))
    trainer = FunctionTrainer(quality, "nb101", fidelities=(4, 12, 36))
    status = collect(campaign, trainer, tmp_path / "grid.sqlite")
    assert (status.done, dict(status.by_method)) == (91 * 3 * 2, {"grid": 91 * 3 * 2})
    space = NB101()
    rows = table(tmp_path / "grid.sqlite")
    assert len({space.hash(row[0].architecture) for row in rows}) == 91
    assert Counter((row[0].seed, row[0].fidelity) for row in rows) == {
        (seed, fidelity): 91 for seed in (0, 1, 2) for fidelity in (4, 36)
    }


def test_grid_reads_a_file_and_names_the_line_that_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "cells.txt").write_text(f"{FIXED}\n\n{FIXED}\n")
    campaign = Campaign("grid", grid=Grid("cells.txt"), folder=tmp_path)
    trainer = FunctionTrainer(quality, "nb201")
    assert collect(campaign, trainer, tmp_path / "grid.sqlite").done == 1
    (tmp_path / "cells.txt").write_text(f"{FIXED}\nnonsense\n")
    with pytest.raises(ValueError, match=r"cells.txt, line 2: an nb201 cell reads"):
        collect(campaign, trainer, tmp_path / "other.sqlite")


def test_grid_of_functions_has_one_cell_for_each_of_4954() -> None:
    nb201 = space("nb201")
    cells = listed_architectures("functions", nb201)
    functions = nb201.function_codes(list(nb201.enumerate()))
    assert len(cells) == 4954
    assert {cell.code for cell in cells} == set(map(tuple, functions.tolist()))


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        (Grid("nb101:5"), "nb101:5 are those of nb101, the space is nb201"),
        (Grid("all", fidelities=(7,)), "fidelities are of the trainer's, 1, got 7"),
        (Grid("gone.txt"), "gone.txt cannot be read"),
    ],
)
def test_grid_refuses_what_the_space_has_not(grid: Grid, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        collect(Campaign("grid", grid=grid), FunctionTrainer(quality, "nb201"), tmp_path / "journal.sqlite")


def test_repeats_take_what_there_is(tmp_path: Path) -> None:
    campaign = Campaign("few", trials=4, shares={"rs": 1}, repeats=Repeats(10, 2))
    status = collect(campaign, FunctionTrainer(quality, "nb201"), tmp_path / "journal.sqlite")
    assert dict(status.by_method) == {"rs": 4, "repeats": 4}
    assert status.notes == ("round 1: only 4 architectures ended well and could be repeated",)
