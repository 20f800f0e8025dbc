"""Optimizers that load no compiler move weights as torch's do, to the bit."""

from __future__ import annotations

import pickle
from copy import deepcopy
from subprocess import PIPE
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs torch")

from torch import nn  # noqa: E402

from nasbed.networks import eager_optimizers  # noqa: E402
from nasbed.training import load_recipe  # noqa: E402
from nasbed.training.optimizers import recipe_optimizer  # noqa: E402
from support.forks import fork_script  # noqa: E402


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 1e-3}),
        ("Adam", {"lr": 0.1, "betas": (0.5, 0.999)}),
        ("AdamW", {"lr": 0.1, "weight_decay": 0.1}),
    ],
)
def test_eager_optimizer_moves_weights_as_torch_does_to_the_bit(kind: str, settings: dict[str, Any]) -> None:
    network = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 2))
    weights = []
    for module in (torch.optim, eager_optimizers):
        copy = deepcopy(network)
        optimizer = getattr(module, kind)(copy.parameters(), **settings)
        for step in range(4):
            if step == 2:  # the state is exchanged as torch's is
                state = deepcopy(optimizer.state_dict())
                optimizer = getattr(module, kind)(copy.parameters(), **settings)
                optimizer.load_state_dict(state)
            optimizer.zero_grad()
            copy(torch.full((3, 5), 0.1 * step)).square().sum().backward()
            optimizer.step()
        weights.append([weight.detach().clone() for weight in copy.parameters()])
    assert all(torch.equal(*pair) for pair in zip(*weights, strict=True))
    assert not all(torch.equal(*pair) for pair in zip(network.parameters(), weights[0], strict=True))


def test_fused_sgd_takes_weights_whose_first_gradient_comes_late() -> None:
    """As torch's SGD that is not fused; its fused one fails at the second step."""
    settings = {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 1e-3}
    moved = []
    for kind in (torch.optim.SGD, eager_optimizers.FusedSGD):
        weights = [nn.Parameter(torch.linspace(-1, 1, 5)) for _ in range(3)]
        optimizer = kind(weights, **settings)
        for chosen in ((0,), (1,), (0, 1), (2,), (0, 2)):
            optimizer.zero_grad()
            for place in chosen:
                weights[place].pow(place + 2).sum().backward()  # type: ignore[no-untyped-call]
            optimizer.step()
        moved.append(torch.stack(weights))
    torch.testing.assert_close(moved[1], moved[0], rtol=1e-6, atol=1e-7)


def test_fused_sgd_goes_on_from_the_state_of_one_that_is_not() -> None:
    """A search that began on a CPU is resumed on a GPU, and the other way round."""
    kinds = (eager_optimizers.SGD, eager_optimizers.FusedSGD)
    moved = []
    for first, second in ((kinds[0], kinds[0]), kinds, kinds[::-1]):
        weights = [nn.Parameter(torch.linspace(-1, 1, 5)) for _ in range(2)]
        optimizer = first(weights, lr=0.1, momentum=0.9)
        for chosen in ((0,), (0, 1), (1,)):
            optimizer.zero_grad()
            sum(weights[place].square().sum() for place in chosen).backward()  # type: ignore[union-attr]
            optimizer.step()
            if chosen == (0,):
                state = deepcopy(optimizer.state_dict())
                optimizer = second(weights, lr=0.1, momentum=0.9)
                optimizer.load_state_dict(state)
                assert optimizer.param_groups[0]["fused"] or second is kinds[0]
        moved.append(torch.stack(weights))
    for other in moved[1:]:
        torch.testing.assert_close(other, moved[0], rtol=1e-6, atol=1e-7)


def test_fused_sgd_takes_velocities_in_another_memory_format() -> None:
    """Channels may be last in memory on one device and first on another."""
    start, slope = torch.linspace(-1, 1, 48).view(4, 3, 2, 2), torch.linspace(1, 3, 48).view(4, 3, 2, 2)
    moved = []
    for kind, memory_format in (
        (eager_optimizers.SGD, torch.contiguous_format),
        (eager_optimizers.FusedSGD, torch.channels_last),
    ):
        first = nn.Parameter(start.clone())
        optimizer = eager_optimizers.SGD([first], lr=0.1, momentum=0.9)
        first.grad = slope.clone()
        optimizer.step()
        second = nn.Parameter(first.detach().clone(memory_format=memory_format))
        resumed = kind([second], lr=0.1, momentum=0.9)
        resumed.load_state_dict(deepcopy(optimizer.state_dict()))
        second.grad = slope.square().contiguous(memory_format=memory_format)
        resumed.step()
        moved.append(second.detach())
    torch.testing.assert_close(moved[1], moved[0], rtol=1e-6, atol=1e-7)


def test_optimizers_of_recipes_survive_pickling() -> None:
    for recipe in ("small-nb201", "nb101"):
        network = nn.Linear(3, 2)
        optimizer = recipe_optimizer(network, load_recipe(recipe))
        network(torch.ones(4, 3)).sum().backward()
        optimizer.step()
        copy = pickle.loads(pickle.dumps(optimizer))
        assert type(copy) is type(optimizer) and str(copy.state_dict()) == str(optimizer.state_dict())


def test_nothing_loads_the_compiler() -> None:
    """Training, searching, counting and scoring by operations."""
    code = """
import sys
assert "torch._dynamo" not in sys.modules, "torch itself loads it"
import numpy as np
import torch
from dataclasses import replace
from nasbed import Architecture, datasets
from nasbed.oneshot import SearchSettings, search
from nasbed.training import load_recipe, train
digits = datasets.load("digits")
recipe = replace(load_recipe("small-nb201"), epoch_images=64, skeleton={"channels": 4, "cells_per_stage": 1})
assert train(Architecture("nb201", (3, 1, 0, 0, 0, 1)), digits, recipe, epochs=1).status == "ok"
settings = SearchSettings(epochs=1, batch=8, channels=4, cells=1, epoch_images=8, split=(16, 16))
assert search("pc-darts", digits, settings, space="nb201").status == "ok"
from nasbed.networks import build
from nasbed.networks.summary import architecture_summary
from nasbed.proxies import score_all
from nasbed.spaces import space
for name in ("nb101", "nb201", "darts", "fbnet", "transnas-micro", "bonsai"):
    arch = space(name).sample(np.random.default_rng(0))
    assert architecture_summary(arch).parameters > 0
batch = torch.zeros(2, 3, 32, 32), torch.arange(2)
assert score_all(build(space("nb201").sample(np.random.default_rng(0))), batch, proxies=("flops",))["flops"].value
assert "torch._dynamo" not in sys.modules
"""
    with fork_script(code, stderr=PIPE) as process:
        _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
