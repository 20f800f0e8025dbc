"""Tuning a surrogate model: BOHB over the ranges of Table 6 (Surrogate NAS Benchmarks, appendices E.3 and E.4)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import nasbed
from nasbed.core.code_fingerprint import object_fingerprint
from nasbed.core.errors import InvalidOption
from nasbed.core.execution import Engine, LocalEngine, attempt
from nasbed.core.files import complete_file
from nasbed.core.former_names import former
from nasbed.experiments.tuning.journal import JOURNAL, TuningJournal, TuningSetup, TuningTrial, read_json
from nasbed.experiments.tuning.trials import TrialFit, Trials, TuningSearch
from nasbed.results.store import Results
from nasbed.surrogates import SURROGATES
from nasbed.surrogates.base import Surrogate
from nasbed.surrogates.examples import TRAIN_TIME
from nasbed.surrogates.runtime import RUNTIME_SETTINGS
from nasbed.surrogates.scores import precision_of
from nasbed.surrogates.table_split import TableSplit

Score = Literal["skt", "r2"]
"""The scores to tune for: sparse Kendall's tau or the coefficient of determination."""
SCORES: tuple[Score, ...] = get_args(Score)
BEST = "best.json"

__getattr__ = former(__name__, {"Parts": "nasbed.surrogates.table_split:TableSplit"}, until="0.3")


@dataclass(frozen=True, slots=True)
class TuningResult:
    """The result of a tuning. ``best`` has the best score among the trials at the highest budget: never worse than the
    default settings. ``test`` are its figures on the test part."""

    setup: TuningSetup
    trials: tuple[TuningTrial, ...]
    best: TuningTrial
    test: Mapping[str, float]

    @property
    def default(self) -> TuningTrial:
        return self.trials[0]

    def notes(self) -> list[str]:
        """Notes on trials that other versions of nasbed fitted, one line each."""
        versions = Counter(trial.nasbed_version for trial in self.trials)
        return [
            f"{count} of {len(self.trials)} trials were fitted by "
            + (f"nasbed {version}" if version else "a nasbed that did not record its version")
            + f", this is {nasbed.__version__}; tune into another folder to fit them again"
            for version, count in versions.items()
            if version != nasbed.__version__
        ]

    def score(self, trial: TuningTrial) -> float | None:
        """``None`` for a trial that failed."""
        return trial.figures.get(self.setup.score)


def tune(
    model: str | type[Surrogate[Any]],
    data: Results | TableSplit,
    *,
    trials: int,
    out: str | Path,
    score: Score = "skt",
    settings: Mapping[str, Any] | None = None,
    engine: Engine | None = None,
    seed: int = 0,
    timeout_s: float | None = None,
    progress: Callable[[TuningTrial], None] | None = None,
) -> TuningResult:
    """Search for better settings of a model with ``trials`` fits, including one with the default settings.

    BOHB proposes a trial whenever a process is free. A trial that raises, dies or exceeds its timeout has failed, and
    tuning continues.

    **Resuming.** Each proposal and each result is a line of ``out/trials.jsonl``; a result counts when its line is
    durable. Tuning again with the same folder repeats the optimizer's calls in the order of the lines. It first fits
    proposals without a result. So no result is lost and none is fitted twice. One process makes the same trials with
    interruptions as without, and ``trials`` may be raised. With several processes the order of the results varies, and
    so do later proposals. If a proposal differs from the journal, as after an upgrade of numpy, the journal's counts. A
    folder whose trials were made with other evaluations, settings or code of a model of the user's own is refused.
    Trials that another version of nasbed fitted are kept, and :meth:`TuningResult.notes` lists them.

    Only the last fit, that of the winner, sees the test part. Its figures are kept in ``out/best.json``.

    A split that :meth:`~nasbed.surrogates.table_split.TableSplit.timed` gives tunes the runtime model: on logarithms of
    seconds, from its own default settings.

    Args:
        model: the id or the class of the model.
        data: a table, or the split of one.
        trials: how many fits.
        out: the folder of the trials.
        score: what is maximised.
        settings: those that hold for all trials and are not tuned.
        engine: where fits run.
        seed: of the proposals and fits, and of the split of a table; a split keeps its own.
        timeout_s: seconds a fit.
        progress: called with each trial that ended, first with those that the folder holds.
    """
    out = Path(out)
    kind = SURROGATES.get(model) if isinstance(model, str) else model
    if score not in SCORES:
        raise InvalidOption(f"tuning is for {' or '.join(SCORES)}, got {score!r}")
    if trials < 1:
        raise InvalidOption(f"tuning makes at least 1 trial, that of the default settings, got {trials}")
    split = TableSplit.from_data(data, seed=seed)
    split.check_parts()
    is_runtime = split.metric == TRAIN_TIME
    defaults = RUNTIME_SETTINGS.get(kind.name) if is_runtime else None
    search = TuningSearch(kind, split.space, settings or {}, seed, defaults)
    setup = TuningSetup(
        model=kind.name,
        space=split.space.name,
        metric=split.metric.key,
        score=score,
        seed=seed,
        settings=dict(settings or {}),
        budget=search.budget_name,
        data_sha256=split.fitted_sha256,
        code_sha256=object_fingerprint(kind),
    )
    out.mkdir(parents=True, exist_ok=True)
    with TuningJournal(out, setup) as journal:
        engine = engine or LocalEngine()
        trial_tasks = Trials(search, journal, score, trials, progress)
        validation = split.validation
        precision = precision_of(split.metric, validation.y)
        job = TrialFit(kind, split.space, split.train, validation, seed, precision, is_runtime)
        for outcome in engine.map_unordered(job, trial_tasks, timeout_s=timeout_s):
            trial_tasks.end(outcome.task, outcome.result, outcome.error)
        best = _best(trial_tasks.finished, setup, search.highest)
        test_sha256 = split.test_sha256
        test = _known_test(out, best, test_sha256)
        if test is None:
            test = _test_figures(replace(job, held_out=split.test), best)
        tuned = TuningResult(setup, tuple(sorted(trial_tasks.finished, key=lambda trial: trial.number)), best, test)
        _save_best(out, tuned, test_sha256)
    return tuned


