"""How far two files of scores agree."""

from __future__ import annotations

import numpy as np
import pytest

import nasbed
from nasbed.core.errors import InvalidOption
from nasbed.evaluation.proxies.agreement import agreements, proportional
from nasbed.proxies.table import ScoresInfo, ScoreTable, table_of_rows

SPACE = nasbed.space("nb201")
CODES = [SPACE.sample(np.random.default_rng(seed)).code for seed in range(40)]


def table(*seeds: np.ndarray, codes: list[tuple[int, ...]] = CODES, proxy: str = "snip") -> ScoreTable:
    rows = [(code, seed, float(column[row])) for seed, column in enumerate(seeds) for row, code in enumerate(codes)]
    return table_of_rows(
        ScoresInfo("nb201"), [row[0] for row in rows], [row[1] for row in rows], {proxy: [row[2] for row in rows]}
    )


def test_equal_up_to_a_factor_is_equal_and_monotone_agrees() -> None:
    scores = np.arange(1.0, 41.0)
    (agreement,) = agreements(table(scores * 1e6), table(scores))
    assert agreement.equal and agreement.correlation == pytest.approx(1) and agreement.count == 40
    assert np.isnan(agreement.own) and np.isnan(agreement.other_own)
    (agreement,) = agreements(table(scores**3), table(scores))
    assert not agreement.equal and agreement.correlation == pytest.approx(1)
    (agreement,) = agreements(table(-scores), table(scores))
    assert not agreement.equal and agreement.correlation == pytest.approx(-1)


def test_seeds_are_compared_with_each_other() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=40)
    noisy = table(*(truth + rng.normal(scale=0.5, size=40) for _ in range(4)))
    (agreement,) = agreements(noisy, table(truth, truth))
    assert agreement.other_own == pytest.approx(1)
    assert (
        0.5 < agreement.own < agreement.correlation < 1
    )  # a mean over seeds is nearer to the truth than seeds to each other


def test_only_what_both_have_counts() -> None:
    scores = np.arange(40.0)
    holes = scores.copy()
    holes[:5] = np.nan
    (agreement,) = agreements(table(holes[10:], codes=CODES[10:]), table(scores[::-1].copy(), codes=CODES[::-1]))
    assert agreement.count == 30 and agreement.correlation == pytest.approx(1)
    (agreement,) = agreements(table(holes), table(scores))
    assert agreement.count == 35
    with pytest.raises(InvalidOption, match="these share 0 and 40"):
        agreements(table(scores), table(scores, proxy="nwot"))
    with pytest.raises(InvalidOption, match="these share 1 and 1"):
        agreements(table(scores[:20], codes=CODES[:20]), table(scores[19:], codes=CODES[19:]))
    empty = table(np.where(scores > 0, np.nan, scores))
    assert np.isnan(agreements(empty, table(scores))[0].correlation)


def test_zeros_are_proportional_to_zeros_alone() -> None:
    zeros, ones = np.zeros(3), np.ones(3)
    assert proportional(zeros, zeros) and proportional(ones, ones)
    assert not proportional(zeros, ones) and not proportional(ones, zeros)
