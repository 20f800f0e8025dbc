"""Measured accuracies on unseen datasets, a line of JSON each: appended to, never overwritten."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from nasbed.core.errors import BadFile, shorten
from nasbed.core.execution.journal import SharedJournal, append_line, read_lines
from nasbed.core.home import embedded_home
from nasbed.core.status import Status

FORMAT = 1

Setting = tuple[str, str, tuple[str, int, str, str]]
"""Model, search, training."""


@dataclass(frozen=True, slots=True)
class UnseenResult:
    """One training. Accuracies are in per cent; a diverged one has none. ``dataset`` is the paper's name in lower case
    if it is one of the eight. ``model`` is the id of a column of table 1 or 2 if it is one of those. For a searched
    network, ``search`` has everything that determines the result except the dataset and the ``search_seed``, and
    ``architecture`` is the result. ``seed`` is that of the training. ``preset`` has the name of the preset that the
    settings are from, and what the preset has where they differ.
    """

    dataset: str
    model: str
    epochs: int
    seed: int
    status: str
    test_accuracy: float | None
    validation_accuracy: float | None = None
    validated: Mapping[str, float | None] = field(default_factory=dict)  # by epoch, counted from 1
    train_loss: float | None = None
    train_time_s: float = math.nan
    dataset_hash: str = ""
    images: tuple[int, ...] = ()  # trained on, validated with, tested with
    parameters: int = 0
    recipe: Mapping[str, Any] = field(default_factory=dict)
    device: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""
    search: Mapping[str, Any] = field(default_factory=dict)
    search_seed: int | None = None
    search_time_s: float | None = None
    architecture: str = ""
    preset: Mapping[str, Any] = field(default_factory=dict)

    @property
    def training(self) -> tuple[str, int, str, str]:
        """The common values of networks that are trained alike: dataset, epochs, bytes, recipe."""
        settings = {name: value for name, value in self.recipe.items() if name not in ("name", "source", "epochs")}
        return self.dataset, self.epochs, self.dataset_hash, json.dumps(settings, sort_keys=True)

    @property
    def setting(self) -> Setting:
        """The common values of results that differ only in their seeds."""
        return self.model, json.dumps(self.search, sort_keys=True), self.training

    @property
    def seeds(self) -> tuple[int, int]:
        """The seeds of the search, -1 if there was none, and of the training."""
        return -1 if self.search_seed is None else self.search_seed, self.seed

    @property
    def search_epochs(self) -> int:
        """0 where nothing was searched."""
        return int(self.search.get("epochs", 0))


ResultKey = tuple[tuple[int, int], Setting]
"""The seeds and the setting of a result."""


def append_result(path: Path, result: UnseenResult) -> None:
    """Add a line; it is on the disk when this returns. Several processes may add to one file."""
    append_line(path, _line(result))


def _line(result: UnseenResult) -> dict[str, Any]:
    content = {"format": FORMAT, **asdict(result)}
    if math.isnan(result.train_time_s):
        content["train_time_s"] = None
    content["validated"] = {
        epoch: value if value is not None and math.isfinite(value) else None
        for epoch, value in result.validated.items()
    }
    return content


class ResultsFile(SharedJournal[ResultKey, UnseenResult]):
    """The results of a file, and those that are added to it. Existing results are not measured again; if a key occurs
    twice, the first counts."""

    def __init__(self, path: Path) -> None:
        stored_results = read_results([path]) if path.exists() else []
        super().__init__(path, ((_key(result), result) for result in stored_results), lambda _, result: _line(result))

    def keep(self, key: ResultKey, result: UnseenResult) -> None:
        self._results.setdefault(key, result)

    @property
    def results(self) -> list[UnseenResult]:
        """All results, in the order of their lines."""
        return [result for _, result in self.items()]

    def has(self, planned: UnseenResult) -> bool:
        """Whether the file has a result of this setting with these seeds."""
        return _key(planned) in self

    def add(self, result: UnseenResult) -> None:
        """Write a result down: it is on the disk when this returns."""
        self.record(_key(result), result)


def _key(result: UnseenResult) -> ResultKey:
    return result.seeds, result.setting


def check_results_file(path: Path) -> None:
    """Raise before a training if its result could not be added to the file."""
    if path.exists():
        read_results([path])


def read_results(paths: Iterable[Path]) -> list[UnseenResult]:
    """Every line of these files, in order. A last line that was cut short, as by a kill, is as if never written."""
    results = []
    for path in paths:
        try:
            lines = read_lines(path)
        except OSError as error:
            raise BadFile(f"the results {path} cannot be read: {error.strerror}; check the path") from None
        except UnicodeDecodeError:
            raise BadFile(f"the results {path} are not text in UTF-8; name another file") from None
        results += [_result(line, f"{path}, line {number}") for number, line in enumerate(lines, 1) if line.strip()]
    return results


def shipped_results() -> list[UnseenResult]:
    """The measurements that come with nasbed: every line of every ``.jsonl`` file in ``embedded/results``."""
    return read_results(sorted((embedded_home() / "results").glob("*.jsonl")))


_KINDS: dict[str, tuple[type, ...]] = {
    "dataset": (str,),
    "model": (str,),
    "epochs": (int,),
    "seed": (int,),
    "status": (str,),
    "test_accuracy": (float, int, type(None)),
    "validation_accuracy": (float, int, type(None)),
    "train_time_s": (float, int, type(None)),
    "recipe": (dict,),
    "dataset_hash": (str,),
    "search": (dict,),
    "search_seed": (int, type(None)),
    "search_time_s": (float, int, type(None)),
    "architecture": (str,),
    "preset": (dict,),
}


def _is_curve(content: Any) -> bool:
    """Whether it has epochs, counted from 1, with an accuracy in per cent or without one. One that is not finite, from
    an epoch whose outputs were not, is written as null."""
    return isinstance(content, dict) and all(
        epoch.isdecimal()
        and int(epoch) > 0
        and (value is None or (isinstance(value, float | int) and 0 <= value <= 100))
        for epoch, value in content.items()
    )


def _result(line: str, origin: str) -> UnseenResult:
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        raise BadFile(f"{origin}: a result is an object of JSON, got {shorten(line)}; remove the line") from None
    if not isinstance(content, dict) or content.pop("format", None) != FORMAT:
        raise BadFile(f"{origin}: a result has the format {FORMAT}, got {shorten(line)}; remove the line")
    names = {item.name for item in fields(UnseenResult)}
    wrong = [name for name, kinds in _KINDS.items() if name in content and not isinstance(content[name], kinds)]
    wrong += [name for name in ("dataset", "model", "epochs", "seed", "status", "test_accuracy") if name not in content]
    if not wrong and type(content.get("search", {}).get("epochs", 0)) is not int:
        wrong = ["search"]
    if not wrong and not _is_curve(content.get("validated", {})):
        wrong = ["validated"]
    value = content.get("test_accuracy")
    if not wrong and (content["status"] == Status.OK) != (value is not None and 0 <= value <= 100):
        wrong = ["test_accuracy"]
    if wrong or set(content) - names:
        name = (wrong or sorted(set(content) - names))[0]
        raise BadFile(f"{origin}: the field {name} of a result is {shorten(content.get(name))}; remove the line")
    if content.get("train_time_s") is None:
        content["train_time_s"] = math.nan
    content["images"] = tuple(content.get("images", ()))
    return UnseenResult(**content)