def _test_figures(job: TrialFit, best: TuningTrial) -> dict[str, float]:
    outcome = attempt(job, 0, best.settings)
    if outcome.error:
        raise InvalidOption(f"the winner, trial {best.number}, could not be fitted again: {outcome.error}")
    figures: dict[str, float] = outcome.result[0]
    return figures


def _best(trials: Sequence[TuningTrial], setup: TuningSetup, highest: int | None) -> TuningTrial:
    usable = [trial for trial in trials if trial.figures and trial.budget == highest]
    if not usable:
        reason = next((trial.error for trial in trials if trial.error), "none was made")
        place = "" if highest is None else f" at {highest} {setup.budget}"
        raise InvalidOption(f"no trial of {setup.model}{place} ended well: {reason}; see {JOURNAL}")
    return max(usable, key=lambda trial: (trial.figures[setup.score], -trial.number))


def _known_test(out: Path, best: TuningTrial, test_sha256: str) -> dict[str, float] | None:
    """The winner's figures on the test part, if this version of nasbed has measured them already."""
    if not (out / BEST).is_file():
        return None
    data = read_json(out / BEST)
    measured = data.get("trial"), data.get("test_sha256"), data.get("nasbed_version")
    figures: dict[str, float] | None = data.get("test")
    return figures if measured == (best.number, test_sha256, nasbed.__version__) else None


def _save_best(out: Path, tuned: TuningResult, test_sha256: str) -> None:
    best = tuned.best
    data = {
        "model": tuned.setup.model,
        "settings": best.settings,
        "trial": best.number,
        "trials": len(tuned.trials),
        "score": tuned.setup.score,
        "validation": best.figures,
        "validation_of_default": tuned.default.figures,
        "test": tuned.test,
        "seed": tuned.setup.seed,
        "metric": tuned.setup.metric,
        "data_sha256": tuned.setup.data_sha256,
        "test_sha256": test_sha256,
        "nasbed_version": nasbed.__version__,
    }
    with complete_file(out / BEST) as draft:
        draft.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def load_settings(path: str | Path, model: str) -> dict[str, Any]:
    """The settings in a file: those of ``best.json`` of a tuning of that model, or a plain JSON object."""
    path = Path(path)
    data = read_json(path)
    if not isinstance(data.get("settings"), dict):
        return data
    if data.get("model") != model:
        raise InvalidOption(f"{path} holds settings of {data.get('model')}, not of {model}; give another file")
    if data.get("metric") == TRAIN_TIME.key:
        raise InvalidOption(f"{path} holds settings of a runtime model; give the file as --runtime-settings")
    settings: dict[str, Any] = data["settings"]
    return settings


def load_runtime_settings(path: str | Path) -> tuple[str, dict[str, Any]]:
    """The runtime model and its settings in ``best.json`` of a tuning for ``train_time_s``."""
    path = Path(path)
    data = read_json(path)
    if not isinstance(data.get("settings"), dict) or data.get("metric") != TRAIN_TIME.key:
        raise InvalidOption(f"{path} is not of a tuning for {TRAIN_TIME.key}; make one: nasbed tune --metric")
    return str(data["model"]), data["settings"]
