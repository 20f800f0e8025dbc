"""Pictures of cells: sound XML with every label, arrows that touch only their own nodes, files whole or absent."""

from __future__ import annotations

import random
import re
import struct
import xml.etree.ElementTree as ElementTree
from collections import Counter
from functools import cache
from itertools import combinations, pairwise
from pathlib import Path

import pytest

from nasbed.core.errors import InvalidOption
from nasbed.drawing import cell_svg, save_cells
from nasbed.drawing.cells import PALETTE
from nasbed.spaces.graph import Diagram, Node

SVG = "{http://www.w3.org/2000/svg}"
VOCABULARIES = {
    "nb101": ["conv3x3", "conv1x1", "maxpool3x3"],
    "nb201": ["skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3"],
    "darts": [
        *("max_pool_3x3", "avg_pool_3x3", "skip_connect"),
        *("sep_conv_3x3", "sep_conv_5x5", "dil_conv_3x3", "dil_conv_5x5"),
    ],
    "transnas": ["normal", "double_channels", "halve_resolution", "double_and_halve"],
    "fbnet": ["k3_e1", "k3_e1_g2", "k3_e3", "k3_e6", "k5_e1", "k5_e1_g2", "k5_e3", "k5_e6", "skip"],
}
Point = tuple[float, float]
Rectangle = tuple[float, float, float, float]  # left, top, right, bottom


def nb101_cell() -> Diagram:
    labels = ["conv3x3", "conv1x1", "conv3x3", "conv3x3", "maxpool3x3"]
    nodes = [Node(str(i), label) for i, label in enumerate(labels, start=1)]
    edges = ["01", "02", "05", "06", "12", "23", "26", "34", "45", "56"]
    ends = (Node("0", "input", "input"), Node("6", "output", "output"))
    return Diagram("NAS-Bench-101", (ends[0], *nodes, ends[1]), tuple((edge[0], edge[1]) for edge in edges))


def nb201_cell() -> Diagram:
    labels = ["nor_conv_3x3", "nor_conv_1x1", "avg_pool_3x3", "skip_connect", "nor_conv_3x3", "nor_conv_3x3"]
    pairs = [("0", "1"), ("0", "2"), ("1", "2"), ("0", "3"), ("1", "3"), ("2", "3")]
    features = [
        Node("0", "input", "input"),
        Node("1", "sum", "sum"),
        Node("2", "sum", "sum"),
        Node("3", "out", "output"),
    ]
    boxes = [Node(a + b, label) for (a, b), label in zip(pairs, labels, strict=True)]
    return Diagram("NAS-Bench-201", (*features, *boxes), tuple(e for a, b in pairs for e in ((a, a + b), (a + b, b))))


def darts_cell(title: str, seed: int) -> Diagram:
    rng = random.Random(seed)
    states = ["c0", "c1", "0", "1", "2", "3"]
    nodes = [Node("c0", "c_{k-2}", "input"), Node("c1", "c_{k-1}", "input"), Node("out", "c_{k}", "output")]
    edges = [(state, "out") for state in states[2:]]
    for index, state in enumerate(states[2:], start=2):
        nodes.append(Node(state, state, "sum"))
        for source in rng.sample(states[:index], 2):
            nodes.append(Node(source + ">" + state, rng.choice(VOCABULARIES["darts"])))
            edges += [(source, source + ">" + state), (source + ">" + state, state)]
    return Diagram(title, tuple(nodes), tuple(edges))


def fbnet_chain() -> Diagram:
    places = [(column, row) for row, blocks in enumerate((1, 4, 4, 4, 4, 4, 1)) for column in range(1, blocks + 1)]
    labels = [VOCABULARIES["fbnet"][i % 9] for i in range(len(places))]
    blocks = [Node(str(i), label, at=at) for i, (label, at) in enumerate(zip(labels, places, strict=True))]
    nodes = (Node("in", "input", "input", (0, 0)), *blocks, Node("out", "output", "output", (2, 6)))
    return Diagram("FBNet", nodes, tuple((source.id, target.id) for source, target in pairwise(nodes)))


