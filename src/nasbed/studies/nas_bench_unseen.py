"""The tables of NAS-Bench-Unseen, which come with the package: what studies of several tables take by default."""

from __future__ import annotations

NAS_BENCH_UNSEEN = tuple(
    f"nb201-{dataset}-v1.0" for dataset in ("cifar10-16", "language", "gutenberg", "addnist", "multnist", "chesseract")
)
"""Their ids. These are also the names of their scores by proxies."""
