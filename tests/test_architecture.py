"""What holds the house together: imports go one way, the public names are the documented ones, every example runs."""

from __future__ import annotations

import ast
import gc
import re
import runpy
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import nasbed
from nasbed.spaces import SPACES
from nasbed.studies import STUDIES
from support.documentation import page_text

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
    {"leaderboard"},
    {"drawing"},
    {"reports"},
    {"terminal"},
    {"facade"},
    {"studies"},
    {"compat"},
    {"explorer"},
    {"cli"},
]
LEVEL = {package: level for level, packages in enumerate(LAYERS) for package in packages}
OUTSIDE = {"testing", "embedded", "__init__", "__main__"}
"""Conformance suites look at everything, the embedded files are no code, and the root only re-exports."""


Nodes = Sequence[ast.AST]


def parse(source: str) -> ast.Module:
    """The syntax tree of a module. A search for garbage meanwhile would take three times as long as to parse."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(source)
    finally:
        if collecting:
            gc.enable()


def nodes(source: str) -> Nodes:
    return list(ast.walk(parse(source)))


@dataclass(frozen=True, slots=True)
class ModuleFacts:
    """What the tests below ask of a module of the package, so that its tree need not be kept."""

    place: str
    packages: set[str]
    classes: list[tuple[int, str]]
    compared: list[tuple[int, str]]
    names: list[str]
    markup: list[int]
    undescribed: list[str]


@cache
def package_facts() -> list[ModuleFacts]:
    """Every module of the package, parsed and walked once for all tests."""
    return [module_facts(path) for path in sorted(SOURCE.rglob("*.py"))]


def module_facts(path: Path) -> ModuleFacts:
    module_nodes, place = nodes(path.read_text()), path.relative_to(SOURCE).as_posix()
    return ModuleFacts(
        place,
        packages=imported_packages(module_nodes, place),
        classes=[(node.lineno, node.name) for node in module_nodes if isinstance(node, ast.ClassDef)],
        compared=compared_spaces(module_nodes),
        names=dialect_names(module_nodes),
        markup=markup_lines(module_nodes),
        undescribed=[*undescribed_functions(module_nodes, place), *undescribed_constructors(module_nodes, place)],
    )


def imported_packages(module_nodes: Nodes, place: str) -> set[str]:
    """The packages of nasbed that a module imports, anywhere in it, type checking included."""
    packages = set()
    for node in module_nodes:
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{place}: relative imports hide what is imported"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        packages |= {name.split(".")[1] for name in names if name.startswith("nasbed.")}
    return packages


@pytest.mark.parametrize(
    "package", sorted(path.name for path in SOURCE.iterdir() if path.is_dir() and "__" not in path.name)
)
def test_imports_go_one_way(package: str) -> None:
    if package in OUTSIDE:
        return
    assert package in LEVEL, f"give the new package {package} its place in LAYERS and in docs/project/architecture.md"
    for module in package_facts():
        for other in module.packages & set(LEVEL) if module.place.startswith(f"{package}/") else ():
            same = other == package
            assert same or LEVEL[other] < LEVEL[package], f"{module.place} imports nasbed.{other}, which is above"
            assert not (package == "optimizers" and other == "benchmarks"), "an optimizer never holds a benchmark"


ARCHITECTURE_PAGE = page_text("architecture")


def test_page_on_the_architecture_draws_the_layers() -> None:
    drawing = re.search(r"^    core →.*(?:\n     .*)*", ARCHITECTURE_PAGE, flags=re.MULTILINE)
    assert drawing is not None
    drawn = [{package.strip() for package in layer.split(",")} for layer in drawing.group().split("→")]
    assert drawn == LAYERS


def test_page_on_the_architecture_names_files_that_exist_and_every_package() -> None:
    files = re.findall(r"`((?:\w+/)+\w+\.py)`", ARCHITECTURE_PAGE)
    assert len(files) > 40
    missing = [file for file in files if not (SOURCE / file).is_file() and not (ROOT / file).is_file()]
    assert missing == []
    rows = set(re.findall(r"^\| `(\w+)` \|", ARCHITECTURE_PAGE, flags=re.MULTILINE))
    assert rows == {path.name for path in SOURCE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    bare = re.findall(r"`(\w+\.py)`", ARCHITECTURE_PAGE)
    assert set(bare) <= {"study.py", "figures.py", "tables.py", "page.py", "command.py"}, "give the whole path"


ONE_SPACE = {path.stem for path in (SOURCE / "spaces").iterdir() if path.is_dir()} | {"fcnet", "nats_sss", "nb201"}
ONE_SPACE -= {"from_configspace", "__pycache__"}
KNOW_ONE_SPACE = ("spaces", "networks", "oneshot", "results/importers", "compat", "testing")
"""What may know a space by name: the space, its network and its supernet, readers of published files, drop-ins."""


def test_facts_of_a_space_are_asked_of_the_space() -> None:
    for path in SOURCE.rglob("*.py"):
        place = path.relative_to(SOURCE).as_posix()
        if not place.startswith(KNOW_ONE_SPACE):
            for name in re.findall(r"nasbed\.spaces\.(\w+)", path.read_text()):
                assert name not in ONE_SPACE, f"{place} imports the space {name}; make what it needs a fact of spaces"


COMPARES_ONE_SPACE = {
    "studies/landscape/page.py": "shows the paper's findings, all on nb101, beside a table of that space",
}
"""Modules that compare with the id of a space although they should not know any, and why each may."""


def compared_spaces(module_nodes: Nodes) -> list[tuple[int, str]]:
    """Where a module compares something with the id of a registered space, written as text, and with which."""
    ids: set[object] = set(SPACES)
    places: list[tuple[int, str]] = []
    for node in module_nodes:
        sides: list[ast.expr] = []
        if isinstance(node, ast.Compare):
            for side in (node.left, *node.comparators):
                sides += side.elts if isinstance(side, ast.Tuple | ast.List | ast.Set) else [side]
        elif isinstance(node, ast.MatchValue):
            sides = [node.value]
        places += [
            (side.lineno, str(side.value)) for side in sides if isinstance(side, ast.Constant) and side.value in ids
        ]
    return places


def test_comparisons_with_a_space_are_seen_in_every_form() -> None:
    source = """
