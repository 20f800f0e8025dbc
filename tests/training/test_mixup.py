"""MixUp against its formula, and again from the same generator."""

from __future__ import annotations

import pytest

from nasbed.core.errors import InvalidOption

pytest.importorskip("torch", reason="torch is not installed")

import torch

from nasbed.training.mixup import mixup


def generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def batch(count: int, channels: int = 2, height: int = 6, width: int = 5) -> torch.Tensor:
    """All pixels different and none zero, so that where each came from can be seen."""
    return torch.arange(1, count * channels * height * width + 1).reshape(count, channels, height, width).float()


def test_mixup_is_a_convex_combination() -> None:
    images, labels = batch(8), torch.arange(8)
    mixed = mixup(images, labels, 0.4, generator(5))
    assert 0 <= mixed.share <= 1
    assert sorted(mixed.partner_labels.tolist()) == list(range(8))
    for index in range(8):
        partner = int(mixed.partner_labels[index])
        expected = mixed.share * images[index] + (1 - mixed.share) * images[partner]
        torch.testing.assert_close(mixed.images[index], expected)
    untouched = mixup(images, labels, 0.0, generator(5))
    assert untouched.share == 1
    torch.testing.assert_close(untouched.images, images)


def test_mixup_draws_from_the_beta_distribution() -> None:
    from scipy.stats import kstest

    source, images, labels = generator(0), torch.zeros(2, 1, 1, 1), torch.zeros(2)
    shares = [mixup(images, labels, 0.3, source).share for _ in range(500)]
    assert kstest(shares, "beta", args=(0.3, 0.3)).pvalue > 0.01


def test_mixup_repeats_from_the_generator_and_leaves_the_global_one_alone() -> None:
    images, labels = batch(30), torch.arange(30)
    before = torch.get_rng_state()
    first, repeated, different = (mixup(images, labels, 1.0, generator(seed)).images for seed in (1, 1, 2))
    assert torch.equal(first, repeated) and not torch.equal(first, different)
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(images, batch(30))


def test_mixup_refuses_what_cannot_be() -> None:
    images, labels = batch(2), torch.arange(2)
    with pytest.raises(InvalidOption, match="alpha"):
        mixup(images, labels, -0.1, generator(0))
    with pytest.raises(InvalidOption, match="floats"):
        mixup(images.to(torch.uint8), labels, 0.1, generator(0))
