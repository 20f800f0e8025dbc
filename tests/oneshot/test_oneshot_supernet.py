"""A supernet computes what networks of its space compute, at any shape of image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch")

from torch import Tensor, nn  # noqa: E402

import nasbed  # noqa: E402
from nasbed.core.architecture import Architecture  # noqa: E402
from nasbed.core.errors import InvalidOption  # noqa: E402
from nasbed.networks import build  # noqa: E402
from nasbed.oneshot import SEARCHED_SPACES  # noqa: E402
from nasbed.oneshot.cells import Layout  # noqa: E402
from nasbed.oneshot.edge import MixedEdge, weighed_sum  # noqa: E402
from nasbed.oneshot.mixing import EdgeMixing, Mixing  # noqa: E402
from nasbed.oneshot.spaces.base import Supernet, SupernetSize  # noqa: E402
from nasbed.oneshot.weight_inheritance import widen  # noqa: E402
from support.inheriting import inherit  # noqa: E402

SPACES = ["darts", "nb201"]


def sized(
    space: str, shape: tuple[int, int, int] = (3, 8, 8), *, channels: int = 4, affine: bool = False
) -> SupernetSize:
    cells = 3 if space == "darts" else 1
    return SupernetSize(channels, cells, shape, classes=5, affine=affine, normalised_pools=False)


def sampled(space: str, count: int) -> list[Architecture]:
    rng = np.random.default_rng(0)
    return [nasbed.space(space).sample(rng) for _ in range(count)]


def double(module: nn.Module) -> nn.Module:
    """With other values than one and zero in normalisations."""
    torch.manual_seed(1)
    for value in module.parameters():
        if value.dim() == 1:
            nn.init.uniform_(value, 0.5, 1.5)
    return module.double()


@pytest.mark.parametrize("space", SPACES)
def test_supernet_has_the_cells_that_the_space_declares(space: str) -> None:
    cells = SEARCHED_SPACES.get(space).cells(with_none=False)
    assert cells is nasbed.space(space).cell_graph
    with_none = SEARCHED_SPACES.get(space).cells(with_none=True)
    assert with_none.operations.count("none") == 1 and (with_none.kinds, with_none.edges) == (cells.kinds, cells.edges)


@pytest.mark.parametrize(
    ("with_none", "affine"),
    [
        (False, False),
        (True, True),
        pytest.param(False, True, marks=pytest.mark.thorough),
        pytest.param(True, False, marks=pytest.mark.thorough),
    ],
)
@pytest.mark.parametrize("space", SPACES)
def test_supernet_at_one_hot_mixing_is_the_network(space: str, with_none: bool, affine: bool) -> None:
    searched, size = SEARCHED_SPACES.get(space), sized(space, affine=affine)
    cells = searched.cells(with_none=with_none)
    supernet = searched.supernet(size, cells, Layout())
    double(supernet)
    images = torch.randn(6, 3, 8, 8, dtype=torch.float64)
    for arch in sampled(space, 2):
        network = build(arch, channels_in=3, classes=5, image=8, skeleton=searched.skeleton(size)).double()
        inherit(network, supernet, arch, cells)
        mixing = searched.one_hot(arch, cells, dtype=torch.float64)
        expected = network(images)
        for mixing_form in (mixing, Mixing(mixing.operations)):  # one path, and everything else times zero
            torch.testing.assert_close(supernet(images, mixing_form), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("partial", "shape"),
    [
        (1, (12, 8, 11)),
        (4, (1, 27, 18)),
        (1, (3, 9, 8)),
        *(
            pytest.param(partial, shape, marks=pytest.mark.thorough)
            for partial, shape in ((4, (12, 8, 11)), (1, (1, 27, 18)), (4, (3, 9, 8)))
        ),
    ],
)
@pytest.mark.parametrize("space", SPACES)
def test_supernet_takes_images_of_any_shape(space: str, partial: int, shape: tuple[int, int, int]) -> None:
    searched = SEARCHED_SPACES.get(space)
    cells = searched.cells(with_none=True)
    supernet = searched.supernet(sized(space, shape), cells, Layout(partial))
    mixing = Mixing(torch.full(cells.shape, 1 / cells.shape[-1]))
    assert supernet(torch.randn(2, *shape), mixing).shape == (2, 5)


@pytest.mark.parametrize("space", SPACES)
def test_supernet_of_nothing_is_its_classifier_bias(space: str) -> None:
    searched = SEARCHED_SPACES.get(space)
    cells = searched.cells(with_none=True)
    supernet = searched.supernet(sized(space), cells, Layout())
    empty = Mixing(torch.zeros(cells.shape), selected=((None,) * len(cells.edges),) * len(cells.kinds))
    images = torch.randn(2, 3, 8, 8)
    logits = supernet(images, empty)
    torch.testing.assert_close(logits[0], logits[1])
    torch.testing.assert_close(supernet(images, Mixing(torch.zeros(cells.shape))), logits)


@pytest.mark.parametrize(
    ("space", "pool", "affine", "calls"),
    [
        ("darts", nn.MaxPool2d, False, 3 * 5),
        ("darts", nn.AvgPool2d, True, 3 * 14),
        ("nb201", nn.AvgPool2d, False, 3 * 3),
        ("nb201", nn.AvgPool2d, True, 3 * 6),
    ],
)
def test_pools_without_weights_are_computed_once_a_node(
    space: str, pool: type[nn.Module], affine: bool, calls: int
) -> None:
    """Not on every edge from it, unless affine normalisations behind them have weights."""
    searched, size = SEARCHED_SPACES.get(space), replace(sized(space, affine=affine), normalised_pools=True)
    cells, archs_read = searched.cells(with_none=True), []
    supernet = searched.supernet(size, cells, Layout())
    for name, module in supernet.named_modules():
        if isinstance(module, pool) and "edges" in name:
            module.register_forward_hook(lambda *_: archs_read.append(1))
    supernet(torch.randn(2, 3, 8, 8), Mixing(torch.rand(cells.shape)))
    assert len(archs_read) == calls


def test_weighed_sum_is_the_sum_of_products_with_its_gradients() -> None:
    outputs = [torch.randn(2, 3, 4, 5, dtype=torch.float64, requires_grad=True) for _ in range(4)]
    weights, slope = torch.rand(4, dtype=torch.float64, requires_grad=True), torch.randn(2, 3, 4, 5).double()
    total = weighed_sum(outputs, weights)
    expected = sum(w * value for w, value in zip(weights, outputs, strict=True))
    leaves = [*outputs, weights]
    gradients, expected_gradients = (torch.autograd.grad((value * slope).sum(), leaves) for value in (total, expected))
    for actual, reference in zip((total, *gradients), (expected, *expected_gradients), strict=True):
        torch.testing.assert_close(actual, reference)


def test_supernet_has_no_architecture_parameters_and_no_running_statistics() -> None:
    searched = SEARCHED_SPACES.get("darts")
    supernet = searched.supernet(sized("darts"), searched.cells(with_none=True), Layout())
    norms = [module for module in supernet.modules() if isinstance(module, nn.BatchNorm2d)]
    assert norms and not any(norm.affine or norm.track_running_stats for norm in norms)
    assert not list(supernet.buffers()) or all(
        name.endswith(("shuffled", "places")) for name, _ in supernet.named_buffers()
    )
    assert {type(module) for module in supernet.modules() if list(module.parameters(recurse=False))} == {
        nn.Conv2d,
        nn.Linear,
    }


# --- partial channels ----------------------------------------------------------------------------------------------------


class Doubled(nn.Module):
    """Notes how many channels it sees."""

    def __init__(self, channel_counts: list[int], stride: int) -> None:
        super().__init__()
        self.seen, self.stride = channel_counts, stride

    def forward(self, x: Tensor) -> Tensor:
        self.seen.append(x.shape[1])
        return 2 * x[:, :, :: self.stride, :: self.stride]


def edge_of(channel_counts: list[int], channels: int, stride: int, partial: int) -> MixedEdge:
    return MixedEdge(
        lambda name, channels, stride: None if name == "none" else Doubled(channel_counts, stride),
        {0: "doubled", 1: "none"},
        channels=channels,
        stride=stride,
        partial=partial,
    )


@pytest.mark.parametrize(("channels", "partial"), [(8, 4), (12, 6), (16, 4), (8, 2), (10, 4), (16, 6)])
@pytest.mark.parametrize("stride", [1, 2])
def test_partial_edge_touches_one_channel_in_k(channels: int, partial: int, stride: int) -> None:
    channel_counts: list[int] = []
    edge = edge_of(channel_counts, channels, stride, partial)
    x = torch.randn(2, channels, 5, 6)
    output = edge(x, EdgeMixing(torch.tensor([0.5, 0.5])))
    assert channel_counts == [channels // partial]
    passed = nn.functional.max_pool2d(x, 2, ceil_mode=True) if stride == 2 else x
    expected = [x[:, c, ::stride, ::stride] if c < channels // partial else passed[:, c] for c in range(channels)]

    def places(channel: Tensor) -> list[int]:
        return [at for at in range(channels) if torch.equal(output[:, at], channel)]

    channel_places = [places(channel) for channel in expected]
    assert sorted(at for group in channel_places for at in group) == list(range(channels))
    assert channel_places != [[at] for at in range(channels)]


def test_partial_edge_shuffles_so_that_the_next_one_takes_others() -> None:
    edge = edge_of([], 8, 1, 4)
    x = torch.arange(8.0).view(1, 8, 1, 1).expand(1, 8, 2, 2)
    output = edge(x, EdgeMixing(torch.tensor([0.5, 0.5])))
    assert output[0, :, 0, 0].tolist() == [0, 2, 4, 6, 1, 3, 5, 7]


def test_partial_edge_needs_channels_enough() -> None:
    with pytest.raises(InvalidOption, match="6 or more"):
        edge_of([], 4, 1, 6)


def test_edge_weight_multiplies_all_that_an_edge_carries() -> None:
    edge = edge_of([], 8, 1, 4)
    x, weights = torch.randn(2, 8, 4, 4), torch.tensor([0.3, 0.7])
    torch.testing.assert_close(edge(x, EdgeMixing(weights, torch.tensor(0.25))), edge(x, EdgeMixing(weights)) / 4)


# --- wider supernets -----------------------------------------------------------------------------------------------------


def weights_of(supernet: Supernet, names: Sequence[str]) -> list[Tensor]:
    return [value for name, value in supernet.state_dict().items() if any(part in name for part in names)]


def test_wider_supernet_continues_from_the_narrower_one() -> None:
    """Where channels went through an operation before, its output is what it was; pruned candidates are gone."""
    searched = SEARCHED_SPACES.get("darts")
    cells, size = searched.cells(with_none=True), sized("darts", channels=12)
    before = searched.supernet(size, cells, Layout(partial=6))
    candidates = (((2, 3, 4, 6),) * len(cells.edges),) * 2
    after = searched.supernet(size, cells, Layout(partial=4, candidates=candidates))
    widen(after, before)
    for name in ("sep_conv_3x3", "dil_conv_5x5"):
        old, new = (cast(MixedEdge, net.mixed(0)[3]).operations[name] for net in (before, after))
        x = torch.randn(4, 3, 8, 8)
        torch.testing.assert_close(new(x)[:, :2], old(x[:, :2]))
    assert not weights_of(after, ["dil_conv_3x3"])
    for own, inherited in zip(weights_of(after, ["stem", "head"]), weights_of(before, ["stem", "head"]), strict=True):
        assert torch.equal(own, inherited)
