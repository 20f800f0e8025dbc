"""Commands in real processes: what a user's shell shows is what tests of commands see in their own process.

Groups that are missing here start processes elsewhere, to kill or interrupt them: challenge, collect, fetch, fit,
import, oneshot, proxies, run.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from support.commands import run_command, run_process

CELL = "|nor_conv_3x3~0|+|nor_conv_3x3~0|avg_pool_3x3~1|+|skip_connect~0|nor_conv_3x3~1|skip_connect~2|"
needs_torch = pytest.mark.skipif(not find_spec("torch"), reason="needs torch")


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("list", "spaces"), 0),
        (("space", "parse", "nb201", CELL, "--json"), 0),
        (("data", "list"), 0),
        (("results", "info", "no/such"), 2),
        (("study", "landscape", "no/such-table", "--out", "report"), 2),
        pytest.param(("network", "nb201", CELL), 0, marks=needs_torch),
        pytest.param(("train", "nb201"), 2, marks=needs_torch),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_a_command_prints_the_same_in_a_process_of_its_own(
    arguments: tuple[str, ...], status: int, tmp_path: Path
) -> None:
    process, in_process = run_process(*arguments, cwd=tmp_path), run_command(*arguments, cwd=tmp_path)
    assert (process.returncode, process.stdout, process.stderr) == (
        in_process.returncode,
        in_process.stdout,
        in_process.stderr,
    )
    assert in_process.returncode == status and bool(in_process.stdout) == (status == 0)
    assert status == 0 or (in_process.stderr.startswith("nasbed: ") and in_process.stderr.count("\n") == 1)
