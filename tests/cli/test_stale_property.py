"""Edit any input of a stored comparison: the next command never shows the old number as if it still held."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

import nasbed
from nasbed import NasbedError
from nasbed.cli import app
from support.examples import examples
from support.stored_comparisons import METHOD, numbers, report, restore, run, write_project, write_table

pytestmark = pytest.mark.usefixtures("without_charts")

BOTH, OWN = ("rs", "Greedy"), ("Greedy",)


@dataclass(frozen=True)
class Edit:
    """What is done to a project, whose runs depend on it, and what the next command is given beside."""

    description: str
    do: Callable[[Path], object]
    affects: tuple[str, ...]
    options: tuple[str, ...] = ()
    version: str = nasbed.__version__


def flip(path: Path, place: int, bits: int) -> None:
    content = bytearray(path.read_bytes())
    content[place % len(content)] ^= bits
    path.write_bytes(bytes(content))


def files_of(table: Path) -> list[Path]:
    return sorted(path for path in table.rglob("*") if path.is_file() and not path.name.startswith("."))


def flip_table(folder: Path, index: int, place: int, bits: int) -> None:
    files = files_of(folder / "table")
    flip(files[index % len(files)], place, bits)


def written(name: str, text: str) -> Edit:
    return Edit(f"{name}: {text}", lambda folder: (folder / name).write_text(text), OWN)


PLACES, BITS = st.integers(0, 10**6), st.integers(1, 255)
EDITS: dict[str, st.SearchStrategy[Edit]] = {
    "a method": st.sampled_from(
        [
            METHOD.replace("loss < self.loss", "loss > -self.loss"),
            METHOD.replace("self.best is None or", "True or"),
            f"{METHOD}\n# a remark\n",
            f"{METHOD}\nunused = 1\n",
        ]
    ).map(lambda text: written("mine.py", text)),
    "what a method imports": st.floats(0.01, 1).map(lambda p: written("step.py", f"probability = {p}\n")),
    "a setting": st.integers(2, 99).map(
        lambda value: Edit(f"patience {value}", lambda folder: None, OWN, ("--set", f"mine.py:Greedy.patience={value}"))
    ),
    "a byte of the table": st.builds(
        lambda index, place, bits: Edit(
            f"byte {place} of {index}", lambda folder: flip_table(folder, index, place, bits), BOTH
        ),
        st.integers(0, 20),
        PLACES,
        BITS,
    ),
    "the table": st.integers(1, 3).map(
        lambda seed: Edit(f"table {seed}", lambda folder: write_table(folder / "table", seed=seed), BOTH)
    ),
    "the version": st.from_regex(r"[1-9]\.[0-9]\.[0-9]", fullmatch=True).map(
        lambda text: Edit(f"version {text}", lambda folder: None, BOTH, version=text)
    ),
}


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_project(tmp_path_factory.mktemp("stored") / "project")


@pytest.fixture(scope="module")
def before(stored: Path) -> dict[str, str]:
    """The numbers before any edit."""
    return numbers(report(restore(stored)))


def never_unmarked(result: Result, before: dict[str, str], affects: tuple[str, ...], stdout_marks: bool) -> None:
    """Refused in one line without a number, or each method that is affected is marked or was made again."""
    if result.exception is not None:
        assert isinstance(result.exception, NasbedError), result.exception
        assert "\n" not in str(result.exception)
        assert not any(number in result.stdout for number in before.values())
        return
    for method in affects:
        is_repeated = f"runs of {method} are made again" in result.stderr
        marked = f"{method} (out of date)" in result.stdout
        assert is_repeated or marked, (method, result.output)
        assert stdout_marks or is_repeated


@pytest.mark.parametrize("kind", EDITS)
@given(data=st.data(), reported=st.booleans())
@examples(2)
def test_no_edit_leaves_the_old_number_unmarked(
    stored: Path, before: dict[str, str], kind: str, data: st.DataObject, reported: bool
) -> None:
    edit = data.draw(EDITS[kind])
    folder = restore(stored)
    edit.do(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nasbed, "__version__", edit.version)
        options = [text.replace("mine.py", str(folder / "mine.py")) for text in edit.options]
        if reported and not options:
            never_unmarked(report(folder), before, edit.affects, stdout_marks=True)
            return
        repeated = run(folder, *options)
        never_unmarked(repeated, before, edit.affects, stdout_marks=False)
        if repeated.exception is None:
            assert numbers(repeated) == numbers(run(folder, *options, out="fresh")), "what is made again is the truth"
            assert not run(folder, *options).stderr, "and is made once"


# --- the images that a benchmark trains on ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home with a dataset and a comparison by really training on it."""
    pytest.importorskip("torch", reason="needs torch")
    from nasbed import datasets
    from nasbed.training.recipe_files import load_recipe, recipe_toml

    folder = tmp_path_factory.mktemp("trained") / "project"
    folder.mkdir()
    small = replace(
        load_recipe("small-nb201"), epochs=(1,), epoch_images=64, skeleton={"channels": 2, "cells_per_stage": 1}
    )
    (folder / "small.toml").write_text(recipe_toml(small))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NASBED_HOME", str(folder))
        datasets.load("digits")
        assert search(folder).exit_code == 0
        shutil.copytree(folder, folder.with_name("copy"))
        yield folder


def search(folder: Path) -> Result:
    name = f"live:nb201/digits/{folder / 'small.toml'}"
    return CliRunner().invoke(
        app, ["run", name, "--optimizers", "rs", "--seeds", "1", "--budget", "2ev", "--engine", "serial", "--out",
              str(folder / "out")],
    )  # fmt: skip


@pytest.mark.parametrize("index", range(5))
@given(place=PLACES, bits=BITS, reported=st.booleans())
@examples(2)
def test_no_byte_of_a_dataset_leaves_the_old_number_unmarked(
    trained: Path, index: int, place: int, bits: int, reported: bool
) -> None:
    folder = restore(trained)
    assert os.environ["NASBED_HOME"] == str(folder)
    flip(files_of(folder / "datasets" / "digits")[index], place, bits)
    result = report(folder) if reported else search(folder)
    assert isinstance(result.exception, NasbedError) and "regret" not in result.stdout


def test_an_edited_recipe_is_another_benchmark(trained: Path) -> None:
    folder = restore(trained)
    assert search(folder).exit_code == report(folder).exit_code == 0
    path = folder / "small.toml"
    path.write_text(path.read_text().replace("epoch_images = 64", "epoch_images = 32"))
    for result in (report(folder), search(folder)):
        assert "another content of live:nb201/digits" in str(result.exception)


def test_trainings_are_not_repeated_for_another_version(trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are dear: they are kept and marked."""
    folder = restore(trained)
    runs = (folder / "out" / "runs" / "rs-0.npz").stat().st_mtime_ns
    monkeypatch.setattr(nasbed, "__version__", "9.9.9")
    result = search(folder)
    assert "rs (out of date)" in result.stdout and "this is 9.9.9" in result.stdout
    assert (folder / "out" / "runs" / "rs-0.npz").stat().st_mtime_ns == runs
