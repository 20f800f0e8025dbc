"""Run a submission on one dataset after the other, each in isolation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from nasbed.challenge.contest_data import ContestData, open_contest_data
from nasbed.challenge.disguise import Disguise, check_disguise, draw_disguise, running_order
from nasbed.challenge.isolation import Isolation, check_platform, choose_isolation
from nasbed.challenge.limits import Limits
from nasbed.challenge.organiser_secret import organiser_secret
from nasbed.challenge.predictions import read_reply
from nasbed.challenge.results import FILE, SubmissionResult, read_result, write_result
from nasbed.challenge.sandbox import SandboxExit, run_isolated
from nasbed.challenge.scoring import ChallengeOutcome, judge_run
from nasbed.challenge.submission import Submission, open_submission
from nasbed.challenge.time_budget import TimeBudget, used_seconds
from nasbed.challenge.zero import Zero, zero_of
from nasbed.core.errors import InvalidOption
from nasbed.core.home import home
from nasbed.core.packages import package_versions


@dataclass(frozen=True, slots=True)
class ChallengeSettings:
    """What a stored result must agree with to be kept.

    Args:
        limits: The limits of one run.
        total_time_s: The time of all datasets together; no limit by default.
        seed: The seed of the submission's process.
        device: The device that the submission trains on.
        zero: The kind of accuracy that scores 0.
        disguise: How datasets are shown to the submission.
    """

    limits: Limits
    total_time_s: float | None = None
    seed: int = 0
    device: str = "cpu"
    zero: str = "measured"
    disguise: str = "full"


def run_challenge(
    submission: str | Path,
    datasets: Sequence[str | Path],
    out: str | Path,
    settings: ChallengeSettings,
    *,
    isolation: str = "auto",
    on_start: Callable[[str, float, Isolation], None] = lambda dataset, time_s, isolation: None,
    tick: Callable[[float], None] = lambda seconds: None,
    on_result: Callable[[SubmissionResult], None] = lambda result: None,
) -> list[SubmissionResult]:
    """Run a submission on datasets and store the results in ``out``; stored results are not run again.

    A submission that fails gets the lowest score, and the next dataset follows. Results are in the order of
    ``datasets``, which is not the order that they are run in.

    Args:
        submission: The submission, a folder or an archive.
        datasets: The folders of the datasets.
        out: The folder of the results.
        settings: Limits, seed, device, score and disguise.
        isolation: The kind of isolation; the safest that works by default.
        on_start: Called with each dataset that is run, its seconds and its isolation.
        tick: Called with the seconds that have passed.
        on_result: Called with each result.
    """
    out = Path(out)
    check_platform(isolation)
    check_disguise(settings.disguise)
    contests = [open_contest_data(folder) for folder in datasets]
    names = [data.name for data in contests]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None or not names:
        raise InvalidOption(f"a challenge has datasets of different names, got {repeated or 'none'}; rename a folder")
    zeros = {data.name: zero_of(data, settings.zero) for data in contests}
    results = {}
    with open_submission(submission, out) as entry:
        runs = out / entry.name
        for data in contests:
            if (runs / data.name / FILE).is_file():
                results[data.name] = _stored_result(runs / data.name, entry, data, zeros[data.name], settings)
                on_result(results[data.name])
        waiting = [data for data in contests if data.name not in results]
        if waiting:
            applied = choose_isolation(isolation, [data.labels_path for data in contests])
            secret = organiser_secret(out)
            hidden = (entry.origin, out, home(), *(data.folder for data in contests))
            budget = TimeBudget(settings.limits, total_s=settings.total_time_s, used_s=used_seconds(runs))
            for data in running_order(settings.disguise, secret, entry, waiting):
                run = _DatasetRun(entry, data, draw_disguise(settings.disguise, secret, entry, data), applied, settings)
                result = run.store(runs / data.name, zeros[data.name], budget.allowance(), hidden, on_start, tick)
                budget.use(result.seconds)
                results[data.name] = result
                on_result(result)
    return [results[name] for name in names]


@dataclass(frozen=True, slots=True)
class _DatasetRun:
    """A submission on one dataset, about to start."""

    submission: Submission
    data: ContestData
    disguise: Disguise
    isolation: Isolation
    settings: ChallengeSettings

    def store(
        self,
        folder: Path,
        zero: Zero,
        time_s: float,
        hidden: tuple[Path, ...],
        on_start: Callable[[str, float, Isolation], None],
        tick: Callable[[float], None],
    ) -> SubmissionResult:
        """Run the submission, judge it and write its result.

        Args:
            folder: The folder of the result.
            zero: The accuracy that scores 0.
            time_s: The time of this dataset; without any, the submission is not run and fails.
            hidden: Paths that the submission must not see.
            on_start: Called before the run.
            tick: Called with the seconds that have passed.
        """
        if time_s:
            on_start(self.data.name, time_s, self.isolation)
            limits = replace(self.settings.limits, time_s=time_s)
            process = self._process(limits, hidden, tick)
            outcome = self._outcome(process, zero, limits)
        else:
            process = SandboxExit("time", 0, 0.0, 0, b"", b"")
            outcome = ChallengeOutcome("time", f"no time was left of {self.settings.total_time_s:g} s for all datasets")
        result = SubmissionResult(
            submission=self.submission.name,
            dataset=self.data.name,
            ended=outcome.status,
            reason=outcome.reason,
            raw=outcome.raw,
            score=outcome.score,
            benchmark=zero.accuracy,
            seconds=round(process.seconds, 3),
            peak_memory_bytes=process.peak_bytes,
            parameters=outcome.parameters,
            isolation=self.isolation.kind,
            isolation_notes=list(self.isolation.notes),
            limits=self.settings.limits.as_dict(),
            seed=self.settings.seed,
            device=self.settings.device,
            submission_sha256=self.submission.sha256,
            labels_sha256=self.data.labels_sha256,
            versions=package_versions("numpy", "torch"),
            date=datetime.now(UTC).isoformat(timespec="seconds"),
            zero=zero.kind,
            zero_source=zero.source,
            data_sha256=self.data.sha256,
            codename=self.disguise.codename,
            disguise=self.disguise.kind,
            time_s=time_s,
            total_time_s=self.settings.total_time_s,
        )
        write_result(folder, result, process.log, outcome.predictions, self.disguise.key(self.data.name))
        return result

    def _process(self, limits: Limits, hidden: tuple[Path, ...], tick: Callable[[float], None]) -> SandboxExit:
        return run_isolated(
            self.submission,
            self.data,
            self.disguise,
            isolation=self.isolation,
            limits=limits,
            seed=self.settings.seed,
            device=self.settings.device,
            hidden=hidden,
            tick=tick,
        )

    def _outcome(self, process: SandboxExit, zero: Zero, limits: Limits) -> ChallengeOutcome:
        if not read_reply(process.sent).started and not process.stopped:
            lines = process.log.decode(errors="replace").strip().splitlines() or [f"status {process.status}"]
            raise InvalidOption(
                f"the system lets a submission start, {self.submission.name} on {self.data.name} was not: "
                f"{lines[-1][:200]}; try another --isolation"
            )
        outcome = judge_run(process, self.data, limits, self.disguise, benchmark=zero.accuracy)
        if process.stopped == "time" and limits.time_s < self.settings.limits.time_s:
            rest = f", what was left of {self.settings.total_time_s:g} s for all datasets"
            return replace(outcome, reason=outcome.reason + rest)
        return outcome


def _stored_result(
    folder: Path, submission: Submission, data: ContestData, zero: Zero, settings: ChallengeSettings
) -> SubmissionResult:
    """The stored result; raises if it was run with other settings.

    Args:
        folder: The folder of the result.
        submission: The submission.
        data: The dataset.
        zero: The accuracy that scores 0.
        settings: The settings of the run.
    """
    result = read_result(folder / FILE)
    for setting, stored, requested in (
        ("submission", result.submission_sha256, submission.sha256),
        ("test labels", result.labels_sha256, data.labels_sha256),
        ("arrays", result.data_sha256, data.sha256),
        ("benchmark", (result.benchmark, result.zero), (zero.accuracy, zero.kind)),
        ("limits", result.limits, settings.limits.as_dict()),
        ("total time", result.total_time_s, settings.total_time_s),
        ("seed", result.seed, settings.seed),
        ("device", result.device, settings.device),
        ("disguise", result.disguise, settings.disguise),
    ):
        if stored != requested:
            raise InvalidOption(
                f"a run resumes with its own settings, {folder} has other {setting}; name another --out or remove "
                "the folder"
            )
    return result
