"""Draw the pictures of the documentation: run the commands of docs/gallery.md and copy the figures below each of them.

    python tools/docs/pictures.py [PICTURE ...]

A command with ``--out NAME`` draws the pictures NAME-FIGURE.svg, one with ``--out NAME.svg`` draws NAME.svg.
Needs chromium, chromedriver, and Pillow, which comes with the extra ``vision``.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
GALLERY = ROOT / "docs" / "gallery.md"
PICTURES = ROOT / "docs" / "pictures"
WORK = ROOT / "build" / "pictures"
PAGE_WIDTH, PAGE_HEIGHT = 1200, 1420
COLOURS = 128
OF_THE_README = {"transfer.png": Path("transfer/figures/spearman.png"), "report.png": Path("demo/report.html")}
"""Pictures with a name of their own, and what they show."""
_PART = re.compile(
    r"^```console\n(?P<commands>.*?)^```|!\[[^\]]*\]\(pictures/(?P<picture>[^)]+)\)", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Drawing:
    """Commands of the gallery and the pictures that they draw."""

    commands: tuple[str, ...]
    pictures: tuple[str, ...]


def drawings(text: str) -> list[Drawing]:
    """Those of a page: each picture belongs to the commands above it."""
    found: list[tuple[tuple[str, ...], list[str]]] = []
    for part in _PART.finditer(text):
        if part["picture"]:
            found[-1][1].append(part["picture"])
        else:
            found.append((tuple(line.removeprefix("$ ") for line in part["commands"].splitlines()), []))
    return [Drawing(commands, tuple(pictures)) for commands, pictures in found]


def out_of(command: str) -> str:
    """The file or folder that a command writes, by its option ``--out``; empty for a script of this repository.

    >>> out_of("nasbed study transfer --out transfer --format png")
    'transfer'
    """
    words = shlex.split(command)
    return words[words.index("--out") + 1] if "--out" in words else ""


def source_of(picture: str, commands: tuple[str, ...]) -> Path | None:
    """The file in the working folder that becomes a picture; None if a script writes the picture itself."""
    if picture in OF_THE_README:
        return OF_THE_README[picture]
    for out in map(out_of, commands):
        if picture == out:
            return Path(out)
        if out and picture.startswith(f"{out}-"):
            return Path(out) / "figures" / picture.removeprefix(f"{out}-")
    if any(not out_of(command) for command in commands):
        return None
    raise SystemExit(f"a picture is named for the --out of the command above it, got {picture}; rename it in {GALLERY}")


def draw(drawing: Drawing) -> Iterator[Path]:
    """Run the commands and copy their pictures."""
    WORK.mkdir(parents=True, exist_ok=True)
    environment = os.environ | {"NASBED_HOME": str(ROOT / "build" / "home")}
    for command in drawing.commands:
        print(f"$ {command}", flush=True)
        program, *words = shlex.split(command)
        start, folder = ([sys.executable, "-m", "nasbed"], WORK) if program == "nasbed" else ([sys.executable], ROOT)
        subprocess.run([*start, *words], cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    for picture in drawing.pictures:
        path = PICTURES / picture
        source = source_of(picture, drawing.commands)
        if source and source.suffix == ".html":
            _photograph(WORK / source, path)
        elif source:
            shutil.copyfile(WORK / source, path)
        if source and path.suffix == ".png":
            _reduce(path)
        yield path


def _photograph(page: Path, path: Path) -> None:
    """The upper part of a page, as a browser shows it."""
    sys.path.insert(0, str(ROOT / "tests"))
    from support.browsers import open_browser, show

    with tempfile.TemporaryDirectory() as profile, open_browser(Path(profile)) as browser:
        show(browser, page, width=PAGE_WIDTH)
        browser.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
        size = {"width": PAGE_WIDTH, "height": PAGE_HEIGHT, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        browser.save_screenshot(str(path))


def _reduce(path: Path) -> None:
    """Fewer colours, of which figures have few: a fifth of the bytes."""
    picture = Image.open(path).convert("RGB")
    picture.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=3, dither=Image.Dither.NONE).save(path, optimize=True)


def main() -> None:
    wanted = set(sys.argv[1:])
    for drawing in drawings(GALLERY.read_text(encoding="utf-8")):
        if drawing.pictures and (not wanted or wanted & set(drawing.pictures)):
            for path in draw(drawing):
                print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1000:.0f} kB", flush=True)


if __name__ == "__main__":
    main()
