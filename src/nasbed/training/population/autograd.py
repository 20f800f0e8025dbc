"""Programs run by torch's own operations, on any device: the plain way, to which the kernels are held."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from nasbed.training.images import TrainingImages
from nasbed.training.population.program import Combine, Conv, Depthwise, NetworkProgram, Norm, Planes, Pool
from nasbed.training.population.stages import Row, Stage, stages
from nasbed.training.population.tracing import pooled
from nasbed.training.population.work import TimedLaunch
from nasbed.training.random_streams import EpochDraws
from nasbed.training.recipe import Recipe


class AutogradExecutor:
    """Networks of one population, their parameters ``[networks, most parameters]`` and running statistics.

    Each stage is one torch operation on the channels of all its networks, convolutions as groups; the gradient is
    torch's.
    """

    def __init__(self, programs: Sequence[NetworkProgram], parameters: Tensor, *, batch: int = 1) -> None:
        self.programs, self.parameters, self.batch = programs, parameters, batch
        self.device = parameters.device
        self.stages = [stage for wave in stages(programs) for stage in wave]
        channels = max(program.norm_channels for program in programs)
        self.running_mean = parameters.new_zeros(len(programs), channels)
        self.running_var = parameters.new_ones(len(programs), channels)
        self._velocity = torch.zeros_like(parameters)
        self._gradient = torch.zeros_like(parameters)
        self._images = parameters.new_zeros(0)

    def draw(self, images: TrainingImages, draws: EpochDraws, first: Tensor) -> Tensor:
        """Take the next batch of every network and give its labels."""
        indices = first + torch.arange(self.batch, device=self.device)
        selection = EpochDraws(*(getattr(draws, item.name).index_select(-1, indices) for item in fields(EpochDraws)))
        self._images, labels = images.batch(selection, 0, self.batch)
        return labels

    def place(self, images: Tensor) -> None:
        """Take images ``[networks, images, channels, height, width]``."""
        self._images = images

    def logits(self, *, training: bool) -> Tensor:
        """``[networks, images, classes]`` of the images taken last."""
        return ForwardPass(self, self.parameters, self._images, training).run()

    def state(self) -> list[Tensor]:
        """All that a training step changes and must find as it left it."""
        return [self.parameters, self._velocity, self.running_mean, self.running_var]

    def backward(self, labels: Tensor, *, smoothing: float = 0.0) -> tuple[Tensor, Tensor]:
        """The mean cross entropy of each network on its own batch, and how many of the images it names correctly."""
        leaf = self.parameters.detach().requires_grad_()
        logits = ForwardPass(self, leaf, self._images, True).run()
        losses = functional.cross_entropy(
            logits.flatten(0, 1), labels.flatten(), label_smoothing=smoothing, reduction="none"
        )
        losses = losses.view(labels.shape).mean(1)
        (self._gradient,) = torch.autograd.grad(losses.sum(), leaf)
        return losses.detach(), (logits.argmax(-1) == labels).sum(1)

    def gradient(self) -> Tensor:
        """The gradient of the last backward pass."""
        return self._gradient

    def update(self, recipe: Recipe, rate: Tensor) -> None:
        """A step of SGD as torch's own takes it, each network's gradient clipped by its own length."""
        gradient = self._gradient
        if recipe.gradient_clip is not None:
            lengths = gradient.square().sum(1, keepdim=True).sqrt()
            gradient = gradient * (recipe.gradient_clip / (lengths + 1e-6)).clamp(max=1.0)
        gradient = gradient + recipe.weight_decay * self.parameters
        self._velocity.mul_(recipe.momentum).add_(gradient)
        self.parameters.sub_(
            rate * (gradient + recipe.momentum * self._velocity if recipe.nesterov else self._velocity)
        )

    def launch_times(self) -> list[TimedLaunch]:
        """What each stage takes alone, forward and backward."""
        from nasbed.training.population.stage_times import stage_times

        return stage_times(self, self._images)

    def shares(self) -> list[float]:
        """What part of the time each network takes: here, of all values that its operations write."""
        pixels = [sum(height * width for height, width in program.sides) for program in self.programs]
        return [count / sum(pixels) for count in pixels]


class ForwardPass:
    """One forward pass: where each plane is, among the tensors computed so far."""

    def __init__(self, executor: AutogradExecutor, parameters: Tensor, images: Tensor, training: bool) -> None:
        self.executor, self.parameters, self.training = executor, parameters, training
        count, batch, channels = images.shape[:3]
        self.tensors = [images.transpose(0, 1).reshape(batch, count * channels, *images.shape[3:])]
        self.plane_places = [np.zeros((len(program.sides), 2), dtype=np.int64) for program in executor.programs]
        for number, places in enumerate(self.plane_places):
            places[:channels, 1] = np.arange(channels) + number * channels
        shape = executor.running_mean.shape
        self.scale, self.shift = (parameters.new_zeros(shape).view(-1) for _ in range(2))

    def run(self) -> Tensor:
        """The logits."""
        for stage in self.executor.stages:
            self.run_stage(stage)
        return self.head()

    def run_stage(self, stage: Stage) -> None:
        """Compute what a stage writes."""
        run = {
            Conv: self._conv,
            Depthwise: self._depthwise,
            Pool: self._pool,
            Norm: self._norm,
            Combine: self._combine,
        }
        run[stage.kind](stage)

    def leaves(self) -> list[Tensor]:
        """All that a stage may have a gradient for: parameters, normalisations and planes, but for the images."""
        return [self.parameters, self.scale, self.shift, *self.tensors[1:]]

    def cut(self) -> None:
        """Make what was computed so far the leaves of a new graph."""
        self.tensors[1:] = [tensor.detach().requires_grad_() for tensor in self.tensors[1:]]
        self.scale, self.shift = (values.detach().requires_grad_() for values in (self.scale, self.shift))

    def _gathered(self, inputs: Sequence[tuple[int, Planes]]) -> Tensor:
        """Planes of networks as channels, in this order."""
        places = np.concatenate([self.plane_places[number][list(planes)] for number, planes in inputs])
        sources = [int(source) for source in np.unique(places[:, 0])]
        if len(sources) == 1:
            return self.tensors[sources[0]].index_select(1, self._index(places[:, 1]))
        parts, order, start = [], np.empty(len(places), dtype=np.int64), 0
        for source in sources:
            rows = np.flatnonzero(places[:, 0] == source)
            parts.append(self.tensors[source].index_select(1, self._index(places[rows, 1])))
            order[rows] = start + np.arange(len(rows))
            start += len(rows)
        return torch.cat(parts, dim=1).index_select(1, self._index(order))

    def _index(self, places: NDArray[np.int64]) -> Tensor:
        return torch.from_numpy(places).to(self.executor.device)

    def _keep(self, tensor: Tensor, outputs: Sequence[tuple[int, Planes]]) -> None:
        start = 0
        for number, planes in outputs:
            self.plane_places[number][list(planes), 0] = len(self.tensors)
            self.plane_places[number][list(planes), 1] = start + np.arange(len(planes))
            start += len(planes)
        self.tensors.append(tensor)

    def _weights(self, places: NDArray[np.int64]) -> Tensor:
        """Parameters by place among those of all networks."""
        return self.parameters.reshape(-1).index_select(0, self._index(places.reshape(-1)))

    def _place(self, number: int) -> int:
        return number * self.parameters.shape[1]

    def _conv(self, stage: Stage) -> None:
        rows = [(number, op) for number, op in stage.rows if isinstance(op, Conv)]
        first = rows[0][1]
        outputs, inputs, kernel = len(first.outputs), len(first.inputs), first.kernel
        count = outputs * inputs * kernel * kernel
        places = np.array([self._place(number) + op.weight for number, op in rows])[:, None] + np.arange(count)
        x = self._gathered([(number, op.inputs) for number, op in rows])
        x = torch.relu(x) if first.relu else x
        weights = self._weights(places).view(len(rows) * outputs, inputs, kernel, kernel)
        below, right = (
            (side_out - 1) * first.stride + kernel - side_in + first.shift
            for side_in, side_out in zip(first.side_in, first.side_out, strict=True)
        )
        x = functional.pad(x, (-first.shift, right, -first.shift, below))
        x = functional.conv2d(x, weights, stride=first.stride, groups=len(rows))
        self._keep(x, [(number, op.outputs) for number, op in rows])

    def _depthwise(self, stage: Stage) -> None:
        for same in _split(stage.rows, lambda op: (op.stride, op.dilation, op.relu)):
            first = same[0][1]
            assert isinstance(first, Depthwise)
            places = np.concatenate(
                [
                    self._place(number) + op.weight + np.arange(len(op.inputs) * op.kernel**2)  # type: ignore[union-attr]
                    for number, op in same
                ]
            )
            x = self._gathered([(number, op.inputs) for number, op in same])  # type: ignore[union-attr]
            x = torch.relu(x) if first.relu else x
            padding = first.dilation * (first.kernel // 2)
            weights = self._weights(places).view(-1, 1, first.kernel, first.kernel)
            self._keep(
                functional.conv2d(x, weights, None, first.stride, padding, first.dilation, groups=x.shape[1]),
                [(number, op.outputs) for number, op in same],  # type: ignore[union-attr]
            )

    def _pool(self, stage: Stage) -> None:
        for same in _split(stage.rows, lambda op: (op.stride, op.padding, op.largest)):
            first = same[0][1]
            assert isinstance(first, Pool)
            x = self._gathered([(number, op.inputs) for number, op in same])  # type: ignore[union-attr]
            windows = first.kernel, first.stride, first.padding
            upwards = first.side_out != tuple(pooled(side, *windows, ceil_mode=False) for side in first.side_in)
            if first.largest:
                result = functional.max_pool2d(x, *windows, ceil_mode=upwards)
            else:
                result = functional.avg_pool2d(x, *windows, ceil_mode=upwards, count_include_pad=False)
            self._keep(result, [(number, op.outputs) for number, op in same])  # type: ignore[union-attr]

    def _norm(self, stage: Stage) -> None:
        executor = self.executor
        width = executor.running_mean.shape[1]
        norms = [(number, op) for number, op in stage.rows if isinstance(op, Norm)]
        spans = [np.arange(len(op.inputs)) for _, op in norms]

        def places(starts: Sequence[int]) -> NDArray[np.int64]:
            return np.concatenate([start + span for start, span in zip(starts, spans, strict=True)])

        channels = self._index(places([number * width + op.channels for number, op in norms]))
        epsilon, momentum = norms[0][1].epsilon, norms[0][1].momentum
        if self.training:
            x = self._gathered([(number, op.inputs) for number, op in norms])
            mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3), correction=0)
            values = x.numel() // x.shape[1]
            with torch.no_grad():
                for running, now in (
                    (executor.running_mean, mean),
                    (executor.running_var, var * (values / max(values - 1, 1))),
                ):
                    flat = running.view(-1)
                    flat[channels] = (1 - momentum) * flat[channels] + momentum * now
        else:
            mean, var = executor.running_mean.view(-1)[channels], executor.running_var.view(-1)[channels]
        weight = self._weights(places([self._place(number) + op.weight for number, op in norms]))
        bias = self._weights(places([self._place(number) + op.bias for number, op in norms]))
        scale = weight * torch.rsqrt(var + epsilon)
        self.scale = self.scale.index_put((channels,), scale)
        self.shift = self.shift.index_put((channels,), bias - mean * scale)

    def _combine(self, stage: Stage) -> None:
        width = self.executor.running_mean.shape[1]
        for same in _split(stage.rows, lambda op: tuple((term.norm >= 0, term.relu) for term in op.terms)):
            rows = [(number, op) for number, op in same if isinstance(op, Combine)]
            first = rows[0][1]
            channels = sum(len(op.outputs) for _, op in rows)
            total = self.tensors[0].new_zeros(len(self.tensors[0]), channels, *first.side)
            for place, kind in enumerate(first.terms):
                x = self._gathered([(number, op.terms[place].planes) for number, op in rows])
                if kind.norm >= 0:
                    norms = np.concatenate(
                        [number * width + op.terms[place].norm + np.arange(len(op.outputs)) for number, op in rows]
                    )
                    index = self._index(norms)
                    x = x * self.scale[index][:, None, None] + self.shift[index][:, None, None]
                total = total + (torch.relu(x) if kind.relu else x)
            self._keep(total, [(number, op.outputs) for number, op in rows])

    def head(self) -> Tensor:
        """The logits, once every stage has run."""
        heads = [program.head for program in self.executor.programs]
        features = self._gathered([(number, head.inputs) for number, head in enumerate(heads)]).mean((2, 3))
        width, classes = len(heads[0].inputs), heads[0].classes
        features = features.view(len(features), len(heads), width).transpose(0, 1)
        starts = np.array([self._place(number) for number in range(len(heads))])[:, None]
        weights = np.array([head.weight for head in heads])[:, None] + starts + np.arange(classes * width)
        biases = np.array([head.bias for head in heads])[:, None] + starts + np.arange(classes)
        matrix = self._weights(weights).view(len(heads), classes, width)
        return torch.baddbmm(self._weights(biases).view(len(heads), 1, classes), features, matrix.transpose(1, 2))


def _split(rows: Sequence[Row], key: object) -> list[list[Row]]:
    """Rows that also agree in what one torch operation cannot vary."""
    groups: dict[object, list[Row]] = {}
    for row in rows:
        groups.setdefault(key(row[1]), []).append(row)  # type: ignore[operator]
    return list(groups.values())
