"""From a published file to tables: which folders they go to, what is refused, what is left behind."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from nasbed.core.errors import BadFile, InvalidOption, UnknownName
from nasbed.core.metric import Metric
from nasbed.core.registry import Registry
from nasbed.core.unpack import unpacked
from nasbed.results import Results, Rows, TableInfo
from nasbed.results import importing as importing_module
from nasbed.results.importers import Draft, Importer
from nasbed.results.importing import import_tables

ACCURACY = Metric("accuracy", split="validation", unit="%", bounds=(0, 100))


class Lines(Importer):
    """Every line is a table: its name, then the accuracies of some architectures."""

    format = "lines"
    summary = "a made-up format"
    options: ClassVar[dict[str, str]] = {"shift": "Added to every accuracy."}

    def read(self, path: Path) -> Iterator[Draft]:
        for line in path.read_text().splitlines():
            name, *values = line.split()
            yield Draft(TableInfo(name, "nb201", (ACCURACY,)), self._rows(values), len(values))

    def _rows(self, values: list[str]) -> Iterator[Rows]:
        for number, value in enumerate(values):
            if value == "damaged":
                raise BadFile("line damaged")
            shifted = np.array([float(value) + float(self.settings.get("shift", 0))])
            yield Rows.of(np.full((1, 6), number), {ACCURACY.key: shifted})


@pytest.fixture(autouse=True)
def formats(monkeypatch: pytest.MonkeyPatch) -> Registry[type[Importer]]:
    registry = Registry[type[Importer]]("import format", group="nasbed.no_plugins")
    registry.add("lines", Lines)
    monkeypatch.setattr(importing_module, "IMPORTERS", registry)
    return registry


def test_import_writes_each_table_to_the_folder_of_its_name(tmp_path: Path) -> None:
    source, reports = tmp_path / "x.txt", []
    source.write_text("one/cifar10 90 91\ntwo 92 93 94\n")
    written = import_tables(
        "lines", source, tmp_path / "out", {"shift": "1"}, lambda name, rows, total: reports.append((name, rows, total))
    )
    assert [results.folder for results in written] == [tmp_path / "out" / "one" / "cifar10", tmp_path / "out" / "two"]
    reloaded = Results.open(tmp_path / "out" / "two")
    assert reloaded.manifest.rows == 3
    assert sum(float(rows.values["validation_accuracy"].sum()) for rows in reloaded.batches()) == 93 + 94 + 95
    assert reports[-1] == ("two", 3, 3) and ("one/cifar10", 2, 2) in reports


def test_import_without_a_path_looks_in_the_usual_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "x.txt"
    source.write_text("one 90\n")
    with pytest.raises(InvalidOption, match="the format lines reads a file or folder; give its path"):
        import_tables("lines", None, tmp_path / "out")
    monkeypatch.setattr(Lines, "default_path", lambda: source, raising=False)
    assert [results.about.name for results in import_tables("lines", None, tmp_path / "out")] == ["one"]


def test_import_that_fails_leaves_no_part_of_a_table(tmp_path: Path) -> None:
    source = tmp_path / "x.txt"
    source.write_text("one 90\ntwo 91 damaged\n")
    with pytest.raises(BadFile, match="line damaged"):
        import_tables("lines", source, tmp_path / "out")
    assert Results.open(tmp_path / "out" / "one").manifest.rows == 1
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["one"]


@pytest.mark.parametrize(
    ("format", "file", "options", "error", "message"),
    [
        ("linse", "x.txt", {}, UnknownName, "no import format is called 'linse'; did you mean lines"),
        ("lines", "y.txt", {}, InvalidOption, "y.txt does not exist; check the path"),
        ("lines", "x.txt", {"shft": "1"}, InvalidOption, "the format lines has no option 'shft'; did you mean shift"),
        ("lines", "x.txt", {}, BadFile, "x.txt holds no table that the format lines knows"),
    ],
)
def test_import_refuses_in_one_line(
    tmp_path: Path, format: str, file: str, options: dict[str, str], error: type[Exception], message: str
) -> None:
    (tmp_path / "x.txt").write_text("")
    with pytest.raises(error, match=message) as caught:
        import_tables(format, tmp_path / file, tmp_path / "out", options)
    assert "\n" not in str(caught.value) and not (tmp_path / "out").exists()


def pack(path: Path, files: dict[str, bytes]) -> None:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in files.items():
                archive.writestr(name, data)
    else:
        with tarfile.open(path, "w") as archive:
            for name, data in files.items():
                member = tarfile.TarInfo(name)
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))


SUFFIXES = pytest.mark.parametrize("suffix", [".zip", ".tar"])


@SUFFIXES
def test_import_reads_an_archive(tmp_path: Path, suffix: str, formats: Registry[type[Importer]]) -> None:
    """The format reads a folder; what is in the archive's one folder is that."""

    class Folder(Lines):
        def read(self, path: Path) -> Iterator[Draft]:
            return super().read(path / "lines.txt")

    formats.add("folder", Folder)
    path = tmp_path / f"a{suffix}"
    pack(path, {"made/by/lines.txt": b"one 90 91\n", "made/by/other.txt": b""})
    (written,) = import_tables("folder", path, tmp_path / "out")
    assert written.manifest.rows == 2
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["one"]


