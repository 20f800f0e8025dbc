"""The graph isomorphism network itself (Xu et al. 2019), with operations on the edges and a virtual node."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from nasbed.spaces.graph import Graphs

MOMENTUM, TINY = 0.1, 1e-5
"""Of the batch norms."""


@dataclass(frozen=True, slots=True)
class GraphBatch:
    """Graphs as tensors. ``incoming`` holds, for each kind of message, a 1 from column ``kind * N + source`` to row
    ``target``; an absent node has label 0 and is masked by ``is_node``."""

    labels: Tensor  # [n, N]
    is_node: Tensor  # [n, N, 1], 1 where there is a node
    in_degrees: Tensor  # [n, N]
    out_degrees: Tensor  # [n, N]
    incoming: Tensor  # [n, N, kinds * N]
    columns: Tensor  # [n, columns], joined at the readout

    @classmethod
    def of(
        cls, graphs: Graphs, columns: NDArray[np.float64], *, undirected: bool, self_loops: bool, device: str = "cpu"
    ) -> GraphBatch:
        """Graphs as tensors.

        Args:
            graphs: The graphs.
            columns: What joins each graph at the readout, ``[n, columns]``.
            undirected: Add each edge reversed, as a kind of message of its own.
            self_loops: Add an edge from each node to itself, as a kind of its own.
            device: Where the tensors are.
        """
        labels = torch.from_numpy(np.ascontiguousarray(graphs.node_labels)).to(device).long()
        edges = torch.from_numpy(np.ascontiguousarray(graphs.edge_labels)).to(device)
        kinds = torch.arange(len(graphs.edge_names), device=device, dtype=edges.dtype).view(1, -1, 1, 1)
        along = edges[:, None] == kinds  # [n, kind, source, target]
        parts = [along]
        if undirected:
            parts.append(along.transpose(2, 3))
        if self_loops:
            parts.append(torch.diag_embed(labels >= 0)[:, None])
        messages = torch.cat(parts, dim=1) if len(parts) > 1 else along
        count, _, slots, _ = messages.shape
        present = edges >= 0
        return cls(
            labels.clamp(min=0),
            (labels >= 0).float()[:, :, None],
            present.sum(dim=1),
            present.sum(dim=2),
            messages.permute(0, 3, 1, 2).reshape(count, slots, -1).float(),
            torch.from_numpy(np.asarray(columns, dtype=np.float32)).to(device),
        )

    def take(self, rows: Tensor) -> GraphBatch:
        """Some of the graphs."""
        return GraphBatch(
            self.labels[rows],
            self.is_node[rows],
            self.in_degrees[rows],
            self.out_degrees[rows],
            self.incoming[rows],
            self.columns[rows],
        )


class NormLayer(nn.Module):
    """A linear map and a batch norm over the rows that are there."""

    mean: Tensor
    variance: Tensor

    def __init__(self, inputs: int, outputs: int, rng: np.random.Generator) -> None:
        super().__init__()
        self.weight = _uniform(rng, inputs, outputs)
        self.gain = nn.Parameter(torch.ones(outputs))
        self.shift = nn.Parameter(torch.zeros(outputs))
        self.register_buffer("mean", torch.zeros(outputs))
        self.register_buffer("variance", torch.ones(outputs))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """``x`` is ``[rows, inputs]``, ``mask`` ``[rows, 1]``."""
        if not self.training:
            scale = self.gain * torch.rsqrt(self.variance + TINY)
            return torch.addmm(self.shift - self.mean * scale, x, self.weight * scale)
        x = x @ self.weight
        weight = torch.full_like(x[:, :1], 1 / len(x)) if mask is None else mask / mask.sum()
        mean = (weight * x).sum(dim=0)
        centred = x - mean
        variance = (weight * centred**2).sum(dim=0)
        with torch.no_grad():
            self.mean.lerp_(mean, MOMENTUM)
            self.variance.lerp_(variance, MOMENTUM)
        return centred * (self.gain * torch.rsqrt(variance + TINY)) + self.shift


class Layer(nn.Module):
    """One round of messages, and what the virtual node makes of it unless it is the last."""

    def __init__(self, hidden: int, kinds: int, rng: np.random.Generator, *, last: bool) -> None:
        super().__init__()
        self.edges = _normal(rng, kinds, hidden)
        self.epsilon = nn.Parameter(torch.zeros(1))
        self.inner = NormLayer(hidden, 2 * hidden, rng)
        self.outer = NormLayer(2 * hidden, hidden, rng)
        self.virtual = (
            None if last else nn.ModuleList([NormLayer(hidden, 2 * hidden, rng), NormLayer(2 * hidden, hidden, rng)])
        )

    def forward(self, x: Tensor, virtual: Tensor, batch: GraphBatch, dropout: Dropout) -> tuple[Tensor, Tensor]:
        """Nodes ``[n, N, hidden]`` and virtual nodes ``[n, hidden]``, updated; both updates are residual."""
        count, _, hidden = x.shape
        states = (x + virtual[:, None]) * batch.is_node
        messages = torch.relu(states[:, None] + self.edges[:, None]).reshape(count, -1, hidden)
        combined = torch.baddbmm((1 + self.epsilon) * states, batch.incoming, messages).view(-1, hidden)
        mask = batch.is_node.reshape(-1, 1)
        update = self.outer(torch.relu(self.inner(combined, mask)), mask)
        if self.virtual is None:
            return (x + dropout(update).view(x.shape)) * batch.is_node, virtual
        inner, outer = self.virtual
        change = torch.relu(outer(torch.relu(inner(virtual + states.sum(dim=1)))))
        return (x + dropout(torch.relu(update)).view(x.shape)) * batch.is_node, virtual + dropout(change)


class Dropout:
    """Sets a share of the values to 0 in training, with a generator of its own."""

    def __init__(self, share: float, generator: torch.Generator | None) -> None:
        self.share, self.generator = share, generator

    def __call__(self, x: Tensor) -> Tensor:
        if self.generator is None or self.share == 0:
            return x
        mask = torch.rand(x.shape, generator=self.generator, device=x.device) >= self.share
        return x * mask / (1 - self.share)


class GINNetwork(nn.Module):
    """Scores graphs: label and degree embeddings, rounds of messages, the mean over the nodes, a linear readout.

    Args:
        labels: How many node labels there are.
        kinds: How many kinds of messages there are.
        slots: How many nodes a graph has at most.
        columns: How many additional features a graph has.
        hidden: The width of the node states.
        layers: The rounds of messages.
        rng: Draws the initial weights.
    """

    def __init__(
        self,
        *,
        labels: int,
        kinds: int,
        slots: int,
        columns: int,
        hidden: int,
        layers: int,
        rng: np.random.Generator,
    ) -> None:
        super().__init__()
        self.labels = _normal(rng, labels, hidden)
        self.in_degrees = _normal(rng, slots + 1, hidden)
        self.out_degrees = _normal(rng, slots + 1, hidden)
        self.virtual = nn.Parameter(torch.zeros(hidden))
        self.layers = nn.ModuleList([Layer(hidden, kinds, rng, last=i == layers - 1) for i in range(layers)])
        self.readout = _uniform(rng, hidden + columns, 1)
        self.bias = nn.Parameter(torch.zeros(1))

    def forward(self, batch: GraphBatch, dropout: Dropout) -> Tensor:
        """A score for each graph, ``[n]``."""
        x = self.labels[batch.labels] + self.in_degrees[batch.in_degrees] + self.out_degrees[batch.out_degrees]
        x = x * batch.is_node
        virtual = self.virtual.expand(len(x), -1)
        for layer in self.layers:
            x, virtual = layer(x, virtual, batch, dropout)
        mean = x.sum(dim=1) / batch.is_node.sum(dim=1)
        scores: Tensor = torch.cat([mean, batch.columns], dim=1) @ self.readout + self.bias
        return scores[:, 0]


def ranking_loss(scores: Tensor, targets: Tensor, margin: float) -> Tensor:
    """The mean hinge over all pairs whose first has the higher target (GATES, Ning et al. 2020)."""
    first = (targets[:, None] > targets[None, :]).to(scores.dtype)
    hinge = torch.relu(margin - (scores[:, None] - scores[None, :]))
    return (hinge * first).sum() / first.sum().clamp(min=1)


def _uniform(rng: np.random.Generator, inputs: int, outputs: int) -> nn.Parameter:
    limit = 1 / math.sqrt(inputs)
    return nn.Parameter(torch.from_numpy(rng.uniform(-limit, limit, (inputs, outputs)).astype(np.float32)))


def _normal(rng: np.random.Generator, rows: int, width: int) -> nn.Parameter:
    return nn.Parameter(torch.from_numpy((0.5 * rng.normal(size=(rows, width))).astype(np.float32)))
