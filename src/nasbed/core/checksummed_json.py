"""JSON that carries its own checksum, so that a change of any byte shows."""

from __future__ import annotations

import hashlib
import json
from typing import Any

_UNSEALED = '"sha256": ""\n}\n'


def sealed(data: dict[str, Any]) -> bytes:
    """An object as it is written: its last member is the SHA-256 of the text in which that member is empty."""
    text = json.dumps({**data, "sha256": ""}, indent=1, ensure_ascii=False) + "\n"
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    return (text.removesuffix(_UNSEALED) + _UNSEALED.replace('""', f'"{digest}"')).encode("utf-8", "replace")


def is_sealed(content: bytes, data: dict[str, Any]) -> bool:
    """Whether a file's content is exactly what :func:`sealed` wrote for the object that was read from it."""
    return content == sealed({name: data[name] for name in data if name != "sha256"})
