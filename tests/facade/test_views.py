"""What a notebook shows: cards of facts in which every text is escaped, charts that fetch nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nasbed
from nasbed.drawing.notebooks import NotebookChart
from nasbed.results import write_results
from nasbed.terminal.notebook_bars import NotebookBars
from support.runs import Formula
from support.surrogates import write_evaluations

TABLE = "nb201-chesseract-v1.0"
HOSTILE = "<script>alert(1)</script><img src=x onerror='alert(2)'>"
PLAIN = {*("div", "p", "strong", "table", "thead", "tbody", "tr", "th", "td", "pre", "progress")}
DRAWN = {*("svg", "g", "rect", "path", "text", "tspan")}


class Tags(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        assert not any(name.startswith("on") for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def read(html: str | None) -> Tags:
    assert html is not None
    return Tags(html)


@pytest.fixture(scope="module")
def runs() -> nasbed.Runs:
    return nasbed.compare(TABLE, ["rs", "re"], seeds=2, budget="20ev", progress=False)


def test_architecture_is_drawn_with_its_text_and_cost() -> None:
    arch = nasbed.Architecture("nb201", (3,) * 6)
    card = read(arch._repr_html_())
    assert card.tags <= PLAIN | DRAWN and "svg" in card.tags
    assert card.texts.count("nor_conv_3x3") == 6
    assert nasbed.space("nb201").format(arch) in card.texts
    assert "1\u2009531\u2009546" in card.texts, "the 1.531546 million parameters that NAS-Bench-201 publishes"


def test_architecture_that_cannot_be_drawn_is_left_to_its_repr() -> None:
    assert nasbed.Architecture("nb201", (9,) * 6)._repr_html_() is None
    assert nasbed.Architecture(HOSTILE, (1,))._repr_html_() is None


def test_benchmark_says_what_it_is_and_how_to_query() -> None:
    card = read(nasbed.load(TABLE)._repr_html_())
    assert {"15\u2009625", "maximize validation_accuracy [%]", "test_accuracy [%]", "8"} <= set(card.texts)
    benchmark = Formula()
    benchmark.name = HOSTILE
    assert read(benchmark._repr_html_()).tags <= PLAIN


def test_results_show_facts_and_first_rows(tmp_path: Path) -> None:
    source = write_evaluations(tmp_path / "source")
    about = replace(source.about, dataset=HOSTILE, source=HOSTILE, licence=HOSTILE)
    rows = [replace(batch, method=np.full(len(batch), HOSTILE)) for batch in source.batches()]
    results = write_results(tmp_path / "copy", about, rows)
    card = read(results._repr_html_())
    assert card.tags <= PLAIN
    assert "".join(card.texts).count(HOSTILE) == 3 + 5, "three facts, and a method in each of the first five rows"


def test_runs_show_their_standings(runs: nasbed.Runs) -> None:
    card = read(runs._repr_html_())
    assert card.tags <= PLAIN and "20ev a run, 1 worker" in card.texts
    assert {text.split()[0] for text in card.texts if text.endswith(" *") or text in ("rs", "re")} == {"rs", "re"}
    renamed = [replace(run, method=HOSTILE) if run.method == "rs" else run for run in runs.runs]
    renamed[0] = replace(renamed[0], error=HOSTILE)
    card = read(replace(runs, runs=renamed)._repr_html_())
    assert card.tags <= PLAIN and HOSTILE in "".join(card.texts)


def test_runs_without_their_benchmark_are_left_to_their_repr(runs: nasbed.Runs) -> None:
    lost = replace(runs, setup=replace(runs.setup, benchmark="no-such-benchmark"))
    assert lost._repr_html_() is None and "no-such-benchmark" in repr(lost)


def test_plot_is_a_chart_with_its_data(runs: nasbed.Runs) -> None:
    chart: Any = runs.plot()
    assert isinstance(chart.properties(title="larger"), NotebookChart)
    bundle = chart._repr_mimebundle_()
    (vega,) = (value for key, value in bundle.items() if key.startswith("application/vnd.vegalite"))
    (rows,) = vega["datasets"].values()
    assert {row["method"] for row in rows} == {"rs", "re"} and '"url"' not in json.dumps(vega)
    assert runs.plot("time").to_dict()["layer"][1]["encoding"]["x"]["title"] == "simulated time [s]"
    with pytest.raises(nasbed.NasbedError, match="over time or evaluations"):
        runs.plot("seeds")  # type: ignore[arg-type]


@pytest.mark.thorough
@pytest.mark.figures
def test_plot_is_drawn_without_a_network(runs: nasbed.Runs) -> None:
    chart: Any = runs.plot()
    drawn = chart._repr_mimebundle_()["image/svg+xml"]
    assert drawn.startswith("<svg") and "evaluations" in drawn
    assert "http" not in drawn.replace("http://www.w3.org/", "")


def test_bars_of_a_notebook_count_and_escape() -> None:
    bars = NotebookBars("Scoring")
    task = bars.add_task(HOSTILE, total=8)
    bars.add_task("hidden", total=1, visible=False)
    bars.advance(task)
    bars.update(task, completed=6)
    card = read(bars.html())
    text = " ".join("".join(card.texts).split())
    assert card.tags == {"div", "progress"} and text == f"Scoring {HOSTILE} 6 of 8"
