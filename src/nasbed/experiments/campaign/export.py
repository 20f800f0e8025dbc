"""From journals to a results folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from nasbed.core.errors import InvalidOption, NasbedError, shorten
from nasbed.experiments.campaign.facts import metrics_of, space_of_journal
from nasbed.experiments.campaign.journal import Ended, Journal
from nasbed.experiments.campaign.makers import Maker, changed_code, maker_notes
from nasbed.results.curves import Curves
from nasbed.results.manifest import About
from nasbed.results.rows import Rows
from nasbed.results.store import Progress, Results, write_results
from nasbed.spaces.base import SearchSpace

BATCH = 50_000


def export_journals(
    journals: Sequence[Path | str],
    out: Path | str,
    *,
    name: str | None = None,
    space: SearchSpace | None = None,
    fidelities: Collection[int] | None = None,
    progress: Progress | None = None,
) -> Results:
    """Write all results of one or several journals as a table; also of campaigns that have not ended, or still run.

    Several journals are of one trainer: the same space, metrics, dataset and recipe, or function. Campaigns that differ
    in more than their seed need a ``name`` for what they are together. An evaluation that several of them made, of one
    architecture at one fidelity with one seed, is taken from the first. ``fidelities`` are those to take, where others
    are not complete yet. ``space`` is needed where it is of a class of the user's own, which no journal can describe.
    """
    if not journals:
        raise InvalidOption("a table is made from at least one journal, got none")
    with ExitStack() as stack:
        paths = [Path(path) for path in journals]
        opened = [stack.enter_context(Journal.reading(path)) for path in paths]
        facts = [journal.facts() for journal in opened]
        _check_same(paths, facts, name)
        searched = space or space_of_journal(facts[0])
        if searched is None:
            raise InvalidOption(f"no space is called {facts[0]['space']!r}; give it: export_journals(…, space=yours)")
        _check_fidelities(facts[0], fidelities)
        makers = [journal.makers() for journal in opened]
        _check_same_code(paths, makers)
        told = [*(note for each in makers for note in maker_notes(each)), _not_ok(_first_ones(opened, fidelities))]
        versions = [maker.version for each in makers for maker in each if maker.version and maker.results]
        about = _about(facts, name, "; ".join(filter(None, told)), versions)
        batches = _batches(_first_ones(opened, fidelities), searched, [metric.key for metric in about.metrics])
        curves = _curves(_first_ones(opened, fidelities), searched, facts[0]["objective"])
        return write_results(Path(out), about, batches, progress, searched=searched, curves=curves)


def _check_same(paths: Sequence[Path], facts: Sequence[Mapping[str, Any]], name: str | None) -> None:
    first = facts[0]
    for path, other in zip(paths[1:], facts[1:], strict=True):
        for what in ("space", "metrics", "fidelity_unit", "trainer"):
            if other[what] != first[what]:
                raise InvalidOption(
                    f"journals that are exported together have one {what}, {path} has another than {paths[0]}; export "
                    "them apart, and see: nasbed results merge --help"
                )
        here, there = first["campaign"], other["campaign"]
        differs = [key for key in {**here, **there} if key != "seed" and here.get(key) != there.get(key)]
        if differs and name is None:
            raise InvalidOption(
                f"{path} is of another campaign than {paths[0]}, with another {differs[0]}; name the table (--name)"
            )


def _check_same_code(paths: Sequence[Path], makers: Sequence[Sequence[Maker]]) -> None:
    last = [next((maker.code for maker in reversed(each) if maker.version and maker.results), None) for each in makers]
    known = [(path, code) for path, code in zip(paths, last, strict=True) if code is not None]
    for path, code in known[1:]:
        changed = changed_code(known[0][1], code)
        if changed:
            raise InvalidOption(
                f"journals that are exported together have one content of {changed[0]}, {path} has another than "
                f"{known[0][0]}; export them apart, and see: nasbed results merge --help"
            )


def _about(facts: Sequence[Mapping[str, Any]], name: str | None, notes: str, versions: Sequence[str]) -> About:
    first = facts[0]
    made_by = ", ".join(dict.fromkeys(versions)) or first["nasbed_version"]
    campaigns = [each["campaign"] for each in facts]
    named = "; ".join(dict.fromkeys(f"{each['name']}, seed {each['seed']}" for each in campaigns))
    return About(
        name=name or first["campaign"]["name"],
        space=first["space"],
        metrics=metrics_of(first),
        dataset=first["dataset"],
        recipe=first["recipe"],
        fidelity_unit=first["fidelity_unit"],
        source=f"collected by nasbed {made_by}: {named}",
        notes=notes,
    )


def _check_fidelities(facts: Mapping[str, Any], wanted: Collection[int] | None) -> None:
    for fidelity in wanted or ():
        if fidelity not in facts["fidelities"]:
            known = ", ".join(map(str, facts["fidelities"]))
            raise InvalidOption(f"the journal has the fidelities {known}, got {shorten(fidelity)}; choose among them")


def _not_ok(rows: Iterable[Ended]) -> str:
    """What a table has no column for: why trials failed or diverged."""
    reasons = Counter(
        f"{ended.evaluation.status.value}: {ended.evaluation.reason or 'no reason given'}"
        for ended in rows
        if ended.evaluation.status != "ok"
    )
    return "; ".join(f"{count} {reason}" for reason, count in reasons.most_common(10))


def _first_ones(journals: Sequence[Journal], fidelities: Collection[int] | None) -> Iterator[Ended]:
    seen = set()
    for journal in journals:
        for ended in journal.ended():
            if ended.trial.key not in seen and (fidelities is None or ended.trial.fidelity in fidelities):
                seen.add(ended.trial.key)
                yield ended


def _curves(rows: Iterator[Ended], space: SearchSpace, objective: str) -> Curves | None:
    measured = [ended for ended in rows if ended.evaluation.learning_curve]
    if not measured:
        return None
    return Curves.of(
        objective,
        space.codes([ended.trial.architecture for ended in measured]),
        [ended.evaluation.learning_curve for ended in measured],
        fidelity=[ended.trial.fidelity for ended in measured],
        seed=[ended.trial.seed for ended in measured],
    )


def _batches(rows: Iterator[Ended], space: SearchSpace, keys: list[str]) -> Iterator[Rows]:
    while batch := list(islice(rows, BATCH)):
        yield _rows(batch, space, keys)


def _rows(batch: Sequence[Ended], space: SearchSpace, keys: list[str]) -> Rows:
    trials = [ended.trial for ended in batch]
    found = [ended.evaluation for ended in batch]
    try:
        codes = space.codes([trial.architecture for trial in trials])
    except NasbedError as error:
        raise InvalidOption(f"the space {space.name} is not that of the journal: {error}") from None
    return Rows.of(
        codes,
        {key: np.array([each.values.get(key, np.nan) for each in found]) for key in keys},
        fidelity=np.array([trial.fidelity for trial in trials], dtype=np.int64),
        seed=np.array([trial.seed for trial in trials], dtype=np.int64),
        train_time_s=np.array([np.nan if each.train_time_s is None else each.train_time_s for each in found]),
        method=np.array([trial.method for trial in trials], dtype=np.str_),
        status=np.array([each.status.number for each in found], dtype=np.int8),
        timestamp_us=np.array([ended.ended_us for ended in batch], dtype=np.int64),
    )
