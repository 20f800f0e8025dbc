"""How long a newcomer waits: ``import nasbed`` and ``nasbed --help`` in a fresh process, beside a bare interpreter.

Run: python benchmarks/startup.py
"""

from __future__ import annotations

import subprocess
import sys

from timing import best_seconds, report


def run(*command: str) -> None:
    subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    bare = best_seconds(lambda: run("-c", "pass"))
    report("python -c pass", bare)
    report("import nasbed", best_seconds(lambda: run("-c", "import nasbed")), bare)
    report("nasbed --help", best_seconds(lambda: run("-m", "nasbed", "--help")), bare)
    report("nasbed list spaces", best_seconds(lambda: run("-m", "nasbed", "list", "spaces")), bare)
