"""A forest that answers in whichever of three ways is fastest; all give the same bits."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nasbed.surrogates.trees.forest import Forest
from nasbed.surrogates.trees.keys import Floats
from nasbed.surrogates.trees.plain import plain_is_enough, predict_plainly
from nasbed.surrogates.trees.quick import QuickForest


class Program:
    """Predicts the first rows in numpy, so that they do not wait for the compiler. After that, :class:`QuickForest`
    predicts single rows where it can hold the trees, and the compiled walk predicts all others."""

    def __init__(self, forest: Forest) -> None:
        self.forest = forest

    def predict(self, rows: NDArray[np.float32]) -> Floats:
        """What each member answers for each row, ``[n, members]``."""
        if len(rows) != 1:
            return self.forest.predict(rows)
        if plain_is_enough(self.forest.trees):
            return predict_plainly(self.forest, rows)
        return self._quick.predict(rows) if self._quick is not None else self.forest.predict_compiled(rows)

    @cached_property
    def _quick(self) -> QuickForest | None:
        return QuickForest.of(self.forest)
