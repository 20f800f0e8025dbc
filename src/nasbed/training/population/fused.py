"""Programs run by our own kernels on a CUDA device: one launch a stage, no copies between, no graph of autograd."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from torch import Tensor

from nasbed.training.images import TrainingImages
from nasbed.training.population import kernels
from nasbed.training.population.calls import Call, Calls, Memory
from nasbed.training.population.launches import PopulationLayout
from nasbed.training.population.memory_layout import PARAMETER_BLOCK
from nasbed.training.population.tiles import power_of_two
from nasbed.training.population.work import MEANS, MEANS_BACKWARD, TimedLaunch, launch_kind, launch_units
from nasbed.training.random_streams import EpochDraws
from nasbed.training.recipe import Recipe

_STREAMS = 6
_MANY = 128
"""From this many networks on, launches have enough rows, and sums over pixels need fewer parts."""


class FusedExecutor:
    """As :class:`AutogradExecutor`, for a layout and the weights that it packed, which change in place. Activations are
    kept in ``dtype``, everything that is summed up and all parameters in float32. Every call works in the same memory,
    so that a CUDA graph can be made of it."""

    def __init__(self, layout: PopulationLayout, weights: Tensor, *, dtype: torch.dtype = torch.bfloat16) -> None:
        self.layout, self.programs, self.batch = layout, layout.programs, layout.batch
        self.device = device = weights.device
        programs, batch, count = self.programs, self.batch, len(self.programs)

        def zeros(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
            return torch.zeros(*shape, dtype=dtype, device=device)

        def per_channel() -> Tensor:
            return zeros(count, layout.norms)

        self.running_mean, self.running_var = per_channel(), per_channel() + 1
        self.memory = Memory(
            arena=zeros(layout.size, dtype=dtype),
            weights=weights,
            packed=weights if dtype == torch.float32 else weights.to(dtype),
            sums=zeros(4 if count >= _MANY else kernels.CHUNKS, layout.parameters),
            partials=zeros(max(layout.partials, 1)),
            taps=zeros(max(layout.tap_count, 1), dtype=torch.int8),
            running=(self.running_mean, self.running_var),
            norms=(per_channel(), per_channel(), per_channel(), per_channel()),
        )
        self._velocity = torch.zeros_like(weights)
        self._images = torch.from_numpy(layout.images).to(device)
        blocks = layout.offsets // PARAMETER_BLOCK
        self._blocks = torch.from_numpy(blocks).to(device)
        self._owners = torch.from_numpy(np.repeat(np.arange(count), np.diff(blocks))).to(device)
        self._squares, self._factors = zeros(int(blocks[-1])), zeros(count)

        heads = [program.head for program in programs]
        width, self._classes = len(heads[0].inputs), heads[0].classes
        self._features, self._feature_gradients = zeros(count, width, batch), zeros(count, width, batch)
        first_weights, first_biases = (
            torch.tensor([layout.parameter(number, getattr(head, name)) for number, head in enumerate(heads)])[:, None]
            for name in ("weight", "bias")
        )
        self._head_weights = (first_weights + torch.arange(self._classes * width)).to(device)
        self._head_biases = (first_biases + torch.arange(self._classes)).to(device)

        make = Calls(self.memory, batch=batch, lanes=layout.lanes)
        table = torch.from_numpy(layout.features).to(device)
        self._forward = [[make.call(launch) for launch in wave] for wave in layout.forward]
        self._judging = [
            [
                make.call(launch, training=False) if launch.kernel == "norm_forward" else call
                for launch, call in zip(wave, calls, strict=True)
            ]
            for wave, calls in zip(layout.forward, self._forward, strict=True)
        ]
        averaging = [make.means(kernels.mean_forward, table, self._features, layout.side)]
        self._forward.append(averaging)
        self._judging.append(averaging)
        self._backward = [[make.means(kernels.mean_backward, table, self._feature_gradients, layout.side)]]
        self._backward += [[make.call(launch) for launch in wave] for wave in layout.backward]
        cuda = self.device.type == "cuda"
        self._streams = [torch.cuda.Stream() for _ in range(_STREAMS)] if cuda else []  # type: ignore[no-untyped-call]
        self._compile()

    def _compile(self) -> None:
        """Compile every kernel that will be needed, on all cores."""
        if not hasattr(kernels.combine, "warmup") or self.device.type != "cuda":
            return
        calls = [call for waves in (self._forward, self._judging, self._backward) for wave in waves for call in wave]
        variants = {call.compiled_for(): call for call in calls}
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(Call.compile, variants.values()))

    def _run(self, waves: Sequence[Sequence[Call]]) -> None:
        """Calls of one wave run side by side, so that a small one does not leave the device idle."""
        for wave in waves:
            if len(wave) == 1 or not self._streams:
                for call in wave:
                    call()
                continue
            caller = torch.cuda.current_stream()
            used = self._streams[: len(wave)]
            for stream in used:
                stream.wait_stream(caller)
            for number, call in enumerate(wave):
                with torch.cuda.stream(used[number % len(used)]):
                    call()
            for stream in used:
                caller.wait_stream(stream)

    def state(self) -> list[Tensor]:
        """All tensors that a training step reads and changes."""
        memory = self.memory
        packed = [] if memory.packed is memory.weights else [memory.packed]
        return [memory.weights, *packed, self._velocity, self.running_mean, self.running_var]

    def draw(self, images: TrainingImages, draws: EpochDraws, first: Tensor) -> Tensor:
        """Take the next batch of every network and give its labels."""
        channels, height, width = images.padded.shape[1], *images.side
        values, epoch = self.batch * height * width, draws.order.shape[-1]
        block = min(power_of_two(values), 512)
        lanes = self.layout.lanes
        kernels.draw_pictures[(len(self._images), -(-values // block))](
            self.memory.arena, self._images, images.padded, draws.order, draws.top, draws.left, draws.mirrored,
            draws.cut_row, draws.cut_column, first, images.mean, images.std, images.scale, epoch, channels, height,
            width, images.padding, images.cutout, values, block, lanes,
        )  # fmt: skip
        indices = first + torch.arange(self.batch, device=self.device)
        return images.labels[draws.order.index_select(-1, indices)]

    def logits(self, *, training: bool) -> Tensor:
        """``[networks, images, classes]`` of the images taken last."""
        self._run(self._forward if training else self._judging)
        biases = self.memory.weights[self._head_biases]
        return torch.baddbmm(biases[:, None], self._features.transpose(1, 2), self._head_matrix().transpose(1, 2))

    def place(self, images: Tensor) -> None:
        """Take images ``[networks, images, channels, height, width]``."""
        count, batch, channels, height, width = images.shape
        lanes = self.layout.lanes
        bundles = -(-channels // lanes)
        places = self.layout.images
        span = int(places[1] - places[0]) if len(places) > 1 else batch * height * width * lanes
        values = self.memory.arena[: len(places) * span].view(count, bundles, span)[
            ..., : batch * height * width * lanes
        ]
        values = values.view(count, bundles, batch, height, width, lanes)
        for bundle in range(bundles):
            lanes_of_images = images[:, :, bundle * lanes : (bundle + 1) * lanes].permute(0, 1, 3, 4, 2)
            values[:, bundle, ..., : lanes_of_images.shape[-1]].copy_(lanes_of_images)

    def _head_matrix(self) -> Tensor:
        return self.memory.weights[self._head_weights].view(len(self.programs), self._classes, -1)

    def backward(self, labels: Tensor, *, smoothing: float = 0.0) -> tuple[Tensor, Tensor]:
        """The mean cross entropy of each network on the images taken last, and how many of them it names correctly."""
        logits = self.logits(training=True)
        log_odds = torch.log_softmax(logits, dim=-1)
        target = torch.full_like(log_odds, smoothing / self._classes)
        target.scatter_add_(2, labels[..., None], torch.full_like(log_odds[..., :1], 1 - smoothing))
        losses = -(target * log_odds).sum(-1).mean(1)
        gradient = (log_odds.exp() - target) / self.batch
        self._feature_gradients.copy_(torch.bmm(gradient, self._head_matrix()).transpose(1, 2))
        self._run(self._backward)
        sums = self.memory.sums[0]
        sums[self._head_weights] = torch.bmm(gradient.transpose(1, 2), self._features.transpose(1, 2)).flatten(1)
        sums[self._head_biases] = gradient.sum(1)
        return losses, (logits.argmax(-1) == labels).sum(1)

    def gradient(self) -> Tensor:
        """The gradient of the last backward pass, in the order of the networks' own parameters."""
        layout = self.layout
        total = self.memory.sums.sum(0)
        gradient = total.new_zeros(len(self.programs), max(program.parameters for program in self.programs))
        for number, packing in enumerate(layout.packings):
            places = torch.from_numpy(layout.offsets[number] + packing.places()).to(self.device)
            gradient[number, : len(places)] = total[places]
        return gradient

    def update(self, recipe: Recipe, rate: Tensor) -> None:
        """A step of SGD as torch's own takes it, each network's gradient clipped by its own length."""
        memory = self.memory
        size, grid = memory.weights.numel(), (len(self._owners),)
        if recipe.gradient_clip is not None:
            kernels.squared_lengths[grid](memory.sums, self._squares, size, memory.chunks, PARAMETER_BLOCK)
            kernels.clipping[(len(self.programs),)](
                self._squares, self._blocks, self._factors, recipe.gradient_clip, PARAMETER_BLOCK
            )
        kernels.update[grid](
            memory.weights, memory.packed, self._velocity, memory.sums, self._factors, self._owners, rate, size,
            recipe.momentum, recipe.weight_decay, recipe.nesterov, recipe.gradient_clip is not None,
            memory.packed is not memory.weights, memory.chunks, PARAMETER_BLOCK,
        )  # fmt: skip

    def launch_times(self) -> list[TimedLaunch]:
        """Every launch of a forward and backward pass, timed alone and in order. Running statistics stay as they
        are."""
        forward, backward = (
            [launch for wave in waves for launch in wave] for waves in (self.layout.forward, self.layout.backward)
        )
        networks = len(self.programs)
        work = [(launch_kind(launch), launch_units(launch, networks)) for launch in (*forward, *backward)]
        work[len(forward) : len(forward)] = [(kind, np.ones(networks)) for kind in (MEANS, MEANS_BACKWARD)]
        calls = [call for waves in (self._forward, self._backward) for wave in waves for call in wave]
        marks = [torch.cuda.Event(enable_timing=True) for _ in range(len(calls) + 1)]  # type: ignore[no-untyped-call]
        statistics = self.running_mean.clone(), self.running_var.clone()
        # the launches queue up behind a pause, so that no time between them is measured
        torch.cuda._sleep(200_000_000)  # type: ignore[no-untyped-call]
        marks[0].record()
        for call, mark in zip(calls, marks[1:], strict=True):
            call()
            mark.record()
        torch.cuda.synchronize()
        self.running_mean.copy_(statistics[0])
        self.running_var.copy_(statistics[1])
        return [
            TimedLaunch(kind, units, before.elapsed_time(after) / 1000)
            for (kind, units), before, after in zip(work, marks, marks[1:], strict=False)
        ]

    def shares(self) -> list[float]:
        """What part of the time each network takes: that of every launch is measured, and divided by units."""
        cost = np.zeros(len(self.programs))
        for launch in self.launch_times():
            cost += launch.seconds * launch.units / launch.units.sum()
        return [float(share) for share in cost / cost.sum()]
