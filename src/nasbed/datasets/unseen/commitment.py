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
from nasbed.datasets.unseen.family import DatasetFamily

VERSION = 1
WITHHELD = "test_y.npy"
"""The labels that contestants predict. Their plain SHA-256 would tell a contestant whether a guess is right."""
HOW = (
    "files: SHA-256 of each file. withheld: SHA-256 of the salt in reveal.json followed by the file. "
    "recipe: SHA-256 of reveal.json, which is published after the challenge."
)


@dataclass(frozen=True, slots=True)
class Recipe:
    """All that makes a dataset, and the salt of its commitment. ``sources`` has the digests of the raw material."""

    name: str
    family: str
    settings: Mapping[str, Any]
    seed: int
    salt: str
    sources: Mapping[str, str]
    versions: Mapping[str, str]

    def to_bytes(self) -> bytes:
        """The file ``reveal.json``. The seed is text, because many readers of JSON round large numbers."""
        return json_bytes(asdict(self) | {"seed": str(self.seed)})

    @classmethod
    def from_file(cls, path: Path) -> Recipe:
        content = _object(path, cls.__slots__)
        try:
            return cls(**content | {"seed": int(content["seed"])})
        except (ValueError, TypeError) as error:
            raise BadFile(f"{path} is not a recipe: {error}; get it from the organiser again") from None

    def generator(self) -> DatasetFamily:
        return FAMILIES.get(self.family)(**self.settings)


@dataclass(frozen=True, slots=True)
class Commitment:
    """The digests of a dataset's files, of its withheld labels and of its recipe."""

    name: str
    files: Mapping[str, str]
    withheld: str
    recipe: str

    def to_bytes(self) -> bytes:
        """The file ``commitment.json``."""
        return json_bytes({"version": VERSION, **asdict(self), "withheld": {WITHHELD: self.withheld}, "how": HOW})

    @classmethod
    def from_file(cls, path: Path) -> Commitment:
        content = _object(path, cls.__slots__)
        try:
            return cls(
                str(content["name"]), dict(content["files"]), content["withheld"][WITHHELD], str(content["recipe"])
            )
        except (ValueError, TypeError, KeyError):
            raise BadFile(f"{path} is not a commitment; get it from the organiser again") from None


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


def commit(recipe: Recipe, digests: Mapping[str, str], withheld: str) -> Commitment:
    """The commitment to a dataset.

    Args:
        recipe: What made it.
        digests: The SHA-256 of its files by name, with or without the withheld labels.
        withheld: The SHA-256 of the salt and the test labels.
    """
    files = {name: digest for name, digest in digests.items() if name != WITHHELD}
    return Commitment(recipe.name, files, withheld, hashlib.sha256(recipe.to_bytes()).hexdigest())


def check_files(commitment: Commitment, folder: Path, salt: str | None) -> list[CommitmentCheck]:
    """Compare the files of a dataset with the commitment; without the salt, all but the test labels."""
    checks = []
    for name in (*commitment.files, WITHHELD):
        path = folder / name
        if name == WITHHELD and not path.is_file():
            outcome, text = "not checked", "contestants do not have it"
        elif not path.is_file():
            outcome, text = "FAILS", f"{folder} has no such file"
        elif name == WITHHELD and salt is None:
            outcome, text = "not checked", "its salt is in reveal.json; name it with --reveal"
        elif name == WITHHELD:
            outcome, text = _compared(_salted_sha256(path, str(salt)), commitment.withheld)
        else:
            outcome, text = _compared(file_sha256(path), commitment.files[name])
        checks.append(CommitmentCheck(name, outcome, text))
    return checks


def check_recipe(commitment: Commitment, path: Path) -> CommitmentCheck:
    """Compare the bytes of a revealed recipe with the commitment."""
    return CommitmentCheck("recipe", *_compared(file_sha256(path), commitment.recipe))


def check_remade(
    commitment: Commitment, recipe: Recipe, source: Path | None, progress: Progress
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
    remade = {name: array_sha256(generated, name) for name in ARRAYS if name != WITHHELD} | {"metadata": metadata}
    withheld = array_sha256(generated, WITHHELD, recipe.salt.encode())
    checks = [
        CommitmentCheck(f"{name}, made again", *_compared(remade.get(name, ""), digest))
        for name, digest in commitment.files.items()
    ]
    return [*checks, CommitmentCheck(f"{WITHHELD}, made again", *_compared(withheld, commitment.withheld))]


def _compared(digest: str, committed: str) -> tuple[Literal["holds", "FAILS"], str]:
    if digest == committed:
        return "holds", digest
    return "FAILS", f"the commitment has {committed}, this is {digest or 'not made'}"


def _salted_sha256(path: Path, salt: str) -> str:
    return hashlib.sha256(salt.encode() + path.read_bytes()).hexdigest()


def _object(path: Path, keys: tuple[str, ...]) -> dict[str, Any]:
    """The members of a JSON file that a dataclass has."""
    try:
        content = json.loads(path.read_bytes())
        return {key: content[key] for key in keys}
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise BadFile(f"{path} cannot be read: {reason[:100]}; get it from the organiser again") from None
