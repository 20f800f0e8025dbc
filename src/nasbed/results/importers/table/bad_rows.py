"""Rows that cannot be read: the user may skip and count them instead of having the file refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from nasbed.core.errors import BadFile
from nasbed.results.importers.table.columns import BadRow, CellBatch
from nasbed.results.rows import Rows

MOST_LISTED = 5


@dataclass
class BadRows:
    """The rows that were left out: their number, and the first of them with reasons."""

    count: int = 0
    good_count: int = 0
    first: list[str] = field(default_factory=list)

    def rest(self, cells: CellBatch, read: Callable[[CellBatch], Rows | None]) -> Iterator[Rows]:
        """The rows of a batch that can be read, in order. A part with a bad row is halved until that row is alone."""
        try:
            rows = read(cells)
        except BadRow as error:
            if len(cells) > 1:
                middle = len(cells) // 2
                yield from self.rest(cells.part(0, middle), read)
                yield from self.rest(cells.part(middle, len(cells)), read)
            else:
                self.count += 1
                self.first += [str(error)] if len(self.first) < MOST_LISTED else []
            return
        if rows is not None:
            self.good_count += len(rows)
            yield rows

    def lines(self) -> list[str]:
        """What was left out, a line each; nothing where every row could be read."""
        if not self.count:
            return []
        listed = "" if self.count == len(self.first) else f"; the first {len(self.first)}"
        noun = "row" if self.count == 1 else "rows"
        return [f"{self.count} bad {noun} skipped, {self.good_count} read{listed}:", *self.first]

    def check_some_good(self) -> None:
        """Raise if every row was bad: then the options are wrong, not the rows."""
        if self.count and not self.good_count:
            raise BadFile(f"none of {self.count} rows can be read; check the options. The first: {self.first[0]}")
