"""The entries of a chart's legends: what of their scales the chart shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

LISTED = ("color", "shape", "strokeDash")
"""The channels with a legend of names."""


def legend_names(chart: Mapping[str, Any]) -> list[str]:
    """The entries of all legends."""
    return [
        name
        for encoding in _encodings(chart)
        for name in (encoding.get("legend") or {}).get("values", encoding["scale"]["domain"])
    ]


def with_own_legends(chart: Mapping[str, Any]) -> dict[str, Any]:
    """A single or layered chart whose legends list only what it shows, while names keep their colours.

    Panels of one figure share their scales, so that a name looks the same in all of them. A page draws each panel by
    itself: its legend need not list what other panels show.
    """
    limited: dict[str, Any] = _copied(chart)
    rows = list(_rows(limited, limited.get("datasets", {})))
    for encoding in _encodings(limited):
        shown = {row.get(encoding["field"]) for row in rows if isinstance(row.get(encoding["field"]), str)}
        names = [name for name in encoding["scale"]["domain"] if name in shown]
        legend = encoding.get("legend", {})
        if legend is not None and 0 < len(names) < len(encoding["scale"]["domain"]):
            encoding["legend"] = {"values": names, **legend}
    return limited


def _encodings(value: Any) -> Iterator[dict[str, Any]]:
    """Encodings of a field by names."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            if key in LISTED and isinstance(part, dict):
                domain = (part.get("scale") or {}).get("domain")
                if (
                    isinstance(part.get("field"), str)
                    and isinstance(domain, list)
                    and all(isinstance(name, str) for name in domain)
                ):
                    yield part
            elif key not in ("datasets", "data"):
                yield from _encodings(part)
    elif isinstance(value, list):
        for part in value:
            yield from _encodings(part)


def _rows(value: Any, datasets: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The data of a chart and of its layers."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            if key == "data" and isinstance(part, Mapping):
                rows = part.get("values", datasets.get(part.get("name", ""), []))
                yield from (row for row in rows if isinstance(row, Mapping))
            elif key != "datasets":
                yield from _rows(part, datasets)
    elif isinstance(value, list):
        for part in value:
            yield from _rows(part, datasets)


def _copied(value: Any) -> Any:
    """A copy of everything but the data."""
    if isinstance(value, Mapping):
        return {key: part if key in ("datasets", "data") else _copied(part) for key, part in value.items()}
    return [_copied(part) for part in value] if isinstance(value, list) else value
