"""Depthwise convolutions with gradients of our own: the reference is torch's, in float64."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch", reason="needs torch")

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional

from nasbed.networks.depthwise import cpu, numba_kernel
from nasbed.networks.depthwise.cpu import depthwise_convolution, has_fast_gradient
from nasbed.networks.trimming import trimmed_convolution
from nasbed.training.devices import threads_used

CHANNELS = 3
Pair = tuple[int, int]


def tensors(kernel: Pair, image: Pair) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    maps = torch.randn(2, CHANNELS, *image, generator=generator)
    return maps, torch.randn(CHANNELS, 1, *kernel, generator=generator)


def gradients(output: Tensor, maps: Tensor, kernels: Tensor, *, create_graph: bool = False) -> list[Tensor]:
    generator = torch.Generator().manual_seed(1)
    slopes = torch.randn(output.shape, generator=generator, dtype=torch.float64).to(output.dtype)
    return list(torch.autograd.grad(output, (maps, kernels), slopes, create_graph=create_graph))


@given(
    half=st.tuples(*[st.integers(0, 3)] * 2),
    stride=st.tuples(*[st.integers(1, 3)] * 2),
    dilation=st.tuples(*[st.integers(1, 3)] * 2),
    image=st.tuples(*[st.integers(1, 9)] * 2),
    channels_last=st.booleans(),
)
def test_gradients_are_those_of_torch(
    half: Pair, stride: Pair, dilation: Pair, image: Pair, channels_last: bool
) -> None:
    maps, kernels = tensors((2 * half[0] + 1, 2 * half[1] + 1), image)
    padding = (half[0] * dilation[0], half[1] * dilation[1])
    exact_maps, exact_kernels = maps.double().requires_grad_(), kernels.double().requires_grad_()
    exact = functional.conv2d(exact_maps, exact_kernels, None, stride, padding, dilation, CHANNELS)
    if channels_last:
        maps = maps.contiguous(memory_format=torch.channels_last)
    maps.requires_grad_(), kernels.requires_grad_()
    result = depthwise_convolution(maps, kernels, stride=stride, padding=padding, dilation=dilation)
    torch.testing.assert_close(result.double(), exact, rtol=1e-4, atol=1e-4)
    expected = gradients(exact, exact_maps, exact_kernels)
    for value, reference in zip(gradients(result, maps, kernels), expected, strict=True):
        torch.testing.assert_close(value.double(), reference, rtol=1e-4, atol=1e-4)


def test_gradient_of_a_gradient_is_that_of_torch() -> None:
    values = []
    for dtype in (torch.float32, torch.float64):
        maps, kernels = (tensor.to(dtype).requires_grad_() for tensor in tensors((5, 5), (6, 7)))
        options: dict[str, Any] = {"stride": (1, 1), "padding": (4, 4), "dilation": (2, 2)}
        output = (
            depthwise_convolution(maps, kernels, **options)
            if dtype == torch.float32
            else functional.conv2d(maps, kernels, None, **options, groups=CHANNELS)
        )
        first = gradients(output, maps, kernels, create_graph=True)
        penalty = torch.stack([(gradient**2).sum() for gradient in first]).sum()
        values.append(torch.autograd.grad(penalty, (maps, kernels)))
    for value, exact in zip(*values, strict=True):
        torch.testing.assert_close(value.double(), exact, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("fixed", ["maps", "kernels"])
def test_gradient_by_one_of_both_is_computed_without_the_other(fixed: str) -> None:
    maps, kernels = tensors((5, 5), (6, 6))
    leaf = kernels if fixed == "maps" else maps
    leaf.requires_grad_()
    options: dict[str, Any] = {"stride": (1, 1), "padding": (2, 2), "dilation": (1, 1)}
    depthwise_convolution(maps, kernels, **options).sum().backward()  # type: ignore[no-untyped-call]
    exact = leaf.detach().clone().requires_grad_()
    pair = (maps, exact) if fixed == "maps" else (exact, kernels)
    functional.conv2d(*pair, None, **options, groups=CHANNELS).sum().backward()  # type: ignore[no-untyped-call]
    assert leaf.grad is not None and exact.grad is not None
    torch.testing.assert_close(leaf.grad, exact.grad, rtol=1e-4, atol=1e-4)


def is_fast(kernel: int = 5, dilation: int = 1, side: int = 8, dtype: torch.dtype = torch.float32) -> bool:
    maps, kernels = (tensor.to(dtype) for tensor in tensors((kernel, kernel), (side, side)))
    padding = (dilation * (kernel // 2),) * 2
    return has_fast_gradient(maps, kernels, padding=padding, dilation=(dilation, dilation))


def test_own_gradient_is_taken_where_it_is_faster_and_only_there(monkeypatch: pytest.MonkeyPatch) -> None:
    with threads_used(1):
        assert is_fast() and is_fast(3, dilation=2) and is_fast(3, side=2)
        assert not is_fast(3) and not is_fast(dtype=torch.float64)
        with torch.no_grad():
            assert not is_fast()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            assert not is_fast()
        monkeypatch.setattr(cpu, "compiled", lambda: None)
        assert not is_fast()
    monkeypatch.undo()
    monkeypatch.setattr(torch, "get_num_threads", lambda: 16)
    assert not is_fast()


def test_compiled_loop_is_absent_without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba_kernel, "find_spec", lambda name: None)
    numba_kernel.compiled.cache_clear()
    try:
        assert numba_kernel.compiled() is None
    finally:
        numba_kernel.compiled.cache_clear()


def test_biases_are_added() -> None:
    maps, kernels = tensors((5, 5), (6, 6))
    bias = torch.arange(float(CHANNELS))
    options: dict[str, Any] = {"stride": (1, 1), "padding": (2, 2), "dilation": (1, 1), "groups": CHANNELS}
    for image in (maps, maps[:, :, :1, :1]):  # of the kernel on one pixel a factor is left
        expected = functional.conv2d(image, kernels, bias, **options)
        torch.testing.assert_close(trimmed_convolution(image, kernels, bias, **options), expected)
