"""Searches on a CUDA device by recorded losses and step by step; fails if they differ. With ``times`` as a second word
prints the time of each too."""

from __future__ import annotations

import sys
from dataclasses import replace
from time import perf_counter
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

from nasbed import oneshot
from nasbed.datasets.dataset import Dataset, LabelledImages
from nasbed.oneshot import BonsaiSettings, SearchResult, SearchSettings, cuda_graph_loss, search
from nasbed.oneshot.images import SearchImages
from nasbed.oneshot.pruning import gradient
from nasbed.oneshot.search_interface import SearchSetup
from nasbed.training.cuda_graphs import Recording
from nasbed.training.devices import chosen_device

METHODS: dict[str, tuple[dict[str, Any], int]] = {
    "darts": ({}, 2),
    "darts2": ({}, 3),
    "pc-darts": ({"warm_up": 0.0}, 2),
    "drnas": ({"partial": (4, 2), "warm_up": 0.0}, 4),
    "gdas": ({}, 0),
}
"""Options, and how many recordings a search of two epochs makes."""
SETTINGS = SearchSettings(epochs=2, batch=32, channels=4, cells=3, epoch_images=96, crop_padding=1, flip=True)
BONSAI = BonsaiSettings(
    cells="nr", nodes=1, channels=4, epochs=4, batch=32, epoch_images=96, split=(800, 200), interval=2, drop_path=0.3
)
SIZES = {
    "8 channels, 5 cells, 16x16": (SearchSettings(batch=64, channels=8, cells=5), 16),
    "16 channels, 8 cells, 32x32": (SearchSettings(batch=64, channels=16, cells=8), 32),
}


def pictures(images: int, channels: int, height: int, width: int) -> Dataset:
    """Noise that is brighter for higher labels."""
    chance = np.random.default_rng(0)
    labels = np.arange(images, dtype=np.int64) % 10
    noise = chance.integers(0, 128, (images, channels, height, width))
    part = LabelledImages((noise + 12 * labels[:, None, None, None]).astype(np.uint8), labels)
    half = (0.5,) * channels
    return Dataset(
        "noise", part, LabelledImages(part.images[:10], labels[:10]), tuple("0123456789"), half, half, hash="noise"
    )


class CountingRecording(Recording):
    """Counts those that were made to the end."""

    created = 0

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        type(self).created += 1


class FailingRecording(Recording):
    """The second one asks the device for a number while it is recorded."""

    created = 0

    def __init__(self, network: Any, loss: Any, inputs: Any, **options: Any) -> None:
        FailingRecording.created += 1
        breaks = FailingRecording.created > 1

        def loss_of_inputs(*arguments: Any) -> Any:
            value = loss(*arguments)
            if breaks and torch.cuda.is_current_stream_capturing():
                value.item()
            return value

        super().__init__(network, loss_of_inputs, inputs, **options)


def searched(method: str, settings: SearchSettings, device: str, *, eager: bool, kind: type[Recording]) -> SearchResult:
    options, expected = METHODS[method]
    CountingRecording.created = 0
    with (
        patch.object(cuda_graph_loss, "Recording", kind),
        patch.object(cuda_graph_loss, "is_captured", lambda _: not eager),
    ):
        result = search(method, pictures(1_000, 1, 12, 9), settings, options=options, seed=3, device=device)
    assert result.status == "ok", result
    if kind is CountingRecording:
        assert CountingRecording.created == (0 if eager else expected), (
            f"{method}: {CountingRecording.created} recordings"
        )
    return result


def furthest(first: SearchResult, second: SearchResult) -> float:
    """The largest difference of losses or architecture parameters."""
    distance = 0.0
    for a, b in zip(first.epochs, second.epochs, strict=True):
        apart = [np.abs(a.parameters[name] - b.parameters[name]).max() for name in a.parameters]
        distance = max(distance, abs(a.train_loss - b.train_loss), *map(float, apart))
    return distance


