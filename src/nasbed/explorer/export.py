"""The explorer of one benchmark as a single file: the page with the answers of the API inside, for a browser alone."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import nasbed
from nasbed.core.errors import InvalidOption, shorten
from nasbed.core.files import complete_file
from nasbed.core.json_values import plain
from nasbed.drawing.page import environment
from nasbed.explorer.catalogue import BenchmarkView, Catalogue
from nasbed.explorer.details import architecture_details
from nasbed.explorer.edits import listed_edits
from nasbed.explorer.fixed_drawing import fixed_drawing
from nasbed.explorer.predictor import predictor_of
from nasbed.explorer.siblings import across, sibling_ids

TEMPLATE = Path(__file__).parent / "page" / "export.html"
MARKER = "<!-- nasbed-export -->"
"""Where the data go in the template."""
MOST_POINTS = 50_000
"""How many rows an export shows; a larger table is sampled."""
MOST_DETAILED = 1_000
"""How many architectures of an export can be opened: the best and a random sample."""
SEED = 0

Rows = NDArray[np.int64]


def write_export(catalogue: Catalogue, path: Path) -> str:
    """Write the page of the catalogue's default benchmark to a file, which appears when it is complete. The answer says
    what it holds."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise InvalidOption(f"an export is a page, its file ends in .html, got {shorten(str(path))}; change the suffix")
    if not path.parent.is_dir():
        raise InvalidOption(
            f"an export goes into an existing folder, got {shorten(str(path))}; create its folder first"
        )
    if not TEMPLATE.is_file() or MARKER not in TEMPLATE.read_text(encoding="utf-8"):
        raise InvalidOption("this installation lacks the page of the explorer; install nasbed again, or from a wheel")
    content = export_content(catalogue)
    page = TEMPLATE.read_text(encoding="utf-8").replace(MARKER, _data_element(content), 1)
    try:
        with complete_file(path) as draft:
            draft.write_text(page, encoding="utf-8")
    except OSError as error:
        raise InvalidOption(
            f"an export needs a file to write to, {shorten(str(path))}: {error.strerror}; name another"
        ) from None
    return f"{len(content['texts'])} architectures, {len(content['details'])} of them with details"


def export_content(catalogue: Catalogue) -> dict[str, Any]:
    """What the file holds: the answers of the API on the default benchmark. All rows are numbers of exported points."""
    view = catalogue.open(catalogue.default)
    points = view.points
    rows = exported_rows(view)
    place = {row: number for number, row in enumerate(rows.tolist())}
    detailed, predictor = _detailed(view, rows), predictor_of(catalogue, view)
    facts = {**view.facts(), "rows": len(rows), "siblings": sibling_ids(catalogue, view)}
    return {
        "version": nasbed.__version__,
        "made": datetime.now(UTC).date().isoformat(),
        "benchmark": facts,
        "points": b64encode(points.packed(list(points.columns), rows)).decode(),
        "row_note": _row_note(view, rows),
        "texts": points.space.texts(points.codes[rows]),
        "fixed": fixed_drawing(view, rows),
        "details": {str(place[row]): _details(catalogue, view, predictor, row, place) for row in detailed.tolist()},
        "details_note": None
        if len(detailed) == len(rows)
        else f"{len(detailed)} of {len(rows)} architectures can be opened: the best, and a random sample; "
        f"nasbed explore {view.id} opens all",
    }


def exported_rows(view: BenchmarkView) -> Rows:
    """The rows of the overview that an export shows: all, or a random sample of a large table with its best."""
    count = view.points.rows
    if count <= MOST_POINTS:
        return np.arange(count)
    return np.sort(_best_and_random(view, np.arange(count), MOST_POINTS))


def _detailed(view: BenchmarkView, rows: Rows) -> Rows:
    return rows if len(rows) <= MOST_DETAILED else _best_and_random(view, rows, MOST_DETAILED)


def _best_and_random(view: BenchmarkView, rows: Rows, count: int) -> Rows:
    """A tenth of the places for the rows with the best objective, the others at random."""
    objective = view.benchmark.objective
    values = view.points.values(objective.key)[rows]
    losses = -values if objective.direction == "maximize" else values
    best = rows[np.argsort(losses, kind="stable")[: count // 10]]  # NaN comes last
    others = np.setdiff1d(rows, best)
    drawn = np.random.default_rng(SEED).choice(others, size=count - len(best), replace=False)
    return np.concatenate([best, drawn])


def _row_note(view: BenchmarkView, rows: Rows) -> str | None:
    if len(rows) == view.points.rows:
        return view.points.sampled
    return f"{len(rows)} of {view.points.rows} architectures are shown: the best, and a random sample"


def _details(
    catalogue: Catalogue, view: BenchmarkView, predictor: BenchmarkView, row: int, place: Mapping[int, int]
) -> dict[str, Any]:
    """What the API answers for a row, with the numbers of exported rows.

    Args:
        catalogue: Where other tables of the space are.
        view: The benchmark.
        predictor: What answers for architectures that it does not hold.
        row: The row of the overview.
        place: The number of each exported row.
    """
    arch = view.points.architecture(row)
    details = architecture_details(view, predictor, arch)
    edits = listed_edits(view, predictor, arch)
    for edit in edits["edits"]:
        edit["row"] = place.get(edit["row"])
    return {**details, "row": place[row], "edits": edits, "across": across(catalogue, view, arch)}


def _data_element(content: Mapping[str, Any]) -> str:
    """The content as an element that a browser does not run: gzip in base64 has no character that could end it."""
    packed = gzip.compress(json.dumps(plain(content), allow_nan=False).encode(), mtime=0)
    return environment().get_template("data.html").render(id="export", data=b64encode(packed).decode()).strip()
