"""The notebooks of examples: every cell runs, shows what it should, and is committed without outputs."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

FOLDER = Path(__file__).parents[1] / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
MOST_LINES = 30
SMALLER = {
    "seeds=10": "seeds=2",
    '"150ev"': '"30ev"',
    '"100ev"': '"30ev"',
    "trials=120": "trials=60",
    "members=3": 'members=2, settings={"rounds": 30}',
    "resamples=200": "resamples=5",
    'params:1000"': 'params:30"',
    'runs.write_report("report")': "runs.methods",
}
"""What runs instead of what a notebook prints: fewer runs, shorter ones, smaller models, no page."""


def code_cells(path: Path) -> list[str]:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def shown(code: str, module: ModuleType) -> Any:
    """Run a cell, and give the value of the expression that it ends with, as a notebook shows it."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<cell>", "exec"), vars(module))
    if not isinstance(last, ast.Expr):
        return None
    value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), vars(module))
    for view in ("_repr_mimebundle_", "_repr_html_"):
        if hasattr(value, view):
            assert getattr(value, view)(), f"{value!r} has nothing to show"
            break
    return value


def test_notebooks_cover_the_four_first_steps() -> None:
    assert [path.stem[2:] for path in NOTEBOOKS] == [
        *("first_comparison", "your_own_method", "your_own_benchmark", "judging_a_proxy"),
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_short_and_without_outputs(path: Path) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert all(not cell.get("outputs") and cell.get("execution_count") is None for cell in cells)
    assert sum(bool(line.strip()) for code in code_cells(path) for line in code.splitlines()) < MOST_LINES


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process, with smaller sizes; with a kernel and as printed under ``--thorough``."""
    pytest.importorskip("pandas", reason="needs pandas: pip install 'nasbed[pandas]'")
    monkeypatch.chdir(tmp_path)
    module = ModuleType("notebook_cells")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    values = []
    for code in code_cells(path):
        for printed, smaller in SMALLER.items():
            code = code.replace(printed, smaller)
        values.append(shown(code, module))
    assert any(type(value).__name__ == "NotebookChart" for value in values)


@pytest.mark.thorough
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs_in_a_kernel(path: Path, tmp_path: Path) -> None:
    pytest.importorskip("ipykernel", reason="needs ipykernel, of the extra dev")
    nbclient, nbformat = (pytest.importorskip(name, reason=f"needs {name}") for name in ("nbclient", "nbformat"))
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("image/svg+xml" in output.get("data", {}) for output in outputs)
    assert not any(output.get("name") == "stderr" for output in outputs), "bars and notes do not spoil the output"
