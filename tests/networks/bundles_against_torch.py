"""Operations of several edges in the same Triton kernels against torch's, one by one in float64; fails if they differ.

On a CPU the kernels run in Triton's interpreter (TRITON_INTERPRET=1).
"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from copy import deepcopy
from unittest.mock import patch

import torch
from torch import nn

from nasbed.networks import bundles, darts
from nasbed.networks.bundles import NodeMaps, bundled_outputs
from nasbed.oneshot.norms import searching_norms

CHANNELS = 4


def searched_operation(name: str, *, stride: int, device: str) -> nn.Module:
    module = darts.operation(name, CHANNELS, stride)
    searching_norms(module)
    return module.to(device)


def compare(device: str, name: str, *, edges: int, stride: int, uses: tuple[int, int]) -> None:
    """Outputs of all edges, and gradients by the maps and by all weights. ``uses`` are convolutions by our own kernels,
    depthwise and of one pixel."""
    operations = [searched_operation(name, stride=stride, device=device) for _ in range(edges)]
    maps = torch.randn(3, CHANNELS, 5, 4, device=device).contiguous(memory_format=torch.channels_last).requires_grad_()
    exact_operations, exact_maps = deepcopy(operations), maps.detach().double().requires_grad_()
    with ExitStack() as stack:
        calls = [
            stack.enter_context(patch.object(bundles, kernel, wraps=getattr(bundles, kernel)))
            for kernel in ("cuda_depthwise_convolution", "cuda_pointwise_convolution")
        ]
        outputs = bundled_outputs(operations, NodeMaps(maps))
    assert tuple(call.call_count for call in calls) == uses
    exact = [module.double()(exact_maps) for module in exact_operations]
    slopes = [torch.randn_like(output) for output in exact]
    leaves = [maps, *(weight for module in operations for weight in module.parameters())]
    exact_leaves = [exact_maps, *(weight for module in exact_operations for weight in module.parameters())]
    own = torch.autograd.grad(outputs, leaves, [slope.float() for slope in slopes])
    right = torch.autograd.grad(exact, exact_leaves, slopes)
    for value, expected in zip((*outputs, *own), (*exact, *right), strict=True):
        distance = float(((value.double() - expected).norm() / expected.norm()).detach())
        assert distance < 2e-5, f"{name}, {edges} edges, stride {stride}: {distance}"


def main(device: str) -> None:
    torch.manual_seed(0)
    with ExitStack() as stack:
        stack.enter_context(torch.backends.cudnn.flags(allow_tf32=False))
        if device == "cpu":
            from support.triton_interpreter import quicken_interpreter

            quicken_interpreter()
            for suits in ("suits_cuda_kernels", "suits_pointwise_kernels"):
                stack.enter_context(patch.object(bundles, suits, lambda *_, **__: True))
        compare(device, "sep_conv_3x3", edges=3, stride=2, uses=(2, 2))
        compare(device, "dil_conv_5x5", edges=1, stride=1, uses=(1, 1))
    print(f"kernels on {device} compute what torch computes")


if __name__ == "__main__":
    main(sys.argv[1])
