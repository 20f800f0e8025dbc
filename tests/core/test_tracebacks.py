"""What is said of an error in a user's own code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nasbed.core.tracebacks import with_place
from nasbed.optimizers import Proposal
from nasbed.spaces import space


class Theirs:
    """An object of the user's own."""


@pytest.mark.parametrize(
    ("thing", "expected"),
    [
        (
            Proposal(space("nb201").parse("|none~0|+|none~0|none~1|+|none~0|none~1|none~2|")),
            "no such; it has architecture, fidelity",
        ),
        (Theirs(), "no such"),
        (7, "no such"),
    ],
)
def test_missing_attribute_names_the_fields_of_an_object_of_nasbed(thing: Any, expected: str) -> None:
    with pytest.raises(AttributeError) as caught:
        thing.arch  # noqa: B018
    line = caught.value.__traceback__.tb_lineno  # type: ignore[union-attr]
    assert with_place("no such", caught.value) == f"{expected} ({Path(__file__).name}, line {line})"
