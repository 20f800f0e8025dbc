"""The command line in this process: the same ``main`` as of ``python -m nasbed``, without the second that a process
takes to start and import. Each group of commands has one test besides that starts a real process."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from subprocess import PIPE, CompletedProcess
from unittest.mock import patch

from nasbed.cli import main
from support.forks import fork_command


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


def run_forks(commands: Sequence[Sequence[str]], cwd: Path) -> list[CompletedProcess[str]]:
    """What each command prints and its exit status, in a process of its own that has imported the libraries and the tree
    of commands, nothing else of nasbed.

    Args:
        commands: the words after ``nasbed``.
        cwd: the working directory.
    """
    completed = []
    for words in commands:
        with fork_command(*words, cwd=cwd, stdout=PIPE, stderr=PIPE) as process:
            output, errors = process.communicate(timeout=120)
        completed.append(CompletedProcess(words, process.wait(), output, errors))
    return completed


def _text(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()
