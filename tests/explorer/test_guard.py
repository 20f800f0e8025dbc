"""What the explorer refuses, and what does not stop it: real requests to a real server."""

from __future__ import annotations

import json
import socket
import struct
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from itertools import islice
from pathlib import Path
from threading import Event
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest

import nasbed
from nasbed.core.errors import InvalidOption
from nasbed.explorer.answers import Answers
from nasbed.explorer.catalogue import Catalogue
from nasbed.explorer.guard import LARGEST_BODY, RateLimit
from nasbed.explorer.serving import listen
from nasbed.results import Rows, TableInfo, write_results
from support.explorers import Explorer, serving
from support.tables import VALIDATION

CELL = "|nor_conv_3x3~0|+|none~0|skip_connect~1|+|nor_conv_1x1~0|none~1|avg_pool_3x3~2|"
HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"><svg/onload=alert(1)>",
    "{{7*7}}${7*7}",
    "'; DROP TABLE rows; --",
    "../../../../etc/passwd",
    "|none~0|+|none~0|none~1|+|none~0|none~1|<b>~2|",
    "nul\0byte",
    "\u202egnirts\u2066\ufeff",
    "line\nbreak\r\nSet-Cookie: a=b",
    "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"),
    "[" * 10_000,
    "(" * 10_000,
    "{" + '"a":{' * 3_000,
    "9" * 5_000,
    "x" * 19_999,
    "__import__('os').system('id')",
    "Genotype(normal=__import__('os'))",
]  # fmt: skip


# --- where a request comes from --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "localhost@evil", "[::1", "10.0.0.1"]
)
def test_other_names_of_the_machine_are_refused(explorer: Explorer, host: str) -> None:
    for path in ("/", "/api/benchmarks", "/page/main.js"):
        reply = explorer.request(path, headers={"Host": host})
        assert reply.status in (421, 400), "a name that resolves here is not one that the explorer serves"


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "LocalHost", "[::1]"])
def test_own_names_are_served(explorer: Explorer, name: str) -> None:
    assert explorer.request("/api/benchmarks", headers={"Host": f"{name}:{explorer.port}"}).status == 200


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://127.0.0.1:1", "file://", "http://localhost", "http://["]
)
def test_pages_of_other_sites_cannot_ask(explorer: Explorer, origin: str) -> None:
    host = f"127.0.0.1:{explorer.port}"
    headers = {"Host": host, "Origin": origin}
    assert explorer.request("/api/benchmarks", headers=headers).status == 403
    assert explorer.post({"architectures": [CELL]}, **headers).status == 403
    assert explorer.request("/api/benchmarks", headers={"Host": host, "Sec-Fetch-Site": "cross-site"}).status == 403


def test_own_page_may_ask_and_others_get_no_leave_to_read(explorer: Explorer) -> None:
    host = f"127.0.0.1:{explorer.port}"
    reply = explorer.request(
        "/api/benchmarks", headers={"Host": host, "Origin": f"http://{host}", "Sec-Fetch-Site": "same-origin"}
    )
    assert reply.status == 200
    assert not [name for name in reply.headers if name.startswith("access-control")]


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "POST", "OPTIONS", "TRACE"])
def test_nothing_but_reading_is_offered(explorer: Explorer, method: str) -> None:
    reply = explorer.request("/api/benchmarks", method)
    assert reply.status == 405 and "only reads" in reply.json["error"]


