"""Journals of tasks: what resumable work keeps, whole or not at all, until it is complete.

A :class:`TaskJournal` holds a durable result for each key. One process writes it at a time, and a journal that was
created from other inputs is refused. Scoring keeps its scores in one, tuning its trials. A :class:`SharedJournal` is
the same for a file that several processes add to: the results on unseen datasets.

Two kinds of work have files of their own and share only :func:`check_same_inputs`. A comparison keeps each run in an
``.npz`` file, a campaign its trials in SQLite.
"""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Generic, TypeVar

from nasbed.core.closeable import Closeable
from nasbed.core.errors import BadFile, DiskFull, InvalidOption, first_line, shorten
from nasbed.core.locks import WriterLock, locked

Key = TypeVar("Key")
Result = TypeVar("Result")
Line = dict[str, Any]


class JournalLines(Closeable):
    """JSON objects, one a line, in the order in which they were written. One process at a time may hold it open.

    A line cut short, as by a kill in the middle of writing it, is as if it had never been written.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._lock = WriterLock(
            path, f"{path} is written by one process at a time, another has it open; wait or use another folder"
        )
        try:
            self._file = path.open("a+b")
            try:
                self.lines = self._read()
            except BaseException:
                self._file.close()
                raise
        except BaseException:
            self._lock.release()
            raise

    def _read(self) -> list[Line]:
        _complete_end(self._file)
        self._file.seek(0)
        lines = []
        for number, text in enumerate(self._file.read().splitlines(), 1):
            line = _json_object(text)
            if line is None:
                raise BadFile(f"{self.path}, line {number}, is not a JSON object; delete the folder and start again")
            lines.append(line)
        return lines

    def add(self, line: Line, *, durable: bool = True) -> None:
        """Append a line. When this returns, the line and all before it outlive a power cut or, where not ``durable``,
        the end of this process."""
        _write(self._file, json.dumps(line, allow_nan=False), durable=durable)
        self.lines.append(line)

    def remove(self) -> None:
        """Delete the file: the work is complete and its result is elsewhere."""
        self._file.close()
        self.path.unlink()

    def close(self) -> None:
        """Let other processes write the file."""
        self._file.close()
        self._lock.release()


@dataclass(frozen=True, slots=True)
class LineFormat(Generic[Key, Result]):
    """How a :class:`TaskJournal` writes a result, and reads it back. Reading a line that is not a result raises a
    KeyError, TypeError or AttributeError.

    Args:
        holds: what the results are, in a refusal: ``scores``.
        inputs: the name of the field that holds the inputs.
        write: the line of a key and a result.
        read: the key and the result of a line.
    """

    holds: str
    inputs: str
    write: Callable[[Key, Result], Line]
    read: Callable[[Line], tuple[Key, Result]]


def _plain_line(key: Any, result: Any) -> Line:
    return {"key": key, "result": result}


def _plain_entry(line: Line) -> tuple[Any, Any]:
    return _hashable(line["key"]), line["result"]


def _hashable(key: Any) -> Any:
    return tuple(map(_hashable, key)) if isinstance(key, list) else key


PLAIN: LineFormat[Any, Any] = LineFormat("results", "inputs", _plain_line, _plain_entry)
"""Keys are texts, numbers or tuples of them; results are whatever JSON can hold."""


class _ResultsByKey(ABC, Generic[Key, Result]):
    """The results that a journal holds, and how another one becomes durable."""

    def __init__(self) -> None:
        self._results: dict[Key, Result] = {}

    @abstractmethod
    def record(self, key: Key, result: Result) -> None:
        """Write a result down. When this returns, it outlives a power cut."""

    def keep(self, key: Key, result: Result) -> None:
        """Take a result into what the journal holds; a later one replaces an earlier one."""
        self._results[key] = result

    def items(self) -> Iterator[tuple[Key, Result]]:
        """All results by their keys."""
        return iter(self._results.items())

    def __contains__(self, key: object) -> bool:
        return key in self._results

    def __getitem__(self, key: Key) -> Result:
        return self._results[key]

    def __len__(self) -> int:
        return len(self._results)


class TaskJournal(JournalLines, _ResultsByKey[Key, Result]):
    """A durable result for each key. The first line holds the inputs that all results are made from: a journal that was
    begun from others is refused.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     for attempt in (1, 2):
    ...         with TaskJournal(Path(folder) / "powers.journal", {"power": 2}) as journal:
    ...             missing = [base for base in (2, 3) if base not in journal]
    ...             for base in missing:
    ...                 journal.record(base, base**2)
    ...             print(missing, dict(journal.items()))
    [2, 3] {2: 4, 3: 9}
    [] {2: 4, 3: 9}
    """

    def __init__(self, path: Path, inputs: Mapping[str, Any], *, form: LineFormat[Key, Result] = PLAIN) -> None:
        _ResultsByKey.__init__(self)
        self._form = form
        JournalLines.__init__(self, path)
        self.is_new = not self.lines
        try:
            self._begin(json.loads(json.dumps(inputs)))
        except BaseException:
            self.__exit__(None, None, None)
            raise

    def _begin(self, inputs: Line) -> None:
        place = 1
        try:
            self.begin(inputs)
            for line in self.lines:
                self.take(line, inputs)
                place += 1
        except (KeyError, TypeError, AttributeError) as error:
            raise BadFile(
                f"{self.path}, line {place}, is not one of a journal of {self._form.holds}: {first_line(error)}; "
                "delete it and start again"
            ) from None

    def begin(self, inputs: Line) -> None:
        """Record the inputs of a new journal, or check those of an existing one."""
        if self.is_new:
            self.add({self._form.inputs: inputs})
        self.check_inputs(self.lines[0][self._form.inputs], inputs)

    def take(self, line: Line, inputs: Line) -> None:
        """Take in a line that the journal has: inputs that hold from there on, or a result."""
        if self._form.inputs in line:
            self.inputs_changed(line[self._form.inputs], inputs)
        else:
            self.keep(*self._form.read(line))

    def check_inputs(self, previous: Line, now: Line) -> None:
        """Raise if the journal was created from other inputs."""
        check_same_inputs(f"{self.path} holds {self._form.holds}", previous, now, remedy="choose another file")

    def inputs_changed(self, previous: Line, now: Line) -> None:
        """Called with each line of inputs, the first included, before the results that follow it are kept."""

    def renew_inputs(self, inputs: Mapping[str, Any]) -> None:
        """Record changed inputs of the results from now on, where a change is not refused."""
        plain = json.loads(json.dumps(inputs))
        self.add({self._form.inputs: plain})
        self.inputs_changed(plain, plain)

    def record(self, key: Key, result: Result) -> None:
        self.add(self._form.write(key, result))
        self.keep(key, result)


# --- files that several processes add to ------------------------------------------------------------------------------


class SharedJournal(_ResultsByKey[Key, Result]):
    """A durable result for each key, in a file that several processes add to. It does not see what others add while it
    is open. The file records no inputs: what a result is made from is part of its key."""

    def __init__(self, path: Path, results: Iterable[tuple[Key, Result]], write: Callable[[Key, Result], Line]) -> None:
        """
        Args:
            path: the file, which need not exist.
            results: what the file holds already.
            write: the line of a key and a result.
        """
        super().__init__()
        self.path, self._line = path, write
        for key, result in results:
            self.keep(key, result)

    def record(self, key: Key, result: Result) -> None:
        append_line(self.path, self._line(key, result))
        self.keep(key, result)


def append_line(path: Path, line: Line) -> None:
    """Add a line to a file of JSON objects. When this returns, it outlives a power cut. Several processes may add to
    one file; a last line that one of them left cut short is removed. Where it cannot be written, the
    :class:`~nasbed.core.errors.DiskFull` has the line, so that its result is not lost."""
    text = json.dumps(line, ensure_ascii=False, allow_nan=False)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with locked(path, lambda _: None), path.open("a+b") as file:
            _complete_end(file)
            _write(file, text, durable=True)
    except OSError as error:
        raise DiskFull(f"the result could not be added to {path}: {error.strerror}; the line is: {text}") from None


def read_lines(path: Path) -> list[str]:
    """The lines of a file that :func:`append_line` writes, without a last one that was cut short."""
    content = path.read_bytes()
    return content[: _whole_length(content)].decode("utf-8").splitlines()


def _write(file: BinaryIO, text: str, *, durable: bool) -> None:
    file.write(text.encode() + b"\n")
    file.flush()
    if durable:
        os.fsync(file.fileno())


def _complete_end(file: BinaryIO) -> None:
    """Let a file, which is opened to append, end with a whole line."""
    file.seek(0)
    content = file.read()
    length = _whole_length(content)
    if length < len(content):
        file.truncate(length)
    elif content and not content.endswith(b"\n"):
        file.write(b"\n")


def _whole_length(content: bytes) -> int:
    """How many bytes come before a line that was cut short: an object of JSON without its end, or bytes that the disk
    never received. A last line that lacks nothing but its newline is whole."""
    start = content.rfind(b"\n") + 1
    last = content[start:].strip(b"\0")
    cut = (not last and start < len(content)) or (last.startswith(b"{") and _json_object(last) is None)
    return start if cut else len(content)


def _json_object(text: bytes) -> Line | None:
    try:
        line = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return line if isinstance(line, dict) else None


# --- inputs -----------------------------------------------------------------------------------------------------------


def check_same_inputs(
    holder: str,
    previous: Mapping[str, Any],
    now: Mapping[str, Any],
    *,
    remedy: str,
    optional: Collection[str] = (),
    differences: Mapping[str, str] | None = None,
) -> None:
    """Raise on the first of the inputs ``now`` that results were not made from.

    >>> check_same_inputs("runs/ holds runs", {"workers": 1}, {"workers": 2}, remedy="choose another folder")
    Traceback (most recent call last):
    ...
    nasbed.core.errors.InvalidOption: runs/ holds runs with workers 1, not 2; choose another folder

    Args:
        holder: the name of the file that holds the results, and their kind.
        previous: the inputs that the results were made from.
        now: the inputs of the work that is to resume.
        remedy: what the user can do.
        optional: inputs that an older nasbed did not record; where they are absent from ``previous``, they are equal.
        differences: messages for inputs whose values say nothing to a reader, such as checksums.
    """
    for name, value in now.items():
        if name not in previous and name in optional:
            continue
        difference = _first_difference(name, previous.get(name), value)
        if difference:
            raise InvalidOption(f"{holder} with {(differences or {}).get(name, difference)}; {remedy}")


def _first_difference(name: str, previous: Any, now: Any) -> str:
    """The first input that differs, of mappings the innermost, with both values; nothing where none does."""
    if previous == now:
        return ""
    if isinstance(previous, Mapping) and isinstance(now, Mapping):
        for key in dict.fromkeys([*previous, *now]):
            if inner := _first_difference(f"{name} {key}", previous.get(key), now.get(key)):
                return inner
    return f"{name} {_format_value(previous)}, not {_format_value(now)}"


def _format_value(value: Any) -> str:
    """A value on one line; a text without its quotes."""
    return shorten(value)[1:-1] if isinstance(value, str) and value else shorten(value)
