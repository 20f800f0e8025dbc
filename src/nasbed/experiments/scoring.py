"""Scoring many architectures by zero-cost proxies: in parallel, each score stored at once, none computed twice."""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.architecture import Architecture
from nasbed.core.code_fingerprint import object_fingerprint
from nasbed.core.errors import InvalidMeasurement, InvalidOption, shorten
from nasbed.core.execution import Engine, LocalEngine
from nasbed.core.files import values_sha256
from nasbed.experiments.score_journal import (
    ScoreJournal,
    ScoreKey,
    Scores,
    check_same_scores,
    report_stale,
    together,
)
from nasbed.experiments.scorer import BATCH, NetworkScore, Scorer, dataset_of, scoring_batch
from nasbed.networks import check_network, check_torch
from nasbed.proxies import PROXIES
from nasbed.proxies.table import ScoresInfo, ScoreTable, check_suffix, table_of_rows
from nasbed.spaces import SearchSpace, space

_LOG = logging.getLogger(__name__)
OnNote = Callable[[str], None]
Progress = Callable[[int, int], None]
"""Called with how many of how many networks are scored."""
MOST_IDLE = 100_000
"""After this many draws without a new architecture, the space has no more."""


def score_architectures(
    archs: Sequence[Architecture],
    *,
    dataset: str,
    proxies: Sequence[str],
    out: str | Path,
    seeds: Sequence[int] = (0,),
    batch: int = BATCH,
    recipe: str = "",
    device: str = "cpu",
    engine: Engine | None = None,
    timeout_s: float | None = None,
    progress: Progress | None = None,
    on_note: OnNote | None = None,
) -> ScoreTable:
    """Score every architecture with every seed and write ``out``, adding to an existing file.

    A file is of one dataset and recipe, to the byte; others are refused. Scores by a user's proxy whose code has
    changed are repeated. Those of another version of nasbed are kept, and the file says so.

    A CPU computes each network with one thread, so that scores do not depend on how many processes there are. Each
    score is stored at once in a journal next to the file, so that the same call resumes after a kill. A network that
    cannot be built, or that exceeds the timeout, has a reason in the place of a score. Where that holds for all, the
    call raises with the reason and writes nothing.

    Args:
        archs: the architectures, of one space.
        dataset: whose images.
        proxies: ids of proxies.
        out: the file of the scores.
        seeds: of weights and images; each network is scored with each.
        batch: how many images.
        recipe: builds networks as this recipe does; as usual without one.
        device: where networks are scored.
        engine: where tasks run.
        timeout_s: seconds a network.
        progress: called with how many of how many networks are scored.
        on_note: called with a line about scores that are out of date; without it, the line is logged.
    """
    out = Path(out)
    check_torch()
    check_suffix(out)
    on_note = on_note or _LOG.warning
    first_info = _check_scores(archs, dataset, proxies, seeds, batch, recipe)
    rows, info = _existing_rows(out, first_info, on_note)
    engine = engine or LocalEngine()
    with ScoreJournal(out, info, on_note) as journal:
        try:
            for key, scores in journal.items():
                rows[key].update(scores)
            info = journal.about
            keys = [(arch.code, seed) for arch in dict.fromkeys(archs) for seed in seeds]
            tasks = [
                (*key, missing)
                for key in keys
                if (missing := tuple(name for name in proxies if name not in rows.get(key, {})))
            ]
            finished = len(keys) - len(tasks)
            if progress is not None:
                progress(finished, len(keys))
            scorer = Scorer(info.space, dataset, recipe, batch, device, info.dataset_hash)
            for outcome in engine.map_unordered(scorer, tasks, timeout_s=timeout_s):
                code, seed, missing = tasks[outcome.task]
                scores = outcome.result or {name: NetworkScore(None, 0.0, outcome.error) for name in missing}
                journal.record((code, seed), scores)
                rows[code, seed].update(scores)
                finished += 1
                if progress is not None:
                    progress(finished, len(keys))
            _check_any_score([rows[key] for key in keys], proxies)
            if not tasks and out.exists():  # this version has added nothing
                info = replace(info, source=info.source.removesuffix(f"; {first_info.source}"))
            table = _table(info, rows)
            table.write(out)
        except BaseException:
            if journal.is_new and not any(_has_score(scores, scores) for _, scores in journal.items()):
                journal.remove()
            raise
        journal.remove()
    return table


def drawn_rows(rows: NDArray[np.int64], count: int | None, rng: np.random.Generator) -> NDArray[np.int64]:
    """``count`` of some rows, drawn at random and in their order; all where that is not less."""
    if count is None or count >= len(rows):
        return rows
    return rows[np.sort(rng.permutation(len(rows))[:count])]


def random_architectures(searched: SearchSpace, count: int, rng: np.random.Generator) -> list[Architecture]:
    """``count`` different architectures, none isomorphic to another."""
    if count > searched.size:
        raise InvalidOption(f"{searched.name} has {searched.size} architectures, got {count}; ask for fewer")
    unique: dict[Architecture, None] = {}
    idle = 0
    while len(unique) < count and idle < MOST_IDLE:
        old_count = len(unique)
        unique[searched.canonical(searched.sample(rng))] = None
        idle = 0 if len(unique) > old_count else idle + 1
    if len(unique) < count:
        raise InvalidOption(
            f"{count} different architectures were requested, draws from {searched.name} gave {len(unique)}; "
            "request fewer"
        )
    return list(unique)


