"""NAS-Bench-301's graph network in torch: the layers whose names and sizes its published weights have."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class NodeEncoder(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.type_encoder = nn.Embedding(4, width)
        self.attribute_encoder = nn.Embedding(8, width)

    def forward(self, kinds: Tensor, degrees: Tensor) -> Tensor:
        features: Tensor = self.type_encoder(kinds) + self.attribute_encoder(degrees)
        return features


class Convolution(nn.Module):
    """A node gets the sum of the rectified (neighbour + edge), itself times 1 + eps added, through a small network."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.mlp = nn.Sequential(
            nn.Linear(width, 2 * width), nn.BatchNorm1d(2 * width), nn.ReLU(), nn.Linear(2 * width, width)
        )
        self.eps = nn.Parameter(torch.zeros(1))
        self.edge_encoder = nn.Embedding(8, width)

    def forward(self, nodes: Tensor, edges: list[tuple[int, int, int]]) -> Tensor:
        gathered = [torch.zeros_like(node) for node in nodes]
        for source, target, kind in edges:
            gathered[target] = gathered[target] + torch.relu(nodes[source] + self.edge_encoder.weight[kind])
        updated: Tensor = self.mlp((1 + self.eps) * nodes + torch.stack(gathered))
        return updated


class NodeNetwork(nn.Module):
    def __init__(self, width: int, layers: int) -> None:
        super().__init__()
        self.virtualnode_embedding = nn.Embedding(1, width)
        self.convs = nn.ModuleList(Convolution(width) for _ in range(layers))
        self.batch_norms = nn.ModuleList(nn.BatchNorm1d(width) for _ in range(layers))
        self.mlp_virtualnode_list = nn.ModuleList(
            nn.Sequential(
                *(nn.Linear(width, 2 * width), nn.BatchNorm1d(2 * width), nn.ReLU()),
                *(nn.Linear(2 * width, width), nn.BatchNorm1d(width), nn.ReLU()),
            )
            for _ in range(layers - 1)
        )

    def forward(self, nodes: Tensor, edges: list[tuple[int, int, int]]) -> Tensor:
        virtual = self.virtualnode_embedding.weight
        for layer, (conv, norm) in enumerate(zip(self.convs, self.batch_norms, strict=True)):
            nodes = nodes + virtual
            if layer < len(self.mlp_virtualnode_list):
                virtual = self.mlp_virtualnode_list[layer](nodes.sum(0, keepdim=True) + virtual)
                nodes = torch.relu(norm(conv(nodes, edges)))
            else:
                nodes = norm(conv(nodes, edges))
        return nodes


class PublishedGIN(nn.Module):
    """The network with weights that no initialisation leaves at zero or one."""

    def __init__(self, width: int, layers: int, *, seed: int) -> None:
        super().__init__()
        self.node_encoder = NodeEncoder(width)
        self.gnn_node = NodeNetwork(width, layers)
        self.graph_pred_linear = nn.Linear(width, 1)
        generator = torch.Generator().manual_seed(seed)
        for name, tensor in self.state_dict().items():
            if tensor.is_floating_point():
                low, high = (0.5, 2.0) if name.endswith("running_var") else (-0.7, 0.7)
                tensor.copy_(torch.rand(tensor.shape, generator=generator) * (high - low) + low)
        self.eval()

    @torch.no_grad()
    def percent(self, kinds: list[int], edges: list[tuple[int, int, int]]) -> float:
        """The answer for nodes of these kinds and edges (source, target, kind), in percent."""
        linked = {*((a, b) for a, b, _ in edges), *((b, a) for a, b, _ in edges)}
        degrees = [sum(source == node for source, _ in linked) for node in range(len(kinds))]
        nodes = self.gnn_node(self.node_encoder(torch.tensor(kinds), torch.tensor(degrees)), edges)
        return 100 * float(torch.sigmoid(self.graph_pred_linear(nodes.mean(0))))
