"""Networks side by side compute what each computes alone: the reference is a copy of each, and torch's own layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from importlib.util import find_spec
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs torch")

import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional

from nasbed.core.errors import InvalidOption
from nasbed.networks.baselines import baseline, import_torchvision
from nasbed.networks.baselines.densenet import with_growing_blocks
from nasbed.networks.baselines.upscaling import Upscaled
from nasbed.networks.baselines.vision import take_channels
from nasbed.networks.stacking import StackedNetwork
from nasbed.networks.stacking.layers import (
    StackedBatchNorm,
    StackedGroupedConvolution,
    StackedLayer,
    StackedLayerNorm,
    StackedLinear,
    StackedProductConvolution,
)
from nasbed.networks.stacking.products import products, same_convolution

needs_torchvision = pytest.mark.skipif(find_spec("torchvision") is None, reason="compares networks of torchvision")
large = (needs_torchvision, pytest.mark.thorough)

CHANNELS, CLASSES = (1, 12), (3, 5)
"""Of the images and the labels of two members."""
Builder = Callable[[int, int], nn.Module]


def named(name: str, side: int) -> Builder:
    return lambda classes, channels: baseline(name, classes=classes, channels_in=channels, image=side)


def small_densenet(classes: int, channels: int) -> nn.Module:
    densenet = import_torchvision().models.DenseNet
    network = densenet(growth_rate=4, block_config=(3, 2), num_init_features=8, bn_size=2, num_classes=classes)
    take_channels(network, "features.conv0", channels)
    return with_growing_blocks(network)


def small_convnext(classes: int, channels: int, *, dropped: float = 0.0) -> nn.Module:
    """Its blocks weigh half as much as what they are added to, not a millionth, so that each counts."""
    convnext = import_torchvision().models.convnext
    blocks = [convnext.CNBlockConfig(8, 12, 2), convnext.CNBlockConfig(12, None, 2)]
    network = convnext.ConvNeXt(blocks, stochastic_depth_prob=dropped, layer_scale=0.5, num_classes=classes)
    take_channels(network, "features.0.0", channels)
    return Upscaled(network, (24, 16))


def pair(build: Builder) -> list[nn.Module]:
    """Two members of a kind, which drop nothing."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0)
        networks = [build(classes, channels).double() for classes, channels in zip(CLASSES, CHANNELS, strict=True)]
    modules: list[Any] = [module for network in networks for module in network.modules()]
    for module in modules:
        if type(module).__name__ in ("Dropout", "StochasticDepth"):
            module.p = 0.0
    return networks


def noise(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def pictures(side: int, batch: int = 4) -> list[Tensor]:
    return [noise(batch, channels, side, side, seed=channels) for channels in CHANNELS]


def tiny(classes: int, channels: int, width: int = 4) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(channels, width, 3, padding=1, bias=False),
        nn.BatchNorm2d(width),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(width, classes),
    )


def assert_same(own: Tensor | None, alone: Tensor | None, *, scale: float = 0.0, what: str = "") -> None:
    """Equal up to 1e-9 of the largest number, and to the rounding of what is of this scale: some gradients are zero
    in theory, and sums of large numbers."""
    assert own is not None and alone is not None and own.shape == alone.shape, what
    distance = (own - alone).abs().max().item()
    assert distance <= 1e-9 * alone.abs().max().item() + 1e-13 * scale, what


