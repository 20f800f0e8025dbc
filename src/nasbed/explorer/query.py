"""Queries of many architectures at once, as programs of any language ask for them."""

from __future__ import annotations

from typing import Any

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption, NasbedError, shorten
from nasbed.core.status import STATUSES
from nasbed.explorer.catalogue import Catalogue
from nasbed.explorer.reading import LONGEST_TEXT
from nasbed.explorer.values import expected_parallel, queried_parallel

MOST_ARCHITECTURES = 20_000
"""How many architectures one request may ask for."""
LARGEST_SEED = 2**62
_FIELDS = ("benchmark", "architectures", "fidelity", "seed")


def answer_query(catalogue: Catalogue, body: Any) -> dict[str, Any]:
    """The answer to a request ``{"benchmark", "architectures", "fidelity", "seed"}``: the metrics column by column.
    Without a seed they are expected values; with one they are what ``query`` answers."""
    if not isinstance(body, dict) or not set(body) <= set(_FIELDS):
        raise InvalidOption(f"a query is a JSON object with {', '.join(_FIELDS)}, got {shorten(body)}")
    view = catalogue.open(_text(body.get("benchmark", catalogue.default), "the benchmark"))
    benchmark = view.benchmark
    archs = benchmark.space.codes(_architectures(benchmark.space.parse, body.get("architectures")))
    fidelity, seed = _number(body.get("fidelity"), "fidelity"), _number(body.get("seed"), "seed")
    answers = (
        expected_parallel(benchmark, archs, fidelity)
        if seed is None
        else queried_parallel(benchmark, archs, fidelity=fidelity, seed=seed)
    )
    return {
        "benchmark": view.id,
        "seed": seed,
        "fidelity": answers.fidelity,
        "metrics": {metric.key: column for metric, column in answers.values.items()},
        "cost_s": answers.cost_s,
        "status": [STATUSES[number].value for number in answers.status.tolist()],
    }


def _architectures(parse: Any, texts: Any) -> list[Architecture]:
    if not isinstance(texts, list) or not 0 < len(texts) <= MOST_ARCHITECTURES:
        got = f"{len(texts)}" if isinstance(texts, list) else shorten(texts)
        raise InvalidOption(f"architectures are a list of 1 to {MOST_ARCHITECTURES} texts, got {got}; split the list")
    archs = []
    for place, text in enumerate(texts):
        try:
            archs.append(parse(_text(text, "an architecture")))
        except NasbedError as error:
            raise InvalidOption(f"architectures[{place}]: {error}") from None
    return archs


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        raise InvalidOption(f"{name} is a text of up to {LONGEST_TEXT} characters, got {shorten(value)}")
    return value


def _number(value: Any, name: str) -> int | None:
    if value is not None and (type(value) is not int or abs(value) > LARGEST_SEED):
        raise InvalidOption(f"the {name} is a whole number or null, got {shorten(value)}; leave it out for the usual")
    return value
