"""The measured baseline of a dataset: what ResNet-18 reaches on exactly these bytes, pinned in ``baseline.json``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

from nasbed.challenge.contest_data import ContestData, arrays_sha256
from nasbed.core.errors import BadFile, InvalidOption
from nasbed.core.files import complete_file
from nasbed.datasets.unseen.digests import pinned_digests, pinned_names
from nasbed.experiments.unseen.results import shipped_results

FILE = "baseline.json"
SHIPPED = ("resnet18", 64, 0)
"""Network, epochs and seed of the baselines that come with nasbed."""


@dataclass(frozen=True, slots=True)
class PinnedBaseline:
    """Test accuracies in per cent, one for each seed, with all that determines them."""

    data_sha256: str
    """Of the six arrays as they are in the files."""
    dataset_hash: str
    """The one of ``nasbed data info`` and of results files."""
    network: str
    epochs: int
    seeds: tuple[int, ...]
    accuracies: tuple[float, ...]
    recipe: Mapping[str, Any]
    device: str
    versions: Mapping[str, str]

    @property
    def accuracy(self) -> float:
        """The mean over the seeds."""
        return fmean(self.accuracies)

    @property
    def protocol(self) -> str:
        """What was trained, in words."""
        seeds = f"seed{'s' if len(self.seeds) > 1 else ''} {', '.join(map(str, self.seeds))}"
        return f"{self.network}, recipe {self.recipe.get('name')}, {self.epochs} epochs, {seeds}"


def baseline_of(data: ContestData) -> PinnedBaseline | None:
    """The baseline beside a dataset, or the one that comes with nasbed for these bytes; ``None`` if there is none."""
    path = data.folder / FILE
    if not path.exists():
        return shipped_baselines().get(data.sha256)
    baseline = _read(path)
    if baseline.data_sha256 != data.sha256:
        raise BadFile(
            f"{path} was measured on other bytes than those of {data.name}; remove it and run: nasbed challenge "
            f"baseline {data.folder}"
        )
    return baseline


def check_unpinned(folder: Path) -> None:
    """Raise before a training if its result could not be pinned."""
    if (folder / FILE).exists():
        raise InvalidOption(f"a dataset has one baseline, {folder / FILE} exists; remove it to pin another")


def write_baseline(folder: Path, baseline: PinnedBaseline) -> Path:
    """Pin a baseline beside a dataset that has none; returns the file."""
    check_unpinned(folder)
    path = folder / FILE
    with complete_file(path) as draft:
        draft.write_text(json.dumps(asdict(baseline), indent=1, allow_nan=False) + "\n", encoding="utf-8")
    return path


def _read(path: Path) -> PinnedBaseline:
    try:
        return _baseline(json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        raise BadFile(
            f"{path} is not a baseline of a challenge; remove it and run: nasbed challenge baseline {path.parent}"
        ) from None


def _baseline(content: dict[str, Any]) -> PinnedBaseline:
    lists = {name: tuple(content[name]) for name in ("seeds", "accuracies")}
    baseline = PinnedBaseline(**content | lists)
    texts = (baseline.data_sha256, baseline.dataset_hash, baseline.network, baseline.device)
    numbers = all(isinstance(value, int | float) and 0 <= value <= 100 for value in baseline.accuracies)
    if not (
        numbers
        and all(isinstance(text, str) for text in texts)
        and all(type(value) is int for value in (baseline.epochs, *baseline.seeds))
        and len(baseline.seeds) == len(baseline.accuracies) > 0
        and isinstance(baseline.recipe, dict)
    ):
        raise ValueError("not a baseline")
    return baseline


@cache
def shipped_baselines() -> Mapping[str, PinnedBaseline]:
    """The measured baselines of datasets that ``nasbed data make`` makes with seed 0, by the digest of their bytes.

    They are the shipped results of one network, one number of epochs and one seed, so that more results change no zero.
    """
    pinned = {digests.hash: digests for digests in map(pinned_digests, pinned_names())}
    baselines = [
        PinnedBaseline(
            data_sha256=arrays_sha256(pinned[result.dataset_hash].arrays),
            dataset_hash=result.dataset_hash,
            network=result.model,
            epochs=result.epochs,
            seeds=(result.seed,),
            accuracies=(result.test_accuracy,),
            recipe=result.recipe,
            device=result.device,
            versions=result.versions,
        )
        for result in shipped_results()
        if (result.model, result.epochs, result.seed) == SHIPPED
        and result.dataset_hash in pinned
        and result.test_accuracy is not None
    ]
    return {baseline.data_sha256: baseline for baseline in baselines}
