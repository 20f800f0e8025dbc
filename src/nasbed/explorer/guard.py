"""What stands before every request: who may ask, from where, how much and how often.

A page of another site cannot read the API, even if its name resolves to this machine (DNS rebinding): the ``Host`` of a
request must be a name that the explorer serves, and its ``Origin``, where the browser sends one, must be the explorer
itself. Beyond the own machine a token is needed as well. Nothing is ever changed by a request.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from secrets import compare_digest
from time import monotonic
from urllib.parse import parse_qs, urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nasbed.explorer.addresses import LOOPBACK_NAMES, is_address

COOKIE = "nasbed_explorer"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The Content-Security-Policy: nothing but the explorer's own files, so that a text can never run as a script."""
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "x-frame-options": "DENY",
}
LARGEST_BODY = 16 << 20
"""Bytes of the largest body of a request: 20 000 architectures as text."""
POSTED = ("/api/query",)
"""The paths that take a body."""


@dataclass(slots=True)
class RateLimit:
    """Requests a second and client, by a bucket that refills evenly. Few clients are remembered: the least recent one
    starts anew with a full bucket."""

    a_second: float = 1_000.0
    burst: float = 2_000.0
    clients: int = 1_024
    _buckets: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)

    def wait_s(self, client: str, now: float) -> float:
        """Seconds until a client may ask again; 0 if it may now, which takes one request from its bucket."""
        level, since = self._buckets.pop(client, (self.burst, now))
        level = min(self.burst, level + (now - since) * self.a_second)
        allowed = level >= 1
        self._buckets[client] = (level - 1 if allowed else level, now)
        while len(self._buckets) > self.clients:
            self._buckets.popitem(last=False)
        return 0.0 if allowed else (1 - level) / self.a_second


@dataclass(frozen=True, slots=True)
class Refusal(Exception):
    """A request that is not answered: the status, and why in one line."""

    status: int
    reason: str
    headers: Mapping[str, str] = field(default_factory=dict)


class Guard:
    """An ASGI application around another one that lets only harmless requests through.

    Args:
        app: What answers.
        names: The names of the machine under which it is served, without port.
        token: What a client must present; none for the own machine alone.
        rate: How often a client may ask.
    """

    def __init__(
        self, app: ASGIApp, *, names: Iterable[str] = LOOPBACK_NAMES, token: str = "", rate: RateLimit | None = None
    ) -> None:
        self._app = app
        self._names = frozenset(name.lower() for name in names)
        self._token = token
        self._rate = rate or RateLimit()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":  # there are no web sockets here, and nothing to do at start and end
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        try:
            self._check(scope, headers)
            await self._app(scope, _limited(receive), _with_headers(send, scope["path"]))
        except Refusal as refusal:
            await _refuse(send, scope["path"], refusal)

    def _check(self, scope: Scope, headers: Mapping[str, str]) -> None:
        self._check_host(headers.get("host", ""))
        client = scope.get("client")
        if wait_s := self._rate.wait_s(client[0] if client else "", monotonic()):
            raise Refusal(429, "too many requests; wait a moment, or ask for many architectures at once with "
                          "POST /api/query", {"retry-after": str(max(1, round(wait_s)))})  # fmt: skip
        path, method = scope["path"], scope["method"]
        if method not in ("GET", "HEAD") and not (method == "POST" and path in POSTED):
            raise Refusal(405, f"{method} {path[:80]} is not offered; the explorer only reads", {"allow": "GET, HEAD"})
        self._check_origin(path, method, headers)
        if method == "POST":
            _check_body(headers)
        if self._token:
            self._check_token(scope, headers)

    def _check_host(self, host: str) -> None:
        name = _host_name(host)
        if name is None or not (name in self._names or (self._token and is_address(name))):
            raise Refusal(
                421, f"this explorer is not served as {host[:80]!r}; open the address that it printed at its start"
            )

    def _check_origin(self, path: str, method: str, headers: Mapping[str, str]) -> None:
        """Browsers say which site asks. Other programs say nothing, and may ask."""
        if not path.startswith("/api") and method != "POST":
            return
        origin, host = headers.get("origin"), headers.get("host")
        if origin not in (None, f"http://{host}", f"https://{host}"):
            raise Refusal(403, f"a page of {str(origin)[:80]!r} asked; only the explorer's own page may")
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            raise Refusal(403, "a page of another site asked; only the explorer's own page may")

    def _check_token(self, scope: Scope, headers: Mapping[str, str]) -> None:
        """A token comes once in the address of the page, then as a cookie; programs send it as a header."""
        offered = [headers.get("authorization", "").removeprefix("Bearer "), _cookie(headers.get("cookie", ""))]
        if any(_same(text, self._token) for text in offered):
            return
        query = parse_qs(scope["query_string"].decode("latin-1"))
        if scope["path"] == "/" and any(_same(text, self._token) for text in query.get("token", [])):
            cookie = f"{COOKIE}={self._token}; HttpOnly; SameSite=Strict; Path=/"
            raise Refusal(303, "", {"location": "/", "set-cookie": cookie})
        raise Refusal(
            401,
            "this explorer needs its token; open the address that it printed, or send: Authorization: Bearer TOKEN",
            {"www-authenticate": "Bearer"},
        )


