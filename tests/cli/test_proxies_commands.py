"""``nasbed proxies list``, ``score``, ``import`` and ``compare`` as a user meets them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs torch")

from nasbed.cli import main
from nasbed.proxies.table import ScoreTable

QUICK = ("--recipe", "small-nb201", "--batch", "8", "--device", "cpu", "--processes", "1")


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> int:
    monkeypatch.setattr(sys, "argv", ["nasbed", "proxies", *map(str, arguments)])
    with pytest.raises(SystemExit) as error:
        main()
    return int(error.value.code or 0)


def test_list(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, "list", "--json") == 0
    listed = {proxy["name"]: proxy for proxy in json.loads(capsys.readouterr().out)}
    assert len(listed) >= 17 and "loss_gradients" in listed["snip"]["needs"]


def test_score_like_and_compare(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    mine, repeated, different = (tmp_path / f"{name}.parquet" for name in ("mine", "again", "other"))
    chosen = ("--proxies", "params,snip")
    assert (
        run(monkeypatch, "score", "--space", "nb201", "--count", "5", "--seeds", "2", *chosen, *QUICK, "-o", mine) == 0
    )
    output = capsys.readouterr().out
    assert "5 architectures of nb201, 2 seeds" in output and f"nasbed proxies evaluate {mine} TABLE" in output
    assert run(monkeypatch, "score", "--like", mine, "--count", "3", *chosen, *QUICK, "-o", repeated, "--json") == 0
    assert [proxy["scored"] for proxy in json.loads(capsys.readouterr().out)["proxies"]] == [3, 3]
    table, part = ScoreTable.read(mine), ScoreTable.read(repeated)
    rows = [table.codes.tolist().index(code) for code in part.codes.tolist()]
    np.testing.assert_array_equal(part.of("snip")[:, 0], table.of("snip")[rows, 0])
    exported = tmp_path / "table.csv"
    texts = [table.space.format(arch) for arch in table.space.architectures(table.codes)]
    lines = [f'"{text}",{-value}' for text, value in zip(texts, table.of("snip")[:, 0], strict=True)]
    exported.write_text("\n".join(["arch,snip", *lines]) + "\n")
    assert run(monkeypatch, "import", exported, "--space", "nb201", "--negate", "snip", "-o", different) == 0
    capsys.readouterr()
    assert run(monkeypatch, "compare", repeated, different, "--json") == 0
    (agreed,) = json.loads(capsys.readouterr().out)
    assert agreed == {"proxy": "snip", "count": 3, "correlation": 1.0, "equal": True, "own": None, "other_own": None}
    assert run(monkeypatch, "compare", mine, different) == 0
    assert "between seeds" in capsys.readouterr().out


def test_score_the_architectures_of_a_list(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    listing, out = tmp_path / "cells.txt", tmp_path / "scores.parquet"
    lines = (Path(__file__).parents[2] / "campaigns" / "nb201-300.txt").read_text().splitlines()[:4]
    listing.write_text("\n".join([*lines, "", lines[0]]))
    of_list = ("score", "--space", "nb201", "--architectures", listing, "--proxies", "params", *QUICK, "-o", out)
    assert run(monkeypatch, *of_list) == 0
    table = ScoreTable.read(out)
    assert sorted(table.space.format(arch) for arch in table.space.architectures(table.codes)) == sorted(lines)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("score", "--architectures", "all", "--table", "x", "-o", "s.parquet"), "give it with --space"),
        (("score", "--space", "nb201", "--architectures", "no.txt", "-o", "s.parquet"), "no.txt cannot be read"),
        (("score", "-o", "s.parquet"), "--space, --table or --like"),
        (("score", "--space", "nb201", "--table", "x", "-o", "s.parquet"), "give exactly one"),
        (("score", "--space", "nb201", "-o", "s.csv"), "NAME.parquet"),
        (("score", "--space", "nb201", "--count", "20000", "-o", "s.parquet"), "15625 architectures"),
        (("score", "--space", "nb201", "--proxies", "synflo", "-o", "s.parquet"), "did you mean synflow"),
        (("score", "--space", "nb201", "--dataset", "digitz", "-o", "s.parquet"), "digits"),
        (
            ("score", "--space", "fcnet", "--count", "3", "-o", "s.parquet"),
            "the space 'fcnet' has no network; those with one",
        ),
        (("score", "--space", "nb201", "--device", "tpu", "-o", "s.parquet"), "a device is"),
        (
            ("score", "--table", "snb-darts-cifar10-16-lgb-v2.0", "-o", "s.parquet"),
            "a table lists architectures, snb-darts",
        ),
        (("import", "none.json", "-o", "s.parquet"), "check the path"),
        (("compare", "a.parquet", "b.parquet"), "is not a file"),
    ],
)
def test_mistakes_are_one_line(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    arguments: tuple[str, ...],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(monkeypatch, *arguments) == 2
    notes = capsys.readouterr().err
    assert message in notes and notes.count("\n") == 1
    assert not list(tmp_path.iterdir())
