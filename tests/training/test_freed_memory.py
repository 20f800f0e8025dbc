"""Memory that a training frees, as the system counts it."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="memory is kept where libc is glibc"),
    pytest.mark.skipif(sys.platform != "linux", reason="pages are counted by Linux"),
]

SCRIPT = """
import resource, numpy, sys
from nasbed.training.placement.freed_memory import keep_freed_memory
if sys.argv[1] == "keep":
    assert keep_freed_memory() and keep_freed_memory()
for step in range(20):
    if step == 10:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    maps = [numpy.ones(2**20) for _ in range(8)]  # 64 MiB in pieces of 8
    del maps
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def pages_of_ten_steps(mode: str) -> int:
    """How many pages the system handed out in ten equal steps, after ten others."""
    run = subprocess.run([sys.executable, "-c", SCRIPT, mode], capture_output=True, text=True, check=True, timeout=60)
    return int(run.stdout)


def test_kept_memory_is_taken_again_without_new_pages() -> None:
    """Ten steps write 64 MiB each; that is 163 840 pages of 4 KiB if each step gets new ones."""
    assert pages_of_ten_steps("keep") < 1000
