"""Write graph networks of random weights in the published layout, with what the published package answers for them.

Run it where the package nasbench301 0.3, torch, PyTorch Geometric 2.6 and networkx are installed, not nasbed.
"""

from __future__ import annotations

import importlib.util
import json
import random
import sys
from itertools import product
from pathlib import Path
from types import ModuleType

import torch
import torch_geometric.utils
from torch_geometric.data import Batch

MEMBERS, ASKED = 3, 30
add_loops = torch_geometric.utils.add_remaining_self_loops
torch_geometric.utils.add_remaining_self_loops = lambda edge_index, edge_weight, fill_value: add_loops(
    edge_index, edge_attr=edge_weight, fill_value=fill_value
)  # the argument had another name then

ROOT = Path(importlib.util.find_spec("nasbench301").origin).parent
for name in ("", ".surrogate_models", ".surrogate_models.gnn", ".surrogate_models.gnn.models"):
    package = ModuleType(f"nasbench301{name}")  # without its imports of the other models
    package.__path__ = [str(ROOT.joinpath(*name.split(".")))]
    sys.modules[package.__name__] = package
from nasbench301.representations import OPS, Genotype, convert_genotype_to_config  # noqa: E402
from nasbench301.surrogate_models.gnn.gnn_utils import NASBenchDataset  # noqa: E402
from nasbench301.surrogate_models.gnn.models.gincnn import GIN  # noqa: E402


class Configuration(dict):
    @property
    def _values(self):
        return self


def random_genotype(rng):
    cells = [
        [(rng.choice(OPS), source) for node in range(4) for source in sorted(rng.sample(range(node + 2), 2))]
        for _ in range(2)
    ]
    return Genotype(cells[0], [2, 3, 4, 5], cells[1], [2, 3, 4, 5])


def random_network(config, seed):
    network = GIN(dim_features=2, dim_target=1, model_config=config)
    generator = torch.Generator().manual_seed(seed)
    for name, tensor in network.state_dict().items():
        if tensor.is_floating_point():
            low, high = (0.5, 2.0) if name.endswith("running_var") else (-0.6, 0.6)
            tensor.copy_(torch.rand(tensor.shape, generator=generator) * (high - low) + low)
    network.graph_pred_linear.weight.data /= 1000 if config["graph_pooling"] == "sum" else 10
    return network.eval()


def main(folder):
    rng = random.Random(2)
    genotypes = [random_genotype(rng) for _ in range(ASKED)]
    expected = {"genotypes": genotypes, "answers": {}}
    for loops, undirected, pooling in product((True, False), (True, False), ("mean", "sum", "max")):
        config = {
            **{"model": "gnn_gin", "gnn_hidden_dimensions": 24, "num_gnn_layers": 4, "dropout_prob": 0.1},
            **{"virtual_node": True, "graph_pooling": pooling, "graph_preprocessing:self_loops": loops},
            "graph_preprocessing:undirected_graph": undirected,
            "graph_preprocessing:add_node_degree_one_hot": True,
        }
        dataset = NASBenchDataset.__new__(NASBenchDataset)
        dataset.model_config = config
        ensemble = folder / f"gnn_gin_{pooling}_{loops}_{undirected}_v1.0"
        networks = [random_network(config, seed) for seed in range(MEMBERS)]
        for number, network in enumerate(networks):
            member = ensemble / f"ensemble_member_{number}"
            member.mkdir(parents=True)
            zipped = number % 2 == 0
            weights = network.state_dict()
            torch.save(weights, member / "surrogate_model.model", _use_new_zipfile_serialization=zipped)
            (member / "model_config.json").write_text(json.dumps(config))
            (member / "data_config.json").write_text(json.dumps({"seed": 1}))
        graphs = [
            dataset.config_space_instance_to_pytorch_geometric_instance(Configuration(convert_genotype_to_config(one)))
            for one in genotypes
        ]
        with torch.no_grad():
            answers = [
                sum(100 * float(network(graph_batch=Batch.from_data_list([graph]))) for network in networks) / MEMBERS
                for graph in graphs
            ]
        expected["answers"][ensemble.name] = [None, answers]
    (folder / "expected.json").write_text(json.dumps(expected))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
