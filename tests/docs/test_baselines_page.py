"""docs/findings/cnn-baselines.md has the accuracies that were measured, as the file of results has them."""

from __future__ import annotations

import re

from nasbed.core.home import embedded_home
from nasbed.experiments.unseen.published import published
from nasbed.experiments.unseen.results import UnseenResult, read_results
from nasbed.training import load_recipe
from support.documentation import DOCS, page_text

SHIPPED = read_results([embedded_home() / "results" / "unseen-cnn.jsonl"])
RESULTS = [result for result in SHIPPED if result.model == "resnet18"]


CHANGED = [  # a line result of the other results: the dataset, and what was not as in the table above it
    ("Language", "the kit's first layer"),
    ("Gutenberg", "the kit's first layer"),
    ("Chesseract", "the kit's first layer"),
    ("Chesseract", "copies of games left in"),
    ("Chesseract", "on a CPU"),
]


def row(result: UnseenResult, *changed: str) -> str:
    paper = published()
    name = result.dataset.removesuffix("-with-copies")
    paper_accuracy = paper.accuracy(name, result.model.removesuffix("-kit"))
    validated = [value for value in result.validated.values() if value is not None]
    assert (
        paper_accuracy is not None and result.test_accuracy is not None and result.validation_accuracy == validated[-1]
    )
    numbers = (
        result.test_accuracy,
        paper_accuracy,
        result.test_accuracy - paper_accuracy,
        validated[-1],
        max(validated),
    )
    texts = [f"{value:+.2f}" if place == 2 else f"{value:.2f}" for place, value in enumerate(numbers)]
    return f"| {' | '.join([paper.datasets[name], *changed, *texts])} |"


def tables(page: str) -> list[str]:
    return re.findall(r"best epoch \|\n\|---.*\n((?:\|.*\n)+)", page)


def test_page_has_what_was_measured_and_nothing_else() -> None:
    page = page_text("cnn-baselines")
    table, others, _ = tables(page)
    assert table.splitlines() == [row(result) for result in RESULTS]
    titles = {"alexnet": "AlexNet", "vgg16": "VGG16", "resnext50": "ResNeXt", "mnasnet": "MNASNet"}
    rows = [row(result, titles[result.model]) for result in SHIPPED if result.model in titles]
    assert sorted(others.splitlines()) == sorted(rows)
    near = [line for line in (table + others).splitlines() if abs(float(line.split("|")[-4])) <= 3]
    assert (len(near), len(RESULTS) + len(rows)) == (12, 24) and "**Twelve of 24 trainings of five CNNs" in page
    far = [line.split("|")[1].strip() for line in table.splitlines() if abs(float(line.split("|")[4])) > 3]
    assert far == ["Chesseract"] and "**Chesseract** is the one of ResNet-18 more than 3 points off" in page


def test_page_has_the_trainings_that_were_changed() -> None:
    page = page_text("cnn-baselines")
    variants = [result for result in SHIPPED if result.model == "resnet18-kit"]
    variants += read_results([DOCS / "findings" / "data" / "unseen-resnet18-other.jsonl"])
    assert [result.model for result in variants] == ["resnet18-kit"] * 3 + ["resnet18"] * 2
    assert [(result.dataset.endswith("copies"), result.device) for result in variants[2:]] == [
        (False, "NVIDIA H200"),
        (True, "NVIDIA H200"),
        (False, "cpu"),
    ]
    _, _, table = tables(page)
    assert table.splitlines() == [row(result, changed) for result, (_, changed) in zip(variants, CHANGED, strict=True)]
    as_above = {result.dataset: result for result in RESULTS}
    for result, (name, _) in zip(variants, CHANGED, strict=True):
        same = as_above[name.lower()]
        assert (result.recipe, result.epochs, result.seed, result.images) == (same.recipe, 64, same.seed, same.images)
        assert (result.dataset_hash == same.dataset_hash) == (not result.dataset.endswith("copies"))


def test_page_has_what_copies_of_games_do() -> None:
    page = page_text("cnn-baselines")
    plain, copied = read_results([DOCS / "findings" / "data" / "chesseract-copies.jsonl"])
    assert plain.training[1:2] == copied.training[1:2] == (32,) and plain.recipe == copied.recipe
    assert f"gives {copied.test_accuracy:.2f} % where ours gives {plain.test_accuracy:.2f}" in page


def test_page_has_what_the_averages_of_mnasnet_do() -> None:
    page = page_text("cnn-baselines")
    slow, fresh = read_results([DOCS / "findings" / "data" / "unseen-mnasnet-averages.jsonl"])
    assert slow.train_loss == fresh.train_loss and slow.train_loss is not None  # the same weights
    assert (slow.recipe.get("norm_momentum"), fresh.recipe["norm_momentum"]) == (None, 0.1)
    assert dict(fresh.recipe) == load_recipe(DOCS.parent / "campaigns" / "unseen-fresh-averages.toml").settings()
    rows = [
        f"{result.test_accuracy:.2f} | {result.validation_accuracy:.2f} | {result.train_loss:.3f} |"
        for result in (slow, fresh)
    ]
    shown = re.findall(r"^\| 0\.(?:0003|1), as in .*? \| (.*)$", page, re.MULTILINE)
    assert shown == rows
    losses = {result.dataset: result.train_loss or 0.0 for result in SHIPPED if result.model == "mnasnet"}
    assert all(losses[name] < 0.2 for name in ("addnist", "language", "multnist"))
    assert f"{losses['gutenberg']:.2f} and {losses['chesseract']:.2f} nats" in page


def test_measured_are_whole_trainings_by_the_papers_protocol() -> None:
    paper, recipe = published(), load_recipe("unseen")
    assert [result.dataset for result in RESULTS] == ["addnist", "language", "multnist", "gutenberg", "chesseract"]
    for result in SHIPPED:
        assert (result.status, result.epochs, result.seed, len(result.validated)) == ("ok", 64, 0, 64)
        assert result.images == paper.images[result.dataset]
        assert dict(result.recipe) == recipe.settings() | {"source": result.recipe["source"]}
