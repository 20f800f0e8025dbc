"""ConfigSpace itself is the authority here: on validity, on vectors, and on priors where no closed form is at hand."""

from __future__ import annotations

import copy
import itertools
import json
import math
import pickle
from collections import Counter
from functools import cache
from typing import Any

import ConfigSpace
import numpy as np
import pytest
from ConfigSpace.exceptions import IllegalValueError
from hypothesis import HealthCheck, assume, given
from hypothesis import strategies as st
from scipy import stats

from nasbed.core import Architecture
from nasbed.core.errors import InvalidArchitecture, InvalidOption, NasbedError, ParseError, TooLarge
from nasbed.spaces.from_configspace import FromConfigSpace, neighborhoods, space_from_configspace
from nasbed.spaces.from_configspace.conditions import INACTIVE
from support.examples import examples

Drawn = st.DrawFn
slow = examples(15, thorough=200, suppress_health_check=list(HealthCheck))


# --- generated spaces ------------------------------------------------------------------------------------------------


def values_of(hp: Any) -> list[Any]:
    """All values of a countable hyperparameter."""
    if isinstance(hp, ConfigSpace.CategoricalHyperparameter):
        return list(hp.choices)
    if isinstance(hp, ConfigSpace.OrdinalHyperparameter):
        return list(hp.sequence)
    if isinstance(hp, ConfigSpace.Constant):
        return [hp.value]
    return list(range(hp.lower, hp.upper + 1))


@st.composite
def discrete_hyperparameters(draw: Drawn, name: str) -> Any:
    kind = draw(st.sampled_from(["categorical", "ordinal", "constant", "integer", "log integer"]))
    if kind == "categorical":
        values: list[Any] = draw(
            st.sampled_from([["a", "b"], ["a", "b", "c"], [1, 2, 4], [True, False], [None, (1, 2), "x"]])
        )
        return ConfigSpace.CategoricalHyperparameter(name, values, default_value=draw(st.sampled_from(values)))
    if kind == "ordinal":
        sequence: list[Any] = draw(st.sampled_from([["s", "m", "l"], [8, 4, 2], [1, 2]]))
        return ConfigSpace.OrdinalHyperparameter(name, sequence, default_value=draw(st.sampled_from(sequence)))
    if kind == "constant":
        return ConfigSpace.Constant(name, draw(st.sampled_from(["only", 3])))
    lower = draw(st.integers(1, 3) if kind == "log integer" else st.integers(-2, 3))
    upper = lower + draw(st.integers(1, 3))
    default = draw(st.integers(lower, upper))
    return ConfigSpace.UniformIntegerHyperparameter(
        name, lower, upper, default_value=default, log=kind == "log integer"
    )


def float_hyperparameters(name: str) -> st.SearchStrategy[Any]:
    return st.sampled_from(
        [
            ConfigSpace.UniformFloatHyperparameter(name, -1.5, 2.5),
            ConfigSpace.UniformFloatHyperparameter(name, 1e-5, 10, log=True),
            ConfigSpace.NormalFloatHyperparameter(name, 0.2, 0.3, -1, 1),
            ConfigSpace.BetaFloatHyperparameter(name, 2, 5, 0, 100),
        ]
    )


@st.composite
def conditions(draw: Drawn, child: Any, parents: list[Any]) -> Any:
    def leaf() -> Any:
        parent = draw(st.sampled_from(parents))
        if isinstance(parent, ConfigSpace.hyperparameters.FloatHyperparameter):
            value = draw(st.sampled_from([parent.default_value, 0.1 if parent.lower <= 0.1 else 1.0]))
            return draw(st.sampled_from([ConfigSpace.LessThanCondition, ConfigSpace.GreaterThanCondition]))(
                child, parent, value
            )
        values = values_of(parent)
        kinds = ["==", "!=", "in", *(["<", ">"] if parent.ORDERABLE else [])]
        kind = draw(st.sampled_from(kinds))
        if kind == "in":
            return ConfigSpace.InCondition(
                child, parent, draw(st.lists(st.sampled_from(values), min_size=1, unique_by=repr))
            )
        conditions = {
            "==": ConfigSpace.EqualsCondition,
            "!=": ConfigSpace.NotEqualsCondition,
            "<": ConfigSpace.LessThanCondition,
            ">": ConfigSpace.GreaterThanCondition,
        }
        return conditions[kind](child, parent, draw(st.sampled_from(values)))

    joint = draw(st.sampled_from([None, None, ConfigSpace.AndConjunction, ConfigSpace.OrConjunction]))
    return leaf() if joint is None else joint(*(leaf() for _ in range(draw(st.integers(2, 3)))))


