"""An explorer that is really served: uvicorn in a thread, on a free port of this machine."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray

from nasbed.explorer.answers import Answers
from nasbed.explorer.catalogue import Catalogue
from nasbed.explorer.guard import RateLimit
from nasbed.explorer.searches import Searches
from nasbed.explorer.serving import explorer_server, listen

SLOW_S = 60


@dataclass(frozen=True)
class Reply:
    """What a server answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Explorer:
    """A running explorer, and what it answers from."""

    port: int
    token: str
    catalogue: Catalogue

    def request(
        self, path: str, method: str = "GET", body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Reply:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SLOW_S)
        try:
            connection.request(method, path, body, dict(headers or {}))
            response = connection.getresponse()
            return Reply(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
        finally:
            connection.close()

    def get(self, path: str, **parameters: object) -> Any:
        """The JSON that a path answers, which must be well."""
        reply = self.request(f"{path}?{urlencode(parameters)}")
        assert reply.status == 200, reply.body
        return reply.json

    def refusal(self, path: str, **parameters: object) -> tuple[int, str]:
        """The status and the line of a request that is refused."""
        reply = self.request(f"{path}?{urlencode(parameters)}")
        assert list(reply.json) == ["error"], reply.body
        return reply.status, reply.json["error"]

    def post(self, body: object, **headers: str) -> Reply:
        """What a query answers."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.request("/api/query", "POST", data, {"Content-Type": "application/json"} | headers)

    def columns(self, benchmark: str, *keys: str) -> dict[str, NDArray[Any]]:
        """Columns of an overview, read by what the format says."""
        reply = self.request(f"/api/points?{urlencode({'benchmark': benchmark, 'columns': ','.join(keys)})}")
        assert reply.status == 200 and reply.headers["content-type"] == "application/octet-stream"
        length = int.from_bytes(reply.body[:4], "little")
        header, place = json.loads(reply.body[4 : 4 + length]), 4 + length
        arrays = {}
        for column in header["columns"]:
            assert place % 4 == 0
            arrays[column["key"]] = np.frombuffer(reply.body, f"<{column['type']}", header["rows"], place)
            place += -(-arrays[column["key"]].nbytes // 4) * 4
        assert place == len(reply.body)
        return arrays


@contextmanager
def serving(
    catalogue: Catalogue,
    *,
    runs: tuple[Path, ...] = (),
    rate: RateLimit | None = None,
    token: str = "",
    kind: type[Answers] = Answers,
) -> Iterator[Explorer]:
    """An explorer while the context lasts; ``kind`` is what answers."""
    place, started = replace(listen(), token=token), Event()
    server = explorer_server(kind(catalogue, Searches(catalogue, runs)), place, started.set, rate)
    thread = Thread(target=lambda: server.run(sockets=[place.socket]))
    thread.start()
    try:
        assert started.wait(SLOW_S)
        yield Explorer(place.port, token, catalogue)
    finally:
        server.should_exit = True
        thread.join(SLOW_S)
        assert not thread.is_alive()
