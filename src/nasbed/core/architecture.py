"""An architecture is a value: which space it belongs to, and its integer code there."""

from __future__ import annotations

import json
from dataclasses import dataclass

from nasbed.core.errors import ParseError, shorten
from nasbed.core.presentation.upward import html_view


@dataclass(frozen=True, slots=True, order=True)
class Architecture:
    """A point of a search space: hashable, ordered, cheap to make, and nothing else.

    What the integers mean is the business of the space named; :meth:`nasbed.spaces.SearchSpace.validate` checks them.

    >>> Architecture("nb201", (3, 0, 1, 2, 4, 3)).to_json()
    '{"space": "nb201", "code": [3, 0, 1, 2, 4, 3]}'
    """

    space: str
    code: tuple[int, ...]

    def to_json(self) -> str:
        return json.dumps({"space": self.space, "code": list(self.code)})

    def _repr_html_(self) -> str | None:
        """The drawn cell, for notebooks."""
        return html_view("views:architecture_html", self)

    @classmethod
    def from_json(cls, text: str) -> Architecture:
        """The inverse of :meth:`to_json`; the code is not checked against the space."""
        try:
            data = json.loads(text)
        except (json.JSONDecodeError, RecursionError) as error:
            raise ParseError(
                f"an architecture is a JSON object with space and code, got {shorten(text)}: {error}"
            ) from None
        space, code = (data.get("space"), data.get("code")) if isinstance(data, dict) else (None, None)
        if not isinstance(space, str) or not isinstance(code, list) or not all(type(item) is int for item in code):
            raise ParseError(f'an architecture reads {{"space": "nb201", "code": [3, 0, …]}}, got {shorten(text)}')
        return cls(space, tuple(code))
