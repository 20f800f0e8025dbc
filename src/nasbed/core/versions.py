"""The versions that a result records."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

import nasbed


def package_versions(*packages: str) -> dict[str, str]:
    """The versions of nasbed, Python and those of the packages that are installed."""
    versions = {"nasbed": nasbed.__version__, "python": platform.python_version()}
    for package in packages:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions
