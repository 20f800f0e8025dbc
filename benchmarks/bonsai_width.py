"""How wide Bonsai-Net's networks are, and what its classifier reads: random networks on AddNIST at 14x14 pixels, one core.

    python benchmarks/bonsai_width.py                       # all, an hour; or a name from NETWORKS

Each is trained on the first 20 000 images for 6 epochs (SGD, batches of 64, learning rate 0.025 along a cosine, gradients
clipped at 5) and tested on the first 2 000 test images. Prints parameters, the loss and accuracy of the last epoch of
training, the test accuracy and the seconds. Needs the prepared dataset: nasbed data make addnist.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from nasbed import datasets, space
from nasbed.datasets.dataset import LabelledImages
from nasbed.networks.bonsai import BonsaiNetwork
from nasbed.networks.darts import network as darts_network
from nasbed.spaces.bonsai import BonsaiGenotype, BonsaiSkeleton, Frame
from nasbed.spaces.bonsai.costs import BonsaiClassifier
from nasbed.spaces.bonsai.sampling import random_flags
from nasbed.spaces.darts.costs import DartsSkeleton

SIDE, CLASSES, SEED = 14, 20, 2
IMAGES, TESTED, EPOCHS, BATCH, RATE = 20_000, 2_000, 6, 64, 0.025
FRAME = Frame("nrnrn", nodes=2)
PUBLISHED_FRAME = Frame("nnrnnrnn", nodes=4)
"""That of the released code."""


def darts() -> nn.Module:
    arch = space("darts").sample(np.random.default_rng(SEED))
    skeleton = DartsSkeleton(channels=8, cells=5)
    return darts_network(arch, classes=CLASSES, channels_in=3, image=(SIDE, SIDE), skeleton=skeleton)


def bonsai(
    channels: int, classifier: BonsaiClassifier = "pooled", *, frame: Frame = FRAME, full: bool = False
) -> nn.Module:
    flags = random_flags(frame, np.random.default_rng(SEED), target=0.3)
    genotype = BonsaiGenotype.full(frame) if full else BonsaiGenotype.from_flags(frame, flags)
    skeleton = BonsaiSkeleton(channels=channels, image=SIDE, classes=CLASSES, classifier=classifier)
    return BonsaiNetwork(genotype, skeleton)


NETWORKS: dict[str, Callable[[], nn.Module]] = {
    "darts-8": darts,
    "bonsai-8": lambda: bonsai(8),
    "bonsai-8-pixels": lambda: bonsai(8, "pixels"),
    "bonsai-24": lambda: bonsai(24),
    "bonsai-8-everything": lambda: bonsai(8, full=True),
    "bonsai-36-published-frame": lambda: bonsai(36, "pixels", frame=PUBLISHED_FRAME),
}


def part(images: LabelledImages, count: int) -> tuple[Tensor, Tensor]:
    pixels = torch.tensor(np.asarray(images.images[:count])).float()
    return pixels, torch.tensor(np.asarray(images.labels[:count])).long()


def prepared() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Images to train and to test with, normalised, at half the resolution, and their labels."""
    addnist = datasets.load("addnist")
    (images, labels), (test_images, test_labels) = part(addnist.train, IMAGES), part(addnist.test, TESTED)
    mean, deviation = images.mean((0, 2, 3), keepdim=True), images.std((0, 2, 3), keepdim=True)
    halves = [nn.functional.avg_pool2d((pixels - mean) / deviation, 2) for pixels in (images, test_images)]
    images, test_images = (pixels.to(memory_format=torch.channels_last) for pixels in halves)
    return images, labels, test_images, test_labels


def measured(network: nn.Module, data: tuple[Tensor, Tensor, Tensor, Tensor]) -> dict[str, float]:
    images, labels, test_images, test_labels = data
    torch.manual_seed(0)
    for module in network.modules():
        if isinstance(module, nn.Conv2d | nn.Linear):
            module.reset_parameters()
    network = network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    optimizer = torch.optim.SGD(network.parameters(), lr=RATE, momentum=0.9, weight_decay=3e-4)
    steps, start = len(images) // BATCH, time.process_time()
    for epoch in range(EPOCHS):
        network.train()
        order = torch.randperm(len(images))
        total, correct = 0.0, 0
        for step in range(steps):
            progress = (epoch * steps + step) / (EPOCHS * steps)
            optimizer.param_groups[0]["lr"] = RATE * 0.5 * (1 + math.cos(math.pi * progress))
            batch = order[step * BATCH : (step + 1) * BATCH]
            logits = network(images[batch])
            loss = nn.functional.cross_entropy(logits, labels[batch])
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(network.parameters(), 5.0)
            optimizer.step()
            total += loss.item()
            correct += int((logits.argmax(1) == labels[batch]).sum())
    network.eval()
    with torch.no_grad():
        right = sum(
            int((network(test_images[first : first + 500]).argmax(1) == test_labels[first : first + 500]).sum())
            for first in range(0, TESTED, 500)
        )
    return {
        "parameters": sum(weight.numel() for weight in network.parameters()),
        "train_loss": round(total / steps, 3),
        "train_accuracy": round(100 * correct / (steps * BATCH), 1),
        "test_accuracy": round(100 * right / TESTED, 1),
        "cpu_s": round(time.process_time() - start, 1),
    }


if __name__ == "__main__":
    torch.set_num_threads(1)
    data = prepared()
    for name in sys.argv[1:] or NETWORKS:
        print(json.dumps({"network": name, **measured(NETWORKS[name](), data)}), flush=True)
