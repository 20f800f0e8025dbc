"""One NAS-Bench-101 network's costs against those of a batch, which are held to the published counts."""

from __future__ import annotations

import numpy as np
import pytest

from nasbed import space
from nasbed.spaces.nb101.costs import NB101Skeleton, many_networks, network_costs, one_network


@pytest.mark.parametrize(
    "skeleton", [NB101Skeleton(), NB101Skeleton(24, 4, 2, 28, 1, 7), NB101Skeleton(5, 1, 1, 9, 3, 2)]
)
def test_one_network_costs_what_it_costs_in_a_batch(skeleton: NB101Skeleton) -> None:
    nb101 = space("nb101")
    rng = np.random.default_rng(0)
    codes = nb101.codes([nb101.sample(rng) for _ in range(1500)])
    parameters, multiply_adds = many_networks(codes, skeleton)
    single = [one_network(tuple(code), skeleton) for code in codes.tolist()]
    assert [list(pair) for pair in single] == np.stack([parameters, multiply_adds], axis=1).tolist()
    for cost, batch in zip(network_costs(codes[:1], skeleton), (parameters, multiply_adds), strict=True):
        assert cost.tolist() == batch[:1].tolist()
        assert cost.dtype == batch.dtype
