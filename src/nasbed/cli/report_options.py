"""What commands that write a report have in common."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nasbed.core.errors import InvalidOption, nearest

FORMATS = ("svg", "png", "pdf")


def check_report(out: Path, formats: Sequence[str]) -> None:
    """What would fail at the end fails now."""
    for form in formats:
        if form not in FORMATS:
            raise InvalidOption(f"a figure is saved as {', '.join(FORMATS)}, got {form!r}; {nearest(form, FORMATS)}")
    if out.exists() and not out.is_dir():
        raise InvalidOption(f"a report goes into a folder, {out} is a file; name another with --out")
