"""Recordings and the eras of their music: the table, and the sound files that it names."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import BadFile, MissingDependency, shorten
from nasbed.core.files import file_sha256
from nasbed.datasets.source import DEEPEST, Progress, folder_with
from nasbed.datasets.unseen.sources.material import content, text
from nasbed.datasets.unseen.spectrogram import SECONDS, SILENCE

TABLE = "eras.csv"
ERAS = ("20th Century", "Baroque", "Classical", "Romantic")
MUSICNET_TABLE = "musicnet_metadata.csv"
MUSICNET_FOLDERS = ("train_data", "test_data")
MUSEUM = "Isabella Stewart Gardner Museum"
COMPOSERS = {
    "Bach": "Baroque",
    "Beethoven": "Classical",
    "Brahms": "Romantic",
    "Cambini": "Classical",
    "Dvorak": "Romantic",
    "Faure": "Romantic",
    "Haydn": "Classical",
    "Mozart": "Classical",
    "Ravel": "20th Century",
    "Schubert": "Romantic",
}
"""The ten composers of MusicNet and the eras that they are usually counted to."""
SLOWEST, FASTEST = 4_000, 384_000
"""Samples in a second that a recording may have."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. Where it names no work, each recording is a work of its own."""

    file: str
    era: int
    work: str


@dataclass(frozen=True, slots=True, eq=False)
class MusicRecording:
    """A sound file: the numbers of its five-second snippets that are not silent, and its SHA-256."""

    row: Row
    path: Path
    snippets: NDArray[np.int64]
    silent: int
    sha256: str


@dataclass(frozen=True, slots=True)
class MusicTable:
    """The recordings of a folder in the order of their names. ``substitute`` says why they cannot be those of the
    published dataset, if that is known."""

    folder: Path
    rows: list[Row]
    substitute: str = ""


def read_table(folder: Path) -> MusicTable:
    """What ``eras.csv`` says, or else the table of MusicNet, in a folder or a few folders down."""
    table_folder = folder_with(folder, [TABLE])
    if table_folder is not None:
        return MusicTable(table_folder, _named_eras(table_folder))
    table_folder = folder_with(folder, [MUSICNET_TABLE])
    if table_folder is not None:
        return _musicnet(table_folder)
    raise BadFile(
        f"{folder} lacks the table {TABLE} with the columns file,era, or MusicNet's {MUSICNET_TABLE}; write one"
    )


def _musicnet(folder: Path) -> MusicTable:
    """MusicNet: the table has a line for each number, and ``train_data`` or ``test_data`` has the sound, ``1727.wav``.

    An era is the composer's. Each recording is a movement, which the paper's condition is about: none is in two parts,
    though another movement of the same work may be.
    """
    paths = {path.stem: path for part in MUSICNET_FOLDERS for path in _sounds(folder, part)}
    path = folder / MUSICNET_TABLE
    rows, museum = [], 0
    for record, position in _records(path, ("id", "composer", "source")):
        composer = (record["composer"] or "").strip()
        if composer not in COMPOSERS:
            raise BadFile(f"{position}: a composer is one of {', '.join(COMPOSERS)}, got {shorten(composer)}")
        sound = paths.get((record["id"] or "").strip())
        if sound is not None:
            file = sound.relative_to(folder).as_posix()
            rows.append(Row(file, ERAS.index(COMPOSERS[composer]), file))
            museum += record["source"] == MUSEUM
    if not rows:
        raise BadFile(
            f"{folder} has {MUSICNET_TABLE} and no {MUSICNET_FOLDERS[0]}/NUMBER.wav that it names; unpack them"
        )
    substitute = f"eras are those of MusicNet's composers, and {museum} of {len(rows)} recordings are the museum's"
    return MusicTable(folder, sorted(rows, key=lambda row: row.file), substitute)


def _sounds(folder: Path, part: str) -> Iterator[Path]:
    for depth in range(DEEPEST):
        yield from folder.glob(f"{'*/' * depth}{part}/*.wav")


