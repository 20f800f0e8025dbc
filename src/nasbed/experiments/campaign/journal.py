"""The journal of a campaign: one SQLite file in which a result is durable before it counts."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import time_ns
from typing import Any

import nasbed
from nasbed.core.architecture import Architecture
from nasbed.core.closeable import Closeable
from nasbed.core.errors import BadFile, DiskFull, InvalidOption, first_line, shorten
from nasbed.core.execution.journal import check_same_inputs
from nasbed.core.former_names import FormerAttribute
from nasbed.core.locks import WriterLock
from nasbed.core.status import Status
from nasbed.experiments.campaign.growth import RULE, raised_numbers, with_former_numbers
from nasbed.experiments.campaign.provenance import Code, Maker, changed_code, code_of, plain_code
from nasbed.experiments.campaign.trial import Evaluation, Trial

SCHEMA_VERSION = 1
FORMER_CAMPAIGNS = "former_campaigns"
_TABLES = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE trials (
    number INTEGER PRIMARY KEY, round INTEGER NOT NULL, method TEXT NOT NULL,
    code TEXT NOT NULL, fidelity INTEGER NOT NULL, seed INTEGER NOT NULL, UNIQUE (code, fidelity, seed)
);
CREATE TABLE results (
    number INTEGER PRIMARY KEY REFERENCES trials (number), status TEXT NOT NULL, "values" TEXT NOT NULL,
    train_time_s REAL, reason TEXT NOT NULL, ended_us INTEGER NOT NULL
);
CREATE TABLE rounds (round INTEGER PRIMARY KEY, trials INTEGER NOT NULL, notes TEXT NOT NULL);
"""
_CURVES = """
CREATE TABLE IF NOT EXISTS curves (number INTEGER PRIMARY KEY REFERENCES trials (number), points TEXT NOT NULL)
"""
"""Made with the first learning curve: most campaigns measure none."""
_MEASURED = """
CREATE TABLE IF NOT EXISTS measured_times (number INTEGER PRIMARY KEY REFERENCES trials (number), seconds REAL NOT NULL)
"""
"""Made with the first time of a calibration: the measured time beside it."""
_MAKERS = """
CREATE TABLE IF NOT EXISTS makers (maker INTEGER PRIMARY KEY, nasbed_version TEXT NOT NULL, code TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS made_by (number INTEGER PRIMARY KEY REFERENCES trials (number), maker INTEGER NOT NULL)
"""
"""Created with the first result; journals of older versions of nasbed lack it."""


@dataclass(frozen=True, slots=True)
class FinishedTrial:
    """A trial with its result, and when that was written, in microseconds since 1970."""

    trial: Trial
    evaluation: Evaluation
    ended_us: int


