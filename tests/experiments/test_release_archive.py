"""A release as one file: written twice the same, installed whole or not at all, from a path and from a server."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from subprocess import PIPE

import numpy as np
import pytest

import nasbed
from nasbed.benchmarks import SurrogateBenchmark, TabularBenchmark
from nasbed.core.errors import BadFile, InvalidOption
from nasbed.core.home import embedded_home
from nasbed.experiments.campaign import Campaign, FunctionTrainer, collect
from nasbed.experiments.release_archive import install_archive, write_archive
from support.commands import run_command
from support.forks import fork_command
from support.local_server import Behaviour, serving, sha256

PLAN = """
version = "0.4"
members = 1

[[tables]]
name = "chains"
journals = ["chains.sqlite"]

[tables.surrogates.lgb]
rounds = 5
"""


def accuracy(arch: nasbed.Architecture, fidelity: int, seed: int) -> dict[str, float]:
    return {"validation_accuracy": 50.0 + sum(arch.code), "train_time_s": 1.0 + arch.code[1]}


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of one table and its surrogates, made by the command."""
    folder = tmp_path_factory.mktemp("release")
    metrics = (nasbed.Metric("accuracy", split="validation", bounds=(0, 100)),)
    trainer = FunctionTrainer(accuracy, "nb201", metrics=metrics, dataset="digits@8")
    collect(Campaign("chains", trials=120, shares={"rs": 1.0}), trainer, folder / "chains.sqlite")
    (folder / "release.toml").write_text(PLAN)
    out = folder / "chains-v0.4.tar.gz"
    completed = run_command("release", folder / "release.toml", "--out", out, "--processes", "1")
    assert completed.returncode == 0, completed.stderr
    digest = hashlib.sha256(out.read_bytes()).hexdigest()
    assert f"Install: nasbed fetch {out} --sha256 {digest}" in completed.stdout
    assert sorted(path.name for path in folder.iterdir()) == ["chains-v0.4.tar.gz", "chains.sqlite", "release.toml"]
    refusal = run_command("release", folder / "release.toml", "--out", out)
    assert refusal.returncode == 2 and "a release never changes" in refusal.stderr
    return out


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    monkeypatch.setenv("NASBED_HOME", str(folder))
    return folder


def changed(archive: Path, out: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    """The archive with its members changed."""
    with tarfile.open(archive) as tar:
        members = {member.name: tar.extractfile(member).read() for member in tar}  # type: ignore[union-attr]
    change(members)
    with tarfile.open(out, "w:gz") as tar:
        for name, data in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return out


def test_installed_release_answers_as_the_released(archive: Path, home: Path) -> None:
    completed = run_command("fetch", archive)
    assert completed.returncode == 0, completed.stderr
    lines = completed.stdout.splitlines()
    assert lines[0] == f"chains: installed in {home / 'tables' / 'chains'}" and len(lines) == 3
    table, surrogate = nasbed.load("chains"), nasbed.load("snb-nb201-digits-8-lgb-v0.4")
    assert isinstance(table, TabularBenchmark) and isinstance(surrogate, SurrogateBenchmark)
    arch = table.space.architectures(table.held_codes()[:1])[0]
    assert table.mean_objective(table.held_codes()[:1])[0] == 50 + sum(arch.code)
    assert sorted(path.name for path in home.iterdir()) == ["surrogates", "tables"]
    again = json.loads(run_command("fetch", archive, "--json").stdout)
    assert [part["new"] for part in again] == [False] * 3, "it is there"


def test_archive_of_the_same_release_is_the_same(tmp_path: Path) -> None:
    first, second = tmp_path / "first.tar.gz", tmp_path / "second.tar.gz"
    digest = write_archive(embedded_home() / "tables" / "nb201-chesseract-v1.0", first)
    copied = shutil.copytree(embedded_home() / "tables" / "nb201-chesseract-v1.0", tmp_path / "copied")
    assert write_archive(copied, second) == digest == sha256(first.read_bytes())
    with pytest.raises(InvalidOption, match=r"NAME\.tar\.gz"):
        write_archive(copied, tmp_path / "third.zip")


def test_other_content_under_an_installed_name_is_refused_and_nothing_installed(
    archive: Path, home: Path, tmp_path: Path
) -> None:
    install_archive(archive, home)
    manifest = home / "tables" / "chains" / "manifest.json"
    manifest.write_text(manifest.read_text().replace("release 0.4", "release 0.5"))
    shutil.rmtree(home / "surrogates")
    with pytest.raises(InvalidOption, match=r"chains is installed in .* with other content"):
        install_archive(archive, home)
    assert [path.name for path in home.iterdir()] == ["tables"]


def _flip(members: dict[str, bytes]) -> None:
    name = next(name for name in members if name.endswith(".snb"))
    members[name] = bytes([members[name][0] ^ 1]) + members[name][1:]


def _drop(members: dict[str, bytes]) -> None:
    del members["tables/chains/manifest.json"]


def _escape(members: dict[str, bytes]) -> None:
    members["tables/../../evil"] = b"1"


def _elsewhere(members: dict[str, bytes]) -> None:
    members["datasets/digits/manifest.json"] = b"1"


def _unlisted(members: dict[str, bytes]) -> None:
    members["tables/other/manifest.json"] = b"{}"


def _listed(members: dict[str, bytes], name: str, data: bytes) -> None:
    """A member that the list of contents has too."""
    contents = json.loads(members["release.json"])
    contents["sha256"][name] = sha256(data)
    members["release.json"], members[name] = json.dumps(contents).encode(), data


def _stray(members: dict[str, bytes]) -> None:
    _listed(members, "tables/notes.txt", b"hello")


def _nested(members: dict[str, bytes]) -> None:
    _listed(members, "tables/chains/inner/manifest.json", members["tables/chains/manifest.json"])


def _no_manifest_text(members: dict[str, bytes]) -> None:
    _listed(members, "tables/chains/manifest.json", b"{}")


def _no_contents(members: dict[str, bytes]) -> None:
    del members["release.json"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_flip, r"\.snb is not what release\.json says"),
        (_drop, r"lacks tables/chains/manifest\.json"),
        (_stray, r"holds tables/notes\.txt, which is of no table"),
        (_nested, "of no table, or of two"),
        (_no_manifest_text, "manifest"),
        (_unlisted, "tables/other/manifest.json is not what"),
        (_escape, "which is no file of a table or surrogate"),
        (_elsewhere, "which is no file of a table or surrogate"),
        (_no_contents, "not a release of nasbed"),
    ],
)
def test_damaged_and_dangerous_archives_are_refused(
    archive: Path, home: Path, tmp_path: Path, change: Callable[[dict[str, bytes]], None], message: str
) -> None:
    bad = changed(archive, tmp_path / "bad.tar.gz", change)
    with pytest.raises(BadFile, match=message):
        install_archive(bad, home)
    assert not home.exists() or not list(home.iterdir())
    assert not (tmp_path.parent / "evil").exists() and not (tmp_path / "evil").exists()


