"""The scores of networks until their file is written: a journal beside it, by architecture and seed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from nasbed.core.execution.journal import LineFormat, TaskJournal, check_same_inputs
from nasbed.experiments.scorer import Code, NetworkScore
from nasbed.proxies.table import ScoresInfo

Scores = dict[str, NetworkScore]
"""The scores of one network, by the names of the proxies."""
ScoreKey = tuple[Code, int]
"""The code of an architecture, and the seed of its weights and images."""


def journal_of(out: Path) -> Path:
    """The path of the journal that keeps scores until their file is written."""
    return out.with_name(f"{out.name}.journal")


def _line(key: ScoreKey, scores: Mapping[str, NetworkScore]) -> dict[str, Any]:
    code, seed = key
    cells = {name: [score.value, round(score.seconds, 6), score.reason, score.remark] for name, score in scores.items()}
    return {"code": list(code), "seed": seed, "cells": cells}


def _entry(line: dict[str, Any]) -> tuple[ScoreKey, Scores]:
    scores = {name: NetworkScore(*cell) for name, cell in line["cells"].items()}
    return (tuple(line["code"]), line["seed"]), scores


_FORMAT: LineFormat[ScoreKey, Scores] = LineFormat("scores", "about", _line, _entry)


class ScoreJournal(TaskJournal[ScoreKey, Scores]):
    """The scores since the file was written. Scores by a user's proxy whose code has changed are dropped; those of
    another version of nasbed are kept. Both are reported."""

    def __init__(self, out: Path, about: ScoresInfo, on_note: Callable[[str], None]) -> None:
        """
        Args:
            out: the file of the scores.
            about: what the scores have in common; other than the code of proxies and the version it has to match.
            on_note: called with a line for each proxy whose code has changed, and one for another version.
        """
        self._info = about
        self._recorded = about
        self._stale: set[str] = set()
        super().__init__(journal_of(out), asdict(about), form=_FORMAT)
        old = self._recorded
        if (old.source, old.code) != (about.source, about.code):
            report_stale(old, about, about.code, self.path, on_note)
            self.renew_inputs(asdict(about))
        self.about = together(old, about)

    def check_inputs(self, before: dict[str, Any], now: dict[str, Any]) -> None:
        check_same_scores(ScoresInfo(**before), ScoresInfo(**now), self.path)

    def inputs_changed(self, before: dict[str, Any], now: dict[str, Any]) -> None:
        self._recorded = ScoresInfo(**before)
        code, recorded = self._info.code, self._recorded.code
        self._stale = {name for name in code if recorded.get(name) != code[name]}

    def keep(self, key: ScoreKey, result: Scores) -> None:
        current = {name: score for name, score in result.items() if name not in self._stale}
        self._results.setdefault(key, {}).update(current)


def check_same_scores(old: ScoresInfo, new: ScoresInfo, path: Path) -> None:
    """Raise unless scores are of one space, dataset, recipe and number of images, to the byte."""
    names = ("space", "dataset", "dataset_hash", "recipe", "recipe_sha256", "batch")
    recorded = {name: getattr(old, name) for name in names}
    if not old.recipe_sha256:
        del recorded["recipe_sha256"]
    check_same_inputs(
        f"{path} holds scores",
        recorded,
        {name: getattr(new, name) for name in names},
        remedy="choose another file",
        optional=("recipe_sha256",),
    )


def report_stale(
    old: ScoresInfo, new: ScoresInfo, proxies: Iterable[str], path: Path, on_note: Callable[[str], None]
) -> set[str]:
    """The proxies whose scores must be repeated because their code has changed. Each gets a note, and so does another
    version.

    Args:
        old: what existing scores have in common.
        new: what new scores have.
        proxies: those that have existing scores.
        path: where these are.
        on_note: called with each note, one line.
    """
    stale = {name for name in proxies if name in new.code and old.code.get(name) != new.code[name]}
    for name in sorted(stale):
        on_note(f"scores by {name} in {path} are made again: its code has changed")
    if old.source != new.source:
        on_note(
            f"{path} has scores by {old.source}, this is {new.source}; they are kept, score into another file to redo"
        )
    return stale


def together(old: ScoresInfo, new: ScoresInfo) -> ScoresInfo:
    """The common description of a file's scores after new ones are added."""
    sources = dict.fromkeys([*old.source.split("; "), *new.source.split("; ")])
    return replace(new, source="; ".join(sources), code={**old.code, **new.code})
