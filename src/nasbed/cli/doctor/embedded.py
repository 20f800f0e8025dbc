"""The verification of the files that come with the package."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from nasbed.core.errors import NasbedError
from nasbed.core.home import embedded_home, surrogates_folder, tables_folder

Check = Callable[[Path], object]
"""Reads a file or folder and raises where it is damaged."""
CHECKSUMMED = ("tables", "surrogates", "reference runs")
"""The kinds whose every byte is held to a checksum; the others have none and are parsed."""


def embedded_files(root: Path | None = None) -> dict[str, list[Path]]:
    """The files and folders that come with the package, by kind.

    Args:
        root: Another folder that is laid out as the package's.
    """
    root = root or embedded_home()
    patterns = {
        "tables": (tables_folder(root), "*/"),
        "surrogates": (surrogates_folder(root), "*.snb"),
        "score files": (root / "scores", "*.parquet"),
        "reference runs": (root / "reference", "*.nbr"),
        "measurement files": (root / "results", "*.jsonl"),
    }
    return {kind: sorted(folder.glob(pattern)) for kind, (folder, pattern) in patterns.items()}


def damaged_files(files: Mapping[str, list[Path]], on_progress: Callable[[int, int], None]) -> list[str]:
    """Read all files; returns a line for each that is damaged and each kind of which none is there.

    Args:
        files: From :func:`embedded_files`.
        on_progress: Called with how many are verified, of how many.
    """
    checks = _checks()
    damage = [f"the package has no {kind}; install nasbed again" for kind, paths in files.items() if not paths]
    entries = [(kind, path) for kind, paths in files.items() for path in paths]
    for number, (kind, path) in enumerate(entries, 1):
        try:
            checks[kind](path)
        except (NasbedError, OSError) as error:
            damage.append(f"{str(error).partition(';')[0]}; install nasbed again")
        on_progress(number, len(entries))
    return damage


def _checks() -> dict[str, Check]:
    """What reads each kind of file."""
    from nasbed.experiments.unseen.results import read_results
    from nasbed.leaderboard.run_file import load_run_file
    from nasbed.proxies.table import ScoreTable
    from nasbed.results.store import Results
    from nasbed.surrogates.artefact import verified_files

    return {
        "tables": lambda folder: Results.open(folder).verify(),
        "surrogates": verified_files,
        "score files": ScoreTable.read,
        "reference runs": load_run_file,
        "measurement files": lambda path: read_results([path]),
    }
