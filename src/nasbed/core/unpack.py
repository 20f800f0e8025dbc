"""Published archives, opened for the time of an import."""

from __future__ import annotations

import gzip
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from nasbed.core.errors import BadFile, NasbedError, shorten

ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")
"""How the names of files end that are unpacked."""
_DAMAGE = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    gzip.BadGzipFile,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)


@contextmanager
def unpacked(path: Path, parent: Path) -> Iterator[Path]:
    """What an archive holds, as a folder in ``parent`` that is removed at the end; any other file or folder as it is.

    An archive whose files are all in one folder is that folder. Nothing is written outside, no link is made, and an
    archive that claims more than the disk has room for is refused before anything is written.
    """
    if not path.name.endswith(ARCHIVES) or not path.is_file():
        yield path
        return
    is_new = not parent.exists()
    parent.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(prefix=".unpacked-", dir=parent) as name:
            try:
                _unpack(path, Path(name))
            except NasbedError:
                raise
            except _DAMAGE as error:
                raise BadFile(f"{path} is not a readable {path.suffix} archive: {error}; get it again") from None
            yield _inmost(Path(name))
    finally:
        if is_new:
            with suppress(OSError):  # not empty: tables were made
                parent.rmdir()


def _unpack(path: Path, folder: Path) -> None:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            _check_room(path, folder, sum(member.file_size for member in members))
            archive.extractall(folder, members)  # which drops "..", drives and leading slashes, and makes no links
    else:
        with tarfile.open(path, "r:" if path.suffix == ".tar" else "r:gz") as archive:
            files = [member for member in archive if member.isfile()]
            _check_room(path, folder, sum(member.size for member in files))
            for member in files:
                _extract(archive, member, folder)


def _extract(archive: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    name = PurePosixPath(member.name)
    if name.is_absolute() or ".." in name.parts:
        raise ValueError(f"{shorten(member.name)} would lie outside")
    target = folder / name
    target.parent.mkdir(parents=True, exist_ok=True)
    data = archive.extractfile(member)
    if data is not None:
        with data, target.open("wb") as file:
            shutil.copyfileobj(data, file)


def _check_room(path: Path, folder: Path, claimed: int) -> None:
    room = shutil.disk_usage(folder).free
    if claimed > room:
        raise BadFile(f"{path} unpacks to {claimed} bytes and {room} are free in {folder.parent}; make room first")


def _inmost(folder: Path) -> Path:
    while len(inside := list(folder.iterdir())) == 1 and inside[0].is_dir():
        folder = inside[0]
    return folder


def read_limited(path: Path, most: int) -> bytes:
    """The bytes of a file of at most ``most`` bytes."""
    try:
        with path.open("rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror or error}; check the path") from None
    if len(data) > most:
        raise BadFile(f"{path} has more than the {most} bytes of such a file; it is not read")
    return data


def gunzipped(path: Path, most: int) -> bytes:
    """The bytes of a file, unpacked if it is gzip's, whatever its name; a file of more than ``most`` is refused."""
    try:
        with path.open("rb") as plain:
            packed = plain.read(2) == b"\x1f\x8b"
            plain.seek(0)
            if packed:
                with gzip.GzipFile(fileobj=plain) as file:
                    data = file.read(most + 1)
            else:
                data = plain.read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise BadFile(f"{path} cannot be read: {str(error).splitlines()[0]}; get it again") from None
    if len(data) > most:
        raise BadFile(f"{path} unpacks to more than the {most} bytes of such a file; it is not read")
    return data
