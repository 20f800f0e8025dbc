"""A one-shot method of a plug-in: with settings and a space of its own it is searched, recorded and read again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs torch")

from nasbed import datasets
from nasbed.cli.oneshot.request import read_settings, set_defaults
from nasbed.core.errors import InvalidOption
from nasbed.oneshot import METHODS, SearchSettings, search, settings_type
from nasbed.oneshot.record import SearchRecord, read_record, write_record
from support.draw_method import DrawMethod, DrawSettings


@pytest.fixture(autouse=True)
def plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(METHODS, "_entries", {**METHODS._entries, "draw": DrawMethod})


def test_settings_of_a_method_are_those_of_its_class() -> None:
    assert {name: settings_type(name) for name in METHODS} == {name: METHODS.get(name).settings for name in METHODS}
    assert settings_type("not-installed") is SearchSettings


def test_plugin_searches_by_its_own_settings_and_its_record_has_them(tmp_path: Path) -> None:
    digits, settings = datasets.load("digits"), DrawSettings(epochs=2, draws=(4, 5))
    searched = search("draw", digits, settings, checkpoint=tmp_path / "search.ckpt")
    assert searched.architecture is not None and searched.architecture.space == "nb201" and len(searched.epochs) == 2
    record = SearchRecord("draw", "nb201", digits.name, digits.hash, 0, settings, {}, "cpu", {}, searched)
    write_record(record, tmp_path / "search.json")
    assert json.loads((tmp_path / "search.json").read_text())["settings"] == {"epochs": 2, "draws": [4, 5]}
    assert read_record(tmp_path / "search.json").settings == settings
    with pytest.raises(InvalidOption, match="a search by draw is set by DrawSettings"):
        search("draw", digits, SearchSettings())


def test_plugin_takes_its_own_settings_on_the_command_line() -> None:
    settings, _ = read_settings("draw", DrawMethod, {"epochs": 7}, ["draws=[3]"], None)
    assert settings == DrawSettings(epochs=7, draws=(3,))
    assert set_defaults(DrawMethod) == {"draws": [1, 2]}
    with pytest.raises(InvalidOption, match="draw has no setting channels; omit --channels"):
        read_settings("draw", DrawMethod, {"channels": 4}, [], None)
