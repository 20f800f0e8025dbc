"""The routes of the explorer: the page, and the API by which it and any other program ask."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from nasbed.core.errors import NasbedError, ParseError, UnknownName, exception_line, first_line, shorten
from nasbed.core.json_values import plain
from nasbed.explorer.addresses import LOOPBACK_NAMES
from nasbed.explorer.answers import Answers
from nasbed.explorer.guard import Guard, RateLimit, Refusal

PAGE = Path(__file__).parent / "page"
THREADS = 8
"""Answers that are computed side by side: a slow one leaves threads for the others."""
MOST_WAITING = 200
"""Requests that may wait for a thread; more are refused at once."""


def explorer_app(
    answers: Answers, *, names: Iterable[str] = LOOPBACK_NAMES, token: str = "", rate: RateLimit | None = None
) -> ASGIApp:
    """The application that serves the page and the API, behind its guard.

    Args:
        answers: What the API answers.
        names: The names of the machine under which it is served, without port.
        token: What clients must present; none for the own machine alone.
        rate: How often a client may ask.
    """
    workers = _Workers()
    routes = [
        Route("/api/query", _post(workers, answers.query), methods=["POST"]),
        *(Route(path, _get(workers, answer)) for path, answer in api_routes(answers).items()),
        Mount("/page", StaticFiles(directory=PAGE, check_dir=False)),
        Route("/", _index),
    ]
    failures = {HTTPException: _http_error, ClientDisconnect: _gone, Refusal: _refused, Exception: _failed}
    return Guard(
        Starlette(routes=routes, exception_handlers=failures), names=names, token=token, rate=rate
    )  # fmt: skip


def api_routes(answers: Answers) -> dict[str, Callable[[Any], Any]]:
    """The answers to GET by path."""
    return {
        "/api/benchmarks": answers.benchmarks,
        "/api/benchmarks/{id:path}": answers.benchmark,
        "/api/points": answers.points,
        "/api/architecture": answers.architecture,
        "/api/edits": answers.edits,
        "/api/uphill": answers.uphill,
        "/api/across": answers.across,
        "/api/runs": answers.runs,
        "/api/runs/paths": answers.paths,
        "/api/openapi.json": answers.openapi,
    }


class _Workers:
    """The threads in which answers are computed."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="explorer")
        self._waiting = 0

    async def answer(self, compute: Callable[[], Any]) -> Response:
        """What ``compute`` returns as a response; an error of ours is one line of JSON."""
        if self._waiting >= MOST_WAITING:
            return _error(503, "the explorer is busy; ask again in a moment", {"retry-after": "1"})
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, _response, compute)
        finally:
            self._waiting -= 1


def _response(compute: Callable[[], Any]) -> Response:
    try:
        content = compute()
    except UnknownName as error:
        return _error(404, str(error))
    except NasbedError as error:
        return _error(400, str(error))
    if isinstance(content, bytes):
        return Response(content, media_type="application/octet-stream")
    return Response(_json(content), media_type="application/json")


def _json(content: Any) -> bytes:
    """JSON in which NaN is null, as browsers read it."""
    return json.dumps(plain(content), ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode(
        errors="replace"
    )


def _error(status: int, reason: str, headers: dict[str, str] | None = None) -> Response:
    line = " ".join(reason.split())
    return Response(_json({"error": line}), status_code=status, media_type="application/json", headers=headers)


def _get(workers: _Workers, answer: Callable[[Any], Any]) -> Callable[[Request], Any]:
    async def route(request: Request) -> Response:
        parameters = {**request.query_params, **request.path_params}
        return await workers.answer(lambda: answer(parameters))

    return route


def _post(workers: _Workers, answer: Callable[[Any], Any]) -> Callable[[Request], Any]:
    async def route(request: Request) -> Response:
        body = await request.body()

        return await workers.answer(lambda: answer(_parsed(body)))

    return route


def _parsed(body: bytes) -> Any:
    """What a body of JSON holds."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ParseError(f"a query is JSON, got {shorten(body)}: {first_line(error)}") from None


async def _index(request: Request) -> Response:
    if not (PAGE / "index.html").is_file():
        return _error(404, "the page of the explorer is not in this installation; the API answers under /api")
    return FileResponse(PAGE / "index.html")


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException), "registered for it"
    return _error(error.status_code, f"{request.url.path[:80]}: {error.detail}; see /api/openapi.json")


async def _refused(request: Request, error: Exception) -> Response:
    """A body that turned out to be too large."""
    assert isinstance(error, Refusal), "registered for it"
    return _error(error.status, error.reason)


async def _failed(request: Request, error: Exception) -> Response:
    """A mistake of ours: it is told to the client and does not stop the explorer."""
    return _error(500, f"the explorer failed on {request.url.path[:80]}: {exception_line(error)}; please report this")


async def _gone(request: Request, error: Exception) -> Response:
    """The client has left: nobody reads this."""
    return Response(status_code=499)
