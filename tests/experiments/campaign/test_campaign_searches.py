"""Searches that run for real, in lock step: each as it would be alone, recorded with order and times."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nasbed.core.architecture import Architecture
from nasbed.core.errors import BadFile, InvalidOption
from nasbed.core.observation import Observation
from nasbed.experiments.campaign import (
    Campaign,
    FunctionTrainer,
    Grid,
    RealSearches,
    Repeats,
    campaign_status,
    collect,
    export_journals,
)
from nasbed.experiments.campaign.proposers import generator, problem_of
from nasbed.experiments.recorded_runs import recorded_runs
from nasbed.optimizers import OPTIMIZERS, Optimizer, Proposal
from nasbed.results import Results
from nasbed.results.merge import merge_results
from nasbed.results.searches import read_searches
from nasbed.results.summary import summarize
from support.campaign_functions import Row, table
from support.commands import run_command


def timed(arch: Architecture, fidelity: int, seed: int) -> dict[str, float]:
    """A quality that depends on the architecture alone, and a time by which no two evaluations of a round are equal."""
    quality = float(sum((index % 7 + 1) * item for index, item in enumerate(arch.code)) % 89)
    return {"validation_value": quality, "train_time_s": 1.0 + quality / 100 + seed / 1000}


SEARCHES = RealSearches(("rs", "re", "ls"), seeds=2, evaluations=23, workers=4)
CAMPAIGN = Campaign(
    "real", searches=SEARCHES, settings={"re": {"population_size": 6, "sample_size": 3}}, round=100, seed=5
)


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("searches") / "real.sqlite"
    collect(CAMPAIGN, FunctionTrainer(timed, "nb201"), path)
    return path


@pytest.fixture(scope="module")
def results(journal: Path, tmp_path_factory: pytest.TempPathFactory) -> Results:
    return export_journals([journal], tmp_path_factory.mktemp("table") / "real")


def of_search(rows: Sequence[Row], method: str, number: int) -> list[Architecture]:
    return [row[0].architecture for row in rows if row[0].method == method and row[0].seed % 2 == number]


@pytest.mark.parametrize(("method", "number"), SEARCHES.names)
def test_search_in_lock_step_is_the_search_alone(journal: Path, method: str, number: int) -> None:
    """The same method with the same random numbers, asked and told by hand, four proposals at a time."""
    trainer = FunctionTrainer(timed, "nb201")
    settings = CAMPAIGN.settings.get(method, {})
    optimizer = OPTIMIZERS.get(method)(
        problem_of(trainer), generator(CAMPAIGN, f"search {method} {number}"), **settings
    )
    expected: list[Architecture] = []
    for batch in (4, 4, 4, 4, 4, 3):
        proposals: list[Proposal] = []
        while len(proposals) < batch:
            proposals += optimizer.ask(batch - len(proposals))
        archs = [proposal.architecture for proposal in proposals]
        expected += archs
        values = [{trainer.objective: timed(arch, 1, 0)["validation_value"]} for arch in archs]
        optimizer.tell([Observation(arch, value, fidelity=1) for arch, value in zip(archs, values, strict=True)])
    assert of_search(table(journal), method, number) == expected


def test_each_proposal_is_a_training_of_its_own(journal: Path) -> None:
    rows = table(journal)
    assert len(rows) == 3 * 2 * 23 and len({row[0].key for row in rows}) == len(rows)
    status = campaign_status(journal)
    assert status.complete and status.planned == 138 and status.rounds == 6
    assert status.by_method == {"rs": 46, "re": 46, "ls": 46}


def test_killed_campaign_of_searches_ends_with_the_same_trials(journal: Path, tmp_path: Path) -> None:
    calls = []

    def stopping(arch: Architecture, fidelity: int, seed: int) -> dict[str, float]:
        calls.append(arch)
        if len(calls) == 61:
            raise KeyboardInterrupt
        return timed(arch, fidelity, seed)

    path = tmp_path / "killed.sqlite"
    with pytest.raises(KeyboardInterrupt):
        collect(CAMPAIGN, FunctionTrainer(stopping, "nb201"), path)
    assert campaign_status(path).done == 60 and campaign_status(path).planned == 138
    collect(CAMPAIGN, FunctionTrainer(stopping, "nb201"), path, accept_changes=True)
    assert table(path) == table(journal)
    assert len(calls) == 139, "the one that was interrupted began twice"


def test_table_keeps_the_order_and_the_times_of_searches(journal: Path, results: Results) -> None:
    searches = results.searches()
    assert searches is not None and searches.names == SEARCHES.names and len(searches) == 138
    assert searches.workers == 4 and searches.settings == CAMPAIGN.settings
    rows, space = table(journal), results.space
    for method, number, search in searches.each():
        assert space.architectures(search.codes) == of_search(rows, method, number)
        seconds = [1.0 + timed(arch, 1, 0)["validation_value"] / 100 for arch in space.architectures(search.codes)]
        costs = np.array(seconds) + search.seed / 1000
        starts = np.repeat(np.cumsum([0, *(costs[at : at + 4].max() for at in range(0, 20, 4))]), 4)[:23]
        np.testing.assert_allclose(search.start_s, starts)
        np.testing.assert_allclose(search.end_s, starts + costs)
    assert summarize(results)["searches"] == 6
    printed = run_command("results", "info", results.folder).stdout
    assert re.search(r"^searches for real +6$", printed, flags=re.MULTILINE)


def test_table_of_some_fidelities_has_no_part_of_a_search(tmp_path: Path) -> None:
    """Hyperband evaluates at several; without one of them its search is not whole."""
    plan = RealSearches(("hb",), seeds=1, evaluations=12)
    trainer = FunctionTrainer(timed, "nb201", fidelities=(1, 3, 9))
    collect(Campaign("several", searches=plan), trainer, tmp_path / "j.sqlite")
    whole = export_journals([tmp_path / "j.sqlite"], tmp_path / "whole")
    (run,) = recorded_runs(whole)
    assert len(run) == 12 and len(set(run.fidelity.tolist())) > 1
    part = export_journals([tmp_path / "j.sqlite"], tmp_path / "part", fidelities=[1])
    assert part.searches() is None and recorded_runs(part) == []


def test_recorded_searches_are_runs(results: Results) -> None:
    runs = recorded_runs(results)
    assert [(run.method, run.seed) for run in runs] == SEARCHES.names and {len(run) for run in runs} == {23}
    for run in runs:
        archs = results.space.architectures(run.codes)
        assert run.value.tolist() == [timed(arch, 1, 0)["validation_value"] for arch in archs]
        assert (np.diff(run.end_s) >= 0).all() and not run.error


class Repeating(Optimizer):
    """Proposes the same architecture for ever, and keeps what it is told."""

    name = "repeating"
    summary = "proposes one architecture"
    instances: tuple[Repeating, ...] = ()

    def ask(self, n: int = 1) -> list[Proposal]:
        Repeating.instances = tuple(dict.fromkeys((*Repeating.instances, self)))
        return [Proposal(Architecture("nb201", (0,) * 6))]

    def tell(self, observations: Sequence[Observation]) -> None:
        self.seeds = [*getattr(self, "seeds", []), *(observation.seed for observation in observations)]


class Breaking(Repeating):
    """Breaks when it is asked after its first results."""

    name = "failing-search"

    def ask(self, n: int = 1) -> list[Proposal]:
        if hasattr(self, "seeds"):
            raise RuntimeError("no more")
        return super().ask(n)


@pytest.fixture
def odd_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in (Repeating, Breaking):
        monkeypatch.setitem(OPTIMIZERS._entries, kind.name, kind)
    Repeating.instances = ()


@pytest.mark.usefixtures("odd_methods")
def test_architecture_that_is_proposed_again_is_trained_with_another_seed(tmp_path: Path) -> None:
    plan = RealSearches(("repeating",), seeds=3, evaluations=4, workers=2)
    collect(Campaign("again", searches=plan), FunctionTrainer(timed, "nb201"), tmp_path / "j.sqlite")
    assert sorted(row[0].seed for row in table(tmp_path / "j.sqlite")) == list(range(12))
    collected = [instance.seeds for instance in Repeating.instances]  # told after the first round of two alone
    assert collected == [[0, 3], [1, 4], [2, 5]]


@pytest.mark.usefixtures("odd_methods")
def test_search_that_breaks_ends_alone(tmp_path: Path) -> None:
    plan = RealSearches(("failing-search", "rs"), seeds=1, evaluations=6, workers=3)
    status = collect(Campaign("breaks", searches=plan), FunctionTrainer(timed, "nb201"), tmp_path / "j.sqlite")
    assert status.by_method == {"failing-search": 3, "rs": 6}
    assert any(
        "search 0 of failing-search failed and ends here: RuntimeError: no more" in note for note in status.notes
    )
    searches = export_journals([tmp_path / "j.sqlite"], tmp_path / "table").searches()
    assert searches is not None and [len(part) for _, _, part in searches.each()] == [3, 6]


def test_noise_study_of_searches_gives_each_architecture_the_same_seeds(tmp_path: Path) -> None:
    plan = RealSearches(("rs",), seeds=2, evaluations=5)
    campaign = Campaign("noise", searches=plan, repeats=Repeats(4, 3, "rs"))
    collect(campaign, FunctionTrainer(timed, "nb201"), tmp_path / "j.sqlite")
    rows = table(tmp_path / "j.sqlite")
    repeated = {row[0].architecture for row in rows if row[0].method == "repeats"}
    assert len(repeated) == 4 and len(rows) == 10 + 4 * 2
    for arch in repeated:
        assert sorted(row[0].seed for row in rows if row[0].architecture == arch) == [0, 1, 2]


def test_merged_tables_number_searches_on(results: Results, tmp_path: Path) -> None:
    plan = replace(CAMPAIGN, seed=6, searches=RealSearches(("re",), seeds=1, evaluations=3, workers=4))
    other_settings = replace(plan, settings={"re": {"population_size": 5, "sample_size": 2}})
    other_workers = replace(plan, searches=RealSearches(("re",), seeds=1, evaluations=3))
    tables = []
    for place, campaign in enumerate((plan, other_settings, other_workers)):
        collect(campaign, FunctionTrainer(timed, "nb201"), tmp_path / f"{place}.sqlite")
        tables.append(export_journals([tmp_path / f"{place}.sqlite"], tmp_path / str(place)))
    for table_of_others, message in (
        (tables[1], "with different settings"),
        (tables[2], "different numbers of workers"),
    ):
        with pytest.raises(InvalidOption, match=message):
            merge_results([results, table_of_others], tmp_path / "refused")
    merged = merge_results([results, tables[0]], tmp_path / "merged").results.searches()
    assert merged is not None and merged.names == [*SEARCHES.names, ("re", 2)] and len(merged.of("re", 2)) == 3


def test_table_without_searches_has_none_and_a_damaged_file_is_refused(results: Results, tmp_path: Path) -> None:
    grid = Campaign("grid", grid=Grid(("|none~0|+|none~0|none~1|+|none~0|none~1|none~2|",)))
    collect(grid, FunctionTrainer(timed, "nb201"), tmp_path / "j.sqlite")
    plain = export_journals([tmp_path / "j.sqlite"], tmp_path / "plain")
    assert plain.searches() is None and recorded_runs(plain) == [] and summarize(plain)["searches"] == 0
    broken = tmp_path / "searches.parquet"
    broken.write_bytes((results.data / "searches.parquet").read_bytes()[:-9])
    with pytest.raises(BadFile, match="cannot be read as recorded searches"):
        read_searches(broken, 6)
    with pytest.raises(BadFile, match="other columns than those of recorded searches"):
        read_searches(results.data / "searches.parquet", 7)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"shares": {"rs": 1.0}, "trials": 4}, "rs has a share and searches"),
        ({"searches": RealSearches(("poor",), 1, 1)}, "'poor' has another meaning"),
        ({"searches": RealSearches(("sobol",), 1, 1)}, "'sobol' has another meaning"),
        ({"settings": {"de": {}}}, "these have: rs, re, ls"),
        ({"repeats": Repeats(2, 2, "de")}, r"\[repeats\] from names a share or a method that searches, got 'de'"),
    ],
)
def test_campaign_refuses_searches_that_do_not_fit(change: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        replace(CAMPAIGN, **change)  # type: ignore[arg-type]


def test_searches_are_a_table_of_the_file() -> None:
    text = CAMPAIGN.toml()
    assert 'methods = [\n    "rs",' in text and "workers = 4" in text
    import tomllib

    assert Campaign.parse(tomllib.loads(text)) == CAMPAIGN
    with pytest.raises(InvalidOption, match=r"\[searches\] evaluations of a campaign is a whole number of at least 1"):
        RealSearches(("rs",), 1, 0)