if a.space == "darts" or b in ("fbnet", "other") or "nb101" != c: pass
match d:
    case "nb201" | "what": pass
e = {"bonsai": "not compared"}
"""
    assert sorted(name for _, name in compared_spaces(nodes(source))) == ["darts", "fbnet", "nb101", "nb201"]


def test_only_a_space_and_its_networks_compare_with_its_id() -> None:
    for module in package_facts():
        if not module.place.startswith(KNOW_ONE_SPACE) and module.place not in COMPARES_ONE_SPACE:
            for line, name in module.compared:
                pytest.fail(f"{module.place}, line {line} compares with {name}; make what it needs a fact of spaces")


NOT_PURE = {
    *("torch", "lightgbm", "xgboost", "sklearn", "ray", "joblib", "pyarrow"),
    *("multiprocessing", "subprocess", "concurrent", "threading", "signal", "asyncio", "socket", "urllib", "http"),
    *("os", "io", "pathlib", "tempfile", "shutil", "sqlite3", "pickle", "zipfile"),
    *(f"nasbed.{package}" for package in ("results", "datasets", "networks", "training", "proxies", "oneshot")),
    *(f"nasbed.{package}" for package in ("benchmarks", "optimizers", "experiments", "challenge")),
    *(f"nasbed.core.{module}" for module in ("execution", "files", "locks", "download", "unpack", "home", "user_code")),
}
"""Modules that train, start processes, talk to other machines or touch files, with all that is below them."""
DATA_TYPES = ("nasbed.experiments", "nasbed.experiments.budget", "nasbed.experiments.budget.Budget")
"""Exempt from that: the empty package and the budget, a pair of numbers."""
WRITES = {
    *("open", "read_text", "read_bytes", "fromfile", "memmap", "write", "write_text", "write_bytes", "write_table"),
    *("touch", "mkdir", "makedirs", "unlink", "rename", "remove", "rmdir", "complete_file"),
    *("dump", "save", "savez", "savez_compressed", "savetxt", "tofile"),
}


def is_impure(module: str) -> bool:
    """Whether a module is one of :data:`NOT_PURE`, or below one."""
    parts = module.split(".")
    return module not in DATA_TYPES and any(".".join(parts[:count]) in NOT_PURE for count in range(1, len(parts) + 1))


def runtime_imports(node: ast.AST) -> Iterator[str]:
    """The modules that code imports when it runs, at the top or in a function; names come with their module too."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            yield from (f"{child.module}.{alias.name}" for alias in child.names)
        elif not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
            yield from runtime_imports(child)


def file_calls(module: ast.Module) -> Iterator[str]:
    """The calls that read or write files. A path's ``replace`` has one argument, a text's has two."""
    for node in ast.walk(module):
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            moves = isinstance(node.func, ast.Attribute) and called == "replace" and len(node.args) == 1
            if called in WRITES or (moves and not node.keywords):
                yield f"line {node.lineno} calls {called}"


