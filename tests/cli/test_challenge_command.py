"""``nasbed challenge`` as a user meets it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from subprocess import CompletedProcess
from uuid import uuid4

import pytest

from support.commands import run_command
from support.submissions import processes_with, write_dataset, write_submission

COMMAND = (sys.executable, "-m", "nasbed", "challenge")


def run(*arguments: str) -> CompletedProcess[str]:
    return run_command("challenge", *arguments)


@pytest.fixture
def datasets(tmp_path: Path) -> list[str]:
    return [str(write_dataset(tmp_path / name)) for name in ("birds", "bees")]


def test_challenge_run_and_score_from_end_to_end(tmp_path: Path, datasets: list[str]) -> None:
    learn = "metadata['class_of'] = dict(zip(train_x[:, 0, 0, 0].tolist(), train_y.tolist()))"
    right = write_submission(
        tmp_path / "right",
        processor_init=learn,
        trainer_init="self.class_of = metadata['class_of']",
        predict="return [self.class_of[pixel] for pixel in test[:, 0, 0, 0].tolist()]",
    )
    wrong = write_submission(tmp_path / "wrong", search="1 / 0")
    runs, page = tmp_path / "runs", tmp_path / "leaderboard"
    command = ("run", str(right), "--datasets", *datasets, "--out", str(runs), "--timeout", "60")
    outcome = run(*command)
    assert outcome.returncode == 2 and "nasbed challenge baseline" in outcome.stderr and not runs.exists()
    outcome = run(*command, "--zero", "paper")
    assert outcome.returncode == 0, outcome.stderr
    assert "not measured on its bytes" in outcome.stderr
    assert "birds: score 10.000, accuracy 100.00 % (score 0 is 20.00 %, paper)" in outcome.stdout
    assert "total 20.000 on 2 datasets" in outcome.stdout
    assert "isolation: " in outcome.stderr
    outcome = run(
        "run",
        str(wrong),
        "--datasets",
        datasets[0],
        "--datasets",
        datasets[1],
        "--out",
        str(runs),
        "--timeout",
        "60",
        "--zero",
        "paper",
        "--json",
    )
    assert outcome.returncode == 0, outcome.stderr
    assert [(result["dataset"], result["score"], result["ended"]) for result in json.loads(outcome.stdout)] == [
        ("birds", -10, "crash"),
        ("bees", -10, "crash"),
    ]
    outcome = run("score", str(runs), "--out", str(page))
    assert outcome.returncode == 0, outcome.stderr
    lines = [line.split() for line in outcome.stdout.splitlines()]
    assert lines[0] == ["place", "submission", "bees", "birds", "total"]
    assert lines[1][:2] == ["1", "right"] and lines[1][-1] == "20.000"
    assert lines[2][:2] == ["2", "wrong"] and lines[2][-1] == "-20.000"
    assert lines[3] == ["–", "score", "0", "20.00", "%", "paper", "20.00", "%", "paper", "–"]
    assert "ZeroDivisionError: division by zero, at NAS.search" in outcome.stdout
    assert "not measured on these bytes" in outcome.stderr
    numbers = json.loads((page / "numbers.json").read_text())
    assert [result["total"] for result in numbers["standings"]] == [20, -20]
    assert "ZeroDivisionError" in (page / "report.html").read_text()


@pytest.mark.kill
@pytest.mark.sandbox
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
def test_challenge_run_that_is_ended_leaves_nothing_running(
    tmp_path: Path, datasets: list[str], ending: signal.Signals
) -> None:
    token = f"token{uuid4().hex}"
    train = f"""
    import subprocess, sys, time
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)", "{token}"], start_new_session=True)
    time.sleep(1000)
    """
    entry = write_submission(tmp_path / "entry", train=train)
    runs = tmp_path / "runs"
    command = [*COMMAND, "run", str(entry), "--datasets", *datasets, "--out", str(runs), "--zero", "paper"]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        deadline = time.monotonic() + 60
        while not _is_there(token):
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(ending)
        _, error_text = process.communicate(timeout=30)
    assert processes_with(token) == []
    assert not list(runs.rglob("result.json"))
    if ending == signal.SIGINT:
        assert process.returncode == 130 and "the same command continues" in error_text
        assert not list(tmp_path.glob("nasbed-challenge-*"))


def _is_there(token: str) -> bool:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if token.encode() in path.read_bytes():
                return True
        except OSError:
            continue
    return False


def test_challenge_refuses_bad_input_in_one_line(tmp_path: Path, datasets: list[str]) -> None:
    entry, out = str(write_submission(tmp_path / "entry")), str(tmp_path / "out")
    empty = tmp_path / "empty"
    empty.mkdir()
    paper = ("--zero", "paper")
    for arguments, word in (
        (("run", str(empty), "--datasets", datasets[0], "--out", out, *paper), "a submission has data_processor.py"),
        (("run", str(tmp_path / "no"), "--datasets", datasets[0], "--out", out, *paper), "does not exist"),
        (("run", entry, "--datasets", str(empty), "--out", out), "a dataset has six arrays"),
        (("run", entry, "--datasets", datasets[0], datasets[0], "--out", out), "different names"),
        (("run", entry, "--datasets", datasets[0], "--out", out, "--device", "tpu"), "a device is"),
        (("run", entry, "--datasets", datasets[0], "--out", out, "--isolation", "jail", *paper), "isolation is auto"),
        (("run", entry, "--datasets", datasets[0], "--out", out, "--zero", "nul"), "a zero is measured or paper"),
        (("run", entry, "--datasets", datasets[0], "--out", out, "--disguise", "hat"), "a disguise is full or none"),
        (("baseline", str(empty)), "a dataset has six arrays"),
        (("score", str(empty)), "has no result"),
    ):
        process = run(*arguments)
        assert process.returncode == 2 and not process.stdout, process
        assert word in process.stderr and process.stderr.count("\n") == 1 and "Traceback" not in process.stderr
    assert not (tmp_path / "out").exists()
