"""From journals to a results folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import numpy as np

from nasbed.core.errors import InvalidOption, NasbedError, shorten
from nasbed.core.status import Status
from nasbed.experiments.campaign.facts import metrics_of, space_of_journal
from nasbed.experiments.campaign.journal import FinishedTrial, Journal
from nasbed.experiments.campaign.plan import RealSearches
from nasbed.experiments.campaign.provenance import Maker, changed_code, maker_notes
from nasbed.experiments.campaign.retiming import MEASURED_TIME, Retiming
from nasbed.experiments.campaign.trial import Evaluation
from nasbed.results.curves import Curves
from nasbed.results.manifest import TableInfo
from nasbed.results.rows import Rows
from nasbed.results.searches import RecordedSearches, joined_searches
from nasbed.results.store import Progress, Results, write_results
from nasbed.spaces.base import SearchSpace

BATCH = 50_000
TIMING = ("population", "calibration")
"""Settings of a trainer that change times alone. A new calibration replaces those of calibrations."""


def export_journals(
    journals: Sequence[Path | str],
    out: Path | str,
    *,
    name: str | None = None,
    space: SearchSpace | None = None,
    fidelities: Collection[int] | None = None,
    by_function: bool = False,
    calibration: Path | str | None = None,
    progress: Progress | None = None,
) -> Results:
    """Write all results of one or several journals as a table; also of campaigns that have not ended, or still run.

    Several journals are of one trainer: the same space, metrics, dataset and recipe, or function. Populations may be of
    different sizes, which changes the times alone. An evaluation that
    several of them made, of one architecture at one fidelity with one seed, is taken from the first.

    Args:
        journals: the files of the campaigns.
        out: the folder of the table.
        name: of the table; campaigns that differ in more than their seed need one.
        space: needed where it is of a class of the user's own, which no journal can describe.
        fidelities: those to take; all by default.
        by_function: whether each row answers for all architectures of the space that compute the same function; of a
            space that can be listed.
        calibration: the file that says what each network costs (``nasbed collect calibrate``), for journals of
            populations. Its seconds become ``train_time_s``, and the measured ones are kept as ``measured_time_s``.
        progress: called with the number of rows written.
    """
    if not journals:
        raise InvalidOption("a table is made from at least one journal, got none")
    with ExitStack() as stack:
        paths = [Path(path) for path in journals]
        sources = [stack.enter_context(Journal.reading(path)) for path in paths]
        facts = [journal.facts() for journal in sources]
        _check_same(paths, facts, name, ignored=TIMING if calibration is not None else TIMING[:1])
        searched = space or space_of_journal(facts[0])
        if searched is None:
            raise InvalidOption(f"no space is called {facts[0]['space']!r}; give it: export_journals(…, space=yours)")
        _check_fidelities(facts[0], fidelities)
        makers = [journal.makers() for journal in sources]
        _check_same_code(paths, makers)
        notes = [
            *(note for journal_makers in makers for note in maker_notes(journal_makers)),
            _not_ok(_first_ones(sources, fidelities)),
        ]
        versions = [
            maker.version for journal_makers in makers for maker in journal_makers if maker.version and maker.results
        ]
        retiming = None if calibration is None else Retiming(calibration, facts[0], searched)
        notes += [] if retiming is None else [retiming.note]
        info = replace(_about(facts, name, "; ".join(filter(None, notes)), versions), by_function=by_function)
        if retiming is not None or "calibration" in facts[0]["trainer"]:
            info = replace(info, metrics=(*info.metrics, MEASURED_TIME))
        rows = _first_ones(sources, fidelities)
        batches = _batches(
            rows if retiming is None else map(retiming, rows), searched, [metric.key for metric in info.metrics]
        )
        curves = _curves(_first_ones(sources, fidelities), searched, facts[0]["objective"])
        searches = joined_searches(
            [
                recorded
                for journal, journal_facts in zip(sources, facts, strict=True)
                if (recorded := _searches(journal, journal_facts, searched, fidelities, retiming)) is not None
            ]
        )
        return write_results(Path(out), info, batches, progress, searched=searched, curves=curves, searches=searches)


def _check_same(
    paths: Sequence[Path], facts: Sequence[Mapping[str, Any]], name: str | None, *, ignored: Sequence[str]
) -> None:
    first = facts[0]
    for path, journal_facts in zip(paths[1:], facts[1:], strict=True):
        for field in ("space", "metrics", "fidelity_unit", "trainer"):
            if _without(ignored, journal_facts[field]) != _without(ignored, first[field]):
                raise InvalidOption(
                    f"journals that are exported together have one {field}, {path} has another than {paths[0]}; export "
                    "them apart, and see: nasbed results merge --help"
                )
        first_campaign, other_campaign = first["campaign"], journal_facts["campaign"]
        differs = [
            key
            for key in {**first_campaign, **other_campaign}
            if key != "seed" and first_campaign.get(key) != other_campaign.get(key)
        ]
        if differs and name is None:
            raise InvalidOption(
                f"{path} is of another campaign than {paths[0]}, with another {differs[0]}; name the table (--name)"
            )


def _without(ignored: Sequence[str], fact: Any) -> Any:
    """A fact of a journal; of a trainer, all but some of its settings."""
    return {key: value for key, value in fact.items() if key not in ignored} if isinstance(fact, Mapping) else fact


def _check_same_code(paths: Sequence[Path], makers: Sequence[Sequence[Maker]]) -> None:
    last = [
        next((maker.code for maker in reversed(journal_makers) if maker.version and maker.results), None)
        for journal_makers in makers
    ]
    recorded = [(path, code) for path, code in zip(paths, last, strict=True) if code is not None]
    for path, code in recorded[1:]:
        changed = changed_code(recorded[0][1], code)
        if changed:
            raise InvalidOption(
                f"journals that are exported together have one content of {changed[0]}, {path} has another than "
                f"{recorded[0][0]}; export them apart, and see: nasbed results merge --help"
            )


def _about(facts: Sequence[Mapping[str, Any]], name: str | None, notes: str, versions: Sequence[str]) -> TableInfo:
    first = facts[0]
    made_by = ", ".join(dict.fromkeys(versions)) or first["nasbed_version"]
    campaigns = [campaign["campaign"] for campaign in facts]
    origin = "; ".join(dict.fromkeys(f"{campaign['name']}, seed {campaign['seed']}" for campaign in campaigns))
    return TableInfo(
        name=name or first["campaign"]["name"],
        space=first["space"],
        metrics=metrics_of(first),
        dataset=first["dataset"],
        recipe=first["recipe"],
        fidelity_unit=first["fidelity_unit"],
        source=f"collected by nasbed {made_by}: {origin}",
        notes=notes,
    )


def _check_fidelities(facts: Mapping[str, Any], fidelities: Collection[int] | None) -> None:
    for fidelity in fidelities or ():
        if fidelity not in facts["fidelities"]:
            available = ", ".join(map(str, facts["fidelities"]))
            raise InvalidOption(
                f"the journal has the fidelities {available}, got {shorten(fidelity)}; choose among them"
            )


def _not_ok(rows: Iterable[FinishedTrial]) -> str:
    """The reasons why trials failed or diverged, for which a table has no column."""
    reasons = Counter(
        f"{row.evaluation.status.value}: {row.evaluation.reason or 'no reason given'}"
        for row in rows
        if row.evaluation.status is not Status.OK
    )
    return "; ".join(f"{count} {reason}" for reason, count in reasons.most_common(10))


def _first_ones(journals: Sequence[Journal], fidelities: Collection[int] | None) -> Iterator[FinishedTrial]:
    keys = set()
    for journal in journals:
        for finished in journal.finished():
            if finished.trial.key not in keys and (fidelities is None or finished.trial.fidelity in fidelities):
                keys.add(finished.trial.key)
                yield finished


def _curves(rows: Iterator[FinishedTrial], space: SearchSpace, objective: str) -> Curves | None:
    measured = [row for row in rows if row.evaluation.learning_curve]
    if not measured:
        return None
    return Curves.of(
        objective,
        space.codes([row.trial.architecture for row in measured]),
        [row.evaluation.learning_curve for row in measured],
        fidelity=[row.trial.fidelity for row in measured],
        seed=[row.trial.seed for row in measured],
    )


def _searches(
    journal: Journal,
    facts: Mapping[str, Any],
    space: SearchSpace,
    fidelities: Collection[int] | None,
    retiming: Retiming | None,
) -> RecordedSearches | None:
    """The searches that the campaign ran for real, with the evaluations that have ended. All trainings of a round begin
    together, on as many workers as there are, and the next round begins when the last of them has ended.

    None where the table has only some of the fidelities that searches used: a part of a search is none.
    """
    campaign = facts["campaign"]
    if campaign.get("searches") is None:
        return None
    plan = RealSearches(**campaign["searches"])
    by_search: dict[tuple[str, int], list[FinishedTrial]] = {name: [] for name in plan.names}
    for finished in journal.finished():
        if finished.trial.method in plan.methods:
            number = plan.number_of(finished.trial.seed, campaign["training_seed"])
            by_search[finished.trial.method, number].append(finished if retiming is None else retiming(finished))
    evaluations = [(name, finished) for name, all_of_it in by_search.items() for finished in all_of_it]
    used = {finished.trial.fidelity for _, finished in evaluations}
    if not evaluations or not used <= set(used if fidelities is None else fidelities):
        return None
    times = [time for all_of_it in by_search.values() for time in _lock_step_times(all_of_it)]
    trials = [finished.trial for _, finished in evaluations]
    return RecordedSearches(
        method=np.array([method for (method, _), _ in evaluations], dtype=np.str_),
        search=np.array([number for (_, number), _ in evaluations], dtype=np.int64),
        codes=space.codes([trial.architecture for trial in trials]),
        fidelity=np.array([trial.fidelity for trial in trials], dtype=np.int64),
        seed=np.array([trial.seed for trial in trials], dtype=np.int64),
        start_s=np.array([start for start, _ in times]),
        end_s=np.array([end for _, end in times]),
        workers=plan.workers,
        settings={name: own for name, own in campaign["settings"].items() if name in plan.methods},
    )


def _lock_step_times(search: Sequence[FinishedTrial]) -> Iterator[tuple[float, float]]:
    """When each evaluation of a search begins and ends, in seconds since its first."""
    now = 0.0
    for _, together in groupby(search, key=lambda finished: finished.trial.round):
        seconds = [np.nan if (cost := row.evaluation.train_time_s) is None else cost for row in together]
        yield from ((now, now + cost) for cost in seconds)
        now += max(seconds, key=lambda cost: (np.isnan(cost), cost))  # a cost that is not known makes all after it so


def _batches(rows: Iterator[FinishedTrial], space: SearchSpace, keys: list[str]) -> Iterator[Rows]:
    while batch := list(islice(rows, BATCH)):
        yield _rows(batch, space, keys)


def _rows(batch: Sequence[FinishedTrial], space: SearchSpace, keys: list[str]) -> Rows:
    trials = [finished.trial for finished in batch]
    evaluations = [finished.evaluation for finished in batch]
    values = [_values(evaluation) for evaluation in evaluations]
    try:
        codes = space.codes([trial.architecture for trial in trials])
    except NasbedError as error:
        raise InvalidOption(f"the space {space.name} is not that of the journal: {error}") from None
    return Rows.of(
        codes,
        {key: np.array([row.get(key, np.nan) for row in values]) for key in keys},
        fidelity=np.array([trial.fidelity for trial in trials], dtype=np.int64),
        seed=np.array([trial.seed for trial in trials], dtype=np.int64),
        train_time_s=np.array(
            [np.nan if evaluation.train_time_s is None else evaluation.train_time_s for evaluation in evaluations]
        ),
        method=np.array([trial.method for trial in trials], dtype=np.str_),
        status=np.array([evaluation.status.number for evaluation in evaluations], dtype=np.int8),
        timestamp_us=np.array([finished.ended_us for finished in batch], dtype=np.int64),
    )


def _values(evaluation: Evaluation) -> Mapping[str, float]:
    """What an ok trial measured, with its measured time where a calibration gave the other."""
    measured = evaluation.measured_time_s
    if measured is None or evaluation.status is not Status.OK:
        return evaluation.values
    return {**evaluation.values, MEASURED_TIME.key: measured}