def _host_name(host: str) -> str | None:
    """The name in a Host header, without its port; None where it is not one."""
    try:
        parts = urlsplit(f"//{host}")
        parts.port  # noqa: B018  raises where it is not a number
    except ValueError:
        return None
    plain = parts.username is None and not parts.path and not parts.query and not parts.fragment
    return parts.hostname if plain else None


def _same(text: str, token: str) -> bool:
    return compare_digest(text.encode(), token.encode())


def _cookie(header: str) -> str:
    try:
        cookies: SimpleCookie = SimpleCookie(header)
    except CookieError:
        return ""
    return cookies[COOKIE].value if COOKIE in cookies else ""


def _check_body(headers: Mapping[str, str]) -> None:
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refusal(415, f"a query is sent as application/json, got {kind[:80]!r}; set the Content-Type")
    length = headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > LARGEST_BODY:
        raise Refusal(413, f"a request has up to {LARGEST_BODY} bytes, got {length[:20]}; split the list")


def _limited(receive: Receive) -> Receive:
    """The same messages, refused once their bodies are too large together: a length may be announced wrongly."""
    total = 0

    async def limited() -> Message:
        nonlocal total
        message = await receive()
        total += len(message.get("body", b""))
        if total > LARGEST_BODY:
            raise Refusal(413, f"a request has up to {LARGEST_BODY} bytes; split the list")
        return message

    return limited


def _with_headers(send: Send, path: str) -> Send:
    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            present = {name.lower() for name, _ in message["headers"]}
            extra = [(name.encode(), value.encode()) for name, value in _headers(path).items()]
            message["headers"] = [*message["headers"], *(pair for pair in extra if pair[0] not in present)]
        await send(message)

    return guarded


def _headers(path: str) -> dict[str, str]:
    """The headers of every answer. Data are never kept; files of the page are asked for again when they change."""
    return {**HEADERS, "cache-control": "no-store" if path.startswith("/api") else "no-cache"}


async def _refuse(send: Send, path: str, refusal: Refusal) -> None:
    body = json.dumps({"error": refusal.reason}).encode() if refusal.reason else b""
    headers = {
        **_headers(path),
        "content-type": "application/json",
        "content-length": str(len(body)),
        **refusal.headers,
    }
    await send(
        {
            "type": "http.response.start",
            "status": refusal.status,
            "headers": [(name.encode(), value.encode("latin-1", "replace")) for name, value in headers.items()],
        }
    )
    await send({"type": "http.response.body", "body": body})
