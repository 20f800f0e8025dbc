"""The explorer as a server on this machine, until it is interrupted."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address
from secrets import token_urlsafe

from nasbed.core.errors import InvalidOption, MissingDependency, shorten
from nasbed.explorer.answers import Answers

LOOPBACK = "127.0.0.1"
IDLE_S = 30
"""Seconds after which an idle connection is closed."""


def check_server() -> None:
    """Raise unless what a server needs is installed."""
    try:
        import starlette
        import uvicorn  # noqa: F401
    except ImportError:
        raise MissingDependency(
            "the explorer needs starlette and uvicorn; get them with: pip install 'nasbed[explorer]'"
        ) from None
    del starlette


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
        from nasbed.explorer.guard import LOOPBACK_NAMES

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
    own_machine = host == "localhost" or (_is_address(host) and ip_address(host).is_loopback)
    return Place(listener, host, "" if own_machine else token_urlsafe(24))


def serve(answers: Answers, place: Place, on_start: Callable[[], None] = lambda: None) -> None:
    """Serve until interrupted, quietly. ``on_start`` is called when requests are answered."""
    import uvicorn

    from nasbed.explorer.server import explorer_app

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            on_start()

    app = explorer_app(answers, names=place.names, token=place.token)
    config = uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        lifespan="off",
        ws="none",
        timeout_keep_alive=IDLE_S,
        timeout_graceful_shutdown=2,
        server_header=False,
        date_header=False,
        proxy_headers=False,
    )
    Server(config).run(sockets=[place.socket])


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
