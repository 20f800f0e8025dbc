"""Results folders: written once and whole, opened in milliseconds, trusted only when their checksums agree.

A folder holds ``manifest.json`` and one data folder that the manifest names, with the rows as Parquet and the same as
memory-mapped columns. Writing again makes another data folder beside the old one; replacing the manifest is the one
step that makes it count. A reader sees the old table or the new one, never a mix, whenever the writer is killed.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

import nasbed
from nasbed.core.errors import BadFile, InvalidOption
from nasbed.core.files import sync_file, values_sha256
from nasbed.core.locks import SharedHold, remove_unless_held, waiting_lock
from nasbed.core.presentation.data_frames import check_pandas
from nasbed.core.presentation.upward import html_view
from nasbed.core.verified_files import first_changed, write_stamp
from nasbed.results.cache import Cache
from nasbed.results.cache.builder import CacheBuilder
from nasbed.results.cache.columns import FOLDER, PACKED
from nasbed.results.curves import FILE_NAME as CURVES
from nasbed.results.curves import Curves, read_curves, write_curves
from nasbed.results.manifest import FILE_NAME, FileRecord, Manifest, TableInfo, record
from nasbed.results.parquet import open_writer, read_batches, read_codes, write_batch
from nasbed.results.rows import Rows
from nasbed.results.searches import FILE_NAME as SEARCHES
from nasbed.results.searches import RecordedSearches, read_searches, write_searches
from nasbed.spaces import SearchSpace, space
from nasbed.spaces.lookup import code_keys

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

LOCK = ".lock"

Progress = Callable[[int], None]
"""Called with the number of rows written so far."""


class Results:
    """An opened table: the folder of results that :meth:`open` reads. ``about`` describes it."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder = folder
        self.manifest = manifest
        self.about = manifest.about
        self._hold = SharedHold(self.data)

    def release(self) -> None:
        """Let its data folder be removed, or renamed, which Windows refuses as long as a file of it is open."""
        self._hold.release()

    @classmethod
    def open(cls, folder: str | Path) -> Results:
        """Open a folder and verify it: by checksum the first time and after any change, by size and date otherwise."""
        folder = Path(folder)
        manifest = Manifest.read(folder)
        while True:
            results = cls(folder, manifest)
            try:
                _check_files(folder, manifest)
            except BadFile:
                again = Manifest.read(folder)
                if again == manifest:
                    raise
                manifest = again  # replaced while it was being opened
            else:
                return results

    def __reduce__(self) -> tuple[Callable[[Path, Manifest], Results], tuple[Path, Manifest]]:
        """Pickled as the path and the checksums. A copy opens the folder again and fails if the table has changed."""
        return _reopened, (self.folder.absolute(), self.manifest)

    def __deepcopy__(self, memo: dict[int, object]) -> Results:
        """Itself: an opened folder does not change."""
        return self

    @cached_property
    def space(self) -> SearchSpace:
        """The space of the table: the registered one, or the one that the manifest defines."""
        if self.manifest.space_definition is None:
            return space(self.about.space)
        from nasbed.spaces.from_configspace import space_from_definition

        return space_from_definition(self.manifest.space_definition, self.about.space)

    @property
    def data(self) -> Path:
        """The folder of the data files."""
        return self.folder / next(iter(self.manifest.files)).split("/")[0]

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of the rows and of the description of their columns. Where and when they were written does not
        matter."""
        return values_sha256((_checksums(self.manifest), asdict(self.about)["metrics"], self.manifest.space_definition))

    def batches(self) -> Iterator[Rows]:
        """The rows, some hundred thousand at a time."""
        keys = [metric.key for metric in self.about.metrics]
        return read_batches(self.data / "rows.parquet", self.space.code_length, keys)

    def architecture_codes(self) -> NDArray[np.int64]:
        """The codes of the architectures, in the order in which the rows name them first."""
        parts = []
        for codes in read_codes(self.data / "rows.parquet", self.space.code_length):
            begins = np.ones(len(codes), dtype=np.bool_)
            begins[1:] = (codes[1:] != codes[:-1]).any(axis=1)  # rows of one architecture often stand together
            parts.append(codes[begins])
        codes = np.concatenate(parts)
        _, first = np.unique(code_keys(codes), return_index=True)
        return codes[np.sort(first)]

    def cache(self) -> Cache:
        """The table as columns, mapped into memory unless they are packed."""
        is_packed = f"{self.data.name}/{PACKED}" in self.manifest.files
        return Cache(self.data / (PACKED if is_packed else FOLDER))

    def curves(self) -> Curves | None:
        """The learning curves of the trainings in this table; None if none were measured."""
        if f"{self.data.name}/{CURVES}" not in self.manifest.files:
            return None
        return read_curves(self.data / CURVES, self.space.code_length)

    def searches(self) -> RecordedSearches | None:
        """The searches that were run for real to collect this table; None if there were none."""
        if f"{self.data.name}/{SEARCHES}" not in self.manifest.files:
            return None
        return read_searches(self.data / SEARCHES, self.space.code_length)

    def to_arrow(self) -> pa.Table:
        """All rows as a pyarrow table: ``architecture`` as text, ``method``, ``seed``, ``fidelity``, ``status``,
        ``train_time_s``, ``timestamp`` and the metrics by key."""
        from nasbed.results.export import arrow_table

        return arrow_table(self)

    def to_pandas(self) -> pd.DataFrame:
        """:meth:`to_arrow` as a data frame; needs pandas (``pip install 'nasbed[pandas]'``)."""
        check_pandas()
        return self.to_arrow().to_pandas()

    def __repr__(self) -> str:
        rows, architectures = self.manifest.rows, self.manifest.architectures
        return f"<results {self.about.name}: {self.about.space}, {rows} rows, {architectures} architectures>"

    def _repr_html_(self) -> str | None:
        return html_view("views:results_html", self)

    def verify(self) -> None:
        """Raise unless every file has the size and checksum that the manifest names, whatever was checked before."""
        _check_files(self.folder, self.manifest, trust_stamp=False)


def _reopened(folder: Path, manifest: Manifest) -> Results:
    """The folder, opened again; raises unless it has the table that ``manifest`` describes."""
    results = Results.open(folder)
    if _checksums(results.manifest) != _checksums(manifest):
        raise BadFile(f"the folder {folder} of a pickled table now holds a different table; open it with nasbed.load")
    return results


def _checksums(manifest: Manifest) -> dict[str, str]:
    """The SHA-256 of each file, by its name in the data folder."""
    return {name.partition("/")[2]: record.sha256 for name, record in manifest.files.items()}


def write_results(
    folder: str | Path,
    about: TableInfo,
    batches: Iterable[Rows],
    progress: Progress | None = None,
    *,
    searched: SearchSpace | None = None,
    curves: Curves | None = None,
    searches: RecordedSearches | None = None,
) -> Results:
    """Write a table. It replaces the folder's old one in one step when it is complete. An empty table is refused.

    Args:
        folder: Where the table is written.
        about: What its rows are.
        batches: The rows. They are kept until the table is complete and must not change.
        progress: Called with the number of rows written so far.
        searched: The space, needed where ``about.space`` is not registered. The manifest then defines a space made from
            a ConfigSpace, so that the table opens anywhere.
        curves: Learning curves of trainings among the rows.
        searches: Searches whose evaluations are among the rows.
    """
    folder = Path(folder)
    searched = searched or space(about.space)
    if searched.name != about.space:
        raise InvalidOption(f"the table {about.name} is of the space {about.space}, got the space {searched.name}")
    with _without_empty_folders(folder), _locked(folder):
        _remove_leftovers(folder)
        data = folder / f"data-{secrets.token_hex(6)}"
        try:
            data.mkdir()
            rows, architectures = _write_data(data, about, searched, batches, progress, curves)
            if curves is not None:
                write_curves(data / CURVES, curves)
            if searches is not None:
                write_searches(data / SEARCHES, searches)
            paths = sorted(path for path in data.rglob("*") if path.is_file())
            with ThreadPoolExecutor() as pool:
                records = pool.map(_durable, paths)
                files = {
                    path.relative_to(folder).as_posix(): file_record
                    for path, file_record in zip(paths, records, strict=True)
                }
            manifest = Manifest(
                about,
                rows,
                architectures,
                files,
                nasbed_version=nasbed.__version__,
                created=datetime.now(UTC).isoformat(timespec="seconds"),
                space_definition=searched.definition(),
            )
            manifest.write(folder)
        except BaseException:
            shutil.rmtree(data, ignore_errors=True)
            raise
        write_stamp(folder, _sha256s(manifest))
        _remove_leftovers(folder)
    return Results(folder, manifest)


def _write_data(
    data: Path,
    info: TableInfo,
    searched: SearchSpace,
    batches: Iterable[Rows],
    progress: Progress | None,
    curves: Curves | None,
) -> tuple[int, int]:
    """Write the rows and their memory-mapped form. Returns the numbers of rows and of architectures.

    Args:
        data: The folder.
        info: What the rows are.
        searched: Their space.
        batches: The rows.
        progress: Called with the number of rows written so far.
        curves: Learning curves of trainings among the rows.
    """
    keys = [metric.key for metric in info.metrics]
    builder = CacheBuilder(searched, by_function=info.by_function)
    count = 0
    with open_writer(data / "rows.parquet", searched.code_length, keys) as writer, ThreadPoolExecutor(1) as pool:
        writing: Future[None] | None = None
        for batch in batches:
            if not len(batch):
                continue
            batch.check(info.by_key)
            if writing is not None:
                writing.result()
            writing = pool.submit(write_batch, writer, batch)  # while the next one is made
            builder.add(batch)
            count += len(batch)
            if progress is not None:
                progress(count)
        if writing is not None:
            writing.result()
    if not count:
        raise BadFile(f"the table {info.name} has no rows; check what it is made from")
    return count, builder.write(data / FOLDER, curves)


def _durable(path: Path) -> FileRecord:
    sync_file(path)
    return record(path)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One writer a folder at a time; a second one waits. No lock is left in the folder."""
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            try:
                stack.enter_context(waiting_lock(folder / LOCK))
            except FileNotFoundError:  # another writer, whose table failed, removed the folder just now
                continue
            yield
            return


