"""Run a submission on one dataset after the other, each in isolation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from nasbed.challenge.contest_data import ContestData, open_contest_data
from nasbed.challenge.isolation import Isolation, choose_isolation
from nasbed.challenge.limits import Limits
from nasbed.challenge.predictions import read_reply
from nasbed.challenge.results import FILE, SubmissionResult, read_result, write_result
from nasbed.challenge.sandbox import SandboxExit, run_isolated
from nasbed.challenge.scoring import judge_run
from nasbed.challenge.submission import Submission, open_submission
from nasbed.core.errors import InvalidOption
from nasbed.core.home import home
from nasbed.core.versions import package_versions


def run_challenge(
    submission: str | Path,
    datasets: Sequence[str | Path],
    out: str | Path,
    *,
    limits: Limits,
    seed: int = 0,
    device: str = "cpu",
    isolation: str = "auto",
    on_start: Callable[[str, Isolation], None] = lambda dataset, isolation: None,
    tick: Callable[[float], None] = lambda seconds: None,
    on_result: Callable[[SubmissionResult], None] = lambda result: None,
) -> list[SubmissionResult]:
    """Run a submission on datasets and store the results in ``out``; stored results are not run again.

    A submission that fails gets the lowest score, and the next dataset follows.

    Args:
        submission: The submission, a folder or an archive.
        datasets: The folders of the datasets.
        out: The folder of the results.
        limits: The limits of one run.
        seed: The seed of the submission's process.
        device: The device that the submission trains on.
        isolation: The kind of isolation; the safest that works by default.
        on_start: Called with each dataset that is run, and its isolation.
        tick: Called with the seconds that have passed.
        on_result: Called with each result.
    """
    submission, out = Path(submission), Path(out)
    contests = [open_contest_data(folder) for folder in datasets]
    names = [data.name for data in contests]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None or not names:
        raise InvalidOption(f"a challenge has datasets of different names, got {repeated or 'none'}; rename a folder")
    results = []
    with open_submission(submission, out) as entry:
        applied = None
        hidden = (entry.origin, out, home(), *(data.folder for data in contests))
        for data in contests:
            folder = out / entry.name / data.name
            if (folder / FILE).is_file():
                result = _stored_result(folder, entry, data, limits, seed, device)
            else:
                if applied is None:
                    applied = choose_isolation(isolation, [item.labels_path for item in contests])
                on_start(data.name, applied)
                process = run_isolated(
                    entry, data, isolation=applied, limits=limits, seed=seed, device=device, hidden=hidden, tick=tick
                )
                result = _store_result(folder, entry, data, process, applied, limits, seed, device)
            on_result(result)
            results.append(result)
    return results


def _store_result(
    folder: Path,
    submission: Submission,
    data: ContestData,
    process: SandboxExit,
    isolation: Isolation,
    limits: Limits,
    seed: int,
    device: str,
) -> SubmissionResult:
    """Judge a run and write its result.

    Args:
        folder: The folder of the result.
        submission: The submission.
        data: The dataset.
        process: How the process of the submission ended.
        isolation: How the submission was isolated.
        limits: Its limits.
        seed: The seed of its process.
        device: The device that it trained on.
    """
    if not read_reply(process.sent).started and not process.stopped:
        lines = process.log.decode(errors="replace").strip().splitlines() or [f"status {process.status}"]
        raise InvalidOption(
            f"the system lets a submission start, {submission.name} on {data.name} was not: {lines[-1][:200]}; "
            "try another --isolation"
        )
    outcome = judge_run(process, data, limits)
    result = SubmissionResult(
        submission=submission.name,
        dataset=data.name,
        ended=outcome.status,
        reason=outcome.reason,
        raw=outcome.raw,
        score=outcome.score,
        benchmark=data.benchmark,
        seconds=round(process.seconds, 3),
        peak_memory_bytes=process.peak_bytes,
        parameters=outcome.parameters,
        isolation=isolation.kind,
        isolation_notes=list(isolation.notes),
        limits=limits.as_dict(),
        seed=seed,
        device=device,
        submission_sha256=submission.sha256,
        labels_sha256=data.labels_sha256,
        versions=package_versions("numpy", "torch"),
        date=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    write_result(folder, result, process.log, outcome.predictions)
    return result


def _stored_result(
    folder: Path, submission: Submission, data: ContestData, limits: Limits, seed: int, device: str
) -> SubmissionResult:
    """The stored result; raises if it was run with other settings.

    Args:
        folder: The folder of the result.
        submission: The submission.
        data: The dataset.
        limits: The limits of the run.
        seed: The seed of its process.
        device: The device that it trains on.
    """
    result = read_result(folder / FILE)
    for setting, stored, requested in (
        ("submission", result.submission_sha256, submission.sha256),
        ("test labels", result.labels_sha256, data.labels_sha256),
        ("benchmark", result.benchmark, data.benchmark),
        ("limits", result.limits, limits.as_dict()),
        ("seed", result.seed, seed),
        ("device", result.device, device),
    ):
        if stored != requested:
            raise InvalidOption(
                f"a run resumes with its own settings, {folder} has other {setting}; name another --out or remove "
                "the folder"
            )
    return result
