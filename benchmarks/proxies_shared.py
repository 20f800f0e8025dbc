"""All proxies of one network at once, against the passes that they cannot do without, written out in plain torch.

The passes: one forward pass of the batch in training mode, its backward pass to the weights and the outputs of the
layers, one to the images; two more backward passes for grasp; forward and backward of one image in double precision for
synflow; forward and 16 backward passes of 16 images for ntk; two forward passes without gradients for zen; forward and
backward of two half batches for zico; one image forward for meco. What proxies compute from these, and all bookkeeping,
is what the ratio is about. Each proxy on its own, with its own passes, is timed beside it.

    python benchmarks/proxies_shared.py [--networks 3] [--batch 64] [--repeats 3]

Networks are random cells of NAS-Bench-201 in their usual skeleton; the images are random numbers, which take as long.
"""

from __future__ import annotations

import argparse
import copy
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from nasbed.experiments.scoring import random_architectures
from nasbed.networks import build
from nasbed.proxies import PROXIES, score_all
from nasbed.spaces import space
from timing import best_seconds

NTK_IMAGES = 16
WEIGHTED = (nn.Conv2d, nn.Linear)


class PlainPasses:
    """What a user would write who wanted the passes and nothing else."""

    def __init__(self, network: nn.Module, images: Tensor, labels: Tensor) -> None:
        self.network, self.images, self.labels = network, images, labels
        self.weights = [module.weight for module in network.modules() if isinstance(module, WEIGHTED)]
        self.double = copy.deepcopy(network).double().eval()

    def all(self) -> None:
        self.batch()
        self.one_image()
        self.tangents()
        with torch.no_grad():
            self.network(self.images)
            self.network(self.images)
            self.network(self.images[:1])
        for images, labels in zip(self.images.chunk(2), self.labels.chunk(2), strict=True):
            self.gradients(cross_entropy(self.logits(images), labels))

    def batch(self) -> None:
        outputs: list[Tensor] = []
        hooks = [
            module.register_forward_hook(lambda _, __, output: outputs.append(output))
            for module in self.network.modules()
            if isinstance(module, WEIGHTED)
        ]
        images = self.images.clone().requires_grad_()
        logits = self.logits(images)
        for hook in hooks:
            hook.remove()
        loss = cross_entropy(logits, self.labels)
        torch.autograd.grad(loss, [*self.weights, *outputs], retain_graph=True, allow_unused=True)
        torch.autograd.grad(logits.sum(), [images], retain_graph=True, allow_unused=True)
        again = torch.autograd.grad(loss, self.weights, create_graph=True, allow_unused=True)
        total = torch.stack([(gradient * gradient.detach()).sum() for gradient in again if gradient is not None]).sum()
        torch.autograd.grad(total, self.weights, allow_unused=True)

    def one_image(self) -> None:
        logits = self.logits(torch.ones_like(self.images[:1]).double(), self.double)
        torch.autograd.grad(logits.sum(), list(self.double.parameters()), allow_unused=True)

    def tangents(self) -> None:
        parameters = list(self.network.parameters())
        for row in self.logits(self.images[:NTK_IMAGES]).sum(1):
            torch.autograd.grad(row, parameters, retain_graph=True, allow_unused=True)

    def gradients(self, loss: Tensor) -> None:
        torch.autograd.grad(loss, self.weights, allow_unused=True)

    def logits(self, images: Tensor, network: nn.Module | None = None) -> Tensor:
        output = (network or self.network)(images)
        while not isinstance(output, Tensor):
            output = output[0]
        return output


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", type=int, default=3)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    chosen = parser.parse_args()
    torch.set_num_threads(chosen.threads)
    torch.manual_seed(0)
    images, labels = torch.randn(chosen.batch, 3, 32, 32), torch.randint(10, (chosen.batch,))
    sums = {"passes": 0.0, "together": 0.0, "one by one": 0.0}
    for arch in random_architectures(space("nb201"), chosen.networks, np.random.default_rng(0)):
        network = build(arch)
        plain = PlainPasses(network, images, labels)

        def one_by_one(network: nn.Module = network) -> None:
            for name in PROXIES:
                score_all(network, (images, labels), proxies=[name])

        calls: dict[str, Callable[[], object]] = {
            "passes": plain.all,
            "together": lambda network=network: score_all(network, (images, labels)),  # type: ignore[misc]
            "one by one": one_by_one,
        }
        for name, call in calls.items():
            sums[name] += best_seconds(call, repeats=chosen.repeats)
        print(arch, {name: round(seconds, 2) for name, seconds in sums.items()}, "s so far", flush=True)
    print(f"{len(PROXIES.names())} proxies together: {sums['together'] / sums['passes']:.2f} × the passes they need")
    print(f"one by one: {sums['one by one'] / sums['together']:.2f} × as long as together")


if __name__ == "__main__":
    main()
