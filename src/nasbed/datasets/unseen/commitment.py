"""A promise of a dataset before a challenge, and its proof afterwards (commit and reveal).

``commitment.json`` is public from the start. It has the SHA-256 of every file that contestants get, that of the test
labels after a secret salt, and that of ``reveal.json``. ``reveal.json`` has the recipe and the salt; it is published
when the challenge is over. ``sha256sum`` is enough to check all but the last step, which makes the dataset again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from nasbed.core.errors import BadFile
from nasbed.core.files import file_sha256
from nasbed.datasets.source import Progress
from nasbed.datasets.unseen import FAMILIES
from nasbed.datasets.unseen.export import ARRAYS, array_sha256, json_bytes
from nasbed.datasets.unseen.families.family import DatasetFamily

VERSION = 1
WITHHELD = "test_y.npy"
"""The labels that contestants predict. Their plain SHA-256 would tell a contestant whether a guess is right."""
COMMITTED = {*ARRAYS, "metadata"} - {WITHHELD}
NOT_PROMISED = "the commitment does not have it; contestants do not get it"
HOW = (
    "files: SHA-256 of each file. withheld: SHA-256 of the salt in reveal.json followed by the file. "
    "recipe: SHA-256 of reveal.json, which is published after the challenge."
)


@dataclass(frozen=True, slots=True)
class DatasetRecipe:
    """All that makes a dataset, and the salt of its commitment."""

    name: str
    """Opaque."""
    family: str
    seed: int
    salt: str
    """Text that is hashed before the test labels."""
    settings: Mapping[str, Any]
    """The parameters of the family."""
    sources: Mapping[str, str]
    """The digests of the raw material."""
    versions: Mapping[str, str]

    def to_bytes(self) -> bytes:
        """The file ``reveal.json``. The seed is text, because many readers of JSON round large numbers."""
        return json_bytes(asdict(self) | {"seed": str(self.seed)})

    @classmethod
    def from_file(cls, path: Path) -> DatasetRecipe:
        content = _object(path, cls.__slots__)
        texts, tables = ("name", "family", "seed", "salt"), ("settings", "sources", "versions")
        if not all(isinstance(content[key], str) for key in texts) or not content["seed"].isdecimal():
            raise BadFile(f"{path} is not a recipe: {', '.join(texts)} are text; get it from the organiser again")
        if not all(isinstance(content[key], dict) for key in tables):
            raise BadFile(f"{path} is not a recipe: {', '.join(tables)} are objects; get it from the organiser again")
        return cls(**content | {"seed": int(content["seed"])})

    def generator(self) -> DatasetFamily:
        return FAMILIES.get(self.family)(**self.settings)


@dataclass(frozen=True, slots=True)
class Commitment:
    """What is promised of a dataset, as digests."""

    name: str
    """Opaque."""
    recipe: str
    """The SHA-256 of ``reveal.json``."""
    withheld: str
    """That of the salt and the test labels."""
    files: Mapping[str, str]
    """Those of all other files by name."""

    def to_bytes(self) -> bytes:
        """The file ``commitment.json``."""
        return json_bytes({"version": VERSION, **asdict(self), "withheld": {WITHHELD: self.withheld}, "how": HOW})

    @classmethod
    def from_file(cls, path: Path) -> Commitment:
        """A commitment that leaves out a file of a dataset is refused: nothing would be compared with it."""
        content = _object(path, cls.__slots__)
        files, withheld = content["files"], content["withheld"]
        if not isinstance(files, dict) or set(files) != COMMITTED or not isinstance(withheld, dict):
            names = ", ".join(sorted(COMMITTED))
            raise BadFile(f"{path} is not a commitment: its files are {names}; get it from the organiser again")
        return cls(**content | {"withheld": str(withheld.get(WITHHELD))})


@dataclass(frozen=True, slots=True)
class CommitmentCheck:
    """One step of a verification: what was compared, and how it went."""

    about: str
    outcome: Literal["holds", "FAILS", "not checked"]
    text: str


def public_metadata(generator: DatasetFamily, name: str) -> bytes:
    """The file ``metadata`` that contestants get: numbers and an opaque name, nothing on family, rule or classes."""
    shape = [generator.counts[0], *generator.shape]
    return json_bytes({"num_classes": len(generator.classes), "input_shape": shape, "codename": name})


def commit(recipe: DatasetRecipe, digests: Mapping[str, str], withheld: str) -> Commitment:
    """The commitment to a dataset.

    Args:
        recipe: What made it.
        digests: The SHA-256 of its files by name, with or without the withheld labels.
        withheld: The SHA-256 of the salt and the test labels.
    """
    files = {name: digest for name, digest in digests.items() if name != WITHHELD}
    return Commitment(recipe.name, hashlib.sha256(recipe.to_bytes()).hexdigest(), withheld, files)


def check_files(commitment: Commitment, folder: Path, salt: str | None) -> list[CommitmentCheck]:
    """Compare the files of a dataset with the commitment; without the salt, all but the test labels. Other files in the
    folder are named, since they may say something of these labels, as the digest in a pinned baseline does."""
    checks = []
    for name, committed in commitment.files.items():
        if (folder / name).is_file():
            checks.append(_compared(name, file_sha256(folder / name), committed))
        else:
            checks.append(CommitmentCheck(name, "FAILS", f"{folder} has no such file"))
    checks += [CommitmentCheck(name, "not checked", NOT_PROMISED) for name in _other_names(folder)]
    labels = folder / WITHHELD
    if not labels.is_file():
        return [*checks, CommitmentCheck(WITHHELD, "not checked", "contestants do not have it")]
    if salt is None:
        return [*checks, CommitmentCheck(WITHHELD, "not checked", "its salt is in reveal.json; name it with --reveal")]
    salted = hashlib.sha256(salt.encode() + labels.read_bytes()).hexdigest()
    return [*checks, _compared(WITHHELD, salted, commitment.withheld)]


def _other_names(folder: Path) -> list[str]:
    """The names of what lies in a dataset's folder and is no part of the dataset."""
    return sorted(path.name for path in folder.iterdir() if path.name not in COMMITTED | {WITHHELD})