@SUFFIXES
def test_unpacked_is_a_folder_for_a_while(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    pack(path, {"rs/results_0.json": b"{}", "de/results_0.json": b"{}"})
    with unpacked(path, tmp_path / "here") as folder:
        inside = sorted(
            inner_path.relative_to(folder).as_posix() for inner_path in folder.rglob("*") if inner_path.is_file()
        )
        assert inside == ["de/results_0.json", "rs/results_0.json"] and folder.parent == tmp_path / "here"
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@SUFFIXES
@pytest.mark.parametrize("name", ["../../outside", "/absolute", "a/../../../outside"])
def test_unpacked_writes_nothing_outside(tmp_path: Path, suffix: str, name: str) -> None:
    path = tmp_path / f"a{suffix}"
    pack(path, {name: b"x"})
    try:
        with unpacked(path, tmp_path / "deep" / "here") as folder:
            assert all(
                folder in inner_path.parents
                for inner_path in tmp_path.rglob("*")
                if inner_path.is_file() and inner_path != path
            )
    except BadFile as error:
        assert "is not a readable" in str(error)
    assert [inner_path for inner_path in tmp_path.rglob("*") if inner_path.is_file()] == [path]
    assert not Path("/absolute").exists()


def test_unpacked_makes_no_links(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc"
        archive.addfile(link)
        archive.addfile(tarfile.TarInfo("file"))
    with unpacked(path, tmp_path) as folder:
        assert [entry.name for entry in folder.iterdir()] == ["file"]


def test_unpacked_leaves_other_files_as_they_are(tmp_path: Path) -> None:
    for path in (tmp_path / "a.tfrecord", tmp_path):
        with unpacked(path, tmp_path / "here") as readable:
            assert readable == path
    assert list(tmp_path.iterdir()) == []


@SUFFIXES
@pytest.mark.parametrize("damage", ["text", "cut", "flipped"])
def test_unpacked_refuses_a_damaged_archive_in_one_line(tmp_path: Path, suffix: str, damage: str) -> None:
    path = tmp_path / f"a{suffix}"
    pack(path, {"results_0.json": bytes(range(256)) * 100, "results_1.json": bytes(range(256)) * 100})
    data = path.read_bytes()
    cut = data[: len(data) * 2 // 3]
    path.write_bytes({"text": b"<html>", "cut": cut, "flipped": data[:60] + b"\xff" * 100 + data[160:]}[damage])
    with pytest.raises(BadFile, match=r"is not a readable") as caught, unpacked(path, tmp_path / "here"):
        pass
    assert "\n" not in str(caught.value) and list(tmp_path.iterdir()) == [path]


@SUFFIXES
def test_unpacked_refuses_more_than_there_is_room_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    path = tmp_path / f"a{suffix}"
    pack(path, {"zeros": bytes(1 << 20)})
    monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": 1000}))
    with pytest.raises(BadFile, match="unpacks to 1048576 bytes and 1000 are free"), unpacked(path, tmp_path / "here"):
        pass
