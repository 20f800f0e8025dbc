"""The recipes that have a name. To add one: write it here, or register it by an entry point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from nasbed.core.registry import Registry
from nasbed.training.recipe import Recipe

RECIPES: Registry[Recipe] = Registry("recipe", group="nasbed.recipes")
"""The registry of recipes. Packages add to it by entry points in the group ``nasbed.recipes``."""


def _small(name: str, *, batch: int, skeleton: Mapping[str, Any] | None = None, note: str = "") -> Recipe:
    return Recipe(
        name=name,
        epochs=(1, 3, 9),
        batch=batch,
        learning_rate=0.1,
        weight_decay=1e-4,
        gradient_clip=5.0,
        crop_padding=1,
        epoch_images=2_048,
        skeleton=skeleton or {},
        source=f"for trying things out on a CPU; not from a paper{note}",
    )


_COLLECT = Recipe(
    name="collect",
    epochs=(1, 2, 4, 8),
    batch=128,
    learning_rate=0.1,
    warm_up=0.05,
    nesterov=True,
    weight_decay=5e-4,
    flip=True,
    split=(40_000, 10_000),
    epoch_images=12_800,
    precision="bfloat16",
)
"""What the recipes of the embedded tables have in common."""

_COLLECT_DARTS = replace(
    _COLLECT,
    name="collect-darts",
    epochs=(3,),
    batch=96,
    epoch_images=None,
    skeleton={"channels": 8, "cells": 5},
    source="the embedded DARTS data: short enough for populations of thousands; see docs/datasheet.md",
)

_SNB_DARTS = Recipe(
    name="snb-darts",
    epochs=(100,),
    batch=96,
    learning_rate=0.025,
    final_learning_rate=1e-8,
    momentum=0.9,
    weight_decay=3e-4,
    gradient_clip=5.0,
    crop_padding=4,
    flip=True,
    cutout=16,
    mixup=0.2,
    auxiliary_weight=0.4,
    drop_path=0.2,
    split=(40_000, 10_000),
    skeleton={"channels": 32, "cells": 8},
    source=(
        "Surrogate NAS Benchmarks (Zela et al., 2022), appendix C.6. Not stated there and taken from DARTS (Liu et "
        "al., 2019): weight decay 3e-4, gradients clipped at 5, crops and flips, drop path rising from epoch to "
        "epoch"
    ),
)

for _recipe in (
    Recipe(
        name="nb101",
        epochs=(4, 12, 36, 108),
        batch=256,
        learning_rate=0.2,
        optimizer="rmsprop",
        momentum=0.9,
        rmsprop_decay=0.9,
        rmsprop_epsilon=1.0,
        weight_decay=1e-4,
        crop_padding=4,
        flip=True,
        split=(40_000, 10_000),
        norm_momentum=0.003,
        weight_init="tensorflow",
        skeleton={"channels": 128, "stacks": 3, "cells_per_stack": 3},
        source=(
            "NAS-Bench-101 (Ying et al., 2019) and the configuration in github.com/google-research/nasbench: learning "
            "rate 0.1 for each of 2 shards, weight decay on all parameters, TensorFlow's RMSProp with its usual decay "
            "0.9, batch normalisation with a moving average of 0.997 and an epsilon of 1e-5, TensorFlow's initial "
            "weights. Not followed: a first step with learning rate 0, batch normalisation over 128 images of a shard"
        ),
    ),
    _SNB_DARTS,
    Recipe(
        name="snb-fbnet",
        epochs=(100,),
        batch=256,
        learning_rate=0.025,
        momentum=0.9,
        weight_decay=5e-4,
        sharpness_radius=0.05,
        label_smoothing=0.1,
        crop_padding=4,
        flip=True,
        split=(40_000, 10_000),
        source=(
            "Surrogate NAS Benchmarks (Zela et al., 2022), appendix D.2. Not stated anywhere in the paper and chosen "
            "here: 100 epochs, as for its DARTS networks, crops and flips. The radius of sharpness-aware minimisation "
            "is the default of Foret et al. (2021)"
        ),
    ),
    _small("small", batch=64, note="; for any space, in its usual skeleton"),
    _small("small-nb101", batch=32, skeleton={"channels": 16, "stacks": 2, "cells_per_stack": 1}),
    _small("small-nb201", batch=32, skeleton={"channels": 8, "cells_per_stage": 1}),
    _small("small-darts", batch=64, skeleton={"channels": 4, "cells": 3}),
    _COLLECT_DARTS,
    replace(
        _COLLECT_DARTS,
        name="collect-darts-12",
        epochs=(12,),
        source=(
            "version 2 of the embedded DARTS data: the cheapest of five trainings that rank architectures like "
            "reference-darts; see docs/studies.md"
        ),
    ),
    replace(
        _COLLECT_DARTS,
        name="collect-darts-unseen",
        epochs=(12,),
        flip=False,
        split=None,
        epoch_images=12_800,
        source=(
            "DARTS networks on unseen datasets; not from a paper. collect-darts-12 with the images of an epoch, the "
            "published split and the missing flips of collect-nb201"
        ),
    ),
    replace(
        _SNB_DARTS,
        name="reference-darts",
        epochs=(30,),
        mixup=0.0,
        auxiliary_weight=0.0,
        drop_path=0.0,
        precision="bfloat16",
        skeleton={"channels": 16, "cells": 8},
        source=(
            "what shorter trainings of DARTS networks are compared with: snb-darts with 30 epochs for 100, half the "
            "channels, bfloat16, and without mixup, the auxiliary head and drop path, which populations do not have"
        ),
    ),
    replace(
        _COLLECT,
        name="collect-nb101",
        skeleton={"channels": 16, "stacks": 3, "cells_per_stack": 1},
        source="the embedded table of NAS-Bench-101 cells; see docs/datasheet.md",
    ),
    replace(
        _COLLECT,
        name="collect-nb201",
        flip=False,
        split=None,
        skeleton={"channels": 16, "cells_per_stage": 1},
        source=(
            "tables of NAS-Bench-201 cells on unseen datasets; not from a paper. No flips, since digits, letters and "
            "chess boards are not the same mirrored, and the published split of a dataset that has one"
        ),
    ),
    replace(
        _COLLECT,
        name="collect-fbnet",
        epochs=(1, 2, 4, 8, 16),
        label_smoothing=0.1,
        skeleton={
            "stage_channels": (8, 12, 16, 32, 56, 92, 176),
            "stage_strides": (1, 1, 2, 2, 1, 1, 1),
            "stem_channels": 8,
            "header_channels": 752,
        },
        source=(
            "FBNet networks on CIFAR-10 at 16x16 pixels; not from a paper. Half the channels of HW-NAS-Bench's network "
            "for CIFAR-100 and its last halving left out, so that the last maps have 4x4 pixels as there; label "
            "smoothing as in snb-fbnet, sharpness-aware minimisation not followed"
        ),
    ),
    Recipe(
        name="unseen",
        epochs=(1, 2, 4, 8, 16, 32, 64),
        batch=64,
        learning_rate=0.01,
        momentum=0.9,
        weight_decay=3e-4,
        source=(
            "Unseen NAS datasets (Geada, Towers et al., 2024), section 5.1: 64 epochs; fewer are budgets of nasbed. "
            "Not stated there and taken from the example in the authors' starting kit "
            "(github.com/Towers-D/NAS-Comp-Starter-Kit), which has the same optimizer: batches of 64, a last one that "
            "is not full left out, channels normalised, no augmentation. Not followed: there the learning rate falls "
            "after each epoch, here after each step, and mean and deviation are of the training images alone, here of "
            "the validation images too"
        ),
    ),
):
    RECIPES.add(_recipe.name, _recipe)
