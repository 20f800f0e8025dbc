"""NATS-Bench's query interface, over nasbed tables or over its published files.

It differs from the published package in these ways. The object's own generator draws trials, never the global one. A
query for missing values raises with a list of the available ones. There are no weights of networks. A published folder
may be incomplete, and nothing in its files is executed.
"""

from __future__ import annotations

from typing import Any

from nasbed.compat.nats_bench.api_size import NATSsize
from nasbed.compat.nats_bench.api_topology import NATStopology
from nasbed.compat.nats_bench.api_utils import ArchResults, ResultsCount, pickle_load, pickle_save
from nasbed.compat.nats_bench.tables import Source
from nasbed.core.errors import InvalidOption, shorten
from nasbed.spaces.nats_sss import CHANNELS, STAGES
from nasbed.spaces.nb201 import OPERATIONS

NATS_BENCH_API_VERSIONs = ["v1.8"]  # the one whose interface this is
NATS_BENCH_SSS_NAMEs = ("sss", "size")
NATS_BENCH_TSS_NAMEs = ("tss", "topology")


def version() -> str:
    return NATS_BENCH_API_VERSIONs[-1]


def create(
    file_path_or_dict: Source,
    search_space: str,
    fast_mode: bool = True,
    verbose: bool = False,
    *,
    seed: int | None = 0,
) -> NATStopology | NATSsize:
    """Open the data of a search space. The same ``seed`` and the same calls give the same answers.

    Args:
        file_path_or_dict: NATS-Bench's own folder, whose files are read as they are asked for, or its dictionary; a
            results folder or a folder of them; a table's id; a dictionary of these by dataset; or ``None`` for the
            tables folder, or else the published folder in ``$TORCH_HOME``.
        search_space: ``tss`` (``topology``) or ``sss`` (``size``).
        fast_mode: Accepted and ignored.
        verbose: Accepted and ignored.
        seed: The seed of random answers.
    """
    if search_space in NATS_BENCH_TSS_NAMEs:
        return NATStopology(file_path_or_dict, fast_mode, verbose, seed=seed)
    if search_space in NATS_BENCH_SSS_NAMEs:
        return NATSsize(file_path_or_dict, fast_mode, verbose, seed=seed)
    raise InvalidOption(f"a search space is tss (topology) or sss (size), got {shorten(search_space)}")


def search_space_info(main_tag: str, aux_tag: str | None) -> dict[str, Any]:
    """The choices of ``("nats-bench", "tss")``, ``("nats-bench", "sss")`` or ``("nas-bench-201", None)``."""
    if main_tag == "nats-bench" and aux_tag in NATS_BENCH_SSS_NAMEs:
        return {"candidates": list(CHANNELS), "num_layers": STAGES}
    if (main_tag == "nats-bench" and aux_tag in NATS_BENCH_TSS_NAMEs) or (main_tag, aux_tag) == ("nas-bench-201", None):
        return {"op_names": list(OPERATIONS), "num_nodes": 4}
    raise InvalidOption(
        f'a search space is ("nats-bench", "tss"), ("nats-bench", "sss") or ("nas-bench-201", None), got '
        f"{shorten((main_tag, aux_tag))}"
    )


__all__ = [
    "ArchResults",
    "NATSsize",
    "NATStopology",
    "ResultsCount",
    "create",
    "pickle_load",
    "pickle_save",
    "search_space_info",
    "version",
]
