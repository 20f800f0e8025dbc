"""Bonsai-Net's pruners and networks, against closed forms and each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch")

from torch import nn  # noqa: E402

from nasbed import Architecture, space  # noqa: E402
from nasbed.core.errors import InvalidArchitecture, InvalidOption  # noqa: E402
from nasbed.networks import build  # noqa: E402
from nasbed.networks.bonsai import BonsaiNetwork, remaining_weights  # noqa: E402
from nasbed.networks.darts import operation  # noqa: E402
from nasbed.oneshot import BonsaiSettings  # noqa: E402
from nasbed.oneshot.pruning.pruners import Compression, Pruners, gate, sawtooth  # noqa: E402
from nasbed.spaces.bonsai import BonsaiGenotype, BonsaiSkeleton, Frame  # noqa: E402
from nasbed.spaces.bonsai.frame import OPERATIONS, SIZES  # noqa: E402


def random_flags(frame: Frame, rng: np.random.Generator) -> list[bool]:
    """Some of everything; the fewer, the more of it leads nowhere."""
    share = rng.choice([0.05, 0.1, 0.3, 0.8])
    return [bool(is_kept) for is_kept in rng.random(frame.count) < share]


def test_sizes_are_the_feature_maps_that_layers_write() -> None:
    for name, size in zip(OPERATIONS, SIZES, strict=True):
        layers = [module for module in operation(name, 4, 1).modules() if not list(module.children())]
        assert len(layers) == size


def test_frame_and_settings_refuse_what_makes_no_network() -> None:
    for cells in ("", "nx", 3):
        with pytest.raises(InvalidOption, match="letters n"):
            Frame(cells)  # type: ignore[arg-type]
    with pytest.raises(InvalidOption, match="nodes, 1 or more"):
        BonsaiSettings(nodes=0)
    wrong: list[dict[str, Any]] = [{"target": 0}, {"least_open": 2}, {"compression": -1}, {"cycle": 0}]
    for options in [*wrong, {"gate_start": 0}, {"gate_bound": 0.001}, {"channels": 1.5}, {"batch": 0}]:
        with pytest.raises(InvalidOption, match=next(iter(options))):
            BonsaiSettings(**options)


def test_gate_is_exactly_open_or_closed_with_the_slope_of_the_sawtooth() -> None:
    """Finite differences stay inside a tooth, which is 1e-5 wide."""
    weights = torch.tensor([-0.050004, -1e-9, 0.0, 1e-9, 0.0123456, 0.050007], dtype=torch.float64)
    closed_form = (1e5 * weights - torch.floor(1e5 * weights)) / 1e5
    assert torch.allclose(sawtooth(weights), closed_form, atol=1e-14)
    moved = (weights + 2e-6).requires_grad_()
    assert gate(moved).tolist() == [0, 1, 1, 1, 1, 1] and gate(weights).tolist() == [0, 0, 0, 1, 1, 1]
    factors = torch.tensor([3.0, -2.0, 0.5, 1.0, 7.0, -1.0], dtype=torch.float64)
    (factors * gate(moved)).sum().backward()
    step = 1e-7
    slope = (sawtooth(moved + step) - sawtooth(moved - step)) / (2 * step)
    assert moved.grad is not None and torch.allclose(moved.grad, factors * slope.detach(), rtol=1e-6)
    single = torch.full((), 0.01, requires_grad=True)
    assert gate(single).item() == 1.0


def test_compression_loss_and_gradient_have_their_closed_form() -> None:
    frame = Frame("nr", 1)
    weights = torch.full((frame.count,), 0.01)
    closed = [frame.operations(0, 0)[3], frame.operations(1, 1)[0], frame.inputs(1)[1]]
    weights[closed] = -0.01
    weights.requires_grad_()
    full_size = 2 * sum(SIZES)
    shares = [(full_size - 8) / full_size, (full_size - 1) / full_size]
    operations, inputs = Compression(frame)(gate(weights), 0.25)
    distance = np.hypot(shares[0] - 0.25, shares[1] - 0.25)
    assert operations.item() == pytest.approx(distance)
    assert inputs.item() == 0.0  # one input of each cell is open
    (operations + inputs).backward()
    assert weights.grad is not None and torch.isfinite(weights.grad).all()
    for cell, edge, op in [(0, 0, 3), (0, 1, 0), (1, 0, 5)]:
        expected = (shares[cell] - 0.25) / distance * SIZES[op] / full_size
        assert weights.grad[frame.operations(cell, edge)[op]].item() == pytest.approx(expected, rel=1e-5)
    assert weights.grad[frame.inputs(1)[0]].item() == 0.0


def test_pruners_forget_nothing_that_was_removed_and_count_what_was_open() -> None:
    frame = Frame("n", 1)
    pruners = Pruners(frame, start=0.01, bound=0.05, interval=2)
    pruners.removed[3] = True
    pruners().sum().backward()
    assert pruners.weights.grad is not None
    assert pruners.weights.grad.tolist() == [float(place != 3) for place in range(frame.count)]
    assert pruners().tolist() == pruners.weights.grad.tolist() and not pruners.open()[3]
    pruners.reopen()
    assert pruners()[3].item() == 0.0
    open_gates = torch.ones(frame.count)
    open_gates[[1, 2]] = 0.0
    for steps in ([open_gates, open_gates], [open_gates, torch.ones(frame.count)]):
        assert pruners.withered(1.0) == []
        for gates in steps:
            pruners.observe(gates)
        pruners.end_epoch(2)
    assert pruners.withered(0.25) == [] and pruners.withered(0.26) == [1, 2]  # open in one step of four
    with torch.no_grad():
        pruners.weights[0] = 3.0
        pruners.weights[1] = -3.0
    pruners.clamp()
    assert pruners.weights[:3].tolist() == pytest.approx([0.05, -0.05, 0.01])


def uneven(network: nn.Module) -> None:
    """Normalisations that shift and scale, as after some training."""
    generator = torch.Generator().manual_seed(5)
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            for values in (module.weight, module.bias, module.running_mean, module.running_var):
                assert values is not None
                values.data.copy_(0.5 + torch.rand(values.shape, generator=generator))


@pytest.mark.parametrize(
    ("cells", "nodes", "shape"),
    [("nr", 2, (1, 8, 8)), ("nrnr", 1, (12, 27, 18)), ("rn", 3, (3, 9, 16)), ("nnn", 1, (1, 3, 1))],
)
@pytest.mark.parametrize("training", [True, False])
def test_gates_of_0_and_1_compute_what_the_pruned_network_computes(
    cells: str, nodes: int, shape: tuple[int, int, int], training: bool, thorough: bool
) -> None:
    """Logits and gradients, in double precision, for random choices with many dead ends."""
    rng, frame = np.random.default_rng(7), Frame(cells, nodes)
    skeleton = BonsaiSkeleton(
        channels=3,
        image=shape[1:],
        image_channels=shape[0],
        classes=4,
        classifier="pixels" if nodes == 1 else "pooled",
    )
    full = BonsaiNetwork(BonsaiGenotype.full(frame), skeleton).double()
    uneven(full)
    images = torch.randn(5, *shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    attempts = 0
    while attempts < (4 if thorough else 2):
        flags = random_flags(frame, rng)
        if not frame.reaches_output(flags):
            continue
        attempts += 1
        pruned = BonsaiNetwork(BonsaiGenotype.from_flags(frame, flags).pruned(), skeleton).double()
        remaining_weights(pruned, full)
        gates = torch.tensor(flags, dtype=torch.float64)
        gated_logits, pruned_logits = full.train(training)(images, gates), pruned.train(training)(images)
        assert torch.allclose(gated_logits, pruned_logits, rtol=1e-10, atol=1e-10)
        full.zero_grad()
        pruned.zero_grad()
        (gated_logits.square().sum() + pruned_logits.square().sum()).backward()
        named = dict(full.named_parameters())
        for name, weight in pruned.named_parameters():
            assert weight.grad is not None
            assert torch.allclose(weight.grad, named[name].grad, rtol=1e-7, atol=1e-9), name


def test_network_that_gates_cut_off_is_its_classifiers_bias() -> None:
    frame = Frame("nr", 1)
    network = BonsaiNetwork(BonsaiGenotype.full(frame), BonsaiSkeleton(channels=4, image_channels=1, classes=3))
    uneven(network)
    logits = network(torch.randn(6, 1, 8, 8), torch.zeros(frame.count))
    bias = dict(network.head.named_parameters())["2.bias"]
    assert torch.equal(logits, bias.expand(6, 3))


def test_gradient_of_pruners_is_that_of_the_loss_by_a_factor_on_each_operation() -> None:
    """Central differences in double precision, open and closed gates alike: a closed one can open again. No node is cut
    off here."""
    frame = Frame("nr", 1)
    network = BonsaiNetwork(
        BonsaiGenotype.full(frame), BonsaiSkeleton(channels=3, image_channels=1, classes=3)
    ).double()
    uneven(network)
    images, labels = torch.randn(6, 1, 6, 5, dtype=torch.float64), torch.arange(6) % 3
    weights = torch.where(torch.arange(frame.count) % 5 == 1, -0.01, 0.01).double().requires_grad_()

    def loss(gates: Any) -> Any:
        return nn.functional.cross_entropy(network(images, gates), labels)

    loss(gate(weights)).backward()
    assert weights.grad is not None and (weights.grad[weights < 0] != 0).any()
    for place in range(0, frame.count, 3):
        step = torch.zeros(frame.count, dtype=torch.float64)
        step[place] = 1e-6
        with torch.no_grad():
            difference = (loss(gate(weights) + step) - loss(gate(weights) - step)).item() / 2e-6
        assert weights.grad[place].item() == pytest.approx(difference, rel=1e-4, abs=1e-7)


def test_network_of_an_architecture_that_no_path_leads_through_knows_its_classifiers_bias() -> None:
    network = build(Architecture("bonsai-nr-1", (0,) * 31), classes=3, channels_in=1, image=8)
    bias = dict(network.head.named_parameters())["2.bias"]  # type: ignore[union-attr]
    assert torch.equal(network(torch.randn(6, 1, 8, 8)), bias.expand(6, 3))


def test_skeleton_that_names_a_frame_is_for_that_frame() -> None:
    arch = space("bonsai-nr-1").sample(np.random.default_rng(0))
    build(arch, skeleton=BonsaiSkeleton(channels=4, cells="nr", nodes=1))
    with pytest.raises(InvalidArchitecture, match="is for nodes 2, the architecture has 1"):
        build(arch, skeleton=BonsaiSkeleton(cells="nr", nodes=2))
