"""Test modules whose assertions are rewritten once in a fresh clone, not by each of pytest's workers."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from _pytest.assertion import rewrite


def rewrite_share(config: pytest.Config) -> None:
    """Rewrite one worker's share of the test modules that nobody has rewritten yet.

    All workers collect all modules in one order. Without shares they rewrite each module at the same time, which is
    half of what collecting costs.
    """
    worker = getattr(config, "workerinput", None)
    if worker is None or sys.dont_write_bytecode:
        return
    modules = sorted(path for folder in config.args for path in Path(folder).resolve().rglob("test_*.py"))
    for path in modules[int(worker["workerid"].removeprefix("gw")) :: worker["workercount"]]:
        rewritten = rewrite.get_cache_dir(path) / (path.stem + rewrite.PYC_TAIL)
        if not rewritten.exists() and rewrite.try_makedirs(rewritten.parent):
            source, code = rewrite._rewrite_test(path, config)
            rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, source, rewritten)
