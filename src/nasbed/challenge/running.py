"""A submission on one dataset after the other, each apart from the rest."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import nasbed
from nasbed.challenge.contest_data import ContestData, open_contest_data
from nasbed.challenge.isolation import Isolation, chosen_isolation
from nasbed.challenge.limits import Limits
from nasbed.challenge.predictions import read_reply
from nasbed.challenge.results import FILE, Result, read_result, write_result
from nasbed.challenge.sandbox import Ended, run_apart
from nasbed.challenge.scoring import judged
from nasbed.challenge.submission import Submission, opened_submission
from nasbed.core.errors import InvalidOption
from nasbed.core.home import home


def run_challenge(
    submission: Path,
    datasets: Sequence[Path],
    out: Path,
    *,
    limits: Limits,
    seed: int = 0,
    device: str = "cpu",
    isolation: str = "auto",
    begin: Callable[[str, Isolation], None] = lambda dataset, isolation: None,
    tick: Callable[[float], None] = lambda seconds: None,
    done: Callable[[Result], None] = lambda result: None,
) -> list[Result]:
    """Run a submission on datasets and keep what came of it in ``out``; what is there already is not run again.

    A submission that fails scores the least and the next dataset is begun. ``begin`` hears of each dataset that is run,
    ``tick`` of the seconds that pass and ``done`` of each result.
    """
    opened = [open_contest_data(folder) for folder in datasets]
    names = [data.name for data in opened]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None or not names:
        raise InvalidOption(f"a challenge has datasets of different names, got {twice or 'none'}; rename a folder")
    results = []
    with opened_submission(submission, out) as found:
        apart = None
        hidden = (found.origin, out, home(), *(data.folder for data in opened))
        for data in opened:
            folder = out / found.name / data.name
            if (folder / FILE).is_file():
                result = _kept(folder, found, data, limits, seed, device)
            else:
                if apart is None:
                    apart = chosen_isolation(isolation, [each.labels_path for each in opened])
                begin(data.name, apart)
                ended = run_apart(
                    found, data, isolation=apart, limits=limits, seed=seed, device=device, hidden=hidden, tick=tick
                )
                result = _keep(folder, found, data, ended, apart, limits, seed, device)
            done(result)
            results.append(result)
    return results


def _keep(
    folder: Path,
    submission: Submission,
    data: ContestData,
    ended: Ended,
    isolation: Isolation,
    limits: Limits,
    seed: int,
    device: str,
) -> Result:
    if not read_reply(ended.sent).started and not ended.stopped:
        said = ended.log.decode(errors="replace").strip().splitlines() or [f"status {ended.status}"]
        raise InvalidOption(
            f"the system lets a submission start, {submission.name} on {data.name} was not: {said[-1][:200]}; "
            "try another --isolation"
        )
    outcome = judged(ended, data, limits)
    result = Result(
        submission=submission.name,
        dataset=data.name,
        ended=outcome.ended,
        reason=outcome.reason,
        raw=outcome.raw,
        score=outcome.score,
        benchmark=data.benchmark,
        seconds=round(ended.seconds, 3),
        peak_memory_bytes=ended.peak_bytes,
        parameters=outcome.parameters,
        isolation=isolation.kind,
        isolation_notes=list(isolation.notes),
        limits=limits.as_dict(),
        seed=seed,
        device=device,
        submission_sha256=submission.sha256,
        labels_sha256=data.labels_sha256,
        versions=_versions(),
        date=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    write_result(folder, result, ended.log, outcome.predictions)
    return result


def _kept(folder: Path, submission: Submission, data: ContestData, limits: Limits, seed: int, device: str) -> Result:
    """What is there, if it was run just so."""
    result = read_result(folder / FILE)
    for what, then, now in (
        ("submission", result.submission_sha256, submission.sha256),
        ("test labels", result.labels_sha256, data.labels_sha256),
        ("benchmark", result.benchmark, data.benchmark),
        ("limits", result.limits, limits.as_dict()),
        ("seed", result.seed, seed),
        ("device", result.device, device),
    ):
        if then != now:
            raise InvalidOption(
                f"a run is gone on with as it began, {folder} has other {what}; name another --out or remove the folder"
            )
    return result


def _versions() -> dict[str, str]:
    found = {"nasbed": nasbed.__version__, "python": platform.python_version()}
    for name in ("numpy", "torch"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
