"""From the launches of a layout to calls of kernels: blocks, grids, warps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import triton
from torch import Tensor

from nasbed.training.population import kernels
from nasbed.training.population.launches import Launch
from nasbed.training.population.tiles import LARGEST_WIDE_TILE, power_of_two

_LARGEST_BLOCK = 64


class Call:
    """A kernel with all that it is launched with."""

    def __init__(self, kernel: Any, grid: tuple[int, ...], *arguments: Any, **options: Any) -> None:
        self.kernel, self.grid, self.arguments, self.options = kernel, grid, arguments, options

    def __call__(self) -> None:
        self.kernel[self.grid](*self.arguments, **self.options)

    def compiled_for(self) -> tuple[Any, ...]:
        """Calls that agree in this run the same code, or nearly: integers count by whether they divide by 16."""
        kinds = [argument.dtype if isinstance(argument, Tensor) else argument for argument in self.arguments]
        return self.kernel, *kinds, *self.options.values()

    def compile(self) -> None:
        self.kernel.warmup(*self.arguments, grid=self.grid, **self.options)


@dataclass(frozen=True)
class Memory:
    """The tensors that the kernels of one population work in."""

    arena: Tensor
    weights: Tensor
    packed: Tensor
    sums: Tensor
    partials: Tensor
    taps: Tensor
    running: tuple[Tensor, Tensor]
    norms: tuple[Tensor, Tensor, Tensor, Tensor]
    """Scale, shift, mean and inverse of the deviation of each channel."""

    @property
    def chunks(self) -> int:
        return len(self.sums)

    @property
    def precision(self) -> str:
        """How products of float32 are taken: as three of the tensor cores' own, which is nearly as exact as one."""
        return "tf32x3" if self.arena.dtype == torch.float32 else "tf32"


