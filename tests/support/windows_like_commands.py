"""Commands in one process, each line of the first argument one of them: prints what each printed and its status."""

from __future__ import annotations

import io
import shlex
import sys
from contextlib import redirect_stderr, redirect_stdout


def run_commands(lines: list[str]) -> None:
    from nasbed.cli import main

    for line in lines:
        text, status = io.StringIO(), 0
        sys.argv = ["nasbed", *shlex.split(line)]
        with redirect_stdout(text), redirect_stderr(text):
            try:
                main()
            except SystemExit as exit:
                status = int(exit.code or 0)
        print(f"status {status}\n{text.getvalue()}", end="\0", flush=True)


if __name__ == "__main__":
    run_commands(sys.argv[1].splitlines())
