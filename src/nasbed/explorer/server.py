"""The routes of the explorer: the page, and the API by which it and any other program ask."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

import nasbed
from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption, NasbedError, UnknownName
from nasbed.core.json_values import plain
from nasbed.explorer.catalogue import Catalogue, OpenBenchmark
from nasbed.explorer.details import architecture_details
from nasbed.explorer.edits import listed_edits, uphill

PAGE = Path(__file__).parent / "page"


class JsonAnswer(Response):
    """JSON in which NaN is null, as browsers read it."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return json.dumps(plain(content), ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def explorer_app(catalogue: Catalogue) -> Starlette:
    """The application that serves the page and the API."""
    api = Api(catalogue)
    routes = [
        Route("/", _index),
        Mount("/page", StaticFiles(directory=PAGE, check_dir=False)),
        Route("/api/benchmarks", _answered(api.benchmarks)),
        Route("/api/benchmarks/{id:path}", _answered(api.benchmark)),
        Route("/api/points", _answered(api.points)),
        Route("/api/architecture", _answered(api.architecture)),
        Route("/api/edits", _answered(api.edits)),
        Route("/api/uphill", _answered(api.uphill)),
    ]
    return Starlette(routes=routes)


async def _index(request: Request) -> Response:
    return FileResponse(PAGE / "index.html")


def _answered(answer: Callable[[Request], Any]) -> Callable[[Request], Any]:
    """A route whose answer is computed in a thread, and whose errors are one line of JSON."""

    async def route(request: Request) -> Response:
        try:
            content = await run_in_threadpool(answer, request)
        except UnknownName as error:
            return JsonAnswer({"error": str(error)}, status_code=404)
        except NasbedError as error:
            return JsonAnswer({"error": " ".join(str(error).split())}, status_code=400)
        if isinstance(content, bytes):
            return Response(content, media_type="application/octet-stream")
        return JsonAnswer(content)

    return route


class Api:
    """The answers, each a function of a request."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def benchmarks(self, request: Request) -> dict[str, Any]:
        return {"benchmarks": self._catalogue.entries(), "version": nasbed.__version__}

    def benchmark(self, request: Request) -> dict[str, Any]:
        opened = self._catalogue.open(request.path_params["id"])
        benchmark, points = opened.benchmark, opened.points
        operations = benchmark.space.operations
        held = benchmark.held_count
        siblings = [
            entry["id"]
            for entry in self._catalogue.entries()
            if entry["space"] == benchmark.space.name and entry["id"] != opened.id
        ]
        return {
            "id": opened.id,
            "title": benchmark.summary or benchmark.name,
            "space": benchmark.space.name,
            "kind": "table" if opened.is_table else "surrogate",
            "rows": points.rows,
            "complete": held is None or held == benchmark.space.size,
            "dataset": benchmark.dataset_name,
            "metrics": [
                {
                    "key": metric.key,
                    "title": metric.key.replace("_", " "),
                    "unit": metric.unit,
                    "maximise": metric.direction == "maximize",
                }
                for metric in points.metrics
            ],
            "objective": benchmark.objective.key,
            "test": None if benchmark.test_metric is None else benchmark.test_metric.key,
            "fidelities": list(benchmark.fidelities),
            "operations": [] if operations is None else list(operations.names),
            "columns": [column.facts() for column in points.columns.values()],
            "siblings": siblings,
            "sampled": points.sampled,
        }

    def points(self, request: Request) -> bytes:
        opened = self._opened(request)
        keys = [key for key in request.query_params.get("columns", "").split(",") if key]
        return opened.points.packed(keys)

    def architecture(self, request: Request) -> dict[str, Any]:
        opened = self._opened(request)
        return architecture_details(opened, self._architecture(request, opened))

    def edits(self, request: Request) -> dict[str, Any]:
        opened = self._opened(request)
        return listed_edits(opened, self._architecture(request, opened))

    def uphill(self, request: Request) -> dict[str, Any]:
        opened = self._opened(request)
        return uphill(opened, self._architecture(request, opened))

    def _opened(self, request: Request) -> OpenBenchmark:
        return self._catalogue.open(request.query_params.get("benchmark") or self._catalogue.default)

    def _architecture(self, request: Request, opened: OpenBenchmark) -> Architecture:
        query = request.query_params
        if "row" in query:
            return opened.points.architecture(int(query["row"]))
        if "random" in query:
            return opened.benchmark.space.sample(np.random.default_rng(int(query["random"])))
        if "text" in query:
            return opened.benchmark.space.parse(query["text"])
        raise InvalidOption("an architecture is asked for by text, row or random; give one of them")
