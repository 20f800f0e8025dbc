"""The training settings that a published configuration names beside the architecture, and where they stand in the
published rows of features.

The published ConfigSpace has 56 parameters: 34 choices of an architecture and 22 settings. All networks of the
benchmark were trained with one value of each setting, so that no published tree can split on one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from nasbed.spaces.darts.space import CONFIG_PREFIX

ROUNDING = 0.49999
"""How far a range of whole numbers reaches past its ends, so that every number has the same share of it."""

FIXED_SETTINGS: Mapping[str, str | float] = {
    "CreateImageDataLoader:batch_size": 96,
    "ImageAugmentation:augment": "True",
    "ImageAugmentation:autoaugment": "False",
    "ImageAugmentation:cutout": "True",
    "ImageAugmentation:cutout_holes": 1,
    "ImageAugmentation:cutout_length": 16,
    "ImageAugmentation:fastautoaugment": "False",
    "LossModuleSelectorIndices:loss_module": "cross_entropy",
    f"{CONFIG_PREFIX}auxiliary": "True",
    f"{CONFIG_PREFIX}drop_path_prob": 0.2,
    f"{CONFIG_PREFIX}init_channels": 32,
    f"{CONFIG_PREFIX}layers": 8,
    "NetworkSelectorDatasetInfo:network": "darts",
    "OptimizerSelector:optimizer": "sgd",
    "OptimizerSelector:sgd:learning_rate": 0.025,
    "OptimizerSelector:sgd:momentum": 0.9,
    "OptimizerSelector:sgd:weight_decay": 0.0003,
    "SimpleLearningrateSchedulerSelector:cosine_annealing:T_max": 100,
    "SimpleLearningrateSchedulerSelector:cosine_annealing:eta_min": 1e-8,
    "SimpleLearningrateSchedulerSelector:lr_scheduler": "cosine_annealing",
    "SimpleTrainNode:batch_loss_computation_technique": "mixup",
    "SimpleTrainNode:mixup:alpha": 0.2,
}
"""The values that the published networks were trained with."""


def _share(value: float, lowest: float, highest: float) -> float:
    """Where a value lies in a range, from 0 to 1."""
    return (value - lowest) / (highest - lowest)


def _whole_share(value: int, lowest: int, highest: int) -> float:
    return _share(value, lowest - ROUNDING, highest + ROUNDING)


_SCALED = {
    "CreateImageDataLoader:batch_size": _share(math.log(96), math.log(64 - ROUNDING), math.log(128 + ROUNDING)),
    "ImageAugmentation:cutout_holes": _whole_share(1, 1, 3),
    "ImageAugmentation:cutout_length": _whole_share(16, 1, 50),
    f"{CONFIG_PREFIX}init_channels": _whole_share(32, 1, 10_000),
    f"{CONFIG_PREFIX}layers": _whole_share(8, 1, 10_000),
    "OptimizerSelector:sgd:learning_rate": math.log(0.025),
    "OptimizerSelector:sgd:momentum": _share(0.9, 0.1, 0.99),
    "OptimizerSelector:sgd:weight_decay": math.log(0.0003),
    "SimpleLearningrateSchedulerSelector:cosine_annealing:T_max": _whole_share(100, 1, 10_000),
    "SimpleLearningrateSchedulerSelector:cosine_annealing:eta_min": _share(1e-8, 0, 10_000),
    "SimpleTrainNode:mixup:alpha": _share(math.log(0.2), math.log(0.01), math.log(0.7)),
}
"""Settings that are numbers: a share of their published range, or a logarithm where that has no end."""

SETTING_FEATURES: Mapping[str, float] = {name: _SCALED.get(name, 0.0) for name in FIXED_SETTINGS}
"""What stands for each setting in a row of features. Choices and constants are the number of their option, 0."""
