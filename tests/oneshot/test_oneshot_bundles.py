"""Candidates of several edges in the same kernels: each has the output and the gradients that it has alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

import pytest

torch = pytest.importorskip("torch", reason="needs torch")

from torch import Tensor, nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from nasbed.networks import darts, nb201  # noqa: E402
from nasbed.networks.bundles import NodeMaps, bundled_outputs, repeated  # noqa: E402
from nasbed.oneshot import SEARCHED_SPACES  # noqa: E402
from nasbed.oneshot.cells import Layout  # noqa: E402
from nasbed.oneshot.edge import MixedEdge, shuffle, shuffled  # noqa: E402
from nasbed.oneshot.mixing import EdgeMixing, Mixing  # noqa: E402
from nasbed.oneshot.norms import searching_norms  # noqa: E402
from nasbed.oneshot.spaces.base import SupernetSize  # noqa: E402
from nasbed.oneshot.spaces.mixed_cells import MixedCell  # noqa: E402
from nasbed.training.placement.network import place_network  # noqa: E402

CHANNELS = 4
FORMATS = [torch.contiguous_format, torch.channels_last]


def searchable(module: nn.Module, *, affine: bool = False) -> nn.Module:
    searching_norms(module, affine=affine)
    for norm in module.modules():
        if isinstance(norm, nn.BatchNorm2d) and affine:
            nn.init.uniform_(norm.weight, 0.5, 1.5)
            nn.init.uniform_(norm.bias)
    return module.double()


def operation_of(name: str, stride: int, *, affine: bool = False) -> nn.Module:
    if name == "nor_conv_3x3":
        module = nb201.operation(name, CHANNELS)
        assert module is not None
        return searchable(module, affine=affine)
    return searchable(darts.operation(name, CHANNELS, stride), affine=affine)


def gradients(outputs: Sequence[Tensor], leaves: Sequence[Tensor]) -> tuple[Tensor, ...]:
    terms = [((place + 1) * output.pow(3)).sum() for place, output in enumerate(outputs)]
    slopes: tuple[Tensor, ...] = torch.autograd.grad(torch.stack(terms).sum(), list(leaves))
    return slopes


@pytest.mark.parametrize("memory_format", FORMATS)
@pytest.mark.parametrize(
    ("name", "stride", "affine"),
    [
        ("sep_conv_3x3", 1, False),
        ("sep_conv_5x5", 2, True),
        ("dil_conv_3x3", 2, False),
        ("dil_conv_5x5", 1, True),
        ("nor_conv_3x3", 1, True),
        ("skip_connect", 2, False),  # two convolutions side by side: computed one by one
    ],
)
def test_bundled_operations_have_the_outputs_and_gradients_that_each_has_alone(
    name: str, stride: int, affine: bool, memory_format: Any
) -> None:
    torch.manual_seed(0)
    operations = [operation_of(name, stride, affine=affine) for _ in range(3)]
    maps = torch.randn(5, CHANNELS, 7, 6, dtype=torch.float64).contiguous(memory_format=memory_format).requires_grad_()
    leaves = [maps, *(weight for operation in operations for weight in operation.parameters())]
    alone, together = [operation(maps) for operation in operations], bundled_outputs(operations, NodeMaps(maps))
    for actual, expected in zip(
        (*together, *gradients(together, leaves)), (*alone, *gradients(alone, leaves)), strict=True
    ):
        torch.testing.assert_close(actual, expected, rtol=1e-9, atol=1e-9)


def test_a_bundle_takes_as_many_convolutions_as_one_operation() -> None:
    operations = [operation_of("sep_conv_3x3", 1) for _ in range(4)]
    maps = torch.randn(2, CHANNELS, 5, 5, dtype=torch.float64)
    with patch.object(functional, "conv2d", wraps=functional.conv2d) as convolution:
        bundled_outputs(operations, NodeMaps(maps))
    assert convolution.call_count == 4  # alone each takes four


@pytest.mark.parametrize(
    "layer",
    [
        lambda: nn.Conv2d(CHANNELS, CHANNELS, 3, padding="same", groups=CHANNELS, bias=False),
        lambda: nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1, padding_mode="circular", bias=False),
        lambda: nn.Conv2d(CHANNELS, CHANNELS, 3, groups=2),
        nn.ReLU,
        nn.Identity,
    ],
)
def test_rows_that_no_bundle_knows_are_computed_one_by_one(layer: Any) -> None:
    operations = [nn.Sequential(nn.ReLU(), layer()) for _ in range(3)]
    maps = torch.randn(2, CHANNELS, 5, 5)
    for operation, output in zip(operations, bundled_outputs(operations, NodeMaps(maps)), strict=True):
        assert torch.equal(output, operation(maps))


@pytest.mark.parametrize("memory_format", FORMATS)
def test_maps_are_repeated_and_shuffled_in_their_memory_format(memory_format: Any) -> None:
    maps = torch.randn(3, 6, 4, 5).contiguous(memory_format=memory_format)
    assert torch.equal(repeated(maps, 3), torch.cat([maps] * 3, dim=1))
    assert torch.equal(shuffled(maps, 3), maps[:, shuffle(6, 2)])
    for result in (repeated(maps, 3), shuffled(maps, 3)):
        assert result.is_contiguous(memory_format=memory_format)


def plain_edge(edge: MixedEdge, x: Tensor, mixing: EdgeMixing) -> Tensor:
    """What an edge carries by PC-DARTS's section 3.2, one candidate after another."""
    through, passing = x[:, : edge.through], x[:, edge.through :]
    if edge.stride == 2 and passing.shape[1]:
        passing = functional.max_pool2d(passing, 2, ceil_mode=True)
    terms = [
        mixing.operations[place] * edge.operations[name](through)
        for place, name in edge.names.items()
        if name in edge.operations
    ]
    carried: Tensor = torch.stack(terms).sum(0)
    if edge.through < edge.channels:
        carried = torch.cat([carried, passing], dim=1)[:, shuffle(edge.channels, edge.through)]
    return carried if mixing.edge is None else carried * mixing.edge


