"""What a section of a page is made of. Each block names the template that writes it; none holds markup."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

from nasbed.drawing.number_tables import NumberTable
from nasbed.drawing.palette import Look


class PageBlock(Protocol):
    """Anything that a template under ``templates/blocks`` writes."""

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
class Bar:
    """An interval and its middle, as shares of the widest one in the column."""

    low: float
    middle: float
    high: float
    colour: str


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell: its text, a smaller line below, a piece of a method's line before it, or a bar in place of text."""

    text: str = ""
    kind: Literal["", "number", "wide", "head", "sure", "holds", "fails", "open"] = ""
    small: str = ""
    look: Look | None = None
    bar: Bar | None = None


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
    """A chart of the page by its name. The legend shows and hides that of a ``method``; ``alert`` marks the title."""

    name: str
    title: str = ""
    caption: str = ""
    label: str = ""
    method: str = ""
    alert: bool = False


@dataclass(frozen=True, slots=True)
class FigureGroup:
    """Figures below each other, or as cards beside each other, as many as fit."""

    figures: tuple[Figure, ...]
    layout: Literal["rows", "cards", "small"] = "rows"
    template: ClassVar[str] = "figures"


@dataclass(frozen=True, slots=True)
class PageCard:
    """One entry of a catalogue: a name, what it is, a figure, facts."""

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
    """A button a method, which shows or hides it in all figures of the page."""

    looks: Mapping[str, Look]
    template: ClassVar[str] = "legend"


@dataclass(frozen=True, slots=True)
class ColourScale:
    """What the ends of the sequential colour map mean."""

    low: str
    high: str
    template: ClassVar[str] = "colour_scale"


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing as SVG text, on paper of its own: its colours do not follow the page."""

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
    """A part of a section under a heading of its own."""

    title: str
    text: str
    blocks: tuple[PageBlock, ...]
    template: ClassVar[str] = "subsection"


@dataclass(frozen=True, slots=True)
class Beside:
    """Blocks in two columns, the first as wide as there is room; below each other on a narrow page."""

    blocks: tuple[PageBlock, PageBlock]
    template: ClassVar[str] = "beside"


def figure(name: str, caption: str = "") -> FigureGroup:
    """One chart over the whole width."""
    return FigureGroup((Figure(name, caption=caption),))


def paragraphs(texts: Iterable[str]) -> tuple[Paragraph, ...]:
    """A paragraph each."""
    return tuple(Paragraph(text) for text in texts)


def table_block(table: NumberTable) -> TableBlock:
    """A table of texts, its numbers to the right."""

    def cells(texts: Sequence[str]) -> tuple[TableCell, ...]:
        return tuple(TableCell(text, "number" if i >= table.numbers else "") for i, text in enumerate(texts))

    return TableBlock(cells(table.columns), tuple(map(cells, table.rows)), asides=table.asides, note=table.note)
