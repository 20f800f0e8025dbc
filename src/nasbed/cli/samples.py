"""The architectures that ``nasbed space sample`` prints or writes."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from nasbed.core.errors import BadFile, InvalidOption, nearest
from nasbed.core.files import complete_file

if TYPE_CHECKING:
    from nasbed.core.architecture import Architecture
    from nasbed.spaces import SearchSpace

RANDOM = "random"


def designed(space: SearchSpace, design: str, *, count: int | None, seed: int) -> list[Architecture]:
    """Random architectures, the first of a space-filling design, or all of a list that the space names.

    Args:
        space: Where they are from.
        design: ``random``, ``sobol``, ``lhs``, or the name of a list.
        count: The number of architectures, 1 by default; a list has its own.
        seed: The same seed gives the same architectures.
    """
    import numpy as np

    from nasbed.spaces.filling import DESIGNS, space_filling

    rng, number = np.random.default_rng(seed), 1 if count is None else count
    if design == RANDOM:
        return [space.sample(rng) for _ in range(number)]
    if design in DESIGNS:
        return list(islice(space_filling(space, design, rng, count=number), number))
    if design not in space.designs:
        raise InvalidOption(
            f"{space.name} has no design {design!r}; {nearest(design, (RANDOM, *DESIGNS, *space.designs))}"
        )
    if count is not None:
        raise InvalidOption(f"the list {design} has its own number of architectures; omit --count")
    return space.architectures(space.designs[design].draw(rng))


def write_architectures(space: SearchSpace, architectures: list[Architecture], path: Path) -> None:
    """Write one architecture a line; the file appears only when it is complete."""
    if path.is_dir():
        raise InvalidOption(f"architectures go into a text file, got the folder {path}; name a file in it")
    try:
        with complete_file(path) as draft:
            draft.write_text("".join(f"{space.format(arch)}\n" for arch in architectures), encoding="utf-8")
    except OSError as error:
        raise BadFile(f"{path} cannot be written: {error.strerror}; name another") from None
