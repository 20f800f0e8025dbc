"""What the explorer's API answers a second, and how soon it sends the first points.

    python benchmarks/explorer.py
    python benchmarks/explorer.py --table nb101-423k     # keeps the generated table for the next time

A server is started as a user starts it, in a process of its own. Queries are of architectures that it has not seen, over
one connection that stays open. A batch is one request of 5 000 architectures.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

import nasbed
from nasbed.results import Rows, TableInfo, write_results

SURROGATES = (
    "snb-darts-cifar10-16-xgb-v2.0",
    "snb-darts-cifar10-16-lgb-v2.0",
    "snb-fbnet-cifar10-16-xgb-v1.0",
    "snb-nb101-cifar10-16-lgb-mf-v1.0",
)
BATCH, SINGLE = 5_000, 1_000
TABLE = "nb201-cifar10-16-v1.0"
COLUMNS = "validation_accuracy,parameters"


class Client:
    """One connection to an explorer."""

    def __init__(self, port: int, process: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port)
        self._process = process

    @property
    def server_cpu_s(self) -> float:
        """CPU seconds that the server has used, NaN where the system does not say."""
        try:
            fields = Path(f"/proc/{self._process}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return float("nan")
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def get(self, path: str) -> bytes:
        self._connection.request("GET", path)
        return self._answer()

    def query(self, benchmark: str, texts: list[str]) -> dict[str, Any]:
        body = json.dumps({"benchmark": benchmark, "architectures": texts})
        self._connection.request("POST", "/api/query", body, {"Content-Type": "application/json"})
        answer: dict[str, Any] = json.loads(self._answer())
        return answer

    def _answer(self) -> bytes:
        response = self._connection.getresponse()
        data = response.read()
        if response.status != 200:
            raise SystemExit(f"{response.status}: {data[:200]!r}")
        return data


@contextmanager
def explorer(benchmark: str) -> Iterator[tuple[Client, float]]:
    """An explorer of a benchmark, and the seconds from its start to its address."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "nasbed", "explore", benchmark]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split()
        try:
            if not address:
                raise SystemExit("the explorer did not start")
            port = int(address[0].rstrip("/").rpartition(":")[2])
            yield Client(port, process.pid), time.perf_counter() - start
        finally:
            process.terminate()


def fresh_texts(name: str, count: int, seed: int) -> list[str]:
    """Random architectures of a benchmark's space, as text."""
    space, rng = nasbed.load(name).space, np.random.default_rng(seed)
    return [space.format(space.sample(rng)) for _ in range(count)]


def measure_queries(client: Client, name: str, repeats: int) -> None:
    """Queries a second, as a batch and one by one, the best of some rounds; and queries a CPU second of the server,
    which others on the machine do not change."""
    client.query(name, fresh_texts(name, 10, seed=0))  # opens it
    client.query(name, fresh_texts(name, BATCH, seed=repeats + 1))  # compiles what it needs
    batch, single, batch_cpu_s, single_cpu_s = 0.0, 0.0, 0.0, 0.0
    for seed in range(1, repeats + 1):
        texts = fresh_texts(name, BATCH, seed)
        start, cpu_s = time.perf_counter(), client.server_cpu_s
        client.query(name, texts)
        batch = max(batch, BATCH / (time.perf_counter() - start))
        batch_cpu_s += client.server_cpu_s - cpu_s
        start, cpu_s = time.perf_counter(), client.server_cpu_s
        for text in texts[:SINGLE]:
            client.query(name, [text])
        single = max(single, SINGLE / (time.perf_counter() - start))
        single_cpu_s += client.server_cpu_s - cpu_s
    by_cpu = f"{repeats * BATCH / batch_cpu_s:,.0f} and {repeats * SINGLE / single_cpu_s:,.0f} a CPU second"
    print(f"{name:<40} {batch:8,.0f} a second by batch, {single:6,.0f} one by one; {by_cpu}", flush=True)


def measure_first_points(benchmark: str, label: str) -> None:
    """Seconds to the address, to the facts of a benchmark and to the bytes of two columns."""
    with explorer(benchmark) as (client, started_s):
        start = time.perf_counter()
        client.get(f"/api/benchmarks/{quote(benchmark)}")
        facts_s = time.perf_counter() - start
        data = client.get(f"/api/points?benchmark={quote(benchmark)}&columns={COLUMNS}")
        points_s = time.perf_counter() - start - facts_s
        cpu_s = client.server_cpu_s
    size = len(data) / 1e6
    print(
        f"{label:<40} {started_s:6.2f} s to the address, {facts_s:6.2f} s its facts, {points_s:6.2f} s two columns "
        f"({size:.1f} MB); {cpu_s:.1f} CPU s in all",
        flush=True,
    )


def generate_table(folder: Path) -> None:
    """All 423 624 cells of NAS-Bench-101 with generated accuracies, at four budgets with three repeats."""
    space, rng = nasbed.space("nb101"), np.random.default_rng(0)
    codes = space.all_codes()
    accuracy = nasbed.Metric("accuracy", split="validation", unit="%", bounds=(0, 100))
    quality = 60 + 30 * rng.beta(5, 2, size=len(codes))
    batches = []
    for epochs in (4, 12, 36, 108):
        for seed in range(3):
            values = np.clip(quality - 40 / epochs + rng.normal(scale=0.4, size=len(codes)), 0, 100)
            batches.append(
                Rows.of(codes, {accuracy.key: values}, fidelity=epochs, seed=seed, train_time_s=10.0 * epochs)
            )
    write_results(folder, TableInfo("generated/nb101", "nb101", (accuracy,), dataset="generated"), batches)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--table", type=Path, help="the folder of the generated table; a temporary one by default")
    options.add_argument("--repeats", type=int, default=3, help="rounds of queries, of which the best counts")
    options.add_argument("--skip-large", action="store_true", help="leave the generated table of 423 624 cells out")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["NASBED_HOME"] = scratch  # nothing is in the cache
        measure_first_points(TABLE, TABLE)
        measure_first_points(SURROGATES[0], f"{SURROGATES[0]}, first time")
        measure_first_points(SURROGATES[0], f"{SURROGATES[0]}, then")
        if not chosen.skip_large:
            folder = chosen.table or Path(scratch) / "nb101"
            if not folder.exists():
                generate_table(folder)
            measure_first_points(str(folder), "423 624 generated cells")
        with explorer(TABLE) as (client, _):
            for name in SURROGATES:
                measure_queries(client, name, chosen.repeats)


if __name__ == "__main__":
    main()
