"""What a network normalises once is not computed twice."""

from __future__ import annotations

from torch import Tensor, nn

from nasbed.networks.blocks import classifier, conv_bn
from nasbed.training.population.program import Combine, Conv
from nasbed.training.population.tracing import trace


class Forked(nn.Module):
    """One normalised map, rectified for two convolutions and pooled as it is."""

    def __init__(self, pooled: bool) -> None:
        super().__init__()
        self.pooled = pooled
        self.stem = conv_bn(3, 4, 3)
        self.left, self.right = (nn.Sequential(nn.ReLU(), *conv_bn(4, 4, 1)) for _ in range(2))
        self.head = classifier(4, 2)

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        total = self.left(x) + self.right(x)
        if self.pooled:
            total = total + nn.functional.avg_pool2d(x, 3, 1, 1, count_include_pad=False)
        logits: Tensor = self.head(total)
        return logits


def sums_and_convolutions(pooled: bool) -> tuple[list[Combine], list[Conv]]:
    operations = trace(Forked(pooled), channels=3, side=8).operations
    return (
        [operation for operation in operations if isinstance(operation, Combine)],
        [operation for operation in operations if isinstance(operation, Conv)],
    )


def test_two_convolutions_share_one_rectified_map() -> None:
    sums, (_, left, right) = sums_and_convolutions(pooled=False)
    assert len(sums) == 2 and sums[0].terms[0].relu
    assert left.inputs == right.inputs == sums[0].outputs and not left.relu


def test_map_that_is_needed_as_it_is_too_is_rectified_where_it_is_read() -> None:
    sums, (_, left, right) = sums_and_convolutions(pooled=True)
    assert len(sums) == 2 and not sums[0].terms[0].relu
    assert left.inputs == right.inputs == sums[0].outputs and left.relu and right.relu
