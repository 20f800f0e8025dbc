"""Charts as files in SVG, PNG and PDF, and reports that also show them on a page."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nasbed.core.errors import InvalidOption, nearest
from nasbed.core.files import complete_file
from nasbed.core.metric import Metric
from nasbed.drawing.page import Section, write_numbers, write_page
from nasbed.drawing.themes import FILE_THEME, READER

if TYPE_CHECKING:
    import altair as alt

FORMATS = ("svg", "png", "pdf")
DEFAULT_FORMATS = ("svg", "pdf")
FIGURES_FOLDER = "figures"
"""The folder of figure files beside a page."""
PNG_SCALE = 2.0


def metric_label(metric: Metric) -> str:
    """A metric as the title of an axis, with its unit.

    >>> metric_label(Metric("accuracy", split="validation", unit="%"))
    'validation accuracy [%]'
    """
    name = metric.key.replace("_", " ")
    return f"{name} [{metric.unit}]" if metric.unit else name


def check_formats(formats: Iterable[str]) -> None:
    """Raise for a format in which no figure is saved."""
    for form in formats:
        if form not in FORMATS:
            raise InvalidOption(f"a figure is saved as {', '.join(FORMATS)}, got {form!r}; {nearest(form, FORMATS)}")


def save_figures(charts: Mapping[str, alt.TopLevelMixin], folder: str | Path, formats: Iterable[str]) -> None:
    """Write every figure under its name in every format into a folder, which is created if needed. A file appears only
    when it is complete. Without formats nothing is written."""
    folder = Path(folder)
    formats = tuple(formats)
    check_formats(formats)
    if not formats:
        return
    folder.mkdir(parents=True, exist_ok=True)
    for name, chart in charts.items():
        specification = json.dumps(_without_readers(chart.to_dict()) | {"config": FILE_THEME})
        for form in formats:
            rendered = _render(specification, form)
            with complete_file(folder / f"{name}.{form}") as draft:
                draft.write_bytes(rendered)


def _render(specification: str, form: str) -> bytes:
    import vl_convert

    if form == "svg":
        return str(vl_convert.vegalite_to_svg(specification)).encode()
    if form == "png":
        return bytes(vl_convert.vegalite_to_png(specification, scale=PNG_SCALE))
    return bytes(vl_convert.vegalite_to_pdf(specification))


def _without_readers(value: Any) -> Any:
    """A chart without the invisible layers for tooltips."""
    if isinstance(value, list):
        return [_without_readers(part) for part in value if not (isinstance(part, dict) and part.get("name") == READER)]
    if isinstance(value, dict):
        return {key: part if key == "datasets" else _without_readers(part) for key, part in value.items()}
    return value


def write_report(
    folder: str | Path,
    title: str,
    *,
    sections: Sequence[Section],
    figures: Mapping[str, alt.TopLevelMixin],
    numbers: Mapping[str, Any],
    formats: Iterable[str] = (),
) -> None:
    """Write ``numbers.json`` and ``report.html`` into a folder, created if needed, and figures as files where wanted.

    The page holds its charts itself.

    Args:
        folder: where the files go.
        title: the heading of the page.
        sections: the page's sections; their blocks refer to figures by name.
        figures: charts by name.
        numbers: the numbers of the page, for scripts.
        formats: of the files ``figures/NAME.FORMAT``: svg, png, pdf; no files by default.
    """
    folder = Path(folder)
    save_figures(figures, folder / FIGURES_FOLDER, formats)
    write_numbers(folder, numbers)
    write_page(folder / "report.html", title, sections, charts=figures)
