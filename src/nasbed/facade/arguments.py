"""Arguments that several of the calls have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from nasbed.core.calls.arguments import check_mapping, one_or_several, whole_number
from nasbed.core.errors import InvalidOption
from nasbed.core.execution import Engine, LocalEngine, SerialEngine
from nasbed.experiments.provenance import Method


def method_list(methods: Method | Iterable[Method]) -> list[Method]:
    """The compared methods: one, or several in an order of the user's."""
    chosen = one_or_several("methods", methods, (str, type))
    if not chosen:
        raise InvalidOption("a comparison has at least one method, got none; pass ids of nasbed list optimizers")
    return chosen


def check_settings(settings: Mapping[str, Mapping[str, Any]] | None) -> None:
    """Raise unless settings are dictionaries by method."""
    rule = 'settings are dictionaries by method, such as {"re": {"sample_size": 5}}'
    check_mapping(rule, settings or {})
    for values in (settings or {}).values():
        check_mapping(rule, values)


def engine_of(processes: int) -> Engine:
    """Where tasks are carried out: in this process, or in several; 0 is one per core."""
    return SerialEngine() if processes == 1 else LocalEngine(whole_number("processes", processes, least=0))
