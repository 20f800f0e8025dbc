"""docs/baselines.md has the accuracies that were measured, as the file of results has them."""

from __future__ import annotations

import re
from pathlib import Path

from nasbed.experiments.unseen.published import published
from nasbed.experiments.unseen.results import UnseenResult, read_results
from nasbed.training import load_recipe

DOCS = Path(__file__).resolve().parents[2] / "docs"
RESULTS = read_results([DOCS / "results" / "unseen-resnet18.jsonl"])


CHANGED = [  # a line each of the other results: the dataset, and what was not as in the table above it
    ("Language", "the kit's first layer"),
    ("Gutenberg", "the kit's first layer"),
    ("Chesseract", "the kit's first layer"),
    ("Chesseract", "copies of games left in"),
    ("Chesseract", "on a CPU"),
]


def row(result: UnseenResult, *changed: str) -> str:
    paper = published()
    called = result.dataset.removesuffix("-with-copies")
    said = paper.accuracy(called, "resnet18")
    validated = [value for value in result.validated.values() if value is not None]
    assert said is not None and result.test_accuracy is not None and result.validation_accuracy == validated[-1]
    numbers = (result.test_accuracy, said, result.test_accuracy - said, validated[-1], max(validated))
    texts = [f"{value:+.2f}" if place == 2 else f"{value:.2f}" for place, value in enumerate(numbers)]
    return f"| {' | '.join([paper.datasets[called], *changed, *texts])} |"


def tables(page: str) -> list[str]:
    return re.findall(r"best epoch \|\n\|---.*\n((?:\|.*\n)+)", page)


def test_page_has_what_was_measured_and_nothing_else() -> None:
    page = (DOCS / "baselines.md").read_text(encoding="utf-8")
    table, _ = tables(page)
    assert table.splitlines() == [row(each) for each in RESULTS]
    far = [each.split("|")[1].strip() for each in table.splitlines() if abs(float(each.split("|")[4])) > 3]
    assert far == ["Chesseract"] and "**Chesseract** is the one more than 3 points off" in page


def test_page_has_the_trainings_that_were_changed() -> None:
    page = (DOCS / "baselines.md").read_text(encoding="utf-8")
    others = read_results([DOCS / "results" / "unseen-resnet18-other.jsonl"])
    assert [each.model for each in others] == ["resnet18-kit"] * 3 + ["resnet18"] * 2
    assert [(each.dataset.endswith("copies"), each.device) for each in others[2:]] == [
        (False, "NVIDIA H200"),
        (True, "NVIDIA H200"),
        (False, "cpu"),
    ]
    _, table = tables(page)
    assert table.splitlines() == [row(each, changed) for each, (_, changed) in zip(others, CHANGED, strict=True)]
    as_above = {each.dataset: each for each in RESULTS}
    for each, (name, _) in zip(others, CHANGED, strict=True):
        same = as_above[name.lower()]
        assert (each.recipe, each.epochs, each.seed, each.images) == (same.recipe, 64, same.seed, same.images)
        assert (each.dataset_hash == same.dataset_hash) == (not each.dataset.endswith("copies"))


def test_page_has_what_copies_of_games_do() -> None:
    page = (DOCS / "baselines.md").read_text(encoding="utf-8")
    ours, copied = read_results([DOCS / "results" / "chesseract-copies.jsonl"])
    assert ours.training[1:2] == copied.training[1:2] == (32,) and ours.recipe == copied.recipe
    assert f"gives {copied.test_accuracy:.2f} % where ours gives {ours.test_accuracy:.2f}" in page


def test_measured_are_whole_trainings_by_the_papers_protocol() -> None:
    paper, recipe = published(), load_recipe("unseen")
    assert [each.dataset for each in RESULTS] == ["addnist", "language", "multnist", "gutenberg", "chesseract"]
    for each in RESULTS:
        assert (each.model, each.status, each.epochs, len(each.validated)) == ("resnet18", "ok", 64, 64)
        assert each.images == paper.images[each.dataset]
        assert dict(each.recipe) == recipe.settings() | {"source": each.recipe["source"]}
