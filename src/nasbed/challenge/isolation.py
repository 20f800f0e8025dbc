"""The isolation of submissions that works on this machine, found by trying."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import nasbed
from nasbed.challenge.limits import Limits
from nasbed.challenge.processes import all_processes, owner_of, threads_of
from nasbed.core.errors import InvalidOption, nearest

KINDS = ("namespaces", "user", "none")
"""From the safest down."""
ABOUT = {
    "namespaces": "its own file system, processes and users; no network, nothing outside to read or to write",
    "user": "another user of the machine: what that user may not read or write is out of reach; the network and the "
    "list of processes, with the names of the datasets, are not",
    "none": "limits of time and memory only: it can read and write whatever you can, test labels and names of datasets "
    "too",
}
USERS = range(60_578, 61_184)
"""User numbers that Debian and systemd leave unused."""
PROBE_S = 60.0
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store")
ETC = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "nsswitch.conf", "fonts")
KEPT = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "CUDA_VISIBLE_DEVICES")
"""Environment variables that a submission gets as they are."""


@dataclass(frozen=True, slots=True)
class Isolation:
    """One of :data:`KINDS`, the user of a submission if it is another one, and notes: why nothing safer was chosen, and
    its gaps on this machine."""

    kind: str
    user: int | None = None
    notes: tuple[str, ...] = field(default=())


def choose_isolation(requested: str, labels: Sequence[Path] = ()) -> Isolation:
    """The safest isolation that works here, or the ``requested`` one; raises if that does not work. Files of ``labels``
    that another user could read, and folders of theirs whose names the submission sees, are noted."""
    if requested not in ("auto", *KINDS):
        raise InvalidOption(f"isolation is auto, {', '.join(KINDS)}, got {requested!r}; {nearest(requested, KINDS)}")
    notes: list[str] = []
    for kind in KINDS if requested == "auto" else (requested,):
        for user in _users(kind):
            problem = _problem(kind, user)
            if not problem:
                gap = {"user": readable_by_all, "namespaces": named_in_sight}.get(kind)
                notes += [text] if gap is not None and (text := gap(labels)) else []
                return Isolation(kind, user, tuple(notes))
            notes.append(f"no {kind}: {problem}")
    raise InvalidOption(f"isolation by {requested} does not work here, {'; '.join(notes)}; use --isolation auto")


def check_platform(requested: str) -> None:
    """Raise where no submission can run, as on Windows, or none unless it is trusted, as on macOS."""
    if not hasattr(os, "fork"):
        raise InvalidOption(
            "submissions run on Linux, and on macOS with --isolation none; 'challenge score' and 'challenge baseline' "
            "work here, for 'challenge run' use WSL or another machine"
        )
    if sys.platform != "linux" and requested != "none":
        raise InvalidOption(
            "the isolation of submissions needs Linux; for code that you trust, use --isolation none, which limits "
            "its time, or run it on Linux"
        )


def _users(kind: str) -> list[int | None]:
    """The users to try: root becomes another user; any other user gets a user namespace."""
    free = free_user() if sys.platform == "linux" and os.geteuid() == 0 else None
    if kind == "namespaces":
        return [None] if free is None else [free, None]
    if kind == "user":
        return [free]
    return [None]


@cache
def free_user() -> int:
    """An unused user number. Two runners take different ones."""
    import pwd  # not on Windows

    used = {owner_of(number) for number in all_processes()}
    start = os.getpid() % len(USERS)
    number: int
    for number in (*USERS[start:], *USERS[:start]):
        try:
            pwd.getpwuid(number)
        except KeyError:
            if number not in used:
                return number
    raise InvalidOption(f"users {USERS[0]} to {USERS[-1]} are all in use, a submission needs one; free one")


@cache
def _problem(kind: str, user: int | None) -> str:
    """Why a submission cannot start with this isolation; empty if it can."""
    if kind == "none":
        return ""
    if sys.platform != "linux":
        return "needs Linux"
    if kind == "user" and user is None:
        return "only root can start programs as another user"
    with tempfile.TemporaryDirectory(prefix="nasbed-challenge-") as name:
        folder = Path(name)
        folder.chmod(0o711)
        for inner in ("root", "submission"):
            (folder / inner).mkdir()
        (folder / "submission").chmod(0o755)
        reading, writing = os.pipe()
        try:
            plan = launch_plan(Isolation(kind, user), Limits(), folder, hidden=(), result=writing)
            plan["command"] = [sys.executable, "-P", "-c", "import nasbed.challenge.pipeline"]
            trial = subprocess.run(
                launcher_command(),
                check=False,
                input=json.dumps(plan).encode(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=(writing,),
                timeout=PROBE_S,
                start_new_session=True,
                env=environment(str(folder)),
            )
        except subprocess.TimeoutExpired:
            return "a trial did not end"
        finally:
            os.close(reading)
            os.close(writing)
    if trial.returncode == 0:
        return ""
    lines = trial.stderr.decode(errors="replace").strip().splitlines()
    return lines[-1][:200] if lines else f"a trial ended with status {trial.returncode}"


def readable_by_all(labels: Sequence[Path]) -> str:
    """Which file every user could read, in a sentence; empty if none. Access lists are not checked."""
    for path in labels:
        path = path.resolve()
        if all(folder.stat().st_mode & 0o001 for folder in path.parents) and path.stat().st_mode & 0o004:
            return f"the submission can read {path}; chmod o= its folder"
    return ""


def named_in_sight(labels: Sequence[Path]) -> str:
    """Which dataset's folder lies in one that submissions see, where its name can be read; empty if none."""
    for path in labels:
        folder = path.resolve().parent
        if any(folder.is_relative_to(visible) for visible in visible_paths()):
            return f"the submission can read the name of {folder}, though not what is in it; move the dataset elsewhere"
    return ""


