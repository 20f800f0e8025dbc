"""The secret of an organiser, from which all codenames and orders of a folder of runs are drawn."""

from __future__ import annotations

import os
import re
import secrets
from contextlib import suppress
from pathlib import Path

from nasbed.core.errors import BadFile

SECRET_FILE = "organiser.key"
SECRET_BYTES = 32


def organiser_secret(runs: Path) -> bytes:
    """The secret of a folder of runs, which only its owner can read; it is drawn at the first use."""
    path = runs / SECRET_FILE
    if not path.exists():
        runs.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{secrets.token_hex(8)}.partial")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="ascii") as file:
                file.write(secrets.token_hex(SECRET_BYTES) + "\n")
            with suppress(FileExistsError):  # the first of several runners wins
                os.link(draft, path)
        finally:
            draft.unlink()
    text = path.read_text(encoding="ascii", errors="replace").strip()
    if not re.fullmatch(rf"[0-9a-f]{{{2 * SECRET_BYTES}}}", text):
        raise BadFile(f"{path} is not the key of an organiser, {2 * SECRET_BYTES} hexadecimal digits; remove it")
    return bytes.fromhex(text)
