"""Lists of architectures: of a grid, or of networks to score."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from nasbed.core.architecture import Architecture
from nasbed.core.errors import BadFile, InvalidOption, NasbedError
from nasbed.spaces import SPACES
from nasbed.spaces.base import SearchSpace

ALL = "all"
FUNCTIONS = "functions"


def listed_architectures(
    listing: str | Sequence[str], space: SearchSpace, folder: Path = Path(), *, option: str = "[grid] architectures"
) -> list[Architecture]:
    """The architectures of a list, each once, in their order.

    Args:
        listing: Texts, the name of a file with one per line, or ``all``, ``functions``, ``nb101:5`` or the name of one
            of the space's designs, such as ``topologies``, which is then drawn with the seed 0.
        space: Where they are from.
        folder: What the name of a file is relative to.
        option: Whose value the list is, for errors.
    """
    if not isinstance(listing, str):
        return _each_once(space.parse(text) for text in listing)
    if listing == ALL:
        return list(space.enumerate())
    if listing == FUNCTIONS:
        return _different_functions(space)
    if listing in space.designs:
        return space.architectures(space.designs[listing].draw(np.random.default_rng(0)))
    owner, colon, limit = listing.partition(":")
    if colon and owner in SPACES:
        if owner != space.name:
            raise InvalidOption(f"{option} {listing} are those of {owner}, the space is {space.name}")
        return space.architectures(space.codes_up_to(limit))
    path = folder / listing
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        names = ", ".join((ALL, FUNCTIONS, "nb101:5", *space.designs))
        raise BadFile(f"{option} are {names}, a list or a file of texts, {path} cannot be read: {error}") from None
    architectures = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                architectures.append(space.parse(line.strip()))
            except NasbedError as error:
                raise BadFile(f"{path}, line {number}: {error}") from None
    if not architectures:
        raise BadFile(f"{path} names no architecture; write one a line")
    return _each_once(architectures)


def _different_functions(space: SearchSpace) -> list[Architecture]:
    """One architecture for each function that those of a space compute."""
    architectures = list(space.enumerate())
    codes, functions = space.codes(architectures), space.function_codes(architectures)
    return [architectures[place] for place in np.flatnonzero((codes == functions).all(axis=1))]


def _each_once(archs: Iterable[Architecture]) -> list[Architecture]:
    return list(dict.fromkeys(archs))
