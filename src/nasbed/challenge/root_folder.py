"""The file system of a submission: a new read-only root with the files that Python needs, and one scratch folder."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from nasbed.challenge import system_calls as system

SCRATCH = "/scratch"
DEVICES = ("null", "zero", "full", "random", "urandom")
ROOT_SPACE = "size=16m,nr_inodes=16k,mode=755"


def build_root(
    root: str,
    *,
    visible: Sequence[str],
    hidden: Sequence[str],
    submission: str,
    scratch_bytes: int,
    scratch_files: int,
    owner: int | None,
) -> None:
    """Make the folder ``root`` the root of this mount namespace.

    Args:
        root: The folder.
        visible: Files and folders that keep their places.
        hidden: Paths that are covered where they lie in a visible folder.
        submission: The folder that is copied into the scratch folder, a file system of bounded size in memory.
        scratch_bytes: The size of the scratch folder.
        scratch_files: The number of files in it.
        owner: The user who gets the scratch folder; this user by default.
    """
    system.mount("none", "/", None, system.MS_REC | system.MS_PRIVATE)
    system.mount("tmpfs", root, "tmpfs", system.MS_NOSUID | system.MS_NODEV, ROOT_SPACE)
    _scratch(root, submission, scratch_bytes, scratch_files, owner)
    for path in visible:
        _show(root, path)
    for path in hidden:
        _hide(root, path, visible)
    for path in visible:
        if not Path(path).is_symlink():
            system.make_read_only(root + path)
    _devices(root)
    _processes(root)
    _users(root, owner)
    system.mount("none", root, None, system.MS_REMOUNT | system.MS_RDONLY | system.MS_NOSUID | system.MS_NODEV)
    system.enter_root(root)


def _show(root: str, path: str) -> None:
    source, target = Path(path), Path(root + path)
    if target.exists() or target.is_symlink():
        return  # in a folder that is shown already
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_symlink():
        target.symlink_to(source.readlink())
        return
    if source.is_dir():
        target.mkdir()
    else:
        target.touch()
    system.bind(path, str(target))


def _hide(root: str, path: str, visible: Sequence[str]) -> None:
    target = Path(root + path)
    if any(Path(path).is_relative_to(folder) for folder in visible) and target.exists():
        if target.is_dir():
            system.mount("tmpfs", str(target), "tmpfs", system.MS_RDONLY | system.MS_NOSUID, "size=4k,mode=555")
        else:
            system.bind("/dev/null", str(target))


def _scratch(root: str, submission: str, size: int, files: int, owner: int | None) -> None:
    scratch = Path(root + SCRATCH)
    scratch.mkdir()
    flags = system.MS_NOSUID | system.MS_NODEV
    system.mount("tmpfs", str(scratch), "tmpfs", flags, f"size={size},nr_inodes={files},mode=755")
    shutil.copytree(submission, scratch / "submission", symlinks=True)
    for name in ("tmp", "shm", "home"):
        (scratch / name).mkdir()
    if owner is not None:
        give_to(scratch, owner)
    for name, place in (("tmp", "/tmp"), ("shm", "/dev/shm")):
        Path(root + place).mkdir(parents=True)
        system.bind(str(scratch / name), root + place)


def give_to(folder: Path, owner: int) -> None:
    """Change the owner of a folder and all in it."""
    for inner, _, names in os.walk(folder):
        for path in (Path(inner), *(Path(inner, name) for name in names)):
            os.chown(path, owner, owner, follow_symlinks=False)


def _devices(root: str) -> None:
    for name in DEVICES:
        target = Path(root, "dev", name)
        target.touch()
        system.bind(f"/dev/{name}", str(target))
    for name, aim in (("fd", "fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        Path(root, "dev", name).symlink_to(f"/proc/self/{aim}")


def _processes(root: str) -> None:
    """Mount /proc of the new namespace only. If a container forbids it, the folder is empty."""
    target = Path(root, "proc")
    target.mkdir()
    flags = system.MS_NOSUID | system.MS_NODEV | system.MS_NOEXEC
    try:
        system.mount("proc", str(target), "proc", flags)
    except OSError as error:
        print(f"nasbed: the submission sees no /proc: {error}", flush=True)


def _users(root: str, owner: int | None) -> None:
    number = os.getuid() if owner is None else owner
    etc = Path(root, "etc")
    etc.mkdir(exist_ok=True)
    (etc / "passwd").write_text(f"contestant:x:{number}:{number}::{SCRATCH}/home:/bin/sh\n")
    (etc / "group").write_text(f"contestant:x:{number}:\n")
