"""``nasbed validate`` shows the paper's numbers beside its own, only for the spaces of the paper."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from nasbed import Metric
from nasbed.cli import main
from nasbed.studies.validation.published import published
from nasbed.studies.validation.study import Validation
from nasbed.studies.validation.tables import tables
from nasbed.studies.validation.training_size import SizeCurve, TrainingSize
from support.surrogates import small_surrogate, write_evaluations

LABEL = "paper (SNB-DARTS, CIFAR-10 32x32)"
FAST = ("--set", "lgb.rounds=20", "--set", "lgb.features=onehot", "--format", "svg", "--processes", "1")
Validate = Callable[..., str]


@pytest.fixture
def validate(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Validate:
    def run_command(*arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", ["nasbed", "validate", *arguments])
        with pytest.raises(SystemExit) as exit_info:
            main()
        captured = capsys.readouterr()
        assert not exit_info.value.code, captured.err
        return captured.out

    return run_command


def line(text: str, *first_cells: str) -> list[str]:
    """The cells of the only line that starts with these."""
    rows = [re.split(r"  +", row) for row in text.splitlines()]
    matches = [cells for cells in rows if cells[: len(first_cells)] == list(first_cells)]
    assert len(matches) == 1, text
    return matches[0]


def test_a_table_of_darts_has_the_papers_rows(validate: Validate, tmp_path: Path) -> None:
    table = write_evaluations(tmp_path / "table", space_name="darts", count=150).folder
    out = tmp_path / "out"
    text = validate(str(table), "--parts", "fits,table,looo", "--ensemble", "2", "--out", str(out), *FAST)
    assert line(text, f"lgb, {LABEL}", "0.892", "–", "0.816")
    assert line(text, f"table, {LABEL}")[:4] == [f"table, {LABEL}", "–", "0.138", "–"]
    assert line(text, f"lgb, {LABEL}", "–", "0.133")
    assert line(text, "re", "lgb", LABEL)[3:] == ["–", "–", "0.917", "–", "0.834", "–"]
    assert not re.search(rf"^rs .*{re.escape(LABEL)}", text, flags=re.MULTILINE)  # table 7 has no such column
    assert f"{LABEL}: Surrogate NAS Benchmarks, table 7" in text
    page = (out / "report.html").read_text()
    assert page.count('<tr class="aside">') == 4 and f"<td>{LABEL}</td>" in page
    assert json.loads((out / "numbers.json").read_text())["paper"]["looo"]["re"]["lgb"]["r2"] == 0.917


def test_a_surrogate_of_darts_has_the_row_of_its_model(validate: Validate, tmp_path: Path) -> None:
    path = small_surrogate(tmp_path, "darts").save(tmp_path / "it.snb")
    text = validate(
        str(path), "--table", str(tmp_path / "table-darts"), "--parts", "fits", "--out", str(tmp_path / "out"),
        "--format", "svg",
    )  # fmt: skip
    assert line(text, f"lgb, {LABEL}")[1:4] == ["0.892", "–", "0.816"]


def test_a_table_of_nas_bench_101_has_tables_1_and_4_and_figure_1(validate: Validate, tmp_path: Path) -> None:
    """Means over the three seeds: 0.4540 % and 0.83 for the table, which a GIN passes with 21 500 architectures."""
    label, out = "paper (NAS-Bench-101, CIFAR-10 32x32)", tmp_path / "out"
    table = write_evaluations(tmp_path / "table", space_name="nb101", count=150).folder
    options = ("--parts", "fits,table,size", "--sizes", "60", "--repeats", "1", "--out", str(out))
    text = validate(str(table), *options, *FAST)
    mean_mae, mean_mse = (4.534 + 4.546 + 4.539) / 30, (5.44 + 5.43 + 5.34) / 30
    assert line(text, f"table, {label}", "–")[1:5] == ["–", f"{mean_mae:.4g}", f"{mean_mse:.4g}", "0.83"]
    assert line(text, f"table, {label}", f"{mean_mae:.4g}")[2] == "0.83"
    assert f"{label}: Surrogate NAS Benchmarks, section 2 and figure 1" in text
    assert (out / "report.html").read_text().count('<tr class="aside">') == 2


def test_the_papers_gin_has_its_errors_and_its_number_of_architectures() -> None:
    accuracy = Metric("accuracy", split="validation", unit="%", bounds=(0, 100))
    paper = published("nb101", accuracy)
    assert paper is not None
    gin, table = paper.table["gin"], paper.table["table"]
    assert gin.mae == pytest.approx((0.3446 + 0.3455 + 0.3441) / 3) and gin.kendall == pytest.approx(0.87)
    assert gin.mse == pytest.approx((0.302 + 0.307 + 0.302) / 3)
    curves = (SizeCurve("gin", np.ones((1, 1)), np.ones((1, 1))), SizeCurve("lgb", np.ones((1, 1)), np.ones((1, 1))))
    size = TrainingSize((100,), 50, curves, math.nan, math.nan, {})
    models = {"gin": "gin", "lgb": "lgb"}
    study = Validation("it", "it", "nb101", accuracy, 100, 100, (), models, paper=paper, size=size)
    *_, error, passes = tables(study)["size"].rows
    assert error[1:] == (f"{table.mae:.4g}", "0.83") * 2
    assert passes == (f"passes the table at, {paper.label}", "21500", "–", "–", "–")


def test_other_spaces_have_none(validate: Validate, tmp_path: Path) -> None:
    table = write_evaluations(tmp_path / "table", count=150).folder
    text = validate(str(table), "--parts", "fits,looo", "--out", str(tmp_path / "out"), *FAST)
    assert "paper" not in text and 'class="aside"' not in (tmp_path / "out" / "report.html").read_text()
