"""The conditions and forbidden clauses of a configuration space, compiled to tests on an integer code."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from nasbed.core.errors import InvalidOption
from nasbed.spaces.from_configspace.hyperparameters import Choice, Hyperparameter

if TYPE_CHECKING:
    from ConfigSpace import ConfigurationSpace

INACTIVE = -1
"""The code of a hyperparameter whose condition does not hold."""

COUNT_STEPS = 1_000_000
"""How many partial configurations :func:`count` looks at before it gives up: a second or two."""

Test = Callable[[Sequence[int]], bool]
Compare = Callable[[Any, Any], bool]


@dataclass(frozen=True, slots=True)
class Rule:
    """A condition (its child is active where it holds) or a forbidden clause (a configuration is out where it holds).

    ``reads`` are the positions that it looks at. Of those in ``marks`` it only asks how they lie to these codes.
    """

    holds: Test
    reads: frozenset[int]
    marks: dict[int, frozenset[int]]
    text: str


class Rules:
    """All rules of a space. Positions follow the ConfigSpace's own order, in which parents precede their children."""

    def __init__(self, source: ConfigurationSpace, hyperparameters: Sequence[Hyperparameter]) -> None:
        compiler = _Compiler(hyperparameters)
        self.conditions = tuple(
            compiler.joined(parent_conditions, _all_of, "")
            if (parent_conditions := source.parent_conditions_of[parameter.name])
            else None
            for parameter in hyperparameters
        )
        self.forbidden = tuple(map(compiler.rule, source.forbidden_clauses))
        self.parents = tuple(tuple(sorted(rule.reads)) if rule else () for rule in self.conditions)
        self.descendants = tuple(map(self._descendants, range(len(hyperparameters))))
        self.touching = tuple(
            tuple(rule.holds for rule in self.forbidden if not rule.reads.isdisjoint({position, *below}))
            for position, below in enumerate(self.descendants)
        )

    def active(self, position: int, code: Sequence[int]) -> bool:
        """Whether the hyperparameter is active, given the codes of its parents."""
        rule = self.conditions[position]
        return rule is None or rule.holds(code)

    def _descendants(self, position: int) -> tuple[int, ...]:
        descendants: list[int] = []
        for child, parents in enumerate(self.parents):
            if position in parents or not set(descendants).isdisjoint(parents):
                descendants.append(child)
        return tuple(descendants)


def count(rules: Rules, hyperparameters: Sequence[Hyperparameter]) -> int | None:
    """How many codes keep all rules, exactly; ``None`` where that takes more than ``COUNT_STEPS``.

    Works along the conditions, and joins partial configurations that agree on all that later rules will read. Values
    that no rule tells apart are taken together, so a large range costs no more than the constants it is compared with.
    """
    order = _depth_first(rules.parents)
    step_of = {position: step for step, position in enumerate(order)}
    checks = [(rule, max(step_of[place] for place in rule.reads)) for rule in rules.forbidden]
    due = [[rule.holds for rule, when in checks if when == step] for step in range(len(order))]
    checks += [(rule, step_of[child]) for child, rule in enumerate(rules.conditions) if rule]
    last_check = [max((when for rule, when in checks if place in rule.reads), default=0) for place in range(len(order))]

    code = [INACTIVE] * len(order)
    states: dict[tuple[int, ...], int] = {(): 1}
    remembered: list[int] = []
    steps = 0
    for step, position in enumerate(order):
        groups = _groups(position, hyperparameters[position].size, [rule for rule, _ in checks])
        needed = [place for place in (*remembered, position) if last_check[place] > step]
        following: dict[tuple[int, ...], int] = {}
        for state, ways in states.items():
            for place, value in zip(remembered, state, strict=True):
                code[place] = value
            for value, alike in groups() if rules.active(position, code) else ((INACTIVE, 1),):
                steps += 1
                if steps > COUNT_STEPS:
                    return None
                code[position] = value
                if not any_holds(due[step], code):
                    key = tuple(code[place] for place in needed)
                    following[key] = following.get(key, 0) + ways * alike
        states, remembered = following, needed
    return sum(states.values())


def _groups(position: int, size: int, rules: Iterable[Rule]) -> Callable[[], Iterable[tuple[int, int]]]:
    """The sets of codes that no rule tells apart: one code of each set, and how many are in it."""
    starts = {0}
    for rule in rules:
        if position in rule.reads:
            if position not in rule.marks:
                return lambda: ((code, 1) for code in range(size))
            starts |= {start for mark in rule.marks[position] for start in (mark, mark + 1) if 0 <= start < size}
    bounds = [*sorted(starts), size]
    groups = [(start, end - start) for start, end in pairwise(bounds)]
    return lambda: groups


def _depth_first(parents: Sequence[tuple[int, ...]]) -> list[int]:
    """An order of the positions in which children follow their last parent as closely as can be."""
    waiting = list(map(len, parents))
    order: list[int] = []
    ready = [position for position in reversed(range(len(parents))) if not waiting[position]]
    while ready:
        order.append(ready.pop())
        for child in reversed(range(len(parents))):
            if order[-1] in parents[child]:
                waiting[child] -= 1
                if not waiting[child]:
                    ready.append(child)
    return order


