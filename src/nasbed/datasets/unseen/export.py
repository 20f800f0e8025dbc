"""Write a generated dataset as the competition's folder: six arrays and ``metadata``, with a card, a preview and the
origins."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np

import nasbed
from nasbed.core.errors import InvalidOption
from nasbed.core.files import complete_folder, file_sha256
from nasbed.datasets.png import write_png
from nasbed.datasets.source import Progress
from nasbed.datasets.unseen.base import CITATION, PARTS, GeneratedDataset, UnseenGenerator
from nasbed.datasets.unseen.provenance import paper_accuracy, substitute_note

BLOCK = 1_000
PREVIEWED = 8
"""Images of each class in the preview."""
GAP = 2
SIDE = 96
"""Pixels that a picture in the preview is enlarged to, by whole factors, where it is smaller."""
ARRAYS = tuple(f"{part}_{kind}.npy" for part in PARTS for kind in "xy")


class Writable(Protocol):
    """What takes bytes: a file, or a hash by its ``update``."""

    def write(self, data: Any, /) -> object: ...


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
    dataset.check(generated)
    with new_folder(Path(folder)) as draft:
        digests = write_arrays(draft, generated, progress, dataset.name)
        write_json(draft / "metadata", describe(dataset, generated, seed))
        write_explanation(draft, dataset, generated, card(dataset, generated, seed, digests))
    return digests


def check_new(folder: Path) -> None:
    """Raise if a dataset cannot be written to this folder because there is one."""
    if folder.exists():
        raise InvalidOption(f"a dataset is written to a new folder, {folder} exists; name another or remove it")


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """A draft to write to, which becomes the new folder when the block ends well and is removed when not."""
    check_new(folder)
    try:
        with complete_folder(folder) as draft:
            yield draft
    except FileExistsError:  # another process has made it since
        check_new(folder)
        raise


def write_arrays(folder: Path, generated: GeneratedDataset, progress: Progress, name: str) -> dict[str, str]:
    """Write the six arrays. Returns the SHA-256 of each by file name."""
    for part in PARTS:
        with (folder / f"{part}_x.npy").open("wb") as file:
            _write_images(file, generated.parts[part].images, progress, f"{name}, {part}")
        with (folder / f"{part}_y.npy").open("wb") as file:
            _write_labels(file, generated.parts[part].labels)
    return {array: file_sha256(folder / array) for array in ARRAYS}


def array_sha256(generated: GeneratedDataset, array: str, prefix: bytes = b"") -> str:
    """The SHA-256 that the file of an array would have, with some bytes before it, without writing it."""
    digest = _Digest(prefix)
    part = generated.parts[array.partition("_")[0]]
    if array.endswith("_x.npy"):
        _write_images(digest, part.images, lambda *_: None, "")
    else:
        _write_labels(digest, part.labels)
    return digest.hash.hexdigest()


class _Digest:
    def __init__(self, prefix: bytes) -> None:
        self.hash = hashlib.sha256(prefix)

    def write(self, data: Any, /) -> None:
        self.hash.update(data)


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    path.write_bytes(json_bytes(value))


def json_bytes(value: Mapping[str, Any]) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()


def write_explanation(folder: Path, dataset: UnseenGenerator, generated: GeneratedDataset, text: str) -> None:
    """Write what explains the images: their origins, a preview, and the card."""
    for name, part in generated.parts.items():
        np.savez_compressed(folder / f"{name}_origins.npz", **_columns(part.origins))
    write_png(folder / "preview.png", preview(dataset, generated))
    (folder / "card.md").write_text(text, encoding="utf-8")


def describe(dataset: UnseenGenerator, generated: GeneratedDataset, seed: int) -> dict[str, Any]:
    """The competition's metadata, and after its keys our own."""
    benchmark, substitute = paper_accuracy(dataset, generated), substitute_note(dataset, generated)
    return {
        "num_classes": len(dataset.classes),
        "input_shape": [len(generated.train), *dataset.shape],
        "codename": dataset.title,
        **({} if benchmark is None else {"benchmark": benchmark}),
        **({"synthetic": True} if substitute else {}),
        **({"as_released": True} if dataset.is_as_released else {}),
        "classes": list(dataset.classes),
        "made_by": f"nasbed {nasbed.__version__}",
        "seed": seed,
        "sources": dict(generated.sources),
        "notes": [*filter(None, (substitute, dataset.difference)), *generated.notes],
    }


def _write_images(file: Writable, images: Any, progress: Progress, step: str) -> None:
    """As float32, a block at a time, so that no second copy is held."""
    header = {"descr": "<f4", "fortran_order": False, "shape": images.shape}
    np.lib.format.write_array_header_1_0(file, header)
    for start in range(0, len(images), BLOCK):
        file.write(np.ascontiguousarray(images[start : start + BLOCK], "<f4").data)
        progress(step, min(start + BLOCK, len(images)), len(images))


def _write_labels(file: Writable, labels: Any) -> None:
    np.lib.format.write_array(file, labels.astype("<i8"), version=(1, 0), allow_pickle=False)


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


def card(dataset: UnseenGenerator, generated: GeneratedDataset, seed: int, digests: Mapping[str, str]) -> str:
    """A description of the folder, as Markdown."""
    counts = {name: np.bincount(part.labels, minlength=len(dataset.classes)) for name, part in generated.parts.items()}
    benchmark, substitute = paper_accuracy(dataset, generated), substitute_note(dataset, generated)
    lines = [
        f"# {dataset.title}{', made from synthetic sources' if substitute else ''}",
        "",
        *([f"**{substitute}**", ""] if substitute else []),
        f"{dataset.rule} {'Type' if dataset.benchmark else 'In the manner of type'} {dataset.kind} of {CITATION}.",
        "",
        f"- Images: {', '.join(f'{len(part)} {name}' for name, part in generated.parts.items())}, each "
        f"{'×'.join(map(str, dataset.shape))}, float32, channels first.",
        "- The paper's accuracies do not apply: its material or its number of images is another."
        if benchmark is None
        else f"- ResNet-18 in the paper: {benchmark} %.",
        f"- Made by nasbed {nasbed.__version__} with seed {seed}.",
    ]
    lines += [f"- Source: {name}, {digest}." for name, digest in generated.sources.items()]
    lines += [f"- {note}" for note in (*filter(None, [dataset.difference]), *generated.notes)]
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
