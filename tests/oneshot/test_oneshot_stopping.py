"""Rules that end a search, on trajectories made by hand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from nasbed.core.architecture import Architecture
from nasbed.oneshot import SearchEpoch, eigenvalue_rule, skip_rule, stopped


def trajectory(skips: Sequence[int], eigenvalues: Sequence[float | None] | None = None) -> list[SearchEpoch]:
    return [
        SearchEpoch(
            epoch=place + 1,
            architecture=Architecture("darts", (place,)),
            validation_accuracy=50.0,
            train_loss=1.0,
            skips={"normal": count, "reduce": 8},
            parameters={},
            search_time_s=1.0,
            eigenvalue=None if eigenvalues is None else eigenvalues[place],
        )
        for place, count in enumerate(skips)
    ]


def test_skip_rule_stops_at_two_skips_in_the_normal_cell() -> None:
    epochs = trajectory([0, 1, 1, 2, 1, 5])
    assert stopped(epochs, skip_rule) == (4, epochs[3])
    assert stopped(epochs[:3], skip_rule) is None
    assert stopped(epochs, lambda so_far: skip_rule(so_far, skips=5)) == (6, epochs[5])


def test_eigenvalue_rule_returns_to_before_the_rise() -> None:
    """Two windows of five are complete at epoch 10; growth by a factor a epoch makes their ratio that to the power -5."""
    epochs = trajectory([0] * 12, [0.2] * 5 + [0.4] * 7)
    assert stopped(epochs, eigenvalue_rule) == (10, epochs[4])
    slow = trajectory([0] * 12, [0.2 * 1.05**place for place in range(12)])  # 1.05^-5 is 0.78
    assert stopped(slow, eigenvalue_rule) is None
    faster = trajectory([0] * 12, [0.2 * 1.06**place for place in range(12)])  # 1.06^-5 is 0.747
    assert stopped(faster, eigenvalue_rule) == (10, faster[4])


@pytest.mark.parametrize("eigenvalues", [None, [None] * 12, [0.1] * 9 + [None] + [5.0] * 2, [-0.1] * 5 + [-0.4] * 7])
def test_eigenvalue_rule_needs_eigenvalues_that_rise(eigenvalues: list[float | None] | None) -> None:
    assert stopped(trajectory([0] * 12, eigenvalues), eigenvalue_rule) is None
