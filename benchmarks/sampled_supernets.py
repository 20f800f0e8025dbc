"""A step of a search that samples one operation an edge (GDAS): its operations recorded, each by itself, against
launched kernel by kernel; in one run.

    python benchmarks/sampled_supernets.py [--device cuda] [--batch 256] [--channels 16] [--cells 8] [8 24 28]

Which operations a step has changes from step to step, so a step cannot be recorded as a whole. Numbers are sides of
images. A step is the gradient by the mixing and the gradient by the weights, each of a mixing that is drawn. Both ways
take the same draws; the command fails if their gradients differ. On a CPU operations are computed again in place of
being replayed, which compares gradients and says nothing about time.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor, nn

from nasbed.oneshot import SEARCHED_SPACES
from nasbed.oneshot.cells import Layout
from nasbed.oneshot.edge import MixedEdge
from nasbed.oneshot.loss import supernet_loss
from nasbed.oneshot.methods.gdas import Gdas
from nasbed.oneshot.random_streams import Chance
from nasbed.oneshot.spaces.base import Supernet, SupernetSize
from nasbed.oneshot.spaces.darts import DartsSupernet
from nasbed.training.cuda_graphs import _side_stream
from nasbed.training.devices import chosen_device
from nasbed.training.placement.network import place_network
from nasbed.training.recipe import Recipe

RECIPE = Recipe(name="supernet", epochs=(1,), batch=64, learning_rate=0.1)
COMPARED, WARM_UP, TIMED = 3, 60, 20
launched_output = MixedEdge.weighed_output
launched_cell: Callable[..., Tensor] = DartsSupernet._cell


class Replay:
    """Work whose inputs and results stay in place: recorded on a GPU, done again on a CPU."""

    def __init__(self, work: Callable[[], Any], device: torch.device, pool: Any) -> None:
        self._work, self._graph = work, None
        if device.type == "cuda":  # torch.cuda.graph() would empty the allocator's cache, hundreds of times
            self._graph = torch.cuda.CUDAGraph()
            with _beside(device):
                self._graph.capture_begin(pool=pool, capture_error_mode="thread_local")
                try:
                    self._results = work()
                finally:
                    self._graph.capture_end()

    def __call__(self) -> Any:
        if self._graph is None:
            return self._work()
        self._graph.replay()
        return self._results


@contextmanager
def _beside(device: torch.device) -> Iterator[None]:
    """Inside, work goes to the stream of recordings, after what was launched before and before what follows."""
    caller, stream = torch.cuda.current_stream(), _side_stream(device)
    stream.wait_stream(caller)
    try:
        with torch.cuda.stream(stream):
            yield
    finally:
        caller.wait_stream(stream)


class RecordedOperation:
    """A module and its gradients, by its weights and without, for maps of one shape.

    Args:
        module: The module.
        x: An example of its maps.
        weight: An example of what its output is multiplied by, if by anything.
        pool: Memory shared with operations that never run in the same step: those of one edge.
    """

    def __init__(self, module: nn.Module, x: Tensor, weight: Tensor | None, pool: Any) -> None:
        self.weights = [parameter for parameter in module.parameters() if parameter.requires_grad]
        self.inputs = [tensor.detach().clone().requires_grad_() for tensor in (x, weight) if tensor is not None]
        self._module = module
        self._rehearse(x.device)
        self.forward = Replay(self._compute, x.device, pool)
        self.slope = torch.zeros_like(self._output)
        self.by_inputs = Replay(lambda: self._gradient(self.inputs), x.device, pool)
        self.by_weights = Replay(lambda: self._gradient([self.inputs[0], *self.weights]), x.device, pool)

    def __call__(self, x: Tensor, weight: Tensor | None, *, by_weights: bool) -> Tensor:
        inputs = [x] if weight is None else [x, weight]
        weights = self.weights if by_weights else []
        return _Replayed.apply(self, len(inputs), *inputs, *weights)  # type: ignore[no-untyped-call,no-any-return]

    def _compute(self) -> Tensor:
        with torch.enable_grad():
            self._output: Tensor = self._module(self.inputs[0])
            if len(self.inputs) == 2:
                self._output = self._output * self.inputs[1]
        return self._output.detach()

    def _gradient(self, by: Sequence[Tensor]) -> tuple[Tensor, ...]:
        return torch.autograd.grad(self._output, by, self.slope, retain_graph=True)

    def _rehearse(self, device: torch.device) -> None:
        """As torch advises, so that libraries choose and allocate before the recording."""
        if device.type != "cuda":
            self._compute()
            return
        with _beside(device):
            for _ in range(2):
                self._compute()
                self.slope = torch.zeros_like(self._output)
                self._gradient([*self.inputs, *self.weights])


class _Replayed(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, recorded: RecordedOperation, count: int, *tensors: Tensor) -> Tensor:
        ctx.recorded, ctx.count, ctx.by_weights = recorded, count, len(tensors) > count
        for own, given in zip(recorded.inputs, tensors, strict=False):
            own.copy_(given)
        output: Tensor = recorded.forward().detach()
        return output

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor | None, ...]:
        ctx.recorded.slope.copy_(slope)
        if not ctx.by_weights:
            return None, None, *(gradient.detach() for gradient in ctx.recorded.by_inputs())
        maps, *weights = ctx.recorded.by_weights()
        passed = (maps.detach(), *[None] * (ctx.count - 1))
        return None, None, *passed, *(gradient.detach() for gradient in weights)


class RecordedOperations:
    """Those of one supernet of the DARTS space, recorded when they are first needed."""

    def __init__(self) -> None:
        self._recorded: dict[nn.Module, RecordedOperation] = {}
        self._pools: dict[nn.Module, Any] = {}

    def weighed_output(
        self, owner: MixedEdge, name: str, x: Tensor, weight: Tensor, shared: dict[str, Tensor]
    ) -> Tensor:
        """As of ``MixedEdge``."""
        if name in owner.free or not torch.is_grad_enabled():
            return launched_output(owner, name, x, weight, shared)
        recorded = self._of(owner.operations[name], x, weight, owner)
        return recorded(x, weight, by_weights=not weight.requires_grad)

    def cell(self, supernet: DartsSupernet, position: int, cell: Any, inputs: Any, mixings: Any) -> Tensor:
        """A cell of the supernet, whose first two layers are recorded too."""
        if torch.is_grad_enabled() and mixings[0].computed is not None:
            by_weights = not mixings[0].operations.requires_grad
            layers = [cell.before_last, cell.last]
            recorded = [
                self._of(layer, maps, None, layer)(maps, None, by_weights=by_weights)
                for layer, maps in zip(layers, inputs, strict=True)
            ]
            cell, inputs = SimpleNamespace(before_last=nn.Identity(), last=nn.Identity()), recorded
        return launched_cell(supernet, position, cell, inputs, mixings)

    def _of(self, module: nn.Module, x: Tensor, weight: Tensor | None, owner: nn.Module) -> RecordedOperation:
        known = self._recorded.get(module)
        if known is None or known.inputs[0].shape != x.shape:
            if x.is_cuda and owner not in self._pools:
                self._pools[owner] = torch.cuda.graph_pool_handle()
            known = self._recorded[module] = RecordedOperation(module, x, weight, self._pools.get(owner))
        return known


@contextmanager
def recording_operations() -> Iterator[None]:
    """Inside, supernets of the DARTS space record the operations that are sampled."""
    recorded = RecordedOperations()

    def weighed_output(*arguments: Any) -> Tensor:
        return recorded.weighed_output(*arguments)

    def cell(*arguments: Any) -> Tensor:
        return recorded.cell(*arguments)

    with patch.object(MixedEdge, "weighed_output", weighed_output), patch.object(DartsSupernet, "_cell", cell):
        yield


Gradients = tuple[Tensor, Tensor, dict[str, Tensor]]


class SampledSteps:
    """Steps of GDAS on noise: the loss, the gradient by the parameters and that by the weights."""

    def __init__(self, side: int, options: argparse.Namespace, device: torch.device) -> None:
        space = SEARCHED_SPACES.get("darts")
        torch.manual_seed(0)
        self.method = Gdas(space).to(device)
        size = SupernetSize(options.channels, options.cells, (3, side, side), 10)
        self.supernet: Supernet = place_network(space.supernet(size, self.method.cells, Layout()), device)
        self.supernet.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.images = torch.randn(options.batch, 3, side, side, device=device)
        self.labels = torch.arange(options.batch, device=device) % 10
        self.device = device

    def step(self, number: int) -> Gradients:
        batch = self.images, self.labels
        loss = supernet_loss(self.supernet, batch, self.method.mixing(Chance(2 * number, self.device)), RECIPE)
        (by_mixing,) = torch.autograd.grad(loss, [self.method.alphas])
        self.supernet.zero_grad(set_to_none=True)
        with torch.no_grad():
            mixing = self.method.mixing(Chance(2 * number + 1, self.device))
        loss = supernet_loss(self.supernet, batch, mixing, RECIPE)
        loss.backward()  # type: ignore[no-untyped-call]
        weights = self.supernet.named_parameters()
        return loss.detach(), by_mixing, {name: w.grad for name, w in weights if w.grad is not None}

    def seconds(self, first: int, count: int) -> float:
        self._wait()
        start = perf_counter()
        for number in range(first, first + count):
            self.step(number)
        self._wait()
        return (perf_counter() - start) / count

    def _wait(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)


def difference(first: Gradients, second: Gradients) -> float:
    """The largest distance of two gradients, as a share of their size."""
    assert first[2].keys() == second[2].keys(), "gradients by different weights"
    pairs = [(first[0], second[0]), (first[1], second[1]), *((first[2][name], second[2][name]) for name in first[2])]
    return max(float((a - b).norm() / a.norm().clamp_min(1e-12)) for a, b in pairs)


def compare(side: int, options: argparse.Namespace, device: torch.device) -> None:
    steps = SampledSteps(side, options, device)
    launched = [_copied(steps.step(number)) for number in range(COMPARED)]
    chance = max(difference(launched[n], _copied(steps.step(n))) for n in range(COMPARED))
    slow = steps.seconds(0, options.steps)
    with recording_operations():
        start = perf_counter()
        distance = max(difference(launched[n], _copied(steps.step(n))) for n in range(COMPARED))
        steps.seconds(0, options.warm_up)  # records what they need
        recording_s = perf_counter() - start
        again = max(difference(launched[n], _copied(steps.step(n))) for n in range(COMPARED))
        fast = steps.seconds(0, options.steps)
    gib = torch.cuda.max_memory_reserved(device) / 2**30 if device.type == "cuda" else 0.0
    print(
        f"{side}x{side}: launched {1e3 * slow:.1f} ms, recorded {1e3 * fast:.1f} ms, {slow / fast:.2f}x; gradients "
        f"differ by {chance:.1e} by chance, by {max(distance, again):.1e} between them; {recording_s:.1f} s of recording, "
        f"{gib:.1f} GiB",
        flush=True,
    )
    assert max(distance, again) <= 1e-4 + 10 * chance, "the gradients differ"


def _copied(gradients: Gradients) -> Gradients:
    loss, by_mixing, by_weights = gradients
    return loss.clone(), by_mixing.clone(), {name: gradient.clone() for name, gradient in by_weights.items()}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sides", nargs="*", type=int, default=[8, 24, 28], help="of the images")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--channels", type=int, default=16)
    parser.add_argument("--cells", type=int, default=8)
    parser.add_argument("--steps", type=int, default=TIMED, help="that are timed")
    parser.add_argument("--warm-up", type=int, default=WARM_UP, help="steps that record, before")
    parser.add_argument("--device", default="auto")
    options = parser.parse_args(arguments)
    for side in options.sides:
        compare(side, options, chosen_device(options.device))


if __name__ == "__main__":
    main()
