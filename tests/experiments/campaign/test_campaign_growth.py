"""Numbers of a campaign that are raised: the campaign goes on, and ends as if they had been there from the start."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from nasbed.core.errors import InvalidOption
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
from support.campaign_functions import quality, table

RS = Campaign("grown", trials=7, shares={"rs": 1}, round=4)
CELLS = ("|none~0|+|none~0|none~1|+|none~0|none~1|none~2|", "|none~0|+|none~0|none~1|+|none~0|none~1|skip_connect~2|")
SHARES = {"rs": 0.5, "re": 0.5}
GROWN: dict[str, tuple[Campaign, Campaign]] = {
    "random search": (RS, replace(RS, trials=19)),
    "a design": (replace(RS, shares={"sobol": 1}), replace(RS, shares={"sobol": 1}, trials=19)),
    "whole rounds of a method that learns": (
        replace(RS, shares=SHARES, trials=8),
        replace(RS, shares=SHARES, trials=16),
    ),
    "a grid": (Campaign("grid", grid=Grid(CELLS, seeds=(0,))), Campaign("grid", grid=Grid(CELLS, seeds=(0, 3, 1)))),
    "searches": (
        Campaign("searches", searches=RealSearches(("rs", "re"), seeds=2, evaluations=4, workers=2)),
        Campaign("searches", searches=RealSearches(("rs", "re"), seeds=2, evaluations=10, workers=2)),
    ),
    "repeats": (
        replace(RS, repeats=Repeats(architectures=2, seeds=2)),
        replace(RS, repeats=Repeats(architectures=4, seeds=4)),
    ),
}


def run(campaign: Campaign, journal: Path) -> list[str]:
    notes: list[str] = []
    collect(campaign, FunctionTrainer(quality, "nb201"), journal, on_note=notes.append)
    return notes


@pytest.mark.parametrize(("small", "large"), GROWN.values(), ids=GROWN)
def test_raised_campaign_ends_with_the_results_of_one_that_began_so(
    small: Campaign, large: Campaign, tmp_path: Path
) -> None:
    assert run(small, tmp_path / "grown.sqlite") == []
    before = table(tmp_path / "grown.sqlite")
    notes = run(large, tmp_path / "grown.sqlite")
    assert len(notes) == 1 and notes[0].startswith("extended: ")
    run(large, tmp_path / "new.sqlite")
    grown, new = table(tmp_path / "grown.sqlite"), table(tmp_path / "new.sqlite")
    assert grown[: len(before)] == before and len(grown) > len(before)
    assert {(row[0].key, row[0].method, str(row[2])) for row in grown} == {
        (row[0].key, row[0].method, str(row[2])) for row in new
    }
    status = campaign_status(tmp_path / "grown.sqlite")
    assert status.planned == status.done == campaign_status(tmp_path / "new.sqlite").done
    assert run(large, tmp_path / "grown.sqlite") == [], "a finished campaign has nothing to do"
    assert table(tmp_path / "grown.sqlite") == grown


def test_campaign_is_raised_again_and_again_and_keeps_its_shares(tmp_path: Path) -> None:
    """Quotas of 7, 19 and 31 trials in thirds are rounded in different ways."""
    plan = replace(RS, shares={"rs": 1 / 3, "re": 1 / 3, "ls": 1 / 3}, repeats=Repeats(2, 2))
    for trials in (7, 19, 31):
        run(replace(plan, trials=trials), tmp_path / "journal.sqlite")
        counts = Counter(row[0].method for row in table(tmp_path / "journal.sqlite"))
        assert counts.total() == trials + 2 and counts.pop("repeats") == 2
        assert max(counts.values()) - min(counts.values()) <= 1
    assert len({row[0].key for row in table(tmp_path / "journal.sqlite")}) == 33


def test_campaign_is_raised_before_it_has_ended(tmp_path: Path) -> None:
    def stop(progress: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        collect(RS, FunctionTrainer(quality, "nb201"), tmp_path / "grown.sqlite", progress=stop)
    assert campaign_status(tmp_path / "grown.sqlite").done < 7
    run(replace(RS, trials=19), tmp_path / "grown.sqlite")
    run(replace(RS, trials=19), tmp_path / "new.sqlite")
    assert [row[0].key for row in table(tmp_path / "grown.sqlite")] == [
        row[0].key for row in table(tmp_path / "new.sqlite")
    ]


def test_raised_campaign_is_exported_with_all_its_rows(tmp_path: Path) -> None:
    run(RS, tmp_path / "journal.sqlite")
    run(replace(RS, trials=19), tmp_path / "journal.sqlite")
    assert export_journals([tmp_path / "journal.sqlite"], tmp_path / "table").manifest.rows == 19


CHANGES: dict[str, Callable[[Campaign], Campaign]] = {
    "trials 7, not 6": lambda plan: replace(plan, trials=6),
    "seed 0, not 1": lambda plan: replace(plan, trials=19, seed=1),
    "round 4, not 5": lambda plan: replace(plan, trials=19, round=5),
    "grid seeds": lambda plan: replace(plan, grid=Grid(CELLS, seeds=(1, 0))),
    "searches seeds 2, not 3": lambda plan: replace(plan, searches=RealSearches(("de",), seeds=3, evaluations=4)),
    "repeats None, not": lambda plan: replace(plan, repeats=Repeats(2, 2)),
}


@pytest.mark.parametrize("difference", CHANGES)
def test_campaign_refuses_other_changes_and_names_what_may_be_raised(difference: str, tmp_path: Path) -> None:
    plan = replace(RS, grid=Grid(CELLS, seeds=(0,)), searches=RealSearches(("de",), seeds=2, evaluations=2))
    run(plan, tmp_path / "journal.sqlite")
    before = table(tmp_path / "journal.sqlite")
    with pytest.raises(InvalidOption, match=difference) as refusal:
        run(CHANGES[difference](plan), tmp_path / "journal.sqlite")
    rule = "only trials, [grid] seeds, [searches] evaluations, [repeats] architectures, [repeats] seeds may be raised"
    assert str(refusal.value).endswith(rule)
    assert table(tmp_path / "journal.sqlite") == before
