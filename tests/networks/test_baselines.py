"""Baselines: published parameter counts, images of any shape, our ResNet-18 against torchvision's."""

from __future__ import annotations

from copy import deepcopy
from importlib.util import find_spec
from math import log, sqrt
from subprocess import PIPE
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs torch")

import torch

from nasbed.core.errors import InvalidOption, MissingDependency, UnknownName
from nasbed.networks.baselines import BASELINES, baseline, import_torchvision
from nasbed.networks.baselines.upscaling import Upscaled, least_side
from nasbed.networks.shapes import shapes_only
from support.forks import fork_script

needs_torchvision = pytest.mark.skipif(find_spec("torchvision") is None, reason="compares with torchvision")

SHAPES = ((1, 24, 24), (1, 27, 18), (12, 8, 8), (1, 64, 128), (3, 28, 28), (3, 60, 60), (3, 64, 64))
"""Of the eight datasets: Language, Gutenberg, Chesseract, Isabella, AddNIST and MultNIST, GeoClassing, CIFARTile."""

PARAMETERS = {
    "resnet18": 11_689_512,
    "alexnet": 61_100_840,
    "vgg16": 138_357_544,
    "convnext-base": 88_591_464,
    "mnasnet": 4_383_312,
    "densenet161": 28_681_000,
    "resnext50": 25_028_904,
}
"""Torchvision's documentation: 1000 classes, 3 channels."""
CLASSIFIER = {"resnet18": 512, "alexnet": 4096, "vgg16": 4096, "convnext-base": 1024, "mnasnet": 1280, "densenet161": 2208, "resnext50": 2048}  # fmt: skip
FIRST = {"resnet18": 64 * 49, "alexnet": 64 * 121, "vgg16": 64 * 9, "convnext-base": 128 * 16, "mnasnet": 32 * 9, "densenet161": 96 * 49, "resnext50": 64 * 49}  # fmt: skip
LEAST = {"resnet18": 1, "alexnet": 63, "vgg16": 32, "convnext-base": 32, "mnasnet": 1, "densenet161": 29, "resnext50": 1}  # fmt: skip
"""AlexNet: (63 + 4 - 11) / 4 + 1 = 15, and three poolings 15, 7, 3, 1. VGG16 and ConvNeXt halve five times, 2^5 = 32.
DenseNet halves with padding twice, 29, 15, 8, then thrice without, 4, 2, 1."""


def named(*, with_kit: bool = True, large: tuple[str, ...] = ()) -> list[Any]:
    """Networks, of which the large ones are built in thorough runs alone."""
    marks: dict[str, Any] = {"resnet18": ()} | ({"resnet18-kit": ()} if with_kit else {})
    marks |= dict.fromkeys(large, (needs_torchvision, pytest.mark.thorough))
    names = (*PARAMETERS, *(["resnet18-kit"] if with_kit else []))
    return [pytest.param(name, marks=marks.get(name, needs_torchvision)) for name in names]


def parameters(network: Any) -> int:
    return sum(weight.numel() for weight in network.parameters())


@pytest.mark.parametrize("name", named(with_kit=False))
def test_baseline_has_the_published_parameters(name: str) -> None:
    with shapes_only():
        assert parameters(baseline(name, classes=1000, channels_in=3, image=224)) == PARAMETERS[name]
        many_channels = parameters(baseline(name, classes=7, channels_in=12, image=224))
    assert many_channels == PARAMETERS[name] - (1000 - 7) * (CLASSIFIER[name] + 1) + (12 - 3) * FIRST[name]


@pytest.mark.parametrize("name", named(large=("convnext-base", "densenet161")))
def test_baseline_takes_every_image_of_the_paper(name: str) -> None:
    for channels, height, width in SHAPES:
        with shapes_only(), torch.no_grad():
            network = baseline(name, classes=7, channels_in=channels, image=(height, width))
            assert network(torch.empty(2, channels, height, width)).shape == (2, 7)


@needs_torchvision
def test_densenet_with_growing_blocks_is_torchvisions_with_fewer_additions() -> None:
    from nasbed.networks.baselines.densenet import with_growing_blocks

    models = import_torchvision().models
    torch.manual_seed(0)
    plain = models.DenseNet(growth_rate=4, block_config=(5, 6), num_init_features=8, num_classes=3)
    grown = with_growing_blocks(deepcopy(plain))
    assert list(grown.state_dict()) == list(plain.state_dict())
    images = torch.randn(4, 3, 32, 32)
    results, additions = [], []
    for network in (plain, grown):
        with torch.profiler.profile() as profile:
            network(images).square().sum().backward()
        results.append([*(weight.grad for weight in network.parameters()), *network.buffers()])
        additions.append(sum(entry.count for entry in profile.key_averages() if entry.key == "aten::add_"))
    for grown_value, plain_value in zip(results[1], results[0], strict=True):
        torch.testing.assert_close(grown_value, plain_value, rtol=1e-4, atol=1e-5)
    assert additions[0] - additions[1] >= (10 + 15) - (4 + 5)  # n (n - 1) / 2 sums in each block, then n - 1


@pytest.mark.parametrize("name", named(large=("densenet161",)))
def test_baseline_weights_all_get_gradients(name: str) -> None:
    with shapes_only():
        network = baseline(name, classes=7, channels_in=12, image=8)
    network(torch.empty(2, 12, 8, 8, device="meta")).sum().backward()
    assert all(weight.grad is not None for weight in network.parameters())


def seeded(name: str, *, classes: int) -> torch.nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0)
        return baseline(name, classes=classes, channels_in=1, image=24)


