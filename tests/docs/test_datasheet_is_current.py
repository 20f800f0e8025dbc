"""The datasheets say what the embedded files say."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from nasbed.benchmarks.places import table_path
from nasbed.core.home import embedded_home, surrogates_folder
from nasbed.results.store import Results
from nasbed.surrogates.artefact import SUFFIX, Artefact, read_manifest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE, FBNET_PAGE = ((DOCS / name).read_text() for name in ("datasheet.md", "datasheet-fbnet.md"))
SURROGATES = sorted(surrogates_folder(embedded_home()).glob(f"*{SUFFIX}"))


def test_datasheet_code_prints_its_table_of_methods_and_the_noise(capsys: pytest.CaptureFixture[str]) -> None:
    printed = []
    for code in re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL):
        exec(code, {})
        printed.append(capsys.readouterr().out.strip())
    table, numbers = printed
    assert table in PAGE
    count, deviation, ceiling = map(float, numbers.split())
    assert f"the {count:.0f} architectures with five seeds" in PAGE and f"**{deviation:.2f} %**" in PAGE
    assert f"more than {100 * ceiling:.0f} % of the" in PAGE
    about = Results.open(table_path("darts-cifar10-16")).manifest
    assert f"{about.architectures:_}".replace("_", " ") in PAGE


def test_fbnet_datasheet_has_its_table_of_methods() -> None:
    for rows in Results.open(table_path("fbnet-cifar10-16-v1.0")).batches():
        for method in sorted(set(rows.method.tolist())):
            accuracy = rows.values["validation_accuracy"][rows.method == method]
            facts = (f"{value:.2f}" for value in (accuracy.mean(), accuracy.std(), accuracy.min(), accuracy.max()))
            assert f"| `{method}` | {len(accuracy)} | {' | '.join(facts)} |" in FBNET_PAGE


def test_datasheet_has_every_field_of_the_recipe_that_trained() -> None:
    """As the table's own manifest has it: a recipe of that name may change later."""
    notes = Results.open(table_path("darts-cifar10-16")).about.notes
    trainer = json.JSONDecoder().raw_decode(notes, notes.index("{"))[0]
    (block,) = re.findall(r"```toml\n(.*?)```", PAGE, flags=re.DOTALL)
    assert tomllib.loads(block) == {name: value for name, value in trainer["recipe"].items() if value is not None}
    assert trainer["dataset"].split()[1] in PAGE


@pytest.mark.parametrize("path", SURROGATES, ids=lambda path: path.name.removesuffix(SUFFIX))
def test_datasheet_has_the_figures_of_each_surrogate(path: Path) -> None:
    about = read_manifest(path)
    (row,) = re.findall(rf"^\| `{re.escape(about.name)}` \| ([\d ]+ \| .*) \|$", PAGE + FBNET_PAGE, flags=re.MULTILINE)
    rows, size, _, *figures = row.split(" | ")
    assert int(rows.replace(" ", "")) == about.provenance["rows"]
    assert int(size.replace(" ", "")) == path.stat().st_size
    names = ("r2", "kendall", "sparse_kendall", "mae", "coverage", "kl", "others_r2", "others_sparse_kendall")
    expected = [about.figures.get(name) for name in names]
    assert [figure.strip() for figure in figures] == ["" if value is None else f"{value:.3f}" for value in expected]


def test_datasheet_has_the_figures_of_each_budget() -> None:
    artefact = Artefact.load(surrogates_folder(embedded_home()) / f"snb-nb101-cifar10-16-lgb-mf-v1.0{SUFFIX}")
    curves, levels = artefact.curves, artefact.manifest.levels
    assert curves is not None and levels is not None and curves.fidelities == (1, 2, 4, 8)
    digits = {
        "r2": 3,
        "kendall": 3,
        "sparse_kendall": 3,
        "mae": 3,
        "coverage": 3,
        "noise_drawn": 2,
        "noise_measured": 2,
    }
    for fidelity, share, figures in zip(curves.fidelities, curves.time_shares, levels.figures, strict=True):
        numbers = [*((figures[name], count) for name, count in digits.items()), (share, 3)]
        numbers.append((figures["runtime_relative_error"], 3))
        assert f"| {fidelity} | {' | '.join(f'{value:.{count}f}' for value, count in numbers)} |" in PAGE
    neighbours = [f"{curves.correlation[place][place + 1]:.2f}" for place in range(3)]
    assert f"correlates by {neighbours[0]}, {neighbours[1]} and {neighbours[2]}" in " ".join(PAGE.split())