class Calls:
    """Makes the calls of one population."""

    def __init__(self, memory: Memory, *, batch: int, lanes: int) -> None:
        self.memory, self.batch, self.lanes = memory, batch, lanes

    def call(self, launch: Launch, *, training: bool = True) -> Call:
        """The call of a launch, for training or for judging what was trained."""
        tables = tuple(torch.from_numpy(table).to(self.memory.arena.device).contiguous() for table in launch.tables)
        family = launch.kernel.split("_")[0]
        if launch.kernel == "norm_forward":
            return self._norm_forward(launch, tables[0], training)
        if launch.kernel.startswith("bundled_mean"):
            return self._bundled_mean(launch, tables[0])
        makers = {
            "norm": self._norm_backward,
            "combine": self._combine,
            "conv": self._conv,
            "bundled": self._bundled,
            "window": self._window,
            "largest": self._largest,
        }
        return makers[family](launch, tables)

    def means(self, kernel: Any, table: Tensor, values: Tensor, side: tuple[int, int]) -> Call:
        """The mean of each image, or its gradient."""
        pixels = side[0] * side[1]
        block = power_of_two(pixels)
        images = max(1024 // (block * self.lanes), 1)
        grid = (len(table), triton.cdiv(self.batch, images))
        return Call(kernel, grid, self.memory.arena, table, values, self.batch, pixels, block, images, self.lanes)

    def _values(self, *side: int) -> int:
        return self.batch * side[0] * side[1]

    def _combine(self, launch: Launch, tables: tuple[Tensor, ...]) -> Call:
        values = self._values(*launch.shape)
        block = _block(values, 2048 // self.lanes)
        grid = (launch.rows, triton.cdiv(values, block))
        memory = self.memory
        return Call(kernels.combine, grid, memory.arena, *tables, *memory.norms[:2], values, block, self.lanes)

    def _norm_forward(self, launch: Launch, table: Tensor, training: bool) -> Call:
        height, width, summed = launch.shape
        values = self._values(height, width)
        memory = self.memory
        by_parts = bool(summed and training)
        block = 512 // self.lanes if by_parts else _block(values, 4096 // self.lanes)
        return Call(
            kernels.norm_forward, (launch.rows,), memory.arena, memory.weights, memory.partials, table, *memory.norms,
            *memory.running, values, *launch.settings, training, by_parts, block, self.lanes,
            num_warps=2 if by_parts else 8,
        )  # fmt: skip

    def _norm_backward(self, launch: Launch, tables: tuple[Tensor, ...]) -> Call:
        height, width, single = launch.shape
        values, memory = self._values(height, width), self.memory
        block = _block(values, 4096 // self.lanes if values * self.lanes >= 16384 else 1024 // self.lanes)
        depth = 3 if single else 1
        arguments = (memory.arena, memory.sums, *tables, *memory.norms, values, bool(single), block, self.lanes, depth)
        return Call(kernels.norm_backward, (launch.rows,), *arguments, num_warps=8 if block * self.lanes > 1024 else 4)

    def _bundled(self, launch: Launch, tables: tuple[Tensor, ...]) -> Call:
        inputs, outputs, kernel, *_, stride, _ = shape = launch.shape[:9]
        relu = bool(launch.shape[9])
        block_in, block_out = (min(max(power_of_two(count), 2), 8) for count in (inputs, outputs))
        blocks_in, blocks_out = triton.cdiv(inputs, block_in), triton.cdiv(outputs, block_out)
        memory, lanes = self.memory, self.lanes
        if launch.kernel == "bundled_forward":
            tile = launch.shape[10]
            values = self._values(*shape[5:7])
            return Call(
                kernels.bundled_forward, (launch.rows, triton.cdiv(values, tile), blocks_out), memory.arena,
                memory.packed, *tables, memory.partials, values, *shape, block_in, block_out, tile, lanes, relu,
                memory.precision, num_warps=4 if tile > 128 or inputs * outputs > 16 else 1,
            )  # fmt: skip
        if launch.kernel == "bundled_backward_inputs":
            values = self.batch * triton.cdiv(shape[3], stride) * triton.cdiv(shape[4], stride)
            most = 256 if inputs * outputs <= 4 else 128
            tile = max(_block(values, most if memory.arena.element_size() == 2 else LARGEST_WIDE_TILE), 16)
            warps = 1 if stride == 1 and 4 < inputs * outputs < 64 else 4
            return Call(
                kernels.bundled_backward_inputs, (launch.rows, triton.cdiv(values, tile), blocks_in),
                memory.arena, memory.packed, *tables, values, *shape, block_in, block_out, tile, lanes, relu,
                memory.precision, num_warps=warps,
            )  # fmt: skip
        values = self._values(*shape[5:7])
        if block_in * block_out <= 8:
            tile, warps, depth = 64, 1, 1
        elif block_in * block_out == 16 or kernel == 1:
            tile, warps, depth = 64, 1, 3
        else:
            tile, warps, depth = 128, 4, 1
        return Call(
            kernels.bundled_backward_weights, (launch.rows * memory.chunks * kernel * blocks_in * blocks_out,),
            memory.arena, memory.sums, *tables, values, memory.weights.numel(), *shape, block_in, block_out,
            max(_block(values, tile), 16), lanes, relu, memory.chunks, memory.precision, num_warps=warps,
            num_stages=depth,
        )  # fmt: skip

    def _bundled_mean(self, launch: Launch, table: Tensor) -> Call:
        kernel, height_in, width_in, height, width, stride, padding, _ = launch.shape
        forward = launch.kernel == "bundled_mean_forward"
        values = self._values(height, width) if forward else self._values(height_in, width_in)
        block = _block(values, 256)
        code = kernels.bundled_mean_forward if forward else kernels.bundled_mean_backward
        shape = (kernel, height_in, width_in, height, width, stride, padding, block, self.lanes)
        grid = (launch.rows, triton.cdiv(values, block))
        return Call(code, grid, self.memory.arena, table, values, *shape, num_warps=2)

    def _conv(self, launch: Launch, tables: tuple[Tensor, ...]) -> Call:
        ci, co, kernel, *_ = shape = launch.shape[:9]
        bci, bco = (min(max(power_of_two(count), 16), _LARGEST_BLOCK) for count in (ci, co))
        blocks_in, blocks_out = triton.cdiv(ci, bci), triton.cdiv(co, bco)
        operations, inputs, *planes = tables
        memory = self.memory
        inner = launch.kernel == "conv_backward_inputs"
        values = self._values(*shape[3:5]) if inner else self._values(*shape[5:7])
        block = max(_block(values, 256 if kernel == 1 and bci * bco <= 1024 else 128), 16)
        if launch.kernel == "conv_backward_weights":
            small = bci * bco <= 512  # one warp each, many at a time
            block = min(block, 64) if small else block
            return Call(
                kernels.conv_backward_weights, (launch.rows, memory.chunks, kernel * kernel * blocks_in * blocks_out),
                memory.arena, memory.sums, inputs, planes[0], operations, values, memory.weights.numel(), *shape, bci,
                bco, block, memory.chunks, memory.precision, num_warps=1 if small else 4, num_stages=2,
            )  # fmt: skip
        if inner:
            grid = (launch.rows, triton.cdiv(values, block), blocks_in)
            arguments = (memory.arena, memory.weights, inputs, *planes, operations, values)
            return Call(kernels.conv_backward_inputs, grid, *arguments, *shape, bci, bco, block, memory.precision)
        tile = launch.shape[10]
        grid = (launch.rows, triton.cdiv(values, tile), blocks_out)
        arguments = (memory.arena, memory.weights, inputs, *planes, operations, memory.partials, values)
        return Call(kernels.conv_forward, grid, *arguments, *shape, bci, bco, tile, memory.precision)

    def _window(self, launch: Launch, tables: tuple[Tensor, ...]) -> Call:
        kernel, height_in, width_in, height, width, stride, padding, mean = launch.shape
        wide_in, wide_out = power_of_two(width_in), power_of_two(width)
        together = max(16 // wide_out, 1)
        inner = launch.kernel == "window_backward_inputs"
        lines = self.batch * (height_in if inner else height)
        count = triton.cdiv(lines, together)
        block = max(_block(count, 128), 16)
        code = getattr(kernels, launch.kernel)
        shape = (kernel, height_in, width_in, height, width, wide_in, wide_out, stride)
        memory = self.memory
        if launch.kernel == "window_backward_weights":
            return Call(
                code, (launch.rows, memory.chunks), memory.arena, memory.sums, tables[0], lines,
                memory.weights.numel(), *shape, together, min(block, 32), memory.chunks, memory.precision, num_warps=1,
                num_stages=2,
            )  # fmt: skip
        grid = (launch.rows, triton.cdiv(count, block))
        settings = (*shape, padding, bool(mean), together, block, memory.precision)
        return Call(code, grid, memory.arena, memory.weights, tables[0], lines, *settings)

    def _largest(self, launch: Launch, tables: tuple[Tensor, ...]) -> Call:
        kernel, height_in, width_in, height, width, stride, padding, _ = launch.shape
        forward = launch.kernel == "largest_forward"
        values = self._values(height, width) if forward else self._values(height_in, width_in)
        block = _block(values, 1024 // self.lanes)
        grid = (launch.rows, triton.cdiv(values, block))
        shape = (kernel, height_in, width_in, height, width, stride, padding, block, self.lanes)
        code = kernels.largest_forward if forward else kernels.largest_backward
        return Call(code, grid, self.memory.arena, self.memory.taps, tables[0], values, *shape)


def _block(values: int, most: int) -> int:
    return min(power_of_two(values), most)
