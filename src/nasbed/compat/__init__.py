"""Drop-ins: the interfaces that existing research scripts import, over nasbed's tables and surrogates.

``install()`` makes ``from nasbench import api``, ``from nats_bench import create`` and ``import nasbench301`` find
them, here and in the processes that multiprocessing starts. An unchanged script runs with ``python -m nasbed.compat
script.py …``, a module with ``python -m nasbed.compat -m package.module …``.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from nasbed.compat.nasbench.absent import INSTEAD
from nasbed.core.errors import DuplicateName, UnknownName, nearest

PACKAGES = {
    "nasbench": (
        "nasbench",
        "nasbench.api",
        "nasbench.lib",
        "nasbench.lib.config",
        "nasbench.lib.graph_util",
        "nasbench.lib.model_spec",
        *(f"nasbench.{name}" for name in INSTEAD),
    ),
    "nasbench301": (
        *("nasbench301", "nasbench301.api", "nasbench301.model_downloader", "nasbench301.representations"),
    ),
    "nats_bench": (
        "nats_bench",
        "nats_bench.api_size",
        "nats_bench.api_topology",
        "nats_bench.api_utils",
        "nats_bench.genotype_utils",
    ),
    "nas_201_api": ("nas_201_api", "nas_201_api.api_201", "nas_201_api.api_utils"),
}
"""The packages that have drop-ins, and the modules of each."""

_SPAWNED = str(Path(__file__).with_name("spawned"))


def install(*packages: str, replace: bool = False) -> None:
    """Let imports find the drop-ins under their published names: all of them, or those named.

    That holds for this process and for those that it starts by multiprocessing. If the published package itself is
    installed, this raises and changes nothing, unless ``replace`` is true.
    """
    names = packages or tuple(PACKAGES)
    for package in names:
        if package not in PACKAGES:
            raise UnknownName(f"there is no drop-in for {package!r}; {nearest(package, PACKAGES)}")
        if not replace and _is_installed(package):
            raise DuplicateName(
                f"the package {package} itself is installed and would be hidden; uninstall it, or let the drop-in take "
                "its place with install(replace=True) or --replace"
            )
    for package in names:
        for name in [name for name in sys.modules if name.split(".")[0] == package]:
            del sys.modules[name]
        for name in PACKAGES[package]:
            sys.modules[name] = import_module(f"nasbed.compat.{name}")
    if _SPAWNED not in sys.path:
        sys.path.insert(0 if replace else len(sys.path), _SPAWNED)


def _is_installed(package: str) -> bool:
    """Whether an import would find another package than the drop-in."""
    module = sys.modules.get(package)
    if module is not None:
        return module.__name__ != f"nasbed.compat.{package}"
    spec = find_spec(package)
    return spec is not None and (spec.origin is None or Path(spec.origin).parent != Path(_SPAWNED))


__all__ = ["PACKAGES", "install"]
