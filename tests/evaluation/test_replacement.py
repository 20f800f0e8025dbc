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
                other = NB101.from_native((matrix, [*ops[:vertex], name, *ops[vertex + 1 :]]))
                found = rows.get(NB101.canonical(other).code)
                if name != own and found is not None:
                    changes[own, name].append(metric[found] - metric[row])
                    times[own, name].append(time[found] / time[row] - 1)
    (found_,) = operation_replacement(NB101, codes, metric=metric, time_s=time)
    full = [f"{name}-bn-relu" if name.startswith("conv") else name for name in found_.operations]
    assert len(changes) == 6
    for (before, after), expected in changes.items():
        at = full.index(before), full.index(after)
        assert found_.counts[at] == len(expected)
        assert found_.change[at] == pytest.approx(np.mean(expected))
        assert found_.relative_time[at] == pytest.approx(np.mean(times[before, after]))


def test_choice_replacement_is_every_pair_compared_by_hand() -> None:
    rng = np.random.default_rng(2)
    codes = np.unique(rng.integers(0, 5, (900, 6)), axis=0)
    metric = rng.normal(size=len(codes))
    expected = defaultdict(list)
    for one in range(len(codes)):
        apart = codes[one] != codes
        for other in np.flatnonzero(apart.sum(axis=1) == 1):
            place = int(np.argmax(apart[other]))
            expected[codes[one, place], codes[other, place]].append(metric[other] - metric[one])
    (found,) = operation_replacement(NB201, codes, metric=metric)
    for at, differences in expected.items():
        assert found.counts[at] == len(differences) and found.change[at] == pytest.approx(np.mean(differences))
    assert found.counts.sum() == sum(map(len, expected.values()))
    np.testing.assert_allclose(found.change, -found.change.T)
    assert np.isnan(found.relative_time).all()


def test_replacement_errors_cover_the_truth_as_often_as_they_say() -> None:
    """A metric that is pure noise: the true change is 0, so 95 % of the estimates lie within 1.96 errors of it."""
    rng = np.random.default_rng(3)
    codes = np.unique(rng.integers(0, 5, (1500, 6)), axis=0)
    scores = []
    for _ in range(60):
        (found,) = operation_replacement(NB201, codes, metric=rng.normal(size=len(codes)))
        upper = np.triu_indices(5, 1)
        scores.append(found.change[upper] / found.change_error[upper])
    assert 0.90 < (np.abs(np.array(scores)) < 1.96).mean() < 0.985


def test_replacement_of_unlike_choices_keeps_them_apart() -> None:
    codes = MACRO.codes(list(MACRO.enumerate()))
    found = operation_replacement(MACRO, codes, metric=(codes > 0).sum(axis=1))
    assert len({each.operations for each in found}) == len(found) >= 2
    modules = max(found, key=lambda each: len(each.where))
    np.testing.assert_allclose(modules.change[modules.counts > 0], 0)  # another module, the same depth


def test_replacement_leaves_rows_without_a_value_out() -> None:
    codes = NB201.codes(list(NB201.enumerate()))
    metric = codes.sum(axis=1).astype(float)
    metric[codes[:, 0] == 4] = np.nan
    (found,) = operation_replacement(NB201, codes, metric=metric)
    assert found.counts[0, 4] == 5 * 4 * 5**4 and found.counts[0, 1] == 4 * 5**4 * 5 + 5**5
    assert found.change[0, 1] == 1.0
