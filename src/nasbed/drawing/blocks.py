"""The blocks of a page's section. Each block names the template that writes it; none holds markup."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

from nasbed.drawing.number_tables import NumberTable
from nasbed.drawing.palette import LineStyle
from nasbed.evaluation.significance import Interval


class PageBlock(Protocol):
    """A block that a template under ``templates/blocks`` writes."""

    @property
    def template(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph; a ``caption`` is small, a ``note`` has a bar beside it, a ``heading`` stands before other blocks.
    ``lead`` begins it in bold."""

    text: str
    kind: Literal["", "caption", "note", "heading"] = ""
    lead: str = ""
    template: ClassVar[str] = "paragraph"


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell: its text, a smaller line below, a sample of a method's line style before it, or a bar instead of text.
    The bar is an interval, as shares of the widest one in the column."""

    text: str = ""
    kind: Literal["", "number", "wide", "head", "sure", "holds", "fails", "open"] = ""
    small: str = ""
    look: LineStyle | None = None
    bar: Interval | None = None
    bar_colour: str = ""


@dataclass(frozen=True, slots=True)
class TableBlock:
    """A table that scrolls in its own box; rows in ``asides`` are set apart."""

    heads: tuple[TableCell, ...]
    rows: tuple[tuple[TableCell, ...], ...]
    kind: Literal["", "standings", "pairs", "stated", "plain"] = ""
    asides: frozenset[int] = frozenset()
    note: str = ""
    template: ClassVar[str] = "table"


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart of the page by its name. The legend shows and hides a figure with a ``method``; ``alert`` marks the
    title."""

    name: str
    title: str = ""
    caption: str = ""
    label: str = ""
    method: str = ""
    alert: bool = False


@dataclass(frozen=True, slots=True)
class FigureGroup:
    """Figures in rows, or as cards beside each other, as many as fit."""

    figures: tuple[Figure, ...]
    layout: Literal["rows", "cards", "small"] = "rows"
    template: ClassVar[str] = "figures"


@dataclass(frozen=True, slots=True)
class PageLinks:
    """Links to files beside the page, by text."""

    files: Mapping[str, str]
    template: ClassVar[str] = "links"


@dataclass(frozen=True, slots=True)
class PageCard:
    """One entry of a catalogue: a name, a description, a figure, facts."""

    name: str
    text: str
    figure: Figure
    facts: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class PageCards:
    """A catalogue."""

    cards: tuple[PageCard, ...]
    template: ClassVar[str] = "cards"


@dataclass(frozen=True, slots=True)
class Legend:
    """A button per method, which shows or hides it in all figures of the page."""

    looks: Mapping[str, LineStyle]
    template: ClassVar[str] = "legend"


@dataclass(frozen=True, slots=True)
class ColourScale:
    """The meaning of the ends of the sequential colour map."""

    low: str
    high: str
    template: ClassVar[str] = "colour_scale"


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing as SVG text on its own background: its colours do not follow the page's theme."""

    svg: str
    template: ClassVar[str] = "picture"


@dataclass(frozen=True, slots=True)
class Details:
    """Blocks that are folded away."""

    summary: str
    blocks: tuple[PageBlock, ...]
    template: ClassVar[str] = "details"


@dataclass(frozen=True, slots=True)
class SubSection:
    """A part of a section with its own heading."""

    title: str
    text: str
    blocks: tuple[PageBlock, ...]
    template: ClassVar[str] = "subsection"


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Blocks in two columns, the first as wide as possible; one below the other on a narrow page."""

    blocks: tuple[PageBlock, PageBlock]
    template: ClassVar[str] = "beside"


def figure(name: str, caption: str = "") -> FigureGroup:
    """One chart over the whole width."""
    return FigureGroup((Figure(name, caption=caption),))


def paragraphs(texts: Iterable[str]) -> tuple[Paragraph, ...]:
    """One paragraph per text."""
    return tuple(Paragraph(text) for text in texts)


def table_block(table: NumberTable) -> TableBlock:
    """A table of texts, its numbers right-aligned."""

    def cells(texts: Sequence[str]) -> tuple[TableCell, ...]:
        return tuple(TableCell(text, "number" if i >= table.numbers else "") for i, text in enumerate(texts))

    return TableBlock(cells(table.columns), tuple(map(cells, table.rows)), asides=table.asides, note=table.note)
