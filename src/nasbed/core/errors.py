"""Every error that nasbed raises on purpose.

::

    NasbedError
    ├── InvalidArchitecture   (ValueError)    a value that is not in its search space
    ├── ParseError            (ValueError)    text or a foreign object that cannot be read
    ├── InvalidMeasurement    (ValueError)    a metric value outside its bounds, NaN, or of the wrong split
    ├── InvalidOption         (ValueError)    an argument outside its allowed set or range
    ├── UnknownName           (KeyError)      an id that no registry knows
    ├── DuplicateName         (ValueError)    an id registered twice
    ├── BadFile               (ValueError)    a file that is damaged, of another format, or not safe to read
    ├── TooLarge              (ValueError)    a request whose answer cannot be listed or held
    ├── NotFitted             (RuntimeError)  a model that is asked before it was fitted
    ├── NotReady              (RuntimeError)  a trainer that can evaluate no architecture here
    ├── DownloadFailed        (OSError)       a published file that could not be downloaded
    ├── DiskFull              (OSError)       a file that could not be written: the disk is full
    └── MissingDependency     (ImportError)   an optional package that is not installed

A message is one line: the rule, the value that broke it, the remedy. The command line prints that line and exits with
status 2.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

MOST_LISTED = 12
"""How many names an error message lists at the most."""


class NasbedError(Exception):
    """The root of all errors that nasbed raises on purpose. The docstring of ``nasbed.core.errors`` has the tree."""


class InvalidArchitecture(NasbedError, ValueError):
    """A value that is not in its search space."""


class ParseError(NasbedError, ValueError):
    """Text or a foreign object that cannot be read."""


class InvalidMeasurement(NasbedError, ValueError):
    """A metric value outside its bounds, NaN, or of the wrong split."""


class InvalidOption(NasbedError, ValueError):
    """An argument outside its allowed set or range."""


class UnknownName(NasbedError, KeyError):
    """An id that no registry knows."""

    def __str__(self) -> str:  # KeyError would print the repr of the message
        return str(self.args[0])


class DuplicateName(NasbedError, ValueError):
    """An id registered twice."""


class BadFile(NasbedError, ValueError):
    """A file that is damaged, of another format, or not safe to read."""


class TooLarge(NasbedError, ValueError):
    """A request whose answer cannot be listed or held."""


class NotFitted(NasbedError, RuntimeError):
    """A model that is asked before it was fitted."""


class NotReady(NasbedError, RuntimeError):
    """A trainer that can evaluate no architecture here: no such device, images too small, a missing package."""


class DownloadFailed(NasbedError, OSError):
    """A published file that could not be downloaded."""


class DiskFull(NasbedError, OSError):
    """A file that could not be written: the disk is full."""


class MissingDependency(NasbedError, ImportError):
    """An optional package that is not installed."""


def shorten(value: object, limit: int = 60) -> str:
    """The repr of a value, on one line, cut in the middle so that an error message stays readable.

    >>> shorten("a" * 100, limit=20)
    "'aaaaaaa … aaaaaaaa'"
    """
    text = " ".join(repr(value).split())
    if len(text) <= limit:
        return text
    half = (limit - 3) // 2
    return f"{text[:half]} … {text[len(text) - half - 1 :]}"


def first_line(error: BaseException) -> str:
    """The first line of what an exception says; its repr where it says nothing.

    >>> first_line(ValueError("no such thing\\nas that")), first_line(KeyError())
    ('no such thing', 'KeyError()')
    """
    return next(iter(str(error).splitlines()), repr(error))


def exception_line(error: BaseException) -> str:
    """The kind of an exception and what it says, in one line.

    >>> exception_line(ValueError("no such thing\\nas that")), exception_line(KeyError())
    ('ValueError: no such thing', 'KeyError')
    """
    return f"{type(error).__name__}: {error}".splitlines()[0].removesuffix(": ")


def close_matches(name: str, choices: Iterable[str]) -> list[str]:
    """Up to three of the names that are spelt nearly so, the nearest first.

    >>> close_matches("nb102", ["nb101", "nb201", "darts"])
    ['nb101', 'nb201']
    """
    return difflib.get_close_matches(str(name), sorted(set(choices)), n=3, cutoff=0.6)


def nearest(name: str, choices: Iterable[str]) -> str:
    """The end of an error message for an unknown name: near matches first, otherwise everything there is.

    >>> nearest("nb102", ["nb101", "nb201", "darts"])
    'did you mean nb101, nb201?'
    >>> nearest("resnet", ["nb101", "darts"])
    'known: darts, nb101'
    """
    names = sorted(set(choices))
    if close := close_matches(name, names):
        return f"did you mean {', '.join(close)}?"
    more = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
    return f"known: {', '.join(names[:MOST_LISTED])}{more}" if names else "none is known"
