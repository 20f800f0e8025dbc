"""NAS-Bench-Suite-Zero's published scores as they are: ``zc_SPACE.json`` of NASLib, and files laid out alike.

The published files read ``{dataset: {key: {"id": …, proxy: {"score": …, "time": …}, …, "val_accuracy": …}}}``, where a
key is the text of a tuple in NASLib's own numbering (:mod:`nasbed.results.importers.suite_zero` says which). Also read
are a level with the space's name around the datasets or instead of them, no such level at all, architectures as their
space writes them, numbers in the place of ``{"score": …}``, and entries that name their architecture in a field
``arch`` under an index. Nothing is guessed: whatever is left out is reported, and what contradicts itself is refused.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nasbed.core.architecture import Architecture
from nasbed.core.errors import BadFile, InvalidOption, NasbedError, shorten
from nasbed.proxies import PROXIES
from nasbed.results.importers.strict_json import Reader, number, read_bytes
from nasbed.results.importers.suite_zero import ENCODINGS, LARGEST_FILE, architecture_of
from nasbed.spaces import space

OnNote = Callable[[str], None]
_LEVEL = re.compile(r"[A-Za-z][\w.-]*")
"""A name of a space or a dataset, such as ``ImageNet16-120``; no architecture reads so."""
_TUPLE = re.compile(r"[(\[].*")
_INDEX = re.compile(r"[0-9]+")
_INDICES = ("id", "idx")
_ARCHITECTURE = "arch"
_SPACES = {alias: name for name, (stem, _) in ENCODINGS.items() for alias in (name, stem, f"zc_{stem}")}
"""Our names of the spaces, by ours and by NASLib's."""


@dataclass
class SuiteZeroScores:
    """The scores of one dataset: of each architecture, by the names of the proxies, and the seconds that they took."""

    space: str
    dataset: str
    codes: list[tuple[int, ...]] = field(default_factory=list)
    scores: list[dict[str, float]] = field(default_factory=list)
    seconds: list[dict[str, float]] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    """What was not read, in words, and how often it occurred."""


def read_suite_zero(
    path: Path, *, searched: str, dataset: str, proxies: Sequence[str], on_note: OnNote
) -> SuiteZeroScores:
    """The scores of a file; what was left out is reported in notes.

    Args:
        path: The file.
        searched: The space; empty where the file's name or its outermost level says it.
        dataset: The dataset; empty where the file has one only.
        proxies: Proxies whose scores may be plain numbers although nasbed does not know them.
        on_note: Called with each note, one line.
    """
    by_name = _SPACES.get(path.stem, "")
    result: SuiteZeroScores | None = None
    others: dict[str, None] = {}
    seen: set[tuple[int, ...]] = set()
    for levels, key, entry in _entries(read_bytes(path, path.name, LARGEST_FILE), path.name):
        of_space, of_dataset = _meaning(levels, path)
        if (searched and of_space not in ("", searched)) or (dataset and of_dataset not in ("", dataset)):
            others[" ".join(levels)] = None
            continue
        if result is None:
            result = SuiteZeroScores(_known(searched or of_space or by_name, path), dataset or of_dataset)
        for option, mine, other in (("space", result.space, of_space), ("dataset", result.dataset, of_dataset)):
            if other not in ("", mine):
                raise InvalidOption(f"{path.name} has scores of {mine or 'no'} and {other}; choose one with --{option}")
        code = _architecture(key, entry, result, path).code
        if code in seen:
            result.left_out["an architecture that occurred before"] += 1
            continue
        seen.add(code)
        _add(result, code, entry, proxies, f"{path.name}, {of_dataset} {key}")
    if result is None:
        _known(searched or by_name, path)
        if not others:
            raise BadFile(f"{path.name} has no architectures; get the file again")
        requested = " ".join(name for name in (searched, dataset) if name)
        raise InvalidOption(f"{path.name} has {', '.join(others)}, got {shorten(requested)}; choose what it has")
    if others:
        on_note(f"left out: {', '.join(others)}")
    for what, times in result.left_out.items():
        on_note(f"left out, {times} times: {what}")
    return result


def _known(searched: str, path: Path) -> str:
    if searched not in ENCODINGS:
        raise InvalidOption(
            f"the keys of {', '.join(ENCODINGS)} are known here, got {shorten(searched or path.name)}; name the space "
            "with --space"
        )
    return searched


