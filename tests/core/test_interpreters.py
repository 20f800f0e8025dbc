"""Functions called in new interpreters, which never run the script that starts them."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from nasbed.core.errors import BadFile
from nasbed.core.execution.interpreters import map_in_interpreters
from nasbed.results.importers.nats_bench import read_texts

SCRIPT = """
import os
print("script runs")
from nasbed.core.execution.interpreters import map_in_interpreters
print(list(map_in_interpreters(abs, [-1, 2, -3], 2)))
"""


def test_results_come_in_order_from_other_processes() -> None:
    assert list(map_in_interpreters(math.sqrt, [number**2 for number in range(40)], 2)) == list(range(40))


def test_one_process_is_this_one() -> None:
    assert list(map_in_interpreters(lambda number: number + 1, [1, 2], 1)) == [2, 3]


@pytest.mark.thorough
def test_error_of_a_call_is_raised_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="does not hold meta"):
        list(map_in_interpreters(read_texts, [tmp_path, tmp_path], 2))


@pytest.mark.thorough
def test_iterator_that_is_left_early_leaves_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []

    class Recorded(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Recorded)
    results = map_in_interpreters(abs, range(-1000, 0), 2)
    assert list(islice(results, 3)) == [1000, 999, 998]
    results.close()  # type: ignore[attr-defined]
    assert started and all(process.poll() is not None for process in started)


@pytest.mark.thorough
def test_dead_interpreter_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="ended in the middle of its work"):
        list(map_in_interpreters(os._exit, [3, 3], 2))


def test_script_without_a_guard_runs_once(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    process = subprocess.run([sys.executable, "script.py"], capture_output=True, text=True, cwd=tmp_path)
    assert process.stdout == "script runs\n[1, 2, 3]\n", process.stderr
