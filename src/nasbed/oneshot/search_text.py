"""Searches in words: an epoch, what changed since the one before, the cells of an architecture."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING

from nasbed.core.architecture import Architecture
from nasbed.oneshot.pruning.settings import BonsaiSettings
from nasbed.oneshot.trajectory import SearchEpoch, SearchResult
from nasbed.spaces import space as named_space
from nasbed.spaces.bonsai import cell_text
from nasbed.spaces.bonsai.genotype import BonsaiGenotype

if TYPE_CHECKING:
    from nasbed.oneshot.spaces.base import SearchedSpace

Edges = dict[tuple[int, int], str]
"""The operation on each edge (source, target) that an architecture has."""
MOST_CHANGES = 4
"""The number of changes of a cell that are printed; the others are counted."""


class SearchWording(ABC):
    """How the searches of a method are described."""

    @abstractmethod
    def progress(self, epoch: SearchEpoch) -> str:
        """The numbers of an epoch, for a bar."""

    @abstractmethod
    def new_architecture(self, epoch: SearchEpoch, before: Architecture | None) -> str:
        """The architecture of an epoch and how it differs from the one before, on one line."""

    @abstractmethod
    def summary(self, searched: SearchResult) -> dict[str, object]:
        """What is known of the architecture that a search ended with, by title."""

    @abstractmethod
    def cell_lines(self, arch: Architecture) -> list[str]:
        """The cells of an architecture, a line for each node with what comes in."""


class SupernetWording(SearchWording):
    """Searches with a supernet of a space."""

    def __init__(self, space: SearchedSpace) -> None:
        self.space = space

    def progress(self, epoch: SearchEpoch) -> str:
        eigenvalue = "" if epoch.eigenvalue is None else f"  eigenvalue {epoch.eigenvalue:.3g}"
        skips = skips_text(epoch.skips)
        return f"{_accuracy_text(epoch)}loss {epoch.train_loss:.3f}  skips {skips}{eigenvalue}"

    def new_architecture(self, epoch: SearchEpoch, before: Architecture | None) -> str:
        text = named_space(self.space.name).format(epoch.architecture)
        return text if before is None else f"{text} ({changes(before, epoch.architecture, self.space)})"

    def summary(self, searched: SearchResult) -> dict[str, object]:
        assert searched.architecture is not None
        end = next(epoch for epoch in reversed(searched.epochs) if epoch.architecture == searched.architecture)
        return {
            "supernet accuracy": f"{end.validation_accuracy:.2f} %, not that of the architecture",
            "skip connections": skips_text(end.skips),
            "architecture": named_space(self.space.name).format(searched.architecture),
        }

    def cell_lines(self, arch: Architecture) -> list[str]:
        return cell_lines(arch, self.space)


class BonsaiWording(SearchWording):
    """Searches by Bonsai-Net."""

    def __init__(self, settings: BonsaiSettings) -> None:
        self.target, self.all = settings.target, BonsaiGenotype.full(settings.frame()).kept

    def progress(self, epoch: SearchEpoch) -> str:
        losses = f"loss {epoch.train_loss:.3f}  compression {epoch.figures['compression_loss']:.3f}"
        return f"{_accuracy_text(epoch)}{losses}  {self._kept_text(epoch)}"

    def new_architecture(self, epoch: SearchEpoch, before: Architecture | None) -> str:
        text = f"keeps {self._kept_text(epoch)}, {_grouped(epoch.figures['network_parameters'])} parameters"
        if before is None:
            return text
        old, new = BonsaiGenotype.of(before), BonsaiGenotype.of(epoch.architecture)
        return f"{text} ({cell_text.changes(old, new)})"

    def summary(self, searched: SearchResult) -> dict[str, object]:
        assert searched.architecture is not None
        end = searched.epochs[-1]
        removed = self.all - int(end.figures["present"])
        size = BonsaiGenotype.of(searched.architecture).size
        fields: dict[str, object] = {
            "operations": f"{end.figures['operations']} kept of {self.all}, {removed} removed for good",
            "size": f"{size:.2f} of all, target {self.target:g}",
            "parameters": end.figures["network_parameters"],
        }
        if end.validation_accuracy is not None:
            fields["search accuracy"] = f"{end.validation_accuracy:.2f} %, by the weights of the search"
        return fields

    def cell_lines(self, arch: Architecture) -> list[str]:
        return cell_text.cell_lines(BonsaiGenotype.of(arch))

    def _kept_text(self, epoch: SearchEpoch) -> str:
        return f"{epoch.figures['operations']} of {self.all} operations"


def edges_by_kind(arch: Architecture, space: SearchedSpace) -> dict[str, Edges]:
    """The edges of each kind of cell."""
    cells = space.cells(with_none=False)
    return {
        kind: {edge: cells.operations[op] for edge, op in zip(cells.edges, row, strict=True) if op is not None}
        for kind, row in zip(cells.kinds, space.selected(arch, cells), strict=True)
    }


def cell_lines(arch: Architecture, space: SearchedSpace) -> list[str]:
    """A line for each kind of cell and node of it with what comes in, from where: ``2 = skip_connect(0) + …``."""
    lines = []
    for kind, edges in edges_by_kind(arch, space).items():
        targets = sorted({target for _, target in space.cells(with_none=False).edges})
        for target in targets:
            terms = [f"{name}({source})" for (source, into), name in edges.items() if into == target]
            title = kind if target == targets[0] else ""
            lines.append(f"{title:<7} {target} = {' + '.join(terms) or 'nothing'}")
    return lines


def changes(before: Architecture, after: Architecture, space: SearchedSpace) -> str:
    """What is different, edge by edge, on one line; empty where nothing is."""
    old, new = edges_by_kind(before, space), edges_by_kind(after, space)
    texts = []
    for kind, edges in new.items():
        parts = []
        for edge in space.cells(with_none=False).edges:
            was, is_ = old[kind].get(edge), edges.get(edge)
            if was != is_:
                change = f"{was} ⇒ {is_}" if was and is_ else f"+{is_}" if is_ else f"−{was}"
                parts.append(f"{edge[0]}→{edge[1]} {change}")
        if parts:
            more = f" and {len(parts) - MOST_CHANGES} more" if len(parts) > MOST_CHANGES else ""
            texts.append(f"{kind}: {', '.join(parts[:MOST_CHANGES])}{more}")
    return "; ".join(texts)


def skips_text(skips: Mapping[str, int]) -> str:
    """Numbers of skip connections on one line.

    >>> skips_text({"normal": 2, "reduce": 0}), skips_text({"cell": 1})
    ('normal 2, reduce 0', '1')
    """
    return ", ".join(f"{kind} {count}" if len(skips) > 1 else str(count) for kind, count in skips.items())


def _accuracy_text(epoch: SearchEpoch) -> str:
    return "" if epoch.validation_accuracy is None else f"accuracy {epoch.validation_accuracy:.1f} %  "


def _grouped(number: float) -> str:
    return f"{int(number):_}".replace("_", " ")