def test_links_and_damaged_files_are_refused(archive: Path, home: Path, tmp_path: Path) -> None:
    linked = tmp_path / "linked.tar.gz"
    with tarfile.open(archive) as tar, tarfile.open(linked, "w:gz") as out:
        first = tar.next()
        assert first is not None
        out.addfile(first, tar.extractfile(first))
        link = tarfile.TarInfo("tables/chains")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc"
        out.addfile(link)
    with pytest.raises(BadFile, match="no file of a table"):
        install_archive(linked, home)
    data = archive.read_bytes()
    rng = np.random.default_rng(0)
    cuts = [data[:length] for length in (0, 10, *rng.integers(20, len(data) - 8, size=6).tolist())]
    flips = [
        data[:place] + bytes([data[place] ^ 255]) + data[place + 1 :]
        for place in rng.integers(20, len(data) - 8, size=12).tolist()
    ]
    for damaged in (*cuts, *flips):
        (tmp_path / "damaged.tar.gz").write_bytes(damaged)
        with pytest.raises(BadFile):
            install_archive(tmp_path / "damaged.tar.gz", home)
        assert not home.exists() or not list(home.iterdir())
    (tmp_path / "text.tar.gz").write_bytes(gzip.compress(b"hello"))
    with pytest.raises(BadFile, match="cannot be read as a release"):
        install_archive(tmp_path / "text.tar.gz", home)


def test_two_processes_install_one_release(archive: Path, home: Path) -> None:
    processes = [fork_command("fetch", str(archive), "--json", stdout=PIPE) for _ in range(2)]
    printed = [json.loads(process.communicate(timeout=60)[0]) for process in processes]
    assert sorted(part["new"] for parts in printed for part in parts) == [False] * 3 + [True] * 3
    assert sorted(path.name for path in home.iterdir()) == ["surrogates", "tables"]


def test_home_that_cannot_be_written_is_named(archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NASBED_HOME", str(tmp_path / "file"))
    completed = run_command("fetch", archive)
    assert completed.returncode == 2 and completed.stderr == f"nasbed: {tmp_path / 'file'}: File exists\n"


def test_release_is_fetched_from_an_address(archive: Path, home: Path) -> None:
    content = archive.read_bytes()
    with serving(Behaviour(content=content, cuts=[1_000])) as server:
        address = server.url.replace("file.bin", "chains-v0.4.tar.gz")
        refusal = run_command("fetch", address)
        assert refusal.returncode == 2 and "--sha256" in refusal.stderr and not home.exists()
        wrong = run_command("fetch", address, "--sha256", "0" * 64)
        assert wrong.returncode == 2 and not (home / "tables").exists()
        completed = run_command("fetch", address, "--sha256", sha256(content))
        assert completed.returncode == 0, completed.stderr
    assert isinstance(nasbed.load("chains"), TabularBenchmark)
    assert not list((home / "downloads").glob("*.gz"))


def test_mistakes_are_one_line(archive: Path, home: Path, tmp_path: Path) -> None:
    for words, message in (
        (("fetch", tmp_path / "none.tar.gz"), "is not a file; check the path"),
        (("fetch", archive, "--sha256", "0" * 64), f"expected {'0' * 64}"),
        (("fetch", archive, "--out", tmp_path), "leave out --out"),
    ):
        completed = run_command(*words)
        assert completed.returncode == 2 and message in completed.stderr and completed.stderr.count("\n") == 1
    assert not home.exists()
