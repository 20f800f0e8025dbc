"""Commands in real processes: what a user's shell shows is what tests of commands see in their own process."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from subprocess import CompletedProcess

import pytest
import typer.main

from nasbed.cli import app
from support.commands import run_command, run_forks

TESTS = Path(__file__).parents[1]
CELL = "|nor_conv_3x3~0|+|nor_conv_3x3~0|avg_pool_3x3~1|+|skip_connect~0|nor_conv_3x3~1|skip_connect~2|"
MINI_CELL = "conv3x3:0/conv3x3:1/output:0,2"
OUT = ("--out", "/dev/null/below")
"""No folder can be there: most commands refuse it before they load anything."""
COMMANDS: dict[tuple[str, ...], int] = {
    ("list", "spaces"): 0,
    ("space", "parse", "nb201", CELL, "--json"): 0,
    ("data", "list"): 0,
    ("doctor", "--quick"): 0,
    ("query", "nb101-mini-cifar10-16-v1.0", MINI_CELL): 0,
    ("results", "info", "no/such"): 2,
    ("report", "no/such", *OUT): 2,
    ("suite", "show", "no-such"): 2,
    ("leaderboard", "verify", "no/such.nbr"): 2,
    ("tune", "no/such", *OUT): 2,
    ("release", "no/such.toml", *OUT): 2,
    ("validate", "no/such", *OUT): 2,
    ("study", "landscape", "no/such-table", *OUT): 2,
}
"""The words of a command, and its exit status."""
if find_spec("torch"):
    COMMANDS |= {("network", "nb201", CELL): 0, ("train", "nb201"): 2}
ELSEWHERE = {
    "challenge": "cli/test_challenge_command.py",
    "collect": "experiments/campaign/test_campaign_faults.py",
    "explore": "explorer/test_explore_command.py",
    "fetch": "cli/test_fetch_commands.py",
    "fit": "cli/test_interruption.py",
    "import": "cli/test_fetch_commands.py",
    "oneshot": "cli/test_oneshot_bonsai_command.py",
    "proxies": "experiments/test_scoring.py",
    "run": "cli/test_interruption.py",
}
"""Commands that other tests start in processes of their own, to kill or interrupt them."""
STARTS = ("subprocess.Popen(", "fork_command(", "Fork(")
"""What starts a process."""


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, ...], CompletedProcess[str]]:
    completed = run_forks(list(COMMANDS), tmp_path_factory.mktemp("work"))
    return dict(zip(COMMANDS, completed, strict=True))


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_a_command_prints_the_same_in_a_process_of_its_own(
    words: tuple[str, ...], processes: dict[tuple[str, ...], CompletedProcess[str]], tmp_path: Path
) -> None:
    status = COMMANDS[words]
    process, in_process = processes[words], run_command(*words, cwd=tmp_path)
    assert (process.returncode, process.stdout, process.stderr) == (
        in_process.returncode,
        in_process.stdout,
        in_process.stderr,
    )
    assert in_process.returncode == status and bool(in_process.stdout) == (status == 0)
    assert status == 0 or (in_process.stderr.startswith("nasbed: ") and in_process.stderr.count("\n") == 1)


def test_every_command_is_started_in_a_process_of_its_own() -> None:
    group = typer.main.get_command(app)
    torch_alone = {"network", "train"}
    assert {words[0] for words in COMMANDS} | torch_alone | set(ELSEWHERE) == set(group.commands)  # type: ignore[attr-defined]
    for command, file in ELSEWHERE.items():
        text = (TESTS / file).read_text()
        assert f'"{command}"' in text and any(start in text for start in STARTS), command
