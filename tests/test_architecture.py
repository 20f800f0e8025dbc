"""What holds the house together: imports go one way, the public names are the documented ones, every example runs."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import nasbed
from nasbed.studies import STUDIES

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "nasbed"

LAYERS = [
    {"core"},
    {"spaces"},
    {"results", "datasets", "networks"},
    {"training", "proxies", "surrogates"},
    {"oneshot"},
    {"benchmarks"},
    {"optimizers"},
    {"experiments"},
    {"challenge"},
    {"evaluation"},
    {"drawing"},
    {"reports"},
    {"terminal"},
    {"studies"},
    {"compat"},
    {"cli"},
]
LEVEL = {package: level for level, packages in enumerate(LAYERS) for package in packages}
OUTSIDE = {"testing", "embedded", "__init__", "__main__"}
"""Conformance suites look at everything, the embedded files are no code, and the root only re-exports."""


@cache
def tree(path: Path) -> ast.Module:
    """A module of the package, parsed once for all tests."""
    return ast.parse(path.read_text())


def imported_packages(path: Path) -> set[str]:
    """The packages of nasbed that a module imports, anywhere in it, type checking included."""
    found = set()
    for node in ast.walk(tree(path)):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide what is imported"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("nasbed.")}
    return found


@pytest.mark.parametrize(
    "package", sorted(path.name for path in SOURCE.iterdir() if path.is_dir() and "__" not in path.name)
)
def test_imports_go_one_way(package: str) -> None:
    if package in OUTSIDE:
        return
    assert package in LEVEL, f"give the new package {package} its place in LAYERS and in docs/architecture.md"
    for path in (SOURCE / package).rglob("*.py"):
        for other in imported_packages(path) & set(LEVEL):
            same = other == package
            assert same or LEVEL[other] < LEVEL[package], (
                f"{path.relative_to(SOURCE)} imports nasbed.{other}, which is above"
            )
            assert not (package == "optimizers" and other == "benchmarks"), "an optimizer never holds a benchmark"


ONE_SPACE = {path.stem for path in (SOURCE / "spaces").iterdir() if path.is_dir()} | {"fcnet", "nats_sss", "nb201"}
ONE_SPACE -= {"from_configspace", "__pycache__"}
KNOW_ONE_SPACE = ("spaces", "networks", "oneshot", "results/importers", "compat", "testing")
"""What may know a space by name: the space, its network and its supernet, readers of published files, drop-ins."""


def test_whoever_wants_a_fact_of_a_space_asks_the_space() -> None:
    for path in SOURCE.rglob("*.py"):
        place = path.relative_to(SOURCE).as_posix()
        if not place.startswith(KNOW_ONE_SPACE):
            for name in re.findall(r"nasbed\.spaces\.(\w+)", path.read_text()):
                assert name not in ONE_SPACE, f"{place} imports the space {name}; make what it needs a fact of spaces"


NOT_PURE = {"torch", "multiprocessing", "subprocess", "concurrent", "tempfile", "shutil"}
WRITES = {
    "open",
    "write_text",
    "write_bytes",
    "mkdir",
    "unlink",
    "rename",
    "save",
    "savez",
    "savez_compressed",
    "tofile",
}


@pytest.mark.parametrize("path", sorted((SOURCE / "evaluation").rglob("*.py")), ids=lambda path: path.stem)
def test_evaluation_is_pure(path: Path) -> None:
    """Arrays in, numbers out: what trains, starts processes or writes files is in experiments and studies."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
            for name in names:
                assert name.split(".")[0] not in NOT_PURE, f"{path.name} imports {name}"
                assert name not in ("nasbed.core.files", "nasbed.core.execution", "nasbed.experiments.compare")
        elif isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            assert called not in WRITES, f"{path.name}, line {node.lineno} calls {called}"


def test_every_study_is_a_registered_folder() -> None:
    """A study is a folder with its numbers, its page and its command, and a line in the registry."""
    folders = {path.name.replace("_", "-") for path in (SOURCE / "studies").iterdir() if (path / "study.py").is_file()}
    assert folders == set(STUDIES)
    for folder in folders:
        for part in ("page.py", "command.py"):
            assert (SOURCE / "studies" / folder.replace("-", "_") / part).is_file(), f"{folder} has no {part}"


