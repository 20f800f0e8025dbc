"""What a user is shown: paths that cannot be, empty files, help, each in plain words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from rich.text import Text
from typer.testing import CliRunner

from nasbed import NasbedError
from nasbed.cli import app, main
from support.commands import run_command

MINI = "nb101-mini-cifar10-16-v1.0"


def refusal(*arguments: str) -> str:
    result = CliRunner().invoke(app, arguments)
    assert isinstance(result.exception, NasbedError), (result.output, result.exception)
    return str(result.exception)


@pytest.mark.parametrize("place", ["taken", "taken/x"])
@pytest.mark.parametrize(
    "arguments",
    [
        ("run", MINI, "--out"),
        ("report", "runs", "--out"),
        ("suite", "run", "quick", "--out"),
        ("tune", MINI, "--out"),
        ("validate", MINI, "--out"),
        ("study", "landscape", MINI, "--out"),
        ("import", "nb101", "no-file", "--out"),
        ("challenge", "score", "runs", "--out"),
        ("collect", "export", "journal.sqlite", "--out"),
        ("release", "release.toml", "--out"),
    ],
    ids=" ".join,
)
def test_out_on_a_file_is_refused_before_work(
    arguments: tuple[str, ...], place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("taken").write_text("mine")
    assert refusal(*arguments, place).endswith("into a folder, taken is a file; name another with --out")
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_out_below_a_file_is_refused_where_it_is_a_file_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("taken").write_text("mine")
    expected = "into a folder, taken is a file; name another with --out"
    assert refusal("fit", MINI, "--out", "taken/x.snb") == f"a surrogate goes {expected}"
    pytest.importorskip("torch", reason="needs torch")
    assert refusal("proxies", "score", "--space", "nb201", "--out", "taken/x.parquet") == f"scores go {expected}"


def test_error_of_the_system_has_no_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: Any) -> None:
        (tmp_path / "none" / "file").write_text("")

    monkeypatch.setattr("nasbed.cli.app", fails)
    with pytest.raises(SystemExit, match="2"):
        main()
    assert capsys.readouterr().err == f"nasbed: {tmp_path / 'none' / 'file'}: No such file or directory\n"


@pytest.mark.parametrize("content", [b"", b"PK"])
def test_empty_or_tiny_surrogate_is_called_so(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "mine.snb"
    path.write_bytes(content)
    messages = {
        b"": f"{path} is an empty file, not a surrogate; get it again",
        b"PK": f"{path} is damaged or not a surrogate: it has 2 bytes, fewer than any archive; get it again",
    }
    assert refusal("run", str(path), "--out", str(tmp_path / "out")) == messages[content]


def test_lightgbm_prints_nothing_of_its_own(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Its library writes past Python, to the files of the process."""
    outcome = run_command("fit", MINI, "--set", "num_leaves=1", "--out", str(tmp_path / "mine.snb"))
    rule = "num_leaves of lgb is a whole number from 2 to 131072, got 1; change the setting"
    assert (outcome.returncode, outcome.stdout, outcome.stderr) == (2, "", f"nasbed: {rule}\n")
    assert capfd.readouterr() == ("", "")


def test_no_help_text_is_taken_for_a_style() -> None:
    """Help is shown by rich, which takes ``[word]`` for a style and drops it."""
    texts = list(_help_texts(typer.main.get_command(app), "nasbed"))
    assert len(texts) > 200
    for where, text in texts:
        assert Text.from_markup(text).plain == text, where
    help_text = " ".join(CliRunner().invoke(app, ["validate", "--help"]).output.replace("│", " ").split())
    assert "Use only evaluations at this fidelity. [default: (the highest)]" in help_text


def _help_texts(command: Any, name: str) -> Iterator[tuple[str, str]]:
    yield name, command.help or ""
    for parameter in command.params:
        yield f"{name} {parameter.name}", getattr(parameter, "help", None) or ""
    for word, inner in getattr(command, "commands", {}).items():
        yield from _help_texts(inner, f"{name} {word}")
