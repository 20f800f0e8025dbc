"""Augmentations against what a plain loop gives, and again from the same generator."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nasbed.core.errors import InvalidOption

pytest.importorskip("torch", reason="torch is not installed")

import torch

from nasbed.datasets import augment


def generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def batch(count: int, channels: int = 2, height: int = 6, width: int = 5) -> torch.Tensor:
    """All pixels different and none zero, so that where each came from can be seen."""
    return torch.arange(1, count * channels * height * width + 1).reshape(count, channels, height, width).float()


def test_random_crop_cuts_each_image_at_one_of_all_places() -> None:
    images, padding = batch(400), 2
    found = augment.random_crop(images, padding, generator(0))
    bordered = np.pad(images.numpy(), ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    places = []
    for index in range(len(images)):
        fitting = [
            (top, left)
            for top in range(2 * padding + 1)
            for left in range(2 * padding + 1)
            if np.array_equal(bordered[index, :, top : top + 6, left : left + 5], found[index].numpy())
        ]
        assert len(fitting) == 1
        places += fitting
    assert len(set(places)) == 25
    assert abs(np.mean(places) - padding) < 0.2
    np.testing.assert_array_equal(augment.random_crop(images, 0, generator(0)), images)


def test_random_flip_mirrors_half() -> None:
    images = batch(1_000)
    found = augment.random_flip(images, generator(0)).numpy()
    mirrored = 0
    for before, after in zip(images.numpy(), found, strict=True):
        flipped = np.array_equal(after, before[:, :, ::-1])
        assert flipped or np.array_equal(after, before)
        mirrored += flipped
    assert abs(mirrored - 500) < 80


@pytest.mark.parametrize("side", [0, 1, 3, 4])
def test_cutout_clears_one_square_clipped_at_the_edges(side: int) -> None:
    images = batch(300)
    found = augment.cutout(images, side, generator(0)).numpy()
    seen = set()
    for before, after in zip(images.numpy(), found, strict=True):
        cleared = after == 0
        fitting = []
        for row in range(6):
            for column in range(5):
                expected = np.zeros((6, 5), bool)
                top, left = row - side // 2, column - side // 2
                expected[max(top, 0) : max(top + side, 0), max(left, 0) : max(left + side, 0)] = True
                if (cleared == expected).all():
                    fitting.append((row, column, int(expected.sum())))
        assert fitting
        assert (after[~cleared] == before[~cleared]).all()
        seen.add(fitting[0])
    assert max(area for *_, area in seen) == side**2
    if side:
        assert len(seen) == 30


def test_mixup_is_a_convex_combination() -> None:
    images, labels = batch(8), torch.arange(8)
    mixed = augment.mixup(images, labels, 0.4, generator(5))
    assert 0 <= mixed.share <= 1
    assert sorted(mixed.others.tolist()) == list(range(8))
    for index in range(8):
        other = int(mixed.others[index])
        expected = mixed.share * images[index] + (1 - mixed.share) * images[other]
        torch.testing.assert_close(mixed.images[index], expected)
    untouched = augment.mixup(images, labels, 0.0, generator(5))
    assert untouched.share == 1
    torch.testing.assert_close(untouched.images, images)


def test_mixup_draws_from_the_beta_distribution() -> None:
    from scipy.stats import kstest

    source, images, labels = generator(0), torch.zeros(2, 1, 1, 1), torch.zeros(2)
    shares = [augment.mixup(images, labels, 0.3, source).share for _ in range(500)]
    assert kstest(shares, "beta", args=(0.3, 0.3)).pvalue > 0.01


def test_normalise_gives_mean_0_and_deviation_1() -> None:
    rng = np.random.default_rng(0)
    images = torch.from_numpy(rng.integers(0, 256, (50, 3, 8, 8), dtype=np.uint8))
    values = images.double() / 255
    mean, std = values.mean((0, 2, 3)).tolist(), values.std((0, 2, 3), correction=0).tolist()
    found = augment.normalise(images, mean, std)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found.mean((0, 2, 3)), torch.zeros(3), atol=1e-5, rtol=0)
    torch.testing.assert_close(found.std((0, 2, 3), correction=0), torch.ones(3), atol=1e-5, rtol=0)
    same = augment.normalise(torch.full((1, 1, 2, 2), 0.5), [0.5], [0.0], scale=1.0)
    assert same.tolist() == [[[[0.0, 0.0], [0.0, 0.0]]]]


def test_augmentations_repeat_from_the_generator_and_leave_the_global_one_alone() -> None:
    images, labels = batch(30), torch.arange(30)

    def all_of_them(seed: int) -> torch.Tensor:
        source = generator(seed)
        changed = augment.cutout(augment.random_flip(augment.random_crop(images, 2, source), source), 2, source)
        return augment.mixup(changed, labels, 1.0, source).images

    before = torch.get_rng_state()
    assert torch.equal(all_of_them(1), all_of_them(1))
    assert not torch.equal(all_of_them(1), all_of_them(2))
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(images, batch(30))


def test_augmentations_keep_bytes() -> None:
    images = batch(3).to(torch.uint8)
    for changed in (
        augment.random_crop(images, 1, generator(0)),
        augment.random_flip(images, generator(0)),
        augment.cutout(images, 2, generator(0)),
    ):
        assert changed.dtype == torch.uint8
        assert changed.shape == images.shape


def test_augmentations_refuse_what_cannot_be() -> None:
    images, labels = batch(2), torch.arange(2)
    with pytest.raises(InvalidOption, match="padding"):
        augment.random_crop(images, -1, generator(0))
    with pytest.raises(InvalidOption, match="cut-out"):
        augment.cutout(images, -1, generator(0))
    with pytest.raises(InvalidOption, match="alpha"):
        augment.mixup(images, labels, -0.1, generator(0))
    with pytest.raises(InvalidOption, match="floats"):
        augment.mixup(images.to(torch.uint8), labels, 0.1, generator(0))


def test_datasets_page_runs() -> None:
    """Every Python block of docs/datasets.md, one after the other."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "datasets.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    names: dict[str, Any] = {}
    exec("\n".join(blocks), names)
    assert names["mixed"].images.shape == (64, 1, 8, 8)