class Journal(Closeable):
    """The trials of a campaign in the order in which they were proposed, and their results. See :meth:`writing`."""

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: WriterLock | None = None) -> None:
        self.path = path
        self._connection = connection
        self._lock = lock
        self._code: Code = {}
        self._maker: int | None = None
        self.raised: dict[str, tuple[Any, Any]] = {}
        """The numbers that the campaign raised when it was opened, each with its former and its new value."""

    # --- opening -----------------------------------------------------------------------------------------------------

    @classmethod
    def writing(
        cls, path: str | Path, facts: Mapping[str, Any], *, code: Code | None = None, accept_changes: bool = False
    ) -> Journal:
        """Open a journal to resume it, or a new one. Only one process can at a time. ``facts``, which describe the
        campaign, must be those that it was created with; some numbers may be larger (see
        :mod:`nasbed.experiments.campaign.growth`). The user's ``code`` must be that of the latest results, unless
        changes are accepted. Writes are on the disk when the call returns: SQLite's write-ahead log with a sync at each
        commit.
        """
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = WriterLock(
            path,
            f"{path} is written by one campaign at a time, another has it open; wait for it or name another journal",
        )
        journal = None
        try:
            with _sqlite_errors(path):
                journal = cls(path, sqlite3.connect(path, isolation_level=None), lock)
                journal._connection.execute("PRAGMA journal_mode = WAL")
                journal._connection.execute("PRAGMA synchronous = FULL")
                journal._begin(facts)
                journal._check_code(code or {}, accept_changes)
        except BaseException:
            if journal is None:
                lock.release()
            else:
                journal.close()
            raise
        return journal

    @classmethod
    def reading(cls, path: str | Path) -> Journal:
        """Open a journal to look at it, also while a campaign writes to it."""
        path = Path(path)
        if not path.is_file():
            raise BadFile(f"there is no journal {path}; nasbed collect makes one")
        with _sqlite_errors(path):
            journal = cls(path, _reader(path))
            try:
                journal._check_version(journal._tables())
            except BaseException:
                journal.close()
                raise
        return journal

    def _tables(self) -> set[str]:
        return {name for (name,) in self._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}

    def _begin(self, facts: Mapping[str, Any]) -> None:
        tables = self._tables()
        plain = json.loads(json.dumps(facts))
        if not tables:
            with self._transaction():
                for statement in _TABLES.split(";\n"):
                    self._connection.execute(statement)
                header = {"schema_version": SCHEMA_VERSION, "nasbed_version": nasbed.__version__, "begun_us": _now_us()}
                rows = [(name, json.dumps(fact)) for name, fact in (plain | header).items()]
                self._connection.executemany("INSERT INTO facts VALUES (?, ?)", rows)
            return
        self._check_version(tables)
        stored_facts = self.facts()
        former = stored_facts["campaign"]
        check_same_inputs(
            f"{self.path} holds a campaign",
            stored_facts,
            {"campaign": with_former_numbers(former, plain["campaign"]), "trainer": plain.get("trainer")},
            remedy=f"put it back or name another file; {RULE}",
        )
        self.raised = raised_numbers(former, plain["campaign"])
        if self.raised:
            stages = [*stored_facts.get(FORMER_CAMPAIGNS, []), former]
            updated = {"campaign": plain["campaign"], "file": plain["file"], FORMER_CAMPAIGNS: stages}
            with self._transaction():
                rows = [(name, json.dumps(fact)) for name, fact in updated.items()]
                self._connection.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", rows)

    def _check_code(self, code: Code, accept_changes: bool) -> None:
        self._code = code
        makers = [maker for maker in self.makers() if maker.version and maker.results]
        changed = changed_code(makers[-1].code, code) if makers else []
        if changed and not accept_changes:
            raise InvalidOption(
                f"{self.path} holds {self.counts()[1]} results made before {changed[0]} was changed; put it back, name "
                "another journal, or continue with both kinds of results: --accept-changes"
            )

    def _check_version(self, tables: set[str]) -> None:
        if not tables:
            raise BadFile(f"{self.path} holds no campaign yet; start it: nasbed collect with --resume")
        if not {"facts", "trials", "results", "rounds"} <= tables:
            raise BadFile(f"{self.path} is not a journal of a campaign; name another file")
        version = self.facts().get("schema_version")
        if version != SCHEMA_VERSION:
            raise BadFile(
                f"{self.path} has schema version {shorten(version)}, this nasbed reads {SCHEMA_VERSION}; use the "
                "nasbed that wrote it"
            )

    # --- reading -----------------------------------------------------------------------------------------------------

    def facts(self) -> dict[str, Any]:
        """The facts with which the journal was created: ``campaign``, ``trainer`` and more."""
        with _sqlite_errors(self.path):
            return {name: json.loads(value) for name, value in self._connection.execute("SELECT * FROM facts")}

    def former_campaigns(self) -> list[dict[str, Any]]:
        """The identities that the campaign had before its numbers were raised, the first one first."""
        return list(self.facts().get(FORMER_CAMPAIGNS, []))

    def rounds(self) -> int:
        """How many rounds have been proposed."""
        return int(self._scalar("SELECT count(*) FROM rounds"))

    def notes(self) -> list[str]:
        """The notes on the rounds, in order."""
        with _sqlite_errors(self.path):
            rows = self._connection.execute("SELECT round, notes FROM rounds ORDER BY round").fetchall()
        return [f"round {number}: {note}" for number, text in rows for note in json.loads(text)]

    def counts(self) -> tuple[int, int]:
        """How many trials have been proposed, and how many have ended."""
        return int(self._scalar("SELECT count(*) FROM trials")), int(self._scalar("SELECT count(*) FROM results"))

    def makers(self) -> list[Maker]:
        """The makers of results, in the order of their first results; results without a record come first."""
        with _sqlite_errors(self.path):
            recorded = []
            if "makers" in self._tables():
                query = (
                    "SELECT nasbed_version, code, count(number) FROM makers LEFT JOIN made_by USING (maker) "
                    "GROUP BY maker ORDER BY maker"
                )
                recorded = [
                    Maker(version, code_of(json.loads(code)), count)
                    for version, code, count in self._connection.execute(query)
                ]
        unrecorded = self.counts()[1] - sum(maker.results for maker in recorded)
        return [*([Maker("", {}, unrecorded)] if unrecorded else []), *recorded]

    def trials(self, round_: int) -> list[Trial]:
        """The trials of a round, in order."""
        query = "SELECT number, round, method, code, fidelity, seed FROM trials WHERE round = ? ORDER BY number"
        name = self._space
        with _sqlite_errors(self.path):
            return [_trial(name, *row) for row in self._connection.execute(query, (round_,))]

    def finished(self, round_: int | None = None) -> Iterator[FinishedTrial]:
        """All trials with results (of a round), in the order of the trials."""
        condition, arguments = ("", ()) if round_ is None else ("WHERE round = ? ", (round_,))
        name = self._space
        with _sqlite_errors(self.path):
            tables, columns, joined = self._tables(), [], ""
            for table, column in (("curves", "points"), ("measured_times", "seconds")):
                exists = table in tables
                columns.append(column if exists else "NULL")
                joined += f"LEFT JOIN {table} USING (number) " if exists else ""
            query = (
                'SELECT number, round, method, code, fidelity, seed, status, "values", train_time_s, reason, ended_us, '
                f"{', '.join(columns)} FROM trials JOIN results USING (number) {joined}{condition}ORDER BY number"
            )
            for row in self._connection.execute(query, arguments):
                status, values, seconds, reason, ended_us, points, measured = row[6:]
                points = () if points is None else tuple(json.loads(points))
                evaluation = Evaluation(Status(status), json.loads(values), seconds, reason, points, measured)
                yield FinishedTrial(_trial(name, *row[:6]), evaluation, ended_us)

    ended = FormerAttribute("finished", until="0.3")

    @property
    def _space(self) -> str:
        return str(self.facts()["space"])

    def _scalar(self, query: str) -> Any:
        with _sqlite_errors(self.path):
            return self._connection.execute(query).fetchone()[0]

    # --- writing -----------------------------------------------------------------------------------------------------

    def propose(self, round_: int, trials: Sequence[Trial], notes: Sequence[str] = ()) -> None:
        """Store the trials of a round, all or none."""
        rows = [
            (trial.number, trial.round, trial.method, json.dumps(trial.architecture.code), trial.fidelity, trial.seed)
            for trial in trials
        ]
        with self._transaction():
            round_row = round_, len(rows), json.dumps(list(notes))
            self._connection.execute("INSERT INTO rounds VALUES (?, ?, ?)", round_row)
            self._connection.executemany("INSERT INTO trials VALUES (?, ?, ?, ?, ?, ?)", rows)

    def end(self, results: Iterable[tuple[Trial, Evaluation]]) -> None:
        """Store the results of trials that were evaluated together, all or none."""
        now, results = _now_us(), list(results)
        rows = [
            (
                trial.number,
                evaluation.status.value,
                json.dumps(dict(evaluation.values), allow_nan=False),
                evaluation.train_time_s,
                evaluation.reason,
                now,
            )
            for trial, evaluation in results
        ]
        curves = [
            (trial.number, json.dumps(evaluation.learning_curve, allow_nan=False))
            for trial, evaluation in results
            if evaluation.learning_curve
        ]
        measured = [
            (trial.number, evaluation.measured_time_s)
            for trial, evaluation in results
            if evaluation.measured_time_s is not None
        ]
        with self._transaction():
            self._connection.executemany("INSERT INTO results VALUES (?, ?, ?, ?, ?, ?)", rows)
            maker = self._noted_maker()
            made_by = [(trial.number, maker) for trial, _ in results]
            self._connection.executemany("INSERT INTO made_by VALUES (?, ?)", made_by)
            if curves:
                self._connection.execute(_CURVES)
                self._connection.executemany("INSERT INTO curves VALUES (?, ?)", curves)
            if measured:
                self._connection.execute(_MEASURED)
                self._connection.executemany("INSERT INTO measured_times VALUES (?, ?)", measured)

    def _noted_maker(self) -> int:
        """The number of the current maker of results, stored with its first result."""
        if self._maker is None:
            for statement in _MAKERS.split(";\n"):
                self._connection.execute(statement)
            current = nasbed.__version__, json.dumps(plain_code(self._code), sort_keys=True)
            query = "SELECT maker, nasbed_version, code FROM makers ORDER BY maker DESC LIMIT 1"
            last = self._connection.execute(query).fetchone()
            if last is not None and last[1:] == current:
                self._maker = int(last[0])
            else:
                query = "INSERT INTO makers (nasbed_version, code) VALUES (?, ?)"
                self._maker = int(self._connection.execute(query, current).lastrowid or 0)
        return self._maker

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with _sqlite_errors(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def close(self) -> None:
        self._connection.close()
        if self._lock is not None:
            self._lock.release()


def _reader(path: Path) -> sqlite3.Connection:
    """A connection that changes nothing. It is opened for writing where it can be, which lets SQLite tidy its log away
    when it is closed; a folder that cannot be written to does without."""
    uri = path.resolve().as_uri()
    connection = sqlite3.connect(f"{uri}?mode={'rw' if os.access(path.parent, os.W_OK) else 'ro'}", uri=True)
    connection.isolation_level = None
    connection.execute("PRAGMA query_only = ON")
    return connection


def _trial(space: str, number: int, round_: int, method: str, code: str, fidelity: int, seed: int) -> Trial:
    return Trial(number, round_, Architecture(space, tuple(json.loads(code))), fidelity, seed, method)


def _now_us() -> int:
    return time_ns() // 1000


@contextmanager
def _sqlite_errors(path: Path) -> Iterator[None]:
    """Errors of SQLite and of the disk as one line that names the journal and a remedy."""
    try:
        yield
    except sqlite3.Error as error:
        reason = first_line(error)
        code = getattr(error, "sqlite_errorcode", None)
        if code is not None and code & 0xFF in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
            raise DiskFull(
                f"{path} could not be written, {reason}; all that it holds is intact: make room on its disk and resume"
            ) from None
        raise BadFile(f"{path} could not be read as a journal, {reason}; name another file") from None
