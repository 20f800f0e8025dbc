"""``nasbed doctor`` and ``nasbed`` alone: what a user meets first."""

from __future__ import annotations

import json
import re
import shutil
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

from nasbed.cli.doctor.embedded import CHECKSUMMED, damaged_files, embedded_files
from nasbed.core.home import embedded_home
from nasbed.core.packages import CORE, EXTRAS
from support.commands import run_command

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
NOT_FEATURES = {"all", "dev", "docs"}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NASBED_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def packages(requirements: list[str]) -> list[str]:
    """The names of packages, without versions and systems; xgboost for Linux is another build of it."""
    names = [re.split(r"[<>=;\[ ]", requirement)[0].removesuffix("-cpu") for requirement in requirements]
    return list(dict.fromkeys(names))


def test_packages_and_extras_are_those_of_the_project() -> None:
    assert packages(PROJECT["dependencies"]) == list(CORE)
    declared = {name: packages(needs) for name, needs in PROJECT["optional-dependencies"].items()}
    features = {name: needs for name, needs in declared.items() if name not in NOT_FEATURES}
    assert features == {extra.name: list(extra.packages) for extra in EXTRAS.values()}


def test_doctor_finds_nothing_broken_and_reads_every_embedded_file(home: Path) -> None:
    output = run_command("doctor", "--json")
    report = json.loads(output.stdout)
    assert (output.returncode, output.stderr, report["problems"]) == (0, "", [])
    assert report["python"] == sys.version.split()[0] and report["home"] == str(home) and report["home_writable"]
    assert not home.exists(), "asking makes no folder"
    data = [path for path in embedded_home().rglob("*") if path.is_file()]
    entries = {path for paths in embedded_files().values() for path in paths}
    assert {path for path in data if entries.isdisjoint({path, *path.parents})} == set()
    assert sum(report["verified"].values()) == len(entries)


def test_doctor_says_which_extra_a_feature_lacks_and_imports_no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)  # importing it raises
    monkeypatch.setenv("COLUMNS", "200")
    output = run_command("doctor", "--quick")
    assert output.returncode == 0 and "Nothing is broken." in output.stdout
    assert re.search(r"^torch +networks.* missing: pip install 'nasbed\[torch\]'", output.stdout, re.MULTILINE)
    assert ("lacks torch" in output.stdout) == (find_spec("torchvision") is not None)
    assert re.search(r"^GPU +not looked for without torch$", output.stdout, re.MULTILINE)


def test_doctor_reports_a_home_that_cannot_be_written_to_and_a_missing_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NASBED_HOME", "/dev/null/below")
    monkeypatch.setitem(sys.modules, "altair", None)
    monkeypatch.setitem(sys.modules, "torch", None)
    output = run_command("doctor", "--quick")
    assert output.returncode == 1 and "Nothing is broken" not in output.stdout
    broken = [line for line in output.stdout.splitlines() if line.startswith("broken: ")]
    assert len(broken) == 2 and "altair is missing" in broken[0] and "/dev/null/below cannot be written" in broken[1]


def test_damage_of_every_kind_is_reported(tmp_path: Path) -> None:
    """The smallest file of each kind, with a byte changed where it has a checksum, else cut in half."""
    for kind, paths in embedded_files().items():
        smallest = min(paths, key=lambda path: sum(file.stat().st_size for file in [path, *path.rglob("*")]))
        copy = tmp_path / smallest.relative_to(embedded_home())
        copy.parent.mkdir(parents=True)
        if smallest.is_dir():
            shutil.copytree(smallest, copy)
            damaged = next(copy.rglob("*.parquet"))
        else:
            damaged = Path(shutil.copy(smallest, copy))
        files = {kind: embedded_files(tmp_path)[kind]}
        assert files == {kind: [copy]} and damaged_files(files, lambda done, total: None) == []
        content = damaged.read_bytes()
        middle = len(content) // 2
        other_byte = bytes([content[middle] ^ 1]) + content[middle + 1 :] if kind in CHECKSUMMED else b"\n"
        damaged.write_bytes(content[:middle] + other_byte)
        (line,) = damaged_files(files, lambda done, total: None)
        assert str(copy) in line and line.endswith("; install nasbed again")


def test_data_that_is_absent_is_reported(tmp_path: Path) -> None:
    assert len(damaged_files(embedded_files(tmp_path), lambda done, total: None)) == len(embedded_files())


def test_nasbed_alone_prints_a_guide_whose_commands_work(tmp_path: Path) -> None:
    guide = run_command()
    assert (guide.returncode, guide.stderr) == (0, "")
    commands = [
        re.split(r" {2,}", line.strip())[0].split()[1:] for line in guide.stdout.splitlines() if line[:2] == "  "
    ]
    assert [words[0] for words in commands] == ["list", "run", "report"] and "nasbed --help" in guide.stdout
    small = {"run": ["--seeds", "2", "--budget", "5ev", "--processes", "1"]}
    for words in commands:
        output = run_command(*words, *small.get(words[0], []), cwd=tmp_path)
        assert output.returncode == 0, output.stderr
    assert (tmp_path / "runs" / "report.html").is_file() and "runs/report.html" in guide.stdout
