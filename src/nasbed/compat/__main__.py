"""``python -m nasbed.compat script.py args…`` or ``-m package.module args…``: run it with the drop-ins installed."""

from __future__ import annotations

import os
import runpy
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

from nasbed.compat import install
from nasbed.compat.nasbench301._stand_in import VARIABLE
from nasbed.core.errors import NasbedError

USAGE = "python -m nasbed.compat [--replace] [--nasbench301 SURROGATE] (script.py | -m package.module) args…"


def main(arguments: list[str]) -> None:
    """Run the script or module as Python itself would: as ``__main__``, with its own arguments, and with the script's
    folder, or for a module the current one, on the path.

    ``--nasbench301`` names the surrogate that answers where a script asks for published models that are not there.
    Errors of the script pass through; an error in the call is one line and exit status 2.
    """
    replace = False
    while arguments[:1] in (["--replace"], ["--nasbench301"]):
        if arguments[0] == "--replace":
            replace, arguments = True, arguments[1:]
        elif len(arguments) > 1:
            os.environ[VARIABLE], arguments = arguments[1], arguments[2:]
        else:
            _refuse("--nasbench301 takes the id or path of a surrogate")
    script, *script_arguments = arguments or [""]
    if script in ("-h", "--help"):
        print(f"{__doc__}\n\nusage: {USAGE}")
    elif script == "-m":
        _run_module(script_arguments, replace=replace)
    else:
        _run_script(script, script_arguments, replace=replace)


def _run_script(script: str, arguments: list[str], *, replace: bool) -> None:
    if not Path(script).is_file():
        _refuse(f"a script is a file, got {script!r}" if script else "no script is named")
    sys.argv = [script, *arguments]
    if not sys.flags.safe_path:
        sys.path[0] = str(Path(script).resolve().parent)
    _install(replace=replace)
    runpy.run_path(script, run_name="__main__")


def _run_module(arguments: list[str], *, replace: bool) -> None:
    name, *sys.argv[1:] = arguments or [""]
    if not sys.flags.safe_path:
        sys.path[0] = str(Path.cwd())
    _install(replace=replace)
    if not _is_module(name):
        _refuse(f"-m takes the name of a module that can be run, got {name!r}")
    runpy.run_module(name, run_name="__main__", alter_sys=True)


def _is_module(name: str) -> bool:
    """Whether it can be run: a module, or a package with a ``__main__``."""
    try:
        spec = find_spec(name)
        is_package = spec is not None and spec.submodule_search_locations is not None
        return find_spec(f"{name}.__main__") is not None if is_package else spec is not None
    except (ImportError, ValueError):
        return False


def _install(*, replace: bool) -> None:
    try:
        install(replace=replace)
    except NasbedError as error:
        _refuse(str(error))


def _refuse(reason: str) -> NoReturn:
    print(f"nasbed.compat: {reason}; usage: {USAGE}", file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    main(sys.argv[1:])