def launcher_command() -> list[str]:
    return [sys.executable, "-P", "-m", "nasbed.challenge.launcher"]


def launch_plan(
    isolation: Isolation, limits: Limits, folder: Path, *, hidden: Sequence[Path], result: int
) -> dict[str, object]:
    """The plan for the launcher.

    Args:
        isolation: How the submission is isolated.
        limits: Its limits.
        folder: The folder with an empty ``root`` and the ``submission``.
        hidden: Paths that the submission must not see.
        result: The descriptor that the submission writes its reply to.
    """
    scratch = "/scratch" if isolation.kind == "namespaces" else str(folder)
    inside = isolation.kind == "namespaces"
    return {
        "isolation": isolation.kind,
        "user": isolation.user,
        "users_processes": threads_of(os.getuid() if isolation.user is None else isolation.user),
        "limits": limits.as_dict(),
        "root": str(folder.resolve() / "root"),
        "submission": str(folder.resolve() / "submission"),
        "shown": visible_paths() if inside else [],
        "hidden": sorted({str(path.resolve()) for path in hidden}),  # in an order that tells nothing
        "environment": environment(scratch),
        "result": result,
    }


def environment(scratch: str) -> dict[str, str]:
    """The environment of a submission: of the user's own, only the number of threads and the choice of devices."""
    inherited = {name: os.environ[name] for name in KEPT if name in os.environ}
    return inherited | {
        "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
        "HOME": f"{scratch}/home",
        "TMPDIR": f"{scratch}/tmp",
        "USER": "contestant",
        "LOGNAME": "contestant",
        "LANG": "C.UTF-8",
        "PYTHONPATH": os.pathsep.join(_search_path()),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
    }


@cache
def _search_path() -> tuple[str, ...]:
    """Where a fresh interpreter looks for packages, without the working directory."""
    code = "import json, sys; print(json.dumps(sys.path))"
    process = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    paths = [path for path in json.loads(process.stdout) if Path(path).is_absolute() and Path(path).exists()]
    source = str(Path(nasbed.__file__).resolve().parents[1])
    return tuple(paths if source in paths else [*paths, source])


@cache
def visible_paths() -> list[str]:
    """The files and folders of Python, its packages and the system's libraries; outer folders come first."""
    candidates = [*SYSTEM, *(f"/etc/{name}" for name in ETC), str(Path(nasbed.__file__).parent)]
    candidates += [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix, *_search_path()]
    graphics = [str(path) for path in Path("/dev").glob("nvidia*")]
    candidates += [*graphics, *(("/sys/devices", "/sys/module") if graphics else ("/sys/devices/system",))]
    existing: set[str] = set()
    for path in candidates:
        if path != "/" and Path(path).exists():
            existing |= {path, str(Path(path).resolve())}
    around = [path for path in existing if not Path(path).is_symlink()]
    return sorted(
        path for path in existing if not any(path != folder and path.startswith(folder + "/") for folder in around)
    )
