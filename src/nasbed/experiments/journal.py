"""A journal of lines that survive: appended durably, read back whole after a kill."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from nasbed.core.errors import BadFile, InvalidOption


class Journal:
    """JSON objects, one a line, in the order in which they were written. One process at a time may hold it open.

    A line cut short, as by a kill in the middle of writing it, is as if it had never been written.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._file = path.open("a+b")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            raise InvalidOption(
                f"{path} is written by one process at a time, another has it open; wait or use another folder"
            ) from None
        try:
            self.lines = self._read()
        except BaseException:
            self._file.close()
            raise

    def _read(self) -> list[dict[str, Any]]:
        self._file.seek(0)
        content = self._file.read()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            self._file.truncate(len(whole))
        lines = []
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                found = json.loads(line)
            except ValueError:
                found = None
            if not isinstance(found, dict):
                raise BadFile(f"{self.path}, line {number}, is no JSON object; delete the folder and start again")
            lines.append(found)
        return lines

    def add(self, line: dict[str, Any], *, durable: bool = True) -> None:
        """Append a line. When this returns, the line and all before it outlive a power cut or, where not ``durable``,
        the end of this process."""
        self._file.write((json.dumps(line, allow_nan=False) + "\n").encode())
        self._file.flush()
        if durable:
            os.fsync(self._file.fileno())
        self.lines.append(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
