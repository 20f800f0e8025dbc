"""The command line in this process: the same ``main`` as of ``python -m nasbed``, without the second that a process
takes to start and import. Each group of commands has one test besides that starts a real process."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Mapping
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from subprocess import CompletedProcess, run
from unittest.mock import patch

from nasbed.cli import main


def run_command(
    *arguments: object, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> CompletedProcess[str]:
    """What ``nasbed ARGUMENTS`` prints and its exit status, where it runs in this process.

    Args:
        cwd: the working directory while it runs; this process's own by default.
        env: the whole environment while it runs; this process's own by default.
    """
    words = ["nasbed", *map(str, arguments)]
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    status: object = 0
    with (
        patch.object(sys, "argv", words),
        patch.dict(os.environ, os.environ if env is None else env, clear=True),
        chdir(cwd or Path.cwd()),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as exit:
            status = exit.code
    assert status is None or isinstance(status, int)
    return CompletedProcess(words, status or 0, _text(out), _text(err))


def run_process(*arguments: object, cwd: Path | None = None) -> CompletedProcess[str]:
    """What ``nasbed ARGUMENTS`` prints and its exit status, in a process of its own."""
    words = [sys.executable, "-m", "nasbed", *map(str, arguments)]
    return run(words, capture_output=True, text=True, cwd=cwd, timeout=120)


def _text(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()
