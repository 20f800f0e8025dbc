"""Shorthand for tests of downloads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from nasbed.core.download import download
from support.local_server import CONTENT, Behaviour, Server, serving, sha256

RIGHT = sha256(CONTENT)
Serve = Callable[..., Server]
os.environ["no_proxy"] = "127.0.0.1"


@contextmanager
def servers() -> Iterator[Serve]:
    """Starts a server for each behaviour that it is called with; all stop at the end."""
    with ExitStack() as stack:
        yield lambda **behaviour: stack.enter_context(serving(Behaviour(**behaviour)))


def get(server: Server, target: Path, digest: str | None = RIGHT, **settings: object) -> Path:
    defaults: dict[str, object] = {"timeout_s": 5.0, "backoff_s": 0.01}
    return download(server.url, target, sha256=digest, **(defaults | settings))  # type: ignore[arg-type]


def names(target: Path) -> list[str]:
    return sorted(path.name for path in target.parent.iterdir())


def part_of(target: Path) -> Path:
    return target.with_name("file.bin.part")