def test_no_package_is_a_heap() -> None:
    """No flat package has more than 25 modules, nor three that share a prefix."""
    for folder in (path for path in SOURCE.rglob("*") if path.is_dir() and "__pycache__" not in path.parts):
        modules = list(folder.glob("*.py"))
        assert len(modules) <= 25, f"{folder.relative_to(SOURCE)} has {len(modules)} modules"
        prefixes = Counter(path.stem.lstrip("_").split("_")[0] for path in modules)
        crowds = [prefix for prefix, count in prefixes.items() if count > 2]
        assert not crowds, f"{folder.relative_to(SOURCE)}: {', '.join(crowds)}: a prefix of three modules is a folder"


@cache
def nodes(kind: type[ast.AST]) -> list[tuple[str, Any]]:
    """Every node of a kind in the package, and where it stands."""
    return [
        (f"{path.relative_to(SOURCE).as_posix()}:{getattr(node, 'lineno', 0)}", node)
        for path in sorted(SOURCE.rglob("*.py"))
        for node in ast.walk(tree(path))
        if isinstance(node, kind)
    ]


def test_class_names_exist_once() -> None:
    places: dict[str, list[str]] = {}
    for place, node in nodes(ast.ClassDef):
        places.setdefault(node.name, []).append(place)
    assert {name: at for name, at in places.items() if len(at) > 1} == {}


DIALECT = {"told", "found", "given", "made", "there", "theirs", "asked", "gone", "begun", "ended", "opened", "ours"}
"""Participles and pronouns: a name is a noun for a thing, a verb for an action."""
FORMER = {
    "challenge/results.py ended",  # a key of the result's JSON
    "experiments/campaign/collecting.py ended",  # former names, until version 0.3
    "experiments/campaign/journal.py ended",
    "oneshot/pruning/pruners.py opened",  # a buffer in checkpoints
    "studies/zero_cost/statements.py ours",  # a key of numbers.json
}
"""Names in files that exist already, or public ones that keep an alias for one version."""


def test_names_are_nouns_and_verbs() -> None:
    names = [(place, node.id) for place, node in nodes(ast.Name) if isinstance(node.ctx, ast.Store)]
    names += [(place, node.arg) for place, node in nodes(ast.arg)]
    names += [(place, node.name) for place, node in nodes(ast.FunctionDef)]
    dialect = {f"{place.partition(':')[0]} {name}" for place, name in names if name.strip("_") in DIALECT}
    assert dialect == FORMER


HELP_OF_ITS_OWN = ("cli/", "terminal/", "compat/")
"""Options of a command carry their help; parameters of a drop-in or an overridden method are documented elsewhere."""


def test_functions_with_many_parameters_describe_each() -> None:
    undescribed = []
    for place, node in nodes(ast.FunctionDef):
        if place.startswith(HELP_OF_ITS_OWN) or "/command.py:" in place or node.name.startswith(("_", "redirect_")):
            continue
        parameters = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        if len(set(parameters) - {"self", "cls"}) > 4 and "Args:" not in (ast.get_docstring(node) or ""):
            undescribed.append(f"{place} {node.name}")
    assert undescribed == []


def test_public_names_are_the_documented_ones() -> None:
    documented = re.findall(r"^### `nasbed\.(\w+)", (ROOT / "docs" / "api.md").read_text(), flags=re.MULTILINE)
    assert sorted(documented) == sorted(set(nasbed.__all__))
    for name in nasbed.__all__:
        assert getattr(nasbed, name) is not None
    with pytest.raises(AttributeError, match="it offers"):
        nasbed.nothing_of_this_name  # noqa: B018


def test_import_and_help_load_no_heavy_library() -> None:
    """Start-up stays fast because of what is not imported; benchmarks/startup.py measures the time."""
    heavy = ["numpy", "scipy", "sklearn", "pyarrow", "numba", "ConfigSpace", "lightgbm", "xgboost", "altair", "torch"]
    code = f"import sys, nasbed, nasbed.cli; print([m for m in {heavy} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


RUN_ON_ITS_PAGE = {"05_your_own_benchmark.py"}
"""Word for word what a page of the documentation has, which tests/docs runs."""


@pytest.mark.parametrize("example", sorted({path.name for path in (ROOT / "examples").glob("*.py")} - RUN_ON_ITS_PAGE))
def test_examples_run(example: str, tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, str(ROOT / "examples" / example)], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout


def test_readme_python_works(tmp_path: Path) -> None:
    """Every Python block of the README, one after the other, as a newcomer would paste them."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    assert blocks
    run = subprocess.run([sys.executable, "-c", "\n".join(blocks)], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