class _Compiler:
    """Codes rise with the values, so a comparison with a constant is one between codes. What is inactive is neither
    equal to a constant nor below or above it; it is unequal to it, as in ConfigSpace's own checks and samples.
    """

    def __init__(self, hyperparameters: Sequence[Hyperparameter]) -> None:
        self._places = {parameter.name: (position, parameter) for position, parameter in enumerate(hyperparameters)}

    def rule(self, source: Any) -> Rule:
        """The rule that a condition, clause, relation or conjunction of ConfigSpace states."""
        kind, text = type(source).__name__, str(source).replace("Forbidden: ", "")
        if kind in _JOINTS:
            return self.joined(source.components, _JOINTS[kind], text)
        if kind in _RELATIONS:
            return self._relation(_RELATIONS[kind], source.left.name, source.right.name, text)
        if kind in _COMPARISONS:
            subject = source.parent if kind.endswith("Condition") else source.hyperparameter
            values = source.values if _COMPARISONS[kind] is operator.contains else (source.value,)
            return self._comparison(_COMPARISONS[kind], subject.name, values, text)
        raise InvalidOption(f"nasbed knows the rules of ConfigSpace 1.2, got a {kind}: {text}; restate it with those")

    def joined(self, sources: Sequence[Any], join: Callable[[tuple[Test, ...]], Test], text: str) -> Rule:
        """Several rules as one."""
        rules = tuple(map(self.rule, sources))
        if len(rules) == 1:
            return rules[0]
        marks: dict[int, frozenset[int]] = {}
        for rule in rules:
            for position, codes in rule.marks.items():
                if all(position in reader.marks for reader in rules if position in reader.reads):
                    marks[position] = marks.get(position, frozenset()) | codes
        reads = frozenset().union(*(rule.reads for rule in rules))
        return Rule(join(tuple(rule.holds for rule in rules)), reads, marks, text)

    def _comparison(self, compare: Compare, name: str, values: Sequence[object], text: str) -> Rule:
        position, subject = self._places[name]
        marks = tuple(map(subject.mark, values))
        mark = next(iter(marks), math.nan)
        near = frozenset(bound for value in marks for bound in (math.floor(value), math.ceil(value)))

        def holds(code: Sequence[int]) -> bool:
            return compare(code[position], mark)

        def holds_below(code: Sequence[int]) -> bool:
            return code[position] >= 0 and compare(code[position], mark)

        def holds_among(code: Sequence[int]) -> bool:
            return code[position] in marks

        kinds = {operator.contains: holds_among, operator.lt: holds_below, operator.le: holds_below}
        return Rule(kinds.get(compare, holds), frozenset({position}), {position: near}, text)

    def _relation(self, compare: Compare, left: str, right: str, text: str) -> Rule:
        (left_position, left_parameter), (right_position, right_parameter) = self._places[left], self._places[right]
        try:
            for value in _samples(left_parameter):
                for against in _samples(right_parameter):
                    compare(value, against)
        except TypeError as error:
            raise InvalidOption(f"{text} compares values of different kinds: {error}") from None
        left_value, right_value = left_parameter.value, right_parameter.value

        def holds(code: Sequence[int]) -> bool:
            return (
                code[left_position] >= 0
                and code[right_position] >= 0
                and bool(compare(left_value(code[left_position]), right_value(code[right_position])))
            )

        return Rule(holds, frozenset({left_position, right_position}), {}, text)


def _samples(parameter: Hyperparameter) -> tuple[object, ...]:
    return parameter.values if isinstance(parameter, Choice) else (parameter.value(0),)


def any_holds(tests: Sequence[Test], code: Sequence[int]) -> bool:
    for test in tests:  # noqa: SIM110 a loop is twice as fast as any() here
        if test(code):
            return True
    return False


def _all_of(tests: tuple[Test, ...]) -> Test:
    def holds(code: Sequence[int]) -> bool:
        for test in tests:  # noqa: SIM110
            if not test(code):
                return False
        return True

    return holds


def _any_of(tests: tuple[Test, ...]) -> Test:
    return lambda code: any_holds(tests, code)


_JOINTS = {
    "AndConjunction": _all_of,
    "OrConjunction": _any_of,
    "ForbiddenAndConjunction": _all_of,
    "ForbiddenOrConjunction": _any_of,
}
_COMPARISONS: dict[str, Compare] = {
    "EqualsCondition": operator.eq,
    "NotEqualsCondition": operator.ne,
    "LessThanCondition": operator.lt,
    "GreaterThanCondition": operator.gt,
    "InCondition": operator.contains,
    "ForbiddenEqualsClause": operator.eq,
    "ForbiddenInClause": operator.contains,
    "ForbiddenLessThanClause": operator.lt,
    "ForbiddenLessThanEqualsClause": operator.le,
    "ForbiddenGreaterThanClause": operator.gt,
    "ForbiddenGreaterThanEqualsClause": operator.ge,
}
_RELATIONS: dict[str, Compare] = {
    "ForbiddenEqualsRelation": operator.eq,
    "ForbiddenLessThanRelation": operator.lt,
    "ForbiddenLessThanEqualsRelation": operator.le,
    "ForbiddenGreaterThanRelation": operator.gt,
    "ForbiddenGreaterThanEqualsRelation": operator.ge,
}
