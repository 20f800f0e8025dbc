"""Registries: ids, laziness, plug-ins."""

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from nasbed.core.errors import DuplicateName, UnknownName
from nasbed.core.registry import Registry


def test_registry_duplicate_id_raises() -> None:
    registry = Registry[object]("thing", group="nasbed.test")
    registry.add("one", object())
    with pytest.raises(DuplicateName, match="'one' is taken"):
        registry.add("one", object())


def test_registry_unknown_id_names_near_matches() -> None:
    registry = Registry[object]("thing", group="nasbed.test")
    registry.add("regularized-evolution", object())
    with pytest.raises(UnknownName, match="did you mean regularized-evolution"):
        registry.get("regularised-evolution")


def test_registry_imports_only_on_use() -> None:
    registry = Registry[object]("thing", group="nasbed.test")
    registry.add("broken", "no_such_module:thing")
    assert registry.names() == ["broken"]
    with pytest.raises(ModuleNotFoundError):
        registry.get("broken")


def test_registry_glob() -> None:
    registry = Registry[int]("thing", group="nasbed.test")
    for name in ("nb101", "nb201", "darts"):
        registry.add(name, 1)
    assert registry.names("nb*") == ["nb101", "nb201"]


def test_registry_takes_entry_points() -> None:
    registry = Registry[object]("thing", group="nasbed.test")
    registry.add("plugged", EntryPoint("plugged", "math:pi", "nasbed.test"))
    assert registry.get("plugged") == pytest.approx(3.14159, abs=1e-5)


PLUGIN = """
from nasbed.spaces.choice import ChoiceSpace
from nasbed.spaces.nb201 import NB201


class TinySpace(NB201):
    name = "tiny"
"""

METADATA = "Metadata-Version: 2.1\nName: tiny-space\nVersion: 1.0\n"


def test_an_installed_package_adds_a_space(tmp_path: Path) -> None:
    """A real distribution on the path, found through its entry point by a fresh interpreter."""
    (tmp_path / "tiny_space.py").write_text(PLUGIN)
    info = tmp_path / "tiny_space-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(METADATA)
    (info / "entry_points.txt").write_text("[nasbed.spaces]\ntiny = tiny_space:TinySpace\n")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import nasbed; "
        "assert 'tiny' in nasbed.list_spaces(); print(nasbed.space('tiny').size)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "15625"


def test_registry_loads_plugins_that_another_package_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """importlib_metadata, once imported, lists entry points as objects of a class of its own."""

    @dataclass(frozen=True)
    class Foreign:
        name: str
        value: str
        group: str

    listed = [Foreign("digits", "string:digits", "nasbed.test")]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: listed)
    assert Registry[str]("thing", group="nasbed.test").get("digits") == "0123456789"


FILLED = """
import gc, json
import nasbed.benchmarks, nasbed.datasets.conversion, nasbed.datasets.unseen, nasbed.networks.baselines, nasbed.oneshot
import nasbed.optimizers, nasbed.proxies, nasbed.results.importers, nasbed.results.sources, nasbed.spaces
import nasbed.studies, nasbed.surrogates, nasbed.training.recipes
from nasbed.core.registry import Registry
found = {each.group: each._entries for each in gc.get_objects() if isinstance(each, Registry)}
plain = lambda name, entry: entry if isinstance(entry, str) else getattr(entry, "id", getattr(entry, "name", None))
print(json.dumps({group: {name: plain(name, entry) for name, entry in own.items()} for group, own in found.items()}))
"""


def test_every_registry_is_filled_the_same_way() -> None:
    """By import paths, or by data that carries its own id. Benchmarks of this package are files, not entries."""
    run = subprocess.run([sys.executable, "-c", FILLED], capture_output=True, text=True, check=True)
    registries = json.loads(run.stdout)
    assert len(registries) >= 13
    for group, entries in registries.items():
        assert group.startswith("nasbed.") and bool(entries) == (group != "nasbed.benchmarks")
        for name, entry in entries.items():
            assert entry == name or re.fullmatch(r"nasbed[\w.]+:\w+", entry), f"{group}: {name} is {entry}"
