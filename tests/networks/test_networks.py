"""Networks as modules: what they compute, what they refuse, how they behave in training."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch")

from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

import nasbed  # noqa: E402
from nasbed.core.architecture import Architecture  # noqa: E402
from nasbed.core.errors import InvalidArchitecture, InvalidOption, MissingDependency, UnknownName  # noqa: E402
from nasbed.networks import NETWORKS, build  # noqa: E402
from nasbed.networks.blocks import DropPath, FactorizedReduce  # noqa: E402
from nasbed.networks.nb101 import NB101Cell  # noqa: E402
from nasbed.networks.summary import architecture_summary  # noqa: E402
from nasbed.spaces.bonsai import BonsaiSkeleton  # noqa: E402
from nasbed.spaces.darts import DartsSkeleton  # noqa: E402
from nasbed.spaces.fbnet import FBNetSkeleton  # noqa: E402
from nasbed.spaces.nb101 import NB101Skeleton  # noqa: E402
from nasbed.spaces.nb101.cell import compact  # noqa: E402
from nasbed.spaces.nb101.costs import vertex_channels  # noqa: E402
from nasbed.spaces.nb201 import NB201Skeleton  # noqa: E402
from nasbed.spaces.transnas import TASKS, TransNASMacroSkeleton, TransNASSkeleton  # noqa: E402

SMALL: dict[str, Any] = {
    "nb101": NB101Skeleton(channels=8, cells_per_stack=1),
    "nb201": NB201Skeleton(channels=4, cells_per_stage=1),
    "darts": DartsSkeleton(channels=4, cells=3),
    "fbnet": FBNetSkeleton(stage_channels=(4, 4, 6, 6, 8, 8, 8), stem_channels=4, header_channels=16, classes=10),
    "transnas-micro": TransNASSkeleton(channels=4),
    "transnas-macro": TransNASMacroSkeleton(channels=4),
    "bonsai": BonsaiSkeleton(channels=4),
}


def sampled(name: str, count: int = 1, seed: int = 0) -> list[Architecture]:
    rng = np.random.default_rng(seed)
    return [nasbed.space(name).sample(rng) for _ in range(count)]


def small(name: str, arch: Architecture, **sizes: Any) -> Any:
    torch.manual_seed(0)
    return build(arch, skeleton=SMALL[name], **sizes)


def test_small_skeletons_cover_every_registered_network() -> None:
    assert sorted(SMALL) == [name for name in NETWORKS if NETWORKS.get(name).__module__.startswith("nasbed.")]


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize(("channels_in", "classes", "image"), [(3, 10, 16), (1, 2, 8), (5, 31, 12)])
def test_network_runs_forward_and_backward(
    name: str, channels_in: int, classes: int, image: int, thorough: bool
) -> None:
    for arch in sampled(name, 3 if thorough else 1, seed=image):
        network = small(name, arch, channels_in=channels_in, classes=classes, image=image)
        assert type(network).__mro__[1] is torch.nn.Module and network.training
        logits = network(torch.randn(4, channels_in, image, image))
        assert logits.shape == (4, classes) and torch.isfinite(logits).all()
        torch.nn.functional.cross_entropy(logits, torch.arange(4) % classes).backward()
        gradients = [weight.grad for weight in network.parameters() if weight.grad is not None]
        assert gradients and all(torch.isfinite(gradient).all() for gradient in gradients)


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize(
    "image",
    [4, 7, (27, 18), (8, 11), *(pytest.param(image, marks=pytest.mark.thorough) for image in (13, 33, (16, 32)))],
)
def test_network_takes_odd_images_and_such_that_are_no_squares(
    name: str, image: int | tuple[int, int], thorough: bool
) -> None:
    height, width = image if isinstance(image, tuple) else (image, image)
    for arch in sampled(name, 3 if thorough else 1):
        network = small(name, arch, image=image)
        logits = network(torch.randn(2, 3, height, width))
        assert logits.shape == (2, 10)
        logits.sum().backward()


def test_square_images_are_the_same_as_one_number_or_two() -> None:
    assert DartsSkeleton(image=(32, 32)) == DartsSkeleton() and NB201Skeleton(image=(16, 16)).image == 16
    arch = sampled("darts")[0]
    assert architecture_summary(arch, image=(32, 32)) == architecture_summary(arch)


@pytest.mark.parametrize("name", SMALL)
def test_network_state_goes_round(name: str, tmp_path: Path) -> None:
    arch = sampled(name, seed=3)[0]
    first = small(name, arch)
    first(torch.randn(4, 3, 16, 16))
    torch.save(first.state_dict(), tmp_path / "state.pt")
    torch.manual_seed(1)
    second = build(arch, skeleton=SMALL[name])
    second.load_state_dict(torch.load(tmp_path / "state.pt", weights_only=True))
    images = torch.randn(2, 3, 16, 16)
    assert torch.equal(first.eval()(images), second.eval()(images))


@pytest.mark.parametrize("name", SMALL)
def test_network_weights_follow_torch_manual_seed(name: str) -> None:
    arch = sampled(name)[0]
    first, same = small(name, arch).state_dict(), small(name, arch).state_dict()
    assert all(torch.equal(first[key], same[key]) for key in first)


# --- NAS-Bench-101 ---------------------------------------------------------------------------------------------------


def nb101_cell(text: str, channels_in: int, channels_out: int) -> NB101Cell:
    return NB101Cell(compact(nasbed.space("nb101").parse(text).code), channels_in, channels_out)


def test_nb101_remainder_goes_to_the_earliest() -> None:
    text = "conv1x1:0/conv3x3:0/conv3x3:0/conv3x3:3/maxpool3x3:0/output:1,2,4,5"
    assert nb101_cell(text, 4, 128).channels[1:] == [32] * 5 + [128]
    assert nb101_cell(text, 4, 11).channels[1:] == [3, 3, 3, 3, 2, 11]


def test_nb101_channels_are_those_of_the_closed_form() -> None:
    for arch in sampled("nb101", 60):
        cell = compact(arch.code)
        expected = vertex_channels(np.array([cell.vertices]), np.array([cell.edges]), 23)[0, : cell.vertices]
        assert NB101Cell(cell, 5, 23).channels == expected.tolist()


def test_nb101_interior_edges_are_cut_to_fit() -> None:
    """Vertex 1 (as wide as vertex 2, 3 channels) also feeds vertex 3 (2 channels), which sees its first two alone."""
    cell = nb101_cell("conv1x1:0/maxpool3x3:1/maxpool3x3:1/output:2,3", 4, 5).eval()
    assert cell.channels[1:] == [3, 3, 2, 5]
    images = torch.randn(2, 4, 6, 6)
    first = cell.operations["1"](cell.projections["1"](images))
    pooled = torch.nn.functional.max_pool2d(first, 3, 1, 1)
    assert torch.equal(cell(images), torch.cat([pooled, pooled[:, :2]], dim=1))


def test_nb101_output_adds_the_projected_input() -> None:
    cell = nb101_cell("maxpool3x3:0/output:0,1", 4, 6).eval()
    images = torch.randn(2, 4, 6, 6)
    pooled = torch.nn.functional.max_pool2d(cell.projections["1"](images), 3, 1, 1)
    torch.testing.assert_close(cell(images), pooled + cell.projections["2"](images))


def test_nb101_refuses_fewer_channels_than_vertices_that_share_them() -> None:
    with pytest.raises(InvalidOption, match="4 vertices of this nb101 cell share"):
        nb101_cell("conv1x1:0/conv3x3:0/conv3x3:0/conv3x3:3/maxpool3x3:0/output:1,2,4,5", 4, 3)


# --- cells with operations on edges ----------------------------------------------------------------------------------


def test_nb201_cell_computes_the_sum_over_its_routes() -> None:
    """With skips alone, node 3 is x + x + (x + x)."""
    arch = Architecture("nb201", (1,) * 6)
    cell = small("nb201", arch).cells[0]
    images = torch.randn(2, 4, 5, 5)
    torch.testing.assert_close(cell(images), 4 * images)
    empty_cell = small("nb201", Architecture("nb201", (0,) * 6)).cells[0]
    assert torch.equal(empty_cell(images), torch.zeros_like(images))


@pytest.mark.parametrize("side", [1, 4, 7])
def test_transnas_zeros_have_the_shape_of_the_cell(side: int) -> None:
    none, skip = (small("transnas-micro", nasbed.space("transnas-micro").parse(op * 6)).cells[0] for op in "01")
    images = torch.randn(2, 4, side, side)
    assert none(images).shape == skip(images).shape == (2, 8, -(-side // 2), -(-side // 2))


def test_factorized_reduce_sees_every_other_pixel_twice() -> None:
    reduce = FactorizedReduce(1, 2).eval()
    for conv in (reduce.even, reduce.odd):
        torch.nn.init.ones_(conv.weight)
    image = torch.arange(1.0, 17).reshape(1, 1, 4, 4)
    reduced = reduce(image) * (1 + reduce.norm.eps) ** 0.5
    torch.testing.assert_close(reduced[0], torch.tensor([[[1.0, 3], [9, 11]], [[6, 8], [14, 16]]]))


@pytest.mark.parametrize("kind", [TransNASSkeleton, TransNASMacroSkeleton])
def test_transnas_puzzle_is_an_encoder_over_tiles_and_a_linear_layer_over_all(kind: Any) -> None:
    """Tiles moved about together with the weights of their features give the same logits."""
    name = "transnas-micro" if kind is TransNASSkeleton else "transnas-macro"
    torch.manual_seed(0)
    skeleton = kind.for_task("jigsaw", channels=2, image=(24, 36))
    network: Any = build(sampled(name)[0], skeleton=skeleton).double()
    puzzle = torch.randn(3, 3, 24, 36, dtype=torch.double)
    logits = network(puzzle)
    assert logits.shape == (3, 1000)
    single: Any = build(sampled(name)[0], skeleton=kind(channels=2, classes=1)).double()
    encoder = {key: weights for key, weights in network.state_dict().items() if not key.startswith("head")}
    assert single.load_state_dict(encoder, strict=False).unexpected_keys == []
    tiles = [rows.tensor_split(3, dim=3)[column] for rows in puzzle.tensor_split(3, dim=2) for column in range(3)]
    pooled = [torch.nn.Sequential(single.stem, *single.cells)(tile).mean((2, 3)) for tile in tiles]
    torch.testing.assert_close(logits, network.head[-1](torch.cat(pooled, dim=1)))
    order = [4, 8, 0, 2, 6, 1, 3, 7, 5]
    shuffled = torch.cat([torch.cat([tiles[place] for place in order[row : row + 3]], 3) for row in (0, 3, 6)], 2)
    width = pooled[0].shape[1]
    with torch.no_grad():
        weights = network.head[-1].weight
        weights.copy_(torch.cat([weights[:, place * width : (place + 1) * width] for place in order], dim=1).clone())
    torch.testing.assert_close(network(shuffled), logits)


def test_transnas_tasks_are_the_published_ones() -> None:
    """From the benchmark's training configurations."""
    classes = {name: TransNASMacroSkeleton.for_task(name).classes for name in TASKS}
    assert classes == {"class_scene": 47, "class_object": 75, "jigsaw": 1000}
    with pytest.raises(UnknownName, match="did you mean class_scene"):
        TransNASSkeleton.for_task("class_scenes")


