"""Isabella (section 4.6): five seconds of music as a spectrogram, and the era that it was composed in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import BadFile
from nasbed.datasets.dataset import Images, Labels
from nasbed.datasets.source import Progress
from nasbed.datasets.unseen.base import (
    PARTS,
    GeneratedDataset,
    GeneratedPart,
    UnseenGenerator,
    positions_in,
    reduction_note,
)
from nasbed.datasets.unseen.draws import Draws, Integers
from nasbed.datasets.unseen.sources.eras import ERAS, MusicRecording, pieces, read_recordings, read_table
from nasbed.datasets.unseen.sources.material import open_material, sha256
from nasbed.datasets.unseen.spectrogram import SECONDS, picture_of, resampled

_DIVIDED, _LABELLED, _PICKED = range(3)


class Isabella(UnseenGenerator):
    """Labels follow the alphabet: "20th Century" is 0, as in the paper's figure 3.

    What is decided where the paper is silent:

    - The 64 bands are mel bands; see :mod:`nasbed.datasets.unseen.spectrogram` for rate, window and scale.
    - A recording is cut into five seconds each from its beginning; the rest, and silent snippets, are not used.
    - All recordings of one work are in one part, where the table names works; so is one recording.
    - Eras are balanced to the image. Material for fewer than the published images makes fewer, in the published
      proportions, and the card says so: no snippet is used twice.
    """

    name = "isabella"
    title = "Isabella"
    kind = 2
    shape = (1, 64, 128)
    classes = ERAS
    counts = (50_000, 10_000, 10_000)
    benchmark = 62.02
    rule = "Five seconds of a recording as a spectrogram of 64 bands; the label is the era of the composition."
    needs = (
        "a folder of recordings (wav, flac, ogg, mp3) with a table eras.csv (file,era; work if known) as --source, or "
        "the folder of MusicNet with musicnet_metadata.csv"
    )
    hygiene = ("recording", "work")
    recognises_material = False
    licence = "that of the recordings; those of the Isabella Stewart Gardner Museum may not be shared in a changed form"

    def _generate(self, source: Path | None, draws: Draws, progress: Progress) -> GeneratedDataset:
        with open_material(source, self.needs) as folder:
            table = read_table(folder)
            recordings = read_recordings(table.folder, table.rows, progress)
            part_of = _divided(recordings, draws, self.counts)
            available = _snippet_counts(recordings, part_of)
            counts = _counts(available, self.counts)
            train, valid, test = (
                self._part(
                    draws, part, [r for r, p in zip(recordings, part_of, strict=True) if p == part], counts, progress
                )
                for part in range(3)
            )
        snippets = sum(len(recording.snippets) for recording in recordings)
        notes = (
            *reduction_note((train, valid, test), self.counts, "the recordings have no more"),
            f"Recordings: {len(recordings)}, with {snippets} snippets of {SECONDS} s and "
            f"{sum(recording.silent for recording in recordings)} more that are silent and not used.",
        )
        listing = "".join(f"{r.row.file}\n{ERAS[r.row.era]}\n{r.row.work}\n{r.sha256}\n" for r in recordings)
        sources = {f"{len(recordings)} recordings and their table": sha256(listing.encode())}
        return GeneratedDataset(train, valid, test, sources=sources, notes=notes, substitute=table.substitute)

    def _part(
        self, draws: Draws, part: int, recordings: list[MusicRecording], counts: tuple[int, ...], progress: Progress
    ) -> GeneratedPart:
        labels = draws.balanced(counts[part] * len(ERAS), len(ERAS), _LABELLED, part)
        owner = np.repeat(np.arange(len(recordings)), [len(recording.snippets) for recording in recordings])
        number = np.concatenate([recording.snippets for recording in recordings])
        eras = np.array([recording.row.era for recording in recordings])[owner]
        pools = [np.flatnonzero(eras == era) for era in range(len(ERAS))]
        indices = draws.without_repeats(labels, pools, _PICKED, part)
        images = np.empty((len(labels), *self.shape), np.uint8)
        for index, recording in enumerate(recordings):
            places = {int(number[indices[image]]): image for image in np.flatnonzero(owner[indices] == index)}
            for count, (rate, samples) in enumerate(pieces(recording.path) if places else ()):
                if count in places:
                    images[places[count]] = picture_of(resampled(samples, rate))
            progress(f"{self.name}, transforming {PARTS[part]}", index + 1, len(recordings))
        rows = [recordings[index].row for index in owner[indices]]
        origins = {
            "recording": np.array([row.file for row in rows]),
            "work": np.array([row.work for row in rows]),
            "second": number[indices] * SECONDS,
            "era": np.array([ERAS[row.era] for row in rows]),
        }
        return GeneratedPart(images, labels, origins)

    def label_of(self, images: Images, origins: Mapping[str, NDArray[Any]]) -> Labels:
        """The labels of the eras in the table; −1 for any other."""
        return positions_in(ERAS, origins["era"])

    def picture(self, image: Images) -> NDArray[np.uint8]:
        """With the lowest band at the bottom."""
        return super().picture(image[:, ::-1])


def _divided(recordings: list[MusicRecording], draws: Draws, counts: tuple[int, int, int]) -> list[int]:
    """The part of each recording.

    The works of an era, in random order, each go to the part that lacks the most snippets of its share. The last works
    go to parts that would otherwise have none.
    """
    part_of: dict[str, int] = {}
    for era in range(len(ERAS)):
        sizes: dict[str, int] = {}
        for recording in recordings:
            if recording.row.era == era and len(recording.snippets):
                sizes[recording.row.work] = sizes.get(recording.row.work, 0) + len(recording.snippets)
        if len(sizes) < len(PARTS):
            raise BadFile(
                f"every era has a recording in each of the three parts, {ERAS[era]} has {len(sizes)} works with five "
                "seconds of sound; add recordings"
            )
        works = sorted(sizes)
        lacking = [sum(sizes.values()) * count / sum(counts) for count in counts]
        empty = set(range(len(PARTS)))
        for position, index in enumerate(draws.order(len(works), _DIVIDED, era)):
            choice = empty if len(works) - position <= len(empty) else range(len(PARTS))
            part = max(choice, key=lambda candidate: (lacking[candidate], -candidate))
            part_of[works[index]] = part
            lacking[part] -= sizes[works[index]]
            empty.discard(part)
    return [part_of.get(recording.row.work, 0) for recording in recordings]


def _snippet_counts(recordings: list[MusicRecording], part_of: list[int]) -> Integers:
    """Snippets by part and era."""
    counts = np.zeros((len(PARTS), len(ERAS)), np.int64)
    for recording, part in zip(recordings, part_of, strict=True):
        counts[part, recording.row.era] += len(recording.snippets)
    return counts


def _counts(available: Integers, counts: tuple[int, int, int]) -> tuple[int, ...]:
    """Snippets of each era in each part: as published, or as many of that as the scarcest has, and one at least."""
    published = [count // len(ERAS) for count in counts]
    scarcest = available.min(axis=1).tolist()
    have, needed = min(
        ((have, want) for have, want in zip(scarcest, published, strict=True)), key=lambda pair: pair[0] / pair[1]
    )
    if have >= needed:
        return tuple(published)
    return tuple(max(1, want * have // needed) for want in published)
