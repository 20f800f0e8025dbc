"""What identifies a user's code: its file, and the modules of the user's that it imports."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import pytest

from nasbed.core.code_fingerprint import file_fingerprint, object_fingerprint, source_files
from nasbed.core.user_code import object_named
from nasbed.optimizers.random_search import RandomSearch

FILES = {
    "mine.py": "import json, numpy, nasbed\nimport helper\nfrom package.inner import thing\n\n"
    "def late():\n    import lazy\n    import importlib\n    importlib.import_module('named')\n",
    "helper.py": "import deeper\n",
    "deeper.py": "import mine, helper\n",
    "lazy.py": "",
    "named.py": "",
    "package/__init__.py": "",
    "package/inner.py": "from . import beside\nthing = 1\n\ndef wrong():\n    from .. import outside\n",
    "package/beside.py": "",
    "package/unused.py": "",
    "unused.py": "",
}
FOLLOWED = ["deeper", "helper", "lazy", "mine.py", "named", "package", "package.beside", "package.inner"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    written(tmp_path)
    return tmp_path


def written(folder: Path) -> Path:
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder / "mine.py"


def test_imports_are_followed_wherever_they_stand(folder: Path) -> None:
    assert sorted(source_files(folder / "mine.py")) == FOLLOWED


@pytest.mark.parametrize("name", FILES)
def test_an_edit_changes_the_fingerprint_of_what_imports_it(folder: Path, name: str) -> None:
    before = file_fingerprint(folder / "mine.py")
    (folder / name).write_bytes((folder / name).read_bytes() + b"# edited\n")
    assert (file_fingerprint(folder / "mine.py") == before) == ("unused" in name)


def test_a_fingerprint_does_not_depend_on_the_place_or_on_what_was_imported(tmp_path: Path) -> None:
    first, second = (written(tmp_path / name) for name in ("one", "other"))
    before = file_fingerprint(first)
    assert file_fingerprint(second) == before
    assert callable(object_named(f"{first}:late"))
    assert file_fingerprint(first) == file_fingerprint(second) == before
    assert file_fingerprint(second.rename(tmp_path / "other" / "yours.py")) != before


def test_code_elsewhere_on_the_path_is_followed(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As of an editable install: it is the user's, and changes without a version."""
    lab = tmp_path / "elsewhere" / "my_lab"
    lab.mkdir(parents=True)
    (lab / "__init__.py").write_text("")
    (lab / "tools.py").write_text("step = 1\n")
    monkeypatch.syspath_prepend(lab.parent)
    (folder / "mine.py").write_text("from my_lab.tools import step\n")
    before = file_fingerprint(folder / "mine.py")
    (lab / "tools.py").write_text("step = 2\n")
    assert file_fingerprint(folder / "mine.py") != before


def test_what_cannot_be_parsed_counts_by_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("class (:\n")
    before = file_fingerprint(path)
    path.write_bytes(b"class (:\n\0")
    assert file_fingerprint(path) != before


def test_objects_have_the_fingerprint_of_their_module(folder: Path) -> None:
    late = object_named(f"{folder / 'mine.py'}:late")
    assert object_fingerprint(late) == object_fingerprint(partial(late)) == file_fingerprint(folder / "mine.py")
    for builtin in (RandomSearch, object_fingerprint, len, Path()):
        assert object_fingerprint(builtin) == ""


def test_of_a_script_only_the_function_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A function of a notebook, without a file."""
    monkeypatch.setattr(sys.modules["__main__"], "__file__", None, raising=False)

    def typed(text: str) -> str:
        names: dict[str, object] = {"__name__": "__main__"}
        exec(text, names)
        return object_fingerprint(names["f"])

    assert typed("def f(x): return x + 1") == typed("y = 5\ndef f(x): return x + 1") != typed("def f(x): return x + 2")


def test_an_edited_file_is_run_again_in_the_same_process(folder: Path) -> None:
    """Also if it has as many bytes as before, within a second, and only what it imports was edited."""
    (folder / "helper.py").write_text("value = 1\n")
    (folder / "mine.py").write_text("from helper import value\n")
    assert object_named(f"{folder / 'mine.py'}:value") == 1
    (folder / "helper.py").write_text("value = 2\n")
    assert object_named(f"{folder / 'mine.py'}:value") == 2
    (folder / "mine.py").write_text("value = 3\n")
    assert object_named(f"{folder / 'mine.py'}:value") == 3
    assert not (folder / "__pycache__").exists()
