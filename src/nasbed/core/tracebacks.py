"""Where an exception comes from: the line of a user's own file, and the whole traceback."""

from __future__ import annotations

import sysconfig
import traceback
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path

STANDARD = ("stdlib", "platstdlib")
INSTALLED = {"site-packages", "dist-packages"}


def place_of(error: BaseException) -> str:
    """File and line of the innermost call in code that is neither nasbed's nor a library's, such as
    ``mine.py, line 9``; empty if there is none."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not frame.filename.startswith("<") and not _is_library(Path(frame.filename)):
            return f"{Path(frame.filename).name}, line {frame.lineno}"
    return ""


def with_place(text: str, error: BaseException) -> str:
    """What is said of an error, with the fields of nasbed's object that lacks an attribute, and with its
    :func:`place_of` in brackets."""
    obj = error.obj if isinstance(error, AttributeError) else None
    if is_dataclass(obj) and type(obj).__module__.startswith("nasbed."):
        text = f"{text}; it has {', '.join(field.name for field in fields(obj))}"
    place = place_of(error)
    return f"{text} ({place})" if place else text


def whole_traceback(error: BaseException) -> str:
    """The traceback as Python prints it, causes included."""
    return "".join(traceback.format_exception(error))


def _is_library(file: Path) -> bool:
    """Whether a file is part of nasbed, of Python or of an installed package."""
    place = file.resolve()
    return not INSTALLED.isdisjoint(place.parts) or any(place.is_relative_to(folder) for folder in _library_folders())


@cache
def _library_folders() -> tuple[Path, ...]:
    return Path(__file__).resolve().parents[1], *(Path(sysconfig.get_path(name)).resolve() for name in STANDARD)
