"""Whole searches: that each method learns, that they repeat and resume exactly, stop, and say when they fail."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch")

import nasbed  # noqa: E402
from nasbed import datasets  # noqa: E402
from nasbed.core.errors import BadFile, InvalidOption, UnknownName  # noqa: E402
from nasbed.datasets import Dataset, LabelledImages  # noqa: E402
from nasbed.oneshot import METHODS, SearchEpoch, SearchResult, SearchSettings, search, skip_rule  # noqa: E402
from nasbed.oneshot.images import halves  # noqa: E402
from nasbed.training.devices import threads_used  # noqa: E402

TINY = SearchSettings(epochs=4, batch=8, channels=6, cells=3, epoch_images=8, split=(32, 16), crop_padding=1)
SMALL = SearchSettings(epochs=3, batch=16, channels=8, cells=1, epoch_images=32, split=(200, 64), flip=True)
LEARNING = replace(SMALL, epochs=4, batch=32, epoch_images=256, split=(1000, 256), flip=False, learning_rate=0.1)
QUICK: dict[str, Any] = {
    "darts": {"epochs": 2},
    "darts2": {"epochs": 2, "epoch_images": 128},
    "pc-darts": {"epochs": 2},
}
"""Methods that learn as much in fewer steps."""
OPTIONS: dict[str, dict[str, Any]] = {"random-ws": {"samples": 4, "epoch_samples": 2}}
OURS = ["darts", "darts2", "drnas", "gdas", "pc-darts", "random-ws"]
SOME = [name if name in ("gdas", "random-ws") else pytest.param(name, marks=pytest.mark.thorough) for name in OURS]
"""A method that learns how to mix, and one that does not."""


def run(method: str, settings: SearchSettings, space: str = "nb201", **arguments: Any) -> SearchResult:
    with threads_used(1):
        return search(method, datasets.load("digits"), settings, space=space, options=OPTIONS.get(method), **arguments)


def assert_same(first: SearchResult, second: SearchResult) -> None:
    assert (first.status, first.architecture) == (second.status, second.architecture)
    for a, b in zip(first.epochs, second.epochs, strict=True):
        assert (a.architecture, a.validation_accuracy, a.train_loss, a.eigenvalue) == (
            b.architecture,
            b.validation_accuracy,
            b.train_loss,
            b.eigenvalue,
        )
        assert a.parameters.keys() == b.parameters.keys()
        assert all(np.array_equal(a.parameters[name], b.parameters[name]) for name in a.parameters)


@pytest.mark.parametrize(("epoch_images", "judged"), [(16, 1_024), (1_536, 1_536)])
def test_short_epochs_are_judged_on_few_images(epoch_images: int, judged: int) -> None:
    """Of 2 560: every accuracy is a number of those that are looked at."""
    chance = np.random.default_rng(0)
    part = LabelledImages(chance.integers(0, 256, (4_096, 1, 4, 4)).astype(np.uint8), chance.integers(0, 2, 4_096))
    noise = Dataset(
        "noise", part, LabelledImages(part.images[:8], part.labels[:8]), ("0", "1"), (0.5,), (0.3,), hash="noise"
    )
    settings = replace(
        SMALL,
        split=(1_536, 2_560),
        batch=16 if epoch_images == 16 else 128,
        epoch_images=epoch_images,
        channels=4,
        epochs=2 if epoch_images == 16 else 1,
    )
    right = [
        (epoch.validation_accuracy or 0) * judged / 100
        for epoch in search("gdas", noise, settings, space="nb201").epochs
    ]
    assert right == pytest.approx(np.round(right), abs=1e-9)


@pytest.mark.parametrize("method", SOME)
def test_search_learns_digits_in_nb201(method: str) -> None:
    """Ten classes: chance is 10 per cent."""
    result = run(method, replace(LEARNING, **QUICK.get(method, {})))
    assert result.status == "ok" and result.architecture is not None
    nasbed.space("nb201").validate(result.architecture)
    assert result.epochs[-1].train_loss < result.epochs[0].train_loss
    assert max(epoch.validation_accuracy or 0 for epoch in result.epochs) > 25
    moved = [
        not np.array_equal(first, result.epochs[-1].parameters[name])
        for name, first in result.epochs[0].parameters.items()
    ]
    assert all(moved) and (bool(moved) == (method != "random-ws"))


@pytest.mark.parametrize(
    ("method", "space"),
    [
        *((method, "nb201") for method in OURS),
        *(pytest.param(method, "darts", marks=pytest.mark.thorough) for method in OURS),
    ],
)
def test_search_repeats_and_resumes_to_the_same_bits(method: str, space: str, tmp_path: Path, thorough: bool) -> None:
    """Interrupted halfway, which for drnas is after the last epoch of its first stage."""
    settings = replace(TINY, epochs=TINY.epochs if thorough else 2)
    settings = replace(settings, cells=1 if space == "nb201" else TINY.cells if thorough else 2)
    halfway = settings.epochs // 2
    uninterrupted = run(method, settings, space, seed=3)
    assert uninterrupted.status == "ok" and uninterrupted.architecture is not None
    nasbed.space(space).validate(uninterrupted.architecture)
    for epoch in uninterrupted.epochs:
        assert set(epoch.skips) == ({"normal", "reduce"} if space == "darts" else {"cell"})

    def interrupt(end: SearchEpoch) -> None:
        if end.epoch == halfway:
            raise KeyboardInterrupt

    path = tmp_path / "deep" / "search.ckpt"
    with pytest.raises(KeyboardInterrupt):
        run(method, settings, space, seed=3, checkpoint=path, progress=interrupt)
    torch.rand(5)
    epochs: list[SearchEpoch] = []
    resumed = run(method, settings, space, seed=3, checkpoint=path, progress=epochs.append)
    assert [end.epoch for end in epochs] == list(range(halfway + 1, settings.epochs + 1))
    assert_same(uninterrupted, resumed)
    assert_same(uninterrupted, run(method, settings, space, seed=3, checkpoint=path))


def test_search_depends_on_its_seed_and_leaves_torchs_generator_alone() -> None:
    state = torch.get_rng_state()
    first, second = (run("drnas", replace(TINY, cells=1, epochs=2), seed=seed) for seed in (0, 1))
    assert torch.equal(torch.get_rng_state(), state)
    assert first.epochs[0].train_loss != second.epochs[0].train_loss
    assert not np.array_equal(first.epochs[0].parameters["betas"], second.epochs[0].parameters["betas"])


def test_checkpoint_of_another_search_is_refused(tmp_path: Path) -> None:
    path, settings = tmp_path / "search.ckpt", replace(SMALL, epochs=1, epoch_images=16)
    run("pc-darts", settings, checkpoint=path)
    with pytest.raises(InvalidOption, match="seed 0, not 1"):
        run("pc-darts", settings, checkpoint=path, seed=1)
    with pytest.raises(InvalidOption, match="method 'pc-darts', not 'darts'"):
        run("darts", settings, checkpoint=path)
    with pytest.raises(InvalidOption, match="the setting batch 16, not 8"):
        run("pc-darts", replace(settings, batch=8), checkpoint=path)
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(BadFile, match="damaged"):
        run("pc-darts", settings, checkpoint=path)
    path.write_bytes(b"something else")
    with pytest.raises(BadFile, match="not a checkpoint of a search"):
        run("pc-darts", settings, checkpoint=path)


def test_search_that_diverges_says_so() -> None:
    result = run("darts", replace(SMALL, learning_rate=1e30, final_learning_rate=1e30, gradient_clip=None))
    assert result.status == "diverged" and result.architecture is None
    assert "not a finite number" in result.reason


def test_search_stops_by_its_rule(tmp_path: Path) -> None:
    path, settings = tmp_path / "search.ckpt", replace(TINY, cells=1)
    result = run("darts", settings, stop=lambda epochs: epochs[0] if len(epochs) == 2 else None, checkpoint=path)
    assert (result.status, len(result.epochs)) == ("stopped", 2)
    assert result.architecture == result.epochs[0].architecture
    repeated = run("darts", settings, stop=lambda epochs: skip_rule(epochs, skips=0), checkpoint=path)
    assert (repeated.status, len(repeated.epochs)) == ("stopped", 2)


@pytest.mark.parametrize("method", SOME)
def test_search_measures_eigenvalues_on_request(method: str) -> None:
    eigenvalue = run(method, replace(SMALL, epochs=1, eigenvalue_images=16)).epochs[0].eigenvalue
    assert eigenvalue is None if method == "random-ws" else eigenvalue


def test_search_computes_in_bfloat16() -> None:
    settings = replace(TINY, cells=1, epochs=1)
    result, exact = run("pc-darts", replace(settings, precision="bfloat16")), run("pc-darts", settings)
    assert result.status == "ok"
    assert result.epochs[0].train_loss == pytest.approx(exact.epochs[0].train_loss, rel=0.1)
    assert result.epochs[0].train_loss != exact.epochs[0].train_loss


def made_up(shape: tuple[int, int, int], *, published: tuple[int, int] | None = None) -> Dataset:
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (60, *shape), dtype=np.uint8)
    labels = np.arange(60, dtype=np.int64) % 3
    channels = shape[0]
    return Dataset(
        "made-up", LabelledImages(images, labels), LabelledImages(images[:6], labels[:6]), ("a", "b", "c"),
        (0.5,) * channels, (0.3,) * channels, "0" * 16, published,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("space", "shape"),
    [
        ("darts", (12, 8, 11)),
        ("nb201", (1, 27, 18)),
        pytest.param("darts", (1, 27, 18), marks=pytest.mark.thorough),
        pytest.param("nb201", (12, 8, 11), marks=pytest.mark.thorough),
    ],
)
def test_search_takes_twelve_channels_and_images_that_are_no_squares(space: str, shape: tuple[int, int, int]) -> None:
    settings = SearchSettings(epochs=1, batch=8, channels=4, cells=3 if space == "darts" else 1, epoch_images=8)
    with threads_used(1):
        result = search("pc-darts", made_up(shape), settings, space=space)
    assert result.status == "ok"


def test_halves_share_no_image_and_leave_published_validation_images_out() -> None:
    for published, count in ((None, 60), ((40, 20), 40)):
        dataset = made_up((1, 8, 8), published=published)
        first, second = halves(dataset, SearchSettings())
        assert len(first.train) == len(second.train) == count // 2
        used = {image.tobytes() for part in (first, second) for image in part.train.images}
        assert used == {image.tobytes() for image in dataset.train.images[:count]}
    with pytest.raises(InvalidOption, match="60 images"):
        halves(made_up((1, 8, 8)), SearchSettings(split=(40, 21)))


def test_search_refuses_what_it_does_not_know() -> None:
    assert set(OURS) <= set(METHODS)
    with pytest.raises(UnknownName, match="darts"):
        run("dart", SMALL)
    with pytest.raises(UnknownName, match="nb201"):
        run("darts", SMALL, "nb101")
    with pytest.raises(InvalidOption, match="batch"):
        SearchSettings(batch=0)
    with pytest.raises(InvalidOption, match="cells"):
        SearchSettings(cells=0)
    with pytest.raises(InvalidOption, match="split"):
        SearchSettings(split=(0, 5))


def test_cells_too_narrow_for_a_halving_skip_connection_are_refused() -> None:
    settings = SearchSettings(epochs=1, batch=8, channels=4, cells=1, epoch_images=16)  # a single cell, which reduces
    with pytest.raises(InvalidOption, match=r"one channel in 6 .* got cells of 8 channels; take 12 or more"):
        search("drnas", datasets.load("digits"), settings)
