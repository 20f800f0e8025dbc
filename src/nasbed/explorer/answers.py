"""The answers of the API, each a function of the parameters of a request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import nasbed
from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption, shorten
from nasbed.explorer.catalogue import BenchmarkView, Catalogue
from nasbed.explorer.details import architecture_details, pictures
from nasbed.explorer.edits import listed_edits, uphill
from nasbed.explorer.openapi import openapi_document
from nasbed.explorer.predictor import predictor_of
from nasbed.explorer.query import answer_query
from nasbed.explorer.reading import read_architecture
from nasbed.explorer.searches import Searches
from nasbed.explorer.siblings import across, sibling_ids

Parameters = Mapping[str, str]
MOST_COLUMNS = 100
"""How many columns one request may ask for."""
LARGEST_SEED = 2**63


class Answers:
    """What the explorer answers. ``parameters`` are those of the query string, and of the path."""

    def __init__(self, catalogue: Catalogue, searches: Searches) -> None:
        self._catalogue = catalogue
        self._searches = searches

    def benchmarks(self, parameters: Parameters) -> dict[str, Any]:
        """The benchmarks that can be opened here."""
        return {"benchmarks": self._catalogue.entries(), "version": nasbed.__version__}

    def benchmark(self, parameters: Parameters) -> dict[str, Any]:
        """One benchmark: its metrics, fidelities and columns."""
        view = self._catalogue.open(parameters["id"])
        return {**view.facts(), "siblings": sibling_ids(self._catalogue, view)}

    def points(self, parameters: Parameters) -> bytes:
        """Columns of the overview as bytes."""
        keys = [key for key in parameters.get("columns", "").split(",") if key]
        if not 0 < len(keys) <= MOST_COLUMNS:
            raise InvalidOption(f"columns are 1 to {MOST_COLUMNS} keys with commas between, got {len(keys)}; name some")
        return self._view(parameters).points.packed(keys)

    def architecture(self, parameters: Parameters) -> dict[str, Any]:
        """Everything that is known of one architecture; its pictures where they are asked for."""
        view, predictor, arch = self._predicted(parameters)
        details = architecture_details(view, predictor, arch)
        return details | {"svg": pictures(view, arch)} if parameters.get("svg") == "1" else details

    def edits(self, parameters: Parameters) -> dict[str, Any]:
        """Its legal single edits, the best first."""
        return listed_edits(*self._predicted(parameters))

    def uphill(self, parameters: Parameters) -> dict[str, Any]:
        """The way of local search from it to a local best."""
        return uphill(*self._predicted(parameters))

    def across(self, parameters: Parameters) -> dict[str, Any]:
        """Its value and rank on every table of its space."""
        return across(self._catalogue, *self._named(parameters))

    def query(self, body: Any) -> dict[str, Any]:
        """The metrics of a batch."""
        return answer_query(self._catalogue, body)

    def runs(self, parameters: Parameters) -> dict[str, Any]:
        """The sets of runs that can be shown."""
        return self._searches.listed()

    def paths(self, parameters: Parameters) -> dict[str, Any]:
        """The runs of one set as paths."""
        if "folder" not in parameters:
            raise InvalidOption("the paths of runs need folder=NAME; see /api/runs for the names")
        return self._searches.paths(parameters["folder"])

    def openapi(self, parameters: Parameters) -> dict[str, Any]:
        """The description of this API."""
        return openapi_document()

    def _predicted(self, parameters: Parameters) -> tuple[BenchmarkView, BenchmarkView, Architecture]:
        """The benchmark, what answers for architectures that it does not hold, and the architecture."""
        view, arch = self._named(parameters)
        return view, predictor_of(self._catalogue, view), arch

    def _view(self, parameters: Parameters) -> BenchmarkView:
        return self._catalogue.open(parameters.get("benchmark") or self._catalogue.default)

    def _named(self, parameters: Parameters) -> tuple[BenchmarkView, Architecture]:
        """The benchmark and the architecture that a request names, by text, by row or at random."""
        view = self._view(parameters)
        chosen = [name for name in ("text", "row", "random") if name in parameters]
        if len(chosen) != 1:
            raise InvalidOption(f"an architecture is named by one of text, row and random, got {len(chosen)} of them")
        if chosen[0] == "text":
            return view, read_architecture(view, parameters["text"])
        number = _whole_number(chosen[0], parameters[chosen[0]])
        if chosen[0] == "row":
            return view, view.points.architecture(number)
        return view, _random(view, number)


def _random(view: BenchmarkView, seed: int) -> Architecture:
    """A random architecture that the benchmark answers for: of a table one of its rows."""
    rng = np.random.default_rng(seed)
    if view.points.is_table:
        return view.points.architecture(int(rng.integers(view.points.rows)))
    return view.benchmark.space.sample(rng)


def _whole_number(name: str, text: str) -> int:
    digits = text.strip()
    if not (digits.isascii() and digits.isdecimal() and len(digits) < 20) or int(digits) >= LARGEST_SEED:
        raise InvalidOption(f"{name} is a whole number from 0, got {shorten(text)}; pass one")
    return int(digits)
