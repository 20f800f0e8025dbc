"""Architecture cells as pictures: an SVG that stands alone, and PNG and PDF made from it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr
from zlib import crc32

from nasbed.core.errors import InvalidOption, shorten
from nasbed.core.files import complete_file
from nasbed.drawing.geometry import Box, Edge, Point, Size
from nasbed.drawing.layout import DiagramLayout, layout
from nasbed.spaces.graph import Diagram, Node

PALETTE = ("#EE8866", "#99DDFF", "#44BB99", "#77AADD", "#EEDD88", "#FFAABB", "#DDDDDD", "#BBCC33", "#AAAA00")
"""Paul Tol's light scheme: fills for labelled cells, distinct with any colour vision and readable under dark text."""

_SEED = 9_924_120  # found by search: no two operations of one published space fall on the same colour
_INK, _LINE, _TERMINAL, _PAPER = "#111111", "#555555", "#333333", "#FFFFFF"
_FONT = "Arial, Helvetica, 'Liberation Sans', sans-serif"
_FONT_SIZE, _SUM_FONT_SIZE, _TITLE_SIZE, _SUBSCRIPT = 13.0, 12.0, 15.0, 0.72
_PADDING, _BOX_HEIGHT = 11.0, 30.0
_SUM_PADDING, _SUM_HEIGHT, _WIDEST_CIRCLE = 8.0, 24.0, 32.0
_BOX_RADIUS, _BEND_RADIUS = 6.0, 9.0
_MARGIN, _TITLE_SPACE, _BETWEEN, _ROW_WIDTH = 20.0, 32.0, 44.0, 1000.0
_HEAD_LENGTH, _HEAD_HALF_WIDTH = 8.0, 3.6
_PNG_SCALE = 3.0

_WIDTHS = {  # in thousandths of the font size, the same in Arial, Helvetica and Liberation Sans
    character: width
    for width, characters in {
        191: "'", 222: "ijl", 260: "|", 278: " !,./:;I[\\]ft", 333: "()`-r", 334: "{}", 355: '"', 389: "*", 469: "^",
        500: "Jckszvxy", 556: "#$0123456789?L_abdeghnopqu", 584: "+<=>~\u00d7", 611: "FTZ", 667: "&ABEKPSVXY",
        722: "CDHNRUw", 778: "GOQ", 833: "Mm", 889: "%", 944: "W", 1015: "@",
    }.items()
    for character in characters
}  # fmt: skip
_UNFIT_FOR_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SUBSCRIPTED = re.compile(r"_\{([^{}]+)\}")


def cell_svg(diagrams: Sequence[Diagram]) -> str:
    """One picture of all the diagrams, each under its title, as many in a row as fit.

    Operations of the same label have the same colour in every diagram; those of a published space, in every picture.
    In a label ``c_{k-1}`` sets a subscript.
    """
    return _picture(tuple(diagrams))


@dataclass(frozen=True, slots=True)
class PlacedDiagram:
    """A diagram with the places of its nodes, the fill of each operation, and each edge as the SVG paths of its shaft
    and of its head."""

    diagram: Diagram
    plan: DiagramLayout
    colours: Mapping[str, str]

    def arrows(self) -> Iterator[tuple[Edge, str, str]]:
        """Each edge with its two paths."""
        rounded = {node.id for node in self.diagram.nodes if node.kind != "operation"}
        for (source, target), (start, *middle, end) in self.plan.edges.items():
            start = _to_outline(start, self.plan.boxes[source], rounded=source in rounded)
            end = _to_outline(end, self.plan.boxes[target], rounded=target in rounded)
            yield (source, target), *_arrow([start, *middle, end])


def placed_diagrams(diagrams: Sequence[Diagram], operations: Sequence[str] = ()) -> tuple[PlacedDiagram, ...]:
    """The diagrams of one picture, laid out. Operations of the same label have the same colour in all of them.

    ``operations`` are labels that there is to be room for and that have their colours taken, so that a picture keeps
    its places and colours when an operation changes to one of them.
    """
    nodes = [node for diagram in diagrams for node in diagram.nodes]
    sizes = _sizes([*nodes, *(Node("", label) for label in operations)])
    colours = _colours([*(node.label for node in nodes if node.kind == "operation"), *operations])
    return tuple(
        PlacedDiagram(diagram, _layout(_unlabelled(diagram), tuple(sizes[node] for node in diagram.nodes)), colours)
        for diagram in diagrams
    )


def _unlabelled(diagram: Diagram) -> Diagram:
    """All of a diagram that decides its layout, beside the sizes of its nodes."""
    return Diagram("", tuple(Node(node.id, "", node.kind, node.at) for node in diagram.nodes), diagram.edges)


