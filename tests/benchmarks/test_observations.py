"""A batch of answers: columns and single values by metric or by the key of a metric."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from nasbed import Architecture, Metric
from nasbed.benchmarks.observations import Observations
from nasbed.core.errors import UnknownName
from nasbed.core.observation import Observation

ACCURACY = Metric("accuracy", split="validation", unit="%", bounds=(0, 100))
OTHER = Metric("loss", split="validation")


def answers() -> Observations:
    return Observations(
        space="nb201",
        codes=np.zeros((2, 6), dtype=np.int64),
        values={ACCURACY: np.array([90.0, 80.0])},
        fidelity=200,
        seeds=np.zeros(2, dtype=np.int64),
        cost_s=np.ones(2),
        status=np.zeros(2, dtype=np.int8),
    )


@pytest.mark.parametrize("name", [ACCURACY, "validation_accuracy"])
def test_column_is_named_by_metric_and_by_key(name: Any) -> None:
    for batch in (answers(), pickle.loads(pickle.dumps(answers()))):
        assert batch.column(name).tolist() == batch.values[name].tolist() == [90.0, 80.0]
        assert name in batch.values and batch[1][name] == batch[1].values[name] == batch[1].values.get(name) == 80.0
    assert list(answers().values) == [ACCURACY]


@pytest.mark.parametrize("name", [OTHER, "validation_loss"])
def test_unknown_column_is_refused_by_name(name: Any) -> None:
    batch = answers()
    for look_up in (batch.column, batch.values.__getitem__, batch[0].__getitem__):
        with pytest.raises(UnknownName, match=r"no metric 'validation_loss'; .*validation_accuracy"):
            look_up(name)
    assert name not in batch.values and batch.values.get(name) is None


def test_metric_of_the_same_key_with_other_bounds_is_refused_by_what_differs() -> None:
    observation = Observation(Architecture("nb201", (0,) * 6), {ACCURACY: 90.0})
    with pytest.raises(UnknownName, match=r"validation_accuracy here is Metric\(.*%.*\), got Metric\("):
        observation[Metric("accuracy", split="validation")]
