"""What a training step costs at least, against counts by hand and by torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from populations import SKELETONS, networks, programs
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.flop_counter import FlopCounterMode, conv_backward_flop

from nasbed.training.population.floor import forward_multiply_adds, step_bytes, step_multiply_adds, used_planes
from nasbed.training.population.tracing import trace


class Small(nn.Module):
    """A convolution of one channel to two, normalised and rectified, and whatever comes before the classifier."""

    def __init__(self, body: nn.Module) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, 2, 3, padding=1, bias=False), nn.BatchNorm2d(2), nn.ReLU())
        self.body = body
        self.head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2, 3))

    def forward(self, x: Tensor) -> Tensor:
        logits: Tensor = self.head(self.body(self.stem(x)))
        return logits


class PartlyUsedResidual(nn.Module):
    """Adds a 1x1 convolution to its input; a second convolution is computed for nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.used = nn.Conv2d(2, 2, 1, bias=False)
        self.unused = nn.Conv2d(2, 2, 1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        self.unused(x)
        residual: Tensor = x + self.used(x)
        return residual


STEM, HEAD = 4 * 5 * 9 * 2, 2 * 3
"""Multiply-adds of an image of 4 by 5 pixels."""
STEM_PARAMETERS, HEAD_PARAMETERS = 18 + 2 + 2, 6 + 3


def test_floor_of_a_convolution_has_no_gradient_of_images_and_no_plane_for_its_normalisation() -> None:
    program = trace(Small(nn.Identity()), channels=1, side=(4, 5))
    assert forward_multiply_adds(program) == STEM + HEAD
    assert step_multiply_adds(program) == 2 * STEM + 3 * HEAD
    image, convolved = 3 * 20, 2 * 5 * 20
    parameters = 16 * (STEM_PARAMETERS + HEAD_PARAMETERS)
    assert step_bytes(program, batch=7, value_bytes=2) == 7 * 2 * (image + convolved) + parameters
    assert step_bytes(program, batch=7, value_bytes=4) == 7 * 4 * (image + convolved) + parameters


def test_floor_counts_sums_and_leaves_out_what_does_not_lead_to_the_logits() -> None:
    program = trace(Small(PartlyUsedResidual()), channels=1, side=(4, 5))
    conv = 20 * 2 * 2
    assert forward_multiply_adds(program) == STEM + 2 * conv + HEAD
    assert step_multiply_adds(program) == 2 * STEM + 3 * conv + conv + 3 * HEAD
    stem, branch, total = 2, 2, 2
    parameters = 16 * (STEM_PARAMETERS + 4 + 4 + HEAD_PARAMETERS)
    assert step_bytes(program, batch=1, value_bytes=2) == 2 * (3 * 20 + 5 * 20 * (stem + branch + total)) + parameters
    assert len(used_planes(program)) == 1 + stem + 2 + branch + total  # with the rectified planes, which are not stored


def test_floor_of_pooling_and_depthwise_convolutions() -> None:
    body = nn.Sequential(nn.MaxPool2d(2, 2), nn.Conv2d(2, 2, 3, padding=1, groups=2, bias=False))
    program = trace(Small(body), channels=1, side=4)
    stem, depthwise = 16 * 9 * 2, 4 * 9 * 2
    assert forward_multiply_adds(program) == stem + depthwise + HEAD
    assert step_multiply_adds(program) == 2 * stem + 3 * depthwise + 3 * HEAD
    parameters = 16 * (STEM_PARAMETERS + 18 + HEAD_PARAMETERS)
    planes = 3 * 16 + 5 * 2 * (16 + 4 + 4)
    assert step_bytes(program, batch=1, value_bytes=2) == 2 * planes + parameters


def torch_backward_flops(*shapes: Any, out_shape: Sequence[Any], **_: Any) -> int:
    """As torch counts them, but for the gradient of grouped weights, which torch counts once for every group."""
    *before, groups, mask = shapes
    by_inputs, by_weights = (
        conv_backward_flop.__wrapped__(*before, groups, wanted, out_shape=out_shape)  # type: ignore[attr-defined]
        for wanted in ((mask[0], False, False), (False, mask[1], False))
    )
    return int(by_inputs + by_weights // groups)


@pytest.mark.parametrize("name", SKELETONS)
def test_multiply_adds_are_half_the_flops_that_torch_counts(name: str, thorough: bool) -> None:
    side, batch = SKELETONS[name][1], 2
    singles = networks(name, 3 if thorough else 1)
    for network, program in zip(singles, programs(singles, side), strict=True):
        images = torch.randn(batch, 3, side, side, generator=torch.Generator().manual_seed(0))
        grouped = {torch.ops.aten.convolution_backward: torch_backward_flops}
        with FlopCounterMode(display=False, custom_mapping=grouped) as forward:
            logits = network(images)
        with FlopCounterMode(display=False, custom_mapping=grouped) as backward:
            functional.cross_entropy(logits, torch.arange(batch)).backward()  # type: ignore[no-untyped-call]
        assert 2 * batch * forward_multiply_adds(program) == forward.get_total_flops()
        total = forward.get_total_flops() + backward.get_total_flops()
        assert 2 * batch * step_multiply_adds(program) == total
