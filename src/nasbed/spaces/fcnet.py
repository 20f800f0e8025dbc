"""The space of NAS-HPO-Bench: two-layer networks together with how they are trained."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidArchitecture, ParseError, shorten
from nasbed.spaces.base import Batch
from nasbed.spaces.choice import ChoiceSpace
from nasbed.spaces.graph import ABSENT, Diagram, Graphs, Node, chain_links

HYPERPARAMETERS: dict[str, tuple[str, ...] | tuple[int, ...] | tuple[float, ...]] = {
    "activation_fn_1": ("relu", "tanh"),
    "activation_fn_2": ("relu", "tanh"),
    "batch_size": (8, 16, 32, 64),
    "dropout_1": (0.0, 0.3, 0.6),
    "dropout_2": (0.0, 0.3, 0.6),
    "init_lr": (0.0005, 0.001, 0.005, 0.01, 0.05, 0.1),
    "lr_schedule": ("cosine", "const"),
    "n_units_1": (16, 32, 64, 128, 256, 512),
    "n_units_2": (16, 32, 64, 128, 256, 512),
}
"""Name and values, in the order of the code."""

_NETWORK = ("n_units_1", "activation_fn_1", "dropout_1", "n_units_2", "activation_fn_2", "dropout_2")
_TRAINING = ("batch_size", "init_lr", "lr_schedule")
_PAIR = re.compile(r"\s*(\w{1,20})\s*=\s*([\w.+-]{1,20})\s*")


class FCNet(ChoiceSpace):
    """Two hidden layers (units, activation, dropout each) and their training (batch size, learning rate, schedule).

    ``code[i]`` indexes the values of ``choice_names[i]``, in the alphabetical order of the names. The native form is
    the published configuration, a dictionary of values.

    >>> space = FCNet()
    >>> space.format(space.from_options([0, 1, 0, 0, 1, 2, 0, 4, 5]))[:42]
    'activation_fn_1=relu,activation_fn_2=tanh,'
    >>> space.size
    62208
    """

    name = "fcnet"
    title = "NAS-HPO-Bench: two dense layers and how they are trained"
    citation = (
        "Klein & Hutter, Tabular Benchmarks for Joint Architecture and Hyperparameter Optimization, 2019, "
        "arXiv:1905.04970"
    )
    choice_names = tuple(HYPERPARAMETERS)
    choices = tuple(tuple(map(str, values)) for values in HYPERPARAMETERS.values())

    def format(self, arch: Architecture) -> str:
        pairs = zip(self.choice_names, self.to_options(arch), strict=True)
        return ",".join(f"{name}={option}" for name, option in pairs)

    def parse(self, text: str) -> Architecture:
        """Reads ``activation_fn_1=relu,…,n_units_2=512``, in any order; each hyperparameter once."""
        parts = text.split(",") if isinstance(text, str) else []
        pairs = [(match[1], match[2]) for match in map(_PAIR.fullmatch, parts) if match]
        values = dict(pairs)
        if len(pairs) != len(parts) or len(values) != len(pairs) or set(values) != set(self.choice_names):
            raise ParseError(
                f"an {self.name} text sets each of {', '.join(self.choice_names)} once, as in "
                f"activation_fn_1=relu,…,n_units_2=512, got {shorten(text)}"
            )
        return self.from_options([values[name] for name in self.choice_names])

    def to_native(self, arch: Architecture) -> dict[str, str | int | float]:
        """The published configuration: names and values."""
        return {name: values[choice] for (name, values), choice in zip(HYPERPARAMETERS.items(), arch.code, strict=True)}

    def from_native(self, obj: Any) -> Architecture:
        if not isinstance(obj, Mapping) or set(obj) != set(self.choice_names):
            raise ParseError(
                f"an {self.name} configuration maps {', '.join(self.choice_names)} to values, got {shorten(obj)}"
            )
        code = []
        for name, values in HYPERPARAMETERS.items():
            kind = str if isinstance(values[0], str) else (int, float, np.integer, np.floating)
            matches = [choice for choice, value in enumerate(values) if value == obj[name]]
            if not matches or not isinstance(obj[name], kind) or isinstance(obj[name], bool):
                raise InvalidArchitecture(
                    f"{self.name}'s {name} is one of {', '.join(map(str, values))}, got {shorten(obj[name])}"
                )
            code.append(matches[0])
        return Architecture(self.name, tuple(code))

    def parameters(self, archs: Batch, features: int) -> NDArray[np.int64]:
        """Weights and biases of networks with that many input features and one output."""
        codes = self.codes(archs)
        first, second = (
            np.array(HYPERPARAMETERS[name], dtype=np.int64)[codes[:, self.choice_names.index(name)]]
            for name in ("n_units_1", "n_units_2")
        )
        total: NDArray[np.int64] = (features + 1) * first + (first + 1) * second + second + 1
        return total

    def graphs(self, archs: Batch) -> Graphs:
        """The network as a chain from input to output, a node ``name=value`` for each of its hyperparameters; the nodes
        of the training hang on the output."""
        codes = self.codes(archs)
        names = [f"{name}={value}" for name, values in HYPERPARAMETERS.items() for value in values]
        first = dict(zip(HYPERPARAMETERS, np.cumsum([0, *map(len, self.choices[:-1])]).tolist(), strict=True))
        order = ("", *_NETWORK, "", *_TRAINING)
        output = len(_NETWORK) + 1
        nodes = np.empty((len(codes), len(order)), dtype=np.int8)
        for slot, name in enumerate(order):
            if name:
                nodes[:, slot] = codes[:, self.choice_names.index(name)] + first[name]
        nodes[:, 0], nodes[:, output] = len(names), len(names) + 1
        edges = np.full((len(codes), len(order), len(order)), ABSENT, dtype=np.int8)
        edges[:, np.arange(output), np.arange(1, output + 1)] = 0
        edges[:, output + 1 :, output] = 0
        return Graphs(nodes, edges, node_names=(*names, "input", "output"), edge_names=("edge",))

    def diagrams(self, arch: Architecture) -> tuple[Diagram, ...]:
        """One picture: the layers in a row, the training below."""
        value = self.to_native(arch)
        layers = [f"{value[f'n_units_{i}']} {value[f'activation_fn_{i}']}" for i in (1, 2)]
        nodes = [Node("input", "input", "input", at=(0, 0))]
        for i, label in enumerate(layers, start=1):
            nodes.append(Node(f"layer_{i}", label, at=(2 * i - 1, 0)))
            nodes.append(Node(f"dropout_{i}", f"dropout {value[f'dropout_{i}']}", at=(2 * i, 0)))
        nodes.append(Node("output", "output", "output", at=(5, 0)))
        edges = [*chain_links(nodes)]
        training = [Node(name, f"{name} {value[name]}", at=(2 + place, 1)) for place, name in enumerate(_TRAINING)]
        edges += [(node.id, "output") for node in training]
        return (Diagram("NAS-HPO-Bench network", (*nodes, *training), tuple(edges)),)