def _records(path: Path, needed: tuple[str, ...]) -> Iterator[tuple[dict[str, str | None], str]]:
    """The lines of a table by its columns, however these are spelled, each with its place for messages."""
    reader = csv.DictReader(io.StringIO(text(path, content(path))))
    columns = [(name or "").strip().lower() for name in reader.fieldnames or ()]
    if not set(needed) <= set(columns):
        rule = f"{path} has the columns {' and '.join(needed)}"
        raise BadFile(f"{rule}, got {shorten(columns)}; add a first line {','.join(needed)}")
    reader.fieldnames = columns
    for record in reader:
        yield record, f"{path}, line {reader.line_num}"


def _named_eras(table_folder: Path) -> list[Row]:
    path = table_folder / TABLE
    rows: dict[str, Row] = {}
    works: dict[str, int] = {}
    for record, position in _records(path, ("file", "era")):
        file, era = (record["file"] or "").strip(), _era(record["era"], position)
        parts = PurePosixPath(file).parts
        if not parts or ".." in parts or file.startswith("/") or not (table_folder / file).is_file():
            raise BadFile(f"{position}: a file is named relative to the table's folder and exists, got {shorten(file)}")
        if file in rows:
            raise BadFile(f"{position}: a recording has one line, {shorten(file)} has two; remove one")
        work = (record.get("work") or "").strip() or file
        if works.setdefault(work, era) != era:
            raise BadFile(f"{position}: a work is of one era, {shorten(work)} is of two; correct the table")
        rows[file] = Row(file, era, work)
    if not rows:
        raise BadFile(f"{path} names no recordings; add a line for each")
    return [rows[file] for file in sorted(rows)]


def _era(value: str | None, position: str) -> int:
    plain = "".join(filter(str.isalnum, value or "")).lower()
    for number, era in enumerate(ERAS):
        if plain == "".join(filter(str.isalnum, era)).lower():
            return number
    raise BadFile(f"{position}: an era is one of {', '.join(ERAS)}, got {shorten(value)}; correct the table")


def read_recordings(folder: Path, rows: list[Row], progress: Progress) -> list[MusicRecording]:
    """Read every recording from end to end. The same sound under two names raises."""
    recordings: list[MusicRecording] = []
    names: dict[str, str] = {}
    for index, row in enumerate(rows):
        path = folder / row.file
        loud = [bool(len(piece) and np.abs(piece).max() >= SILENCE) for _, piece in pieces(path)]
        digest = file_sha256(path)
        if digest in names:
            raise BadFile(f"a recording occurs once, {names[digest]} and {row.file} are the same; remove one")
        names[digest] = row.file
        snippets = np.flatnonzero(loud).astype(np.int64)
        recordings.append(MusicRecording(row, path, snippets, len(loud) - len(snippets), digest))
        progress("isabella, listening", index + 1, len(rows))
    return recordings


def pieces(path: Path) -> Iterator[tuple[int, NDArray[np.float32]]]:
    """The rate and the samples of each whole five seconds, channels mixed evenly. A shorter remainder is not used.

    Sound that ends before the length in its header is an error that names the file.
    """
    sound = _soundfile()
    try:
        with sound.SoundFile(path) as file:
            rate = int(file.samplerate)
            if not SLOWEST <= rate <= FASTEST:
                raise BadFile(f"{path}: sound has {SLOWEST} to {FASTEST} samples a second, got {rate}; convert it")
            count = int(file.frames) // (rate * SECONDS)
            for number in range(count):
                block = file.read(rate * SECONDS, dtype="float32", always_2d=True)
                if len(block) != rate * SECONDS or not np.isfinite(block).all():
                    raise BadFile(f"{path} is damaged after {number * SECONDS} s: it is cut off there; get it again")
                yield rate, block.mean(axis=1)
    except (sound.LibsndfileError, OSError, RuntimeError) as error:
        reason = " ".join(str(error).split())
        raise BadFile(f"{path} cannot be read as sound (wav, flac, ogg, mp3): {reason[-100:]}; get it again") from None


def _soundfile() -> Any:
    try:
        return import_module("soundfile")
    except (ImportError, OSError):
        raise MissingDependency("isabella needs soundfile; get it with: pip install 'nasbed[unseen]'") from None
