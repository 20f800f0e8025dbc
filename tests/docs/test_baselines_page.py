"""docs/findings/cnn-baselines.md has the accuracies that were measured, as the file of results has them."""

from __future__ import annotations

import json
import re

from nasbed.core.home import embedded_home
from nasbed.experiments.unseen.published import published
from nasbed.experiments.unseen.results import UnseenResult, read_results
from nasbed.training import load_recipe
from support.documentation import DOCS, page_text

SHIPPED = read_results([embedded_home() / "results" / "unseen-cnn.jsonl"])
DATASETS = ("addnist", "language", "multnist", "cifartile", "gutenberg", "chesseract")
RESULTS = sorted(
    (result for result in SHIPPED if result.model == "resnet18"), key=lambda result: DATASETS.index(result.dataset)
)

TITLES = {
    "alexnet": "AlexNet",
    "vgg16": "VGG16",
    "resnext50": "ResNeXt",
    "mnasnet": "MNASNet",
    "densenet161": "DenseNet",
    "convnext-base": "ConvNext",
}
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
    paper_accuracy = paper.accuracy(name, result.model.removesuffix("-kit").removesuffix("-torchvision"))
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
    rows = [row(result, TITLES[result.model]) for result in SHIPPED if result.model in TITLES]
    assert sorted(others.splitlines()) == sorted(rows)
    near = [line for line in (table + others).splitlines() if abs(float(line.split("|")[-4])) <= 3]
    assert (len(near), len(RESULTS) + len(rows)) == (18, 42) and "**18 of 42 trainings of seven CNNs" in page
    assert "| 18 of 42 trainings are within 3 points" in (DOCS / "findings" / "index.md").read_text(encoding="utf-8")
    distances = {line.split("|")[1].strip(): abs(float(line.split("|")[4])) for line in table.splitlines()}
    assert max(distances, key=distances.__getitem__) == "Chesseract"
    assert "**Chesseract** is the one on which ResNet-18 is furthest off" in page


def test_page_says_on_which_datasets_cnns_are_below_the_paper() -> None:
    differences = {
        (result.dataset, result.model): (result.test_accuracy or 0.0)
        - (published().accuracy(result.dataset, result.model) or 0.0)
        for result in SHIPPED
        if result.model in ("resnet18", *TITLES)
    }
    page = page_text("cnn-baselines")
    words = [value for (dataset, model), value in differences.items() if dataset == "gutenberg" and "conv" not in model]
    tiles = [value for (dataset, _), value in differences.items() if dataset == "cifartile" and value < 0]
    assert (len(words), round(-max(words), 1), round(-min(words))) == (6, 2.4, 8)
    assert "all CNNs but ConvNext are below the paper, by 2.4 to 8" in page
    assert (len(tiles), round(-max(tiles)), round(-min(tiles))) == (5, 3, 9)
    assert "ResNet-18, ResNeXt, DenseNet, AlexNet and MNASNet are below the paper, by 3 to 9" in page


def test_page_says_after_which_epochs_cnns_validate_best_on_tiles() -> None:
    best = {
        result.model: max(result.validated, key=lambda epoch: result.validated[epoch] or 0.0)
        for result in SHIPPED
        if result.dataset == "cifartile"
    }
    text = " ".join(page_text("cnn-baselines").split())
    expected = f"epoch {best['resnet18']}, ResNeXt after {best['resnext50']}, AlexNet after {best['alexnet']}."
    assert f"ResNet-18 validates best after {expected}" in text


def test_page_has_how_well_convnext_fits_its_training_images() -> None:
    page = page_text("cnn-baselines")
    losses: dict[str, dict[str, float]] = {}
    for result in SHIPPED:
        if result.model in ("resnet18", *TITLES):
            losses.setdefault(result.dataset, {})[result.model] = result.train_loss or 0.0
    for dataset, by_model in losses.items():
        own = by_model.pop("convnext-base")
        assert f"| {published().datasets[dataset]} | {own:.2f} | {max(by_model.values()):.2f} |" in page
    others = sorted(loss for by_model in losses.values() for loss in by_model.values())
    assert len(others) == 36 and others[-3] < 0.05
    (result,) = [result for result in SHIPPED if (result.dataset, result.model) == ("addnist", "convnext-base")]
    assert f"The training in the table above has {result.validated['1']:.2f} % after its first epoch" in page


def test_page_has_what_changes_the_first_epoch_of_convnext() -> None:
    page = page_text("cnn-baselines")
    text = (DOCS / "findings" / "data" / "convnext-first-epoch.jsonl").read_text(encoding="utf-8")
    for line in map(json.loads, text.splitlines()):
        accuracy = f"{line['validation_accuracy']:.2f}"
        assert f"| {line['changed']} | {line['mean_loss']:.2f} | {accuracy} |" in page and line["command"] in page


