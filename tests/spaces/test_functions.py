"""Cells that are said to compute the same function do so, and others do not."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from numpy.typing import NDArray

import nasbed
from nasbed.core.architecture import Architecture
from nasbed.spaces.edge_cell import EDGES

Floats = NDArray[np.float64]
SIDE, CHANNELS = 5, 3


def relu_conv_norm(x: Floats, weight: Floats) -> Floats:
    """A 1x1 or 3x3 convolution between ReLU and batch normalisation (without its epsilon), ``[channels, side, side]``."""
    kernel = weight.shape[-1]
    padded = np.pad(np.maximum(x, 0), ((0, 0), (kernel // 2,) * 2, (kernel // 2,) * 2))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (kernel, kernel), axis=(1, 2))
    y: Floats = np.einsum("chwij,ocij->ohw", windows, weight)
    spread = y.std(axis=(1, 2), keepdims=True)
    normalised: Floats = (y - y.mean(axis=(1, 2), keepdims=True)) / np.where(spread > 0, spread, 1)
    return normalised


def average_pool(x: Floats) -> Floats:
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1)))
    count = np.pad(np.ones(x.shape[1:]), 1)
    add = np.lib.stride_tricks.sliding_window_view
    pooled: Floats = add(padded, (3, 3), axis=(1, 2)).sum(axis=(3, 4)) / add(count, (3, 3)).sum(axis=(2, 3))
    return pooled


def compute(operations: tuple[str, ...], weights: dict[int, Floats], x: Floats) -> Floats:
    nodes = [x, *(np.zeros_like(x) for _ in range(3))]
    for edge, (source, target) in enumerate(EDGES):
        if operations[edge] == "skip_connect":
            nodes[target] = nodes[target] + nodes[source]
        elif operations[edge] == "avg_pool_3x3":
            nodes[target] = nodes[target] + average_pool(nodes[source])
        elif operations[edge] != "none" and nodes[source].any():  # a convolution of nothing is nothing
            nodes[target] = nodes[target] + relu_conv_norm(nodes[source], weights[edge])
    return nodes[3]


def weights_of(operations: tuple[str, ...], rng: np.random.Generator) -> dict[int, Floats]:
    return {
        edge: rng.normal(size=(CHANNELS, CHANNELS, int(name[-1]), int(name[-1])))
        for edge, name in enumerate(operations)
        if "conv" in name
    }


def can_equal(first: tuple[str, ...], second: tuple[str, ...], rng: np.random.Generator) -> bool:
    """Whether some use of the weights of ``one``'s convolutions in ``other``'s gives the same outputs."""
    x = rng.normal(size=(CHANNELS, SIDE, SIDE))
    weights = weights_of(first, rng)
    wanted = compute(first, weights, x)
    places = {
        kind: [edge for edge, name in enumerate(second) if name == kind] for kind in ("nor_conv_1x1", "nor_conv_3x3")
    }
    edges_of = {kind: [edge for edge, name in enumerate(first) if name == kind] + [-1] * 6 for kind in places}
    spare = {kind: weights_of((kind,), rng)[0] for kind in places}  # for a convolution that plays no part
    for chosen in product(*(set(permutations(edges_of[kind], len(places[kind]))) for kind in places)):
        own = {
            edge: weights[source] if source >= 0 else spare[kind]
            for kind, sources in zip(places, chosen, strict=True)
            for edge, source in zip(places[kind], sources, strict=True)
        }
        if np.allclose(compute(second, own, x), wanted, atol=1e-9):
            return True
    return False


@pytest.mark.parametrize("name", ["nb201", "transnas-micro"])
def test_the_representative_computes_the_same(name: str, thorough: bool) -> None:
    space = nasbed.space(name)
    rng = np.random.default_rng(5)
    checked = 0
    while checked < (40 if thorough else 8):
        arch = space.sample(rng)
        (form,) = space.architectures(space.function_codes([arch]))
        names, form_names = operations_of(arch), operations_of(form)
        if arch == form or sum("conv" in step for step in names) > 3:
            continue
        assert can_equal(names, form_names, rng), (names, form_names)
        checked += 1


def test_cells_with_other_representatives_do_not() -> None:
    space = nasbed.space("nb201")
    rng = np.random.default_rng(6)
    checked = 0
    while checked < 30:
        arch = space.sample(rng)
        mutant = space.mutate(arch, rng)
        names, mutant_names = operations_of(arch), operations_of(mutant)
        first, second = space.function_codes([arch, mutant])
        if (first == second).all() or max(
            sum("conv" in step for step in cell_names) for cell_names in (names, mutant_names)
        ) > 3:
            continue
        assert not (can_equal(names, mutant_names, rng) and can_equal(mutant_names, names, rng)), (names, mutant_names)
        checked += 1


def test_how_many_functions_there_are() -> None:
    """A representative stands for itself, and the empty function has every cell without a path."""
    space = nasbed.space("nb201")
    codes = space.codes(list(space.enumerate()))
    forms = space.function_codes(codes)
    assert (space.function_codes(forms) == forms).all()
    assert len(np.unique(forms, axis=0)) == 4954
    paths = space.encode(codes, "path").any(axis=1)
    empty = (forms == 0).all(axis=1)
    assert (empty == ~paths).all()


def operations_of(arch: Architecture) -> tuple[str, ...]:
    names = ("none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3")
    return tuple(names[op] for op in arch.code)
