"""The passes over one network and one batch that proxies share, each computed on first use and cached.

The network's own tensors are never written: a pass runs it on views of its weights and on copies of its buffers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.utils._python_dispatch import TorchDispatchMode

from nasbed.core.errors import InvalidMeasurement, InvalidOption, shorten
from nasbed.proxies.base import Need

WEIGHTED = (nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.Linear)
"""The layers whose weights count, as in the published suites: no biases, no normalisation."""

_AFTER: Mapping[Need, tuple[Need, ...]] = {
    "forward": ("forward",),
    "patterns": ("forward",),
    "loss_gradients": ("forward", "loss_gradients"),
    "output_gradients": ("forward", "loss_gradients"),
    "input_gradients": ("forward", "input_gradients"),
    "tangents": ("tangents",),
}
TANGENT_IMAGES = 16
"""How many images have a tangent: each costs a backward pass."""
_RECTIFIED = {
    torch.ops.aten.relu.default,
    torch.ops.aten.relu_.default,
    torch.ops.aten.hardtanh.default,  # ReLU6
    torch.ops.aten.hardtanh_.default,
    torch.ops.aten.leaky_relu.default,
    torch.ops.aten.leaky_relu_.default,
}


@dataclass(frozen=True, slots=True)
class Forward:
    """One run in training mode: the images to differentiate in, and the logits."""

    images: Tensor
    logits: Tensor


class Passes:
    """One network, one batch. ``layers`` are the layers whose weights count, by name; ``weights`` are views of these
    weights through which to differentiate.

    Args:
        network: The network, in any mode.
        images: The batch, one row for each image.
        labels: The class of each image.
        needs: The passes that may be used.
        seed: The seed of all random numbers.
        loss: Computes the loss from logits and labels.
    """

    def __init__(
        self,
        network: nn.Module,
        images: Tensor,
        labels: Tensor,
        *,
        needs: Collection[Need],
        seed: int,
        loss: Callable[[Tensor, Tensor], Tensor],
    ) -> None:
        self.network, self.images, self.labels, self.seed = network, images, labels, seed
        self.parameters = {name: parameter.detach().requires_grad_() for name, parameter in network.named_parameters()}
        self.layers = {
            name: module
            for name, module in network.named_modules()
            if isinstance(module, WEIGHTED) and _weight_name(name) in self.parameters
        }
        self.remark = ""
        self._needs, self._loss = set(needs), loss
        self._results: dict[str, Any] = {}
        self._seconds: dict[str, float] = {}
        self._patterns: list[Tensor] = []
        self._outputs: list[tuple[str, Tensor]] = []
        self._output_gradients: list[tuple[str, Tensor, Tensor]] = []
        self.reset()

    @property
    def weights(self) -> dict[str, Tensor]:
        """By the name of the layer. There is at least one."""
        if not self.layers:
            raise InvalidMeasurement("the network has no convolution and no linear layer")
        return {name: self.parameters[_weight_name(name)] for name in self.layers}

    def reset(self) -> None:
        """Reset the random state, so that the next draw does not depend on earlier ones."""
        self.remark = ""
        self.generator = torch.Generator().manual_seed(self.seed)
        self.seed_torch()

    def seed_torch(self) -> None:
        """Seed torch's own generators, from which a network draws, as for dropout. They are restored afterwards."""
        torch.default_generator.manual_seed(self.seed)
        if self.images.is_cuda:
            with torch.cuda.device(self.images.device):
                torch.cuda.manual_seed(self.seed)

    def normal(self, *shape: int) -> Tensor:
        """Standard normal numbers on the device of the images, the same on every device."""
        return torch.randn(*shape, generator=self.generator).to(self.images)

    def forward(self) -> Forward:
        """The batch through the network in training mode."""
        forward: Forward = self._cached("forward", self._forward)
        return forward

    def patterns(self) -> list[Tensor]:
        """For each rectifier, in the order in which they ran, which of its inputs were above zero: [images, units]."""
        self._check_declared("patterns")
        self.forward()
        if not self._patterns:
            raise InvalidMeasurement("the network has no rectifier (ReLU, ReLU6, leaky ReLU)")
        return self._patterns

    def loss(self) -> Tensor:
        """The loss of the forward pass."""
        return self.loss_of(self.forward().logits, self.labels)

    def loss_of(self, logits: Tensor, labels: Tensor) -> Tensor:
        if labels.dtype == torch.int64 and logits.ndim == 2:
            low, high = int(labels.min()), int(labels.max())
            if low < 0 or high >= logits.shape[1]:
                raise InvalidMeasurement(
                    f"the labels run from {low} to {high}, the network has {logits.shape[1]} classes"
                )
        with _torch_errors("the loss cannot be taken"):
            return self._loss(logits, labels)

    def loss_gradients(self) -> dict[str, Tensor]:
        """The gradient of the loss in each weight, by layer. A layer that the loss does not depend on is missing; there
        is at least one."""
        self.forward()
        gradients: dict[str, Tensor] = self._cached("loss_gradients", self._loss_gradients)
        return gradients

    def output_gradients(self) -> list[tuple[str, Tensor, Tensor]]:
        """For each time a layer ran, its name, its output and the gradient of the loss in that output."""
        self._check_declared("output_gradients")
        self.loss_gradients()
        return self._output_gradients

    def input_gradients(self) -> Tensor:
        """The gradient of the sum of all logits in each image: [images, values]."""
        self._check_declared("input_gradients")
        self.forward()
        gradients: Tensor = self._cached("input_gradients", self._input_gradients)
        return gradients

    def tangents(self) -> dict[str, Tensor]:
        """The gradient of each image's summed logits in each parameter, by its name: [images, values]. Only the first
        16 images have one, and they are a batch of their own; missing where no image depends on a parameter."""
        self._check_declared("tangents")
        tangents: dict[str, Tensor] = self._cached("tangents", self._tangents)
        return tangents

    def gradients(self, value: Tensor) -> dict[str, Tensor]:
        """The gradient of a value in each weight, by layer; missing where the value does not depend on it."""
        return self._present(self._derivatives(value, list(self.weights.values())))

    def differentiable_gradients(self, value: Tensor) -> dict[str, Tensor]:
        """The same gradients, which can be differentiated again."""
        return self._present(self._derivatives(value, list(self.weights.values()), create_graph=True))

    def run(
        self,
        images: Tensor,
        *,
        training: bool = True,
        parameters: Mapping[str, Tensor] | None = None,
        buffers: Mapping[str, Tensor] | None = None,
    ) -> Tensor:
        """The network's (first) output, with other weights or buffers where given."""
        if not torch.isfinite(images).all():
            raise InvalidMeasurement("the images are not all finite")
        if buffers is None:
            buffers = {name: buffer.clone() for name, buffer in self.network.named_buffers()}
        self.network.train(training)
        with _torch_errors("the network cannot be run on this batch"):
            output = functional_call(self.network, {**(parameters or self.parameters), **buffers}, (images,))
        while isinstance(output, tuple | list) and output:
            output = output[0]
        if not isinstance(output, Tensor):
            raise InvalidMeasurement(f"the network's output is not a tensor but {shorten(type(output).__name__)}")
        if output.ndim < 2 or len(output) != len(images):
            raise InvalidMeasurement(
                f"the network's output has no row for each of {len(images)} images, its shape is {tuple(output.shape)}"
            )
        return output

    def shared_seconds(self, needs: Iterable[Need]) -> float:
        """The time of the passes that these needs include."""
        passes = {name for need in needs for name in _AFTER[need]}
        return sum((self._seconds.get(name, 0.0) for name in passes), 0.0)

    def wait(self) -> None:
        """Wait for the device, so that timings are correct."""
        if self.images.is_cuda:
            torch.cuda.synchronize(self.images.device)

    def _check_declared(self, need: Need) -> None:
        if need not in self._needs:
            raise InvalidOption(f"a proxy that uses {need} says so in its needs; add {need!r} to them")

    def _cached(self, name: str, make: Callable[[], Any]) -> Any:
        """A pass runs once. A failed pass is not retried; its reason is cached."""
        if name not in self._results:
            start = perf_counter()
            try:
                self._results[name] = make()
            except InvalidMeasurement as problem:
                self._results[name] = problem
            self.wait()
            self._seconds[name] = perf_counter() - start
        result = self._results[name]
        if isinstance(result, InvalidMeasurement):
            raise result
        return result

    def _forward(self) -> Forward:
        self.reset()
        images = self.images.clone().requires_grad_("input_gradients" in self._needs)
        hooks = []
        if "output_gradients" in self._needs:
            hooks = [layer.register_forward_hook(self._output_hook(name)) for name, layer in self.layers.items()]
        try:
            if "patterns" in self._needs:
                with _Rectifiers(self._patterns):
                    logits = self.run(images)
            else:
                logits = self.run(images)
        finally:
            for hook in hooks:
                hook.remove()
        if not torch.isfinite(logits).all():
            raise InvalidMeasurement("the network's output is not finite")
        return Forward(images, logits)

    def _output_hook(self, name: str) -> Callable[[nn.Module, Any, Tensor], Tensor]:
        def keep(module: nn.Module, inputs: Any, output: Tensor) -> Tensor:
            self._outputs.append((name, output))
            return output.clone()  # what follows may work in place

        return keep

    def _loss_gradients(self) -> dict[str, Tensor]:
        """One backward pass for the weights and for the outputs that were kept."""
        weights = list(self.weights.values())
        derivatives = self._derivatives(self.loss(), [*weights, *(output for _, output in self._outputs)])
        self._output_gradients = [
            (name, output.detach(), gradient)
            for (name, output), gradient in zip(self._outputs, derivatives[len(weights) :], strict=True)
            if gradient is not None
        ]
        return self._present(derivatives[: len(weights)])

    def _input_gradients(self) -> Tensor:
        forward = self.forward()
        gradient = None
        if forward.logits.requires_grad:
            (gradient,) = self._derivatives(forward.logits.sum(), [forward.images])
        if gradient is None or not gradient.any():
            raise InvalidMeasurement("the output does not depend on the images")
        if not torch.isfinite(gradient).all():
            raise InvalidMeasurement("the gradient in the images is not finite")
        return gradient.flatten(1)

    def _tangents(self) -> dict[str, Tensor]:
        self.reset()
        images = self.images[:TANGENT_IMAGES]
        if len(images) < 2:
            raise InvalidMeasurement("a condition number needs two images or more, the batch has 1")
        sums = self.run(images).flatten(1).sum(1)
        if not sums.requires_grad:
            raise InvalidMeasurement("the output does not depend on the weights")
        rows = [self._derivatives(total, list(self.parameters.values())) for total in sums]
        return {
            name: torch.stack([gradient.flatten() for gradient in gradients if gradient is not None])
            for name, *gradients in zip(self.parameters, *rows, strict=True)
            if gradients[0] is not None
        }

    def _derivatives(
        self, value: Tensor, places: list[Tensor], *, create_graph: bool = False
    ) -> tuple[Tensor | None, ...]:
        if not value.requires_grad:
            raise InvalidMeasurement("no weight has a gradient")
        with _torch_errors("the network cannot be differentiated"):
            return torch.autograd.grad(value, places, retain_graph=True, create_graph=create_graph, allow_unused=True)

    def _present(self, derivatives: tuple[Tensor | None, ...]) -> dict[str, Tensor]:
        present = {
            name: derivative
            for name, derivative in zip(self.layers, derivatives, strict=True)
            if derivative is not None
        }
        if not present:
            raise InvalidMeasurement("no weight has a gradient")
        if not all(torch.isfinite(derivative).all() for derivative in present.values()):
            raise InvalidMeasurement("a gradient is not finite")
        return present

    def remark_missing(self, present: Collection[str]) -> None:
        """Remark how many layers have no gradient and count as zero."""
        missing = len(self.layers) - len(set(present))
        if missing:
            self.remark = f"{missing} of {len(self.layers)} layers have no gradient and count as zero"


class _Rectifiers(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes where the inputs of rectifiers are above zero, whether a module or a function rectifies."""

    def __init__(self, patterns: list[Tensor]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.patterns = patterns

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Torch would import its compiler to keep it away from this, which takes a second in each process."""
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in _RECTIFIED:
            self.patterns.append((args[0] > 0).flatten(1) if args[0].ndim > 1 else (args[0] > 0)[:, None])
        return func(*args, **(kwargs or {}))


@contextmanager
def _torch_errors(message: str) -> Iterator[None]:
    """Turn errors of torch into a missing score with torch's reason."""
    try:
        yield
    except (RuntimeError, ValueError, IndexError) as problem:
        if isinstance(problem, InvalidMeasurement | InvalidOption):
            raise
        first = (str(problem).strip() or type(problem).__name__).splitlines()[0]
        raise InvalidMeasurement(f"{message}: {first}") from None


def _weight_name(layer: str) -> str:
    return f"{layer}.weight" if layer else "weight"
