"""What a command that needs an extra says where only the core is installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support.core_install import core_environment


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("data baseline digits --epochs 1", "a network needs torch; get it with: pip install 'nasbed[torch]'"),
        ("challenge baseline digits", "a network needs torch; get it with: pip install 'nasbed[torch]'"),
        ("run --warm-start swap:5 --seeds 1 --out runs", "swap needs scores, and nb201 has none in closed form"),
    ],
)
def test_missing_extra_is_one_line(command: str, words: str, tmp_path: Path) -> None:
    environment = core_environment(tmp_path)
    line = [sys.executable, "-m", "nasbed", *command.split()]
    run = subprocess.run(line, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert run.returncode == 2 and words in run.stderr and len(run.stderr.splitlines()) == 1
