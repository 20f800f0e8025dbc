"""Campaigns with the architectures of one-shot searches: as trials of their own methods, each once."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import nasbed
from nasbed.core.architecture import Architecture
from nasbed.core.errors import BadFile, InvalidOption
from nasbed.experiments.campaign import (
    Campaign,
    FunctionTrainer,
    Grid,
    Repeats,
    Trajectories,
    campaign_status,
    collect,
    export_journals,
)
from nasbed.oneshot import SearchEpoch, SearchResult, SearchSettings
from nasbed.oneshot.record import SearchRecord, write_record
from nasbed.studies.validation.data import ValidationData
from nasbed.studies.validation.leave_out import search_methods
from nasbed.surrogates.table_split import TableSplit
from support.campaign_functions import quality, table

SPACE = nasbed.space("nb201")
SOME = [SPACE.sample(np.random.default_rng(seed)) for seed in range(8)]


def written(path: Path, method: str, archs: Sequence[Architecture], space: str = "nb201") -> None:
    """The record of a made-up search."""
    epochs = tuple(
        SearchEpoch(number, arch, 50.0, 1.0, {"cell": 0}, {"alphas": np.zeros(2)}, float(number))
        for number, arch in enumerate(archs, 1)
    )
    searched = SearchResult("ok", archs[-1], epochs, 9.0)
    settings = SearchSettings(epochs=len(archs))
    write_record(SearchRecord(method, space, "digits", "0" * 16, 0, settings, {}, "cpu", {}, searched), path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three searches: the second of darts meets an architecture of the first, and gdas one of both."""
    written(tmp_path / "searches" / "darts-0" / "search.json", "darts", [SOME[0], SOME[1], SOME[0], SOME[2]])
    written(tmp_path / "searches" / "darts-1" / "search.json", "darts", [SOME[1], SOME[3]])
    written(tmp_path / "searches" / "gdas-0" / "search.json", "gdas", [SOME[3], SOME[4], SOME[5]])
    return tmp_path


WITH = Campaign(
    "with", trials=20, shares={"rs": 0.5, "re": 0.5}, round=5, trajectories=Trajectories(("searches/*/search.json",))
)


def test_campaign_evaluates_trajectories_as_methods_of_their_own(folder: Path) -> None:
    trainer = FunctionTrainer(quality, "nb201", fidelities=(1, 4))
    campaign = replace(WITH, folder=folder, training_seed=7, repeats=Repeats(2, 2))
    status = collect(campaign, trainer, folder / "with.sqlite")
    rows = [row[0] for row in table(folder / "with.sqlite")]
    assert [(trial.method, trial.architecture) for trial in rows[:6]] == [
        ("darts", SOME[0]),
        ("darts", SOME[1]),
        ("darts", SOME[2]),
        ("darts", SOME[3]),
        ("gdas", SOME[4]),
        ("gdas", SOME[5]),
    ]
    assert {(trial.fidelity, trial.seed) for trial in rows[:6]} == {(4, 7)}
    assert Counter(trial.method for trial in rows) == {"darts": 4, "gdas": 2, "rs": 10, "re": 10, "repeats": 2}
    assert status.complete and status.planned == 28
    assert len({trial.key for trial in rows}) == 28, "nothing is evaluated twice"


def test_campaign_may_be_trajectories_alone_and_the_grid_goes_before(folder: Path) -> None:
    trainer = FunctionTrainer(quality, "nb201")
    grid_only = replace(WITH, trials=0, shares={}, folder=folder, grid=Grid((SPACE.format(SOME[4]),)))
    status = collect(grid_only, trainer, folder / "alone.sqlite")
    assert Counter(row[0].method for row in table(folder / "alone.sqlite")) == {"grid": 1, "darts": 4, "gdas": 1}
    assert status.complete and "1 architectures of the trajectories are in the grid" in status.notes[0]
    collect(grid_only, trainer, folder / "alone.sqlite")
    assert campaign_status(folder / "alone.sqlite").done == 6


