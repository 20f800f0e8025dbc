"""What answers for NATS-Bench's interface: tables, or files as published."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn, Protocol

from nasbed.compat.nats_bench.arch_results import ArchResults
from nasbed.core.errors import InvalidOption, UnknownName, shorten

SEARCHED = ("cifar10", "cifar100", "ImageNet16-120")
CLASSES = {"cifar10-valid": 10, "cifar10": 10, "cifar100": 100, "ImageNet16-120": 120}


class NatsAnswers(Protocol):
    """The architectures of a source, by index, and what is known of each."""

    @property
    def name(self) -> str:
        """Where the answers come from, in words."""

    def __len__(self) -> int: ...

    def texts(self) -> list[str]:
        """All architecture strings, by index."""

    def text(self, index: int) -> str: ...

    def index_of(self, text: str) -> int:
        """The index of an architecture string; -1 for any other text."""

    def evaluated(self) -> Sequence[int]:
        """The architectures that have results and have been read."""

    def hps(self) -> list[str]:
        """The numbers of epochs of the trainings, as texts."""

    def more_info(
        self, index: int, dataset: str, *, iepoch: int | None, hp: str | int, is_random: bool | int
    ) -> InfoDict: ...

    def simulated(
        self, index: int, dataset: str, *, iepoch: int | None, hp: str | int
    ) -> tuple[float, float | None, float]:
        """Validation accuracy, latency and cost of a search's training."""

    def cost_info(self, index: int, dataset: str, hp: str | int) -> InfoDict: ...

    def meta_info(self, index: int, hp: str | int) -> ArchResults: ...

    def find_best(
        self,
        dataset: str,
        metric_on_set: str,
        *,
        flop_max: float | None,
        param_max: float | None,
        hp: str | int,
        enforce_all: bool | None,
    ) -> tuple[int, float]: ...


class InfoDict(dict[str, Any]):
    """The known values, by the published names. Any other name is a KeyError that lists them."""

    def __init__(self, table: str, values: dict[str, Any]) -> None:
        super().__init__(values)
        self.table = table

    def __missing__(self, key: str) -> NoReturn:
        raise UnknownName(f"the table {self.table} has no {key} here; it has {', '.join(self)}")

    def __reduce__(self) -> tuple[type[InfoDict], tuple[str, dict[str, Any]]]:
        return type(self), (self.table, dict(self))


def trained_on(dataset: str) -> str:
    """The dataset that a search on this one trains on: half of CIFAR-10, validated on the rest."""
    if dataset not in SEARCHED:
        raise InvalidOption(f"a search is on {', '.join(SEARCHED[:-1])} or {SEARCHED[-1]}, got {shorten(dataset)}")
    return "cifar10-valid" if dataset == "cifar10" else dataset


def epochs_of(hp: str | int) -> int:
    """The number of epochs that a setting such as ``"01"`` names."""
    try:
        return int(hp)
    except (TypeError, ValueError):
        raise InvalidOption(f"hp is a number of epochs such as '12', got {shorten(hp)}") from None
