"""Published scores: NAS-Bench-Suite-Zero's JSON, or any table with a column for each proxy."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nasbed.core.errors import BadFile, InvalidOption, nearest, shorten
from nasbed.proxies import PROXIES
from nasbed.proxies.score_files.suite_zero import OnNote, named_architecture, read_suite_zero
from nasbed.proxies.table import SEED, TIME, ScoresInfo, ScoreTable, parsed_codes, table_of_rows

if TYPE_CHECKING:
    import pyarrow as pa

_LOG = logging.getLogger(__name__)
ARCHITECTURE_COLUMNS = ("architecture", "arch_str", "arch")
_NO_SCORE = -1e8
SUITE_ZERO = "NAS-Bench-Suite-Zero (Krishnakumar et al., 2022)"


def published_scores(
    path: str | Path,
    *,
    searched: str = "",
    dataset: str = "",
    column: str = "",
    proxies: Sequence[str] = (),
    negated: Iterable[str] = (),
    source: str = "",
    on_note: OnNote = _LOG.warning,
) -> ScoreTable:
    """The scores of a published file. Higher has to predict better, so ``negated`` proxies change their sign.

    ``zc_SPACE.json`` of NAS-Bench-Suite-Zero names its space and its datasets. A ``.csv`` or ``.parquet`` file has a
    row for each architecture and a column for each proxy; it may have a column ``seed``. Architectures are as their
    space writes them, or tuples in NASLib's numbering.

    Args:
        path: The file.
        searched: The space; required for a table.
        dataset: The dataset, of a file with several.
        column: The column of the architectures.
        proxies: The proxies to read; all that are registered here by default.
        negated: The proxies whose sign changes.
        source: Who published the scores; the file's name by default.
        on_note: Called with a line for each thing that was left out; without it, the line is logged.
    """
    path = Path(path)
    if not path.is_file():
        raise BadFile(f"{path} is not a file of published scores; check the path")
    if path.suffix == ".json":
        table = _suite_zero(path, searched, dataset, proxies, on_note)
    elif path.suffix in (".csv", ".parquet"):
        table = _columns(path, searched, dataset, column, proxies, source, on_note)
    else:
        raise InvalidOption(f"published scores are a .json, .csv or .parquet file, got {path.name}; convert it first")
    marked = sum(int((scores == _NO_SCORE).sum()) for scores in table.values.values())
    if marked:
        on_note(f"kept as they are: {marked} scores of -1e8, NASLib's mark for a network without a score")
    negative = set(negated)
    for name in negative - set(table.proxies):
        raise InvalidOption(f"a negated proxy is in the table, got {shorten(name)}; {nearest(name, table.proxies)}")
    values = {name: -scores if name in negative else scores for name, scores in table.values.items()}
    return ScoreTable(table.about, table.codes, table.seeds, values, table.seconds)


def _suite_zero(path: Path, searched: str, dataset: str, proxies: Sequence[str], on_note: OnNote) -> ScoreTable:
    read = read_suite_zero(path, searched=searched, dataset=dataset, proxies=proxies, on_note=on_note)
    available = sorted({name for scores in read.scores for name in scores})
    names = _select_columns(proxies, available, path) if proxies else available
    timed = {name for seconds in read.seconds for name in seconds}
    return table_of_rows(
        ScoresInfo(read.space, read.dataset, source=SUITE_ZERO),
        read.codes,
        [0] * len(read.codes),
        {name: [scores.get(name, math.nan) for scores in read.scores] for name in names},
        seconds={name: [each.get(name, math.nan) for each in read.seconds] for name in names if name in timed},
    )


def _columns(
    path: Path, searched: str, dataset: str, column: str, proxies: Sequence[str], source: str, on_note: OnNote
) -> ScoreTable:
    """
    Args:
        path, dataset, column, proxies, source, on_note: As of :func:`published_scores`.
        searched: The name of the space.
    """
    if not searched:
        raise InvalidOption(f"a table of scores does not say its space; name it with --space, for {path.name}")
    table = _read(path)
    names = table.column_names
    column = column or next((name for name in ARCHITECTURE_COLUMNS if name in names), "")
    if column not in names:
        raise InvalidOption(
            f"{path.name} has the columns {', '.join(names)}; name that of the architectures with --architecture"
        )
    numeric = [name for name in names if name != column and _is_number(table[name])]
    columns = _select_columns(proxies, numeric, path) if proxies else [name for name in numeric if name in PROXIES]
    if not columns:
        raise InvalidOption(
            f"{path.name} has no column of a proxy known here, its numbers are {', '.join(numeric) or 'none'}; name "
            "the columns with --proxies"
        )
    unread = [name for name in names if name not in (column, SEED, *columns) and not name.endswith(TIME)]
    if unread:
        on_note(f"left out: the columns {', '.join(unread)}; import one with --proxies")
    texts = table[column].to_pylist()
    seeds = table[SEED].to_pylist() if SEED in numeric else [0] * len(texts)
    if any(text is None for text in texts) or any(type(seed) is not int for seed in seeds):
        raise BadFile(f"every row of {path.name} has an architecture, and a whole number for a seed; fix the file")
    return table_of_rows(
        ScoresInfo(searched, dataset, source=source or path.name),
        parsed_codes([str(text) for text in texts], lambda text: named_architecture(text, searched), path),
        seeds,
        {name: _numbers(table[name], finite=True) for name in columns},
        seconds={name: _numbers(table[f"{name}{TIME}"]) for name in columns if f"{name}{TIME}" in numeric},
    )


def _read(path: Path) -> pa.Table:
    import pyarrow as pa
    from pyarrow import csv, parquet

    try:
        return csv.read_csv(path) if path.suffix == ".csv" else parquet.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise BadFile(f"{path} cannot be read as a table: {str(error).splitlines()[0]}") from None


def _select_columns(proxies: Sequence[str], available: Sequence[str], path: Path) -> list[str]:
    for name in proxies:
        if name not in available:
            raise InvalidOption(f"{path.name} has no scores called {shorten(name)}; {nearest(name, available)}")
    return list(proxies)


def _is_number(column: pa.ChunkedArray) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_floating(column.type) or pa.types.is_integer(column.type))


def _numbers(column: pa.ChunkedArray, *, finite: bool = False) -> Any:
    """A column as floats, missing ones NaN; infinite ones too where only finite ones count."""
    numbers = column.cast("double").to_numpy(zero_copy_only=False)
    return np.where(np.isfinite(numbers), numbers, np.nan) if finite else numbers