def first_loss(network: torch.nn.Module, classes: int) -> float:
    images = torch.randn(32, 1, 24, 24, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        return torch.nn.functional.cross_entropy(network(images), torch.arange(32) % classes).item()


@pytest.mark.parametrize("name", named(large=("alexnet", "vgg16", "convnext-base", "densenet161")))
def test_baseline_begins_near_the_loss_of_a_guess(name: str) -> None:
    assert abs(first_loss(seeded(name, classes=3), 3) - log(3)) < 0.5


@needs_torchvision
@pytest.mark.parametrize("classes", [3, 20])
def test_mnasnet_differs_from_torchvisions_in_its_classifier_alone(classes: int) -> None:
    """torchvision draws its weights between ± the root of 3 over the classes, torch between ± one over the root of the
    inputs."""
    network, unchanged = (seeded(name, classes=classes) for name in ("mnasnet", "mnasnet-torchvision"))
    weights, others = network.state_dict(), unchanged.state_dict()
    assert [name for name in weights if not torch.equal(weights[name], others[name])] == [
        "classifier.1.weight",
        "classifier.1.bias",
    ]
    assert others["classifier.1.weight"].abs().max().item() == pytest.approx(sqrt(3 / classes), rel=0.01)
    assert weights["classifier.1.weight"].abs().max().item() == pytest.approx(1 / sqrt(1280), rel=0.01)
    assert first_loss(unchanged, classes) > log(classes) + 3


@pytest.mark.parametrize("name", named(with_kit=False))
def test_baseline_enlarges_no_more_than_it_must(name: str) -> None:
    assert least_side(BASELINES.get(name)) == LEAST[name]  # type: ignore[arg-type]
    with shapes_only():
        network = baseline(name, classes=2, channels_in=1, image=(64, 128))
        small = baseline(name, classes=2, channels_in=12, image=(8, 40))
    assert not isinstance(network, Upscaled)
    least = LEAST[name]
    assert getattr(small, "size", (8, 40)) == (max(8, least), max(40, least))


def test_enlarged_repeats_pixels_and_makes_no_new_values() -> None:
    board = torch.zeros(1, 1, 8, 8)
    board[0, 0, 3, 5] = 1.0
    enlarged = Upscaled(torch.nn.Identity(), (32, 32))(board)
    assert set(enlarged.unique().tolist()) == {0.0, 1.0} and enlarged.sum() == 16
    assert enlarged[0, 0, 12:16, 20:24].min() == 1


def test_resnet18_forward_and_backward_are_finite_on_the_smallest_image() -> None:
    network = baseline("resnet18", classes=3, channels_in=12, image=8)
    logits = network(torch.randn(4, 12, 8, 8, generator=torch.Generator().manual_seed(0)))
    logits.logsumexp(1).mean().backward()
    assert torch.isfinite(logits).all() and all(
        w.grad is not None and torch.isfinite(w.grad).all() for w in network.parameters()
    )


@needs_torchvision
def test_resnet18_is_torchvisions_weight_for_weight() -> None:
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(3)
        own = baseline("resnet18", classes=10, channels_in=3, image=32)
        torch.default_generator.manual_seed(3)
        reference = import_torchvision().models.resnet18(weights=None, num_classes=10)
    assert list(own.state_dict()) == list(reference.state_dict())
    assert all(torch.equal(own.state_dict()[name], value) for name, value in reference.state_dict().items())
    images = torch.randn(4, 3, 40, 28, generator=torch.Generator().manual_seed(0))
    assert torch.allclose(own(images), reference(images), atol=1e-5)
    own.load_state_dict(reference.state_dict())
    assert torch.allclose(own.eval()(images), reference.eval()(images), atol=1e-5)


def test_resnet18_kit_changes_the_first_convolution_alone() -> None:
    """The starting kit: 3×3 instead of 7×7, a bias, and the image keeps its size."""
    with torch.device("meta"):
        kit: Any = baseline("resnet18-kit", classes=20, channels_in=3, image=28)
        usual = baseline("resnet18", classes=20, channels_in=3, image=28)
    assert parameters(kit) - parameters(usual) == 64 * 3 * (9 - 49) + 64
    assert kit.conv1(torch.empty(1, 3, 28, 28, device="meta")).shape[2:] == (28, 28)


@pytest.mark.thorough
@needs_torchvision
def test_torchvision_is_imported_beside_any_torch_without_a_warning() -> None:
    code = (
        "import sys, warnings; assert 'torchvision' not in sys.modules; warnings.simplefilter('error')\n"
        "from nasbed.networks.baselines import import_torchvision as i; print(i() is i(), i().models.vgg16.__name__)"
    )
    with fork_script(code, stdout=PIPE, stderr=PIPE) as process:
        printed, errors = process.communicate()
    assert printed.split() == ["True", "vgg16"], errors


def test_torchvision_that_is_missing_is_named_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nasbed.networks.baselines.vision.find_spec", lambda name: None)
    with pytest.raises(MissingDependency, match=r"pip install 'nasbed\[vision\]'"):
        import_torchvision()
    with pytest.raises(MissingDependency):
        baseline("vgg16", classes=2, channels_in=3, image=32)


def test_baseline_user_errors_say_rule_and_value() -> None:
    with pytest.raises(UnknownName, match="did you mean resnet18"):
        baseline("resnet-18", classes=2, channels_in=3, image=32)
    with pytest.raises(InvalidOption, match="channels_in of a baseline is a whole number of 1 or more, got 0"):
        baseline("resnet18", classes=2, channels_in=0, image=32)
