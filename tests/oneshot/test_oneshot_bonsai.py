"""Bonsai-Net's architectures, pruners and networks, against closed forms, graph search and each other."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch")

from torch import nn  # noqa: E402

from nasbed import datasets  # noqa: E402
from nasbed.core.errors import InvalidArchitecture, InvalidOption, ParseError  # noqa: E402
from nasbed.networks.darts import operation  # noqa: E402
from nasbed.oneshot.bonsai import (  # noqa: E402
    BonsaiArchitecture,
    BonsaiCell,
    BonsaiNetwork,
    BonsaiSettings,
    Frame,
    random_architecture,
    untrained,
)
from nasbed.oneshot.bonsai.network import remaining_weights  # noqa: E402
from nasbed.oneshot.bonsai.paths import useful  # noqa: E402
from nasbed.oneshot.bonsai.pruner import Compression, Pruners, gate, sawtooth  # noqa: E402
from nasbed.oneshot.bonsai.space import OPERATIONS, SIZES  # noqa: E402

FRAMES = [Frame("n", 1), Frame("nr", 2), Frame("rnr", 1), Frame("nrrn", 3)]


def random_flags(frame: Frame, rng: np.random.Generator) -> list[bool]:
    """Some of everything; the fewer, the more of it leads nowhere."""
    share = rng.choice([0.05, 0.1, 0.3, 0.8])
    return [bool(each) for each in rng.random(frame.count) < share]


def flag_edges(frame: Frame) -> list[tuple[str, str]]:
    """For every flag the two places that it joins, named apart from the code under test."""
    found = []
    for cell in range(len(frame.cells)):
        outputs = ["stem", *(f"{each}:{frame.nodes + 1}" for each in range(cell))]
        found += [(output, f"{cell}:1") for output in outputs]
        for target in range(2, frame.nodes + 2):
            for source in range(target):
                name = outputs[-1] if source == 0 else f"{cell}:{source}"
                found += [(name, f"{cell}:{target}")] * len(OPERATIONS)
    return found


@pytest.mark.parametrize("frame", FRAMES, ids=str)
def test_useful_is_what_lies_on_a_path_by_graph_search(frame: Frame) -> None:
    rng = np.random.default_rng(1)
    edges, output = flag_edges(frame), f"{len(frame.cells) - 1}:{frame.nodes + 1}"
    assert len(edges) == frame.count
    for _ in range(60):
        flags = random_flags(frame, rng)
        graph = nx.DiGraph([edge for edge, kept in zip(edges, flags, strict=True) if kept])
        graph.add_nodes_from(["stem", output])
        forward, backward = nx.descendants(graph, "stem") | {"stem"}, nx.ancestors(graph, output) | {output}
        expected = [
            kept and source in forward and target in backward
            for (source, target), kept in zip(edges, flags, strict=True)
        ]
        assert useful(frame, flags) == expected


@pytest.mark.parametrize("frame", FRAMES, ids=str)
def test_architecture_counts_the_parameters_of_its_network_and_goes_through_json(frame: Frame) -> None:
    rng = np.random.default_rng(2)
    for arch in [frame.full(), *(random_architecture(frame, rng, target=0.2) for _ in range(4))]:
        network = BonsaiNetwork(arch, channels=5, channels_in=2, classes=3)
        counted = sum(weight.numel() for weight in network.parameters())
        assert arch.parameters(channels=5, channels_in=2, classes=3) == counted
        assert BonsaiArchitecture.from_json(arch.to_json()) == arch
        assert frame.architecture(arch.flags) == arch


def test_full_architecture_has_the_counts_of_its_frame() -> None:
    """Two nodes have 2 + 3 edges, each with 7 operations; cell i has i + 1 inputs."""
    full = Frame("nrn", 2).full()
    assert (full.kept, full.size, sum(full.flags)) == (3 * 5 * 7, 1.0, 3 * 5 * 7 + 1 + 2 + 3)


def test_random_architecture_keeps_to_its_target_and_needs_room() -> None:
    rng = np.random.default_rng(3)
    drawn = [random_architecture(Frame("nrn", 2), rng, target=0.25) for _ in range(20)]
    assert all(0 < arch.size <= 0.25 for arch in drawn) and len(set(drawn)) == 20
    with pytest.raises(InvalidOption, match="take a larger one"):
        random_architecture(Frame("n", 1), rng, target=0.01)
    with pytest.raises(InvalidOption, match="a share above 0"):
        random_architecture(Frame("n", 1), rng, target=0)


def test_sizes_are_the_feature_maps_that_layers_write() -> None:
    for name, size in zip(OPERATIONS, SIZES, strict=True):
        layers = [each for each in operation(name, 4, 1).modules() if not list(each.children())]
        assert len(layers) == size


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        (BonsaiCell((), ((), ())), "no path leads"),
        (BonsaiCell((0,), (("skip_connect",), ())), "the input 0 of cell 0 lies on no path"),
        (BonsaiCell((), (("skip_connect",), ("skip_connect",))), "skip_connect on the edge 1-2 of cell 0 lies on no"),
        (BonsaiCell((1,), (("skip_connect",), ())), "the inputs of cell 0 are rising numbers from 0 to 0"),
        (BonsaiCell((), (("skip_connect",),)), "has 2 edges, got 1"),
        (BonsaiCell((), (("max_pool_3x3", "skip_connect"), ())), "in this order"),
        (BonsaiCell((), (("none",), ())), "on the edge 0-2 of cell 0"),
    ],
)
def test_architecture_that_is_none_says_why(cell: BonsaiCell, said: str) -> None:
    with pytest.raises(InvalidArchitecture, match=said):
        BonsaiArchitecture(Frame("n", 1), (cell,))


@pytest.mark.parametrize(
    "text",
    [
        "no JSON",
        "[1]",
        '{"cells": "n"}',
        '{"cells": "n", "nodes": 1, "kept": 3}',
        '{"cells": "n", "nodes": 1, "kept": [{"inputs": ["a"], "operations": {}}]}',
        '{"cells": "n", "nodes": 1, "kept": [{"inputs": [], "operations": {"2-2": []}}]}',
        '{"cells": "n", "nodes": 1, "kept": [{"inputs": [], "operations": {"0-2": "skip_connect"}}]}',
        "[" * 100_000,
    ],
)
def test_text_that_is_no_architecture_is_refused(text: str) -> None:
    with pytest.raises(ParseError, match="a JSON object with cells, nodes and kept"):
        BonsaiArchitecture.from_json(text)


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
    whole = 2 * sum(SIZES)
    shares = [(whole - 8) / whole, (whole - 1) / whole]
    operations, inputs = Compression(frame)(gate(weights), 0.25)
    distance = np.hypot(shares[0] - 0.25, shares[1] - 0.25)
    assert operations.item() == pytest.approx(distance)
    assert inputs.item() == 0.0  # one input of each cell is open
    (operations + inputs).backward()
    assert weights.grad is not None and torch.isfinite(weights.grad).all()
    for cell, edge, op in [(0, 0, 3), (0, 1, 0), (1, 0, 5)]:
        expected = (shares[cell] - 0.25) / distance * SIZES[op] / whole
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
    opened = torch.ones(frame.count)
    opened[[1, 2]] = 0.0
    for steps in ([opened, opened], [opened, torch.ones(frame.count)]):
        assert pruners.withered(1.0) == []
        for each in steps:
            pruners.observe(each)
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
    cells: str, nodes: int, shape: tuple[int, int, int], training: bool
) -> None:
    """Logits and gradients, in double precision, for random choices of which much leads nowhere."""
    rng, frame = np.random.default_rng(7), Frame(cells, nodes)
    full = BonsaiNetwork(frame.full(), channels=3, channels_in=shape[0], classes=4).double()
    uneven(full)
    images = torch.randn(5, *shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    tried = 0
    while tried < 4:
        flags = random_flags(frame, rng)
        if not any(useful(frame, flags)):
            continue
        tried += 1
        pruned = BonsaiNetwork(frame.architecture(flags), channels=3, channels_in=shape[0], classes=4).double()
        remaining_weights(pruned, full)
        gates = torch.tensor(flags, dtype=torch.float64)
        one, other = full.train(training)(images, gates), pruned.train(training)(images)
        assert torch.allclose(one, other, rtol=1e-10, atol=1e-10)
        full.zero_grad()
        pruned.zero_grad()
        (one.square().sum() + other.square().sum()).backward()
        named = dict(full.named_parameters())
        for name, weight in pruned.named_parameters():
            assert weight.grad is not None
            assert torch.allclose(weight.grad, named[name].grad, rtol=1e-7, atol=1e-9), name


def test_network_that_gates_cut_off_is_its_classifiers_bias() -> None:
    frame = Frame("nr", 1)
    network = BonsaiNetwork(frame.full(), channels=4, channels_in=1, classes=3)
    uneven(network)
    logits = network(torch.randn(6, 1, 8, 8), torch.zeros(frame.count))
    bias = dict(network.head.named_parameters())["2.bias"]
    assert torch.equal(logits, bias.expand(6, 3))


def test_gradient_of_pruners_is_that_of_the_loss_by_a_factor_on_each_operation() -> None:
    """Central differences in double precision, open and closed gates alike: a closed one can open again. No node is cut
    off here."""
    frame = Frame("nr", 1)
    network = BonsaiNetwork(frame.full(), channels=3, channels_in=1, classes=3).double()
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


def test_untrained_network_comes_from_its_seed_alone() -> None:
    digits, arch = datasets.load("digits"), Frame("nr", 1).full()
    state = torch.get_rng_state()
    one, same, other = (untrained(arch, digits, channels=4, seed=seed) for seed in (1, 1, 2))
    assert torch.equal(torch.get_rng_state(), state)
    pairs = [(one.state_dict()[name], same.state_dict()[name]) for name in one.state_dict()]
    assert all(torch.equal(first, second) for first, second in pairs)
    assert not torch.equal(one.stem[0].weight, other.stem[0].weight)