class Rectified(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the numbers that torch itself rectifies, whatever calls it."""

    numbers = 0

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Torch would import its compiler to keep it away from this."""
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.numbers += args[0].numel() if func is torch.ops.aten.relu.default else 0
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("name", SMALL)
def test_hooks_of_modules_see_every_rectifier_that_runs(name: str) -> None:
    """Zero-cost proxies and counters of operations look at modules."""
    seen: list[int] = []
    network = small(name, sampled(name, seed=2)[0], image=16)
    for module in network.modules():
        if isinstance(module, torch.nn.ReLU):
            module.register_forward_hook(lambda _, inputs, output: seen.append(inputs[0].numel()))
    with Rectified() as rectified, torch.no_grad():  # type: ignore[no-untyped-call]
        network(torch.randn(2, 3, 16, 16))
    assert sum(seen) == rectified.numbers > 0


# --- training of DARTS -----------------------------------------------------------------------------------------------


def test_drop_path_keeps_the_mean_and_drops_whole_samples() -> None:
    torch.manual_seed(0)
    dropped = DropPath(0.3)(torch.ones(20_000, 2, 2, 2))
    by_sample = dropped.flatten(1)
    assert (by_sample == by_sample[:, :1]).all()
    assert by_sample.unique().tolist() == pytest.approx([0, 1 / 0.7])
    assert abs(float(dropped.mean()) - 1) < 5 * (0.3 / 0.7 / 20_000) ** 0.5


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_drop_path_by_a_share_on_the_device_follows_its_changes(dtype: Any) -> None:
    layer, samples = DropPath(0.2), torch.ones(20_000, 2, 1, 1, dtype=dtype)
    assert layer._dropped(samples).dtype == dtype
    share = layer._share
    assert layer.set(0.6) and layer._share is share  # what a recorded step reads
    dropped = layer._dropped(samples).flatten(1).float()
    assert torch.equal(dropped[:, 0], dropped[:, 1])
    assert set(dropped[:, 0].tolist()) == {0.0, float(torch.tensor(1 / 0.4, dtype=dtype))}
    assert abs(float((dropped[:, 0] == 0).double().mean()) - 0.6) < 5 * (0.6 * 0.4 / 20_000) ** 0.5
    assert not layer.set(0.0) and not layer.set(0.3) and layer.set(0.5)


def test_drop_path_does_nothing_unless_training() -> None:
    images = torch.randn(8, 2, 3, 3)
    assert DropPath(0.5).eval()(images) is images and DropPath()(images) is images
    with pytest.raises(InvalidOption, match=r"0 to below 1, got 1\.0"):
        DropPath(1.0)


def test_darts_drops_paths_in_training_only_and_never_plain_skips() -> None:
    arch = sampled("darts")[0]
    network, images = small("darts", arch), torch.randn(4, 3, 16, 16)
    plain = network.eval()(images)
    network.set_drop_path(0.6)
    assert torch.equal(network(images), plain)
    trained = network.train()(images)
    assert not torch.equal(network(images), trained)
    skips = nasbed.space("darts").parse(
        "+".join(f"{kind}:" + "/".join(["skip_connect~0,skip_connect~1"] * 4) for kind in ("normal", "reduce"))
    )
    cell = small("darts", skips).cells[0]
    cell.drop_path.set(0.9)
    features = torch.randn(8, 12, 4, 4)
    assert torch.equal(cell(features, features), cell(features, features))


def test_darts_auxiliary_output_is_there_in_training_only() -> None:
    skeleton = DartsSkeleton(channels=4, cells=3, auxiliary=True, classes=7)
    network: Any = build(sampled("darts")[0], skeleton=skeleton)
    logits, second = network(torch.randn(2, 3, 32, 32))
    assert logits.shape == second.shape == (2, 7)
    (logits.sum() + second.sum()).backward()
    assert network.auxiliary[-1].weight.grad is not None
    assert network.eval()(torch.randn(2, 3, 32, 32)).shape == (2, 7)
    assert small("darts", sampled("darts")[0])(torch.randn(2, 3, 32, 32)).shape == (2, 10)


# --- the entry point -------------------------------------------------------------------------------------------------


def test_build_takes_sizes_from_the_call_then_from_the_skeleton() -> None:
    arch = sampled("fbnet")[0]
    with torch.device("meta"):
        assert build(arch).head[-1].out_features == 10  # type: ignore[index, union-attr]
        assert build(arch, skeleton=FBNetSkeleton()).head[-1].out_features == 100  # type: ignore[index, union-attr]
        network: Any = build(arch, classes=5, channels_in=2, skeleton=FBNetSkeleton.imagenet())
    assert (network.head[-1].out_features, network.stem[0].in_channels, network.stem[0].stride) == (5, 2, (2, 2))


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("nb101", {"image": 3}, "3 stacks needs images of 4 pixels or more, got 3"),
        ("nb101", {"image": (3, 32)}, r"3 stacks needs images of 4 pixels or more, got \(3, 32\)"),
        ("darts", {"image": (32, 0)}, r"whole number of pixels, 1 or more, or a pair of them, got \(32, 0\)"),
        ("darts", {"image": (32, 32, 32)}, "or a pair of them"),
        (
            "darts",
            {"skeleton": DartsSkeleton(auxiliary=True), "image": (32, 18)},
            r"resolution of 8 to 10, got \(8, 5\)",
        ),
        ("nb201", {"image": 0}, "image is a whole number of 1 or more, got 0"),
        ("nb201", {"classes": 2.5}, r"classes is a whole number of 1 or more, got 2\.5"),
        ("nb201", {"skeleton": NB101Skeleton()}, "the skeleton of this network is a NB201Skeleton"),
        ("transnas-micro", {"skeleton": "64-41414"}, "is a TransNASSkeleton, got '64-41414'"),
        (
            "transnas-macro",
            {"skeleton": TransNASMacroSkeleton.for_task("jigsaw"), "image": (192, 190)},
            r"sides that are multiples of 3, got images of \(192, 190\) pixels",
        ),
    ],
)
def test_build_refuses_what_cannot_be_built(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        build(sampled(name)[0], **options)


@pytest.mark.parametrize("options", [{"channels": 3}, {"modules": "45"}, {"modules": ""}, {"cells_per_module": 0}])
def test_transnas_skeleton_refuses_what_cannot_be_built(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidOption, match="the skeleton's"):
        TransNASSkeleton(**options)


def test_build_refuses_other_values_and_spaces_without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidArchitecture, match="a network is built from an Architecture, got str"):
        build("|none~0|")  # type: ignore[arg-type]
    with pytest.raises(InvalidArchitecture):
        build(Architecture("nb201", (0, 0, 0, 0, 0, 9)))
    with pytest.raises(
        UnknownName, match="the space 'fcnet' has no network; those with one: bonsai, darts, fbnet, nb101"
    ):
        build(sampled("fcnet")[0])
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingDependency, match=r"pip install 'nasbed\[torch\]'"):
        build(sampled("nb201")[0])


def test_a_plug_in_space_adds_its_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def perceptron(arch: Architecture, *, classes: int, channels_in: int, image: Any, skeleton: Any) -> Any:
        return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(channels_in * image**2, classes))

    monkeypatch.setattr(NETWORKS, "_entries", dict(NETWORKS._entries))
    NETWORKS.add("my-space", perceptron)
    assert build(Architecture("my-space", (1,)), image=4)(torch.randn(2, 3, 4, 4)).shape == (2, 10)


def test_importing_networks_loads_no_torch() -> None:
    code = "import sys, nasbed.networks; print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"
