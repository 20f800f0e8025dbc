"""A study of a plug-in: one entry point makes it a command, and one that is broken stops no other."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from nasbed.cli.study import study_commands
from nasbed.core.registry import Registry
from nasbed.studies import STUDIES

TOY = """
import json
from pathlib import Path
from typing import Annotated
import typer

def count_edges(out: Annotated[Path, typer.Option()], nodes: int = 4) -> None:
    \"\"\"Count the edges of a cell.\"\"\"
    (out / "numbers.json").write_text(json.dumps({"edges": nodes * (nodes - 1) // 2}))

def unreadable(table: int | str) -> None: ...
"""
PLUGINS = {
    "edges": "toy_study:count_edges",
    "missing-module": "toy_study_that_is_not_there:study",
    "no-function": "toy_study:json",
    "unreadable": "toy_study:unreadable",
}


def registry_with(plugins: dict[str, str], site: Path, monkeypatch: pytest.MonkeyPatch) -> Registry[Callable[..., Any]]:
    """The shipped studies, and those of a distribution on the path."""
    info = site / "toy_study-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "toy_study.py").write_text(TOY)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-study\nVersion: 1.0\n")
    lines = [f"{name} = {target}\n" for name, target in plugins.items()]
    (info / "entry_points.txt").write_text("".join(["[nasbed.studies]\n", *lines]))
    monkeypatch.setattr(sys, "path", [str(site), *sys.path])
    studies: Registry[Callable[..., Any]] = Registry("study", group="nasbed.studies")
    monkeypatch.setattr(studies, "_entries", dict(STUDIES._entries))
    return studies


def test_study_of_a_plugin_is_a_command_and_broken_ones_are_skipped_with_a_line_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commands = study_commands(registry_with(PLUGINS, tmp_path / "site", monkeypatch))
    captured = capsys.readouterr()
    warnings = captured.err.splitlines()
    assert captured.out == "" and len(warnings) == 3
    for name, warning in zip(("missing-module", "no-function", "unreadable"), warnings, strict=True):
        assert warning.startswith(f"nasbed: the study {name} cannot be loaded and is skipped: ")
    run = CliRunner().invoke(commands, ["edges", "--out", str(tmp_path), "--nodes", "5"])
    assert run.exit_code == 0, run.output
    assert (tmp_path / "numbers.json").read_text() == '{"edges": 10}'
    listing = CliRunner().invoke(commands, ["--help"]).output
    assert "edges" in listing and "landscape" in listing and "unreadable" not in listing


def test_plugin_with_a_taken_id_replaces_no_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    studies = registry_with({"landscape": "toy_study:count_edges"}, tmp_path / "site", monkeypatch)
    study_commands(studies)
    assert "'landscape' is taken" in capsys.readouterr().err
    assert studies.get("landscape").__module__ == "nasbed.studies.landscape.command"
