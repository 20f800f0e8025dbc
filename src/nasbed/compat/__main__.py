"""``python -m nasbed.compat [--replace] script.py args…``: run a script with the drop-ins installed."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import NoReturn

from nasbed.compat import install
from nasbed.core.errors import NasbedError

USAGE = "python -m nasbed.compat [--replace] script.py args…"


def main(arguments: list[str]) -> None:
    """Run the script as Python itself would: as ``__main__``, with its own arguments and its folder on the path.

    Errors of the script pass through; an error in the call is one line and exit status 2.
    """
    replace = arguments[:1] == ["--replace"]
    script, *script_arguments = arguments[replace:] or [""]
    if script in ("-h", "--help"):
        print(f"{__doc__}\n\nusage: {USAGE}")
        return
    if not Path(script).is_file():
        _refuse(f"a script is a file, got {script!r}" if script else "no script is named")
    sys.argv = [script, *script_arguments]
    if not sys.flags.safe_path:
        sys.path[0] = str(Path(script).resolve().parent)
    try:
        install(replace=replace)
    except NasbedError as error:
        _refuse(str(error))
    runpy.run_path(script, run_name="__main__")


def _refuse(reason: str) -> NoReturn:
    print(f"nasbed.compat: {reason}; usage: {USAGE}", file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    main(sys.argv[1:])
