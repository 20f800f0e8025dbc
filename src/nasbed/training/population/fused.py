"""Programs run by our own kernels on a CUDA device: one launch a stage, no copies between, no graph of autograd."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch
import triton
from torch import Tensor

from nasbed.training.population import kernels
from nasbed.training.population.launches import Launch, Layout
from nasbed.training.population.program import Program

_LARGEST_BLOCK = 64


class Call:
    """A kernel with all that it is launched with."""

    def __init__(self, kernel: Any, grid: tuple[int, ...], *arguments: Any, **options: Any) -> None:
        self.kernel, self.grid, self.arguments, self.options = kernel, grid, arguments, options

    def __call__(self) -> None:
        self.kernel[self.grid](*self.arguments, **self.options)

    def compiled_for(self) -> tuple[Any, ...]:
        """Calls that agree in this run the same code, or nearly: integers count by whether they divide by 16."""
        kinds = [each.dtype if isinstance(each, Tensor) else each for each in self.arguments]
        return self.kernel, *kinds, *self.options.values()

    def compile(self) -> None:
        self.kernel.warmup(*self.arguments, grid=self.grid, **self.options)


class FusedExecutor:
    """As :class:`AutogradExecutor`, for batches of one size. Activations are kept in ``dtype``, everything that is
    summed up and all parameters in float32. Every call works in the same memory, so that a CUDA graph can be made of
    it."""

    def __init__(
        self, programs: Sequence[Program], parameters: Tensor, *, batch: int, dtype: torch.dtype = torch.bfloat16
    ) -> None:
        self.programs, self.parameters, self.batch = programs, parameters, batch
        self.device = device = parameters.device
        count, most = parameters.shape
        norms = max(program.norm_channels for program in programs)
        self.layout = layout = Layout(programs, batch, most, norms)
        self._precision = "ieee" if dtype == torch.float32 else "tf32"

        def zeros(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
            return torch.zeros(*shape, dtype=dtype, device=device)

        self._arena = zeros(layout.size, dtype=dtype)
        self._chosen = zeros(max(layout.chosen, 1), dtype=torch.int8)
        self._sums = zeros(kernels.CHUNKS, count, most)
        self.running_mean, self.running_var = zeros(count, norms), zeros(count, norms) + 1
        self._kept = tuple(zeros(count, norms) for _ in range(4))  # scale, shift, mean, inverse of the deviation
        width = len(programs[0].head.inputs)
        self._features, self._feature_gradients = zeros(count, width, batch), zeros(count, width, batch)
        heads = [program.head for program in programs]
        self._classes = heads[0].classes
        starts = torch.arange(count)[:, None] * most
        first_weights = torch.tensor([head.weight for head in heads])[:, None] + starts
        first_biases = torch.tensor([head.bias for head in heads])[:, None] + starts
        self._head_weights = (first_weights + torch.arange(self._classes * width)).to(device)
        self._head_biases = (first_biases + torch.arange(self._classes)).to(device)

        tables = torch.from_numpy(layout.features).to(device)
        self._forward = [self._call(launch) for launch in layout.forward]
        self._forward.append(self._mean_call(kernels.mean_forward, tables, self._features))
        self._judging = [
            self._call(launch, training=False) if launch.kernel == "norm_forward" else call
            for launch, call in zip(layout.forward, self._forward, strict=False)
        ]
        self._judging.append(self._forward[-1])
        self._backward = [self._mean_call(kernels.mean_backward, tables, self._feature_gradients)]
        self._backward += [self._call(launch) for launch in layout.backward]
        self._compile()

    def _compile(self) -> None:
        """Compile every kernel that will be needed, on all cores."""
        if not hasattr(kernels.combine, "warmup") or self.device.type != "cuda":
            return
        wanted = {call.compiled_for(): call for call in [*self._forward, *self._judging, *self._backward]}
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(Call.compile, wanted.values()))

    def logits(self, images: Tensor, *, training: bool) -> Tensor:
        """``[networks, images, classes]`` from images ``[networks, images, channels, height, width]``."""
        count, batch, channels, height, width = images.shape
        planes = self._arena[: self.layout.images].view(count, channels, -1)[..., : batch * height * width]
        planes.view(count, channels, batch, height, width).copy_(images.transpose(1, 2))
        for call in self._forward if training else self._judging:
            call()
        biases = self.parameters.view(-1)[self._head_biases]
        return torch.baddbmm(biases[:, None], self._features.transpose(1, 2), self._head_matrix().transpose(1, 2))

    def _head_matrix(self) -> Tensor:
        return self.parameters.view(-1)[self._head_weights].view(len(self.programs), self._classes, -1)

    def losses_and_gradient(
        self, images: Tensor, labels: Tensor, *, smoothing: float = 0.0
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The mean cross entropy of each network on its own batch, its gradient, and how many images of the batch it
        classifies correctly."""
        logits = self.logits(images, training=True)
        correct = (logits.argmax(-1) == labels).sum(1)
        log_odds = torch.log_softmax(logits, dim=-1)
        target = torch.full_like(log_odds, smoothing / self._classes)
        target.scatter_add_(2, labels[..., None], torch.full_like(log_odds[..., :1], 1 - smoothing))
        losses = -(target * log_odds).sum(-1).mean(1)
        gradient = (log_odds.exp() - target) / self.batch
        self._feature_gradients.copy_(torch.bmm(gradient, self._head_matrix()).transpose(1, 2))
        for call in self._backward:
            call()
        total = self._sums.sum(0)
        weights = torch.bmm(gradient.transpose(1, 2), self._features.transpose(1, 2))
        total.view(-1)[self._head_weights] = weights.flatten(1)
        total.view(-1)[self._head_biases] = gradient.sum(1)
        return losses, total, correct

    def shares(self) -> list[float]:
        """What part of the time each network takes: that of every launch is measured, and divided evenly among its
        rows."""
        launches = [*self.layout.forward, *self.layout.backward]
        calls = [*self._forward[:-1], *self._backward[1:]]
        marks = [torch.cuda.Event(enable_timing=True) for _ in range(len(calls) + 1)]  # type: ignore[no-untyped-call]
        kept = self.running_mean.clone(), self.running_var.clone()
        # the launches queue up behind a pause, so that no time between them is measured
        torch.cuda._sleep(200_000_000)  # type: ignore[no-untyped-call]
        marks[0].record()
        for call, mark in zip(calls, marks[1:], strict=True):
            call()
            mark.record()
        torch.cuda.synchronize()
        self.running_mean.copy_(kept[0])
        self.running_var.copy_(kept[1])
        cost = np.zeros(len(self.programs))
        for launch, before, after in zip(launches, marks, marks[1:], strict=False):
            rows = np.bincount(launch.owners, minlength=len(cost))
            cost += before.elapsed_time(after) * rows / launch.rows
        return [float(each) for each in cost / cost.sum()]

    # --- launches ----------------------------------------------------------------------------------------------------

    def _call(self, launch: Launch, *, training: bool = True) -> Call:
        tables = tuple(torch.from_numpy(table).to(self.device).contiguous() for table in launch.tables)
        if launch.kernel.startswith("conv"):
            return self._conv_call(launch, tables)
        if launch.kernel.startswith("window"):
            return self._window_call(launch, tables[0])
        if launch.kernel.startswith("largest"):
            return self._largest_call(launch, tables[0])
        values = self.batch * launch.shape[0] ** 2
        if launch.kernel == "combine":
            block = _block(values, 1024)
            grid = (launch.rows, triton.cdiv(values, block))
            return Call(kernels.combine, grid, self._arena, *tables, *self._kept[:2], values, block)
        block = _block(values, 2048)
        if launch.kernel == "norm_forward":
            return Call(
                kernels.norm_forward, (launch.rows,), self._arena, self.parameters, tables[0], *self._kept,
                self.running_mean, self.running_var, values, *launch.settings, training, block, num_warps=8,
            )  # fmt: skip
        arguments = (self._arena, self.parameters, self._sums, *tables, *self._kept, values, block)
        return Call(kernels.norm_backward, (launch.rows,), *arguments, num_warps=8)

    def _conv_call(self, launch: Launch, tables: tuple[Tensor, ...]) -> Call:
        ci, co, kernel, side_in, side_out, _, _ = launch.shape
        bci = min(max(triton.next_power_of_2(ci), 16), _LARGEST_BLOCK)
        bco = min(max(triton.next_power_of_2(co), 16), _LARGEST_BLOCK)
        blocks_in, blocks_out = triton.cdiv(ci, bci), triton.cdiv(co, bco)
        about, inputs, *others = tables
        inner = launch.kernel == "conv_backward_inputs"
        values = self.batch * (side_in if inner else side_out) ** 2
        block = max(_block(values, 256 if kernel == 1 and bci * bco <= 1024 else 128), 16)
        tiles = triton.cdiv(values, block)
        small = bci * bco <= 512  # one warp each, many at a time
        if launch.kernel == "conv_backward_weights" and small:
            block = min(block, 64)
        shape = (*launch.shape, bci, bco, block)
        if launch.kernel == "conv_backward_weights":
            return Call(
                kernels.conv_backward_weights, (launch.rows, kernels.CHUNKS, kernel * kernel * blocks_in * blocks_out),
                self._arena, self._sums, inputs, others[0], about, values, self.parameters.numel(), *shape,
                kernels.CHUNKS, self._precision, num_warps=1 if small else 4, num_stages=2,
            )  # fmt: skip
        grid = (launch.rows, tiles, blocks_in if inner else blocks_out)
        code = kernels.conv_backward_inputs if inner else kernels.conv_forward
        return Call(code, grid, self._arena, self.parameters, inputs, *others, about, values, *shape, self._precision)

    def _window_call(self, launch: Launch, table: Tensor) -> Call:
        kernel, side_in, side_out, stride, padding, mean = launch.shape
        wide_in, wide_out = triton.next_power_of_2(side_in), triton.next_power_of_2(side_out)
        together = max(16 // wide_out, 1)
        inner = launch.kernel == "window_backward_inputs"
        lines = self.batch * (side_in if inner else side_out)
        count = triton.cdiv(lines, together)
        block = max(_block(count, 128), 16)
        code = getattr(kernels, launch.kernel)
        shape = (kernel, side_in, side_out, wide_in, wide_out, stride)
        if launch.kernel == "window_backward_weights":
            return Call(
                code, (launch.rows, kernels.CHUNKS), self._arena, self._sums, table, lines,
                self.parameters.numel(), *shape, together, min(block, 32), kernels.CHUNKS, self._precision, num_warps=1,
                num_stages=2,
            )  # fmt: skip
        grid = (launch.rows, triton.cdiv(count, block))
        settings = (*shape, padding, bool(mean), together, block, self._precision)
        return Call(code, grid, self._arena, self.parameters, table, lines, *settings)

    def _largest_call(self, launch: Launch, table: Tensor) -> Call:
        kernel, side_in, side_out, stride, padding, _ = launch.shape
        values = self.batch * (side_out if launch.kernel == "largest_forward" else side_in) ** 2
        block = _block(values, 1024)
        grid = (launch.rows, triton.cdiv(values, block))
        shape = (kernel, side_in, side_out, stride, padding, block)
        return Call(getattr(kernels, launch.kernel), grid, self._arena, self._chosen, table, values, *shape)

    def _mean_call(self, code: Any, table: Tensor, values: Tensor) -> Call:
        pixels = self.layout.side**2
        block = triton.next_power_of_2(pixels)
        images = max(1024 // block, 1)
        grid = (len(table), triton.cdiv(self.batch, images))
        return Call(code, grid, self._arena, table, values, self.batch, pixels, block, images)


def _block(values: int, most: int) -> int:
    return int(min(triton.next_power_of_2(values), most))
