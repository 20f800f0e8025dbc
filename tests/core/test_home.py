"""Where things live, on each platform; and what the catalogue of published files promises."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nasbed.core.errors import InvalidOption, UnknownName
from nasbed.core.home import data_folder, downloads_folder, home, table_folder, tables_folder
from nasbed.results.importers import IMPORTERS
from nasbed.results.sources import SOURCES


def test_home_is_what_the_environment_names(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NASBED_HOME", str(tmp_path))
    assert home() == tmp_path and tables_folder() == tmp_path / "tables"
    assert downloads_folder() == tmp_path / "downloads"
    assert table_folder("nb201/cifar10") == tmp_path / "tables" / "nb201" / "cifar10"
    assert not list(tmp_path.iterdir()), "asking makes nothing"
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NASBED_HOME", "~/here")
    assert home() == tmp_path / "here"


@pytest.mark.parametrize(
    ("platform", "environment", "folder"),
    [
        ("linux", {}, "HOME/.local/share"),
        ("linux", {"XDG_DATA_HOME": "/data"}, "/data"),
        ("linux", {"XDG_DATA_HOME": "relative"}, "HOME/.local/share"),
        ("darwin", {"XDG_DATA_HOME": "/data"}, "HOME/Library/Application Support"),
        ("win32", {}, "HOME/AppData/Local"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local"),
    ],
)
def test_data_folder_is_the_platforms_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, platform: str, environment: dict[str, str], folder: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert data_folder(platform) == Path(folder.replace("HOME", str(tmp_path)))


def test_home_without_environment_is_in_the_data_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NASBED_HOME", "")
    assert home().name == "nasbed" and home().is_absolute()


@pytest.mark.parametrize("name", ["..", "../x", "/etc", "a/../../b", "", "a//b", ".hidden", "a\\b", "a\0b"])
def test_table_folder_never_leads_outside(name: str) -> None:
    with pytest.raises(InvalidOption, match="a table's name is words"):
        table_folder(name)


def test_sources_pin_the_checksums_that_the_authors_publish() -> None:
    """From the README of google-research/nasbench."""
    assert SOURCES.get("nb101").sha256 == "3d64db8180fb1b0207212f9032205064312b6907a3bbc81eabea10db2f5c7e9c"
    assert SOURCES.get("nb101-108").sha256 == "4c39c3936e36a85269881d659e44e61a245babcb72cb374eacacf75d0e5f4fd1"


@pytest.mark.parametrize("name", list(SOURCES))
def test_sources_say_what_they_must(name: str) -> None:
    source = SOURCES.get(name)
    assert source.id == name and source.title and source.licence and "arXiv:" in source.citation
    assert source.page.startswith("https://") and source.tables
    assert source.url is None or source.url.startswith("https://"), (
        "without a checksum, the connection is what is trusted"
    )
    assert source.sha256 is None or re.fullmatch("[0-9a-f]{64}", source.sha256)
    assert source.url is not None or source.sha256 is None
    assert Path(source.file).name == source.file
    assert source.format in IMPORTERS
    assert set(source.options) <= set(IMPORTERS.get(source.format).options)


def test_sources_unknown_id_names_near_ones() -> None:
    with pytest.raises(UnknownName, match="did you mean nb101"):
        SOURCES.get("nb1o1")
