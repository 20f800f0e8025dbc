"""A search space that nasbed has never heard of, described with ConfigSpace: it samples, mutates, encodes and draws."""

from __future__ import annotations

import numpy as np
from ConfigSpace import ConfigurationSpace, EqualsCondition

import nasbed

config_space = ConfigurationSpace(
    {
        "depth": (1, 4),
        "block": ["conv", "attention", "mlp"],
        "heads": [2, 4, 8],
        "dropout": (0.0, 0.5),
    }
)
config_space.add(EqualsCondition(config_space["heads"], config_space["block"], "attention"))

space = nasbed.space_from_configspace(config_space, "my-transformer")
rng = np.random.default_rng(0)
arch = space.sample(rng)
print("sampled:  ", space.format(arch))
print("mutated:  ", space.format(space.mutate(arch, rng)))
print("neighbours:", sum(1 for _ in space.neighbors(arch)))
print("encoded:  ", space.encode([arch], "config").round(2).tolist())
