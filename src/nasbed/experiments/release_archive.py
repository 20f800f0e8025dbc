"""A release as one file: what ``nasbed release`` writes and ``nasbed fetch`` installs.

It is a compressed tar file, laid out as a home is (:mod:`nasbed.core.home`). Its first member, ``release.json``, has
the SHA-256 of all others. The same release gives the same bytes: members are sorted, and have neither date nor owner.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import secrets
import shutil
import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from nasbed.core.errors import BadFile, InvalidOption
from nasbed.core.files import file_sha256
from nasbed.core.home import surrogates_folder, tables_folder
from nasbed.core.locks import locked
from nasbed.results.manifest import FILE_NAME
from nasbed.results.store import Results
from nasbed.surrogates.artefact import SUFFIX as ARTEFACT_SUFFIX
from nasbed.surrogates.artefact import read_manifest

SUFFIX = ".tar.gz"
CONTENTS = "release.json"
FORMAT = "nasbed-release-1"
_FOLDERS = ("tables", "surrogates")
_PART = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")


@dataclass(frozen=True, slots=True)
class InstalledPart:
    """A table or surrogate of a release in a home."""

    name: str
    path: Path
    is_new: bool
    """False where the same was there before."""


def write_archive(folder: str | Path, archive: str | Path) -> str:
    """Write the release in a folder as one file, and return its SHA-256. The file appears when it is complete."""
    folder, archive = Path(folder), Path(archive)
    if not archive.name.endswith(SUFFIX):
        raise InvalidOption(f"an archive of a release is called NAME{SUFFIX}, got {archive.name}")
    files = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    checksums = {name: file_sha256(path) for name, path in files.items()}
    contents = json.dumps({"format": FORMAT, "sha256": checksums}, indent=1).encode()
    draft = archive.with_name(f".{secrets.token_hex(8)}.partial")
    try:
        with (
            draft.open("wb") as raw,
            gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed,
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
        ):
            tar.addfile(_member(CONTENTS, len(contents)), io.BytesIO(contents))
            for name, path in files.items():
                with path.open("rb") as content:
                    tar.addfile(_member(name, path.stat().st_size), content)
        digest = file_sha256(draft)
        draft.replace(archive)
    finally:
        draft.unlink(missing_ok=True)
    return digest


def install_archive(
    archive: str | Path, home: str | Path, say: Callable[[str], None] = lambda _: None
) -> list[InstalledPart]:
    """Install the tables and surrogates of a release into a home, all or none. What is there already stays; if it has
    other content, nothing is installed.

    Args:
        archive: a file that :func:`write_archive` wrote.
        home: where to install.
        say: called with a line while another process installs there.
    """
    archive, home = Path(archive), Path(home)
    home.mkdir(parents=True, exist_ok=True)
    with locked(home / "release", say, doing="installing a"), _unpacked(archive, home) as unpacked:
        parts = []
        for source in _parts(unpacked, archive):
            path = home / source.relative_to(unpacked)
            name = _name(path, home)
            if path.exists() and not _same(source, path):
                raise InvalidOption(
                    f"{name} is installed in {path} with other content than in {archive.name}; remove it first, or "
                    "install into another NASBED_HOME"
                )
            parts.append((source, InstalledPart(name, path, is_new=not path.exists())))
        for source, part in parts:
            if part.is_new:
                part.path.parent.mkdir(parents=True, exist_ok=True)
                source.rename(part.path)
    return [part for _, part in parts]


@contextmanager
def _unpacked(archive: Path, home: Path) -> Iterator[Path]:
    """The content of an archive in a folder of the home that is removed afterwards, every file checked."""
    draft = home / f".{secrets.token_hex(8)}.partial"
    try:
        try:
            with tarfile.open(archive, "r:gz") as tar:
                checksums = _contents(tar, archive)
                for name, member in _files(tar, archive):
                    if name not in checksums or _unpack(tar, member, draft / name) != checksums.pop(name):
                        raise BadFile(f"{archive}: {name} is not what {CONTENTS} says; get the file again")
        except (gzip.BadGzipFile, EOFError, tarfile.TarError, zlib.error) as error:
            raise BadFile(f"{archive} cannot be read as a release: {error}; get it again") from None
        if checksums:
            raise BadFile(f"{archive} lacks {min(checksums)}, which {CONTENTS} names; get the file again")
        yield draft
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _contents(tar: tarfile.TarFile, archive: Path) -> dict[str, str]:
    """The checksums that the first member has."""
    first = tar.next()
    stream = tar.extractfile(first) if first is not None and first.name == CONTENTS else None
    try:
        data = json.loads(stream.read()) if stream is not None else {}
        checksums = data["sha256"] if data["format"] == FORMAT else {}
    except (ValueError, LookupError, TypeError):
        checksums = {}
    if not isinstance(checksums, dict) or not checksums:
        raise BadFile(f"{archive} is not a release of nasbed: its first member is not {CONTENTS} of this format")
    return checksums


def _files(tar: tarfile.TarFile, archive: Path) -> Iterator[tuple[str, tarfile.TarInfo]]:
    """The other members, which may be nothing but files of tables and surrogates."""
    for member in tar:
        parts = PurePosixPath(member.name).parts
        if member.name == CONTENTS:
            continue
        if not member.isreg() or len(parts) < 2 or parts[0] not in _FOLDERS or not all(map(_PART.fullmatch, parts)):
            raise BadFile(f"{archive} holds {member.name!r}, which is no file of a table or surrogate; do not use it")
        yield "/".join(parts), member


def _unpack(tar: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> str:
    """Write a member and return its SHA-256."""
    path.parent.mkdir(parents=True, exist_ok=True)
    stream = tar.extractfile(member)
    assert stream is not None
    with stream, path.open("xb") as out:
        shutil.copyfileobj(stream, out)
    return file_sha256(path)


def _parts(home: Path, archive: Path) -> list[Path]:
    """The folders of tables and the surrogates of a home, which must be nothing else and open."""
    tables = [path.parent for path in sorted(tables_folder(home).rglob(FILE_NAME))]
    folder = surrogates_folder(home)
    surrogates = sorted(folder.iterdir()) if folder.is_dir() else []
    for path in (path for path in home.rglob("*") if path.is_file()):
        if sum(path.is_relative_to(part) for part in (*tables, *surrogates)) != 1:
            raise BadFile(f"{archive} holds {path.relative_to(home)}, which is of no table, or of two; do not use it")
    for table in tables:
        Results.open(table)
    for surrogate in surrogates:
        read_manifest(surrogate)
    return tables + surrogates


def _name(path: Path, home: Path) -> str:
    kind = tables_folder(home) if path.is_relative_to(tables_folder(home)) else surrogates_folder(home)
    return path.relative_to(kind).as_posix().removesuffix(ARTEFACT_SUFFIX)


def _same(first: Path, second: Path) -> bool:
    """Whether two surrogates are the same file, or two tables have the same manifest, which has their checksums."""
    files = [path / FILE_NAME if path.is_dir() else path for path in (first, second)]
    return all(path.is_file() for path in files) and files[0].read_bytes() == files[1].read_bytes()


def _member(name: str, size: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, 0o644
    return member
