"""Networks against the closed forms of their spaces and against published counts."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch")

import nasbed  # noqa: E402
from nasbed.core.architecture import Architecture  # noqa: E402
from nasbed.networks import build  # noqa: E402
from nasbed.networks.summary import architecture_summary, summary  # noqa: E402
from nasbed.spaces.bonsai import BonsaiSkeleton  # noqa: E402
from nasbed.spaces.darts import DartsSkeleton  # noqa: E402
from nasbed.spaces.edge_cell import EDGES  # noqa: E402
from nasbed.spaces.fbnet import FBNetSkeleton  # noqa: E402
from nasbed.spaces.image_size import Image, sides  # noqa: E402
from nasbed.spaces.nb101 import NB101Skeleton  # noqa: E402
from nasbed.spaces.nb201 import NB201Skeleton  # noqa: E402
from nasbed.spaces.transnas import TransNASMacroSkeleton, TransNASSkeleton  # noqa: E402
from support.torch_networks import without_initial_weights  # noqa: E402

INCEPTION = "conv1x1:0/conv3x3:0/conv3x3:0/conv3x3:3/maxpool3x3:0/output:1,2,4,5"
DARTS_V2 = (
    "normal:sep_conv_3x3~0,sep_conv_3x3~1/sep_conv_3x3~0,sep_conv_3x3~1/skip_connect~0,sep_conv_3x3~1/"
    "skip_connect~0,dil_conv_3x3~2+reduce:max_pool_3x3~0,max_pool_3x3~1/max_pool_3x3~1,skip_connect~2/"
    "max_pool_3x3~0,skip_connect~2/max_pool_3x3~1,skip_connect~2"
)
FBNET_C = (
    "k3_e1,k3_e6,skip,k3_e1,k3_e1,k5_e6,k5_e3,k5_e6,k3_e6,k5_e6,k5_e3,"
    "k5_e6,k5_e6,k5_e6,k5_e3,k5_e6,k5_e6,k5_e6,k5_e6,k5_e6,k5_e6,k3_e6"
)
SMALL: dict[str, Any] = {
    "nb101": NB101Skeleton(cells_per_stack=1, channels=13, image=19, image_channels=1, classes=7),
    "nb201": NB201Skeleton(cells_per_stage=1, image=19, classes=7),
    "darts": DartsSkeleton(cells=3, channels=6, image=20, image_channels=2, classes=7),
    "fbnet": FBNetSkeleton(image=19, image_channels=1),
    "bonsai": BonsaiSkeleton(channels=6, image=19, image_channels=2, classes=7),
    "bonsai-rrnr-3": BonsaiSkeleton(channels=4, image=20),
}
ODD: list[tuple[str, Any]] = [
    ("darts", DartsSkeleton(cells=4, channels=4, image=19, image_channels=1)),
    ("darts", DartsSkeleton(cells=3, channels=6, image=(27, 18), image_channels=1)),
    ("nb201", NB201Skeleton(cells_per_stage=1, channels=4, image=(27, 18))),
    ("nb201", NB201Skeleton(cells_per_stage=1, channels=4, image=(8, 11))),
    ("bonsai", BonsaiSkeleton(channels=4, image=(27, 18), image_channels=1)),
    ("nb101", NB101Skeleton(cells_per_stack=1, channels=8, image=(27, 18), image_channels=1)),
    ("fbnet", FBNetSkeleton(image=(27, 18), image_channels=1)),
    ("bonsai", BonsaiSkeleton(channels=4, image=(27, 18), image_channels=1, classifier="pixels")),
]
"""Images with odd sides, and such that are no squares."""


def sampled(name: str, count: int) -> list[Architecture]:
    rng = np.random.default_rng(0)
    return [nasbed.space(name).sample(rng) for _ in range(count)]


def closed_form(archs: list[Architecture], skeleton: Any) -> list[tuple[int, int]]:
    space: Any = nasbed.space(archs[0].space)
    counts = (cost(archs, skeleton).tolist() for cost in (space.parameters, space.multiply_adds))
    return list(zip(*counts, strict=True))


def counted(network: Any, image: Image, channels_in: int) -> tuple[int, int]:
    """Parameters, and multiply-adds from the shapes that an empty batch takes: real kernels with nothing to do."""
    multiply_adds = 0

    def count(module: Any, inputs: Any, output: Any) -> None:
        nonlocal multiply_adds
        multiply_adds += output.shape[1:].numel() * module.weight[0].numel()

    for module in network.eval().modules():
        if isinstance(module, torch.nn.Conv2d | torch.nn.Linear):
            module.register_forward_hook(count)
    with torch.inference_mode():
        network(torch.empty(0, channels_in, *sides(image)))
    return sum(parameter.numel() for parameter in network.parameters()), multiply_adds


@pytest.fixture
def shapes_alone() -> Iterator[None]:
    """Thousands of networks with shapes only; older objects are left out of garbage collection."""
    gc.freeze()
    with without_initial_weights():
        yield
    gc.unfreeze()


@pytest.mark.usefixtures("shapes_alone")
@pytest.mark.parametrize(
    ("name", "skeleton", "count"),
    [*((*case, 1000) for case in SMALL.items()), *((*case, 200) for case in ODD)],
    ids=lambda value: str(getattr(value, "image", value)),
)
def test_network_costs_of_many_architectures_are_the_closed_forms(
    name: str, skeleton: Any, count: int, thorough: bool
) -> None:
    archs = sampled(name, count if thorough else count // 50)
    channels_in = getattr(skeleton, "image_channels", 3)
    counts = [counted(build(arch, skeleton=skeleton), skeleton.image, channels_in) for arch in archs]
    assert counts == closed_form(archs, skeleton)


@pytest.mark.parametrize(
    "skeleton",
    [
        NB101Skeleton(),
        NB201Skeleton(),
        DartsSkeleton(),
        DartsSkeleton(auxiliary=True),
        DartsSkeleton(channels=4, cells=1, image=16),
        DartsSkeleton(auxiliary=True, image=(33, 37)),
        DartsSkeleton(image=(64, 128)),
        NB201Skeleton(image=(27, 18)),
        FBNetSkeleton(),
        FBNetSkeleton.imagenet(),
    ],
    ids=lambda skeleton: f"{type(skeleton).__name__}-{skeleton.image}-{getattr(skeleton, 'auxiliary', '')}",
)
def test_summary_of_published_skeletons_is_the_closed_form(skeleton: Any) -> None:
    name = {NB101Skeleton: "nb101", NB201Skeleton: "nb201", DartsSkeleton: "darts", FBNetSkeleton: "fbnet"}[
        type(skeleton)
    ]
    archs = sampled(name, 3)
    summaries = [architecture_summary(arch, skeleton=skeleton) for arch in archs]
    assert [(part.parameters, part.multiply_adds) for part in summaries] == closed_form(archs, skeleton)


def transnas_costs(code: tuple[int, ...], image: int, classes: int) -> tuple[int, int]:
    """By hand, with one cell a module: cells at (in, out, stride) and what each edge costs there."""
    side = -(-image // 2)
    parameters, multiply_adds = 27 * 32 + 64 + 9 * 32 * 64 + 128, 27 * 32 * side**2
    side = -(-side // 2)
    multiply_adds += 9 * 32 * 64 * side**2
    shapes = [(64, 128, 2), (128, 128, 1), (128, 256, 2), (256, 256, 1), (256, 512, 2)]
    for c_in, c_out, stride in shapes:
        side = -(-side // stride)
        for op, (source, _) in zip(code, EDGES, strict=True):
            wide = c_in if source == 0 else c_out
            strided_skip = op == 1 and source == 0 and stride == 2
            area = {0: 0, 1: int(strided_skip), 2: 1, 3: 9}[op]
            parameters += area * wide * c_out + 2 * c_out * (area > 0)
            multiply_adds += area * wide * c_out * side**2
    return parameters + 513 * classes, multiply_adds + 512 * classes


@pytest.mark.usefixtures("shapes_alone")
def test_transnas_micro_costs_of_many_architectures_are_those_by_hand(thorough: bool) -> None:
    skeleton = TransNASSkeleton(cells_per_module=1)
    for arch in sampled("transnas-micro", 1000 if thorough else 20):
        assert counted(build(arch, skeleton=skeleton), 32, 3) == transnas_costs(arch.code, 32, 10)


@pytest.mark.parametrize(
    ("name", "text", "skeleton", "parameters"),
    [
        ("nb101", INCEPTION, None, 2_694_282),  # what the published API answers for its README's cell
        ("darts", DARTS_V2, DartsSkeleton(channels=36, cells=20), 3_349_342),  # what the DARTS repository prints
        ("nb201", "|none~0|+|none~0|none~1|+|none~0|none~1|none~2|", None, 73_306),
        ("nb201", "|nor_conv_3x3~0|+|nor_conv_3x3~0|nor_conv_3x3~1|+" + "|nor_conv_3x3~0|nor_conv_3x3~1|nor_conv_3x3~2|", None, 1_531_546),
    ],
    ids=["inception", "darts_v2", "nb201-smallest", "nb201-largest"],
)  # fmt: skip
def test_network_has_the_published_parameters(name: str, text: str, skeleton: Any, parameters: int) -> None:
    with torch.device("meta"):
        network = build(nasbed.space(name).parse(text), skeleton=skeleton)
    assert sum(weight.numel() for weight in network.parameters()) == parameters


def test_fbnet_c_has_the_published_costs() -> None:
    """383.0 million multiply-adds without the last layer in the authors' model zoo, 5.57 million parameters."""
    counted_parts = architecture_summary(nasbed.space("fbnet").parse(FBNET_C), skeleton=FBNetSkeleton.imagenet())
    assert round((counted_parts.multiply_adds - 1984 * 1000) / 1e6, 1) == 383.0
    assert round(counted_parts.parameters / 1e6, 2) == 5.57


