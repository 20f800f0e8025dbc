"""How long a newcomer waits: ``import nasbed``, ``nasbed --help`` and a small ``nasbed run`` in a fresh process, beside
a bare interpreter. The first line and the standings of the run come before its page is written.

Run: python benchmarks/startup.py
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from timing import best_seconds, report


def run(*command: str) -> None:
    subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL)


def small_run(*options: str) -> dict[str, float]:
    """Seconds until the first line, the standings and the end of a run of ten evaluations."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["-m", "nasbed", "run", "--optimizers", "rs", "--seeds", "2", "--budget", "10ev", *options]
        moments: dict[str, float] = {}
        start = perf_counter()
        process = subprocess.Popen(
            [sys.executable, *command, "--out", str(Path(folder) / "runs")],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert process.stdout is not None
        for line in process.stdout:
            moments.setdefault("first line", perf_counter() - start)
            if line.startswith("method"):
                moments["standings"] = perf_counter() - start
        assert process.wait() == 0
        return moments | {"end": perf_counter() - start}


if __name__ == "__main__":
    bare = best_seconds(lambda: run("-c", "pass"))
    report("python -c pass", bare)
    report("import nasbed", best_seconds(lambda: run("-c", "import nasbed")), bare)
    report("nasbed --help", best_seconds(lambda: run("-m", "nasbed", "--help")), bare)
    report("nasbed list spaces", best_seconds(lambda: run("-m", "nasbed", "list", "spaces")), bare)
    for options in ((), ("--figures",)):
        moments = [small_run(*options) for _ in range(3)]
        for moment in moments[0]:
            best = min(times[moment] for times in moments)
            report(f"{' '.join(('nasbed run', *options))}, {moment}", best, bare)
