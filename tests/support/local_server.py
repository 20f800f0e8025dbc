"""A web server on this machine that serves one file, well or badly, and remembers what it was asked for."""

from __future__ import annotations

import hashlib
import re
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CONTENT = hashlib.shake_256(b"nasbed").digest(300_000)
"""Bytes without two equal stretches, so that a wrong splice shows."""


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@dataclass
class Behaviour:
    """How to answer. ``cuts`` are after how many bytes the connection breaks, answer by answer; ``statuses`` are sent
    instead of the file, answer by answer, with ``retry_after`` as their Retry-After; ``stall`` stops sending after that many bytes until ``release``."""

    content: bytes = CONTENT
    etag: str | None = '"v1"'
    ranges: bool = True
    chunked: bool = False
    announce: Callable[[int], int | None] = lambda length: length
    cuts: list[int] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    retry_after: str | None = None
    stall: int | None = None
    redirect: str | None = None
    release: threading.Event = field(default_factory=threading.Event)
    stalled: threading.Event = field(default_factory=threading.Event)
    requests: list[dict[str, str]] = field(default_factory=list)


class Server:
    def __init__(self, scheme: str, port: int, behaviour: Behaviour) -> None:
        self.url = f"{scheme}://127.0.0.1:{port}/file.bin"
        self.behaviour = behaviour

    @property
    def requests(self) -> list[dict[str, str]]:
        return self.behaviour.requests

    def asked_ranges(self) -> list[str]:
        """The Range of each request, empty for a request of everything."""
        return [request.get("range", "") for request in self.requests]


@contextmanager
def serving(behaviour: Behaviour, tls: ssl.SSLContext | None = None) -> Iterator[Server]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            behaviour.requests.append({name.lower(): value for name, value in self.headers.items()})
            _answer(self, behaviour)

        def log_message(self, format: str, *args: object) -> None:
            pass

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """A client that hangs up is part of the tests."""

    with Quiet(("127.0.0.1", 0), Handler) as server:
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield Server("http" if tls is None else "https", server.server_address[1], behaviour)
        finally:
            behaviour.release.set()
            server.shutdown()
            thread.join()


def _answer(handler: BaseHTTPRequestHandler, behaviour: Behaviour) -> None:
    handler.close_connection = True
    if behaviour.redirect is not None and handler.path == "/file.bin":
        handler.send_response(302)
        handler.send_header("Location", behaviour.redirect)
        handler.send_header("Content-Length", "0")
        handler.end_headers()
        return
    if behaviour.statuses:
        _refuse(handler, behaviour.statuses.pop(0), behaviour.retry_after)
        return
    start = _start(handler, behaviour)
    if start is not None and start >= len(behaviour.content):
        handler.send_error(416)
        return
    body = behaviour.content[start or 0 :]
    handler.send_response(200 if start is None else 206)
    if behaviour.etag is not None:
        handler.send_header("ETag", behaviour.etag)
    if start is not None:
        handler.send_header("Content-Range", f"bytes {start}-{len(behaviour.content) - 1}/{len(behaviour.content)}")
    length = behaviour.announce(len(body))
    if behaviour.chunked:
        handler.send_header("Transfer-Encoding", "chunked")
    elif length is not None:
        handler.send_header("Content-Length", str(length))
    handler.end_headers()
    _send(handler, behaviour, body)


def _refuse(handler: BaseHTTPRequestHandler, status: int, retry_after: str | None) -> None:
    handler.send_response(status)
    if retry_after is not None:
        handler.send_header("Retry-After", retry_after)
    handler.send_header("Content-Length", "0")
    handler.end_headers()


def _start(handler: BaseHTTPRequestHandler, behaviour: Behaviour) -> int | None:
    """Where a proper answer to the request's Range begins; ``None`` for the whole file."""
    matched = re.fullmatch(r"bytes=(\d+)-", handler.headers.get("Range", ""))
    if matched is None or not behaviour.ranges or handler.headers.get("If-Range", behaviour.etag) != behaviour.etag:
        return None
    return int(matched[1])


def _send(handler: BaseHTTPRequestHandler, behaviour: Behaviour, body: bytes) -> None:
    cut = behaviour.cuts.pop(0) if behaviour.cuts else None
    stop = min(limit for limit in (cut, behaviour.stall, len(body)) if limit is not None)
    for begin in range(0, stop, 8192):
        piece = body[begin : min(begin + 8192, stop)]
        handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece) if behaviour.chunked else piece)
    handler.wfile.flush()
    if behaviour.stall is not None and stop == behaviour.stall:
        behaviour.stalled.set()
        behaviour.release.wait(30)
    if cut is None and behaviour.chunked and stop == len(body):
        handler.wfile.write(b"0\r\n\r\n")
        handler.wfile.flush()
    handler.connection.shutdown(socket.SHUT_WR)
