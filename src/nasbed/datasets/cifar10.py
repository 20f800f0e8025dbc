"""CIFAR-10: photographs of ten kinds of things, 32×32."""

from __future__ import annotations

from pathlib import Path

from nasbed.datasets.cifar import Cifar, join, published, read_batch, read_binary, read_label_list, read_picture
from nasbed.datasets.dataset import Images, Labels
from nasbed.datasets.source import Progress, Raw, folder_with, nothing_fits

_BATCHES = (*(f"data_batch_{number}" for number in range(1, 6)), "test_batch")
_LABEL_FILES = ("train_lables.json", "test_lables.json")  # spelt so


class Cifar10(Cifar):
    name = "cifar10"
    title = "CIFAR-10, photographs of ten kinds"
    classes = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
    remotes = published("cifar-10-python.tar.gz", "6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce")

    def read(self, folder: Path, progress: Progress) -> Raw:
        if data_folder := folder_with(folder, _BATCHES):
            parts = self._parts(data_folder, "", progress)
        elif data_folder := folder_with(folder, [f"{batch}.bin" for batch in _BATCHES]):
            parts = self._parts(data_folder, ".bin", progress)
        elif data_folder := folder_with(folder, [*(f"{batch}.png" for batch in _BATCHES), *_LABEL_FILES]):
            parts = self._pictures(data_folder, progress)
        else:
            layouts = "data_batch_1 … test_batch (Python), the same with .bin, or with .png beside train_lables.json"
            raise nothing_fits(self.name, folder, layouts)
        return Raw(*join(parts[:-1]), *parts[-1], self.classes)

    def _parts(self, folder: Path, suffix: str, progress: Progress) -> list[tuple[Images, Labels]]:
        parts = []
        for index, batch in enumerate(_BATCHES):
            progress(self.name, index * 10_000, sum(self.counts))
            path = folder / f"{batch}{suffix}"
            parts.append(read_binary(path, 1) if suffix else read_batch(path, "labels"))
        return parts

    def _pictures(self, folder: Path, progress: Progress) -> list[tuple[Images, Labels]]:
        """All labels for training are in one file, those of the first picture first."""
        train, test = (read_label_list(folder / file) for file in _LABEL_FILES)
        parts = []
        for index, batch in enumerate(_BATCHES):
            progress(self.name, index * 10_000, sum(self.counts))
            images = read_picture(folder / f"{batch}.png")
            if batch == "test_batch":
                labels = test
            elif batch == _BATCHES[-2]:
                labels = train
            else:
                labels, train = train[: len(images)], train[len(images) :]
            parts.append((images, labels))
        return parts
