"""The Triton kernels of depthwise convolutions against torch's convolutions in float64; fails if they differ.

On a CPU they run in Triton's interpreter (TRITON_INTERPRET=1).
"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from copy import deepcopy
from unittest.mock import patch

import torch
from torch import nn
from torch.nn import functional

from nasbed.networks import trimming
from nasbed.networks.depthwise.cuda import compiles_kernels, cuda_depthwise_convolution, suits_cuda_kernels

CASES = (
    # images, channels, sides, sides of the kernel, stride, dilation
    (2, 5, (6, 6), (7, 7), 1, 1),
    (2, 33, (3, 5), (3, 3), 1, 1),
    (3, 20, (5, 6), (5, 5), 2, 1),
    (2, 16, (7, 5), (3, 3), 2, 2),
    (1, 70, (6, 5), (5, 5), 1, 2),
    (2, 8, (5, 4), (3, 1), 3, 1),
    (2, 40, (1, 1), (1, 1), 1, 1),
)


def compare(
    device: str, images: int, channels: int, sides: tuple[int, int], kernel: tuple[int, int], *steps: int
) -> None:
    """The convolution, and its gradients by the maps and by the kernels."""
    stride, dilation = ((step, step) for step in steps)
    padding = (dilation[0] * (kernel[0] // 2), dilation[1] * (kernel[1] // 2))
    maps = torch.randn(images, channels, *sides, device=device).contiguous(memory_format=torch.channels_last)
    kernels = torch.randn(channels, 1, *kernel, device=device)
    exact = [tensor.double().requires_grad_() for tensor in (maps, kernels)]
    expected = functional.conv2d(exact[0], exact[1], None, stride, padding, dilation, channels)
    slopes = torch.randn_like(expected)
    own = [tensor.requires_grad_() for tensor in (maps, kernels)]
    result = cuda_depthwise_convolution(own[0], own[1], stride=stride, padding=padding, dilation=dilation)
    assert result.is_contiguous(memory_format=torch.channels_last)
    actual = (result, *torch.autograd.grad(result, own, slopes.float()))
    reference = (expected, *torch.autograd.grad(expected, exact, slopes))
    for value, right in zip(actual, reference, strict=True):
        distance = (value.double() - right).norm() / right.norm()
        assert distance < 1e-6, f"{images, channels, sides, kernel, steps}: {distance}"


def second_derivative(device: str) -> None:
    maps = torch.randn(2, 3, 5, 5, device=device).contiguous(memory_format=torch.channels_last).requires_grad_()
    kernels = torch.randn(3, 1, 3, 3, device=device, requires_grad=True)
    results = []
    for own in (True, False):
        if own:
            output = cuda_depthwise_convolution(maps, kernels, stride=(1, 1), padding=(1, 1), dilation=(1, 1))
        else:
            output = functional.conv2d(maps, kernels, None, 1, 1, 1, 3)
        (slope,) = torch.autograd.grad(output.pow(3).sum(), kernels, create_graph=True)
        results.append(torch.autograd.grad(slope.pow(2).sum(), (maps, kernels)))
    for value, right in zip(*results, strict=True):
        torch.testing.assert_close(value, right, rtol=1e-4, atol=1e-4 * float(right.abs().max()))


def compare_layers(device: str) -> None:
    """A layer of a baseline, with a bias and a kernel larger than its maps, and one that is not depthwise."""
    with ExitStack() as stack:
        stack.enter_context(torch.backends.cudnn.flags(allow_tf32=False))
        if device == "cpu":
            stack.enter_context(patch.object(trimming, "has_fast_gradient", lambda *_, **__: False))
            stack.enter_context(patch.object(trimming, "suits_cuda_kernels", lambda *_, **__: True))
        uses = stack.enter_context(
            patch.object(trimming, "cuda_depthwise_convolution", wraps=cuda_depthwise_convolution)
        )
        for groups, expected_uses in ((12, 1), (1, 0)):
            plain = nn.Conv2d(12, 12, 7, padding=3, groups=groups, device=device, dtype=torch.float64)
            layer = trimming.trim_convolutions(deepcopy(plain)).to(torch.float32, memory_format=torch.channels_last)  # type: ignore[call-overload]
            maps = torch.randn(2, 12, 3, 5, device=device).contiguous(memory_format=torch.channels_last)
            results = []
            for network, images in ((plain, maps.double()), (layer, maps)):
                output = network(images.requires_grad_())
                slopes = torch.autograd.grad(output.pow(2).sum(), [images, *network.parameters()])
                results.append([output, *slopes])
            for right, value in zip(*results, strict=True):
                torch.testing.assert_close(value.double(), right, rtol=1e-4, atol=1e-4 * float(right.abs().max()))
            assert uses.call_count == expected_uses
            uses.reset_mock()


def main(device: str) -> None:
    torch.manual_seed(0)
    if device == "cpu":
        from support.triton_interpreter import quicken_interpreter

        quicken_interpreter()
    for case in CASES:
        compare(device, *case)
    second_derivative(device)
    compare_layers(device)
    assert compiles_kernels(torch.device(device))
    maps = torch.zeros(2, 4, 3, 3, device=device)
    channels_last = maps.contiguous(memory_format=torch.channels_last)
    assert not suits_cuda_kernels(maps, stride=(1, 1), dilation=(1, 1))
    assert not suits_cuda_kernels(channels_last, stride=(1, 2), dilation=(1, 1))
    assert suits_cuda_kernels(channels_last, stride=(1, 1), dilation=(2, 2)) == (device == "cuda")
    print(f"kernels on {device} compute what torch computes")


if __name__ == "__main__":
    main(sys.argv[1])
