"""NAS-Bench-201 against its published tables and a torch network."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from nasbed import NasbedError
from nasbed.spaces.nb201 import NB201, OPERATIONS, NB201Skeleton

SPACE = NB201()
BEST = "|nor_conv_3x3~0|+|nor_conv_3x3~0|nor_conv_3x3~1|+|skip_connect~0|nor_conv_3x3~1|nor_conv_3x3~2|"


def test_nb201_has_15625_cells_with_distinct_strings() -> None:
    texts = {SPACE.format(arch) for arch in SPACE.enumerate()}
    assert len(texts) == SPACE.size == 15_625


def test_nb201_string_order() -> None:
    arch = SPACE.parse("|none~0|+|skip_connect~0|nor_conv_1x1~1|+|nor_conv_3x3~0|avg_pool_3x3~1|none~2|")
    assert arch.code == (0, 1, 2, 3, 4, 0)
    assert SPACE.to_config(arch)["2<-1"] == "nor_conv_1x1"


@pytest.mark.parametrize(
    ("skeleton", "parameters", "flops"),
    [
        (NB201Skeleton(), (0.073306, 1.531546), (7.78305, 220.11969)),
        (NB201Skeleton(classes=100), (0.079156, 1.537396), (7.7889, 220.12554)),
        (NB201Skeleton(classes=120, image=16), (0.080456, 1.538696), (1.9534, 55.03756)),
    ],
    ids=["cifar10", "cifar100", "imagenet16-120"],
)
def test_nb201_smallest_and_largest_published_costs(
    skeleton: NB201Skeleton, parameters: tuple[float, float], flops: tuple[float, float]
) -> None:
    """The range of NAS-Bench-201's own figures, in millions; it counts the classifier's biases as multiply-adds."""
    archs = [SPACE.from_options([op] * 6) for op in ("none", "nor_conv_3x3")]
    assert tuple(SPACE.parameters(archs, skeleton) / 1e6) == parameters
    assert tuple((SPACE.multiply_adds(archs, skeleton) + skeleton.classes) / 1e6) == flops


def test_nb201_costs_equal_a_torch_network() -> None:
    torch_networks = pytest.importorskip("support.torch_networks", reason="needs torch", exc_type=ImportError)
    rng = np.random.default_rng(0)
    archs = [SPACE.sample(rng) for _ in range(6)] + [SPACE.parse(BEST)]
    for skeleton in (NB201Skeleton(), NB201Skeleton(channels=6, cells_per_stage=2, image=16, classes=120)):
        parameters, multiply_adds = SPACE.parameters(archs, skeleton), SPACE.multiply_adds(archs, skeleton)
        for arch, *costs in zip(archs, parameters, multiply_adds, strict=True):
            network = torch_networks.NB201(
                SPACE.to_options(arch), skeleton.channels, skeleton.cells_per_stage, skeleton.classes
            )
            assert torch_networks.costs(network, skeleton.image) == tuple(costs)


def test_nb201_equals_the_published_proxy_table(published_data: Callable[[str], Path]) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(published_data("nb201_zero_cost_cifar10.parquet"))
    archs = [SPACE.parse(text) for text in table["arch_str"].to_pylist()]
    assert len(archs) == 9_445
    np.testing.assert_array_equal(SPACE.parameters(archs) / 1e6, table["params"].to_numpy())
    np.testing.assert_array_equal(SPACE.published_flops(archs) / 1e6, table["flops"].to_numpy())


def test_nb201_strings_are_those_of_the_published_table(published_data: Callable[[str], Path]) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(published_data("nb201_test_200ep.parquet"))
    column = next(name for name in table.column_names if table[name].to_pylist()[0].__class__ is str)
    assert {SPACE.format(arch) for arch in SPACE.enumerate()} == set(table[column].to_pylist())


def test_nb201_path_encoding_is_every_route() -> None:
    rng = np.random.default_rng(1)
    routes = [[(0, 3)], [(0, 1), (1, 3)], [(0, 2), (2, 3)], [(0, 1), (1, 2), (2, 3)]]
    sequences = [ops for length in (1, 2, 3) for ops in product(OPERATIONS[1:], repeat=length)]
    archs = [SPACE.sample(rng) for _ in range(200)]
    encoded = SPACE.encode(archs, "path")
    assert encoded.shape == (200, len(sequences)) == (200, 4 + 16 + 64)
    for arch, bits in zip(archs, encoded, strict=True):
        config = dict(SPACE.to_config(arch))
        present = {tuple(config[f"{target}<-{source}"] for source, target in route) for route in routes}
        assert [bool(bit) for bit in bits] == [sequence in present for sequence in sequences]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BEST[:-1], "reads"),
        (BEST + "|", "reads"),
        (BEST.replace("~2", "~3"), "reads"),
        (BEST.replace("skip_connect", "conv_7x7"), "no option 'conv_7x7'"),
        (BEST.replace("+", ""), "reads"),
        ("x" * 100_000, "reads"),
    ],
)
def test_nb201_bad_text_is_one_clear_line(text: str, message: str) -> None:
    with pytest.raises(NasbedError, match=message) as caught:
        SPACE.parse(text)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 300


def test_nb201_is_sent_to_processes_without_its_configspace() -> None:
    sent = NB201()
    before = pickle.dumps(sent)
    assert sent.configspace() is sent.configspace()
    assert pickle.dumps(sent) == before and pickle.loads(before).configspace() == sent.configspace()