@pytest.mark.parametrize("path", sorted((SOURCE / "evaluation").rglob("*.py")), ids=lambda path: path.stem)
def test_evaluation_is_pure(path: Path) -> None:
    """Measurements in, numbers out: what trains, starts processes or touches files is in experiments and studies."""
    module = parse(path.read_text())
    assert [name for name in runtime_imports(module) if is_impure(name)] == []
    assert list(file_calls(module)) == []


IMPURE_CODE = """
from nasbed.core import files
from nasbed.experiments.compare import compare
import numpy as np, os.path
def save(path, table):
    from nasbed import training
    import pyarrow.parquet as parquet
    parquet.write_table(table, path)
    path.with_suffix(".draft").replace(path)
    np.savetxt(path, table)
    return "a-b".replace("-", "_")
"""


def test_the_test_of_purity_sees_what_is_impure() -> None:
    module = ast.parse(IMPURE_CODE)
    assert [name for name in runtime_imports(module) if is_impure(name)] == [
        "nasbed.core.files",
        "nasbed.experiments.compare.compare",
        "os.path",
        "nasbed.training",
        "pyarrow.parquet",
    ]
    assert [call.split()[-1] for call in file_calls(module)] == ["write_table", "replace", "savetxt"]
    types_only = ast.parse("if TYPE_CHECKING:\n    from nasbed.benchmarks import Benchmark")
    assert list(runtime_imports(types_only)) == []


