"""The settings that scripts read from a NAS-Bench-101 object: the space's limits and how its networks were trained."""

from __future__ import annotations

from typing import Any

from nasbed.spaces.nb101.cell import MAX_EDGES, MAX_VERTICES, OPERATIONS


def build_config() -> dict[str, Any]:
    """A new dictionary each time: changing it changes no limit, the space is fixed."""
    return {
        "module_vertices": MAX_VERTICES,
        "max_edges": MAX_EDGES,
        "available_ops": list(OPERATIONS),
        "num_repeats": 3,
        "train_data_files": [],
        "valid_data_file": "",
        "test_data_file": "",
        "sample_data_file": "",
        "num_labels": 10,
        "data_format": "channels_last",
        "stem_filter_size": 128,
        "num_stacks": 3,
        "num_modules_per_stack": 3,
        "batch_size": 256,
        "train_epochs": 108,
        "train_seconds": 4 * 3600.0,
        "intermediate_evaluations": ["0.5"],
        "learning_rate": 0.1,
        "lr_decay_method": "COSINE_BY_STEP",
        "momentum": 0.9,
        "weight_decay": 1e-4,
        "max_attempts": 5,
        "use_tpu": True,
        "tpu_iterations_per_loop": 100,
        "tpu_num_shards": 2,
    }
