"""Tuned against fixed hyperparameters, against the definitions of section 5.1 written out."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from nasbed import NasbedError
from nasbed.evaluation import hyperparameter_transfer


def test_transfer_is_the_definition_written_out() -> None:
    table = np.random.default_rng(0).random((30, 8))
    transfer = hyperparameter_transfer(table, direction="maximize")
    means = [np.mean([table[a, h] for a in range(30)]) for h in range(8)]
    chosen = max(range(8), key=lambda h: means[h])
    tuned = [max(table[a]) for a in range(30)]
    assert transfer.chosen == chosen and transfer.tuned.tolist() == tuned
    assert transfer.spearman == pytest.approx(scipy.stats.spearmanr(tuned, table[:, chosen]).statistic)


def test_transfer_is_perfect_where_hyperparameters_only_add() -> None:
    """f(A, H) = g(A) + h(H): every architecture is best with the same H, so both rankings are that of g."""
    rng = np.random.default_rng(1)
    table = rng.random((40, 1)) + rng.random((1, 9))
    assert hyperparameter_transfer(table, direction="minimize").spearman == pytest.approx(1.0)


def test_transfer_does_not_depend_on_direction_or_order() -> None:
    rng = np.random.default_rng(2)
    table = rng.random((25, 7))
    transfer = hyperparameter_transfer(table, direction="minimize")
    assert hyperparameter_transfer(-table, direction="maximize").spearman == pytest.approx(transfer.spearman)
    shuffled = table[rng.permutation(25)][:, rng.permutation(7)]
    assert hyperparameter_transfer(shuffled, direction="minimize").spearman == pytest.approx(transfer.spearman)


def test_transfer_refuses_holes() -> None:
    with pytest.raises(NasbedError, match="1 missing"):
        hyperparameter_transfer([[1.0, np.nan], [1.0, 2.0]], direction="minimize")