def test_importing_all_of_evaluation_loads_nothing_impure() -> None:
    """Not even through what it imports. numpy and scipy load modules of the standard library, so those may be there."""
    code = (
        "import sys, numpy, scipy.stats, scipy.special; before = set(sys.modules)\n"
        "from importlib import import_module; from pkgutil import walk_packages\n"
        "import nasbed.evaluation as top\n"
        "for module in walk_packages(top.__path__, 'nasbed.evaluation.'): import_module(module.name)\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = run.stdout.split()
    assert "nasbed.evaluation.summary" in loaded
    assert [name for name in loaded if is_impure(name)] == []


def test_every_study_is_a_registered_folder() -> None:
    """A study is a folder with its numbers, its page and its command, and a line in the registry. Plug-ins have
    their studies elsewhere."""
    folders = {path for path in (SOURCE / "studies").iterdir() if path.is_dir() and path.name != "__pycache__"}
    entries = re.findall(r'"([\w-]+)": "\w+\.command:', (SOURCE / "studies" / "__init__.py").read_text())
    assert {path.name.replace("_", "-") for path in folders} == set(entries) <= set(STUDIES)
    for folder in folders:
        for part in ("study.py", "page.py", "command.py"):
            assert (folder / part).is_file(), f"{folder.name} has no {part}"


PUBLISHED_MODULES = {"compat/nats_bench": "api"}
"""Folders whose modules have the names of a published package, and the prefix that those share."""


def test_no_package_is_a_heap() -> None:
    """No flat package has more than 25 modules, nor three that share a prefix. Former places, which only point to
    another module until the next version, do not count."""
    for folder in (path for path in SOURCE.rglob("*") if path.is_dir() and "__pycache__" not in path.parts):
        modules = [path for path in folder.glob("*.py") if not path.read_text().startswith('"""The former place of')]
        assert len(modules) <= 25, f"{folder.relative_to(SOURCE)} has {len(modules)} modules"
        prefixes = Counter(path.stem.lstrip("_").split("_")[0] for path in modules)
        published = PUBLISHED_MODULES.get(folder.relative_to(SOURCE).as_posix())
        crowds = [prefix for prefix, count in prefixes.items() if count > 2 and prefix != published]
        assert not crowds, f"{folder.relative_to(SOURCE)}: {', '.join(crowds)}: a prefix of three modules is a folder"


def test_class_names_exist_once() -> None:
    places: dict[str, list[str]] = {}
    for module in package_facts():
        for line, name in module.classes:
            places.setdefault(name.lstrip("_"), []).append(f"{module.place}:{line}")
    assert len(places) > 500
    assert {name: at for name, at in places.items() if len(at) > 1} == {}


DIALECT = {"told", "found", "given", "made", "there", "theirs", "asked", "gone", "begun", "ended", "opened", "ours"}
"""Participles and pronouns: a name is a noun for a thing, a verb for an action."""
FORMER = {
    "challenge/results.py ended",  # a key of the result's JSON
    "experiments/campaign/collection.py ended",  # former names, until version 0.3
    "experiments/campaign/journal.py ended",
    "oneshot/pruning/pruners.py opened",  # a buffer in checkpoints
    "studies/zero_cost/statements.py ours",  # a key of numbers.json
}
"""Names in files that exist already, or public ones that keep an alias for one version."""


IN_DIALECT = re.compile(rf"\b_*(?:{'|'.join(sorted(DIALECT))})_*\b")


def dialect_names(module_nodes: Nodes) -> list[str]:
    """Every name that a module defines or stores and that is no noun or verb."""
    names = []
    for node in module_nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                pass
            case ast.arg(arg=name) | ast.FunctionDef(name=name):
                pass
            case _:
                continue
        if IN_DIALECT.fullmatch(name):
            names.append(name)
    return names


def test_names_are_nouns_and_verbs() -> None:
    assert {f"{module.place} {name}" for module in package_facts() for name in module.names} == FORMER
    for path in sorted((ROOT / "tests").rglob("*.py")):
        source = path.read_text()
        if IN_DIALECT.search(source):
            assert dialect_names(nodes(source)) == [], path
    assert dialect_names(nodes("def f(told): x.found_, (given, taken) = there")) == ["told", "found_", "given"]


HTML = re.compile(
    r"</?(?:a|b|i|p|q|s|u|br|hr|em|strong|small|sub|sup|code|pre|kbd|div|span|section|article|header|footer|main|nav|"
    r"h[1-6]|ul|ol|li|dl|dt|dd|table|caption|thead|tbody|tfoot|tr|td|th|figure|figcaption|img|picture|svg|g|path|rect|"
    r"text|details|summary|button|input|label|select|option|form|html|head|body|title|meta|link|style|script)[\s/>]"
)
DRAWS_MARKUP = ("drawing/cells.py",)
"""Cells are drawn as SVG. All other markup is in drawing/templates."""


def markup_lines(module_nodes: Nodes) -> list[int]:
    """The lines of texts with HTML, except those that stand alone as statements: docstrings."""
    documentation = {id(node.value) for node in module_nodes if isinstance(node, ast.Expr)}
    return [
        node.lineno
        for node in module_nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if HTML.search(node.value) and id(node) not in documentation
    ]


def test_markup_is_in_templates() -> None:
    """No text of the package holds HTML: pages are made by Jinja2, which escapes."""
    with_markup = [(module.place, module.markup) for module in package_facts() if module.markup]
    assert [module for module in with_markup if module[0] not in DRAWS_MARKUP] == []
    assert HTML.search('<td class="n">') and HTML.search("</p>") and not HTML.search("a <method>/results, 1 <b")


HELP_OF_ITS_OWN = ("cli/", "terminal/", "compat/")
"""Options of a command carry their help; parameters of a drop-in or an overridden method are documented elsewhere."""


def many_parameters(node: ast.FunctionDef) -> bool:
    arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    return len({argument.arg for argument in arguments} - {"self", "cls"}) > 4


def undescribed_functions(module_nodes: Nodes, place: str) -> list[str]:
    if place.startswith(HELP_OF_ITS_OWN) or place.endswith("/command.py"):
        return []
    return [
        f"{place}:{node.lineno} {node.name}"
        for node in module_nodes
        if isinstance(node, ast.FunctionDef) and not node.name.startswith(("_", "redirect_"))
        if many_parameters(node) and "Args:" not in (ast.get_docstring(node) or "")
    ]


def undescribed_constructors(module_nodes: Nodes, place: str) -> list[str]:
    undescribed = []
    for node in module_nodes:
        if isinstance(node, ast.ClassDef):
            constructors = [item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "__init__"]
            texts = [ast.get_docstring(node) or "", *(ast.get_docstring(item) or "" for item in constructors)]
            if any(map(many_parameters, constructors)) and "Args:" not in " ".join(texts):
                undescribed.append(f"{place}:{node.lineno} {node.name}")
    return undescribed


def test_functions_and_constructors_with_many_parameters_describe_each() -> None:
    assert [place for module in package_facts() for place in module.undescribed] == []
    source = "class A:\n  def __init__(self, a, b, c, d, e): pass\ndef f(a, b, *, c, d, e): pass"
    assert undescribed_functions(nodes(source), "") == [":3 f"]
    assert undescribed_constructors(nodes(source), "") == [":1 A"]


def test_public_names_exist_and_no_others() -> None:
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


RUN_ON_ITS_PAGE = {
    "05_your_own_benchmark.py",
    "06_methods_from_other_libraries.py",
    "07_benchmark_in_optuna.py",
    "08_benchmark_in_smac.py",
    "09_benchmark_in_ray_tune.py",
    "10_benchmark_in_syne_tune.py",
    "11_parallel_workers.py",
}
"""What a page of the documentation has, which tests/docs runs."""


@pytest.mark.parametrize("example", sorted({path.name for path in (ROOT / "examples").glob("*.py")} - RUN_ON_ITS_PAGE))
def test_examples_run(
    example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [example])
    runpy.run_path(str(ROOT / "examples" / example), run_name="__main__")
    assert capsys.readouterr().out