def _check_scores(
    archs: Sequence[Architecture], dataset: str, proxies: Sequence[str], seeds: Sequence[int], batch: int, recipe: str
) -> ScoresInfo:
    """The common description of all scores. Raises before any network is scored if scoring would fail for all of them.

    Args:
        archs: the architectures.
        dataset: the name of the dataset.
        proxies: ids of proxies.
        seeds: the seeds of weights and images.
        batch: how many images.
        recipe: the name of the recipe that builds networks, or empty.
    """
    from nasbed.training.network_factory import recipe_skeleton
    from nasbed.training.recipe_files import load_recipe

    spaces = {arch.space for arch in archs}
    if len(spaces) != 1:
        raise InvalidOption(
            f"scores are of one space and of 1 architecture or more, got {', '.join(sorted(spaces)) or 'none'}"
        )
    for name in proxies:
        PROXIES.get(name)
    if not proxies or not seeds or min(seeds) < 0:
        raise InvalidOption(
            "scoring needs 1 proxy or more, and 1 seed or more from 0 on; got "
            f"{shorten(list(proxies))} and {shorten(list(seeds))}"
        )
    (searched,) = spaces
    check_network(searched)
    for arch in archs:
        space(searched).validate(arch)
    data = dataset_of(dataset)
    recipe_name = recipe_sha256 = ""
    if recipe:
        read = load_recipe(recipe)
        recipe_skeleton(searched, read)
        recipe_name, recipe_sha256 = read.name, values_sha256(read.settings())
    scoring_batch(data, batch, recipe=recipe)
    code = {name: object_fingerprint(PROXIES.get(name).function) for name in proxies}
    fingerprints = {name: fingerprint for name, fingerprint in code.items() if fingerprint}
    return ScoresInfo(searched, dataset, data.hash, recipe_name, batch, recipe_sha256=recipe_sha256, code=fingerprints)


def _has_score(scores: Scores, proxies: Iterable[str]) -> bool:
    return any(scores[name].value is not None for name in proxies)


def _check_any_score(networks: Sequence[Scores], proxies: Sequence[str]) -> None:
    """Raise with the most frequent reason unless some network has a score by one of the proxies."""
    if any(_has_score(scores, proxies) for scores in networks):
        return
    reasons = Counter(scores[name].reason for scores in networks for name in proxies)
    ((reason, _),) = reasons.most_common(1)
    named = shorten(", ".join(proxies))
    raise InvalidMeasurement(
        f"scoring needs 1 network or more with a score, none of {len(networks)} has one by {named}: {reason}; nothing "
        "was written, change the dataset, the recipe or the proxies"
    )


Rows = defaultdict[ScoreKey, Scores]
"""All scores of a file."""


def _existing_rows(out: Path, info: ScoresInfo, on_note: OnNote) -> tuple[Rows, ScoresInfo]:
    """The valid cells of an existing file, and the combined description of old and new scores, which must be of the
    same kind."""
    rows: Rows = defaultdict(dict)
    if not out.exists():
        return rows, info
    table = ScoreTable.read(out)
    check_same_scores(table.about, info, out)
    stale = report_stale(table.about, info, table.proxies, out, on_note)
    codes = [tuple(code) for code in table.codes.tolist()]
    for row, code in enumerate(codes):
        for column, seed in enumerate(table.seeds):
            reasons = _parts(table.no_score, row, column)
            remarks = _parts(table.remarks, row, column)
            for name, values in table.values.items():
                if name in stale:
                    continue
                value = float(values[row, column])
                if name in reasons or value == value:
                    seconds = float(table.seconds[name][row, column]) if name in table.seconds else 0.0
                    cell = NetworkScore(
                        None if name in reasons else value, seconds, reasons.get(name, ""), remarks.get(name, "")
                    )
                    rows[code, seed][name] = cell
    return rows, together(table.about, info)


def _parts(texts: Any, row: int, column: int) -> dict[str, str]:
    """``name: text; name: text`` by name."""
    text = "" if texts is None else texts[row, column]
    return dict(part.split(": ", 1) for part in text.split("; ")) if text else {}


def _table(info: ScoresInfo, rows: Rows) -> ScoreTable:
    keys = sorted(rows)
    names = [name for name in PROXIES if any(name in cells for cells in rows.values())]
    names += sorted({name for cells in rows.values() for name in cells} - set(names))
    missing_score = NetworkScore(None, np.nan)
    columns = {name: [rows[key].get(name, missing_score) for key in keys] for name in names}
    return table_of_rows(
        info,
        [code for code, _ in keys],
        [seed for _, seed in keys],
        {name: [np.nan if cell.value is None else cell.value for cell in column] for name, column in columns.items()},
        seconds={name: [cell.seconds for cell in column] for name, column in columns.items()},
        no_score=[_join_texts({name: cell.reason for name, cell in rows[key].items()}) for key in keys],
        remarks=[_join_texts({name: cell.remark for name, cell in rows[key].items()}) for key in keys],
    )


def _join_texts(texts: Mapping[str, str]) -> str:
    """``name: text`` of those that have one; a semicolon within a text becomes a comma."""
    return "; ".join(f"{name}: {text.replace(';', ',')}" for name, text in texts.items() if text)
