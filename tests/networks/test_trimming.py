"""Convolutions that leave out what never meets the image: the reference is torch's own."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs torch")

import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from torch import nn

from nasbed.networks.baselines import baseline
from nasbed.networks.trimming import TrimmedConvolution, trim_convolutions, trimmed_kernel


@given(
    kernel=st.tuples(*[st.integers(1, 7)] * 2),
    padding=st.tuples(*[st.integers(0, 3)] * 2),
    image=st.tuples(*[st.integers(1, 6)] * 2),
    stride=st.integers(1, 3),
    dilation=st.integers(1, 2),
    groups=st.sampled_from((1, 2, 4)),
)
def test_trimmed_convolution_computes_what_torchs_computes(
    kernel: tuple[int, int],
    padding: tuple[int, int],
    image: tuple[int, int],
    stride: int,
    dilation: int,
    groups: int,
) -> None:
    reach = [dilation * (length - 1) for length in kernel]
    assume(all(side + 2 * border > far for side, border, far in zip(image, padding, reach, strict=True)))
    plain = nn.Conv2d(4, 4, kernel, stride, padding, dilation, groups=groups, dtype=torch.float64)
    trimmed: Any = trim_convolutions(deepcopy(plain))
    assert type(trimmed) is TrimmedConvolution
    maps = torch.randn(2, 4, *image, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    layers: list[Any] = [plain, trimmed]
    for layer in layers:
        layer.maps = maps.clone().requires_grad_()
        layer.output = layer(layer.maps)
        (layer.output**3).sum().backward()
    torch.testing.assert_close(trimmed.output, layers[0].output)
    torch.testing.assert_close(trimmed.maps.grad, layers[0].maps.grad)
    torch.testing.assert_close(trimmed.weight.grad, plain.weight.grad)


@pytest.mark.parametrize(
    ("length", "border", "side", "left"),
    [(7, 3, 1, 1), (7, 3, 2, 3), (7, 3, 3, 5), (7, 3, 4, 7), (3, 1, 1, 1), (3, 1, 2, 3), (7, 2, 1, 7), (2, 1, 1, 2)],
)
def test_kernel_keeps_twice_the_side_less_one_where_its_border_is_half_of_it(
    length: int, border: int, side: int, left: int
) -> None:
    kernel, (rows, columns) = trimmed_kernel(torch.arange(float(length)).view(1, 1, length, 1), (border, 0), (side, 9))
    first = (length - left) // 2
    assert kernel.flatten().tolist() == list(range(first, first + left)) and (rows, columns) == (border - first, 0)


@pytest.mark.parametrize(
    ("length", "dilation", "side", "left"), [(5, 2, 2, 1), (5, 2, 3, 3), (5, 2, 4, 3), (5, 2, 5, 5), (3, 2, 2, 1)]
)
def test_dilated_kernel_keeps_the_places_that_reach_into_the_image(
    length: int, dilation: int, side: int, left: int
) -> None:
    border = dilation * (length // 2)
    kernel, borders = trimmed_kernel(
        torch.ones(1, 1, length, length), (border, border), (side, side), dilation=(dilation, dilation)
    )
    assert kernel.shape[2:] == (left, left) and borders == (dilation * (left // 2),) * 2


@pytest.mark.parametrize("changes", [{"padding": "same"}, {"padding_mode": "circular"}])
def test_convolutions_of_other_kinds_stay_as_they_are(changes: dict[str, Any]) -> None:
    layer = nn.Conv2d(1, 1, 3, **({"padding": 1} | changes))
    assert type(trim_convolutions(layer)) is nn.Conv2d


def test_baseline_on_tiny_images_multiplies_a_fraction_of_its_weights() -> None:
    """Of ResNet-18's 3×3 kernels all behind its third stage see maps of one pixel."""
    from torch.utils.flop_counter import FlopCounterMode

    counts = []
    network = baseline("resnet18", classes=3, channels_in=12, image=8)
    for trims in (True, False):
        for module in network.modules():
            if isinstance(module, nn.Conv2d):
                module.__class__ = TrimmedConvolution if trims else nn.Conv2d
        with FlopCounterMode(display=False) as counter:
            network(torch.zeros(2, 12, 8, 8))
        counts.append(counter.get_total_flops())
    assert counts[0] < counts[1] / 3
