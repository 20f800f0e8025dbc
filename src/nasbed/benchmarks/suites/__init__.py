"""Suites: lists of benchmarks that methods are compared on together, one TOML file each."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from nasbed.benchmarks.suites.suite import JUDGES, Suite, SuiteEntry, read_suite
from nasbed.core.errors import BadFile, InvalidOption, shorten
from nasbed.core.registry import Registry

SUITES = Registry[Path]("suite", group="nasbed.suites")
"""The TOML files of suites by id. An installed package adds one by an entry point that is its path."""
for _name in ("quick", "tabular", "surrogate", "unseen", "multi-fidelity"):
    SUITES.add(_name, Path(str(resources.files(__name__).joinpath(f"{_name}.toml"))))


def load_suite(name: str | Path) -> Suite:
    """A suite by its id, or from a TOML file of your own."""
    if not isinstance(name, str | Path):
        raise InvalidOption(f"a suite is an id, a TOML file or a Suite, got {shorten(name)}")
    if isinstance(name, Path) or name.endswith(".toml"):
        path = Path(name)
        if not path.is_file():
            raise BadFile(f"{path} is not a file; a suite is a TOML file, or one of: {', '.join(SUITES)}")
        return read_suite(path)
    return read_suite(Path(SUITES.get(name)), name=name)


__all__ = ["JUDGES", "SUITES", "Suite", "SuiteEntry", "load_suite", "read_suite"]
