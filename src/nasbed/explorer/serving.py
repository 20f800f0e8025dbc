"""The explorer as a server on this machine, until it is interrupted."""

from __future__ import annotations

import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from secrets import token_urlsafe
from threading import current_thread, main_thread
from typing import TYPE_CHECKING

from nasbed.core.errors import InvalidOption, MissingDependency, shorten
from nasbed.explorer.addresses import LOOPBACK, LOOPBACK_NAMES, is_loopback
from nasbed.explorer.answers import Answers

if TYPE_CHECKING:
    import uvicorn

    from nasbed.explorer.guard import RateLimit

IDLE_S = 30
"""Seconds after which an idle connection is closed."""


def check_server() -> None:
    """Raise unless what a server needs is installed."""
    if not all(find_spec(package) for package in ("starlette", "uvicorn")):
        raise MissingDependency(
            "the explorer needs starlette and uvicorn; get them with: pip install 'nasbed[explorer]'"
        )


@dataclass(frozen=True, slots=True)
class Place:
    """Where the explorer is served. Beyond the own machine it has a ``token``."""

    socket: socket.socket
    host: str
    token: str

    @property
    def port(self) -> int:
        number: int = self.socket.getsockname()[1]
        return number

    @property
    def names(self) -> frozenset[str]:
        """The names under which it may be asked."""
        return LOOPBACK_NAMES if not self.token else LOOPBACK_NAMES | {self.host, socket.gethostname()}

    @property
    def address(self) -> str:
        """What to open in a browser."""
        shown = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(self.host, self.host)
        host = f"[{shown}]" if ":" in shown else shown
        return f"http://{host}:{self.port}/" + (f"?token={self.token}" if self.token else "")


def listen(host: str = LOOPBACK, port: int = 0) -> Place:
    """Take a port, a free one by default. A host that is not this machine alone gets a token."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(
        family, socket.SOCK_STREAM, socket.IPPROTO_TCP
    )  # asyncio sends at once if it knows the protocol
    if sys.platform != "win32":  # where it would let two servers share a port
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise InvalidOption(
            f"the explorer cannot be served on {shorten(host)}, port {port}: {error.strerror or error}; choose another "
            "--host or --port"
        ) from None
    listener.listen(128)
    return Place(listener, host, "" if is_loopback(host) else token_urlsafe(24))


def explorer_server(
    answers: Answers, place: Place, on_start: Callable[[], None], rate: RateLimit | None = None
) -> uvicorn.Server:
    """The server, not yet running. Ctrl-C is its usual end: it finishes what it is answering and returns.

    Args:
        answers: What the API answers.
        place: The port, as :func:`listen` took it.
        on_start: Called when requests are answered.
        rate: How often a client may ask, where that is not the usual.
    """
    import uvicorn

    from nasbed.explorer.server import explorer_app

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            on_start()

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            if current_thread() is not main_thread():
                yield
                return
            signals = (signal.SIGINT, signal.SIGTERM)
            before = {number: signal.signal(number, self.handle_exit) for number in signals}
            watcher = signal.set_wakeup_fd(-1)  # commands end at a second Ctrl-C; this one has its own way to end
            try:
                yield
            finally:
                signal.set_wakeup_fd(watcher)
                for number, handler in before.items():
                    signal.signal(number, handler)

    config = uvicorn.Config(
        explorer_app(answers, names=place.names, token=place.token, rate=rate),
        log_level="critical",
        access_log=False,
        lifespan="off",
        ws="none",
        timeout_keep_alive=IDLE_S,
        timeout_graceful_shutdown=2,
        server_header=False,
        date_header=False,
        proxy_headers=False,
    )
    return Server(config)


def serve(answers: Answers, place: Place, on_start: Callable[[], None]) -> None:
    """Serve until interrupted."""
    explorer_server(answers, place, on_start).run(sockets=[place.socket])