@lru_cache(maxsize=512)
def _layout(diagram: Diagram, sizes: tuple[Size, ...]) -> DiagramLayout:
    """Many cells differ in their operations alone: those are laid out once."""
    return layout(diagram, {node.id: size for node, size in zip(diagram.nodes, sizes, strict=True)})


@lru_cache(maxsize=16)
def _picture(diagrams: tuple[Diagram, ...]) -> str:
    """A report saves the same picture in several formats and shows it: it is laid out once."""
    body, x, y, row_height, width = [], _MARGIN, _MARGIN, 0.0, 2 * _MARGIN
    for placed in placed_diagrams(diagrams):
        diagram, plan = placed.diagram, placed.plan
        head = _TITLE_SPACE if diagram.title else 0.0
        needed = max(plan.width, _text_width(diagram.title, _TITLE_SIZE) * 1.08)  # bold is wider
        if x > _MARGIN and x + needed > _ROW_WIDTH:
            x, y, row_height = _MARGIN, y + row_height + _BETWEEN, 0.0
        body.append(_drawing(placed, origin=(x, y), head=head))
        width = max(width, x + needed + _MARGIN)
        x += needed + _BETWEEN
        row_height = max(row_height, plan.height + head)
    across, down = _number(width), _number(y + row_height + _MARGIN)
    name = quoteattr(_clean("; ".join(diagram.title for diagram in diagrams)))
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{across}" height="{down}" viewBox="0 0 {across} {down}" '
        f'role="img" aria-label={name} font-family="{_FONT}">'
    )
    return "\n".join([opening, f'<rect width="{across}" height="{down}" fill="{_PAPER}"/>', *body, "</svg>\n"])


def save_cells(diagrams: Sequence[Diagram], path: str | Path) -> None:
    """Write the picture as SVG, PNG or PDF by the file's suffix. The file appears only when it is complete."""
    path = Path(path)
    suffix, file = path.suffix.lower(), shorten(str(path))
    if suffix not in (".svg", ".png", ".pdf"):
        raise InvalidOption(f"a picture's file ends in .svg, .png or .pdf, got {file}; change the suffix")
    if not path.parent.is_dir():
        raise InvalidOption(f"a picture goes into an existing folder, got {file}; create its folder first")
    svg = cell_svg(diagrams)
    data = svg.encode()
    if suffix != ".svg":
        import vl_convert

        data = vl_convert.svg_to_png(svg, scale=_PNG_SCALE) if suffix == ".png" else vl_convert.svg_to_pdf(svg)
    try:
        with complete_file(path) as draft:
            draft.write_bytes(data)
    except OSError as error:
        raise InvalidOption(f"a picture needs a file to write to, {file}: {error.strerror}; name another") from None


def _sizes(nodes: Sequence[Node]) -> dict[Node, Size]:
    """Operations share one width, so that columns line up. A sum is a circle until its label needs more."""
    widths = {node: _text_width(node.label, _FONT_SIZE) + 2 * _PADDING for node in nodes}
    common = max((widths[node] for node in nodes if node.kind == "operation"), default=0.0)
    sizes: dict[Node, Size] = {}
    for node in nodes:
        if node.kind == "sum":
            width = max(_SUM_HEIGHT, _text_width(node.label, _SUM_FONT_SIZE) + _SUM_PADDING)
            sizes[node] = (width, width if width <= _WIDEST_CIRCLE else _SUM_HEIGHT)
        else:
            width = common if node.kind == "operation" else max(widths[node], 1.5 * _BOX_HEIGHT)
            sizes[node] = (width, _BOX_HEIGHT)
    return sizes


def _colours(labels: Iterable[str]) -> dict[str, str]:
    """The fill that a label's checksum names, or the next free one, so that it depends little on the other labels."""
    colours: dict[str, str] = {}
    for rank, label in enumerate(sorted(set(labels))):
        used = list(colours.values())[rank - rank % len(PALETTE) :]
        first = crc32(label.encode(errors="replace"), _SEED)
        turns = (PALETTE[(first + step) % len(PALETTE)] for step in range(len(PALETTE)))
        colours[label] = next(colour for colour in turns if colour not in used)
    return colours


def _drawing(placed: PlacedDiagram, *, origin: Point, head: float) -> str:
    diagram = placed.diagram
    parts = [f'<g transform="translate({_number(origin[0])} {_number(origin[1])})">']
    if diagram.title:
        style = f'font-size="{_TITLE_SIZE:g}" font-weight="bold" fill="{_INK}"'
        parts.append(f'<text y="{_TITLE_SIZE:g}" {style}>{escape(_clean(diagram.title))}</text>')
    parts.append(f'<g transform="translate(0 {_number(head)})">')
    for (source, target), shaft, tip in placed.arrows():
        ends = f"data-from={quoteattr(_clean(source))} data-to={quoteattr(_clean(target))}"
        parts.append(f'<path {ends} d="{shaft}" fill="none" stroke="{_LINE}" stroke-width="1.5"/>')
        parts.append(f'<path d="{tip}" fill="{_LINE}"/>')
    parts += [_node(node, placed.plan.boxes[node.id], placed.colours) for node in diagram.nodes]
    return "\n".join([*parts, "</g>", "</g>"])