@pytest.mark.parametrize(("classes", "parameters"), [(47, 41_435_727), (75, 41_450_091)], ids=["scene", "object"])
def test_transnas_micro_has_the_parameters_of_the_published_encoder(classes: int, parameters: int) -> None:
    """What a public port of the benchmark's own code counts for the largest cell and its two classification tasks."""
    counted_parts = architecture_summary(nasbed.space("transnas-micro").parse("3_33_333"), classes=classes, image=256)
    assert counted_parts.parameters == parameters
    assert counted_parts.parts[-2].shape == (512, 8, 8)


def transnas_macro_costs(modules: str, image: tuple[int, int], classes: int, tiles: int = 1) -> tuple[int, int]:
    """By hand, block after block: weights and normalised channels, and the pixels at which they are applied."""
    height, width = (-(-side // 2) for side in image)
    parameters, multiply_adds = 27 * 32 + 2 * 32 + 9 * 32 * 64 + 2 * 64, 27 * 32 * height * width
    height, width = -(-height // 2), -(-width // 2)
    multiply_adds += 9 * 32 * 64 * height * width
    channels = 64
    for kind in modules:
        after = 2 * channels if kind in "24" else channels
        if kind in "34":
            height, width = -(-height // 2), -(-width // 2)
        weights = 9 * channels * after + 9 * after * after + 2 * 9 * after * after
        norms = 4
        if kind != "1":
            weights, norms = weights + channels * after, 5
        parameters += weights + 2 * norms * after
        multiply_adds += weights * height * width
        channels = after
    head = tiles * channels * classes
    return parameters + head + classes, tiles * multiply_adds + head


@pytest.mark.usefixtures("shapes_alone")
def test_transnas_macro_costs_are_those_by_hand(thorough: bool) -> None:
    for arch in sampled("transnas-macro", 300 if thorough else 6):
        modules = "".join(str(kind) for kind in arch.code if kind)
        assert counted(build(arch, classes=75, image=(27, 18)), (27, 18), 3) == transnas_macro_costs(
            modules, (27, 18), 75
        )


def test_transnas_macro_jigsaw_costs_are_those_by_hand() -> None:
    arch, skeleton = nasbed.space("transnas-macro").parse("64-1234-basic"), TransNASMacroSkeleton.for_task("jigsaw")
    counted_parts = architecture_summary(arch, skeleton=skeleton)
    expected = transnas_macro_costs("1234", (64, 64), 1000, tiles=9)
    assert (counted_parts.parameters, counted_parts.multiply_adds) == expected
    assert [part.shape for part in counted_parts.parts[1:-1:2]] == [
        (64, 16, 16),
        (128, 16, 16),
        (128, 8, 8),
        (256, 4, 4),
    ]


def test_summary_parts_add_up_and_carry_shapes() -> None:
    counted_parts = architecture_summary(nasbed.space("nb101").parse(INCEPTION), classes=5, channels_in=1, image=28)
    assert sum(part.parameters for part in counted_parts.parts) == counted_parts.parameters
    assert sum(part.multiply_adds for part in counted_parts.parts) == counted_parts.multiply_adds
    shapes = {part.name: part.shape for part in counted_parts.parts}
    assert (shapes["stem"], shapes["cells.0"], shapes["head"]) == ((128, 28, 28), (128, 28, 28), (5,))
    assert [part.shape for part in counted_parts.parts if part.kind == "MaxPool2d"] == [(128, 14, 14), (256, 7, 7)]


def test_summary_leaves_the_network_alone_and_counts_in_its_mode() -> None:
    skeleton = DartsSkeleton(channels=4, cells=3, auxiliary=True)
    torch.manual_seed(0)
    network = build(sampled("darts", 1)[0], skeleton=skeleton)
    before = {key: value.clone() for key, value in network.state_dict().items()}
    training, evaluating = summary(network), summary(network.eval())
    assert all(torch.equal(value, before[key]) for key, value in network.state_dict().items())
    head = next(part for part in training.parts if part.name == "auxiliary")
    assert training.multiply_adds - evaluating.multiply_adds == head.multiply_adds > 0
    assert next(part for part in evaluating.parts if part.name == "auxiliary").shape == ()
    assert not any(module._forward_hooks for module in network.modules())


def test_summary_reads_any_network() -> None:
    network = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.Flatten(), torch.nn.Linear(8 * 36, 4))
    counted_parts = summary(network, image=6)
    assert (counted_parts.parameters, counted_parts.multiply_adds) == (216 + 8 + 1152 + 4, 216 * 36 + 1152)


@pytest.mark.parametrize(
    "normalisation",
    [
        torch.nn.BatchNorm2d(9),
        torch.nn.BatchNorm2d(9).eval(),
        torch.nn.BatchNorm2d(9, track_running_stats=False),
        torch.nn.LayerNorm(9),
        torch.nn.LayerNorm((8, 9, 6)),
    ],
    ids=str,
)
def test_summary_refuses_a_normalisation_of_another_shape_as_torch_does(normalisation: Any) -> None:
    network = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 1), normalisation)
    with pytest.raises(RuntimeError) as expected:
        network(torch.zeros(2, 3, 6, 6))
    with pytest.raises(RuntimeError) as error:
        summary(network, image=6)
    assert str(error.value) == str(expected.value)


def test_transnas_skeleton_can_be_changed() -> None:
    arch = nasbed.space("transnas-micro").parse("1_11_111")
    small = architecture_summary(arch, skeleton=TransNASSkeleton(channels=8, modules="1234", cells_per_module=1))
    assert [part.shape for part in small.parts[1:-1]] == [(8, 8, 8), (16, 8, 8), (16, 4, 4), (32, 2, 2)]