def compare(method: str, settings: SearchSettings, device: str, kind: type[Recording] = CountingRecording) -> None:
    """What is recorded differs from steps one by one by no more than these do among themselves."""
    eager, eager_again = (searched(method, settings, device, eager=True, kind=kind) for _ in range(2))
    recorded, repeated = (searched(method, settings, device, eager=False, kind=kind) for _ in range(2))
    chance, distance = furthest(eager, eager_again), max(furthest(eager, recorded), furthest(recorded, repeated))
    name = f"{method}, {settings.precision}, {kind.__name__.lower()}"
    print(f"{name}: eager runs differ by {chance:.1e}, captured from eager by {distance:.1e}", flush=True)
    first, last = (eager.epochs[place].parameters for place in (0, -1))
    assert any(not np.array_equal(first[key], last[key]) for key in first)
    assert distance <= 1e-4 + 10 * chance, f"{name}: {distance} against {chance}"


def compare_bonsai(device: str) -> None:
    """:func:`compare` for Bonsai-Net, which drops paths from its second epoch on."""

    def searched(*, eager: bool) -> SearchResult:
        CountingRecording.created = 0
        with (
            patch.object(gradient, "Recording", CountingRecording),
            patch.object(gradient, "is_captured", lambda *_: not eager),
        ):
            result = search("bonsai-net", pictures(1_000, 1, 12, 9), BONSAI, seed=3, device=device)
        assert result.status == "ok", result
        assert (CountingRecording.created >= 2) == (not eager), CountingRecording.created
        return result

    eager, eager_again, recorded = searched(eager=True), searched(eager=True), searched(eager=False)
    chance, distance = furthest(eager, eager_again), furthest(eager, recorded)
    print(f"bonsai-net: eager runs differ by {chance:.1e}, captured from eager by {distance:.1e}", flush=True)
    assert distance <= 1e-4 + 10 * chance, f"bonsai-net: {distance} against {chance}"


def step_ms(method: str, settings: SearchSettings, side: int, device: str, *, eager: bool) -> tuple[float, float]:
    """Milliseconds of a step of both kinds, the first epoch not counted, and GiB of memory at the highest."""
    chosen, dataset = chosen_device(device), pictures(4_096, 3, side, side)
    steps = 5
    settings = replace(settings, epochs=4, epoch_images=steps * settings.batch)
    options = {key: value for key, value in METHODS[method][0].items() if key == "warm_up"}
    if method == "drnas":
        options["partial"] = (6,) if settings.channels >= 6 else (4,)
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats(chosen)
    with patch.object(cuda_graph_loss, "is_captured", lambda _: not eager):
        images = SearchImages(dataset, settings, chosen)
        setup = SearchSetup(method, "darts", dataset, settings, options, 0, chosen, images)
        running = oneshot.METHODS.get(method).start_search(setup)
        running.train_epoch(0)
        torch.cuda.synchronize(chosen)
        start = perf_counter()
        for epoch in (1, 2):
            running.train_epoch(epoch)
        torch.cuda.synchronize(chosen)
        seconds = perf_counter() - start
        running.close()
    return 1e3 * seconds / (2 * steps), torch.cuda.max_memory_reserved(chosen) / 2**30


def main(device: str) -> None:
    with torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True, allow_tf32=False):
        for method in METHODS:
            compare(method, SETTINGS, device)
        compare("pc-darts", replace(SETTINGS, precision="bfloat16"), device)
        FailingRecording.created = 0
        compare("darts", SETTINGS, device, FailingRecording)
        compare("darts", SETTINGS, device)
        compare_bonsai(device)


def times(device: str) -> None:
    for size, (settings, side) in SIZES.items():
        for method in METHODS:
            for precision in ("float32", "bfloat16") if method == "darts" else ("float32",):
                sized = replace(settings, precision=precision)
                (slow, eager_gib), (fast, captured_gib) = (
                    step_ms(method, sized, side, device, eager=is_eager) for is_eager in (True, False)
                )
                print(
                    f"{method}, {size}, {precision}, 64 images: eager {slow:.1f} ms, {eager_gib:.1f} GiB; "
                    f"captured {fast:.1f} ms, {captured_gib:.1f} GiB",
                    flush=True,
                )


if __name__ == "__main__":
    chosen = sys.argv[1] if len(sys.argv) > 1 else "cuda"
    main(chosen)
    if sys.argv[2:] == ["times"]:
        times(chosen)
