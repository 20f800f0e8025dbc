"""A submission: a folder, or an archive of one, with three modules."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from nasbed.core.errors import InvalidOption
from nasbed.core.files import file_sha256
from nasbed.core.unpack import ARCHIVES, unpacked

MODULES = ("data_processor.py", "nas.py", "trainer.py")
MOST_BYTES = 1024**3
LEFT_OUT = ("__pycache__", ".git")


@dataclass(frozen=True, slots=True)
class Submission:
    """Untrusted files, none of which has been run. ``sha256`` is of all their names and contents."""

    name: str
    origin: Path
    folder: Path
    files: tuple[str, ...]
    sha256: str

    def copy_to(self, folder: Path) -> None:
        for name in self.files:
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.folder / name, target, follow_symlinks=False)
            target.chmod(0o644 | (self.folder / name).stat().st_mode & 0o111)


@contextmanager
def open_submission(path: str | Path, scratch: str | Path) -> Iterator[Submission]:
    """Open a submission without running any of it; an archive is unpacked in the folder ``scratch``."""
    path, scratch = Path(path), Path(scratch)
    if not path.exists():
        raise InvalidOption(f"a submission is a folder or an archive of one, {path} does not exist; check the path")
    name = path.resolve().name
    for ending in ARCHIVES:
        name = name.removesuffix(ending) if path.is_file() else name
    if not re.fullmatch(r"[\w][\w.+ -]{0,99}", name):
        raise InvalidOption(f"the name of a submission is letters, digits, . _ + -, got {name!r}; rename it")
    with unpacked(path, scratch) as folder:
        if not folder.is_dir():
            raise InvalidOption(f"a submission is a folder or an archive ({', '.join(ARCHIVES)}), {path} is neither")
        missing = [module for module in MODULES if not (folder / module).is_file()]
        if missing:
            raise InvalidOption(f"a submission has {', '.join(MODULES)}, {path} lacks {', '.join(missing)}; add it")
        files = tuple(_files(folder, path))
        yield Submission(name, path, folder, files, _digest(folder, files))


def _files(folder: Path, origin: Path) -> Iterator[str]:
    total = 0
    for path in sorted(folder.rglob("*")):
        inner = path.relative_to(folder)
        if any(part in LEFT_OUT for part in inner.parts):
            continue
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise InvalidOption(f"a submission has files and folders only, {inner} of {origin} is neither; replace it")
        if path.is_file():
            total += path.stat().st_size
            yield str(inner)
    if total > MOST_BYTES:
        raise InvalidOption(f"a submission has at most {MOST_BYTES} bytes, {origin} has {total}; make it smaller")


def _digest(folder: Path, files: tuple[str, ...]) -> str:
    digest = hashlib.sha256()
    for name in files:
        digest.update(f"{name}\0{file_sha256(folder / name)}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()
