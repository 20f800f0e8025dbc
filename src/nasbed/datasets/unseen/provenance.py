"""What a generated dataset may call itself: the published one, or one made from other material."""

from __future__ import annotations

from nasbed.datasets.conversion import DATASETS
from nasbed.datasets.unseen.base import GeneratedDataset, UnseenGenerator
from nasbed.datasets.unseen.digests import pinned_sources


def substitute_note(dataset: UnseenGenerator, generated: GeneratedDataset) -> str:
    """The sentence on a dataset that is made from synthetic or substitute sources; empty for any other."""
    reason = generated.substitute
    pinned = pinned_sources(dataset.name)
    for name, digest in generated.sources.items():
        if name in DATASETS and pinned.get(name, digest) != digest:
            reason = f"{name} has other images than the published one"
    if not reason:
        return ""
    return (
        f"Made from synthetic sources, or from substitutes: {reason}. Results on it say nothing of {dataset.title}; "
        "the paper's figures do not apply."
    )


def paper_accuracy(dataset: UnseenGenerator, generated: GeneratedDataset) -> float | None:
    """The accuracy of ResNet-18 in the paper, where it applies: to a dataset of the published size, made from material
    whose digests are pinned or for which somebody vouched."""
    same_size = tuple(len(part) for part in generated.parts.values()) == dataset.counts
    same_material = not dataset.recognises_material or generated.sources == pinned_sources(dataset.name)
    if not same_size or not same_material or substitute_note(dataset, generated):
        return None
    return dataset.benchmark
