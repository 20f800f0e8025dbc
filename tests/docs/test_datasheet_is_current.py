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
from support.documentation import page_text

PAGE, FIRST_PAGE, FBNET_PAGE = (page_text(name) for name in ("darts", "darts-v1", "fbnet"))
UNSEEN_PAGE = page_text("nas-bench-unseen")
SURROGATES = sorted(surrogates_folder(embedded_home()).glob(f"*{SUFFIX}"))


def printed_by_the_code(page: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    printed = []
    for code in re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL):
        exec(code, {})
        printed.append(capsys.readouterr().out.strip())
    return printed


def test_datasheet_code_prints_its_table_of_methods_and_the_noise(capsys: pytest.CaptureFixture[str]) -> None:
    table, numbers = printed_by_the_code(PAGE, capsys)
    assert table in PAGE
    count, deviation, ceiling, random_ceiling = map(float, numbers.split())
    assert f"the {count:.0f} architectures with several seeds" in PAGE and f"**{deviation:.2f} %**" in PAGE
    text = " ".join(PAGE.split())
    assert f"more than {100 * ceiling:.0f} % of the variance of single evaluations" in text
    assert f"or {100 * random_ceiling:.0f} % among those of random search" in text
    about = Results.open(table_path("darts-cifar10-16-v2.0")).manifest
    assert f"{about.architectures:_}".replace("_", " ") in PAGE


def test_datasheet_of_the_first_version_prints_its_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    table, numbers = printed_by_the_code(FIRST_PAGE, capsys)
    assert table in FIRST_PAGE
    count, deviation, ceiling = map(float, numbers.split())
    assert f"the {count:.0f} architectures with five seeds" in FIRST_PAGE and f"**{deviation:.2f} %**" in FIRST_PAGE
    assert f"more than {100 * ceiling:.0f} % of the" in FIRST_PAGE
    about = Results.open(table_path("darts-cifar10-16")).manifest
    assert f"{about.architectures:_}".replace("_", " ") in FIRST_PAGE


def test_fbnet_datasheet_has_its_table_of_methods() -> None:
    for rows in Results.open(table_path("fbnet-cifar10-16-v1.0")).batches():
        for method in sorted(set(rows.method.tolist())):
            accuracy = rows.values["validation_accuracy"][rows.method == method]
            facts = (f"{value:.2f}" for value in (accuracy.mean(), accuracy.std(), accuracy.min(), accuracy.max()))
            assert f"| `{method}` | {len(accuracy)} | {' | '.join(facts)} |" in FBNET_PAGE


@pytest.mark.parametrize(
    ("name", "page"), [("darts-cifar10-16-v2.0", PAGE), ("darts-cifar10-16", FIRST_PAGE)], ids=["second", "first"]
)
def test_datasheet_has_every_field_of_the_recipe_that_trained(name: str, page: str) -> None:
    """As the table's own manifest has it: a recipe of that name may change later."""
    notes = Results.open(table_path(name)).about.notes
    trainer = json.JSONDecoder().raw_decode(notes, notes.index("{"))[0]
    (block,) = re.findall(r"```toml\n(.*?)```", page, flags=re.DOTALL)
    assert tomllib.loads(block) == {key: value for key, value in trainer["recipe"].items() if value is not None}
    assert trainer["dataset"].split()[1] in page


@pytest.mark.parametrize("path", SURROGATES, ids=lambda path: path.name.removesuffix(SUFFIX))
def test_datasheet_has_the_figures_of_each_surrogate(path: Path) -> None:
    about = read_manifest(path)
    pages = PAGE + FBNET_PAGE + UNSEEN_PAGE
    (row,) = re.findall(rf"^\| `{re.escape(about.name)}` \| ([\d ]+ \| .*) \|$", pages, flags=re.MULTILINE)
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