@contextmanager
def _without_empty_folders(folder: Path) -> Iterator[None]:
    """Remove the folders that were created for a table that failed, unless they hold something else. This comes after
    the lock is released: Windows removes no folder with an open file."""
    new_folders = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        yield
    except BaseException:
        with suppress(OSError):
            for path in new_folders:
                path.rmdir()
        raise


def _remove_leftovers(folder: Path) -> None:
    """Delete data folders that the manifest does not name and no process reads: replaced ones, and those of killed
    writers. If the manifest cannot be read, nothing is deleted."""
    try:
        current = {name.split("/")[0] for name in Manifest.read(folder).files}
    except BadFile:
        if (folder / FILE_NAME).exists():
            return
        current = set()
    for path in [*folder.glob("data-*"), *folder.glob(".*.partial")]:
        if path.name in current:
            continue
        if path.is_dir() and not path.is_symlink():
            remove_unless_held(path, shutil.rmtree)
        else:
            path.unlink(missing_ok=True)


def _check_files(folder: Path, manifest: Manifest, trust_stamp: bool = True) -> None:
    for name, expected in manifest.files.items():
        path = folder / name
        try:
            size = path.stat().st_size
        except OSError:
            raise BadFile(f"{folder} lacks its file {name}; import the table again") from None
        if size != expected.bytes:
            raise BadFile(f"{path} has {size} bytes, its manifest says {expected.bytes}; import the table again")
    try:
        changed = first_changed(folder, _sha256s(manifest), trust_stamp=trust_stamp)
    except OSError as error:  # replaced or removed just now
        raise BadFile(f"{folder} lacks a file, {error}; import the table again") from None
    if changed is not None:
        raise BadFile(f"{folder / changed} does not have the SHA-256 of its manifest; import the table again")


def _sha256s(manifest: Manifest) -> dict[str, str]:
    return {name: record.sha256 for name, record in manifest.files.items()}


__all__ = ["FILE_NAME", "Results", "write_results"]