@st.composite
def forbidden(draw: Drawn, hyperparameters: list[Any]) -> Any:
    def clause() -> Any:
        hp = draw(st.sampled_from(hyperparameters))
        values = values_of(hp)
        if draw(st.booleans()):
            return ConfigSpace.ForbiddenInClause(
                hp, draw(st.lists(st.sampled_from(values), min_size=1, unique_by=repr))
            )
        ordered: list[Any] = [
            ConfigSpace.ForbiddenLessThanClause,
            ConfigSpace.ForbiddenLessThanEqualsClause,
            ConfigSpace.ForbiddenGreaterThanClause,
            ConfigSpace.ForbiddenGreaterThanEqualsClause,
        ]
        kind = draw(st.sampled_from([ConfigSpace.ForbiddenEqualsClause, *(ordered if hp.ORDERABLE else [])]))
        return kind(hp, draw(st.sampled_from(values)))

    numeric = [hp for hp in hyperparameters if all(isinstance(value, int) for value in values_of(hp))]
    if len(numeric) > 1 and draw(st.booleans()):
        relations: list[Any] = [
            ConfigSpace.ForbiddenEqualsRelation,
            ConfigSpace.ForbiddenLessThanRelation,
            ConfigSpace.ForbiddenLessThanEqualsRelation,
            ConfigSpace.ForbiddenGreaterThanRelation,
            ConfigSpace.ForbiddenGreaterThanEqualsRelation,
        ]
        left, right = draw(st.permutations(numeric))[:2]
        return draw(st.sampled_from(relations))(left, right)
    joint = draw(
        st.sampled_from(
            [
                None,
                ConfigSpace.ForbiddenAndConjunction,
                ConfigSpace.ForbiddenAndConjunction,
                ConfigSpace.ForbiddenOrConjunction,
            ]
        )
    )
    return clause() if joint is None else joint(clause(), clause())


def confusable(first: Any, second: Any) -> bool:
    """ConfigSpace takes an *and* and an *or* over the same conditions for one rule, and then checks it wrongly."""
    alike = first.equivalent_condition_on_parent(second), second.equivalent_condition_on_parent(first)
    return any(alike) and (type(first) is not type(second) or not all(alike))


@st.composite
def spaces(draw: Drawn, floats: bool = False) -> Any:
    """A ConfigSpace of up to six hyperparameters, with such conditions and forbidden clauses as its default allows."""
    kinds = st.booleans() if floats else st.just(False)
    hyperparameters = [
        draw(float_hyperparameters(f"h{i}") if draw(kinds) else discrete_hyperparameters(f"h{i}"))
        for i in range(draw(st.integers(1, 6)))
    ]
    generated = ConfigSpace.ConfigurationSpace(name="generated", seed=draw(st.integers(0, 5)))
    generated.add(hyperparameters)
    countable = [hp for hp in hyperparameters if math.isfinite(hp.size)]
    pieces = [
        draw(conditions(hp, hyperparameters[:i])) for i, hp in enumerate(hyperparameters) if i and draw(st.booleans())
    ]
    pieces += [draw(forbidden(countable)) for _ in range(draw(st.integers(0, 3))) if countable]
    for piece in pieces:
        trial = copy.deepcopy(generated)
        try:
            trial.add(piece)
        except (ValueError, TypeError):
            continue
        if not any(confusable(first, second) for first, second in itertools.permutations(trial.conditions, 2)):
            generated = trial
    assume(not floats or is_sampleable(generated))
    return generated


def is_sampleable(source: ConfigSpace.ConfigurationSpace) -> bool:
    """Not so where forbidden clauses leave single points of a float, on which ConfigSpace itself would never return."""
    try:
        space_from_configspace(source, "generated").sample(np.random.default_rng(0))
    except InvalidOption:
        return False
    return True


def legal(source: ConfigSpace.ConfigurationSpace, values: dict[str, Any]) -> bool:
    try:
        ConfigSpace.Configuration(source, values=values).check_valid_configuration()
    except (ValueError, IllegalValueError):
        return False
    return True


