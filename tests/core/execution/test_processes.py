"""Processes that follow the one that started them."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import time
from concurrent.futures import BrokenExecutor, CancelledError
from pathlib import Path

import pytest

from nasbed.core.execution.processes import ProcessPool

SCRIPT = """
import os, time
from nasbed.core.execution.processes import ProcessPool
if __name__ == "__main__":
    pool = ProcessPool(1, os.getpid)
    print(pool.submit(os.getpid).result(), flush=True)
    pool.submit(time.sleep, 60)
    time.sleep(60)
"""


def test_process_pool_gives_results_and_errors_in_order() -> None:
    pool = ProcessPool(2, os.getpid)
    assert pool.map(abs, [-1, 2, -3]) == [1, 2, 3]
    with pytest.raises(ValueError, match="invalid literal"):
        pool.map(int, ["1", "two"])
    assert pool.submit(divmod, 7, 2).result() == (3, 1), "an error costs no process"
    pool.close()


def test_process_pool_ends_in_the_middle_of_work() -> None:
    before = set(multiprocessing.active_children())
    pool = ProcessPool(1, os.getpid)
    pool.submit(os.getpid).result()
    sleeping = pool.submit(time.sleep, 60)
    waiting = pool.submit(time.sleep, 60)
    pool.close()
    assert set(multiprocessing.active_children()) == before
    for call in (sleeping, waiting):
        with pytest.raises(CancelledError):
            call.result(timeout=0)


def test_process_pool_whose_process_dies_is_broken() -> None:
    pool = ProcessPool(1, os.getpid)
    for _ in range(2):
        with pytest.raises(BrokenExecutor, match="a process ended in the middle of its work"):
            pool.submit(os._exit, 3).result()
    pool.close()


@pytest.mark.kill
def test_process_pool_of_a_killed_process_ends(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    process = subprocess.Popen([sys.executable, str(tmp_path / "script.py")], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    child = Path("/proc") / process.stdout.readline().strip()
    assert (child / "stat").exists()
    process.kill()
    process.communicate()
    deadline = time.monotonic() + 20
    while _runs(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _runs(child)


def _runs(process: Path) -> bool:
    """Whether it lives; a zombie does not."""
    try:
        return (process / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
