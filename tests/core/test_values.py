"""Architecture, Metric and Observation: plain values that cannot hold nonsense."""

import dataclasses
import json
import math
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasbed import Architecture, Metric, NasbedError, Observation, Status
from nasbed.core import errors
from nasbed.core.errors import InvalidMeasurement, InvalidOption, ParseError
from nasbed.core.status import DIVERGED, FAILED, OK, STATUSES

ACCURACY = Metric("accuracy", split="validation", unit="%", bounds=(0, 100))
ARCH = Architecture("nb201", (0, 1, 2, 3, 4, 0))

architectures = st.builds(Architecture, st.text(max_size=8), st.lists(st.integers(), max_size=8).map(tuple))


@given(architectures)
def test_architecture_round_trips(arch: Architecture) -> None:
    assert Architecture.from_json(arch.to_json()) == arch
    assert pickle.loads(pickle.dumps(arch)) == arch
    assert hash(Architecture(arch.space, tuple(arch.code))) == hash(arch)


@given(architectures, architectures)
def test_architectures_are_ordered_by_space_then_code(left: Architecture, right: Architecture) -> None:
    assert (left < right) == ((left.space, left.code) < (right.space, right.code))


def test_architecture_is_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        ARCH.space = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"space": 1, "code": []}', '{"space": "a", "code": [1.5]}', "[" * 9999]
)
def test_architecture_from_json_refuses(text: str) -> None:
    with pytest.raises(ParseError):
        Architecture.from_json(text)


def test_metric_direction_decides_regret() -> None:
    loss = Metric("loss", split="validation", direction="minimize", bounds=(0, math.inf))
    assert ACCURACY.regret(90, best=94) == 4 == loss.regret(94, best=90)
    assert ACCURACY.better(94, 90) and loss.better(90, 94)
    assert (ACCURACY.best_bound, loss.best_bound) == (100, 0)


@pytest.mark.parametrize(
    "wrong",
    [{"name": "a b"}, {"split": "valid"}, {"direction": "up"}, {"bounds": (1, 1)}, {"bounds": (0, math.nan)}],
)
def test_metric_refuses(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidOption):
        Metric(**({"name": "accuracy"} | wrong))  # type: ignore[arg-type]


metrics = st.builds(
    Metric,
    name=st.sampled_from(["accuracy", "loss", "größe"]),
    split=st.sampled_from([None, "train", "validation", "test"]),
    direction=st.sampled_from(["maximize", "minimize"]),
    unit=st.text(max_size=3),
    bounds=st.sampled_from([(0, 100), (0.0, 1.0), (-math.inf, math.inf), (0, math.inf), (-math.inf, -1e300)]),
)


@given(metrics)
def test_metric_round_trips_through_json(metric: Metric) -> None:
    text = json.dumps(metric.to_json(), allow_nan=False)
    reloaded = Metric.from_json(json.loads(text))
    assert reloaded == metric and json.dumps(reloaded.to_json()) == text


def test_metric_opens_what_files_hold_since_the_first_version() -> None:
    stored = '{"name": "loss", "split": "test", "direction": "minimize", "unit": "", "bounds": [0, null]}'
    loss = Metric.from_json(json.loads(stored))
    assert loss == Metric("loss", split="test", direction="minimize", bounds=(0, math.inf))
    assert json.dumps(loss.to_json()) == stored


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": 1},
        {"unit": None},
        {"bounds": None},
        {"bounds": [0]},
        {"bounds": [0, True]},
        {"bounds": [0, math.inf]},
        {"bounds": [1, 0]},
        {"split": "dev"},
        {"key": "accuracy"},
    ],
)
def test_metric_from_json_refuses(wrong: dict[str, object]) -> None:
    with pytest.raises(NasbedError, match="metric"):
        Metric.from_json(ACCURACY.to_json() | wrong)


@pytest.mark.parametrize("data", [None, [], {}, "accuracy", {"bounds": [0, 1]}])
def test_metric_from_json_refuses_what_is_no_metric(data: object) -> None:
    with pytest.raises(ParseError, match="a metric is a JSON object with a name"):
        Metric.from_json(data)


def test_statuses_are_numbered_as_in_files() -> None:
    assert [(str(status), status.number) for status in STATUSES] == [("ok", 0), ("diverged", 1), ("failed", 2)]
    assert [STATUSES[number] for number in (OK, DIVERGED, FAILED)] == [Status.OK, Status.DIVERGED, Status.FAILED]


@pytest.mark.parametrize("value", [-0.1, 100.1, math.nan, math.inf])
def test_observation_refuses_values_outside_the_bounds(value: float) -> None:
    with pytest.raises(InvalidMeasurement, match="validation_accuracy lies in"):
        Observation(ARCH, {ACCURACY: value})


@pytest.mark.parametrize("cost", [-1.0, math.nan, math.inf])
def test_observation_refuses_costs(cost: float) -> None:
    with pytest.raises(InvalidMeasurement, match="a cost is"):
        Observation(ARCH, {ACCURACY: 50.0}, cost_s=cost)


def test_observation_needs_a_metric_unless_it_says_why_not() -> None:
    with pytest.raises(InvalidMeasurement):
        Observation(ARCH)
    assert Observation(ARCH, status=Status.DIVERGED).status == "diverged"


def test_observation_does_not_share_the_callers_dict() -> None:
    values = {ACCURACY: 91.0}
    observation = Observation(ARCH, values)
    values[ACCURACY] = 0.0
    assert observation["validation_accuracy"] == 91.0
    with pytest.raises(TypeError):
        observation.values[ACCURACY] = 0.0  # type: ignore[index]


def test_error_tree_is_drawn_completely_and_each_is_a_builtin_too() -> None:
    classes = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, NasbedError)]
    for error_class in classes:
        assert error_class.__name__ in (errors.__doc__ or "")
        if error_class is not NasbedError:
            assert issubclass(error_class, ValueError | KeyError | ImportError | OSError | RuntimeError)