@pytest.mark.parametrize(
    ("build", "side", "batch"),
    [
        pytest.param(named("resnet18", 8), 8, 4, id="resnet18"),
        pytest.param(named("mnasnet", 32), 32, 6, id="mnasnet", marks=needs_torchvision),
        pytest.param(small_densenet, 29, 4, id="small-densenet", marks=needs_torchvision),
        pytest.param(small_convnext, 8, 4, id="small-convnext", marks=needs_torchvision),
        pytest.param(named("resnext50", 32), 32, 6, id="resnext50", marks=large),
        pytest.param(named("densenet161", 8), 8, 4, id="densenet161", marks=large),
        pytest.param(named("convnext-base", 8), 8, 4, id="convnext-base", marks=large),
    ],
)
def test_stacked_network_computes_what_its_members_compute_alone(build: Builder, side: int, batch: int) -> None:
    """Outputs, gradients of all weights and running averages of a step, and then the outputs in evaluation mode."""
    members, images = pair(build), pictures(side, batch)
    alone = deepcopy(members)
    stacked = StackedNetwork(members)
    outputs = stacked(images)
    torch.stack([logits.square().sum() for logits in outputs]).sum().backward()  # type: ignore[no-untyped-call]
    stacked.share_gradients()
    for own, member, network, pixels in zip(outputs, members, alone, images, strict=True):
        logits = network(pixels)
        logits.square().sum().backward()
        assert_same(own, logits)
        gradients = [(name, weight.grad) for name, weight in network.named_parameters()]
        scale = max(gradient.abs().max().item() for _, gradient in gradients if gradient is not None)
        for (name, gradient), weight in zip(gradients, member.parameters(), strict=True):
            assert_same(weight.grad, gradient, scale=scale, what=name)
        for (name, average), own_average in zip(network.named_buffers(), member.buffers(), strict=True):
            if average.is_floating_point():  # the number of batches is not counted
                assert_same(own_average, average, scale=1.0, what=name)
    with torch.no_grad():
        for own, network, pixels in zip(stacked.eval()(images), alone, images, strict=True):
            assert_same(own, network.eval()(pixels))


def test_stacked_network_follows_what_trains_a_member() -> None:
    """Weights of members are views: an optimizer of one, and weights that are loaded, move its own outputs alone."""
    members, images = pair(tiny), pictures(6)
    stacked = StackedNetwork(members).eval()
    loaded = pair(tiny)[0].state_dict() | {"5.bias": torch.ones(CLASSES[0], dtype=torch.float64)}
    with torch.no_grad():
        before = stacked(images)
    members[1](images[1]).square().sum().backward()
    torch.optim.SGD(members[1].parameters(), lr=0.1).step()
    with torch.no_grad():
        after = stacked(images)
        assert torch.equal(after[0], before[0]) and not torch.allclose(after[1], before[1])
        assert_same(after[1], members[1].eval()(images[1]))
        members[0].load_state_dict(loaded)
        assert_same(stacked(images)[0], members[0].eval()(images[0]))
    assert not torch.allclose(stacked(images)[0], before[0])


@needs_torchvision
def test_stacked_network_drops_paths_at_the_same_places_of_a_batch() -> None:
    """So two members that are alike have the same outputs for the same images, though paths are dropped."""
    torch.manual_seed(0)
    network = small_convnext(3, 1, dropped=0.9).double()
    images = noise(8, 1, 8, 8)
    first, second = StackedNetwork([network, deepcopy(network)])([images, images])
    assert_same(first, second)
    assert not torch.allclose(first, network.eval()(images))


class MixingNetwork(nn.Module):
    """A softmax over channels: side by side it would be over those of all members."""

    def __init__(self, classes: int, channels: int) -> None:
        super().__init__()
        self.maps, self.classifier = nn.Conv2d(channels, 4, 3, padding=1), nn.Linear(4, classes)

    def forward(self, images: Tensor) -> Tensor:
        logits: Tensor = self.classifier(self.maps(images).softmax(1).amax((2, 3)))
        return logits


def test_check_refuses_layers_that_mix_channels_and_accepts_others() -> None:
    images = pictures(6)
    members = pair(MixingNetwork)
    with pytest.raises(
        InvalidOption, match=r"of the kind MixingNetwork cannot train side by side: .*; train them alone"
    ):
        StackedNetwork(members).check(members, images)
    members = pair(tiny)
    stacked = StackedNetwork(members)
    averages = [deepcopy(dict(member.named_buffers())) for member in members]
    stacked.check(members, images)
    assert stacked.training and all(member.training for member in members)
    for member, before in zip(members, averages, strict=True):
        assert all(torch.equal(value, before[name]) for name, value in member.named_buffers())


