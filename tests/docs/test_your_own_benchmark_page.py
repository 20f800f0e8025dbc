"""docs/tutorials/your-own-benchmark.md runs as printed, is examples/05 word for word, and leaves what it says it leaves."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest

import nasbed
from nasbed.benchmarks import SurrogateBenchmark, TabularBenchmark
from support.documentation import python_blocks

ROOT = Path(__file__).resolve().parents[2]
BLOCKS = python_blocks("your-own-benchmark")
SHORTER = {
    "fidelities=[4]": "fidelities=[1]",
    "members=5": "members=1",
    'SurrogateRecipe("lgb")': 'SurrogateRecipe("lgb", settings={"rounds": 20})',
    "seeds=10": "seeds=2",
    "300ev": "30ev",
}
"""What takes long on the page, and what runs instead."""


def lines(code: str) -> list[str]:
    return [line for line in code.splitlines() if line.strip()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, thorough: bool) -> Path:
    """What the page leaves, run as a module so that its function has a source to be bound to. It runs as printed in a
    thorough run, otherwise with smaller numbers."""
    place = tmp_path_factory.mktemp("own")
    code = "\n".join(BLOCKS)
    for printed, shorter in () if thorough else SHORTER.items():
        assert printed in code
        code = code.replace(printed, shorter)
    (place / "own_benchmark_page.py").write_text(code)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.syspath_prepend(place)
        importlib.import_module("own_benchmark_page")
    return place


def test_page_is_the_example_and_under_forty_lines() -> None:
    example = (ROOT / "examples" / "05_your_own_benchmark.py").read_text()
    code = lines("\n".join(BLOCKS))
    assert code == lines(example.partition('"""\n')[2])
    assert len(code) < 40


def test_page_collects_a_table_of_real_trainings(folder: Path, thorough: bool) -> None:
    table = nasbed.load(folder / "digits-mlp")
    assert isinstance(table, TabularBenchmark)
    assert table.space.size == 3 * 4 * 3 * 4 * 3 * 2
    assert table.results.manifest.architectures == 120 and table.results.manifest.rows == 120 + 20 * 2
    values = table.cache.values["validation_accuracy"]
    assert values[values == values].max() > (90 if thorough else 50)  # digits are easy, for a good network


def test_page_leaves_a_versioned_benchmark_that_fits(folder: Path, thorough: bool) -> None:
    (path,) = folder.glob("*.snb")
    assert path.name == "snb-digits-mlp-digits-lgb-v0.1.snb"
    benchmark = nasbed.load(path)
    assert isinstance(benchmark, SurrogateBenchmark)
    assert (benchmark.artefact.manifest.figures["r2"] or 0) > 0.5 or not thorough
    untrained = benchmark.space.parse(benchmark.space.format(next(iter(benchmark.space.enumerate()))))
    assert 0 <= benchmark.query(untrained, seed=3)["validation_accuracy"] <= 100


def test_page_leaves_its_reports(folder: Path, thorough: bool) -> None:
    checked = json.loads((folder / "validation" / "numbers.json").read_text())
    assert {fit["label"] for fit in checked["looo"]["fits"]} == {"ls", "re", "rs"}
    assert checked["table_error"]["architectures"] == 20 and checked["paper"] is None
    seeds = 10 if thorough else 2
    compared = json.loads((folder / "comparison" / "numbers.json").read_text())
    assert {method["method"]: method["seeds"] for method in compared["methods"]} == {"rs": seeds, "re": seeds}
    for name in ("validation", "comparison"):
        assert (folder / name / "report.html").stat().st_size > 10_000
