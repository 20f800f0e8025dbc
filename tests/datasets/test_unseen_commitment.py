"""A new dataset, its commitment and its recipe: nothing tells what it is, and any change shows."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasbed.core.errors import BadFile, InvalidOption
from nasbed.datasets import store
from nasbed.datasets.source import Raw
from nasbed.datasets.unseen.commitment import Commitment, DatasetRecipe, check_files, check_recipe, check_remade, commit
from nasbed.datasets.unseen.export import new_folder
from nasbed.datasets.unseen.families.channels import Channels
from nasbed.datasets.unseen.new_dataset import NewDataset, drawn_name, drawn_seed, make_new
from support.commands import run_command
from support.dataset_files import random_images
from support.examples import examples

SETTINGS: dict[str, Any] = {"digits": 2, "rule": "range", "side": 8, "train": 40, "valid": 20, "test": 20}
FILES = ("train_x.npy", "train_y.npy", "valid_x.npy", "valid_y.npy", "test_x.npy", "test_y.npy", "metadata")
SEED = 2**100 + 17


def quiet(step: str, count: int, total: int | None) -> None:
    pass


@pytest.fixture(scope="module")
def new(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NewDataset]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NASBED_HOME", str(tmp_path_factory.mktemp("home")))
        labels = [np.arange(count) % 10 for count in (300, 90)]
        images = [random_images(count, count, 1, 28, 28) for count in (300, 90)]
        store.write("mnist", Raw(images[0], labels[0], images[1], labels[1], tuple("0123456789")), "noise")
        out = tmp_path_factory.mktemp("out") / "new"
        yield make_new(Channels(**SETTINGS), None, out, name="tovaki", seed=SEED, progress=quiet)


@pytest.fixture(scope="module")
def promised(new: NewDataset) -> Commitment:
    return Commitment.from_file(new.commitment)


@pytest.fixture(scope="module")
def recipe(new: NewDataset) -> DatasetRecipe:
    return DatasetRecipe.from_file(new.secret / "reveal.json")


def outcomes(checks: list[Any]) -> dict[str, str]:
    return {check.about: check.outcome for check in checks}


def test_what_is_public_tells_nothing_of_the_recipe(new: NewDataset) -> None:
    assert {path.name for path in new.folder.iterdir()} == set(FILES)
    metadata = json.loads((new.folder / "metadata").read_text())
    assert metadata == {"num_classes": 10, "input_shape": [40, 2, 8, 8], "codename": "tovaki"}
    public = new.commitment.read_text() + (new.folder / "metadata").read_text()
    recipe = json.loads((new.secret / "reveal.json").read_text())
    for secret in ("channels", "range", "mnist", "sum", recipe["seed"], recipe["salt"], *recipe["sources"].values()):
        assert secret not in public
    assert new.secret.stat().st_mode & 0o077 == 0


def test_sha256sum_is_enough_to_check_a_revealed_dataset(new: NewDataset) -> None:
    public, revealed = (json.loads(path.read_text()) for path in (new.commitment, new.secret / "reveal.json"))
    for name, digest in public["files"].items():
        assert hashlib.sha256((new.folder / name).read_bytes()).hexdigest() == digest
    labels = (new.folder / "test_y.npy").read_bytes()
    assert hashlib.sha256(revealed["salt"].encode() + labels).hexdigest() == public["withheld"]["test_y.npy"]
    assert hashlib.sha256(labels).hexdigest() not in new.commitment.read_text()
    assert hashlib.sha256((new.secret / "reveal.json").read_bytes()).hexdigest() == public["recipe"]


def test_a_secret_gives_the_same_dataset_again(new: NewDataset, promised: Commitment, recipe: DatasetRecipe) -> None:
    checks = check_remade(promised, recipe, None, quiet)
    assert outcomes(checks) == {f"{name}, made again": "holds" for name in FILES}
    again = make_new(
        recipe.generator(), None, new.folder.parents[1] / "again", name="tovaki", seed=SEED, progress=quiet
    )
    assert all((again.folder / name).read_bytes() == (new.folder / name).read_bytes() for name in FILES)
    other_salt = DatasetRecipe.from_file(again.secret / "reveal.json")
    assert other_salt.salt != recipe.salt and replace(other_salt, salt=recipe.salt) == recipe


@given(file=st.sampled_from(FILES), place=st.floats(0, 1, exclude_max=True), flip=st.integers(1, 255))
def test_one_changed_byte_fails(
    file: str, place: float, flip: int, new: NewDataset, promised: Commitment, recipe: DatasetRecipe
) -> None:
    path = new.folder / file
    content = path.read_bytes()
    index = int(place * len(content))
    try:
        path.write_bytes(content[:index] + bytes([content[index] ^ flip]) + content[index + 1 :])
        checks = outcomes(check_files(promised, new.folder, recipe.salt))
    finally:
        path.write_bytes(content)
    assert checks == {name: "FAILS" if name == file else "holds" for name in FILES}


@pytest.mark.parametrize("salted", [True, False])
def test_files_that_were_not_promised_are_named(
    salted: bool, tmp_path: Path, new: NewDataset, promised: Commitment, recipe: DatasetRecipe
) -> None:
    folder = shutil.copytree(new.folder, tmp_path / "more")
    (folder / "baseline.json").write_text("{}")
    (folder / "notes").mkdir()
    checks = check_files(promised, folder, recipe.salt if salted else None)
    expected = dict.fromkeys(FILES, "holds") | dict.fromkeys(("baseline.json", "notes"), "not checked")
    assert outcomes(checks) == expected | ({} if salted else {"test_y.npy": "not checked"})
    assert all("contestants do not get it" in check.text for check in checks if check.about not in FILES)


CHANGES = st.one_of(
    st.integers(0, 2**128).filter(lambda seed: seed != SEED).map(lambda seed: {"seed": seed}),
    st.sampled_from([("digits", 3), ("rule", "maximum"), ("side", 9), ("train", 41), ("test", 21)]).map(
        lambda change: {"settings": SETTINGS | {"source": "mnist", change[0]: change[1]}}
    ),
    st.just({"salt": "0" * 32}),
    st.just({"family": "tiles"}),
    st.just({"name": "another"}),
)


@examples(12)
@given(change=CHANGES)
def test_one_changed_parameter_fails(
    change: dict[str, Any], new: NewDataset, promised: Commitment, recipe: DatasetRecipe
) -> None:
    path = new.secret / "changed.json"
    path.write_bytes(replace(recipe, **change).to_bytes())
    try:
        assert check_recipe(promised, path).outcome == "FAILS"
    finally:
        path.unlink()
    assert check_recipe(promised, new.secret / "reveal.json").outcome == "holds"


@pytest.mark.parametrize("change", [{"seed": 5}, {"settings": SETTINGS | {"rule": "maximum"}}])
def test_a_promised_recipe_that_makes_other_bytes_fails_when_it_is_made(
    change: dict[str, Any], promised: Commitment, recipe: DatasetRecipe
) -> None:
    """An organiser who commits to one recipe and hands out another dataset."""
    false = replace(recipe, **change)
    checks = outcomes(check_remade(commit(false, promised.files, promised.withheld), false, None, quiet))
    assert checks["train_x.npy, made again"] == checks["test_x.npy, made again"] == "FAILS"


def test_another_source_is_named_and_not_a_broken_promise(promised: Commitment, recipe: DatasetRecipe) -> None:
    other = replace(recipe, sources={"mnist": "0" * 64})
    [check] = check_remade(promised, other, None, quiet)
    assert check.outcome == "not checked" and "mnist differs" in check.text


def test_names_are_drawn_or_tell_nothing(tmp_path: Path) -> None:
    assert len({drawn_name() for _ in range(50)}) > 45 and len({drawn_seed() for _ in range(50)}) == 50
    for name in ("addnist", "my-chess-set", "Tovaki", "../x", "secret", ""):
        with pytest.raises(InvalidOption, match="an opaque name"):
            make_new(Channels(**SETTINGS), None, tmp_path / "x", name=name, seed=SEED, progress=quiet)


def test_damaged_files_are_named(tmp_path: Path, new: NewDataset) -> None:
    for content in (b"", b"[]", b"{}", b'{"name": 1, "files": 3, "withheld": {}, "recipe": ""}'):
        (tmp_path / "x.json").write_bytes(content)
        with pytest.raises(BadFile, match=r"x\.json .*get it from the organiser again"):
            Commitment.from_file(tmp_path / "x.json")
    revealed = json.loads((new.secret / "reveal.json").read_text())
    changes: list[dict[str, Any]] = [{"seed": "many"}, {"seed": 5}, {"settings": []}, {"sources": None}, {"salt": 1}]
    for change in changes:
        (tmp_path / "x.json").write_text(json.dumps(revealed | change))
        with pytest.raises(BadFile, match=r"x\.json is not a recipe"):
            DatasetRecipe.from_file(tmp_path / "x.json")


def test_a_commitment_that_leaves_a_file_out_is_refused(tmp_path: Path, new: NewDataset) -> None:
    public = json.loads(new.commitment.read_text())
    for name in public["files"]:
        fewer = {other: digest for other, digest in public["files"].items() if other != name}
        (tmp_path / "x.json").write_text(json.dumps(public | {"files": fewer}))
        with pytest.raises(BadFile, match=r"x\.json is not a commitment: its files are"):
            Commitment.from_file(tmp_path / "x.json")


def test_commands_from_making_to_verifying(new: NewDataset, tmp_path: Path) -> None:
    """Organiser, contestant and doubter, on the prepared images of noise."""
    options = [word for key, value in SETTINGS.items() for word in ("--set", f"{key}={value}")]
    written = run_command("data", "make", "channels", *options, "--out", tmp_path / "c", "--json")
    assert written.returncode == 0, written.stderr
    folder, commitment, secret = (Path(place) for place in json.loads(written.stdout).values())
    assert folder.parent == commitment.parent == secret.parent == tmp_path / "c"
    shutil.copytree(folder, handed_out := tmp_path / "mine", ignore=shutil.ignore_patterns("test_y.npy"))
    contestant = run_command("data", "verify", commitment, "--data", handed_out, "--json")
    checks = {check["about"]: check["outcome"] for check in json.loads(contestant.stdout)["checks"]}
    assert contestant.returncode == 0 and checks == {
        name: "not checked" if name == "test_y.npy" else "holds" for name in FILES
    }
    revealed = ("--data", folder, "--reveal", secret / "reveal.json", "--remake")
    assert run_command("data", "verify", commitment, *revealed).stdout.endswith(": 15 hold, 0 fail, 0 not checked\n")
    doubted = run_command("data", "verify", new.commitment, *revealed)
    assert doubted.returncode == 1 and "FAILS" in doubted.stdout
    for wrong in (("--set", "digit=3"), ("--set", "digits"), ("--genuine",)):
        result = run_command("data", "make", "channels", *wrong, "--out", tmp_path / "d")
        assert (result.returncode, result.stderr.count("\n")) == (2, 1)
    assert "rule=product-modulo modulus=10" in run_command("data", "make", "channels", "--describe").stdout


def test_a_folder_that_another_process_made_meanwhile_is_kept(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(InvalidOption, match="out exists; name another"), new_folder(out):
        out.mkdir()
        (out / "theirs").touch()
    assert [path.name for path in tmp_path.rglob("*")] == ["out", "theirs"]
