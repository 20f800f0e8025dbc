"""Surrogate benchmarks as files: complete or absent. Loading fails, naming the file, if any byte was changed.

An artefact is a folder, or one file that ends in ``.snb``, with the same files in it: ``manifest.json``,
``noise.json``, ``members/00/…`` and ``runtime/…``. One of several fidelities has ``curves.json`` in place of
``noise.json``. They are JSON, arrays and the libraries' own text formats. Nothing in them is code.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import secrets
import shutil
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nasbed.core.errors import BadFile, InvalidOption, MissingDependency, NasbedError
from nasbed.core.files import complete_file
from nasbed.results.manifest import FileRecord
from nasbed.spaces import SearchSpace, space
from nasbed.surrogates import SURROGATES
from nasbed.surrogates.archive import pack, unpack
from nasbed.surrogates.artefact_manifest import FILE_NAME, FORMAT, ArtefactManifest, ModelRecord
from nasbed.surrogates.base import Surrogate
from nasbed.surrogates.curves.model import CurveModel
from nasbed.surrogates.ensemble import Ensemble
from nasbed.surrogates.noise import NoiseModel

SUFFIX = ".snb"
NOISE = "noise.json"
CURVES = "curves.json"
RUNTIME = "runtime"
LARGEST = 1 << 31
"""The most bytes that an artefact, or the arrays in one of its files, may take."""


@dataclass(frozen=True, slots=True)
class Artefact:
    """A fitted surrogate benchmark. ``runtime`` predicts the logarithm of the training time in seconds. ``curves`` is
    what makes one of several fidelities; ``ensemble`` and ``runtime`` are then those of the highest."""

    manifest: ArtefactManifest
    ensemble: Ensemble
    runtime: Surrogate[Any] | None = None
    curves: CurveModel | None = None

    def at(self, fidelity: int) -> Ensemble:
        """The ensemble that predicts the metric at one of its fidelities."""
        return self.ensemble if self.curves is None else self.curves.ensemble(self.ensemble.members, fidelity)

    def time_share(self, fidelity: int) -> float:
        """The time to one of its fidelities as a share of that to the highest."""
        return 1.0 if self.curves is None else self.curves.time_shares[self.curves.fidelities.index(fidelity)]

    @property
    def name(self) -> str:
        return self.manifest.name

    @property
    def space(self) -> SearchSpace:
        return self.ensemble.space

    def files(self) -> dict[str, bytes]:
        """All files, the manifest with the checksums of the others."""
        own, name = (self.ensemble.noise, NOISE) if self.curves is None else (self.curves, CURVES)
        contents = {name: (json.dumps(own.to_json(), indent=1) + "\n").encode()}
        for number, member in enumerate(self.ensemble.members):
            contents |= {f"{_member(number)}/{name}": data for name, data in member.dump().items()}
        if self.runtime is not None:
            contents |= {f"{RUNTIME}/{name}": data for name, data in self.runtime.dump().items()}
        records = {name: FileRecord(len(contents[name]), _sha256(contents[name])) for name in sorted(contents)}
        return {FILE_NAME: replace(self.manifest, files=records).to_bytes(), **contents}

    def save(self, path: str | Path) -> Path:
        """Write a folder, or one file if the path ends in ``.snb``. An existing path is not replaced: a released
        version never changes."""
        path = Path(path)
        if path.exists():
            raise InvalidOption(f"{path} exists and is not overwritten; give another path")
        files = self.files()
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == SUFFIX:
            with complete_file(path) as draft:
                draft.write_bytes(pack(files))
        else:
            _write_folder(path, files)
        return path

    @classmethod
    def load(cls, path: str | Path) -> Artefact:
        """Open a folder or file after checking every byte of it."""
        path = Path(path)
        manifest, files = verified_files(path)
        searched = artefact_space(manifest)
        records = [(manifest.members, _member(number), number) for number in range(len(manifest.members.seeds))]
        members = [_restored(path, searched, *record, files) for record in records]
        runtime = _restored(path, searched, manifest.runtime, RUNTIME, 0, files) if manifest.runtime else None
        name = NOISE if manifest.levels is None else CURVES
        try:
            content = json.loads(files[name])
            if manifest.levels is None:
                return cls(manifest, Ensemble(members, NoiseModel.from_json(content)), runtime)
            curves = CurveModel.from_json(content)
        except (KeyError, TypeError, ValueError) as error:
            raise BadFile(f"{path / name} cannot be read: {error}; get the surrogate again") from None
        if (curves.fidelities, len(curves.basis)) != (manifest.levels.fidelities, manifest.levels.components):
            raise BadFile(f"{path / name} is not of the fidelities in its manifest; get the surrogate again")
        return cls(manifest, curves.ensemble(members, manifest.fidelity), runtime, curves)


def is_artefact(path: str | Path) -> bool:
    """Whether a path is that of a surrogate, damaged or not."""
    path = Path(path)
    if path.is_file():
        return path.suffix == SUFFIX
    try:
        return (path / NOISE).is_file() or FORMAT.encode() in (path / FILE_NAME).read_bytes()
    except OSError:
        return False


def verified_files(path: Path) -> tuple[ArtefactManifest, dict[str, bytes]]:
    """The manifest of a surrogate and its other files by name; raises unless every byte is as the manifest says. No
    model is restored, so it needs no extra."""
    files = _read(path)
    manifest = ArtefactManifest.from_bytes(files.pop(FILE_NAME), f"{path / FILE_NAME}")
    _check(path, manifest, files)
    return manifest, files


def read_manifest(path: str | Path) -> ArtefactManifest:
    """The manifest of a surrogate; its other files are not read."""
    path = Path(path)
    content = (
        unpack(path.read_bytes(), str(path)).get(FILE_NAME, b"") if path.is_file() else _read_file(path, FILE_NAME)
    )
    return ArtefactManifest.from_bytes(content, f"{path / FILE_NAME}")


def _member(number: int) -> str:
    return f"members/{number:02d}"


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def artefact_space(manifest: ArtefactManifest) -> SearchSpace:
    """The space that a surrogate answers for."""
    if manifest.space_definition is None:
        return space(manifest.space)
    from nasbed.spaces.from_configspace import space_from_definition

    return space_from_definition(dict(manifest.space_definition), manifest.space)


def _restored(
    path: Path, searched: SearchSpace, record: ModelRecord, folder: str, number: int, files: Mapping[str, bytes]
) -> Surrogate[Any]:
    kind = SURROGATES.get(record.model)
    own = {name.removeprefix(f"{folder}/"): data for name, data in files.items() if name.startswith(f"{folder}/")}
    try:
        return kind.restore(own, searched, record.settings, record.seeds[number])
    except MissingDependency:
        raise
    except NasbedError as error:
        raise BadFile(f"{path / folder} cannot be restored: {error}") from None
    except (KeyError, ValueError, TypeError, IndexError, MemoryError, OverflowError) as error:
        reason = f"{type(error).__name__} {str(error).splitlines()[0] if str(error) else ''}".rstrip()
        raise BadFile(f"{path / folder} cannot be restored: {reason}; get the surrogate again") from None


# --- reading ---------------------------------------------------------------------------------------------------------


def _read(path: Path) -> dict[str, bytes]:
    """All files by name, not yet checked."""
    if path.is_file():
        if path.stat().st_size > LARGEST:
            raise BadFile(f"a surrogate has up to {LARGEST:,} bytes, {path} has {path.stat().st_size:,}; do not use it")
        files = unpack(path.read_bytes(), str(path))
        if FILE_NAME not in files:
            raise BadFile(f"{path} lacks its file {FILE_NAME}; get the surrogate again")
        return files
    manifest = _read_file(path, FILE_NAME)
    expected = ArtefactManifest.from_bytes(manifest, f"{path / FILE_NAME}").files
    for path_inside in sorted(path.rglob("*")):
        name = path_inside.relative_to(path).as_posix()
        if path_inside.is_symlink() or not (path_inside.is_dir() or name in expected or name == FILE_NAME):
            raise BadFile(f"{path} holds {name}, which its manifest does not name; remove it")
    return {FILE_NAME: manifest, **{name: _read_file(path, name, record) for name, record in expected.items()}}


def _read_file(folder: Path, name: str, record: FileRecord | None = None) -> bytes:
    path = folder / name
    try:
        size = path.stat().st_size
        if size > LARGEST or (record is not None and size != record.bytes):
            raise BadFile(f"{path} has {size:,} bytes, not the size in its manifest; get the surrogate again")
        return path.read_bytes()
    except OSError:
        raise BadFile(f"{folder} lacks its file {name}; get the surrogate again") from None


def _check(path: Path, manifest: ArtefactManifest, files: Mapping[str, bytes]) -> None:
    """Raise unless the files are those that the manifest names, to the byte."""
    for name in sorted({*manifest.files, *files}):
        record = manifest.files.get(name)
        if record is None:
            raise BadFile(f"{path} holds {name}, which its manifest does not name; get the surrogate again")
        if name not in files:
            raise BadFile(f"{path} lacks its file {name}; get the surrogate again")
        if len(files[name]) != record.bytes or _sha256(files[name]) != record.sha256:
            raise BadFile(f"{path / name} does not have the SHA-256 of its manifest; get the surrogate again")
        if name.endswith(".npz"):
            _check_unpacked(path / name, files[name])


def _check_unpacked(path: Path, data: bytes) -> None:
    """Raise if arrays would grow beyond measure when they are read."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as arrays:
            size = sum(entry.file_size for entry in arrays.infolist())
    except zipfile.BadZipFile as error:
        raise BadFile(f"{path} is not an npz file: {error}; get the surrogate again") from None
    if size > LARGEST:
        raise BadFile(f"the arrays in {path} would take {size:,} bytes, more than {LARGEST:,}; do not use it")


# --- writing ---------------------------------------------------------------------------------------------------------


def _write_folder(path: Path, files: Mapping[str, bytes]) -> None:
    draft = path.with_name(f".{secrets.token_hex(8)}.partial")
    try:
        for name, data in files.items():
            target = draft / name
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        draft.rename(path)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
