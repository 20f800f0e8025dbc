"""Ctrl-C in the middle of a command: what is kept and how to resume, exit status 130, at once, and no process left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from nasbed.cli import app
from support.surrogates import write_evaluations

MINI = "nb101-mini-cifar10-16-v1.0"
LONG_S = 30.0
"""A command waits for its first result and for its end so long on a busy machine, and no longer; what is interrupted
here would run for minutes."""
FITTED = ("--set", "rounds=500000", "--set", "early_stopping_rounds=0", "--ensemble", "4", "--processes", "2")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_evaluations(tmp_path_factory.mktemp("tables") / "made-up", count=150).folder)


def interrupted(arguments: list[str], has_begun: Callable[[int], bool]) -> tuple[int, str]:
    """Exit status and standard error of a command that gets what a terminal sends on Ctrl-C, it and all processes that
    it has started, once it has begun."""
    with subprocess.Popen(
        [sys.executable, "-m", "nasbed", *arguments], stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        deadline = time.monotonic() + LONG_S
        while not has_begun(process.pid):
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=LONG_S)
    deadline = time.monotonic() + LONG_S
    while _living(process.pid):
        assert time.monotonic() < deadline, "a process was left behind"
        time.sleep(0.05)
    return process.returncode, errors


def _living(group: int) -> list[str]:
    """The processes of a group that run."""
    leftovers = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, owner = path.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(owner) == group and state != "Z":
            leftovers.append(path.parent.name)
    return leftovers


def test_interrupted_run_says_how_many_runs_are_kept(tmp_path: Path) -> None:
    out = tmp_path / "runs"
    arguments = ["run", MINI, "--optimizers", "rs,re", "--seeds", "100000", "--processes", "1", "--out", str(out)]
    status, errors = interrupted(arguments, lambda _: len(list(out.glob("runs/*.npz"))) > 1)
    stored = len(list(out.glob("runs/*.npz")))
    assert (status, errors) == (
        130,
        f"nasbed: 200000 runs on {MINI}, 300ev each\n"
        f"nasbed: interrupted; {stored} runs are kept in {out}; the same command resumes from there\n",
    )


def test_interrupted_fit_ends_and_its_processes_say_nothing(table: str, tmp_path: Path) -> None:
    """Its two processes are in their imports, with a third that Python starts for them."""
    out = tmp_path / "mine.snb"
    status, errors = interrupted(["fit", table, *FITTED, "--out", str(out)], lambda process: len(_living(process)) >= 4)
    assert (status, errors) == (130, "nasbed: interrupted; nothing was kept; run the same command again\n")
    assert not list(tmp_path.iterdir())


def test_second_interrupt_ends_work_that_does_not_stop() -> None:
    code = (
        "import time\n"
        "from nasbed.terminal.interruption import forced_end, on_interrupt\n"
        "with forced_end():\n"
        "    on_interrupt(lambda: 'all of it is kept')\n"
        "    for line in ('ready', 'stuck', 'beyond'):\n"
        "        try:\n"
        "            print(line, flush=True)\n"
        "            time.sleep(60)\n"
        "        except KeyboardInterrupt:\n"
        "            pass\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        for line in ("ready\n", "stuck\n"):
            assert process.stdout.readline() == line
            process.send_signal(signal.SIGINT)
        assert process.stderr.readline() == "nasbed: interrupted; all of it is kept\n"
        assert process.wait(timeout=LONG_S) == 130


NOTHING = "nothing was kept; run the same command again"


@pytest.mark.parametrize(
    ("arguments", "work", "statement"),
    [
        (["run", MINI], "experiments.compare.compare", "no run was finished; run the same command again"),
        (["tune", "TABLE"], "experiments.tuning.tune", NOTHING),
        (["fit", "TABLE"], "surrogates.making.make_surrogate", NOTHING),
        (["fit", "TABLE", "--tune", "5"], "experiments.tuning.tune", NOTHING),
        (["validate", "TABLE", "--parts", "fits"], "studies.validation.study.validate_results", NOTHING),
        (["study", "landscape", MINI], "studies.landscape.study.landscape_study", NOTHING),
        (["study", "methods", MINI], "studies.methods.study.methods_study", "no run was finished"),
        (["study", "zero-cost"], "studies.zero_cost.study.zero_cost_study", NOTHING),
        (["proxies", "score", "--space", "nb201"], "experiments.scoring.score_architectures", "nothing was scored"),
        (["proxies", "evaluate"], "evaluation.proxies.judge_proxies", NOTHING),
        (["oneshot", "darts"], "cli.oneshot.search.search", NOTHING),
        (["train", "nb201", "--sample-seed", "0"], "training.loop.train", "nothing was kept; with --checkpoint FILE"),
        (["data", "prepare", "mnist"], "datasets.prepare", "no dataset was written, downloads are kept"),
        (["import", "nb101", "no-file"], "results.importing.import_tables", "incomplete tables were removed"),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, list) else "",
)
def test_every_long_command_says_what_is_kept(
    arguments: list[str],
    work: str,
    statement: str,
    table: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def pressed(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    if arguments[0] in ("oneshot", "train", "proxies"):
        pytest.importorskip("torch", reason="needs torch")
    monkeypatch.setattr(f"nasbed.{work}", pressed)
    monkeypatch.chdir(tmp_path)
    out = [] if arguments[0] in ("train", "data", "import") else ["--out", "out.parquet"]
    result = CliRunner().invoke(app, [*(table if word == "TABLE" else word for word in arguments), *out])
    assert result.exit_code == 130, result.output
    assert result.stderr.startswith(f"nasbed: interrupted; {statement}") and result.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())
