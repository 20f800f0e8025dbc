"""Campaigns in real processes that are killed, fill the disk, hang, or meet each other."""

from __future__ import annotations

import ast
import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from nasbed.core.errors import BadFile
from nasbed.core.execution import LocalEngine
from nasbed.core.metric import Metric
from nasbed.experiments.campaign import Campaign, FunctionTrainer, Grid, campaign_status, collect, trainer_of
from support.campaign_functions import ADAPTIVE, Row, misbehaving, table
from support.campaign_process import run_command_until
from support.dying_campaign import check_dying_campaign
from support.forks import Fork


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    """What the adaptive campaign finds when nothing happens to it."""
    journal = tmp_path_factory.mktemp("undisturbed") / "journal.sqlite"
    collect(ADAPTIVE, trainer_of(ADAPTIVE), journal)
    return table(journal)


@pytest.fixture
def campaign_file(tmp_path: Path) -> Path:
    path = tmp_path / "campaign.toml"
    path.write_text(ADAPTIVE.toml())
    return path


def started(
    campaign: Path,
    *options: str,
    moment_s: float | None = None,
    file_limit: int | None = None,
    log: Path | None = None,
) -> Fork:
    environment = os.environ | ({"CAMPAIGN_LOG": str(log)} if log else {})
    words = ("nasbed", "collect", str(campaign), *options)
    return Fork(
        partial(run_command_until, moment_s, file_limit),
        words,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def outcome_of(process: Fork) -> tuple[int, str]:
    _, errors = process.communicate(timeout=60)
    return process.wait(), errors


def not_begun(journal: Path) -> bool:
    """Whether the kill came before the first transaction."""
    try:
        table(journal)
    except BadFile as error:
        return "there is no journal" in str(error) or "holds no campaign yet" in str(error)
    return False


@pytest.mark.kill
def test_campaign_killed_at_random_moments_loses_nothing_and_repeats_nothing(
    campaign_file: Path, undisturbed: list[Row], thorough: bool
) -> None:
    """Once in three lives the trials run in processes of their own. Until a result is durable, lives grow longer, as a
    busy machine needs."""
    draw = random.Random(7)
    journal, log = campaign_file.with_suffix(".sqlite"), campaign_file.with_suffix(".log")
    log.touch()
    durable: list[Row] = []
    for kill in range(20):
        if durable and kill >= 3 and not thorough:
            break
        local = kill % 3 == 2
        moment = draw.uniform(0.5, 2.5) if local else draw.uniform(0.0, 0.5)
        moment *= 1 if durable else 1 + kill / 2
        engine = ("--engine", "local", "--processes", "2") if local else ("--engine", "serial")
        size_before = log.stat().st_size
        code, errors = outcome_of(started(campaign_file, "--resume", *engine, moment_s=moment, log=log))
        assert code == -signal.SIGKILL, errors
        evaluated = {ast.literal_eval(line) for line in log.read_text()[size_before:].splitlines()}
        assert not evaluated & {row[0].key for row in durable}, "what was durable was evaluated again"
        now = [] if not durable and not_begun(journal) else table(journal)
        assert set(map(str, durable)) <= set(map(str, now)), "what was durable was lost"
        durable = now
    assert 0 < len(durable) < len(undisturbed)
    collect(ADAPTIVE, trainer_of(ADAPTIVE), journal)
    assert table(journal) == undisturbed


def test_campaign_trainer_that_raises_diverges_or_hangs_has_rows_that_say_so(tmp_path: Path) -> None:
    texts = tuple(
        f"|{first}~0|+|none~0|none~1|+|none~0|none~1|none~2|"
        for first in ("none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3")
    )
    accuracy = Metric("accuracy", split="validation", unit="%", bounds=(0, 100))
    trainer = FunctionTrainer(misbehaving, "nb201", metrics=(accuracy,), timeout_s=2)
    status = collect(Campaign("bad", grid=Grid(texts)), trainer, tmp_path / "bad.sqlite", engine=LocalEngine(2))
    assert dict(status.by_status) == {"ok": 1, "diverged": 1, "failed": 3}
    rows = {row[0].architecture.code[0]: row for row in table(tmp_path / "bad.sqlite")}
    assert rows[0][1:] == ("failed", {}, "RuntimeError: as asked")
    assert rows[1][1:] == ("diverged", {}, "validation_accuracy is nan")
    assert rows[2][1] == "failed" and rows[2][3].startswith("validation_accuracy lies in [0, 100] %, got 1000000000.0")
    assert rows[3][1:] == ("failed", {}, "no result within 2 s; the process was ended")
    assert rows[4][1:] == ("ok", {"validation_accuracy": 50.0}, "")


def test_campaign_refuses_a_journal_that_another_has_open(campaign_file: Path) -> None:
    log = campaign_file.with_suffix(".log")
    first = started(campaign_file, "--engine", "serial", log=log)
    try:
        deadline = time.monotonic() + 30
        while not log.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        code, errors = outcome_of(started(campaign_file, "--resume", "--engine", "serial"))
        journal = campaign_file.with_suffix(".sqlite")
        assert (code, errors) == (
            2,
            f"nasbed: {journal} is written by one campaign at a time, another has it open; wait for it or name another "
            "journal\n",
        )
        assert campaign_status(journal).planned == 412, "looking at it does no harm"
        assert first.poll() is None
    finally:
        first.kill()
        first.communicate()


def test_campaign_interrupted_from_the_keyboard_says_how_to_resume(campaign_file: Path) -> None:
    log = campaign_file.with_suffix(".log")
    process = started(campaign_file, "--engine", "local", "--processes", "1", log=log)
    deadline = time.monotonic() + 30
    while not log.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    code, errors = outcome_of(process)
    journal = campaign_file.with_suffix(".sqlite")
    assert code == 130
    assert errors.startswith("nasbed: interrupted; ") and len(errors.splitlines()) == 1
    assert errors.endswith(f"of 412 results are in {journal}; resume with: nasbed collect {campaign_file} --resume\n")
    assert len(table(journal)) < 412


def check_full_disk_is_reported_and_survived(
    campaign: Path, journal: Path, undisturbed: list[Row], file_limit: int | None = None
) -> None:
    code, errors = outcome_of(started(campaign, "--journal", str(journal), "--engine", "serial", file_limit=file_limit))
    assert code == 2
    assert len(errors.splitlines()) == 1
    assert errors.startswith(f"nasbed: {journal} could not be written, ")
    assert errors.endswith("all that it holds is intact: make room on its disk and resume\n")
    before = table(journal)
    assert 0 < len(before) < len(undisturbed) and before == undisturbed[: len(before)]


def test_campaign_on_a_file_that_may_not_grow_stops_in_one_line(
    campaign_file: Path, tmp_path: Path, undisturbed: list[Row]
) -> None:
    journal = tmp_path / "limited.sqlite"
    check_full_disk_is_reported_and_survived(campaign_file, journal, undisturbed, file_limit=400_000)
    code, errors = outcome_of(started(campaign_file, "--journal", str(journal), "--resume", "--engine", "serial"))
    assert code == 0, errors
    assert table(journal) == undisturbed


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 500 kB, where this process may mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=500k", "tmpfs", str(folder)], capture_output=True, text=True
    )
    if mounted.returncode:
        pytest.skip(f"needs to mount a small disk: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_campaign_on_a_full_disk_stops_in_one_line_and_resumes_with_more_room(
    campaign_file: Path, small_disk: Path, undisturbed: list[Row]
) -> None:
    journal = small_disk / "full.sqlite"
    check_full_disk_is_reported_and_survived(campaign_file, journal, undisturbed)
    subprocess.run(["mount", "-o", "remount,size=20m", str(small_disk)], check=True)
    collect(ADAPTIVE, trainer_of(ADAPTIVE), journal)
    assert table(journal) == undisturbed


@pytest.mark.kill
def test_campaign_worker_killed_in_a_trial_is_replaced_and_the_trial_repeated(tmp_path: Path) -> None:
    check_dying_campaign(tmp_path, LocalEngine(2))
