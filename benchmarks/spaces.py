"""Search spaces: bulk paths against the plain ones, and every single-architecture call.

Run: python benchmarks/spaces.py
"""

from __future__ import annotations

import resource
from time import perf_counter

import numpy as np

import nasbed
from nasbed.spaces.nb101 import NB101
from nasbed.spaces.nb101.canonical import canonical
from nasbed.spaces.nb101.hashing import module_hash
from timing import best_seconds, report


def enumeration() -> None:
    """First, while nothing is warm: compiling counts too."""
    start = perf_counter()
    codes = NB101().unique_codes()
    listed = perf_counter() - start
    hashes = NB101().hashes(codes)
    total = perf_counter() - start
    peak_gb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"nb101: {len(set(hashes.tolist())):,} unique cells listed in {listed:.2f} s, with hashes in {total:.2f} s, ",
        end="",
    )
    print(f"peak memory {peak_gb:.2f} GiB")


def bulk() -> None:
    space = NB101()
    rng = np.random.default_rng(0)
    codes = space.unique_codes(7)
    codes = codes[rng.choice(len(codes), 50_000, replace=False)]
    cells = [space.pruned(arch) for arch in space.architectures(codes[:1000])]
    plain = best_seconds(lambda: [module_hash(cell) for cell in cells], repeats=3) / len(cells)
    report("nb101 hash, plain Python", plain)
    report("nb101 hash, in bulk", best_seconds(lambda: space.hashes(codes), repeats=3) / len(codes), plain)
    plain = best_seconds(lambda: [canonical.__wrapped__(cell) for cell in cells], repeats=3) / len(cells)
    report("nb101 canonical form, plain Python", plain)
    report(
        "nb101 canonical form, in bulk",
        best_seconds(lambda: space.canonical_codes(codes), repeats=3) / len(codes),
        plain,
    )


def single_calls() -> None:
    for name in nasbed.list_spaces():
        space = nasbed.space(name)
        rng = np.random.default_rng(0)
        archs = [space.sample(rng) for _ in range(100)]
        turns = iter(archs * 1_000_000)
        count = np.mean([len(list(space.neighbors(arch))) for arch in archs])
        report(f"{name} sample", best_seconds(lambda: space.sample(rng), calls=1000))
        report(f"{name} mutate", best_seconds(lambda: space.mutate(next(turns), rng), calls=1000))
        report(
            f"{name} neighbors, all {count:.0f}", best_seconds(lambda: list(space.neighbors(next(turns))), calls=300)
        )
        for encoding in space.encodings:
            codes = space.codes(archs * 10)
            report(
                f"{name} encode {encoding}, each of {len(codes)}",
                best_seconds(lambda: space.encode(codes, encoding)) / len(codes),
            )


if __name__ == "__main__":
    enumeration()
    bulk()
    single_calls()