def _node(node: Node, box: Box, colours: Mapping[str, str]) -> str:
    fill, line, ink, size, radius = {
        "operation": (colours.get(node.label, _PAPER), _LINE, _INK, _FONT_SIZE, _BOX_RADIUS),
        "sum": (_PAPER, _LINE, _INK, _SUM_FONT_SIZE, box.height / 2),
        "input": (_TERMINAL, _TERMINAL, _PAPER, _FONT_SIZE, box.height / 2),
        "output": (_TERMINAL, _TERMINAL, _PAPER, _FONT_SIZE, box.height / 2),
    }[node.kind]
    x, y, width, height = map(_number, (box.left, box.top, box.width, box.height))
    shape = f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="{radius:g}" fill="{fill}" stroke="{line}"/>'
    text = ""
    if node.label.strip():
        place = f'x="{_number(box.x)}" y="{_number(box.y + 0.35 * size)}"'
        label = _marked_up(node.label, size)
        text = f'<text {place} font-size="{size:g}" text-anchor="middle" fill="{ink}">{label}</text>'
    return f"<g data-node={quoteattr(_clean(node.id))}>{shape}{text}</g>"


def _to_outline(end: Point, box: Box, *, rounded: bool) -> Point:
    """The end of an edge on a box, moved in to where the box's rounded end begins at that height."""
    x, y = end
    if not rounded or box.left < x < box.right:
        return end
    radius = box.height / 2
    inset = radius - (radius**2 - (y - box.y) ** 2) ** 0.5
    return (x + inset if x <= box.left else x - inset, y)


def _arrow(points: Sequence[Point]) -> tuple[str, str]:
    """The shaft and the head of an arrow along a layout's polyline, as two SVG paths."""
    tip_x, tip_y = points[-1]
    right, down = (1, 0) if points[-2][1] == tip_y else (0, 1)
    base = (tip_x - right * _HEAD_LENGTH, tip_y - down * _HEAD_LENGTH)
    wings = [(base[0] + down * side, base[1] + right * side) for side in (-_HEAD_HALF_WIDTH, _HEAD_HALF_WIDTH)]
    line = [*points[:-1], (base[0] + right, base[1] + down)]  # a little into the head, so that no gap shows
    path = f"M{_pair(line[0])}"
    for index, (start, end) in enumerate(pairwise(line)):
        following = line[index + 2] if index + 2 < len(line) else end
        corner = start[0] == end[0] != following[0] and end[1] == following[1]
        corner = corner or (start[1] == end[1] != following[1] and end[0] == following[0])
        if start[0] != end[0] and start[1] != end[1]:
            middle = (start[0] + end[0]) / 2
            path += f"C{_pair((middle, start[1]))} {_pair((middle, end[1]))} {_pair(end)}"
        elif corner:
            path += f"L{_pair(_towards(end, start))}Q{_pair(end)} {_pair(_towards(end, following))}"
        else:
            path += f"L{_pair(end)}"
    return path, f"M{_pair(points[-1])}L{_pair(wings[0])}L{_pair(wings[1])}Z"


def _towards(corner: Point, target: Point) -> Point:
    """Where the rounding of a corner begins on the way to another point: never past the middle."""
    distance = abs(target[0] - corner[0]) + abs(target[1] - corner[1])
    share = min(_BEND_RADIUS, distance / 2) / distance
    return corner[0] + (target[0] - corner[0]) * share, corner[1] + (target[1] - corner[1]) * share


def _clean(text: str) -> str:
    return " ".join(_UNFIT_FOR_XML.sub("\ufffd", text).split())


def _marked_up(label: str, size: float) -> str:
    subscript = rf'<tspan dy="{_number(0.25 * size)}" font-size="{_number(_SUBSCRIPT * size)}">\1</tspan>'
    return _SUBSCRIPTED.sub(subscript, escape(_clean(label)))


def _text_width(label: str, size: float) -> float:
    text = _clean(label)
    below = "".join(_SUBSCRIPTED.findall(text))
    return (_units(_SUBSCRIPTED.sub("", text)) + _units(below) * _SUBSCRIPT) * size / 1000


def _units(text: str) -> float:
    return sum(_WIDTHS.get(c, 1000 if unicodedata.east_asian_width(c) in "WF" else 667) for c in text)


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _pair(point: Point) -> str:
    return f"{_number(point[0])},{_number(point[1])}"