def test_campaign_with_trajectories_is_planned_whole_before_it_runs(folder: Path) -> None:
    """Interrupted in its first round, a campaign knows how much is to come."""
    campaign = replace(WITH, folder=folder, grid=Grid((SPACE.format(SOME[7]),)))
    trainer = FunctionTrainer(quality, "nb201")

    def interrupt(progress: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        collect(campaign, trainer, folder / "cut.sqlite", progress=interrupt)
    assert campaign_status(folder / "cut.sqlite").planned == 27
    collect(campaign, trainer, folder / "cut.sqlite")
    collect(campaign, trainer, folder / "whole.sqlite")
    assert table(folder / "cut.sqlite") == table(folder / "whole.sqlite")


def test_campaign_resumes_only_with_the_same_searches(folder: Path) -> None:
    trainer, journal = FunctionTrainer(quality, "nb201"), folder / "with.sqlite"
    campaign = replace(WITH, folder=folder)
    collect(campaign, trainer, journal)
    with pytest.raises(InvalidOption, match="campaign trajectories"):
        collect(replace(campaign, trajectories=None), trainer, journal)
    written(folder / "searches" / "gdas-1" / "search.json", "gdas", [SOME[3]])
    collect(campaign, trainer, journal)  # nothing new in it
    written(folder / "searches" / "gdas-1" / "search.json", "gdas", [SOME[6]])
    with pytest.raises(InvalidOption, match="campaign trajectories architectures 6, not 7"):
        collect(campaign, trainer, journal)
    without = folder / "without.sqlite"
    collect(replace(campaign, trajectories=None), trainer, without)
    with pytest.raises(InvalidOption, match="campaign trajectories None, not"):
        collect(campaign, trainer, without)


def test_campaign_trajectories_reach_tables_and_left_out_methods(folder: Path) -> None:
    trainer = FunctionTrainer(quality, "nb201")
    collect(replace(WITH, folder=folder), trainer, folder / "with.sqlite")
    collect(replace(WITH, folder=folder, trajectories=None, seed=1), trainer, folder / "without.sqlite")
    with pytest.raises(InvalidOption, match="with another trajectories; name the table"):
        export_journals([folder / "with.sqlite", folder / "without.sqlite"], folder / "both")
    with pytest.raises(InvalidOption, match="with another trajectories; name the table"):
        export_journals([folder / "without.sqlite", folder / "with.sqlite"], folder / "both")
    results = export_journals([folder / "with.sqlite", folder / "without.sqlite"], folder / "both", name="both")
    assert search_methods(ValidationData.of(TableSplit.of(results))) == ["darts", "gdas", "re", "rs"]


def test_campaign_file_has_trajectories(folder: Path) -> None:
    text = (
        '[campaign]\nname = "t"\nspace = "nb201"\n\n[trajectories]\nsearches = ["a.json", "searches/*/search.json"]\n'
    )
    campaign = Campaign.parse(tomllib.loads(text))
    assert campaign.trajectories == Trajectories(("a.json", "searches/*/search.json"))
    assert Campaign.parse(tomllib.loads(campaign.toml())) == campaign
    for old, new, message in (
        ("searches =", "files =", r"no \[trajectories\] key 'files'"),
        ('["a.json", "searches/*/search.json"]', '"a.json"', "searches are one or more different texts"),
        ('["a.json", "searches/*/search.json"]', "[]", "searches are one or more different texts"),
    ):
        with pytest.raises(InvalidOption, match=message):
            Campaign.parse(tomllib.loads(text.replace(old, new)))


def test_campaign_refuses_searches_that_are_none_or_do_not_fit(folder: Path) -> None:
    trainer = FunctionTrainer(quality, "nb201")

    def refusal(*searches: str) -> str:
        campaign = replace(WITH, folder=folder, trajectories=Trajectories(searches))
        with pytest.raises((BadFile, InvalidOption)) as error:
            collect(campaign, trainer, folder / "no.sqlite")
        assert not (folder / "no.sqlite").exists()
        return str(error.value)

    assert "no file is" in refusal("nothing/*.json")
    (folder / "odd.json").write_text("{}")
    assert "not a record of a search" in refusal("odd.json")
    written(folder / "other.json", "darts", [Architecture("darts", (0, 1))], space="darts")
    assert "a search in the space darts, the campaign is of nb201" in refusal("other.json")
    written(folder / "bad.json", "darts", [Architecture("nb201", (9,) * 6)])
    assert "bad.json, epoch 1" in refusal("bad.json")
    for name in ("rs", "repeats"):
        written(folder / "named.json", name, SOME[:1])
        assert f"a search by '{name}', which has another meaning" in refusal("named.json")
    absolute = replace(
        WITH, folder=folder / "elsewhere", trajectories=Trajectories((str(folder / "searches/*/*.json"),))
    )
    collect(absolute, trainer, folder / "absolute.sqlite")