def test_page_says_how_long_vgg16_guesses_on_tiles() -> None:
    (result,) = [result for result in SHIPPED if (result.dataset, result.model) == ("cifartile", "vgg16")]
    first = next(int(epoch) for epoch, value in result.validated.items() if (value or 0) > 30)
    assert first == 7 and "guesses too for the first six epochs" in page_text("cnn-baselines")


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


def test_page_has_what_shared_stretches_of_books_do() -> None:
    plain, shared = read_results([DOCS / "findings" / "data" / "gutenberg-stretches.jsonl"])
    assert (plain.epochs, plain.device, plain.recipe) == (shared.epochs, shared.device, shared.recipe)
    assert plain.dataset_hash in {result.dataset_hash for result in SHIPPED if result.dataset == "gutenberg"}
    text = " ".join(page_text("cnn-baselines").split())
    assert f"{shared.test_accuracy:.2f} % instead of {plain.test_accuracy:.2f}, and" in text
    assert f"{shared.validation_accuracy:.2f} instead of {plain.validation_accuracy:.2f} on validation" in text


def test_page_has_what_the_classifier_of_mnasnet_does() -> None:
    page, paper = page_text("cnn-baselines"), published()
    own, other = (
        {result.dataset: result for result in SHIPPED if result.model == model}
        for model in ("mnasnet-torchvision", "mnasnet")
    )
    rows, distances = [], []
    for dataset in ("addnist", "language", "multnist", "gutenberg", "chesseract"):
        accuracies = [own[dataset].test_accuracy or 0.0, other[dataset].test_accuracy or 0.0]
        published_accuracy = paper.accuracy(dataset, "mnasnet") or 0.0
        rows.append(
            f"| {paper.datasets[dataset]} | {' | '.join(f'{x:.2f}' for x in (*accuracies, published_accuracy))} |"
        )
        distances.append([abs(accuracy - published_accuracy) for accuracy in accuracies])
        assert own[dataset].recipe == other[dataset].recipe
    (table,) = re.findall(r"torch's classifier \| the paper \|\n\|---.*\n((?:\|.*\n)+)", page)
    assert table.splitlines() == rows
    first, second = (f"{sum(column) / 5:.1f}" for column in zip(*distances, strict=True))
    assert f"is {first} points with the one and {second} with the other" in page


def test_page_has_what_the_averages_of_mnasnet_do() -> None:
    page, paper = page_text("cnn-baselines"), published()
    slow, fresh, *whole = read_results([DOCS / "findings" / "data" / "unseen-mnasnet.jsonl"])
    assert slow.train_loss == fresh.train_loss and slow.train_loss is not None  # the same weights
    assert (slow.recipe.get("norm_momentum"), fresh.recipe["norm_momentum"]) == (None, 0.1)
    assert f"{slow.test_accuracy:.2f} % with the one, {fresh.test_accuracy:.2f} % with the other" in page
    settings = load_recipe(DOCS.parent / "campaigns" / "unseen-fresh-averages.toml").settings()
    by_dataset = {result.dataset: result for result in SHIPPED if result.model == "mnasnet-torchvision"}
    for result in whole:
        assert dict(result.recipe) == settings and result.epochs == 64
        accuracies = (
            by_dataset[result.dataset].test_accuracy,
            result.test_accuracy,
            paper.accuracy(result.dataset, "mnasnet"),
        )
        assert f"| {paper.datasets[result.dataset]} | {' | '.join(f'{x:.2f}' for x in accuracies)} |" in page
    first_learned = [
        next(int(epoch) for epoch, value in result.validated.items() if (value or 0) > paper.chance[result.dataset] + 5)
        for result in SHIPPED
        if result.model == "mnasnet"
    ]
    assert (min(first_learned) - 1, max(first_learned) - 1) == (26, 41) and "guesses for 26 to 41 epochs" in page


def test_measured_are_whole_trainings_by_the_papers_protocol() -> None:
    paper, recipe = published(), load_recipe("unseen")
    assert [result.dataset for result in RESULTS] == list(DATASETS)
    for result in SHIPPED:
        assert (result.status, result.epochs, result.seed, len(result.validated)) == ("ok", 64, 0, 64)
        assert result.images == paper.images[result.dataset]
        assert dict(result.recipe) == recipe.settings() | {"source": result.recipe["source"]}


