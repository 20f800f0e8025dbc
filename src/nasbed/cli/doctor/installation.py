"""What is installed on this machine: versions, the home folder, the GPU."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import nasbed
from nasbed.core.errors import exception_line
from nasbed.core.home import home
from nasbed.core.packages import CORE, EXTRAS, missing_packages, package_version, unusable_packages

TRITON = "triton"


@dataclass(frozen=True, slots=True)
class Installation:
    """Versions are empty texts where a package is not installed. ``problems`` has a line for each thing that is broken;
    a missing extra is none."""

    nasbed: str
    python: str
    machine: str
    core: dict[str, str]
    home: str
    home_exists: bool
    home_writable: bool
    torch: str
    gpus: list[str]
    triton: str
    problems: list[str] = field(default_factory=list)


def installation() -> Installation:
    """What is installed here. Torch is imported if it is installed, to ask for GPUs."""
    folder = home()
    writable = is_writable(folder)
    problems = [f"the package {package} is missing; run: pip install nasbed" for package in missing_packages(CORE)]
    if not writable:
        problems.append(f"the home {folder} cannot be written to; name another folder by the variable NASBED_HOME")
    gpus: list[str] = []
    if not EXTRAS["torch"].missing:
        try:
            gpus = _gpu_names()
        except Exception as error:  # a damaged installation raises anything
            problems.append(f"torch cannot be used: {exception_line(error)}; install it again")
    return Installation(
        nasbed=nasbed.__version__,
        python=platform.python_version(),
        machine=f"{platform.system()} {platform.machine()}",
        core={package: _core_version(package) for package in CORE},
        home=str(folder),
        home_exists=folder.exists(),
        home_writable=writable,
        torch="" if EXTRAS["torch"].missing else package_version("torch"),
        gpus=gpus,
        triton=package_version(TRITON) if find_spec(TRITON) else "",
        problems=problems,
    )


def unusable_core() -> list[str]:
    """Import the installed packages of the core; returns a line for each that cannot be imported."""
    missing = missing_packages(CORE)
    errors = unusable_packages(package for package in CORE if package not in missing)
    return [f"the package {package} cannot be imported: {error}; install it again" for package, error in errors.items()]


def is_writable(folder: Path) -> bool:
    """Whether files can be written to a folder, or to the nearest existing folder above it, where it would be made."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)


def _core_version(package: str) -> str:
    return package_version(package) or package_version(f"{package}-cpu")


def _gpu_names() -> list[str]:
    """The CUDA devices that torch sees."""
    import torch

    return [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