def test_every_answer_forbids_foreign_code(explorer: Explorer) -> None:
    for path in ("/", "/api/benchmarks", "/nothing", "/page/none.js"):
        headers = explorer.request(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "script-src 'self'" in policy and "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy and headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer" and "server" not in headers
    assert explorer.request("/api/benchmarks").headers["cache-control"] == "no-store"


def test_files_outside_the_page_are_not_served(explorer: Explorer) -> None:
    for path in ("/page/../server.py", "/page/%2e%2e/server.py", "/page/..%2fserver.py", "/page//etc/passwd"):
        assert explorer.request(path).status == 404


# --- what a request holds --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_texts_are_refused_in_a_line_of_json(explorer: Explorer, text: str) -> None:
    encoded = quote(text, safe="")
    for path in (f"/api/architecture?text={encoded}", f"/api/edits?text={encoded}", f"/api/architecture?benchmark={encoded}&row=1",
                 f"/api/points?columns={encoded}", f"/api/runs/paths?folder={encoded}", f"/api/benchmarks/{encoded}"):  # fmt: skip
        reply = explorer.request(path)
        assert reply.status in (400, 404), path[:60]
        assert reply.headers["content-type"] == "application/json", "never read as a page"
        assert "set-cookie" not in reply.headers
        line = reply.json["error"]
        assert "\n" not in line and "\0" not in line and len(line) < 600
    reply = explorer.post({"architectures": [text]})
    assert reply.status == 400 and reply.json["error"].startswith("architectures[0]")


def test_long_texts_and_large_bodies_are_refused(explorer: Explorer) -> None:
    assert "up to 20000 characters" in explorer.refusal("/api/architecture", text="x" * 20_001)[1]
    assert explorer.post({"architectures": [CELL]}, **{"Content-Type": "text/plain"}).status == 415
    assert explorer.post(b"x", **{"Content-Length": str(LARGEST_BODY + 1)}).status == 413
    assert explorer.post(b"x", **{"Content-Length": "-1"}).status in (400, 413)


def test_body_that_is_longer_than_allowed_without_saying_so_is_refused(explorer: Explorer) -> None:
    with socket.create_connection(("127.0.0.1", explorer.port), timeout=30) as connection:
        connection.sendall(
            f"POST /api/query HTTP/1.1\r\nHost: 127.0.0.1:{explorer.port}\r\nContent-Type: application/json\r\n"
            "Transfer-Encoding: chunked\r\n\r\n".encode()
        )
        part = b" " * (1 << 20)
        try:
            for _ in range(LARGEST_BODY // len(part) + 1):
                connection.sendall(f"{len(part):x}\r\n".encode() + part + b"\r\n")
            status = connection.recv(64)
        except (ConnectionResetError, BrokenPipeError):
            status = b"HTTP/1.1 413"
    assert status.startswith(b"HTTP/1.1 413")


# --- clients that leave, flood or are slow ---------------------------------------------------------------------------


def test_clients_that_disconnect_do_not_stop_it(explorer: Explorer) -> None:
    long = json.dumps({"architectures": [CELL] * 2_000}).encode()
    for request in (b"", b"GET /api/be", b"GET /api/architecture?row=1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", b"\0" * 200,
                    b"POST /api/query HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{",
                    b"POST /api/query HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                    + f"Content-Length: {len(long)}\r\n\r\n".encode() + long):  # fmt: skip
        connection = socket.create_connection(("127.0.0.1", explorer.port))
        connection.sendall(request)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # close by a reset
        connection.close()
    assert explorer.get("/api/edits", text=CELL)["edits"]


def test_many_idle_connections_do_not_stop_it(explorer: Explorer) -> None:
    connections = [socket.create_connection(("127.0.0.1", explorer.port)) for _ in range(150)]
    try:
        for connection in connections[::2]:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: 127")
        assert explorer.get("/api/benchmarks")
    finally:
        for connection in connections:
            connection.close()


class SlowAnswers(Answers):
    """The list of benchmarks comes when the test allows it."""

    allowed = Event()

    def benchmarks(self, parameters: Mapping[str, str]) -> dict[str, Any]:
        assert self.allowed.wait(60)
        return super().benchmarks(parameters)


def test_slow_answers_hold_up_no_other_and_too_many_are_refused(
    explorer: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nasbed.explorer.server.MOST_WAITING", 6)
    with serving(explorer.catalogue, kind=SlowAnswers) as slow, ThreadPoolExecutor(12) as pool:
        waiting = [pool.submit(slow.request, "/api/benchmarks") for _ in range(5)]
        while slow.request("/api/openapi.json").status != 200:
            pass
        assert slow.get("/api/edits", text=CELL)["edits"], "answered while five others wait"
        waiting += [pool.submit(slow.request, "/api/benchmarks") for _ in range(5)]
        refused = next(request.result() for request in as_completed(waiting))
        assert refused.status == 503 and "busy" in refused.json["error"]
        SlowAnswers.allowed.set()
        assert {request.result().status for request in waiting} == {200, 503}
        assert slow.request("/api/benchmarks").status == 200


def test_hostile_names_in_a_table_are_data(tmp_path: Path) -> None:
    name = "</script><img src=x onerror=alert(1)>"
    space = nasbed.space("nb201")
    codes = space.codes(list(islice(space.enumerate(), 40)))
    halves = [
        Rows.of(half, {VALIDATION.key: np.full(20, 50.0)}, fidelity=1, method=method)
        for half, method in ((codes[:20], name), (codes[20:], "rs"))
    ]
    about = TableInfo("own", "nb201", (VALIDATION,), dataset=name)
    write_results(tmp_path / "own", about, halves)
    folder = str(tmp_path / "own")
    with serving(Catalogue(folder)) as running:
        facts = running.request(f"/api/benchmarks/{quote(folder)}")
        assert facts.status == 200 and facts.headers["content-type"] == "application/json"
        assert facts.json["dataset"] == name
        data = running.request(f"/api/points?benchmark={quote(folder)}&columns=method").body
        header = json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")])
        assert set(header["columns"][0]["labels"]) == {name, "rs"}


@pytest.fixture(scope="module")
def limited(explorer: Explorer) -> Iterator[Explorer]:
    """An explorer that lets a client ask 20 times, then twice a second; with a token."""
    with serving(explorer.catalogue, rate=RateLimit(a_second=2, burst=20), token="a-token-of-the-test") as running:
        yield running


def test_token_is_asked_for_and_becomes_a_cookie(limited: Explorer) -> None:
    assert limited.request("/api/benchmarks").status == 401
    assert limited.request("/api/benchmarks", headers={"Authorization": "Bearer wrong"}).status == 401
    assert limited.request(f"/?token=wrong{'&a=1' * 2_000}").status == 401
    assert limited.request(f"/api/benchmarks?token={limited.token}").status == 401, (
        "only the page takes it from its address"
    )
    first = limited.request(f"/?token={limited.token}")
    assert first.status == 303 and first.headers["location"] == "/"
    cookie = first.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
    assert limited.request("/api/benchmarks", headers={"Cookie": cookie.split(";")[0]}).status == 200


def test_flood_is_refused_and_ends(limited: Explorer) -> None:
    headers = {"Authorization": f"Bearer {limited.token}"}
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda _: limited.request("/api/openapi.json", headers=headers), range(60)))
    allowed = [reply for reply in replies if reply.status == 200]
    refused = [reply for reply in replies if reply.status == 429]
    assert 0 < len(allowed) < 30 and len(allowed) + len(refused) == 60
    assert "too many requests" in refused[0].json["error"] and int(refused[0].headers["retry-after"]) >= 1
    time.sleep(0.6)
    assert limited.request("/api/openapi.json", headers=headers).status == 200


def test_bucket_lets_through_its_burst_then_its_rate() -> None:
    limit = RateLimit(a_second=10, burst=5, clients=2)
    assert [limit.wait_s("a", 0.0) for _ in range(6)] == [0, 0, 0, 0, 0, pytest.approx(0.1)]
    assert limit.wait_s("a", 0.1) == 0 and limit.wait_s("a", 0.1) > 0
    assert limit.wait_s("b", 0.1) == 0, "each client has its own"
    allowed = sum(limit.wait_s("a", 1.0 + step / 1000) == 0 for step in range(1000))
    assert allowed == pytest.approx(5 + 10, abs=1)
    limit.wait_s("c", 2.0)
    assert len(limit._buckets) == 2


# --- where it is served ----------------------------------------------------------------------------------------------


def test_only_other_hosts_than_this_machine_get_a_token() -> None:
    place = listen()
    other = listen("0.0.0.0")
    try:
        assert place.token == "" and place.address == f"http://127.0.0.1:{place.port}/"
        assert len(other.token) >= 32 and f"?token={other.token}" in other.address
        assert replace(other, host="192.0.2.1").address.startswith(f"http://192.0.2.1:{other.port}/?token=")
        with pytest.raises(InvalidOption, match="cannot be served on"):
            listen(port=place.port)
    finally:
        place.socket.close()
        other.socket.close()