def plain_node(cell: MixedCell, target: int, nodes: Sequence[Tensor]) -> Tensor:
    carried = [plain_edge(edge, nodes[source], mixing) for source, end, edge, mixing in cell._parts if end == target]
    total: Tensor = torch.stack(carried).sum(0)
    return total


@pytest.mark.parametrize(
    ("space", "partial", "pruned", "weighed", "sides"),
    [
        ("darts", 1, False, False, (8, 7)),
        ("darts", 4, False, True, (8, 7)),
        ("darts", 3, True, False, (8, 7)),
        ("nb201", 1, True, True, (8, 7)),
        ("nb201", 2, False, True, (8, 7)),
        ("darts", 4, False, True, (1, 1)),
        ("nb201", 4, True, True, (2, 3)),  # whose last maps have one pixel
    ],
)
def test_supernet_adds_up_what_its_edges_carry_one_by_one(
    space: str, partial: int, pruned: bool, weighed: bool, sides: tuple[int, int]
) -> None:
    """Logits and gradients by the weights, the images and the mixing."""
    torch.manual_seed(0)
    searched = SEARCHED_SPACES.get(space)
    cells = searched.cells(with_none=True)
    count = len(cells.operations)
    candidates = None
    if pruned:  # edges from one node have different candidates
        candidates = tuple(
            tuple(
                tuple(sorted({(edge + place) % count for place in range(count // 2)} | {count - 2}))
                for edge in range(len(cells.edges))
            )
            for _ in cells.kinds
        )
    size = SupernetSize(8, 3 if space == "darts" else 1, (3, *sides), classes=5)
    supernet = place_network(searched.supernet(size, cells, Layout(partial, candidates)).double(), torch.device("cpu"))
    images = torch.randn(4, 3, *sides, dtype=torch.float64, requires_grad=True)
    operations = torch.rand(cells.shape, dtype=torch.float64, requires_grad=True)
    edges = torch.rand(cells.shape[:2], dtype=torch.float64, requires_grad=True) if weighed else None
    leaves = [images, operations, *([edges] if edges is not None else []), *supernet.parameters()]
    results = []
    for plain in (False, True):
        with patch.object(MixedCell, "node", plain_node if plain else MixedCell.node):
            logits = supernet(images, Mixing(operations, edges))
        slopes = torch.autograd.grad(logits.pow(3).sum(), leaves, allow_unused=True, materialize_grads=True)
        results.append((logits, *slopes))
    for actual, expected in zip(*results, strict=True):
        torch.testing.assert_close(actual, expected, rtol=1e-6, atol=1e-9)
