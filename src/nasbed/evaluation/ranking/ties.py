"""Ranks of equal items.

A measure of the first k items must decide which of several equal ones they are. The rules, by name:

- ``average``: the mean of the measure over all orders of the equal items. Orders of the truth and of the scores are
  independent (Corsi & Urbano 2024 call the overlap of this rule RBO^a);
- ``pessimistic``: the order of equal items for which the scores do worst, a guarantee;
- ``optimistic``: the one for which they do best;
- ``index``: the item that comes first in the input comes first, as in a stable sort.

All but ``index`` do not depend on the order of the input.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from nasbed.core.errors import InvalidOption, shorten
from nasbed.evaluation.ranking.columns import Floats, Integers

Ties = Literal["average", "pessimistic", "optimistic", "index"]


@dataclass(frozen=True, slots=True)
class RankRange:
    """The ranks that each item may take, from ``first`` to ``last``; 1 is that of the highest value."""

    first: Integers
    last: Integers

    @property
    def tied(self) -> bool:
        return self.first is not self.last and bool((self.first != self.last).any())

    def chance(self, depth: int) -> Floats:
        """The probability of each item to be among the first ``depth``, all orders of equal items being equally
        likely."""
        return np.clip((depth - self.first + 1) / (self.last - self.first + 1), 0.0, 1.0)


def rank_ranges(values: Floats) -> RankRange:
    """The rank ranges of items by value, the highest first.

    >>> rank_ranges(np.array([5.0, 7.0, 5.0]))
    RankRange(first=array([2, 1, 2]), last=array([3, 1, 3]))
    """
    order = np.argsort(-values)
    falling = values[order]
    ends = np.append(np.flatnonzero(falling[1:] != falling[:-1]) + 1, len(values))
    first, last = np.empty((2, len(values)), dtype=np.int64)
    if len(ends) == len(values):
        first[order] = ends
        return RankRange(first, first)
    sizes = np.diff(ends, prepend=0)
    first[order], last[order] = np.repeat(ends - sizes + 1, sizes), np.repeat(ends, sizes)
    return RankRange(first, last)


def ranks_of(truth: RankRange, scores: RankRange, ties: Ties) -> tuple[Integers, Integers]:
    """The rank of each item by truth and by scores, 1 to n without equals.

    ``pessimistic`` ranks equal items by the other column, the worst first, and items that are equal in both in opposite
    orders. The overlap of any two prefixes is then as small as possible. ``optimistic`` does the opposite.

    >>> ranges = rank_ranges(np.array([2.0, 1.0, 1.0]))
    >>> first, second = ranks_of(ranges, ranges, "pessimistic")
    >>> [first.tolist(), second.tolist()], ranks_of(ranges, ranges, "index")[1].tolist()
    ([[1, 3, 2], [1, 2, 3]], [1, 2, 3])
    """
    if ties == "index":
        return _ranks_by_place(truth, None), _ranks_by_place(scores, None)
    if ties == "optimistic":
        return _ranks_by_place(truth, scores.first), _ranks_by_place(scores, truth.first)
    if ties == "pessimistic":
        backwards = RankRange(truth.first[::-1], truth.last[::-1])
        least = len(truth.first) + 1
        return _ranks_by_place(backwards, least - scores.first[::-1])[::-1], _ranks_by_place(
            scores, least - truth.first
        )
    raise InvalidOption(
        f"equal items are ranked by one order, with ties {_join_names(get_args(Ties)[1:])}, got {ties!r}"
    )


def checked_ties(ties: Ties) -> Ties:
    """One of the rules above.

    >>> checked_ties("average")
    'average'
    """
    if ties not in get_args(Ties):
        raise InvalidOption(f"ties are {_join_names(get_args(Ties))}, got {shorten(ties)}")
    return ties


def _ranks_by_place(ranges: RankRange, tie_breaker: Integers | None) -> Integers:
    """Ranks by place, among equals by the smaller ``tie_breaker``, then by position."""
    if not ranges.tied:
        return ranges.first
    keys = [ranges.first] if tie_breaker is None else [tie_breaker, ranges.first]
    halves = [half.astype(np.uint16) for key in keys for half in (key & 0xFFFF, key >> 16)]  # sorted in linear time
    ranks = np.empty(len(ranges.first), dtype=np.int64)
    ranks[np.lexsort(halves)] = np.arange(1, len(ranks) + 1)
    return ranks


def _join_names(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"
