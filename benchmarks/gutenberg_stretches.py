"""Make Gutenberg with phrases of two parts that may share words of a book, to see what that is worth to a network.

python benchmarks/gutenberg_stretches.py BOOKS OUT
nasbed data baseline OUT --network resnet18 --epochs 8 --out results.jsonl
nasbed data baseline gutenberg --network resnet18 --epochs 8 --out results.jsonl
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from nasbed.datasets.unseen.export import write_unseen
from nasbed.datasets.unseen.gutenberg import GutenbergWithSharedStretches


def main(books: Path, out: Path) -> None:
    def report(step: str, count: int, total: int | None) -> None:
        pass

    dataset = GutenbergWithSharedStretches()
    generated = dataset.make(books, seed=0, progress=report)
    write_unseen(dataset, generated, out, seed=0, progress=report)
    shared = np.isin(generated.test.origins["stretch"], generated.train.origins["stretch"])
    print(f"{shared.sum()} of {len(shared)} test phrases are of a stretch that has a training phrase")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
