"""The text in which a command line says which columns of a table are which metrics."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from nasbed.core.errors import InvalidOption, NasbedError, shorten
from nasbed.core.metric import Direction, Metric, Split

GRAMMAR = "KEY=COLUMN:UNIT:DIRECTION:LOWEST:HIGHEST, …"
_PART = re.compile(r'\s*(?P<key>\w+)\s*(?:=(?P<definition>(?:"(?:[^"]|"")*"|[^",])*))?(?P<end>,|$)')
_FIELDS = re.compile(r'"(?P<quoted>(?:[^"]|"")*)"(?=:|$)|(?P<plain>[^:"]*)(?=:|$)')
_SPLITS: tuple[Split, ...] = ("train", "validation", "test")


@dataclass(frozen=True, slots=True)
class MetricColumn:
    """A metric and the column that holds it."""

    metric: Metric
    column: str


def parse_metrics(text: str) -> list[MetricColumn]:
    """Read ``test_accuracy=cifar10_test:%:maximize:0:100, validation_loss=loss::minimize``.

    A key that begins with ``train_``, ``validation_`` or ``test_`` belongs to that split. The column is called as the
    key if it is left out, the direction is maximize, and a bound left out is infinite. A column whose name has a comma,
    a colon or a quote stands in double quotes, a quote in it doubled.

    >>> [column] = parse_metrics('validation_loss="my: loss"::minimize:0')
    >>> column.column, column.metric.split, column.metric.name, column.metric.bounds
    ('my: loss', 'validation', 'loss', (0.0, inf))
    """
    columns: list[MetricColumn] = []
    at = 0
    while at < len(text) or not columns:
        match = _PART.match(text, at)
        if match is None:
            raise InvalidOption(f"metrics read {GRAMMAR}, got {shorten(text[at:])} in {shorten(text)}")
        columns.append(_column(match["key"], match["definition"]))
        at = match.end()
    if text.rstrip().endswith(","):
        raise InvalidOption(f"metrics end with a metric, got a comma at the end of {shorten(text)}")
    keys = [column.metric.key for column in columns]
    twice = next((key for key in keys if keys.count(key) > 1), None)
    if twice is not None:
        raise InvalidOption(f"each metric is named once, got {twice} twice in {shorten(text)}")
    return columns


def _column(key: str, definition: str | None) -> MetricColumn:
    fields = _split(definition) if definition is not None else []
    if len(fields) > 5:
        raise InvalidOption(f"a metric reads {GRAMMAR}, got {len(fields)} parts in {shorten(definition)}")
    column, unit, direction, low, high = [*fields, *[""] * (5 - len(fields))]
    split = next((split for split in _SPLITS if key.startswith(f"{split}_")), None)
    try:
        metric = Metric(
            key if split is None else key.removeprefix(f"{split}_"),
            split,
            _direction(direction, key),
            unit,
            (_bound(low, -math.inf, key), _bound(high, math.inf, key)),
        )
    except NasbedError as error:
        raise InvalidOption(f"{error}; in the metric {key}") from None
    return MetricColumn(metric, column or key)


def _split(definition: str) -> list[str]:
    """The parts between colons, those in quotes without them."""
    parts, at = [], 0
    definition = definition.strip()
    while True:
        match = _FIELDS.match(definition, at)
        if match is None:
            raise InvalidOption(f'a name with a quote reads "my ""name""", got {shorten(definition)}')
        quoted = match["quoted"]
        parts.append(match["plain"].strip() if quoted is None else quoted.replace('""', '"'))
        if match.end() == len(definition):
            return parts
        at = match.end() + 1


def _direction(text: str, key: str) -> Direction:
    if text == "minimize":
        return "minimize"
    if text in ("", "maximize"):
        return "maximize"
    raise InvalidOption(f"a direction is maximize or minimize, got {shorten(text)} for {key}")


def _bound(text: str, missing: float, key: str) -> float:
    try:
        return float(text) if text else missing
    except ValueError:
        raise InvalidOption(f"a bound is a number, got {shorten(text)} for {key}") from None
