"""The process between the runner and a submission: it takes rights away, then starts the submission.

``python -m nasbed.challenge.launcher``, with a plan as JSON on standard input. It adopts orphaned processes of the
submission, and everything it started ends with it.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, NoReturn

from nasbed.challenge import system_calls as system
from nasbed.challenge.limits import Limits, set_limits
from nasbed.challenge.processes import kill_all
from nasbed.challenge.root_folder import SCRATCH, build_root

FAILED = 125
"""The exit status where the submission was not started."""
STARTED = b'{"started": true}\n'


def main() -> NoReturn:
    try:
        plan = json.load(sys.stdin)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        if sys.platform == "linux":
            system.die_with_parent()
            system.adopt_orphans()
        start = _in_namespaces if plan["isolation"] == "namespaces" else _without_namespaces
        status = start(plan)
    except (OSError, ValueError, KeyError) as error:
        print(f"nasbed: the submission could not be isolated: {error}", file=sys.stderr, flush=True)
        status = FAILED
    os._exit(status)


def _in_namespaces(plan: dict[str, Any]) -> int:
    new = system.CLONE_NEWNS | system.CLONE_NEWPID | system.CLONE_NEWNET | system.CLONE_NEWIPC | system.CLONE_NEWUTS
    user, group = os.geteuid(), os.getegid()
    if plan["user"] is None:
        system.unshare(new | system.CLONE_NEWUSER)
        Path("/proc/self/setgroups").write_text("deny", encoding="utf-8")
        Path("/proc/self/uid_map").write_text(f"{user or 1000} {user} 1", encoding="utf-8")
        Path("/proc/self/gid_map").write_text(f"{group or 1000} {group} 1", encoding="utf-8")
    else:
        system.unshare(new)
    first = os.fork()
    if first == 0:
        _run_and_exit(lambda: _first_process(plan))
    _close_files()
    return _status(os.waitpid(first, 0)[1])


def _first_process(plan: dict[str, Any]) -> int:
    """Number 1 of the new namespace: when it ends, the system kills all others in it."""
    system.die_with_parent()
    limits = Limits(**plan["limits"])
    build_root(
        plan["root"],
        visible=plan["shown"],
        hidden=plan["hidden"],
        submission=plan["submission"],
        scratch_bytes=limits.scratch_bytes,
        scratch_files=limits.scratch_files,
        owner=plan["user"],
    )
    system.bound_capabilities()
    if plan["user"] is not None:
        _become(plan["user"])
    system.drop_capabilities()
    system.gain_no_privileges()
    system.die_with_parent()
    system.close_memory()  # the plan names the folders of the datasets
    return _run(plan, limits, f"{SCRATCH}/submission", 0)


def _without_namespaces(plan: dict[str, Any]) -> int:
    """Run without namespaces. Orphans of the submission are adopted by this process and killed."""
    status = _run(plan, Limits(**plan["limits"]), plan["submission"], plan["users_processes"])
    kill_all(os.getpid())
    return status


def _run(plan: dict[str, Any], limits: Limits, folder: str, users_processes: int) -> int:
    worker = os.fork()
    if worker == 0:
        _run_and_exit(lambda: _become_submission(plan, limits, folder, users_processes))
    _close_files()
    while True:
        number, status = os.wait()
        if number == worker:
            return _status(status)


def _become_submission(plan: dict[str, Any], limits: Limits, folder: str, users_processes: int) -> int:
    os.setsid()
    if plan["isolation"] == "user":
        _become(plan["user"])
        system.gain_no_privileges()
    os.chdir(folder)
    set_limits(limits, users_processes=users_processes)
    os.umask(0o077)
    os.write(plan["result"], STARTED)
    os.execve(plan["command"][0], plan["command"], plan["environment"])


def _close_files() -> None:
    """Close the data files, which only the submission's own process may have open."""
    os.closerange(3, os.sysconf("SC_OPEN_MAX") if os.sysconf("SC_OPEN_MAX") > 0 else 65_536)


def _become(user: int) -> None:
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def _run_and_exit(work: Any) -> NoReturn:
    """Run in a forked process, which always ends here."""
    status = FAILED
    try:
        status = work()
    except BaseException as error:
        print(f"nasbed: the submission could not be isolated: {error}", file=sys.stderr, flush=True)
    finally:
        os._exit(status)


def _status(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    main()