def test_page_has_what_the_authors_scripts_do() -> None:
    page, paper = page_text("cnn-baselines"), published()
    data = DOCS / "findings" / "data"
    lines = read_results([data / "unseen-as-released.jsonl", data / "gutenberg-stretches.jsonl"])
    short = {result.dataset: result for result in lines if result.epochs == 8}
    for name in (name for name in short if name.endswith("-as-released")):
        own, other = short[name], short[name.removesuffix("-as-released")]
        assert (own.recipe, own.device, own.images) == (other.recipe, other.device, other.images)
        assert own.dataset_hash != other.dataset_hash
        accuracy = paper.accuracy(other.dataset, "resnet18")
        row = f"| {other.test_accuracy:.2f} | {own.test_accuracy:.2f} | {accuracy:.2f} |"
        assert f"| {paper.datasets[other.dataset]} {row}" in page


def test_page_has_whole_trainings_on_what_the_authors_scripts_make() -> None:
    page, paper = page_text("cnn-baselines"), published()
    lines = read_results([DOCS / "findings" / "data" / "unseen-as-released.jsonl"])
    short, long = ([result for result in lines if result.epochs == epochs] for epochs in (8, 64))
    rows, titles = [], TITLES | {"resnet18": "ResNet-18"}
    for own in long:
        name = own.dataset.removesuffix("-as-released")
        (other,) = [result for result in SHIPPED if (result.dataset, result.model) == (name, own.model)]
        assert (own.recipe, own.device) == (other.recipe, other.device)
        assert own.dataset_hash in {result.dataset_hash for result in short}
        accuracies = (other.test_accuracy, own.test_accuracy, paper.accuracy(name, own.model))
        cells = [paper.datasets[name], titles[own.model], *(f"{accuracy:.2f}" for accuracy in accuracies)]
        rows.append(f"| {' | '.join(cells)} |")
    (table,) = re.findall(r"as released \| the paper \|\n\|---.*\n((?:\|.*\n)+)", page)
    assert table.splitlines() == rows


def test_page_has_what_shifted_and_mirrored_images_do() -> None:
    page, paper = page_text("cnn-baselines"), published()
    (moved,) = read_results([DOCS / "findings" / "data" / "unseen-moved-images.jsonl"])
    (plain,) = [result for result in RESULTS if result.dataset == moved.dataset]
    changed = {name for name in moved.recipe if moved.recipe[name] != plain.recipe[name]}
    assert changed == {"name", "source", "crop_padding", "flip"}
    assert (moved.dataset_hash, moved.epochs, moved.seed) == (plain.dataset_hash, plain.epochs, plain.seed)
    accuracies = (plain.test_accuracy, moved.test_accuracy, paper.accuracy("addnist", "resnet18"))
    assert f"| AddNIST | ResNet-18 | {' | '.join(f'{accuracy:.2f}' for accuracy in accuracies)} |" in page
    assert f"to {moved.train_loss:.2f} nats" in page and (plain.train_loss or 0.0) < 0.01
    of_methods = [paper.accuracy("addnist", name) or 0.0 for name in ("pc-darts", "drnas", "bonsai-net", "rs-darts")]
    of_cnns = [paper.accuracy("addnist", name) or 0.0 for name in ("resnet18", *TITLES)]
    text = f"reach {min(of_methods):.2f} to {max(of_methods):.2f} %, its CNNs {max(of_cnns):.2f} at most"
    assert text in page


def test_page_has_what_others_found() -> None:
    page, paper = page_text("cnn-baselines"), published()
    for result in RESULTS:
        kit = [other for other in SHIPPED if (other.dataset, other.model) == (result.dataset, "resnet18-kit")]
        cells = f"{result.test_accuracy:.2f} | {f'{kit[0].test_accuracy:.2f}' if kit else '–'} |"
        name, accuracy = paper.datasets[result.dataset], paper.accuracy(result.dataset, "resnet18")
        assert re.search(rf"\| {name} \| {accuracy:.2f} \| \d\d\.\d\d \| {re.escape(cells)}", page)
    table, others, _ = tables(page)
    larger = [line for line in (table + others).splitlines() if abs(float(line.split("|")[-4])) > 90.08 - 80.33]
    assert len(larger) == 3 and "All but 3 of our 42 differences are no larger." in page


def test_page_says_what_vgg16_does_on_tiles_by_the_authors_script() -> None:
    text = (DOCS / "findings" / "data" / "tiles-as-released-vgg16.jsonl").read_text(encoding="utf-8")
    epochs = [json.loads(line) for line in text.splitlines()]
    assert [end["epoch"] for end in epochs] == list(range(1, 45))
    assert max(abs(end["validation_accuracy"] - 25) for end in epochs) < 0.1
    assert f"until epoch 44 of 64, where its training was stopped, with a loss of {epochs[-1]['mean_loss']} nats" in (
        page_text("cnn-baselines")
    )