def with_tanh() -> nn.Module:
    layers = list(tiny(2, 1))
    layers[2] = nn.Tanh()
    return nn.Sequential(*layers)


def enlarged(side: int, build: Builder = tiny) -> nn.Module:
    return Upscaled(build(2, 1), (side, side))


@pytest.mark.parametrize(
    "networks",
    [
        pytest.param([], id="none"),
        pytest.param([tiny(2, 1), MixingNetwork(2, 1)], id="kinds"),
        pytest.param([enlarged(8), enlarged(8, MixingNetwork)], id="enlarged kinds"),
        pytest.param([tiny(2, 1), nn.Sequential(*tiny(2, 1), nn.ReLU())], id="layers"),
        pytest.param([tiny(2, 1), with_tanh()], id="activations"),
        pytest.param([tiny(2, 1, width=4), tiny(2, 1, width=8)], id="widths"),
    ],
)
def test_stacked_network_refuses_networks_of_different_kinds(networks: list[nn.Module]) -> None:
    before = [deepcopy(network.state_dict()) for network in networks]
    with pytest.raises(InvalidOption, match="networks that train side by side are of one kind"):
        StackedNetwork(networks)
    for network, weights in zip(networks, before, strict=True):
        assert all(torch.equal(value, weights[name]) for name, value in network.state_dict().items())


def test_check_refuses_images_that_are_seen_at_several_sizes() -> None:
    for networks, sides in (
        ([enlarged(8), enlarged(16)], (4, 4)),
        ([enlarged(8), tiny(2, 1)], (4, 4)),
        ([tiny(2, 1), tiny(2, 1)], (6, 7)),
    ):
        images = [torch.zeros(2, 1, side, side) for side in sides]
        with pytest.raises(InvalidOption, match=r"see images of one size, these see \d+ × \d+, \d+ × \d+ pixels"):
            StackedNetwork(networks).check(networks, images)
    members, images = [enlarged(8).double(), tiny(2, 1).double()], [noise(4, 1, 4, 4), noise(4, 1, 8, 8)]
    alone = deepcopy(members)
    for own, network, pixels in zip(StackedNetwork(members)(images), alone, images, strict=True):
        assert_same(own, network(pixels))


@pytest.mark.parametrize(
    ("layer", "named"),
    [
        (nn.GroupNorm(2, 4), "a parameter weight of a GroupNorm"),
        (nn.LayerNorm((4, 6, 6)), r"LayerNorm\(\(4, 6, 6\), .*\)"),
        (nn.LayerNorm(6, elementwise_affine=False), r"LayerNorm\(.*elementwise_affine=False.*\)"),
        (nn.BatchNorm2d(4, momentum=None), r"BatchNorm2d\(.*momentum=None.*\)"),
        (nn.BatchNorm2d(4, affine=False), r"BatchNorm2d\(.*affine=False.*\)"),
    ],
)
def test_stacked_network_refuses_layers_that_it_does_not_know(layer: nn.Module, named: str) -> None:
    network = nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1), layer, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2)
    )
    with pytest.raises(InvalidOption, match=f"networks with {named} cannot train side by side; train them alone"):
        StackedNetwork([network, deepcopy(network)])
    with pytest.raises(InvalidOption, match="Sequential has no linear layer as its classifier; train it alone"):
        StackedNetwork([nn.Sequential(nn.Conv2d(1, 2, 1))] * 2)


sides, few = st.integers(1, 6), st.integers(1, 3)


@given(members=few, rows=sides, inputs=few, outputs=few, seed=st.integers(0, 99))
def test_products_are_those_of_each_member(members: int, rows: int, inputs: int, outputs: int, seed: int) -> None:
    left, weights = noise(rows, members * inputs, seed=seed), noise(members, outputs, inputs, seed=seed + 1)
    expected = [part @ weight.T for part, weight in zip(left.chunk(members, 1), weights, strict=True)]
    assert_same(products(left, weights), torch.cat(expected, 1))


