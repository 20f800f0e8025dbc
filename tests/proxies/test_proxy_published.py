"""Scores of NAS-Bench-201 networks against those of NAS-Bench-Suite-Zero; docs/reference/proxies.md compares more, on images."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet
from scipy.stats import spearmanr

torch = pytest.importorskip("torch")

from nasbed.networks import build  # noqa: E402
from nasbed.proxies import score_all  # noqa: E402
from nasbed.spaces import space  # noqa: E402


@pytest.mark.parametrize(
    ("names", "networks", "images"), [(("params", "flops", "l2_norm"), 25, 1), (("synflow", "zen"), 8, 8)]
)
def test_scores_without_images_agree_with_published(
    names: tuple[str, ...], networks: int, images: int, thorough: bool, published_data: Callable[[str], Path]
) -> None:
    table = parquet.read_table(published_data("nb201_zero_cost_cifar10.parquet"))
    rows = np.random.default_rng(4).permutation(len(table))[: networks if thorough else min(networks, 12)]
    images_and_labels = torch.randn(images, 3, 32, 32), torch.arange(images)
    own_scores: dict[str, list[float | None]] = {name: [] for name in names}
    torch.manual_seed(0)
    for row in rows:
        scores = score_all(
            build(space("nb201").parse(table["arch_str"][int(row)].as_py())), images_and_labels, proxies=names
        )
        for name in names:
            own_scores[name].append(scores[name].value)
    for name in names:
        values, published = np.array(own_scores[name], dtype=np.float64), table[name].to_numpy()[rows]
        if name in ("params", "flops"):
            np.testing.assert_allclose(values / 1e6, published, rtol=0, atol=1e-9)
        else:
            least = (
                0.85 if name == "l2_norm" else 0.95
            )  # networks with equal layers differ in their drawn weights alone
            assert spearmanr(values, published).statistic > least
            assert np.median(np.abs(values / published - 1)) < 0.05
