"""Strided kernels of one pixel: the reference is the sum over pixels that defines their gradient."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs torch")

import torch
from torch import Tensor, nn

from nasbed.networks.strided import taken_pixels
from nasbed.networks.trimming import trim_convolutions


def gradient_error(channels: int, outputs: int, side: int, stride: int = 2) -> float:
    """How far the gradient of a trimmed kernel is from its definition, in shares of its norm."""
    layer = trim_convolutions(nn.Conv2d(channels, outputs, 1, stride, bias=False)).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    maps = torch.randn(8, channels, side, side).contiguous(memory_format=torch.channels_last)
    output = layer(maps)
    slopes = torch.randn_like(output)
    output.backward(slopes)
    pixels = maps[:, :, ::stride, ::stride].double()
    expected = torch.einsum("nohw,nihw->oi", slopes.double(), pixels)
    weight: Tensor = layer.weight
    assert weight.grad is not None
    return float((weight.grad[:, :, 0, 0] - expected).norm() / expected.norm())


@pytest.mark.parametrize("channels", [2, 3, 4, 8, 12, 16])
@pytest.mark.parametrize("side", [8, 27, 64])
def test_gradient_of_strided_kernels_is_right_whatever_the_channels(channels: int, side: int) -> None:
    """With less than 16 channels and maps of 64×64, torch's own gradient crashes on machines with AVX-512."""
    assert gradient_error(channels, 2 * channels, side) < 1e-4


def test_gradient_of_strided_kernels_is_right_with_short_vectors() -> None:
    """As on machines with AVX2 alone, where torch's own gradient is wrong from 4 channels and 8×8 pixels on."""
    command = (
        "from test_strided import gradient_error; print(*[gradient_error(c, 8, s) for c in (2, 4, 7) for s in (8, 16)])"
    )
    environment = {**os.environ, "ONEDNN_MAX_CPU_ISA": "AVX2", "PYTHONPATH": str(Path(__file__).parent)}
    run = subprocess.run([sys.executable, "-c", command], env=environment, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    assert max(map(float, run.stdout.split())) < 1e-4


@pytest.mark.parametrize("format", [torch.channels_last, torch.contiguous_format])
@pytest.mark.parametrize("stride", [(2, 2), (3, 1)])
def test_taken_pixels_have_first_and_second_gradients(format: torch.memory_format, stride: tuple[int, int]) -> None:
    maps = torch.randn(2, 3, 5, 4, dtype=torch.float64).contiguous(memory_format=format).requires_grad_()
    assert torch.equal(taken_pixels(maps, stride), maps[:, :, :: stride[0], :: stride[1]])
    assert taken_pixels(maps, stride).is_contiguous(memory_format=format)
    assert torch.autograd.gradcheck(lambda x: taken_pixels(x, stride) ** 3, maps)
    assert torch.autograd.gradgradcheck(lambda x: taken_pixels(x, stride) ** 3, maps)
