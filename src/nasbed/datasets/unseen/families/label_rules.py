"""Rules that give a composed image its label: functions of the classes of the source images in it.

A rule says how many classes there are. Every class needs a combination of source classes, so that labels can be
balanced; a choice of parameters without one is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from nasbed.core.errors import InvalidOption
from nasbed.datasets.unseen.draws import Integers
from nasbed.datasets.unseen.families.parameters import FamilyParameter, NamedChoice, Whole, WholeNumbers

MOST_COMBINATIONS = 1_000_000


@dataclass(frozen=True, slots=True)
class LabelRule:
    """A rule with its parameters: labels from source classes ``[n, pieces]``, and the names of the labels.

    Combinations whose label is not one of the classes are not made.
    """

    label: Callable[[Integers], Integers]
    classes: tuple[str, ...]
    sentence: str


def _modulo(value: Callable[[Integers], Integers], modulus: int, word: str) -> LabelRule:
    ending = modulus == 10
    names = (f"{word} ends in {rest}" if ending else f"{word} is {rest} modulo {modulus}" for rest in range(modulus))
    sentence = f"the last digit of their {word}" if ending else f"their {word} modulo {modulus}"
    return LabelRule(lambda kinds: value(kinds) % modulus, tuple(names), sentence)


def _alternating_sum(kinds: Integers) -> Integers:
    total: Integers = kinds[:, ::2].sum(axis=1) - kinds[:, 1::2].sum(axis=1)
    return total


def _distinct(kinds: Integers) -> Integers:
    ordered = np.sort(kinds, axis=1)
    steps: Integers = (ordered[:, 1:] != ordered[:, :-1]).sum(axis=1)
    return steps


def _like_first(kinds: Integers) -> Integers:
    others: Integers = (kinds[:, 1:] == kinds[:, :1]).sum(axis=1)
    return others


RULES = {
    "sum": "the sum less one, for sums of 1 to largest",
    "sum-modulo": "the sum modulo modulus",
    "product-modulo": "the product modulo modulus",
    "weighted-modulo": "the sum with weights, modulo modulus",
    "alternating-modulo": "the first less the second plus the third …, modulo modulus",
    "range": "the largest less the smallest",
    "maximum": "the largest",
    "distinct": "how many are distinct, less one",
    "like-first": "how many others are the same as the first",
}
"""What the label is, of the classes of the source images, by the name of the rule."""


def _rule(settings: Mapping[str, Any], pieces: int, kinds: int) -> LabelRule:
    modulus = settings.get("modulus", 0)
    match settings["rule"]:
        case "sum":
            sums = range(1, settings["largest"] + 1)
            return LabelRule(
                lambda values: values.sum(axis=1) - 1,
                tuple(f"sum {total}" for total in sums),
                f"their sum less one, for sums of 1 to {sums[-1]}",
            )
        case "sum-modulo":
            return _modulo(lambda values: values.sum(axis=1), modulus, "sum")
        case "product-modulo":
            return _modulo(lambda values: values.prod(axis=1), modulus, "product")
        case "weighted-modulo":
            weights = settings["weights"]
            if len(weights) != pieces:
                raise InvalidOption(
                    f"weights has a number for each of {pieces} images, got {len(weights)}; set as many"
                )
            return _modulo(lambda values: values @ np.array(weights), modulus, f"sum with weights {weights}")
        case "alternating-modulo":
            return _modulo(_alternating_sum, modulus, "sum with alternating signs")
        case "range":
            names = tuple(f"range {width}" for width in range(kinds))
            return LabelRule(lambda values: np.ptp(values, axis=1), names, "the largest of them less the smallest")
        case "maximum":
            names = tuple(f"maximum {top}" for top in range(kinds))
            return LabelRule(lambda values: values.max(axis=1), names, "the largest of them")
        case "distinct":
            names = tuple(f"{count} kind{'s'[: count > 1]}" for count in range(1, min(pieces, kinds) + 1))
            return LabelRule(_distinct, names, "the number of distinct ones less one")
        case "like-first":
            names = tuple(f"{count} more like the first" for count in range(pieces))
            return LabelRule(_like_first, names, "how many others are the same as the first")
    raise AssertionError(f"{settings['rule']} is in RULES and not here")


def rule_parameters(default: str) -> tuple[FamilyParameter, ...]:
    """The parameters that choose a rule."""
    return (
        NamedChoice("rule", default, "what the label is, of the classes of the source images", RULES),
        Whole("largest", 20, "the largest sum that is made, for the rule sum; without it at most what exists", 2, 100),
        Whole("modulus", 10, "the number of classes, for the rules that end in -modulo", 2, 50),
        WholeNumbers(
            "weights", (1, 2, 3), "one for each source image, for the rule weighted-modulo; without it 1,2,3 …", -20, 20
        ),
    )


def unread_parameters(rule: str) -> set[str]:
    """The parameters of rules that this rule does not read.

    >>> sorted(unread_parameters("sum"))
    ['modulus', 'weights']
    """
    unread = {"largest", "modulus", "weights"}
    if rule == "sum":
        unread.remove("largest")
    if rule.endswith("-modulo"):
        unread.remove("modulus")
    if rule.startswith("weighted-"):
        unread.remove("weights")
    return unread


def chosen_rule(settings: Mapping[str, Any], *, pieces: int, kinds: int) -> tuple[LabelRule, Integers]:
    """The rule of a family's settings, and all combinations of source classes ``[n, pieces]`` in the order of numbers.

    Args:
        settings: The values of all parameters.
        pieces: Source images in a composition.
        kinds: Classes of the source that are used, from 0 on.
    """
    if kinds**pieces > MOST_COMBINATIONS:
        raise InvalidOption(
            f"labels are drawn from at most {MOST_COMBINATIONS} combinations of source classes, {kinds} classes in "
            f"{pieces} images have {kinds**pieces}; choose fewer"
        )
    rule = _rule(settings, pieces, kinds)
    combinations = np.indices((kinds,) * pieces).reshape(pieces, -1).T
    missing = np.setdiff1d(np.arange(len(rule.classes)), rule.label(combinations))
    if len(missing):
        raise InvalidOption(
            f"every class needs a combination of {pieces} source classes, '{rule.classes[missing[0]]}' has none; "
            "choose a smaller largest or modulus, or another rule"
        )
    return rule, combinations
