"""The limits of one run of a submission."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass

from nasbed.core.errors import InvalidOption

GIB = 1024**3
MIB = 1024**2


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one submission on one dataset. The memory counts all its processes together, and its scratch folder
    where that is in memory; ``scratch_bytes`` is all that it may write there."""

    time_s: float = 3600.0
    memory_bytes: int = 8 * GIB
    processes: int = 512
    """Threads count too."""
    open_files: int = 1024
    scratch_bytes: int = 2 * GIB
    scratch_files: int = 20_000
    log_bytes: int = MIB

    def __post_init__(self) -> None:
        if not (math.isfinite(self.time_s) and self.time_s > 0):
            raise InvalidOption(f"a time limit is above 0 seconds, got {self.time_s}; give more with --timeout")
        if self.memory_bytes < 64 * MIB:
            raise InvalidOption(
                f"a memory limit is 64 MiB or more, got {self.memory_bytes} bytes; give more with --memory"
            )

    def as_dict(self) -> dict[str, float]:
        """The limits as plain values, for a record and for another process."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def set_limits(limits: Limits, *, users_processes: int) -> None:
    """Limit this process and all that it starts. ``users_processes`` is how many processes its user has outside, which
    the system counts as well."""
    import resource  # not on Windows, where nothing is limited

    cpu_s = math.ceil(limits.time_s * (os.cpu_count() or 1)) + 1
    for kind, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, cpu_s),
        (resource.RLIMIT_FSIZE, limits.scratch_bytes),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_NPROC, limits.processes + users_processes),
        (resource.RLIMIT_DATA, limits.memory_bytes),
    ):
        _, hard_limit = resource.getrlimit(kind)
        bounded = value if hard_limit == resource.RLIM_INFINITY else min(value, hard_limit)
        resource.setrlimit(kind, (bounded, bounded))
