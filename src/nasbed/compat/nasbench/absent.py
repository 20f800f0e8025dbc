"""The modules of NAS-Bench-101's package that build and train networks, which have no drop-in.

They can be imported, since many scripts import what they never use. Asking one of them for anything raises, in one
line, what to use in nasbed instead.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import NoReturn

from nasbed.core.errors import InvalidOption

TRAIN = "nasbed.training.train trains one, `nasbed collect` many"
INSTEAD = {
    "lib.base_ops": "nasbed.networks.build gives the torch module of a cell",
    "lib.cifar": 'nasbed.datasets.load("cifar10") gives the images',
    "lib.evaluate": TRAIN,
    "lib.model_builder": "nasbed.networks.build gives the torch module of a cell",
    "lib.model_metrics_pb2": "`nasbed import nb101` reads the published files",
    "lib.training_time": "a recipe of nasbed.training sets the epochs",
    "scripts": '`nasbed collect`, `nasbed train` and nasbed.space("nb101").enumerate() do their work',
    "scripts.augment_model": TRAIN,
    "scripts.generate_cifar10_tfrecords": 'nasbed.datasets.load("cifar10") gives the images',
    "scripts.generate_graphs": 'nasbed.space("nb101").enumerate() gives every cell',
    "scripts.run_evaluation": TRAIN,
}
"""By module: what to use in nasbed."""


class AbsentModule(ModuleType):
    """A module without contents."""

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        published = self.__name__.removeprefix("nasbed.compat.")
        instead = INSTEAD[published.removeprefix("nasbench.")]
        raise InvalidOption(f"{published}.{name} needs TensorFlow and has no drop-in; {instead}")


def provide(package: str) -> None:
    """Let imports find these modules below a package."""
    for name in INSTEAD:
        module = AbsentModule(f"{package}.{name}", "A module that has no drop-in.")
        module.__path__ = []
        sys.modules[module.__name__] = module
        parent, _, own_name = module.__name__.rpartition(".")
        if parent in sys.modules:
            setattr(sys.modules[parent], own_name, module)
