"""The gradient of a supernet: candidates of several edges in the same kernels against one by one; in one run.

    python benchmarks/supernets.py [--device cuda] [--batch 64] [--cells 5] [--ways WAY ...] [pc-darts:28 darts:16 ...]

A step is the loss of a batch and its gradient by the weights and by the mixing, on a GPU from a recording. Ways to
compute it take turns, and the fastest of five steps counts. On a GPU candidates one by one have their channels first in
memory, and there are more ways: bundled with channels first, with torch's own depthwise convolutions, with torch's own
convolutions of one pixel, with normalisations by cuDNN, each candidate on a stream of its own so that their kernels run
side by side, and both of these. ``--ways`` compares some of them with the first that it names.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from time import perf_counter
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor, nn
from torch.nn import functional

from nasbed.networks import bundles
from nasbed.networks.bundles import NodeMaps
from nasbed.oneshot import SEARCHED_SPACES, edge
from nasbed.oneshot.cells import Layout
from nasbed.oneshot.edge import MixedEdge
from nasbed.oneshot.loss import supernet_loss
from nasbed.oneshot.mixing import Mixing
from nasbed.oneshot.spaces.base import Supernet, SupernetSize
from nasbed.training.cuda_graphs import Recording
from nasbed.training.devices import chosen_device
from nasbed.training.placement.network import place_network
from nasbed.training.recipe import Recipe

PARTIAL = {"darts": 1, "pc-darts": 4, "drnas": 6}
CASES = ("darts:8", "pc-darts:8", "darts:16", "pc-darts:16")
CPU_WAYS = ("one by one", "bundled")
GPU_WAYS = (
    "one by one",
    "channels first",
    "torch's depthwise",
    "torch's pointwise",
    "cuDNN's norms",
    "side by side",
    "side by side, cuDNN's norms",
    "bundled",
)
REPEATS = 5
RECIPE = Recipe(name="supernet", epochs=(1,), batch=64, learning_rate=0.1)

Step = Callable[[], object]


def one_by_one(operations: Sequence[nn.Module], node: NodeMaps) -> list[Tensor]:
    return [operation(node.maps) for operation in operations]


def side_by_side(
    with_candidate: Mapping[str, Sequence[MixedEdge]], node: NodeMaps
) -> Iterator[tuple[str, list[Tensor]]]:
    """All candidates, each on a stream of its own. Gradients flow back on the same streams."""
    for edges in with_candidate.values():
        node.seen(rectified=True, times=len(edges))  # before they part
    caller, streams = torch.cuda.current_stream(), dict(zip(with_candidate, _streams(), strict=False))
    shared = [tensor for tensor in (node.maps, node._rectified, *node._repeated.values()) if tensor is not None]
    results = []
    for name, edges in with_candidate.items():
        streams[name].wait_stream(caller)
        for tensor in shared:
            tensor.record_stream(streams[name])
        with torch.cuda.stream(streams[name]):
            results.append((name, edge.candidate_outputs(name, edges, node)))
    for name, outputs in results:
        caller.wait_stream(streams[name])
        for output in outputs:
            output.record_stream(caller)
    yield from results


def normalised_by_cudnn(layers: Sequence[Any], maps: Tensor) -> Tensor:
    """torch gives a batch normalisation to cuDNN, which needs fewer kernels, only if it has weights."""
    ones, zeros = _constants(maps.shape[1], maps.device)
    return functional.batch_norm(maps, None, None, ones, zeros, training=True, eps=layers[0].eps)


@cache
def _constants(channels: int, device: torch.device) -> tuple[Tensor, Tensor]:
    return torch.ones(channels, device=device), torch.zeros(channels, device=device)


@cache
def _streams() -> list[torch.cuda.Stream]:
    return [torch.cuda.Stream() for _ in range(8)]  # type: ignore[no-untyped-call]


@contextmanager
def computing(way: str) -> Iterator[None]:
    """Inside, supernets are computed that way."""
    with ExitStack() as stack:
        if way == "one by one":
            stack.enter_context(patch.object(edge, "bundled_outputs", one_by_one))
        if "side by side" in way:
            stack.enter_context(patch.object(edge, "all_candidates", side_by_side))
        if way == "torch's depthwise":
            stack.enter_context(patch.object(bundles, "suits_cuda_kernels", lambda *_, **__: False))
        if "cuDNN's norms" in way:
            stack.enter_context(patch.object(bundles, "_normalised", normalised_by_cudnn))
        if way == "torch's pointwise":
            stack.enter_context(patch.object(bundles, "suits_pointwise_kernels", lambda *_, **__: False))
        yield


def gradient_step(way: str, supernet: Supernet, inputs: Sequence[Tensor]) -> Step:
    """What computes the gradient."""
    is_first = way == "channels first" or (way == "one by one" and inputs[0].is_cuda)
    layout = torch.contiguous_format if is_first else torch.channels_last
    place_network(supernet, inputs[0].device).to(memory_format=layout)  # type: ignore[call-overload]

    def loss(images: Tensor, labels: Tensor, operations: Tensor, edges: Tensor | None = None) -> Tensor:
        return supernet_loss(supernet, (images, labels), Mixing(operations, edges), RECIPE)

    if inputs[0].is_cuda:
        recording = Recording(supernet, loss, inputs)
        return lambda: recording(*inputs)
    return lambda: loss(*inputs).backward()  # type: ignore[no-untyped-call]


def seconds(step: Step, device: torch.device) -> float:
    start = perf_counter()
    step()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return perf_counter() - start


def compare(name: str, side: int, options: argparse.Namespace, device: torch.device) -> None:
    """Print the time of each way, and how many times faster it is than the first."""
    space = SEARCHED_SPACES.get("darts")
    cells, partial = space.cells(with_none=True), PARTIAL[name]
    size = SupernetSize(options.channels, options.cells, (3, side, side), 10)
    mixing = [torch.softmax(torch.zeros(cells.shape, device=device), dim=-1).requires_grad_()]
    if partial > 1:
        mixing.append(torch.full(cells.shape[:2], 0.3, device=device).requires_grad_())
    images = torch.randn(options.batch, 3, side, side, device=device)
    inputs = [images, torch.arange(options.batch, device=device) % 10, *mixing]
    ways = options.ways or (CPU_WAYS if device.type == "cpu" else GPU_WAYS)
    steps = {}
    for way in ways:
        with computing(way):
            steps[way] = gradient_step(way, space.supernet(size, cells, Layout(partial)), inputs)
    times: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(REPEATS):
        for way, step in steps.items():
            with computing(way):
                times[way].append(seconds(step, device))
    for way in ways:
        fastest, baseline = min(times[way]), min(times[ways[0]])
        print(f"{name}, {side}x{side}: {way:<28} {1e3 * fastest:8.1f} ms {baseline / fastest:6.2f}x", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("cases", nargs="*", default=CASES, help="a method and the side of the images")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--channels", type=int, default=16)
    parser.add_argument("--cells", type=int, default=5)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--ways", nargs="+", choices=GPU_WAYS, help="all by default")
    options = parser.parse_args(arguments)
    device = chosen_device(options.device)
    where = torch.cuda.get_device_name(device) if device.type == "cuda" else "one core of a CPU"
    print(
        f"{options.batch} images, {options.channels} channels, {options.cells} cells, the best of {REPEATS} steps, {where}"
    )
    torch.set_num_threads(1)
    for case in options.cases:
        name, _, side = case.partition(":")
        if name not in PARTIAL or not side.isdigit():
            parser.error(f"a case is {' or '.join(PARTIAL)}, a colon and a side, got {case!r}")
        compare(name, int(side), options, device)


if __name__ == "__main__":
    main()