def _entries(data: bytes, source: str) -> Iterator[tuple[tuple[str, ...], str, Any]]:
    """Levels, key and value of each architecture; only one is held at a time."""
    reader = Reader(data, source)

    def walk(levels: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str, Any]]:
        for key in reader.members():
            if not _LEVEL.fullmatch(key):
                yield levels, key, reader.value()
            elif len(levels) == 2:
                raise BadFile(
                    f"{source}: architectures stand below the names of one space and of one dataset, got "
                    f"{shorten(key)} below {' and '.join(map(shorten, levels))}"
                )
            else:
                yield from walk((*levels, key))

    yield from walk(())
    reader.end()


def _meaning(levels: tuple[str, ...], path: Path) -> tuple[str, str]:
    """The space and the dataset that the names around an architecture mean, empty where none says so."""
    spaces = [_SPACES[level.lower()] for level in levels if level.lower() in _SPACES]
    datasets = [level for level in levels if level.lower() not in _SPACES]
    if len(spaces) > 1 or len(datasets) > 1:
        raise BadFile(
            f"{path.name}: architectures stand below the names of one space and of one dataset, got "
            f"{' and '.join(map(shorten, levels))}"
        )
    return spaces[0] if spaces else "", datasets[0] if datasets else ""


def _architecture(key: str, entry: Any, result: SuiteZeroScores, path: Path) -> Architecture:
    """What the key names. An index names nothing, so that the field ``arch`` has to."""
    stated = entry.get(_ARCHITECTURE) if isinstance(entry, dict) else None
    source = f"{path.name}, {shorten(key)}"
    is_index = _INDEX.fullmatch(key) is not None
    if is_index and stated is None:
        raise BadFile(f"{source}: an index names no architecture; give each entry a field {_ARCHITECTURE}")
    try:
        arch = named_architecture(stated if is_index else key, result.space)
    except NasbedError as error:
        raise BadFile(f"{source}: {error}") from None
    if stated is not None and not is_index:
        try:
            contradicts = named_architecture(stated, result.space) != arch
        except NasbedError:
            result.left_out[f"the field {_ARCHITECTURE!r}, not readable as an architecture"] += 1
        else:
            if contradicts:
                raise BadFile(f"{source}: its field {_ARCHITECTURE} is another architecture, {shorten(stated)}")
    return arch


def named_architecture(text: Any, searched: str) -> Architecture:
    """The architecture that a tuple in NASLib's numbering means, or a text as the space writes it.

    >>> space("nb201").format(named_architecture("(4, 0, 3, 1, 4, 3)", "nb201"))
    '|avg_pool_3x3~0|+|skip_connect~0|none~1|+|nor_conv_1x1~0|avg_pool_3x3~1|nor_conv_1x1~2|'
    """
    text = str(text) if isinstance(text, list | tuple) else text
    if isinstance(text, str) and _TUPLE.fullmatch(text.strip()) and searched in ENCODINGS:
        return architecture_of(text.strip(), searched, "a tuple in NASLib's numbering")
    return space(searched).parse(text)


def _add(result: SuiteZeroScores, code: tuple[int, ...], entry: Any, proxies: Sequence[str], source: str) -> None:
    if not isinstance(entry, dict):
        raise BadFile(f"{source}: an architecture has proxies with score and time, got {shorten(entry)}")
    scores: dict[str, float] = {}
    seconds: dict[str, float] = {}
    for name, value in entry.items():
        if name == _ARCHITECTURE or name in _INDICES:
            continue
        if isinstance(value, dict) and "score" in value and name.isidentifier():
            scores[name] = number(value["score"], f"the score of {name}", source)
            if "time" in value:
                seconds[name] = number(value["time"], f"the time of {name}", source)
        elif (name in PROXIES or name in proxies) and (value is None or isinstance(value, int | float)):
            scores[name] = number(value, f"the score of {name}", source)
        else:
            result.left_out[f"the field {shorten(name)}, not a proxy's score"] += 1
    result.codes.append(code)
    result.scores.append({name: score if math.isfinite(score) else math.nan for name, score in scores.items()})
    result.seconds.append(seconds)
