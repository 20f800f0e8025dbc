"""NATS-Bench's size search space: channel counts of a fixed network."""

from __future__ import annotations

from nasbed.compat.nats_bench.meta_api import NASBenchMetaAPI

ALL_BASE_NAMES = ["NATS-sss-v1_0-50262"]


class NATSsize(NASBenchMetaAPI):
    """Channel counts of a fixed network."""

    space_name = "nats-sss"
    search_space_name = "size"
    full_train_epochs = full_epochs_in_paper = 90