PICTURES = {
    "nb101": [nb101_cell()],
    "nb201": [nb201_cell()],
    **{f"darts-{seed}": [darts_cell("normal", seed), darts_cell("reduction", seed + 1)] for seed in range(0, 12, 2)},
    "fbnet": [fbnet_chain()],
}
REPEATED = [f"darts-{seed}" for seed in range(4, 12, 2)]
"""More cells of a kind that others show too."""
pictures = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.thorough] if name in REPEATED else []) for name in PICTURES]
)


@cache
def drawn_once(name: str) -> str:
    return cell_svg(PICTURES[name])


def texts(svg: str) -> Counter[str]:
    return Counter("".join(element.itertext()) for element in ElementTree.fromstring(svg).iter(f"{SVG}text"))


def fills(svg: str) -> dict[str, set[str]]:
    """The colours of the boxes under each text."""
    colours: dict[str, set[str]] = {}
    for group in ElementTree.fromstring(svg).iter(f"{SVG}g"):
        rect, text = group.find(f"{SVG}rect"), group.find(f"{SVG}text")
        if "data-node" in group.attrib and rect is not None and text is not None:
            colours.setdefault("".join(text.itertext()), set()).add(rect.attrib["fill"])
    return colours


def curve(path: str, steps: int = 40) -> list[Point]:
    """Points along an SVG path of absolute moves, lines and quadratic and cubic curves."""
    current, points = (0.0, 0.0), []
    for command, arguments in re.findall(r"([MLQC])([^MLQCZ]*)", path):
        numbers = [float(number) for number in re.findall(r"-?[\d.]+", arguments)]
        control = [current, *zip(numbers[::2], numbers[1::2], strict=True)]
        current = control[-1]
        if command == "M":
            continue
        for t in (step / steps for step in range(steps + 1)):
            level = control
            while len(level) > 1:
                level = [(a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t) for a, b in pairwise(level)]
            points.append(level[0])
    return points


def drawings(svg: str) -> list[tuple[dict[str, Rectangle], dict[tuple[str, str], list[Point]]]]:
    """For each diagram in a picture, its node boxes and the drawn curves of its edges."""
    result = []
    for group in ElementTree.fromstring(svg).iter(f"{SVG}g"):
        boxes, edges = {}, {}
        for child in group:
            if child.tag == f"{SVG}path" and "data-from" in child.attrib:
                edges[child.attrib["data-from"], child.attrib["data-to"]] = curve(child.attrib["d"])
            rect = child.find(f"{SVG}rect")
            if "data-node" in child.attrib and rect is not None:
                x, y, width, height = (float(rect.attrib[key]) for key in ("x", "y", "width", "height"))
                boxes[child.attrib["data-node"]] = (x, y, x + width, y + height)
        if boxes:
            result.append((boxes, edges))
    return result


@pictures
def test_cell_svg_arrows_touch_only_their_own_nodes(name: str) -> None:
    diagrams, drawn = PICTURES[name], drawings(drawn_once(name))
    assert len(drawn) == len(diagrams)
    for (boxes, edges), diagram in zip(drawn, diagrams, strict=True):
        assert set(boxes) == {node.id for node in diagram.nodes}
        assert set(edges) == set(diagram.edges)
        for box, rival in combinations(boxes.values(), 2):
            assert box[2] <= rival[0] or rival[2] <= box[0] or box[3] <= rival[1] or rival[3] <= box[1]
        for edge, points in edges.items():
            for node, (left, top, right, bottom) in boxes.items():
                if node not in edge:
                    assert not any(left < x < right and top < y < bottom for x, y in points), (edge, node)


@pictures
def test_cell_svg_writes_every_title_and_label_once_a_node(name: str) -> None:
    diagrams = PICTURES[name]
    expected = Counter(diagram.title for diagram in diagrams)
    expected.update(re.sub(r"_\{(.*)\}", r"\1", node.label) for diagram in diagrams for node in diagram.nodes)
    assert texts(drawn_once(name)) == expected


@pictures
def test_cell_svg_is_the_same_every_time(name: str) -> None:
    assert cell_svg(PICTURES[name]) == drawn_once(name)


