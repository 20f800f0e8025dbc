"""Write a generated dataset as the competition's folder: six arrays and ``metadata``, with a card, a preview and the
origins."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import nasbed
from nasbed.core.errors import InvalidOption
from nasbed.core.files import file_sha256
from nasbed.datasets.png import write_png
from nasbed.datasets.source import Progress
from nasbed.datasets.unseen.base import CITATION, PARTS, GeneratedDataset, UnseenGenerator

BLOCK = 1_000
PREVIEWED = 8
"""Images of each class in the preview."""
GAP = 2
SIDE = 96
"""Pixels that a picture in the preview is enlarged to, by whole factors, where it is smaller."""


def write_unseen(
    dataset: UnseenGenerator, generated: GeneratedDataset, folder: str | Path, *, seed: int, progress: Progress
) -> dict[str, str]:
    """Write the folder, which appears only when complete. Returns the SHA-256 of each array by file name.

    The arrays are the same to the byte for the same sources and seed; so is ``metadata``.

    Args:
        dataset: The definition of the dataset.
        generated: The images.
        folder: The new folder.
        seed: The seed that generated the dataset.
        progress: Called while images are written.
    """
    folder = Path(folder)
    if folder.exists():
        raise InvalidOption(f"a dataset is written to a new folder, {folder} exists; name another or remove it")
    dataset.check(generated)
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=".draft-", dir=folder.parent))
    try:
        digests: dict[str, str] = {}
        for name, part in generated.parts.items():
            _write_images(draft / f"{name}_x.npy", part.images, progress, f"{dataset.name}, {name}")
            np.save(draft / f"{name}_y.npy", part.labels.astype(np.int64), allow_pickle=False)
            np.savez_compressed(draft / f"{name}_origins.npz", **_columns(part.origins))
            digests |= {f"{name}_{kind}.npy": file_sha256(draft / f"{name}_{kind}.npy") for kind in "xy"}
        metadata = describe(dataset, generated, seed)
        (draft / "metadata").write_text(json.dumps(metadata, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        write_png(draft / "preview.png", preview(dataset, generated))
        (draft / "card.md").write_text(card(dataset, generated, seed, digests), encoding="utf-8")
        draft.chmod(0o755)
        draft.rename(folder)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    return digests


def describe(dataset: UnseenGenerator, generated: GeneratedDataset, seed: int) -> dict[str, Any]:
    """The competition's metadata, and after its keys our own."""
    return {
        "num_classes": len(dataset.classes),
        "input_shape": [len(generated.train), *dataset.shape],
        "codename": dataset.title,
        "benchmark": dataset.benchmark,
        "classes": list(dataset.classes),
        "made_by": f"nasbed {nasbed.__version__}",
        "seed": seed,
        "sources": dict(generated.sources),
        "notes": list(generated.notes),
    }


def _write_images(path: Path, images: Any, progress: Progress, step: str) -> None:
    """As float32, a block at a time, so that no second copy is held."""
    header = {"descr": "<f4", "fortran_order": False, "shape": images.shape}
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        for start in range(0, len(images), BLOCK):
            file.write(np.ascontiguousarray(images[start : start + BLOCK], "<f4").data)
            progress(step, min(start + BLOCK, len(images)), len(images))


def _columns(origins: Mapping[str, Any]) -> dict[str, Any]:
    """What an origins' file can hold: arrays without objects, under names that are not numpy's own."""
    for name, column in origins.items():
        if column.dtype.hasobject or name in ("file", "args", "kwds", "allow_pickle"):
            raise InvalidOption(f"origins are plain arrays and not called {name!r} here; rename or convert it")
    return dict(origins)


def preview(dataset: UnseenGenerator, generated: GeneratedDataset) -> Any:
    """The first training images of each class, one row per class."""
    rows = []
    for label in range(len(dataset.classes)):
        indices = np.flatnonzero(generated.train.labels == label)[:PREVIEWED]
        pictures = [dataset.picture(generated.train.images[index]) for index in indices]
        rows.append(pictures)
    height, width, _ = next(picture for row in rows for picture in row).shape
    larger = max(1, SIDE // max(height, width))
    height, width = height * larger, width * larger
    sheet = np.full((len(rows) * (height + GAP) - GAP, PREVIEWED * (width + GAP) - GAP, 3), 128, np.uint8)
    for down, pictures in enumerate(rows):
        for across, picture in enumerate(pictures):
            top, left = down * (height + GAP), across * (width + GAP)
            sheet[top : top + height, left : left + width] = picture.repeat(larger, axis=0).repeat(larger, axis=1)
    return sheet


def card(dataset: UnseenGenerator, generated: GeneratedDataset, seed: int, digests: dict[str, str]) -> str:
    """A description of the folder, as Markdown."""
    counts = {name: np.bincount(part.labels, minlength=len(dataset.classes)) for name, part in generated.parts.items()}
    lines = [
        f"# {dataset.title}",
        "",
        f"{dataset.rule} Type {dataset.kind} of {CITATION}.",
        "",
        f"- Images: {', '.join(f'{len(part)} {name}' for name, part in generated.parts.items())}, each "
        f"{'×'.join(map(str, dataset.shape))}, float32, channels first.",
        f"- ResNet-18 in the paper: {dataset.benchmark} %.",
        f"- Made by nasbed {nasbed.__version__} with seed {seed}.",
    ]
    lines += [f"- Source: {name}, {digest}." for name, digest in generated.sources.items()]
    lines += [f"- {note}" for note in generated.notes]
    lines += [f"- Licence: {dataset.licence}"] if dataset.licence else []
    lines += ["", "| class | " + " | ".join(PARTS) + " |", "|---" * (len(PARTS) + 1) + "|"]
    lines += [
        f"| {label} {name} | " + " | ".join(str(counts[part][label]) for part in PARTS) + " |"
        for label, name in enumerate(dataset.classes)
    ]
    lines += [
        "",
        "| file | SHA-256 |",
        "|---|---|",
        *(f"| {name} | {digest} |" for name, digest in digests.items()),
        "",
    ]
    return "\n".join(lines)
