"""Make a new unseen dataset of a family, for a challenge: what contestants get, a commitment, and the secret recipe."""

from __future__ import annotations

import platform
import re
import secrets
from pathlib import Path
from typing import NamedTuple

import numpy as np

import nasbed
from nasbed.core.errors import InvalidOption, shorten
from nasbed.core.files import file_sha256
from nasbed.datasets.source import Progress
from nasbed.datasets.unseen import FAMILIES, UNSEEN
from nasbed.datasets.unseen.commitment import WITHHELD, DatasetRecipe, commit, public_metadata
from nasbed.datasets.unseen.export import (
    array_sha256,
    card,
    check_new,
    new_folder,
    write_arrays,
    write_explanation,
)
from nasbed.datasets.unseen.families.family import DatasetFamily

SECRET_BITS = 128
GUESSABLE = 1 << 64
"""A seed below can be found by making the dataset with one seed after the other."""
_NAME = re.compile("[a-z0-9][a-z0-9_-]*")


class NewDataset(NamedTuple):
    """Where the parts of a new dataset are."""

    folder: Path
    """The dataset under its opaque name. Contestants get all of it but ``test_y.npy``."""
    commitment: Path
    """Public from the start."""
    secret: Path
    """The folder with the recipe, the card and the origins of the images."""
    notes: tuple[str, ...]
    """What was left out of the raw material, for the organiser."""


def drawn_name() -> str:
    """A name that means nothing, from the system's randomness: three syllables of 75, such as ``tovaki``."""
    return "".join(secrets.choice("bdfghjklmnprstv") + secrets.choice("aeiou") for _ in range(3))


def drawn_seed() -> int:
    """A seed that nobody can guess, from the system's randomness."""
    return secrets.randbits(SECRET_BITS)


def make_new(
    generator: DatasetFamily, source: Path | None, out: Path, *, name: str, seed: int, progress: Progress
) -> NewDataset:
    """Write ``NAME`` for contestants, ``commitment.json`` for the public and ``secret`` for the organiser into a new
    folder, which appears only when complete.

    Args:
        generator: A family with its parameters.
        source: The raw material, or None where it is found without.
        out: The new folder.
        name: The opaque name of the dataset.
        seed: The secret seed; the same seed gives the same bytes.
        progress: Called while images are made and written.
    """
    _check_name(name)
    check_new(out)
    generated = generator.make(source, seed=seed, progress=progress)
    generator.check(generated)
    recipe = DatasetRecipe(
        name=name,
        family=generator.name,
        settings=generator.settings,
        seed=seed,
        salt=secrets.token_hex(SECRET_BITS // 8),
        sources=dict(generated.sources),
        versions={"nasbed": nasbed.__version__, "numpy": np.__version__, "python": platform.python_version()},
    )
    with new_folder(out) as draft:
        public, secret = draft / name, draft / "secret"
        public.mkdir()
        secret.mkdir(mode=0o700)
        digests = write_arrays(public, generated, progress, name)
        (public / "metadata").write_bytes(public_metadata(generator, name))
        digests["metadata"] = file_sha256(public / "metadata")
        withheld = array_sha256(generated, WITHHELD, recipe.salt.encode())
        (draft / "commitment.json").write_bytes(commit(recipe, digests, withheld).to_bytes())
        (secret / "reveal.json").write_bytes(recipe.to_bytes())
        write_explanation(secret, generator, generated, card(generator, generated, seed, digests))
    return NewDataset(out / name, out / "commitment.json", out / "secret", generated.notes)


def _check_name(name: str) -> None:
    known = [*UNSEEN, *FAMILIES]
    if not _NAME.fullmatch(name) or name == "secret":
        raise InvalidOption(f"an opaque name is a word of a-z 0-9 _ - and not 'secret', got {shorten(name)}; omit it")
    if telling := [other for other in known if other in name]:
        raise InvalidOption(f"an opaque name tells nothing, {name} tells {telling[0]}; omit it to have one drawn")
