"""Trees of any library as one program of arrays, which answers for many members at once."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import BadFile, InvalidOption
from nasbed.surrogates.trees.keys import CATEGORY, CATEGORY_CUT, TOP, Floats, Words
from nasbed.surrogates.trees.plain import plain_is_enough, predict_plainly
from nasbed.surrogates.trees.storage import ARRAYS, packed_arrays, unpacked_arrays

LIMIT = TOP // 4
"""How many splits a forest may have."""


@dataclass(frozen=True, slots=True)
class Forest:
    """The trees of one or many members over rows of float32 features.

    Each float32 is mapped to an integer key of the same order, so that ``<=`` compares integers. A threshold of any
    library is exactly one unsigned integer, and the key of a missing value decides where it goes. A split is four
    adjacent words: threshold, column, left child, right child. A column is a feature with one of the rules of
    :mod:`~nasbed.surrogates.trees.keys`. A child is the place of a split's first word or, with the top bit set, the
    number of a leaf.

    A split on categories has the top bit of its column set. Its threshold is the place in ``sets`` where its set
    starts: the number of the last bit, then the bits, set for the categories that go left. The first two bits are for a
    missing and an unknown category. One bit for each category follows, and the last is for all beyond.
    """

    splits: Words  # [4 × splits]
    columns: NDArray[np.int32]  # [columns, 2]: feature, rule
    sets: Words
    leaves: Floats
    roots: Words  # [trees], as children are
    bounds: NDArray[np.int64]  # [members + 1]: where each member's trees start
    start: Floats  # [members]: what the leaves are added to
    divisor: Floats  # [members]: what their sum is divided by
    narrow: NDArray[np.bool_]  # [members]: whether each sum is rounded to float32
    width: int = field(init=False)  # how many features a row must have

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", int(self.columns[:, 0].max(initial=-1)) + 1 if self.columns.ndim == 2 else 0)

    @property
    def members(self) -> int:
        return len(self.start)

    @property
    def trees(self) -> int:
        return len(self.roots)

    def predict(self, rows: NDArray[np.float32]) -> Floats:
        """What each member answers for each row, ``[n, members]``."""
        if rows.ndim != 2 or rows.dtype != np.float32:
            raise InvalidOption(f"trees take rows of float32 features, got {rows.dtype} {rows.shape}")
        if rows.shape[1] < self.width:
            raise InvalidOption(f"these trees look at {self.width} features, got rows of {rows.shape[1]}")
        if plain_is_enough(len(rows) * self.trees):
            return predict_plainly(self, rows)
        return self.predict_compiled(rows)

    def predict_compiled(self, rows: NDArray[np.float32]) -> Floats:
        """:meth:`predict` without the checks, compiled at once."""
        from nasbed.surrogates.trees.kernel import walk

        predictions = np.empty((len(rows), self.members))
        rows = np.ascontiguousarray(rows)
        walk(
            rows,
            rows.view(np.uint32),
            self.splits,
            self.columns,
            self.sets,
            self.leaves,
            self.roots,
            self.bounds,
            self.start,
            self.divisor,
            self.narrow,
            predictions,
        )
        return predictions

    @classmethod
    def merge(cls, forests: Sequence[Forest]) -> Forest:
        """The members of all, in their order, as one program."""
        if not forests:
            raise InvalidOption("a forest has at least 1 member, got none to merge")
        columns, places = np.unique(np.concatenate([forest.columns for forest in forests]), axis=0, return_inverse=True)
        place = np.split(
            places.reshape(-1).astype(np.uint32), np.cumsum([len(forest.columns) for forest in forests])[:-1]
        )
        splits, roots = [], []
        at_split = at_leaf = at_set = 0
        for forest, column in zip(forests, place, strict=True):
            table = forest.splits.reshape(-1, 4).copy()
            category = table[:, 1] >= TOP
            table[category, 0] += np.uint32(at_set)
            table[:, 1] = column[table[:, 1] % TOP] | (table[:, 1] & np.uint32(TOP)) if len(table) else table[:, 1]
            for child in (2, 3):
                table[:, child] = _moved(table[:, child], at_split, at_leaf)
            splits.append(table.reshape(-1))
            roots.append(_moved(forest.roots, at_split, at_leaf))
            at_split += len(forest.splits)
            at_leaf += len(forest.leaves)
            at_set += len(forest.sets)
        if max(at_split, at_leaf, at_set) >= TOP:
            raise InvalidOption(f"a forest has at most {LIMIT:,} splits, got {at_split // 4:,}; use fewer trees")
        counts = np.concatenate([np.diff(forest.bounds) for forest in forests])
        return cls(
            np.concatenate(splits),
            columns,
            np.concatenate([forest.sets for forest in forests]),
            np.concatenate([forest.leaves for forest in forests]),
            np.concatenate(roots),
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            np.concatenate([forest.start for forest in forests]),
            np.concatenate([forest.divisor for forest in forests]),
            np.concatenate([forest.narrow for forest in forests]),
        )

    def in_single_precision(self) -> Forest:
        """The same trees with each leaf rounded to float32."""
        return replace(self, leaves=self.leaves.astype(np.float32).astype(np.float64))

    def dump(self) -> bytes:
        """All of it as one npz file, see :mod:`~nasbed.surrogates.trees.storage`."""
        file = io.BytesIO()
        np.savez_compressed(file, allow_pickle=False, **packed_arrays(self))
        return file.getvalue()

    @classmethod
    def restore(cls, data: bytes) -> Forest:
        """The inverse of :meth:`dump`: the same answers. What would lead a walk out of the arrays is refused."""
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as file:
                stored = {name: file[name] for name in ARRAYS}
        except Exception as error:  # zipfile, zlib and numpy each raise their own
            raise BadFile(f"the forest is not an npz file of arrays: {error}") from None
        forest = cls(**unpacked_arrays(stored))
        forest.check()
        return forest

    def check(self) -> None:
        """Raise unless the arrays have their shapes and no walk leads out of them or in a circle."""
        expected: dict[str, tuple[type[np.generic], tuple[int | None, ...]]] = {
            "splits": (np.uint32, (None,)),
            "columns": (np.int32, (None, 2)),
            "sets": (np.uint32, (None,)),
            "leaves": (np.float64, (None,)),
            "roots": (np.uint32, (None,)),
            "bounds": (np.int64, (len(self.start) + 1,)),
            "start": (np.float64, (None,)),
            "divisor": (np.float64, (len(self.start),)),
            "narrow": (np.bool_, (len(self.start),)),
        }
        for name, (kind, shape) in expected.items():
            array = getattr(self, name)
            fits = array.ndim == len(shape) and all(w in (None, s) for w, s in zip(shape, array.shape, strict=True))
            if array.dtype != kind or not fits or not array.flags.c_contiguous:
                raise BadFile(f"the forest's {name} must be {kind.__name__} {shape}, got {array.dtype} {array.shape}")
        if not self._sound():
            raise BadFile("the forest's trees point outside its arrays or in a circle; get the file again")

    def _sound(self) -> bool:
        bounds = self.bounds
        if bounds[0] != 0 or bounds[-1] != self.trees or (np.diff(bounds) < 0).any() or len(self.splits) % 4:
            return False
        if len(self.columns) and (self.columns.min() < 0 or self.columns[:, 1].max() > CATEGORY_CUT):
            return False
        table = self.splits.reshape(-1, 4)
        column = table[:, 1].astype(np.int64) % TOP
        category = table[:, 1] >= TOP
        if (column >= len(self.columns)).any():
            return False
        if ((self.columns[column, 1] >= CATEGORY) != category).any() or not self._sets_sound(table[category, 0]):
            return False
        places = np.arange(len(table), dtype=np.int64)[:, None] * 4
        return self._children_sound(table[:, 2:], places) and self._children_sound(self.roots[:, None], None)

    def _sets_sound(self, places: Words) -> bool:
        if not len(places):
            return True
        at = places.astype(np.int64)
        return bool((at < len(self.sets)).all() and (at + 1 + self.sets[at] // 32 < len(self.sets)).all())

    def _children_sound(self, children: Words, parents: NDArray[np.int64] | None) -> bool:
        """Children lie in the arrays, and after their parents, so that each walk ends."""
        leaf = children >= TOP
        at = children.astype(np.int64) % TOP
        inside = np.where(leaf, at < len(self.leaves), (at < len(self.splits)) & (at % 4 == 0))
        return bool(inside.all() and (parents is None or (leaf | (at > parents)).all()))


def _moved(children: Words, at_split: int, at_leaf: int) -> Words:
    """The numbers of the children after other splits and leaves were put before them."""
    moved: Words = children + np.where(children >= TOP, np.uint32(at_leaf), np.uint32(at_split))
    return moved
