"""What chance decides in a training, and the images that it makes, against plain loops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.stats

torch = pytest.importorskip("torch", reason="needs torch")

from torch import nn  # noqa: E402

import nasbed  # noqa: E402
from nasbed import datasets  # noqa: E402
from nasbed.core.errors import InvalidOption  # noqa: E402
from nasbed.training import Recipe  # noqa: E402
from nasbed.training.images import TrainingImages  # noqa: E402
from nasbed.training.network_factory import recipe_network  # noqa: E402
from nasbed.training.random_streams import epoch_draws, epoch_words, initial_weights, step_words  # noqa: E402

RECIPE = Recipe(name="tiny", epochs=(1,), batch=32, learning_rate=0.1, crop_padding=2, flip=True, cutout=3)


def test_initial_weights_are_uniform_within_the_inverse_root_of_the_fan_in() -> None:
    convolution, norm, linear = nn.Conv2d(6, 400, 3, groups=2), nn.BatchNorm2d(400), nn.Linear(400, 50)
    initial_weights(nn.Sequential(convolution, norm, nn.Flatten(), linear), 7)
    for weight, fan_in in ((convolution.weight, 27), (linear.weight, 400)):
        bound = fan_in**-0.5
        values = weight.detach().double().flatten()
        assert values.abs().max() <= bound and values.abs().max() > 0.99 * bound
        assert abs(values.mean()) < 5 * bound / (3 * len(values)) ** 0.5
        assert values.var() == pytest.approx(bound**2 / 3, rel=0.05)
    assert (norm.weight == 1).all() and (norm.bias == 0).all()
    assert linear.bias.abs().max() <= 400**-0.5


def test_tensorflow_weights_have_the_published_distributions() -> None:
    """Convolutions as scipy's normal distribution cut at two deviations and scaled to a variance of 1 / fan-in, the
    classifier as Glorot's."""
    convolution, norm, linear = nn.Conv2d(6, 400, 3), nn.BatchNorm2d(400), nn.Linear(400, 50)
    initial_weights(nn.Sequential(convolution, norm, nn.Flatten(), linear), 7, "tensorflow")
    drawn = convolution.weight.detach().double().flatten().numpy()
    assert (
        scipy.stats.kstest(drawn * 54**0.5 * scipy.stats.truncnorm.std(-2, 2), scipy.stats.truncnorm(-2, 2).cdf).pvalue
        > 0.01
    )
    assert drawn.var() == pytest.approx(1 / 54, rel=0.03)
    drawn, limit = linear.weight.detach().double().flatten().numpy(), (6 / 450) ** 0.5
    assert scipy.stats.kstest(drawn, scipy.stats.uniform(-limit, 2 * limit).cdf).pvalue > 0.01
    assert (linear.bias == 0).all() and (norm.weight == 1).all() and (norm.bias == 0).all()


def test_initial_weights_belong_to_the_seed_alone() -> None:
    arch = nasbed.space("nb201").sample(np.random.default_rng(0))
    drawn = []
    for seed in (3, 3, 4):
        network = recipe_network(arch, datasets.load("digits"), Recipe("r", (1,), 8, 0.1))
        initial_weights(network, seed)
        drawn.append(torch.cat([weight.flatten() for weight in network.parameters()]))
    assert torch.equal(drawn[0], drawn[1]) and not torch.equal(drawn[0], drawn[2])
    with pytest.raises(InvalidOption, match="a seed is 0 or more, got -1"):
        initial_weights(network, -1)


def test_initial_weights_refuse_layers_that_they_do_not_know() -> None:
    with pytest.raises(InvalidOption, match=r"parameter 0\.weight of a Embedding.*train_network"):
        initial_weights(nn.Sequential(nn.Embedding(3, 4)), 0)


def test_an_epoch_has_every_image_once_in_an_order_of_its_own() -> None:
    orders = []
    for epoch in (0, 1):
        draws = epoch_draws(RECIPE, torch.from_numpy(epoch_words(5, epoch, 1_000)), (8, 8))
        assert sorted(draws.order.tolist()) == list(range(1_000))
        assert set(draws.top.tolist()) == set(draws.left.tolist()) == set(range(5))
        assert set(draws.cut_row.tolist()) == set(range(8)) and 0.4 < draws.mirrored.double().mean() < 0.6
        orders.append(draws.order.tolist())
    assert orders[0] != orders[1]
    short = epoch_draws(replace(RECIPE, epoch_images=64), torch.from_numpy(epoch_words(5, 0, 1_000)), (8, 8))
    assert short.order.tolist() == orders[0][:64]


def test_step_words_differ_from_epoch_to_epoch() -> None:
    assert len({int(word) for epoch in range(3) for word in step_words(1, epoch, 10).flatten()}) == 60


def test_batches_are_cropped_mirrored_normalised_and_cut_out_as_drawn() -> None:
    dataset = datasets.load("digits")
    images = TrainingImages(dataset, RECIPE)
    draws = epoch_draws(RECIPE, torch.from_numpy(epoch_words(0, 3, len(images))), images.side)
    batch, labels = images.batch(draws, 32, 32)
    assert batch.shape == (32, 1, 8, 8)
    for place in range(32):
        image_index = draws.order[32 + place]
        source = int(images.split.train[image_index])
        bordered = np.zeros((12, 12))
        bordered[2:10, 2:10] = dataset.train.images[source, 0]
        top, left = int(draws.top[32 + place]), int(draws.left[32 + place])
        expected = bordered[top : top + 8, left : left + 8]
        if draws.mirrored[32 + place]:
            expected = expected[:, ::-1]
        expected = (expected / 255 - dataset.mean[0]) / dataset.std[0]
        row, column = int(draws.cut_row[32 + place]), int(draws.cut_column[32 + place])
        expected[max(0, row - 1) : row + 2, max(0, column - 1) : column + 2] = 0
        np.testing.assert_allclose(batch[place, 0].numpy(), expected, rtol=1e-4, atol=1e-5)
        assert labels[place] == dataset.train.labels[source]


def test_batches_that_are_cut_together_are_the_same() -> None:
    images = TrainingImages(datasets.load("digits"), RECIPE)
    draws = epoch_draws(RECIPE, torch.from_numpy(epoch_words(3, 1, len(images))), images.side)
    alone = [images.batch(draws, step * 32, 32) for step in range(11)]
    for together in (1, 4, 32):
        batches = list(images.epoch(draws, 11, 32, together=together))
        assert len(batches) == 11
        for batch, expected in zip(batches, alone, strict=True):
            assert all(map(torch.equal, batch, expected))


def test_images_validate_with_a_fifth_unless_the_recipe_says_otherwise() -> None:
    dataset = datasets.load("digits")
    images = TrainingImages(dataset, RECIPE)
    assert (len(images), len(images.split.valid)) == (1_150, 287) and not set(images.split.train) & set(
        images.split.valid
    )
    fewer = TrainingImages(dataset, replace(RECIPE, split=(100, 50)))
    assert (len(fewer), sum(len(labels) for _, labels in fewer.batches("valid", 16))) == (100, 50)
    assert sum(len(labels) for _, labels in fewer.batches("test", 64)) == 360
