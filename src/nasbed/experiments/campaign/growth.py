"""Raising the numbers of a campaign that has a journal: what may grow, and the stages in which it grew.

A campaign that was raised goes through the rounds of its former numbers first, exactly as recorded, then through those
that the new numbers add. Proposals that depend on no result are therefore the same as if the larger numbers had been
there from the start. A method that learns has been told of a round that ended earlier, and a noise study has drawn from
the architectures of its time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

from nasbed.experiments.campaign.plan import Campaign

RAISABLE = {
    "trials": ("trials",),
    "[grid] seeds": ("grid", "seeds"),
    "[searches] evaluations": ("searches", "evaluations"),
    "[repeats] architectures": ("repeats", "architectures"),
    "[repeats] seeds": ("repeats", "seeds"),
}
"""The numbers of a campaign that may be raised, and where its identity has them."""
RULE = f"only {', '.join(RAISABLE)} may be raised"


def raised_numbers(stored: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """The numbers that an identity of a campaign has raised, each with its former and its new value.

    >>> raised_numbers({"trials": 100, "seed": 0}, {"trials": 200, "seed": 1})
    {'trials': (100, 200)}
    """
    raised = {}
    for name, path in RAISABLE.items():
        former, new = _value(stored, path), _value(now, path)
        if former is not None and new is not None and _is_raised(former, new):
            raised[name] = former, new
    return raised


def with_former_numbers(stored: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """An identity with its raised numbers as they were: equal to the stored one if nothing else has changed."""
    lowered = deepcopy(dict(now))
    for name, (former, _) in raised_numbers(stored, now).items():
        *tables, key = RAISABLE[name]
        owner = lowered
        for table in tables:
            owner = owner[table]
        owner[key] = former
    return lowered


def stages_of(campaign: Campaign, former: Sequence[Mapping[str, Any]]) -> list[Campaign]:
    """The campaign with the numbers of each former identity, then with its own."""
    return [*(_with_numbers(campaign, identity) for identity in former), campaign]


def _with_numbers(campaign: Campaign, identity: Mapping[str, Any]) -> Campaign:
    parts: dict[str, Any] = {"trials": identity["trials"]}
    if campaign.grid is not None:
        parts["grid"] = replace(campaign.grid, seeds=tuple(identity["grid"]["seeds"]))
    if campaign.searches is not None:
        parts["searches"] = replace(campaign.searches, evaluations=identity["searches"]["evaluations"])
    if campaign.repeats is not None:
        numbers = {key: identity["repeats"][key] for key in ("architectures", "seeds")}
        parts["repeats"] = replace(campaign.repeats, **numbers)
    return replace(campaign, **parts)


def _value(identity: Mapping[str, Any], path: Sequence[str]) -> Any:
    value: Any = identity
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _is_raised(former: Any, new: Any) -> bool:
    """Whether a number is larger, or a list has further items after the former ones."""
    if isinstance(former, list):
        return len(new) > len(former) and new[: len(former)] == former
    return bool(new > former)
