"""``nasbed validate`` shows the paper's numbers beside its own, only for the spaces of the paper."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from nasbed.cli import main
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
        str(path), "--results", str(tmp_path / "table-darts"), "--parts", "fits", "--out", str(tmp_path / "out"),
        "--format", "svg",
    )  # fmt: skip
    assert line(text, f"lgb, {LABEL}")[1:4] == ["0.892", "–", "0.816"]


def test_other_spaces_have_none(validate: Validate, tmp_path: Path) -> None:
    table = write_evaluations(tmp_path / "table", count=150).folder
    text = validate(str(table), "--parts", "fits,looo", "--out", str(tmp_path / "out"), *FAST)
    assert "paper" not in text and 'class="aside"' not in (tmp_path / "out" / "report.html").read_text()
