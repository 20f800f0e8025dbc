"""The command line in this process: the same ``main`` as of ``python -m nasbed``, without the second that a process
takes to start and import. Each group of commands has one test besides that starts a real process."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from subprocess import PIPE, CompletedProcess, run
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


FORKS = """
import gc, json, os, sys
from contextlib import suppress
from importlib import import_module
from nasbed.cli import main
for name in ("torch", "scipy.stats", "pyarrow.parquet", "numba", "sklearn", "lightgbm", "altair", "ConfigSpace"):
    with suppress(ImportError):
        import_module(name)
gc.freeze()
statuses = []
for number, words in enumerate(json.loads(sys.argv[1])):
    if child := os.fork():
        statuses.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        continue
    for stream, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(f"{sys.argv[2]}/{number}.{name}", os.O_CREAT | os.O_WRONLY), stream)
    sys.argv = ["nasbed", *words]
    status = 1
    try:
        main()
    except SystemExit as exit:
        status = exit.code or 0
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
print(json.dumps(statuses))
"""


def run_forks(commands: Sequence[Sequence[str]], cwd: Path, printed: Path) -> list[CompletedProcess[str]]:
    """What each command prints and its exit status, in a process of its own that has imported the libraries and the tree
    of commands, nothing else of nasbed. They are forks of one process, which saves the start of the others.

    Args:
        commands: the words after ``nasbed``.
        cwd: the working directory.
        printed: an empty folder for what they print.
    """
    words = [sys.executable, "-c", FORKS, json.dumps(commands), str(printed)]
    process = run(words, stdout=PIPE, text=True, cwd=cwd, timeout=120, check=True)
    return [
        CompletedProcess(
            command, status, (printed / f"{number}.out").read_text(), (printed / f"{number}.err").read_text()
        )
        for number, (command, status) in enumerate(zip(commands, json.loads(process.stdout), strict=True))
    ]


def _text(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()
