"""Replacing operations, against edits made one by one."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from nasbed import Architecture, space
from nasbed.evaluation.landscape import operation_replacement

NB101, NB201, MACRO = space("nb101"), space("nb201"), space("transnas-macro")


def nb101_table() -> np.ndarray:
    """A random half of all cells of up to five vertices."""
    codes = np.array([arch.code for arch, _ in zip(NB101.enumerate(), range(2532), strict=False)])
    return codes[np.random.default_rng(0).random(len(codes)) < 0.5]


def test_nb101_replacement_is_every_label_flipped_by_hand() -> None:
    codes = nb101_table()
    rng = np.random.default_rng(1)
    metric, time = rng.normal(size=len(codes)), rng.uniform(1, 2, len(codes))
    rows = {tuple(code): row for row, code in enumerate(codes.tolist())}
    changes, times = defaultdict(list), defaultdict(list)
    for code, row in rows.items():
        cell = NB101.to_native(Architecture("nb101", code))
        matrix, ops = cell
        for vertex, own in enumerate(ops[1:-1], 1):
            for name in ("conv3x3-bn-relu", "conv1x1-bn-relu", "maxpool3x3"):
                replaced = NB101.from_native((matrix, [*ops[:vertex], name, *ops[vertex + 1 :]]))
                target = rows.get(NB101.canonical(replaced).code)
                if name != own and target is not None:
                    changes[own, name].append(metric[target] - metric[row])
                    times[own, name].append(time[target] / time[row] - 1)
    (result,) = operation_replacement(NB101, codes, metric=metric, time_s=time)
    full = [f"{name}-bn-relu" if name.startswith("conv") else name for name in result.operations]
    assert len(changes) == 6
    for (before, after), expected in changes.items():
        at = full.index(before), full.index(after)
        assert result.counts[at] == len(expected)
        assert result.change[at] == pytest.approx(np.mean(expected))
        assert result.relative_time[at] == pytest.approx(np.mean(times[before, after]))


def test_choice_replacement_is_every_pair_compared_by_hand() -> None:
    rng = np.random.default_rng(2)
    codes = np.unique(rng.integers(0, 5, (900, 6)), axis=0)
    metric = rng.normal(size=len(codes))
    expected = defaultdict(list)
    for row in range(len(codes)):
        apart = codes[row] != codes
        for column in np.flatnonzero(apart.sum(axis=1) == 1):
            place = int(np.argmax(apart[column]))
            expected[codes[row, place], codes[column, place]].append(metric[column] - metric[row])
    (result,) = operation_replacement(NB201, codes, metric=metric)
    for at, differences in expected.items():
        assert result.counts[at] == len(differences) and result.change[at] == pytest.approx(np.mean(differences))
    assert result.counts.sum() == sum(map(len, expected.values()))
    np.testing.assert_allclose(result.change, -result.change.T)
    assert np.isnan(result.relative_time).all()


def test_replacement_errors_cover_the_truth_as_often_as_they_say() -> None:
    """A metric that is pure noise: the true change is 0, so 95 % of the estimates lie within 1.96 errors of it."""
    rng = np.random.default_rng(3)
    codes = np.unique(rng.integers(0, 5, (1500, 6)), axis=0)
    scores = []
    for _ in range(60):
        (result,) = operation_replacement(NB201, codes, metric=rng.normal(size=len(codes)))
        upper = np.triu_indices(5, 1)
        scores.append(result.change[upper] / result.change_error[upper])
    assert 0.90 < (np.abs(np.array(scores)) < 1.96).mean() < 0.985


def test_replacement_of_unlike_choices_keeps_them_apart() -> None:
    codes = MACRO.codes(list(MACRO.enumerate()))
    results = operation_replacement(MACRO, codes, metric=(codes > 0).sum(axis=1))
    assert len({result.operations for result in results}) == len(results) >= 2
    modules = max(results, key=lambda result: len(result.where))
    np.testing.assert_allclose(modules.change[modules.counts > 0], 0)  # another module, the same depth


def test_replacement_leaves_rows_without_a_value_out() -> None:
    codes = NB201.codes(list(NB201.enumerate()))
    metric = codes.sum(axis=1).astype(float)
    metric[codes[:, 0] == 4] = np.nan
    (result,) = operation_replacement(NB201, codes, metric=metric)
    assert result.counts[0, 4] == 5 * 4 * 5**4 and result.counts[0, 1] == 4 * 5**4 * 5 + 5**5
    assert result.change[0, 1] == 1.0
