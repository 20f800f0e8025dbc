"""Our proxies against published scores: rank correlations over NAS-Bench-201 networks, and the time of each proxy.

    python benchmarks/proxies_published.py TABLE [--networks 200] [--seconds 600] [--batch 64] [--device cpu]
        [--seeds 0 [1]] [--proxies NAME ...]

TABLE is a Parquet file of NAS-Bench-Suite-Zero's scores, a row for each architecture (column arch_str). The networks
are drawn at random, with torch's own initial weights; the batch is the first images of a random order of CIFAR-10's
training part (nasbed data prepare cifar10). Params and flops are published in millions and have to be equal.
Published scores were taken with other weights and images. Given two seeds, "own seeds" is the correlation of our scores
with one and with the other: what a proxy agrees with itself, which no other implementation can exceed by much.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

import numpy as np
import torch
from numpy.typing import NDArray
from pyarrow import parquet
from scipy.stats import spearmanr
from torch import Tensor

from nasbed import datasets
from nasbed.core.architecture import Architecture
from nasbed.networks import build
from nasbed.proxies import PROXIES, Score, score_all
from nasbed.spaces import space

COUNTS = ("params", "flops")


def cifar10_batch(size: int, seed: int, device: str) -> tuple[Tensor, Tensor]:
    """Normalised images, and labels."""
    data = datasets.load("cifar10")
    rows = np.random.default_rng(seed).permutation(len(data.train))[:size]
    mean, std = (torch.tensor(each).view(1, -1, 1, 1) for each in (data.mean, data.std))
    images = torch.from_numpy(data.train.images[np.sort(rows)].copy()).float() / data.scale
    labels = torch.from_numpy(data.train.labels[np.sort(rows)].copy())
    return ((images - mean) / std).float().to(device), labels.to(device)


def network_scores(
    arch: Architecture, batch: tuple[Tensor, Tensor], seed: int, names: Sequence[str]
) -> dict[str, Score]:
    torch.manual_seed(seed)
    return score_all(build(arch).to(batch[0].device), batch, proxies=names, seed=seed)


def agreement(ours: Sequence[Score], theirs: NDArray[np.float64]) -> float:
    """The rank correlation where both have a score."""
    values = np.array([np.nan if each.value is None else each.value for each in ours])
    there = np.isfinite(values) & np.isfinite(theirs[: len(values)])
    return float(spearmanr(values[there], theirs[: len(values)][there]).statistic)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path)
    parser.add_argument("--networks", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--proxies", nargs="+", default=list(PROXIES))
    chosen = parser.parse_args()
    table = parquet.read_table(chosen.table)
    rows = np.random.default_rng(0).permutation(len(table))[: chosen.networks]
    archs = [space("nb201").parse(table["arch_str"][int(row)].as_py()) for row in rows]
    batches = {seed: cifar10_batch(chosen.batch, seed, chosen.device) for seed in chosen.seeds}
    runs: list[list[dict[str, Score]]] = [[] for _ in chosen.seeds]
    start = perf_counter()
    for arch in archs:
        if perf_counter() - start > chosen.seconds:
            break
        for seed, run in zip(chosen.seeds, runs, strict=True):
            run.append(network_scores(arch, batches[seed], seed, chosen.proxies))
    print(f"{len(runs[0])} networks, batch {chosen.batch}, {chosen.device}, {perf_counter() - start:.0f} s")
    print(f"{'proxy':>10} {'published':>10} {'own seeds':>10} {'scored':>7} {'own ms':>9} {'shared ms':>10}")
    for name in chosen.proxies:
        ours = [each[name] for each in runs[0]]
        published = again = "-"
        if len(runs) > 1:
            again = f"{agreement(ours, np.array([each[name].value for each in runs[1]], dtype=np.float64)):.3f}"
        scored = sum(each.value is not None for each in ours)
        if name in table.column_names:
            theirs = table[name].to_numpy()[rows].astype(np.float64)
            published = f"{agreement(ours, theirs):.3f}"
            if name in COUNTS:
                values = np.array([each.value for each in ours], dtype=np.float64) / 1e6
                published = "equal" if np.allclose(values, theirs[: len(ours)], rtol=0, atol=1e-9) else "DIFFERENT"
        times = (
            1000 * float(np.mean([getattr(each, kind) for each in ours])) for kind in ("seconds", "shared_seconds")
        )
        print(f"{name:>10} {published:>10} {again:>10} {scored:>7} " + " ".join(f"{each:>9.1f}" for each in times))
        for reason in sorted({each.reason for each in ours if each.reason}):
            print(f"{'':>10} no score: {reason}")


if __name__ == "__main__":
    main()
