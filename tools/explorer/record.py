"""The picture and the short animation of the explorer that the README shows.

    python tools/explorer/record.py [--out docs/pictures]

Serves NAS-Bench-201 with three searches, acts on the page in chromium as a reader would, and writes explorer.png and
explorer.gif. Needs chromium, chromedriver, and Pillow, which comes with the extra `vision`.
"""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from PIL import Image

import nasbed
from nasbed.explorer.catalogue import Catalogue

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from support.browsers import open_browser
from support.explorer_pages import Page
from support.explorers import serving

TABLE = "nb201/cifar10"
START = "|skip_connect~0|+|none~0|nor_conv_1x1~1|+|none~0|avg_pool_3x3~1|nor_conv_3x3~2|"
VIEW = f"c={quote('count:nor_conv_3x3')}&a={quote(START)}"
SIZE = (1360, 850)
SMALLER = 0.75
COLOURS = 224
SET_TIME = """
const time = document.getElementById("time");
time.value = arguments[0];
time.dispatchEvent(new Event("input"));
"""


class Recorder:
    """Frames of a page, each with how long it is shown."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.frames: list[Image.Image] = []
        self.durations_ms: list[int] = []

    def shot(self, duration_ms: int = 120) -> None:
        picture = Image.open(io.BytesIO(self.page.browser.get_screenshot_as_png())).convert("RGB")
        small = picture.resize(
            (round(SMALLER * picture.width), round(SMALLER * picture.height)), Image.Resampling.LANCZOS
        )
        self.frames.append(small)
        self.durations_ms.append(duration_ms)

    def save(self, path: Path) -> None:
        """One palette for all frames, so that what stays the same costs nothing."""
        sheet = Image.new("RGB", (self.frames[0].width, 4 * self.frames[0].height))
        for place in range(4):
            sheet.paste(self.frames[place * (len(self.frames) - 1) // 3], (0, place * self.frames[0].height))
        palette = sheet.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=3)
        frames = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in self.frames]
        frames[0].save(
            path, save_all=True, append_images=frames[1:], duration=self.durations_ms, loop=0, optimize=True, disposal=1
        )


def act(recorder: Recorder) -> None:
    """What a reader does: brush, edit on the drawing, walk uphill, watch searches."""
    page = recorder.page
    recorder.shot(1500)
    _brush(recorder)
    page.find("[data-slot='2<-0']").click()
    recorder.shot(1600)
    page.find(".menu [role=menuitem]").click()
    page.find(f"#architecture[data-ready]:not([data-ready='{START}'])")
    time.sleep(0.3)
    recorder.shot(1300)
    page.run("document.getElementById('uphill').click()")
    last = ""
    while "0 of 24" not in page.run("return document.getElementById('edits-note').textContent"):
        if page.text != last:
            last = page.text
            recorder.shot(650)
        time.sleep(0.1)
    recorder.shot(1800)
    page.run("document.getElementById('across').scrollIntoView()")
    recorder.shot(2000)
    page.run("document.querySelector('.inspector').scrollTop = 0")
    show(page, f"{VIEW}&z=80000,1500000,84,92&s=searches&t=0")
    for step in range(0, 1001, 50):
        page.run(SET_TIME, step)
        time.sleep(0.05)
        recorder.shot(140 if step < 1000 else 2500)


def _brush(recorder: Recorder) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    page = recorder.page
    mouse = ActionChains(page.browser, duration=20)
    mouse.move_to_element_with_offset(page.find("#plot"), -150, -190).click_and_hold().perform()
    for _ in range(7):
        ActionChains(page.browser, duration=20).move_by_offset(42, 22).perform()
        recorder.shot()
    ActionChains(page.browser).release().perform()
    recorder.shot(1200)
    page.find("#clear").click()
    recorder.shot(500)


@contextmanager
def opened_page(folder: Path) -> Iterator[Page]:
    searches = folder / "searches"
    nasbed.compare(TABLE, ["rs", "re", "ls"], seeds=1, budget="150ev", out=searches, progress=False)
    with open_browser(folder / "profile") as browser, serving(Catalogue(TABLE), runs=(searches,)) as running:
        yield Page(browser, f"http://127.0.0.1:{running.port}/")


def show(page: Page, view: str) -> None:
    page.open(view, width=SIZE[0], height=SIZE[1], reduced_motion=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("docs/pictures"), help="folder of the pictures")
    out = parser.parse_args().out
    with tempfile.TemporaryDirectory() as folder, opened_page(Path(folder)) as page:
        show(page, f"{VIEW}&p=1")
        time.sleep(0.5)
        picture = Image.open(io.BytesIO(page.browser.get_screenshot_as_png())).convert("RGB")
        coloured = picture.quantize(256, Image.Quantize.MAXCOVERAGE, kmeans=3, dither=Image.Dither.NONE)
        coloured.save(out / "explorer.png", optimize=True)
        show(page, VIEW)
        recorder = Recorder(page)
        act(recorder)
        recorder.save(out / "explorer.gif")
    for name in ("explorer.png", "explorer.gif"):
        print(f"{out / name}: {(out / name).stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
