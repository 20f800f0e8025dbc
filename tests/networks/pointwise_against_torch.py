"""The Triton kernels of grouped convolutions of one pixel against torch's in float64; fails if they differ.

On a CPU they run in Triton's interpreter (TRITON_INTERPRET=1).
"""

from __future__ import annotations

import sys

import torch
from torch.nn import functional

from nasbed.networks.pointwise.cuda import cuda_pointwise_convolution, suits_pointwise_kernels

CASES = (
    # images, groups, channels of a group read and written, sides
    (3, 4, 4, 4, (5, 7)),
    (2, 1, 4, 4, (3, 3)),
    (2, 3, 6, 5, (4, 5)),
    (2, 2, 16, 16, (5, 6)),
    (1, 2, 24, 40, (9, 9)),
    (2, 5, 1, 3, (1, 1)),
    (2, 2, 3, 20, (8, 3)),
)


def compare(device: str, images: int, groups: int, read: int, written: int, sides: tuple[int, int]) -> None:
    """The convolution, and its gradients by the maps and by the weights, together and each alone."""
    maps = torch.randn(images, groups * read, *sides, device=device).contiguous(memory_format=torch.channels_last)
    weight = torch.randn(groups * written, read, 1, 1, device=device)
    exact = [tensor.double().requires_grad_() for tensor in (maps, weight)]
    expected = functional.conv2d(exact[0], exact[1], groups=groups)
    slopes = torch.randn_like(expected)
    own = [tensor.requires_grad_() for tensor in (maps, weight)]
    result = cuda_pointwise_convolution(own[0], own[1], groups=groups)
    assert result.is_contiguous(memory_format=torch.channels_last)
    together = torch.autograd.grad(result, own, slopes.float(), retain_graph=True)
    for place, slope in enumerate(together):
        (alone,) = torch.autograd.grad(result, own[place], slopes.float(), retain_graph=True)
        assert torch.equal(alone, slope)
    reference = (expected, *torch.autograd.grad(expected, exact, slopes))
    for value, right in zip((result, *together), reference, strict=True):
        distance = (value.double() - right).norm() / right.norm()
        assert distance < 1e-6, f"{images, groups, read, written, sides}: {distance}"


def second_derivative(device: str) -> None:
    maps = torch.randn(2, 6, 5, 5, device=device).contiguous(memory_format=torch.channels_last).requires_grad_()
    weight = torch.randn(4, 3, 1, 1, device=device, requires_grad=True)
    results = []
    for convolution in (cuda_pointwise_convolution, functional.conv2d):
        output = convolution(maps, weight, groups=2)
        (slope,) = torch.autograd.grad(output.pow(3).sum(), weight, create_graph=True)
        results.append(torch.autograd.grad(slope.pow(2).sum(), (maps, weight)))
    for value, right in zip(*results, strict=True):
        torch.testing.assert_close(value, right, rtol=1e-4, atol=1e-4 * float(right.abs().max()))


def main(device: str) -> None:
    torch.manual_seed(0)
    if device == "cpu":
        from support.triton_interpreter import quicken_interpreter

        quicken_interpreter()
    with torch.backends.cudnn.flags(allow_tf32=False):
        for case in CASES:
            compare(device, *case)
        second_derivative(device)
    maps, weight = torch.zeros(2, 8, 3, 3, device=device), torch.zeros(8, 4, 1, 1, device=device)
    channels_last = maps.contiguous(memory_format=torch.channels_last)
    assert not suits_pointwise_kernels(maps, weight, groups=2)
    assert not suits_pointwise_kernels(channels_last.double(), weight.double(), groups=2)
    assert suits_pointwise_kernels(channels_last, weight, groups=2) == (device == "cuda")
    print(f"kernels on {device} compute what torch computes")


if __name__ == "__main__":
    main(sys.argv[1])