@pytest.mark.parametrize("vocabulary", VOCABULARIES.values(), ids=VOCABULARIES.keys())
def test_cell_svg_colours_an_operation_the_same_in_every_picture(vocabulary: list[str]) -> None:
    def picture(labels: list[str]) -> dict[str, set[str]]:
        return fills(cell_svg([Diagram("", (Node("x", label),), ()) for label in labels]))

    together = picture(vocabulary * 2)
    assert len(set.union(*together.values())) == len(vocabulary)
    assert together == {label: picture([label])[label] for label in vocabulary}


def test_cell_svg_shares_colours_only_beyond_the_palette() -> None:
    labels = [f"operation {i}" for i in range(2 * len(PALETTE))]
    colours = fills(cell_svg([Diagram("", tuple(Node(label, label) for label in labels), ())]))
    assert Counter(colour for (colour,) in colours.values()) == dict.fromkeys(PALETTE, 2)


@pictures
def test_cell_svg_text_has_the_contrast_that_wcag_asks_for(name: str) -> None:
    def luminance(colour: str) -> float:
        channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for group in ElementTree.fromstring(drawn_once(name)).iter(f"{SVG}g"):
        rect, text = group.find(f"{SVG}rect"), group.find(f"{SVG}text")
        if rect is not None and text is not None:
            dark, light = sorted(luminance(element.attrib["fill"]) for element in (rect, text))
            assert (light + 0.05) / (dark + 0.05) >= 7


@pytest.mark.parametrize("hostile", ["<script>alert(1)</script>", "a & b", "\"'><g>", "]]>", "\x00\x1b\ud800", "&lt;"])
def test_cell_svg_escapes_hostile_text(hostile: str, tmp_path: Path) -> None:
    diagram = Diagram(hostile, (Node(hostile, hostile, "input"), Node("b", hostile)), ((hostile, "b"),))
    svg = cell_svg([diagram])
    tags = {element.tag.removeprefix(SVG) for element in ElementTree.fromstring(svg).iter()}
    assert tags == {"svg", "g", "rect", "path", "text"}
    assert texts(svg) == {re.sub("[\x00\x1b\ud800]", "\ufffd", hostile): 3}
    save_cells([diagram], tmp_path / "cell.png")


def test_save_cells_writes_each_format(tmp_path: Path) -> None:
    diagrams = PICTURES["darts-0"]
    for suffix, magic in ((".svg", b"<svg "), (".png", b"\x89PNG\r\n\x1a\n"), (".PDF", b"%PDF-")):
        path = tmp_path / f"cell{suffix}"
        save_cells(diagrams, path)
        assert path.read_bytes().startswith(magic)
        assert path.stat().st_size > 4000
    root = ElementTree.fromstring((tmp_path / "cell.svg").read_text(encoding="utf-8"))
    pixels = struct.unpack(">II", (tmp_path / "cell.png").read_bytes()[16:24])
    assert pixels == pytest.approx([3 * float(root.attrib["width"]), 3 * float(root.attrib["height"])], abs=2)
    assert len(list(tmp_path.iterdir())) == 3


def test_save_cells_draws_text_with_the_fonts_of_the_converter(tmp_path: Path) -> None:
    wordy, silent = (Diagram("", (Node("a", label, "sum"),), ()) for label in ("3", ""))
    for suffix in (".png", ".pdf"):
        save_cells([wordy], tmp_path / f"wordy{suffix}")
        save_cells([silent], tmp_path / f"silent{suffix}")
        assert (tmp_path / f"wordy{suffix}").stat().st_size > (tmp_path / f"silent{suffix}").stat().st_size + 100


@pytest.mark.parametrize("name", ["cell.jpeg", "cell", "missing/cell.svg", "folder.svg"])
def test_save_cells_refuses_in_one_line_and_leaves_nothing_behind(name: str, tmp_path: Path) -> None:
    (tmp_path / "folder.svg").mkdir()
    with pytest.raises(InvalidOption) as caught:
        save_cells([nb101_cell()], tmp_path / name)
    assert "\n" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["folder.svg"]


def test_save_cells_keeps_the_old_file_when_drawing_fails(tmp_path: Path) -> None:
    path = tmp_path / "cell.svg"
    path.write_text("old")
    with pytest.raises(InvalidOption):
        save_cells([Diagram("", (Node("a", "a"),), (("a", "a"),))], path)
    assert path.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1