def check_recipe(commitment: Commitment, path: Path) -> CommitmentCheck:
    """Compare the bytes of a revealed recipe with the commitment."""
    return _compared("recipe", file_sha256(path), commitment.recipe)


def check_remade(
    commitment: Commitment, recipe: DatasetRecipe, source: Path | None, progress: Progress
) -> list[CommitmentCheck]:
    """Make the dataset again by its recipe, and compare every byte with the commitment."""
    generator = recipe.generator()
    generated = generator.make(source, seed=recipe.seed, progress=progress)
    if generated.sources != recipe.sources:
        different = sorted(set(generated.sources.items()) ^ set(recipe.sources.items()))
        text = f"the source here is another than the recipe's: {different[0][0]} differs"
        return [CommitmentCheck("made again", "not checked", text)]
    generator.check(generated)
    metadata = hashlib.sha256(public_metadata(generator, recipe.name)).hexdigest()
    remade = {
        "metadata": metadata,
        WITHHELD: array_sha256(generated, WITHHELD, recipe.salt.encode()),
        **{name: array_sha256(generated, name) for name in ARRAYS if name != WITHHELD},
    }
    promised = {**commitment.files, WITHHELD: commitment.withheld}
    return [_compared(f"{name}, made again", remade[name], digest) for name, digest in promised.items()]


def _compared(about: str, digest: str, committed: str) -> CommitmentCheck:
    if digest == committed:
        return CommitmentCheck(about, "holds", digest)
    return CommitmentCheck(about, "FAILS", f"the commitment has {committed}, this is {digest}")


def _object(path: Path, keys: tuple[str, ...]) -> dict[str, Any]:
    """The members of a JSON file that a dataclass has."""
    try:
        content = json.loads(path.read_bytes())
        return {key: content[key] for key in keys}
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise BadFile(f"{path} cannot be read: {reason[:100]}; get it from the organiser again") from None