def all_legal(source: ConfigSpace.ConfigurationSpace) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Every assignment of values to some of the hyperparameters: those that ConfigSpace accepts, and the others."""
    accepted: list[dict[str, Any]] = []
    refusals: list[dict[str, Any]] = []
    absent = object()
    for row in itertools.product(*([*values_of(hp), absent] for hp in source.values())):
        values = {name: value for name, value in zip(source, row, strict=True) if value is not absent}
        (accepted if legal(source, values) else refusals).append(values)
    return accepted, refusals


# --- which configurations there are ----------------------------------------------------------------------------------


@slow
@given(spaces())
def test_space_holds_exactly_the_configurations_that_configspace_accepts(
    source: ConfigSpace.ConfigurationSpace,
) -> None:
    assume(math.prod(int(hp.size) + 1 for hp in source.values()) <= 2500)
    space = space_from_configspace(source, "generated")
    accepted, refusals = all_legal(source)
    archs = [space.from_native(values) for values in accepted]
    assert space.size == len(accepted)
    assert list(space.enumerate()) == sorted(archs)
    assert len(set(archs)) == len(archs)
    for values in refusals:
        with pytest.raises(InvalidArchitecture):
            space.from_native(values)


def layered(layers: int) -> ConfigSpace.ConfigurationSpace:
    """``depth`` layers, each a pooling, or a convolution of five kernels and a stride that no rule asks for."""
    source = ConfigSpace.ConfigurationSpace()
    depth = ConfigSpace.UniformIntegerHyperparameter("depth", 1, layers)
    source.add(depth)
    for layer in range(1, layers + 1):
        op = ConfigSpace.CategoricalHyperparameter(f"op{layer}", ["conv", "pool"])
        kernel = ConfigSpace.OrdinalHyperparameter(f"kernel{layer}", [1, 3, 5, 7, 9])
        stride = ConfigSpace.UniformIntegerHyperparameter(f"stride{layer}", 1, 1_000_000)
        source.add(op, kernel, stride)
        source.add(ConfigSpace.EqualsCondition(kernel, op, "conv"))
        if layer > 1:
            source.add(*(ConfigSpace.GreaterThanCondition(child, depth, layer - 1) for child in (op, stride)))
    return source


def test_size_is_exact_for_spaces_too_large_to_list() -> None:
    per_layer = (5 + 1) * 1_000_000
    assert space_from_configspace(layered(12), "deep").size == sum(per_layer**depth for depth in range(1, 13))


def test_size_counts_by_what_rules_tell_apart() -> None:
    source = ConfigSpace.ConfigurationSpace({"n": (1, 10**12), "m": (1, 10**9)})
    source.add(ConfigSpace.LessThanCondition(source["m"], source["n"], 1000))
    source.add(ConfigSpace.ForbiddenInClause(source["n"], [7, 8]))
    assert space_from_configspace(source, "wide").size == 997 * 10**9 + 10**12 - 999


def test_size_of_plain_product_is_exact_and_too_large_to_list() -> None:
    space = space_from_configspace(
        ConfigSpace.ConfigurationSpace({f"c{i}": list("abcdefghij") for i in range(20)}), "product"
    )
    assert space.size == 10**20
    with pytest.raises(TooLarge, match="use sample"):
        space.enumerate()


def test_size_is_refused_rather_than_guessed() -> None:
    source = ConfigSpace.ConfigurationSpace({"a": (1, 10**6), "b": (1, 10**6)})
    source.add(ConfigSpace.ForbiddenGreaterThanRelation(source["a"], source["b"]))
    with pytest.raises(TooLarge, match="steps"):
        _ = space_from_configspace(source, "entangled").size
    with pytest.raises(TooLarge, match="has lr"):
        space_from_configspace(ConfigSpace.ConfigurationSpace({"lr": (0.0, 1.0)}), "continuous").enumerate()


# --- sampling --------------------------------------------------------------------------------------------------------


@slow
@given(spaces(floats=True), st.integers(0, 2**32))
def test_sample_and_mutate_stay_within_what_configspace_accepts(
    source: ConfigSpace.ConfigurationSpace, seed: int
) -> None:
    space = space_from_configspace(source, "generated")
    rng = np.random.default_rng(seed)
    arch = space.sample(rng)
    for _ in range(30):
        space.validate(arch)
        assert legal(source, space.to_native(arch))
        mutant = space.mutate(arch, rng)
        assert mutant != arch or not list(space.neighbors(arch))
        arch = mutant if rng.random() < 0.5 else space.sample(rng)


@slow
@given(spaces(floats=True))
def test_same_seed_gives_the_same_bytes_and_leaves_the_configspace_alone(
    source: ConfigSpace.ConfigurationSpace,
) -> None:
    before, state = json.dumps(source.to_serialized_dict(), default=str), source.random.get_state()[1].tolist()  # type: ignore[index, union-attr, unused-ignore]
    np.random.seed(0)
    runs = []
    for global_draws in (0, 3):
        np.random.random(global_draws)
        space, rng = space_from_configspace(source, "generated"), np.random.default_rng(7)
        archs = [space.sample(rng) for _ in range(5)]
        runs.append("".join(space.mutate(arch, rng).to_json() + space.format(arch) for arch in archs))
    assert runs[0] == runs[1]
    assert json.dumps(source.to_serialized_dict(), default=str) == before
    assert source.random.get_state()[1].tolist() == state  # type: ignore[index, union-attr, unused-ignore]


def fits(observed: Counter[Any], expected: dict[Any, float]) -> bool:
    total = sum(observed.values())
    assert set(observed) <= {value for value, share in expected.items() if share > 0}
    rows = [(observed[value], share * total) for value, share in expected.items() if share * total > 5]
    counts, means = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    return bool(stats.chisquare(counts, means * counts.sum() / means.sum()).pvalue > 1e-3)


def test_sample_is_the_product_of_the_priors_given_all_rules() -> None:
    source = ConfigSpace.ConfigurationSpace({"op": ["conv", "pool", "skip"], "kernel": [5, 3, 1], "rate": (1, 4)})
    source.add(ConfigSpace.EqualsCondition(source["kernel"], source["op"], "conv"))
    source.add(ConfigSpace.InCondition(source["rate"], source["op"], ["conv", "pool"]))
    source.add(ConfigSpace.ForbiddenGreaterThanRelation(source["rate"], source["kernel"]))
    space, rng = space_from_configspace(source, "ruled"), np.random.default_rng(1)
    shares = {
        arch: math.prod(
            1 / parameter.size for parameter, own in zip(space.hyperparameters, arch.code, strict=True) if own >= 0
        )
        for arch in space.enumerate()
    }
    total = sum(shares.values())
    assert len(shares) == (1 + 3 + 4) + 4 + 1
    observed = Counter(space.sample(rng) for _ in range(20_000))
    assert fits(observed, {arch: share / total for arch, share in shares.items()})


def test_sample_gives_up_with_a_remedy_where_almost_all_is_forbidden() -> None:
    source = ConfigSpace.ConfigurationSpace({"n": (1, 10**9), "m": (1, 10**9)})
    source.add(
        ConfigSpace.ForbiddenLessThanRelation(source["n"], source["m"]),
        ConfigSpace.ForbiddenGreaterThanRelation(source["n"], source["m"]),
    )
    with pytest.raises(InvalidOption, match="draws from needle did not"):
        space_from_configspace(source, "needle").sample(np.random.default_rng(0))


def test_rules_over_floats_hold_for_samples_and_for_bounds() -> None:
    source = ConfigSpace.ConfigurationSpace({"low": (0.0, 1.0), "high": (0.5, 3.0), "rate": (1.0, 2.0)})
    source.add(ConfigSpace.ForbiddenGreaterThanRelation(source["low"], source["high"]))
    source.add(ConfigSpace.ForbiddenGreaterThanEqualsClause(source["rate"], 1.75))
    space, rng = space_from_configspace(source, "floats"), np.random.default_rng(0)
    for arch in (space.sample(rng) for _ in range(300)):
        assert legal(source, space.to_native(arch))
    for row in rng.uniform([0, 0.5, 1], [1, 3, 2], (300, 3)).round(2).tolist():
        values = dict(zip(["low", "high", "rate"], row, strict=True))
        if values["low"] != values["high"]:  # ConfigSpace compares after rounding to and from the unit interval
            assert is_known(space, values) == legal(source, values)
    assert is_known(space, {"low": 0.6, "high": 0.6, "rate": 1.5})


def is_known(space: FromConfigSpace, values: dict[str, Any]) -> bool:
    try:
        space.from_native(values)
    except InvalidArchitecture:
        return False
    return True


# --- moving ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("completions", [1, 4, 1024])
@slow
@given(source=spaces())
def test_neighbors_are_valid_mutual_and_listed_once(completions: int, source: ConfigSpace.ConfigurationSpace) -> None:
    space = space_from_configspace(source, "generated")
    assume(space.size <= 400)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighborhoods, "COMPLETIONS", completions)
        around = {arch: list(space.neighbors(arch)) for arch in space.enumerate()}
    for arch, neighbors in around.items():
        assert len(set(neighbors)) == len(neighbors)
        for neighbor in neighbors:
            pairs = [(a, b) for a, b in zip(arch.code, neighbor.code, strict=True) if a != INACTIVE != b]
            assert sum(a != b for a, b in pairs) == 1
            assert arch in around[neighbor]


@slow
@given(spaces())
def test_neighbors_are_all_that_differ_by_one_edit(source: ConfigSpace.ConfigurationSpace) -> None:
    space = space_from_configspace(source, "generated")
    assume(space.size <= 200)
    archs = list(space.enumerate())
    kinds = list(source.values())

    def one_edit_apart(arch: Architecture, candidate: Architecture) -> bool:
        pairs = zip(arch.code, candidate.code, kinds, strict=True)
        changed = [(a, b, hp) for a, b, hp in pairs if a != b and a != INACTIVE != b]
        return len(changed) == 1 and all(
            isinstance(hp, ConfigSpace.CategoricalHyperparameter) or abs(a - b) == 1 for a, b, hp in changed
        )

    for arch in archs:
        assert set(space.neighbors(arch)) == {candidate for candidate in archs if one_edit_apart(arch, candidate)}


def test_neighbors_of_floats_step_a_sixteenth_and_come_back() -> None:
    source = ConfigSpace.ConfigurationSpace()
    source.add(ConfigSpace.UniformFloatHyperparameter("lr", 1e-4, 1, log=True))
    space = space_from_configspace(source, "continuous")
    start = space.from_native({"lr": 0.01})
    down, up = (space.to_native(arch)["lr"] for arch in space.neighbors(start))
    assert (down, up) == pytest.approx((0.01 / 10**0.25, 0.01 * 10**0.25))
    back = [space.to_native(arch)["lr"] for arch in space.neighbors(space.from_native({"lr": up}))]
    assert back[0] == pytest.approx(0.01, abs=1e-12)
    (only,) = space.neighbors(space.from_native({"lr": 1.0}))
    assert space.to_native(only)["lr"] == pytest.approx(10**-0.25)


def test_neighbors_switch_floats_on_at_their_defaults() -> None:
    source = ConfigSpace.ConfigurationSpace({"opt": ["sgd", "adam"], "momentum": (0.0, 1.0)})
    source.add(ConfigSpace.EqualsCondition(source["momentum"], source["opt"], "sgd"))
    space = space_from_configspace(source, "switched")
    assert [space.to_native(arch) for arch in space.neighbors(space.from_native({"opt": "adam"}))] == [
        {"opt": "sgd", "momentum": 0.5}
    ]
    assert space.from_native({"opt": "adam"}) in set(
        space.neighbors(space.from_native({"opt": "sgd", "momentum": 0.3}))
    )


def test_mutate_reaches_every_value_and_prefers_near_numbers() -> None:
    space = space_from_configspace(ConfigSpace.ConfigurationSpace({"n": (0, 9)}), "numbers")
    rng = np.random.default_rng(0)
    reached = Counter(space.mutate(Architecture("numbers", (4,)), rng).code[0] for _ in range(5000))
    assert set(reached) == {0, 1, 2, 3, 5, 6, 7, 8, 9}
    assert reached[5] > reached[7] > reached[9]


def test_mutate_of_a_single_point_is_the_point() -> None:
    space = space_from_configspace(ConfigSpace.ConfigurationSpace({"only": "this", "one": ["that"]}), "point")
    (point,) = space.enumerate()
    assert space.size == 1
    assert space.mutate(point, np.random.default_rng(0)) == point
    assert list(space.neighbors(point)) == []


# --- text and foreign forms ------------------------------------------------------------------------------------------


@slow
@given(spaces(floats=True), st.integers(0, 2**32))
def test_round_trips_are_identities(source: ConfigSpace.ConfigurationSpace, seed: int) -> None:
    space, rng = space_from_configspace(source, "generated"), np.random.default_rng(seed)
    for arch in (space.sample(rng) for _ in range(10)):
        assert space.parse(space.format(arch)) == arch
        assert space.from_native(space.to_native(arch)) == arch
        assert space.from_config(space.to_config(arch)) == arch
        assert space.from_config(dict(space.to_config(arch))) == arch
        assert Architecture.from_json(arch.to_json()) == arch
        assert space.architectures(space.codes([arch])) == [arch]
        space.to_config(arch).check_valid_configuration()
        assert dict(ConfigSpace.Configuration(source, values=space.to_native(arch))) == space.to_native(arch)


@slow
@given(spaces(floats=True))
def test_from_config_takes_what_configspace_samples_and_gives_plain_python(
    source: ConfigSpace.ConfigurationSpace,
) -> None:
    assume("<=" not in str(source.forbidden_clauses))  # ConfigSpace 1.2 reads it as >= when it samples
    space = space_from_configspace(source, "generated")
    for config in source.sample_configuration(5):
        assume(legal(source, dict(config)))
        native = space.to_native(space.from_config(config))
        assert native == dict(config)
        assert not any(isinstance(value, np.generic) for value in native.values())


@given(st.floats(-3.5, 1e6, allow_subnormal=False))
def test_a_float_is_kept_exactly(value: float) -> None:
    assume(abs(value) >= 2**-45 or value == 0)
    space = space_from_configspace(ConfigSpace.ConfigurationSpace({"x": (-3.5, 1e6)}), "exact")
    arch = space.from_native({"x": value})
    assert space.to_native(arch)["x"] == space.to_native(space.parse(space.format(arch)))["x"] == value
    assert space.from_config(space.to_config(arch)) == arch
    assert space.codes([arch]).dtype == np.int64


def test_a_learning_rate_of_one_tenth_comes_back_as_one_tenth() -> None:
    source = ConfigSpace.ConfigurationSpace()
    source.add(ConfigSpace.UniformFloatHyperparameter("lr", 1e-6, 1e3, log=True))
    space = space_from_configspace(source, "rates")
    for given_value in (0.1, np.float64(0.1)):
        arch = space.from_native({"lr": given_value})
        assert space.format(arch) == '{"lr": 0.1}'
        assert space.to_config(arch)["lr"] == 0.1
        assert type(space.to_native(arch)["lr"]) is float


MIXED = ConfigSpace.ConfigurationSpace(name="mixed")
MIXED.add(
    ConfigSpace.CategoricalHyperparameter("op", ["conv", "pool", "skip"]),
    ConfigSpace.OrdinalHyperparameter("width", [16, 32, 64]),
    ConfigSpace.UniformIntegerHyperparameter("depth", 2, 6),
    ConfigSpace.UniformFloatHyperparameter("lr", 1e-4, 1, log=True),
    ConfigSpace.CategoricalHyperparameter("kernel", [1, 3, 5]),
    ConfigSpace.UniformFloatHyperparameter("drop", -1, 1),
)
MIXED.add(
    ConfigSpace.EqualsCondition(MIXED["kernel"], MIXED["op"], "conv"),
    ConfigSpace.EqualsCondition(MIXED["drop"], MIXED["op"], "pool"),
)
MIXED.add(
    ConfigSpace.ForbiddenAndConjunction(
        ConfigSpace.ForbiddenEqualsClause(MIXED["depth"], 6), ConfigSpace.ForbiddenEqualsClause(MIXED["width"], 64)
    )
)
GOOD = {"op": "conv", "width": 32, "depth": 3, "lr": 0.1, "kernel": 3}


@cache
def mixed() -> FromConfigSpace:
    return space_from_configspace(MIXED, "mixed")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"opp": "conv"}, "no hyperparameter 'opp'; did you mean op?"),
        ({"op": "conf"}, "op has no value 'conf'; did you mean conv?"),
        ({"op": 1}, r"op has no value 1; known: \['conv', 'pool', 'skip'\]"),
        ({"kernel": True}, "kernel has no value True"),
        ({"kernel": {"size": 3}}, "kernel has no value"),
        ({"width": 48}, r"width has no value 48; known: \[16, 32, 64\]"),
        ({"depth": 7}, "depth is a whole number from 2 to 6, got 7"),
        ({"depth": 2.5}, "depth is a whole number from 2 to 6, got 2.5"),
        ({"depth": "3"}, "depth is a whole number from 2 to 6, got '3'"),
        ({"lr": 2}, "lr is a number from 0.0001 to 1.0, got 2"),
        ({"lr": True}, "lr is a number from 0.0001 to 1.0, got True"),
        ({"lr": float("nan")}, "lr is a number from 0.0001 to 1.0, got nan"),
        ({"lr": 10**400}, "lr is a number from 0.0001 to 1.0, got 1000"),
        ({"op": "skip"}, r"mixed's kernel is inactive \(kernel \| op == 'conv'\), got 3; drop it"),
        ({"kernel": None}, "kernel has no value None"),
        ({"depth": 6, "width": 64}, r"mixed forbids \(depth == 6 && width == 64\), got {'depth': 6, 'width': 64}"),
    ],
)
def test_from_native_names_rule_value_and_remedy(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArchitecture, match=message) as caught:
        mixed().from_native(GOOD | change)
    assert "\n" not in str(caught.value)


def test_from_native_misses_what_is_active() -> None:
    with pytest.raises(InvalidArchitecture, match=r"mixed's kernel is active \(kernel \| op == 'conv'\), got no value"):
        mixed().from_native({name: value for name, value in GOOD.items() if name != "kernel"})
    with pytest.raises(InvalidArchitecture, match="mixed's op is active, got no value"):
        mixed().from_native({name: value for name, value in GOOD.items() if name != "op"})
    with pytest.raises(InvalidArchitecture, match="takes a mapping"):
        mixed().from_native([("op", "conv")])  # type: ignore[arg-type]


def test_validate_checks_codes() -> None:
    space = mixed()
    good = space.from_native(GOOD)
    for position, code in [(0, 5), (0, -2), (2, 10**30)]:
        with pytest.raises(InvalidArchitecture, match="has codes 0 to"):
            space.validate(Architecture("mixed", (*good.code[:position], code, *good.code[position + 1 :])))
    with pytest.raises(InvalidArchitecture, match="belongs to"):
        space.validate(Architecture("other", good.code))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "conv",
        "[1, 2]",
        "3",
        "null",
        '{"op": "conv"',
        '{"op": "conv", "op": "pool"}',
        '{"lr": NaN}',
        '{"lr": Infinity}',
        '{"lr": -Infinity}',
        "[" * 100_000,
        '{"depth": ' + "9" * 5000 + "}",
    ],
)
def test_parse_refuses_junk_in_one_line(text: str) -> None:
    with pytest.raises(ParseError) as caught:
        mixed().parse(text)
    assert "\n" not in str(caught.value)


@given(st.text() | st.recursive(st.none() | st.floats() | st.text(), st.lists).map(json.dumps))
def test_parse_raises_nothing_else(text: str) -> None:
    with pytest.raises(NasbedError):
        mixed().parse(text)


def test_values_that_numpy_makes_are_accepted() -> None:
    built = {
        "op": np.str_("conv"),
        "width": np.int64(32),
        "depth": np.float64(3),
        "lr": np.float32(0.5),
        "kernel": np.int8(3),
    }
    native = mixed().to_native(mixed().from_native(built))
    assert native == GOOD | {"lr": 0.5}
    assert {name: type(value) for name, value in native.items()} == {name: type(value) for name, value in GOOD.items()}


# --- encodings and graphs --------------------------------------------------------------------------------------------


@slow
@given(spaces(floats=True))
def test_config_encoding_is_configspaces_own_vector_scaled_to_one(source: ConfigSpace.ConfigurationSpace) -> None:
    space, rng = space_from_configspace(source, "generated"), np.random.default_rng(0)
    archs = [space.sample(rng) for _ in range(8)]
    scale = [
        hp.size - 1
        if isinstance(hp, ConfigSpace.CategoricalHyperparameter | ConfigSpace.OrdinalHyperparameter) and hp.size > 1
        else 1
        for hp in source.values()
    ]
    constant = np.array([isinstance(hp, ConfigSpace.Constant) for hp in source.values()])
    vectors = np.stack([space.to_config(arch).get_array() for arch in archs]) / scale - constant
    encoded = space.encode(archs, "config")
    assert encoded.dtype == np.float32
    np.testing.assert_allclose(encoded, vectors, atol=1e-6)
    np.testing.assert_array_equal(encoded, np.concatenate([space.encode([arch], "config") for arch in archs]))


def test_onehot_tells_inactive_from_zero() -> None:
    space = mixed()
    names = list(MIXED)
    assert names == ["depth", "lr", "op", "width", "drop", "kernel"]
    archs = [
        space.from_native(GOOD),
        space.from_native({"op": "pool", "width": 64, "depth": 2, "lr": 1e-2, "drop": -1.0}),
    ]
    np.testing.assert_allclose(
        space.encode(archs),
        [
            [0.25, 0.75, 1, 0, 0, 0.5, 0, 0, 0, 1, 0],
            [0.0, 0.5, 0, 1, 0, 1.0, 1, 0, 0, 0, 0],
        ],
        atol=1e-6,
    )
    assert space.encode([]).shape == (0, 11)


def test_graphs_hold_the_tree_of_choices() -> None:
    source = ConfigSpace.ConfigurationSpace({"op": ["conv", "pool"], "kernel": [1, 3], "act": ["relu"]})
    source.add(ConfigSpace.EqualsCondition(source["kernel"], source["op"], "conv"))
    space = space_from_configspace(source, "tree")
    archs = [
        space.from_native({"op": "conv", "kernel": 3, "act": "relu"}),
        space.from_native({"op": "pool", "act": "relu"}),
    ]
    graphs = space.graphs(archs)
    labels = [[graphs.node_names[label] for label in row if label >= 0] for row in graphs.node_labels]
    assert labels == [["configuration", "act=relu", "op=conv", "kernel=3"], ["configuration", "act=relu", "op=pool"]]
    assert [np.argwhere(adjacency).tolist() for adjacency in graphs.adjacency] == [
        [[0, 1], [0, 2], [2, 3]],
        [[0, 1], [0, 2]],
    ]
    (diagram,) = space.diagrams(archs[0])
    assert [node.label for node in diagram.nodes] == ["act=relu", "op=conv", "kernel=3"]
    assert diagram.edges == (("op", "kernel"),)


def test_graphs_are_refused_where_they_would_lose_values() -> None:
    with pytest.raises(InvalidOption, match="labels, not numbers, mixed has depth; use encode"):
        mixed().graphs([])
    wide = space_from_configspace(
        ConfigSpace.ConfigurationSpace({f"c{i}": list("abcdefgh") for i in range(16)}), "wide"
    )
    with pytest.raises(InvalidOption, match="up to 127 node labels, wide needs 129"):
        wide.graphs([])


# --- the object ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda space: pickle.loads(pickle.dumps(space))])
def test_space_survives_pickling_and_copying(duplicate: Any) -> None:
    space = mixed()
    twin = duplicate(space)
    draws = [
        [sampled_space.sample(rng) for _ in range(20)]
        for sampled_space, rng in ((sampled_space, np.random.default_rng(4)) for sampled_space in (space, twin))
    ]
    assert draws[0] == draws[1]
    assert twin.name == space.name
    assert list(twin.neighbors(draws[0][0])) == list(space.neighbors(draws[0][0]))


def test_changing_the_configspace_later_changes_nothing() -> None:
    source = ConfigSpace.ConfigurationSpace({"a": [1, 2]})
    space = space_from_configspace(source, "kept")
    source.add(ConfigSpace.CategoricalHyperparameter("b", [1, 2]))
    assert space.size == 2
    assert list(space.configspace()) == ["a"]
    assert space.configspace() is space.configspace()


@pytest.mark.parametrize("name", ["", "a b", "a/b", "ä", "a\n", None, 3])
def test_name_is_a_sane_id(name: Any) -> None:
    with pytest.raises(InvalidOption, match="letters, digits"):
        space_from_configspace(MIXED, name)


def test_space_needs_a_configspace_with_hyperparameters() -> None:
    with pytest.raises(InvalidOption, match="ConfigurationSpace, got dict"):
        space_from_configspace({"a": [1]}, "x")  # type: ignore[arg-type]
    with pytest.raises(InvalidOption, match="at least one hyperparameter"):
        space_from_configspace(ConfigSpace.ConfigurationSpace(), "x")


@pytest.mark.parametrize("choices", [[len, max], [float("inf"), 1.0], [(1, 2), [1, 2]], [1 + 2j, 1]])
def test_choices_that_json_cannot_tell_are_refused(choices: list[Any]) -> None:
    source = ConfigSpace.ConfigurationSpace()
    source.add(ConfigSpace.CategoricalHyperparameter("c", choices))
    with pytest.raises(InvalidOption, match="JSON"):
        space_from_configspace(source, "x")


def test_ranges_beyond_64_bits_are_refused() -> None:
    with pytest.raises(InvalidOption, match="narrow it"):
        space_from_configspace(ConfigSpace.ConfigurationSpace({"x": (-1e295, 1e295)}), "x")


def test_relations_between_texts_and_numbers_are_refused() -> None:
    source = ConfigSpace.ConfigurationSpace({"a": [3, "x"], "b": (1, 3)})
    source.add(ConfigSpace.ForbiddenLessThanRelation(source["a"], source["b"]))
    with pytest.raises(InvalidOption, match="compares values of different kinds"):
        space_from_configspace(source, "x")


def test_an_inactive_parent_is_unequal_to_everything_as_in_configspace() -> None:
    source = ConfigSpace.ConfigurationSpace({"a": ["x", "y"], "b": ["p", "q"], "c": [1, 2]})
    source.add(
        ConfigSpace.EqualsCondition(source["b"], source["a"], "x"),
        ConfigSpace.NotEqualsCondition(source["c"], source["b"], "q"),
    )
    space = space_from_configspace(source, "unequal")
    assert legal(source, {"a": "y", "c": 1})
    assert space.from_native({"a": "y", "c": 1}) in set(space.enumerate())
    assert space.size == 2 + 1 + 2


def test_an_and_and_an_or_over_the_same_conditions_are_two_rules() -> None:
    source = ConfigSpace.ConfigurationSpace({"a": [1, 2], "b": [1, 2], "both": [0, 1], "either": [0, 1]})
    for child, joint in (("both", ConfigSpace.AndConjunction), ("either", ConfigSpace.OrConjunction)):
        parts = (ConfigSpace.EqualsCondition(source[child], source[parent], 1) for parent in "ab")
        source.add(joint(*parts))
    space = space_from_configspace(source, "two")
    assert space.size == 4 + 2 + 2 + 1
    for arch in space.enumerate():
        assert set(space.to_native(arch)) == source.get_active_hyperparameters(space.to_config(arch))