@given(members=few, inputs=few, outputs=few, height=sides, width=sides, kernel=st.tuples(*[st.sampled_from((1, 3, 5, 7))] * 2))  # fmt: skip
def test_same_convolution_is_torchs_for_any_image_and_odd_kernel(
    members: int, inputs: int, outputs: int, height: int, width: int, kernel: tuple[int, int]
) -> None:
    """Also for images that are smaller than half the kernel, of which only a part is used."""
    rows, columns = kernel
    maps, weights = noise(2, height, width, members * inputs), noise(members, outputs, rows, columns, inputs, seed=1)
    own = same_convolution(maps, weights).permute(0, 3, 1, 2)
    for part, pixels, weight in zip(
        own.chunk(members, 1), maps.permute(0, 3, 1, 2).chunk(members, 1), weights, strict=True
    ):
        padding = (rows // 2, columns // 2)
        assert_same(part, functional.conv2d(pixels, weight.permute(0, 3, 1, 2), padding=padding), scale=10.0)


@pytest.mark.parametrize(
    ("call", "shapes"),
    [
        (products, [(4, 2 * 3), (2, 2, 3)]),
        (same_convolution, [(2, 3, 4, 2 * 2), (2, 3, 3, 5, 2)]),
        (same_convolution, [(1, 2, 1, 2 * 2), (2, 1, 7, 3, 2)]),
    ],
    ids=["products", "convolution", "trimmed convolution"],
)
def test_gradients_are_the_differences_of_outputs(
    call: Callable[[Tensor, Tensor], Tensor], shapes: list[tuple[int, ...]]
) -> None:
    inputs = [noise(*shape, seed=seed).requires_grad_() for seed, shape in enumerate(shapes)]
    assert torch.autograd.gradcheck(call, inputs)


def assert_layer_is_its_members(
    stack: Callable[[Sequence[Any]], StackedLayer], layers: Sequence[Any], inputs: Sequence[Tensor], dim: int = 1
) -> None:
    """Outputs, and gradients by inputs and weights, which are those of copies. Members lie side by side in ``dim``."""
    alone = deepcopy(layers)
    stacked = stack(layers)
    own_inputs, other_inputs = ([value.clone().requires_grad_() for value in inputs] for _ in range(2))
    own = stacked(torch.cat(own_inputs, dim))
    expected = torch.cat([layer(value) for layer, value in zip(alone, other_inputs, strict=True)], dim)
    assert_same(own, expected, scale=10.0)
    factors = noise(*expected.shape, seed=5)
    (own * factors).sum().backward()
    (expected * factors).sum().backward()  # type: ignore[no-untyped-call]
    for tensor in stacked.shared:
        tensor.share_gradient()
    own_weights, weights = ([*nn.ModuleList(group).parameters()] for group in (layers, alone))
    for own_value, value in zip((*own_inputs, *own_weights), (*other_inputs, *weights), strict=True):
        assert_same(own_value.grad, value.grad, scale=100.0)


@given(
    groups=st.sampled_from(("none", "two", "depthwise")),
    kernel=st.tuples(*[st.integers(1, 7)] * 2),
    stride=st.integers(1, 3) | st.just("kernel"),
    padding=st.integers(0, 3) | st.just("half"),
    dilation=st.integers(1, 2),
    image=st.tuples(sides, sides),
    bias=st.booleans(),
)
def test_stacked_convolution_is_torchs(
    groups: str,
    kernel: tuple[int, int],
    stride: int | str,
    padding: int | str,
    dilation: int,
    image: tuple[int, int],
    bias: bool,
) -> None:
    settings: dict[str, Any] = {
        "kernel_size": kernel,
        "stride": kernel if isinstance(stride, str) else stride,
        "padding": (kernel[0] // 2, kernel[1] // 2) if isinstance(padding, str) else padding,
        "dilation": dilation,
        "groups": {"none": 1, "two": 2, "depthwise": 4}[groups],
        "bias": bias,
    }
    layers = [nn.Conv2d(4, 4, dtype=torch.float64, **settings) for _ in range(2)]
    borders: Any = layers[0].padding
    assume(all(side + 2 * border > dilation * (length - 1) for side, border, length in zip(image, borders, kernel, strict=True)))  # fmt: skip
    suits = StackedProductConvolution.suits(layers[0])
    inputs = [noise(2, 4, *image, seed=seed) for seed in range(2)]
    assert_layer_is_its_members(StackedProductConvolution if suits else StackedGroupedConvolution, layers, inputs)


@pytest.mark.parametrize(
    ("settings", "suits"),
    [
        ({"kernel_size": 3, "padding": 1}, True),
        ({"kernel_size": (1, 7), "padding": (0, 3)}, True),
        ({"kernel_size": 2, "stride": 2}, True),
        ({"kernel_size": 1}, True),
        ({"kernel_size": 3, "padding": 1, "groups": 4}, False),
        ({"kernel_size": 3, "padding": 1, "stride": 2}, False),
        ({"kernel_size": 1, "stride": 2}, False),
        ({"kernel_size": 3}, False),
        ({"kernel_size": 3, "padding": "same"}, False),
    ],
)
def test_stacked_convolution_is_a_product_where_it_has_no_groups_and_keeps_or_divides_the_image(
    settings: dict[str, Any], suits: bool
) -> None:
    layers = [nn.Conv2d(4, 4, dtype=torch.float64, **settings) for _ in range(2)]
    assert StackedProductConvolution.suits(layers[0]) == suits
    kind = StackedProductConvolution if suits else StackedGroupedConvolution
    assert_layer_is_its_members(kind, layers, [noise(2, 4, 5, 7, seed=seed) for seed in range(2)])


@pytest.mark.parametrize("bias", [True, False])
def test_stacked_linear_is_torchs_on_the_last_dimension(bias: bool) -> None:
    for shape in ((4, 3), (2, 5, 4, 3)):
        layers = [nn.Linear(3, 6, bias=bias, dtype=torch.float64) for _ in range(3)]
        assert_layer_is_its_members(StackedLinear, layers, [noise(*shape, seed=seed) for seed in range(3)], dim=-1)


@pytest.mark.parametrize("dim", [pytest.param(1, id="first", marks=needs_torchvision), pytest.param(-1, id="last")])
def test_stacked_layer_norm_is_over_the_channels_of_each_member(dim: int) -> None:
    kind = import_torchvision().models.convnext.LayerNorm2d if dim == 1 else nn.LayerNorm
    layers = [kind(5, eps=1e-3).double() for _ in range(2)]
    for seed, layer in enumerate(layers):
        layer.weight.data, layer.bias.data = noise(5, seed=seed), noise(5, seed=seed + 2)
    shape = (2, 5, 3, 4) if dim == 1 else (2, 3, 4, 5)
    inputs = [10.0**seed * noise(*shape, seed=seed) + seed for seed in range(2)]
    assert_layer_is_its_members(lambda members: StackedLayerNorm(members, channels_first=dim == 1), layers, inputs, dim)


@pytest.mark.parametrize("training", [True, False])
def test_stacked_batch_norm_is_over_the_images_of_each_member(training: bool) -> None:
    layers = [nn.BatchNorm2d(3, eps=1e-3, momentum=0.3, dtype=torch.float64).train(training) for _ in range(2)]
    for seed, layer in enumerate(layers):
        layer.running_mean, layer.running_var = noise(3, seed=seed), 1 + noise(3, seed=seed).square()
    inputs = [10.0**seed * noise(4, 3, 2, 5, seed=seed) for seed in range(2)]
    assert_layer_is_its_members(lambda members: StackedBatchNorm(members).train(training), layers, inputs)
