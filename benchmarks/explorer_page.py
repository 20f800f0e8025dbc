"""How fluid the explorer's page is in a browser: time to the first picture, and frames while brushing.

    python benchmarks/explorer_page.py [--frames 60]

Serves the page with generated points, as many as NAS-Bench-201 and NAS-Bench-101 have, opens it in chromium (software
rendering, as in the tests) and moves the brush once a frame, with the Pareto front shown. Prints the median frame and
the slowest twentieth.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlparse

import numpy as np

import nasbed

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from support.browsers import open_browser

PAGE = Path(nasbed.__file__).parent / "explorer" / "page"
SIZES = {"NAS-Bench-201": 15_625, "NAS-Bench-101": 423_624}
COLUMNS = [
    {"key": "accuracy", "title": "validation accuracy", "unit": "%", "kind": "metric", "log": False},
    {"key": "parameters", "title": "parameters", "unit": "", "kind": "cost", "log": True},
    {"key": "count", "title": "number of conv3x3", "unit": "", "kind": "operation", "log": False},
]
BRUSH = """
const [frames, done] = arguments;
const plot = document.getElementById("plot");
const box = plot.getBoundingClientRect();
const send = (type, x, y) => plot.dispatchEvent(new PointerEvent(type, {clientX: x, clientY: y, pointerId: 1, button: 0, bubbles: true}));
plot.setPointerCapture = () => {};
const times = [];
let frame = 0;
send("pointerdown", box.left + 0.2 * box.width, box.top + 0.25 * box.height);
function step(now) {
  times.push(now);
  if (frame > frames) {
    send("pointerup", box.left + 0.8 * box.width, box.top + 0.8 * box.height);
    return done(times.slice(1).map((time, place) => time - times[place]));
  }
  frame++;
  send("pointermove", box.left + (0.3 + (0.5 * frame) / frames) * box.width, box.top + (0.3 + (0.5 * frame) / frames) * box.height);
  requestAnimationFrame(step);
}
requestAnimationFrame(step);
"""
FIRST = "return performance.getEntriesByName('first picture')[0]?.startTime ?? null"


class Generated(SimpleHTTPRequestHandler):
    """The page, and answers about generated points."""

    def __init__(self, rows: int, *args: object) -> None:
        self.rows = rows
        super().__init__(*args)  # type: ignore[arg-type]

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        url = urlparse(self.path)
        if url.path == "/" or url.path.startswith("/page/"):
            file = PAGE / (url.path.removeprefix("/page/").strip("/") or "index.html")
            types = {".js": "text/javascript", ".css": "text/css", ".html": "text/html"}
            self._send(file.read_bytes(), types[file.suffix])
        elif url.path == "/api/points":
            self._send(self._points(parse_qs(url.query)["columns"][0].split(",")), "application/octet-stream")
        else:
            self._send(json.dumps(self._answer(url.path)).encode(), "application/json")

    def _send(self, content: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _answer(self, path: str) -> object:
        described = {
            "id": "generated",
            "title": "generated",
            "kind": "table",
            "rows": self.rows,
            "metrics": [{**COLUMNS[0], "maximise": True}],
            "objective": "accuracy",
            "columns": COLUMNS,
            "siblings": [],
            "sampled": None,
        }
        one = {"text": "generated", "row": 0, "notations": {}, "values": {}, "rank": {}, "diagram": [], "curve": None}
        return {
            "/api/benchmarks": {"benchmarks": [{**described, "default": True}]},
            "/api/benchmarks/generated": described,
            "/api/architecture": one,
            "/api/edits": {"edits": [], "more": 0},
            "/api/runs": {"folders": []},
        }[path]

    def _points(self, keys: list[str]) -> bytes:
        rng = np.random.default_rng(0)
        parameters = np.exp(rng.normal(13.5, 0.9, self.rows))
        accuracy = 94 - 2.5 * rng.gamma(1.5, 1, self.rows) + np.log10(parameters)
        made = {
            "accuracy": accuracy.astype("<f4"),
            "parameters": parameters.astype("<f4"),
            "count": rng.integers(0, 6, self.rows).astype("<u1"),
        }
        columns = [{"key": key, "type": f"{made[key].dtype.kind}{made[key].dtype.itemsize}"} for key in keys]
        header = json.dumps({"rows": self.rows, "columns": columns}).encode()
        header += b" " * (-len(header) % 4)
        body = [made[key].tobytes() for key in keys]
        return b"".join(
            [len(header).to_bytes(4, "little"), header, *(part + b"\0" * (-len(part) % 4) for part in body)]
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=60, help="frames of brushing")
    frames = parser.parse_args().frames
    print(f"{'':<16}{'points':>9}{'first picture':>15}{'frame, median':>15}{'95 %':>9}{'frames/s':>10}")
    with open_browser(Path(tempfile.mkdtemp())) as browser:
        browser.set_script_timeout(120)
        browser.set_window_size(1280, 900)
        for name, rows in SIZES.items():
            server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Generated, rows))
            threading.Thread(target=server.serve_forever, daemon=True).start()
            browser.get("about:blank")
            browser.get(f"http://127.0.0.1:{server.server_port}/#c=count&p=1")
            browser.find_element("css selector", "html[data-shown] #plot[data-chosen]")
            first = browser.execute_script(FIRST)
            times = browser.execute_async_script(BRUSH, frames)
            median, slow = np.median(times), np.quantile(times, 0.95)
            print(
                f"{name:<16}{rows:>9}{first:>12.0f} ms{median:>12.1f} ms{slow:>6.0f} ms{1000 / np.mean(times):>10.0f}"
            )
            server.shutdown()


if __name__ == "__main__":
    main()
