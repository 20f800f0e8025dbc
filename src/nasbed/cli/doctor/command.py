"""``nasbed doctor``: print what is installed, what is missing for which feature, and what is broken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated

import typer

from nasbed.cli.doctor.installation import Installation, installation, unusable_core
from nasbed.core.packages import CORE, EXTRAS, Extra, missing_packages, package_version
from nasbed.terminal.output import Json, print_fields, print_json, print_table
from nasbed.terminal.progress import count_bar

BROKEN = 1
"""The exit status where something is broken."""


def doctor(
    quick: Annotated[
        bool, typer.Option("--quick", help="Skip the imports of packages and the verification of the data.")
    ] = False,
    json: Json = False,
) -> None:
    """Check this installation: packages, the features that lack an extra, the home folder, the GPU, and the data of the
    package.

    The exit status is 0 if nothing is broken, else 1. An extra that is not installed is not broken.

    Example: nasbed doctor

    Example: nasbed doctor --quick --json
    """
    installed = installation()
    verified: dict[str, int] = {}
    if not quick:
        unusable = unusable_core()
        installed.problems.extend(unusable)
        verified = {} if unusable or missing_packages(CORE) else _verify(installed)
    if json:
        print_json({**asdict(installed), "verified": verified, "extras": _extras()})
    else:
        _print(installed, verified)
    if installed.problems:
        raise typer.Exit(BROKEN)


def _verify(installed: Installation) -> dict[str, int]:
    """Verify the data of the package, add the damage to the problems, and return the number of files of each kind."""
    from nasbed.cli.doctor.embedded import damaged_files, embedded_files

    files = embedded_files()
    with count_bar("Verifying") as report_count:
        installed.problems.extend(damaged_files(files, report_count))
    return {kind: len(paths) for kind, paths in files.items()}


def _extras() -> list[dict[str, object]]:
    return [
        {
            "name": extra.name,
            "feature": extra.feature,
            "packages": {package: package_version(package) for package in extra.packages},
            "missing": extra.missing,
            "install": extra.install,
        }
        for extra in EXTRAS.values()
    ]


def _print(installed: Installation, verified: Mapping[str, int]) -> None:
    print_fields(
        {
            "nasbed": f"{installed.nasbed}, Python {installed.python}, {installed.machine}",
            "core": ", ".join(f"{package} {version or 'missing'}" for package, version in installed.core.items()),
            "home": f"{installed.home} ({_home_state(installed)})",
            "GPU": _gpu_line(installed),
            "Triton": _triton_line(installed),
            "data": _data_line(verified),
        }
    )
    typer.echo()
    rows = [(extra.name, extra.feature, _extra_state(extra)) for extra in EXTRAS.values()]
    print_table(("extra", "for", "state"), rows)
    typer.echo()
    for problem in installed.problems:
        typer.echo(f"broken: {problem}")
    if not installed.problems:
        typer.echo("Nothing is broken.")


def _home_state(installed: Installation) -> str:
    if not installed.home_writable:
        return "cannot be written to"
    return "writable" if installed.home_exists else "made when it is first needed"


def _gpu_line(installed: Installation) -> str:
    if not installed.torch:
        return "not looked for without torch"
    return ", ".join(installed.gpus) or f"torch {installed.torch} sees none; networks are trained on the CPU"


def _triton_line(installed: Installation) -> str:
    if installed.triton:
        return installed.triton if installed.gpus else f"{installed.triton}, of use with a GPU"
    return "not installed; populations on a GPU need it: pip install triton"


def _data_line(verified: Mapping[str, int]) -> str:
    """How much of the package's data was read."""
    if not verified:
        return "not verified"
    from nasbed.cli.doctor.embedded import CHECKSUMMED

    checked, parsed = (
        ", ".join(f"{count} {kind}" for kind, count in verified.items() if (kind in CHECKSUMMED) is checksummed)
        for checksummed in (True, False)
    )
    return f"checksums verified of {checked}; parsed {parsed}"


def _extra_state(extra: Extra) -> str:
    if not extra.missing:
        return " ".join(f"{package} {package_version(package)}" for package in extra.packages)
    lacking = "missing" if len(extra.missing) == len(extra.packages) else f"lacks {', '.join(extra.missing)}"
    return f"{lacking}: {extra.install}"
