"""How far a submission can be set apart from the machine here, found out by trying."""

from __future__ import annotations

import json
import os
import pwd
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
    "user": "another user of the machine: what that user may not read or write is out of reach; the network is not",
    "none": "limits of time and memory only: it can read and write whatever you can, test labels too",
}
USERS = range(60_578, 61_184)
"""Numbers that Debian and systemd leave to nobody."""
PROBE_S = 60.0
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store")
ETC = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "nsswitch.conf", "fonts")
KEPT = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "CUDA_VISIBLE_DEVICES")
"""Environment variables that a submission gets as they are."""


@dataclass(frozen=True, slots=True)
class Isolation:
    """One of :data:`KINDS`, as whom a submission runs where that is another user, and what to know of it: why nothing
    safer was taken, and what it leaves open here."""

    kind: str
    user: int | None = None
    notes: tuple[str, ...] = field(default=())


def chosen_isolation(wanted: str, labels: Sequence[Path] = ()) -> Isolation:
    """The safest that works here, or the one that is ``wanted``; raises where that does not work. Files of ``labels``
    that another user could read are noted."""
    if wanted not in ("auto", *KINDS):
        raise InvalidOption(f"isolation is auto, {', '.join(KINDS)}, got {wanted!r}; {nearest(wanted, KINDS)}")
    notes: list[str] = []
    for kind in KINDS if wanted == "auto" else (wanted,):
        for user in _users(kind):
            problem = _problem(kind, user)
            if not problem:
                notes += [readable] if kind == "user" and (readable := readable_by_all(labels)) else []
                return Isolation(kind, user, tuple(notes))
            notes.append(f"no {kind}: {problem}")
    raise InvalidOption(f"isolation by {wanted} does not work here, {'; '.join(notes)}; use --isolation auto")


def _users(kind: str) -> list[int | None]:
    """Root becomes somebody else; whoever is somebody else gets a user namespace."""
    other = free_user() if os.geteuid() == 0 and sys.platform == "linux" else None
    if kind == "namespaces":
        return [None] if other is None else [other, None]
    if kind == "user":
        return [other]
    return [None]


@cache
def free_user() -> int:
    """The number of a user whom nobody is. Two runners take different ones."""
    used = {owner_of(number) for number in all_processes()}
    start = os.getpid() % len(USERS)
    number: int
    for number in (*USERS[start:], *USERS[:start]):
        try:
            pwd.getpwuid(number)
        except KeyError:
            if number not in used:
                return number
    raise InvalidOption(f"users {USERS[0]} to {USERS[-1]} are all taken, none is left for a submission; free one")


@cache
def _problem(kind: str, user: int | None) -> str:
    """Why a submission cannot be started so; empty where it can."""
    if kind == "none":
        return ""
    if sys.platform != "linux":
        return "needs Linux"
    if kind == "user" and user is None:
        return "only root can start programs as another user"
    with tempfile.TemporaryDirectory(prefix="nasbed-challenge-") as name:
        folder = Path(name)
        folder.chmod(0o711)
        for each in ("root", "submission"):
            (folder / each).mkdir()
        (folder / "submission").chmod(0o755)
        reading, writing = os.pipe()
        try:
            plan = launch_plan(Isolation(kind, user), Limits(), folder, hidden=(), result=writing)
            plan["command"] = [sys.executable, "-P", "-c", "import nasbed.challenge.child"]
            done = subprocess.run(
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
    if done.returncode == 0:
        return ""
    said = done.stderr.decode(errors="replace").strip().splitlines()
    return said[-1][:200] if said else f"a trial ended with status {done.returncode}"


def readable_by_all(labels: Sequence[Path]) -> str:
    """Which file every user could read, in a sentence; empty where none. No access lists are looked at."""
    for path in labels:
        path = path.resolve()
        if all(folder.stat().st_mode & 0o001 for folder in path.parents) and path.stat().st_mode & 0o004:
            return f"the submission can read {path}; chmod o= its folder"
    return ""


def launcher_command() -> list[str]:
    return [sys.executable, "-P", "-m", "nasbed.challenge.launcher"]


def launch_plan(
    isolation: Isolation, limits: Limits, folder: Path, *, hidden: Sequence[Path], result: int
) -> dict[str, object]:
    """What the launcher is told. ``folder`` has an empty ``root`` and the ``submission``."""
    scratch = "/scratch" if isolation.kind == "namespaces" else str(folder)
    inside = isolation.kind == "namespaces"
    return {
        "isolation": isolation.kind,
        "user": isolation.user,
        "users_processes": threads_of(os.getuid() if isolation.user is None else isolation.user),
        "limits": limits.as_dict(),
        "root": str(folder.resolve() / "root"),
        "submission": str(folder.resolve() / "submission"),
        "shown": shown_paths() if inside else [],
        "hidden": [str(path.resolve()) for path in hidden],
        "environment": environment(scratch),
        "result": result,
    }


def environment(scratch: str) -> dict[str, str]:
    """Nothing of the user's own but the number of threads and the choice of devices."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return kept | {
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
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    found = [path for path in json.loads(done.stdout) if Path(path).is_absolute() and Path(path).exists()]
    source = str(Path(nasbed.__file__).resolve().parents[1])
    return tuple(found if source in found else [*found, source])


@cache
def shown_paths() -> list[str]:
    """Files and folders that Python, its packages and the system's libraries are in; those around others first."""
    wanted = [*SYSTEM, *(f"/etc/{name}" for name in ETC), str(Path(nasbed.__file__).parent)]
    wanted += [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix, *_search_path()]
    graphics = [str(path) for path in Path("/dev").glob("nvidia*")]
    wanted += [*graphics, *(("/sys/devices", "/sys/module") if graphics else ("/sys/devices/system",))]
    found: set[str] = set()
    for path in wanted:
        if path != "/" and Path(path).exists():
            found |= {path, str(Path(path).resolve())}
    around = [path for path in found if not Path(path).is_symlink()]
    return sorted(path for path in found if not any(path != each and path.startswith(each + "/") for each in around))
