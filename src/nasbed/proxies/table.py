"""Scores of many architectures with several seeds: one Parquet file, which any tool for tables reads.

A row is an architecture and a seed. Each proxy has a column of its name, empty where there is no score, and a column
``NAME_time_s``: what the proxy would take alone. ``no_score`` says for which proxies there is none and why, ``remarks``
what scores leave out. What all rows share, as the space and the images, is in the file's metadata.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import nasbed
from nasbed.core.architecture import Architecture
from nasbed.core.errors import BadFile, InvalidOption, NasbedError, UnknownName, nearest, shorten
from nasbed.core.files import complete_file
from nasbed.core.home import embedded_home
from nasbed.core.presentation.data_frames import check_pandas
from nasbed.spaces import SearchSpace, space

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

METADATA = b"nasbed.scores"
ARCHITECTURE, SEED, NO_SCORE, REMARKS = "architecture", "seed", "no_score", "remarks"
TIME = "_time_s"
_OWN = (ARCHITECTURE, SEED, NO_SCORE, REMARKS)

Floats = NDArray[np.float64]
Texts = NDArray[np.object_]


@dataclass(frozen=True, slots=True)
class ScoresInfo:
    """The facts that all scores of a file share. ``recipe`` names the training recipe whose skeleton the networks had;
    it is empty for the usual skeleton of the space. ``recipe_sha256`` is the checksum of its content. ``batch`` is how
    many images a network was scored on. ``source`` says who scored: this package in one or more versions, or a
    publication. ``code`` has the fingerprint of each proxy that is not this package's own."""

    space: str
    dataset: str = ""
    dataset_hash: str = ""
    recipe: str = ""
    batch: int | None = None
    source: str = field(default_factory=lambda: f"nasbed {nasbed.__version__}")
    recipe_sha256: str = ""
    code: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """Scores by proxy as [architectures, seeds], NaN where there is none; each architecture occurs once."""

    about: ScoresInfo
    codes: NDArray[np.int64]  # [architectures, code_length]
    seeds: tuple[int, ...]
    values: Mapping[str, Floats]
    seconds: Mapping[str, Floats] = field(default_factory=dict)
    """The time that each proxy would take alone, NaN where unknown."""
    no_score: Texts | None = None
    """Why proxies have no score: ``name: reason`` with semicolons between, or nothing."""
    remarks: Texts | None = None

    def __post_init__(self) -> None:
        if not self.values or not len(self.codes) or not self.seeds:
            raise BadFile("scores need at least one architecture, one proxy and one seed")
        shape = (len(self.codes), len(self.seeds))
        columns = [*self.values.items(), *self.seconds.items(), (NO_SCORE, self.no_score), (REMARKS, self.remarks)]
        for name, column in columns:
            if column is not None and column.shape != shape:
                raise InvalidOption(f"{name} has a value for each architecture and seed, {shape}, got {column.shape}")
        for name, column in self.values.items():
            if np.isinf(column).any():
                raise BadFile(f"a score is a finite number or missing, got an infinite one of {name}; leave it out")

    def __len__(self) -> int:
        """How many architectures there are."""
        return len(self.codes)

    @property
    def space(self) -> SearchSpace:
        return space(self.about.space)

    @property
    def proxies(self) -> tuple[str, ...]:
        return tuple(self.values)

    def of(self, proxy: str) -> Floats:
        """The scores by a proxy, [architectures, seeds]."""
        if proxy not in self.values:
            raise UnknownName(f"no scores by {shorten(proxy)}; {nearest(proxy, self.values)}")
        return self.values[proxy]

    def mean(self, proxy: str) -> Floats:
        """The mean score of each architecture over the seeds that have one, NaN where none has."""
        scores = self.of(proxy)
        finite = np.isfinite(scores)
        with np.errstate(invalid="ignore", divide="ignore"):
            means: Floats = np.where(finite, scores, 0.0).sum(axis=1) / finite.sum(axis=1)
        return means

    def missing(self) -> dict[str, int]:
        """How many scores each proxy lacks, those that lack none left out."""
        counts = {name: int(np.isnan(column).sum()) for name, column in self.values.items()}
        return {name: count for name, count in counts.items() if count}

    def reasons(self) -> Counter[str]:
        """How often each proxy had no score for each reason, as ``name: reason``."""
        texts = [] if self.no_score is None else [text for text in self.no_score.ravel() if text]
        return Counter(part for text in texts for part in text.split("; "))

    def take(self, rows: NDArray[Any]) -> ScoreTable:
        """The table of a subset of the architectures, by number or mask."""
        return ScoreTable(
            self.about,
            self.codes[rows],
            self.seeds,
            {name: column[rows] for name, column in self.values.items()},
            {name: column[rows] for name, column in self.seconds.items()},
            None if self.no_score is None else self.no_score[rows],
            None if self.remarks is None else self.remarks[rows],
        )

    def to_pandas(self) -> pd.DataFrame:
        """One row an architecture and a seed, with the columns of the file: ``architecture`` as text, ``seed``, a
        column of scores and one of seconds a proxy. Needs pandas (``pip install 'nasbed[pandas]'``)."""
        check_pandas()
        return self._arrow().to_pandas()

    # --- files -------------------------------------------------------------------------------------------------------

    def write(self, path: str | Path) -> None:
        """Write the file; it appears only when it is complete. Rows without any score and any reason are left out."""
        path = Path(path)
        from pyarrow import parquet

        check_suffix(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with complete_file(path) as draft:
            parquet.write_table(self._arrow(), draft, compression="zstd", compression_level=9)

    def _arrow(self) -> pa.Table:
        import pyarrow as pa

        present = np.any([np.isfinite(column) for column in self.values.values()], axis=0)
        if self.no_score is not None:
            present |= self.no_score.astype(bool)
        rows, seeds = np.nonzero(present)
        texts = np.array([self.space.format(arch) for arch in self.space.architectures(self.codes)], dtype=np.object_)
        columns: dict[str, Any] = {
            ARCHITECTURE: pa.array(texts[rows], pa.string()),
            SEED: pa.array(np.array(self.seeds)[seeds], pa.int64()),
        }
        for name, column in self.values.items():
            columns[name] = pa.array(column[rows, seeds], pa.float64(), from_pandas=True)
        for name, column in self.seconds.items():
            seconds = column[rows, seeds].astype(np.float32)
            columns[f"{name}{TIME}"] = pa.array(seconds, pa.float32(), from_pandas=True)
        for title, texts_of_column in ((NO_SCORE, self.no_score), (REMARKS, self.remarks)):
            if texts_of_column is not None:
                columns[title] = pa.array([text or None for text in texts_of_column[rows, seeds]], pa.string())
        return pa.table(columns).replace_schema_metadata({METADATA: json.dumps(asdict(self.about))})

    @classmethod
    def read(cls, path: str | Path) -> ScoreTable:
        """The scores of a file that :meth:`write` made."""
        path = Path(path)
        table = _parquet(path)
        metadata = (table.schema.metadata or {}).get(METADATA)
        if metadata is None:
            raise BadFile(f"{path} is not a file of scores; make one of it with: nasbed proxies import {path.name}")
        try:
            values = json.loads(metadata)
            names = {item.name for item in fields(ScoresInfo)}
            return _from_columns(ScoresInfo(**{key: values[key] for key in names & values.keys()}), table, path)
        except (TypeError, ValueError, AttributeError, UnknownName) as error:
            raise BadFile(f"{path} cannot be read as scores: {str(error).splitlines()[0]}") from None


def open_scores(name: str | Path) -> ScoreTable:
    """The scores of a file, or those that come with the package for a table of this name."""
    return ScoreTable.read(scores_path(name))


def scores_path(name: str | Path) -> Path:
    """The file of scores that a path or the name of an embedded table means."""
    path, embedded = Path(name), embedded_scores()
    if not path.exists() and str(name) in embedded:
        return embedded[str(name)]
    if not path.is_file() and not path.suffix:
        raise BadFile(
            f"scores are a file or, in the package, {', '.join(embedded) or 'none'}; {path} is neither; make some "
            "with: nasbed proxies score"
        )
    return path


def embedded_scores() -> dict[str, Path]:
    """The files of scores that come with the package, by the name of the table whose architectures they score."""
    return {path.stem: path for path in sorted((embedded_home() / "scores").glob("*.parquet"))}


def check_suffix(path: Path) -> None:
    """Raise unless scores can be written to this file."""
    if path.suffix != ".parquet":
        raise InvalidOption(f"scores are kept in a file NAME.parquet, got {path.name}; change its name")
    if path.is_dir():
        raise InvalidOption(f"scores are kept in a file, {path} is a folder; name a file in it")


def table_of_rows(
    about: ScoresInfo,
    codes: Sequence[tuple[int, ...]],
    seeds: Sequence[int],
    values: Mapping[str, Sequence[float]],
    *,
    seconds: Mapping[str, Sequence[float]] | None = None,
    no_score: Iterable[str] | None = None,
    remarks: Iterable[str] | None = None,
) -> ScoreTable:
    """The table of rows, each an architecture and a seed. A repeated row raises.

    Args:
        about: The facts that all scores share.
        codes: The architecture of each row.
        seeds: The seed of each row.
        values: The scores by proxy.
        seconds: The times by proxy.
        no_score: Why scores are missing, one text per row.
        remarks: What scores leave out, one text per row.
    """
    if not codes:
        raise BadFile("scores need at least one architecture, got none")
    row_of = {code: row for row, code in enumerate(dict.fromkeys(codes))}
    column_of = {seed: column for column, seed in enumerate(sorted(set(seeds)))}
    cells = (np.array([row_of[code] for code in codes]), np.array([column_of[seed] for seed in seeds]))
    shape = (len(row_of), len(column_of))
    if len(set(zip(*(indices.tolist() for indices in cells), strict=True))) < len(codes):
        twice, seed = next(pair for pair, count in Counter(zip(codes, seeds, strict=True)).items() if count > 1)
        text = space(about.space).format(space(about.space).architectures(np.array([twice]))[0])
        raise BadFile(f"an architecture is scored once with each seed, {shorten(text)} occurs twice with seed {seed}")

    def numbers(column: Sequence[float]) -> Floats:
        table = np.full(shape, math.nan)
        table[cells] = np.asarray(column, dtype=np.float64)
        return table

    def texts(column: Iterable[str] | None) -> Texts | None:
        if column is None:
            return None
        table = np.full(shape, "", dtype=np.object_)
        table[cells] = np.array(list(column), dtype=np.object_)
        return table

    return ScoreTable(
        about,
        np.array(list(row_of), dtype=np.int64),
        tuple(column_of),
        {name: numbers(column) for name, column in values.items()},
        {name: numbers(column) for name, column in (seconds or {}).items()},
        texts(no_score),
        texts(remarks),
    )


def parsed_codes(texts: Sequence[str], parse: Callable[[str], Architecture], path: Path) -> list[tuple[int, ...]]:
    """The architectures that a column of a file names, each read by a function."""
    codes: dict[str, tuple[int, ...]] = {}
    for row, text in enumerate(texts):
        if text not in codes:
            try:
                codes[text] = parse(text).code
            except (NasbedError, TypeError) as error:
                raise BadFile(f"{path}, row {row + 1}: {error}") from None
    return [codes[text] for text in texts]


def _parquet(path: Path) -> pa.Table:
    import pyarrow as pa
    from pyarrow import parquet

    if not path.is_file():
        raise BadFile(f"{path} is not a file; make one with: nasbed proxies score")
    try:
        return parquet.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise BadFile(f"{path} is not a Parquet file: {str(error).splitlines()[0]}") from None


def _from_columns(about: ScoresInfo, table: pa.Table, path: Path) -> ScoreTable:
    for name in (ARCHITECTURE, SEED):
        if name not in table.column_names or table[name].null_count:
            raise BadFile(f"{path} has rows without {name}")
    columns = [name for name in table.column_names if name not in _OWN]
    proxies = [name for name in columns if not name.endswith(TIME)]
    return table_of_rows(
        about,
        parsed_codes(table[ARCHITECTURE].to_pylist(), space(about.space).parse, path),
        table[SEED].to_pylist(),
        {name: _floats(table[name]) for name in proxies},
        seconds={name: _floats(table[f"{name}{TIME}"]) for name in proxies if f"{name}{TIME}" in columns},
        no_score=_strings(table, NO_SCORE),
        remarks=_strings(table, REMARKS),
    )


def _floats(column: pa.ChunkedArray) -> Any:
    return column.cast("double").to_numpy(zero_copy_only=False)


def _strings(table: pa.Table, name: str) -> list[str] | None:
    return [text or "" for text in table[name].to_pylist()] if name in table.column_names else None
