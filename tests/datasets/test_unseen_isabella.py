"""Isabella: sound whose spectrogram is known in closed form, and the division of recordings."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from nasbed.core.errors import BadFile, InvalidOption, MissingDependency
from nasbed.datasets.opening import open_dataset
from nasbed.datasets.unseen.base import GeneratedDataset
from nasbed.datasets.unseen.export import write_unseen
from nasbed.datasets.unseen.isabella import Isabella, _counts
from nasbed.datasets.unseen.sources.eras import ERAS, pieces
from nasbed.datasets.unseen.spectrogram import (
    BANDS,
    COLUMNS,
    HOP,
    RATE,
    filters,
    mel,
    mel_powers,
    picture_of,
    resampled,
)
from nasbed.experiments.unseen.published import published
from support.commands import run_command
from support.examples import examples

soundfile = pytest.importorskip("soundfile", reason="recordings are read with soundfile: pip install 'nasbed[unseen]'")

FIVE = 5 * RATE


def _quiet(step: str, count: int, total: int | None) -> None: ...


def _tone(hertz: float, seconds: float = 5, rate: int = RATE) -> NDArray[np.float64]:
    return 0.5 * np.sin(2 * np.pi * hertz * np.arange(round(seconds * rate)) / rate)


@examples(15)
@given(hertz=st.floats(100, 10_000))
def test_picture_tone_is_brightest_in_the_band_of_its_mel(hertz: float) -> None:
    image = picture_of(_tone(hertz))[0]
    middle = np.arange(1, BANDS + 1) * mel(RATE / 2) / (BANDS + 1)
    brightest = int(mel_powers(_tone(hertz))[:, 64].argmax())
    width = middle[1] - middle[0]
    assert abs(middle[brightest] - mel(hertz)) <= width  # a band is as wide as to the middles of its neighbours
    assert image[brightest, 64] == image[:, 64].max() >= 250


def test_picture_tone_at_the_middle_of_a_band_is_in_that_band() -> None:
    for band in range(3, BANDS, 7):
        centre = (band + 1) * float(mel(RATE / 2)) / (BANDS + 1)
        hertz = centre * 200 / 3 if centre <= 15 else 1_000 * 6.4 ** ((centre - 15) / 27)
        assert picture_of(_tone(hertz))[0, :, 64].argmax() == band


def test_picture_white_noise_is_flat() -> None:
    noise = np.random.default_rng(0).normal(size=FIVE)
    loudness = 10 * np.log10(mel_powers(noise).mean(axis=1))
    assert np.ptp(loudness) < 2.5  # the sampling error of the lowest bands, which have five frequencies each
    assert abs(np.polyfit(np.arange(BANDS), loudness, 1)[0]) < 0.02


def test_picture_click_is_in_the_column_of_its_moment() -> None:
    samples = np.zeros(FIVE)
    samples[2 * RATE] = 1
    bright = np.flatnonzero(picture_of(samples)[0].max(axis=0))
    assert {round(2 * RATE / HOP)} <= set(bright.tolist())
    assert all(abs(column * HOP - 2 * RATE) <= 1_024 for column in bright)


def test_picture_does_not_tell_loudness_and_range_is_80_db() -> None:
    samples = np.random.default_rng(1).normal(size=FIVE)
    assert np.array_equal(picture_of(samples), picture_of(samples / 64))
    pair = _tone(1_000) + _tone(4_000) / 100  # 40 dB down, by the areas of the bands less
    image = picture_of(pair)[0, :, 64].astype(int)
    powers = mel_powers(pair)[:, 64]
    high = image[image.argmax() + 8 :].max()
    ratio = powers[powers.argmax() + 8 :].max() / mel_powers(pair).max()
    assert high == round(255 * (1 + 10 * np.log10(ratio) / 80))
    assert not picture_of(np.zeros(FIVE)).any()


def test_filters_are_librosas() -> None:
    librosa = pytest.importorskip("librosa", reason="the reference for mel spectrograms: pip install librosa")
    reference = librosa.filters.mel(sr=RATE, n_fft=2_048, n_mels=BANDS, dtype=np.float64)
    np.testing.assert_allclose(filters(), reference, rtol=1e-9, atol=1e-12)
    samples = np.random.default_rng(2).normal(size=FIVE)
    spectrogram = librosa.feature.melspectrogram(y=samples, sr=RATE, n_fft=2_048, hop_length=HOP, n_mels=BANDS)
    assert spectrogram.shape == (BANDS, COLUMNS)
    np.testing.assert_allclose(mel_powers(samples), spectrogram, rtol=1e-5)


@pytest.mark.parametrize("rate", [8_000, 44_100, 48_000])
def test_resampled_tone_keeps_its_band(rate: int) -> None:
    samples = resampled(_tone(1_000, rate=rate), rate)
    assert len(samples) == FIVE
    assert picture_of(samples)[0, :, 64].argmax() == picture_of(_tone(1_000))[0, :, 64].argmax()


def _material(folder: Path, *, works: int = 3, seconds: float = 17, suffix: str = "wav") -> Path:
    """Recordings of noise and a tone, an era's tone an octave above the one before; two recordings to a work. The
    first of each era is in the format of ``suffix``."""
    folder.mkdir()
    rng = np.random.default_rng(3)
    rows: list[tuple[str, ...]] = [("file", "era", "work")]
    for number, era in enumerate(ERAS):
        for work in range(works):
            for take in range(2):
                sound = _tone(200 * 2**number, seconds, 16_000) + 0.05 * rng.normal(size=round(seconds * 16_000))
                name = f"{number}-{work}-{take}.{suffix if work == take == 0 else 'wav'}"
                soundfile.write(folder / name, np.stack([sound, sound], axis=1), 16_000)
                rows.append((name, era, f"{era} {work}"))
    with (folder / "eras.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return folder


@pytest.fixture(scope="module")
def isabella(tmp_path_factory: pytest.TempPathFactory) -> GeneratedDataset:
    source = _material(tmp_path_factory.mktemp("sound") / "recordings")
    return Isabella().make(source, seed=0, progress=_quiet)


def test_isabella_is_balanced_disjoint_and_says_that_it_is_reduced(isabella: GeneratedDataset) -> None:
    Isabella().check(isabella)
    parts = isabella.parts.values()
    assert [np.unique(np.bincount(part.labels)).size for part in parts] == [1, 1, 1]
    for origin in ("recording", "work"):
        values = [set(part.origins[origin].tolist()) for part in parts]
        assert not (values[0] & values[1] or values[0] & values[2] or values[1] & values[2])
    assert isabella.notes[0].startswith("Reduced: ") and "50000/10000/10000" in isabella.notes[0]
    snippets = [
        (r, s) for part in parts for r, s in zip(part.origins["recording"], part.origins["second"], strict=True)
    ]
    assert len(set(snippets)) == len(snippets)
    assert {int(second) for _, second in snippets} <= {0, 5, 10}  # of 17 s, the last two are not used


def test_isabella_pictures_are_of_the_snippets_that_origins_tell(isabella: GeneratedDataset) -> None:
    for label, era in enumerate(ERAS):
        image = isabella.train.images[isabella.train.labels == label][0]
        assert isabella.train.origins["era"][isabella.train.labels == label][0] == era
        assert image[0, :, 64].argmax() == picture_of(_tone(200 * 2**label))[0, :, 64].argmax()


def test_isabella_same_seed_same_bytes_and_written(tmp_path: Path, isabella: GeneratedDataset) -> None:
    repeated = Isabella().make(_material(tmp_path / "again"), seed=0, progress=_quiet)
    other_seed = Isabella().make(tmp_path / "again", seed=1, progress=_quiet)
    assert np.array_equal(repeated.train.images, isabella.train.images)
    assert not np.array_equal(other_seed.train.origins["recording"], isabella.train.origins["recording"])
    write_unseen(Isabella(), repeated, tmp_path / "out", seed=0, progress=_quiet)
    assert "Reduced: " in (tmp_path / "out" / "card.md").read_text()
    assert json.loads((tmp_path / "out" / "metadata").read_text())["input_shape"][1:] == [1, 64, 128]
    assert np.load(tmp_path / "out" / "train_x.npy").dtype == np.float32


@pytest.mark.parametrize("suffix", ["flac", pytest.param("ogg", marks=pytest.mark.thorough), "mp3"])
def test_isabella_reads_other_formats(tmp_path: Path, suffix: str) -> None:
    Isabella().check(
        Isabella().make(_material(tmp_path / "r", works=3, seconds=6, suffix=suffix), seed=0, progress=_quiet)
    )


def test_pieces_are_whole_five_seconds_in_order(tmp_path: Path) -> None:
    ramp = np.arange(4_000 * 17) / (4_000 * 17)
    soundfile.write(tmp_path / "ramp.wav", ramp, 4_000, subtype="FLOAT")
    snippets = list(pieces(tmp_path / "ramp.wav"))
    assert [rate for rate, _ in snippets] == [4_000] * 3
    np.testing.assert_array_equal(
        np.concatenate([samples for _, samples in snippets]), ramp[:60_000].astype(np.float32)
    )


def test_isabella_leaves_out_silence(tmp_path: Path) -> None:
    source = _material(tmp_path / "r", works=3, seconds=10)
    for number in range(len(ERAS)):
        for work in range(3):
            sound = np.concatenate([np.zeros(16_000 * 5), _tone(300 + 10 * work + number, 5, 16_000)])
            soundfile.write(source / f"{number}-{work}-0.wav", sound, 16_000)
    dataset = Isabella().make(source, seed=0, progress=_quiet)
    assert "12 more that are silent" in dataset.notes[-1]
    assert all(part.images.max(axis=(1, 2, 3)).min() == 255 for part in dataset.parts.values())


def _table(source: Path, change: Any) -> None:
    lines = (source / "eras.csv").read_text().splitlines()
    (source / "eras.csv").write_text("\n".join(change(lines)) + "\n")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda lines: ["name,period", *lines[1:]], "has the columns file and era"),
        (lambda lines: lines[:1], "names no recordings"),
        (lambda lines: [*lines, "0-0-0.wav,Baroque,x"], "has two"),
        (lambda lines: [*lines, "none.wav,Baroque,x"], "'none.wav'"),
        (lambda lines: [*lines, "../eras.csv,Baroque,x"], "'../eras.csv'"),
        (lambda lines: [lines[0], "0-0-0.wav,Gothic,x"], "'Gothic'"),
        (lambda lines: [lines[0], "0-0-0.wav,Baroque,x", "0-0-1.wav,Romantic,x"], "is of two"),
        (lambda lines: [line for line in lines if not line.startswith("3-2")], "Romantic has 2 works"),
    ],
)
def test_isabella_wrong_tables_are_named(tmp_path: Path, change: Any, expected: str) -> None:
    source = _material(tmp_path / "r", works=3, seconds=5)
    _table(source, change)
    with pytest.raises(BadFile, match=r"^[^\n]+$") as caught:
        Isabella().make(source, seed=0, progress=_quiet)
    assert expected in str(caught.value)


def test_isabella_damaged_and_repeated_sound_is_named(tmp_path: Path) -> None:
    source = _material(tmp_path / "r", works=3, seconds=5)
    original = (source / "1-1-1.wav").read_bytes()
    (source / "1-1-1.wav").write_bytes(b"no sound" * 100)
    with pytest.raises(BadFile, match=r"1-1-1\.wav cannot be read as sound"):
        Isabella().make(source, seed=0, progress=_quiet)
    (source / "1-1-1.wav").write_bytes((source / "0-0-0.wav").read_bytes())
    with pytest.raises(BadFile, match=r"0-0-0\.wav and 1-1-1\.wav are the same"):
        Isabella().make(source, seed=0, progress=_quiet)
    (source / "1-1-1.wav").write_bytes(original)
    _table(source, lambda lines: [line.replace("20th Century", "20th-century") for line in lines])
    Isabella().make(source, seed=0, progress=_quiet)


def test_isabella_needs_a_source_a_table_and_soundfile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidOption, match="--source"):
        Isabella().make(None, seed=0, progress=_quiet)
    with pytest.raises(BadFile, match=r"eras\.csv"):
        Isabella().make(tmp_path, seed=0, progress=_quiet)
    source = _material(tmp_path / "r", works=3, seconds=5)
    monkeypatch.setitem(__import__("sys").modules, "soundfile", None)
    with pytest.raises(MissingDependency, match=r"nasbed\[unseen\]"):
        Isabella().make(source, seed=0, progress=_quiet)


MUSICNET = """\
id,composer,composition,movement,ensemble,source,transcriber,catalog_name,seconds
1727,Schubert,Piano Quintet in A major,2. Andante,Piano Quintet,European Archive,http://tirolmusic.blogspot.com/,OP114,447
1728,Schubert,Piano Quintet in A major,3. Scherzo: Presto,Piano Quintet,European Archive,http://tirolmusic.blogspot.com/,OP114,251
1733,Schubert,Piano Sonata in A major,2. Andantino,Solo Piano,Museopen,Segundo G. Yogore,D959,546
"""
"""The head of MusicNet's published table; the lines below follow its columns."""


def _musicnet(folder: Path) -> Path:
    """MusicNet's layout: the table, and sound of 44 100 samples a second in two folders beside the notes' tables."""
    lines = [MUSICNET]
    for place, composer in enumerate(("Bach", "Mozart", "Ravel") * 3):
        work = f'"Quartet, no. {place}",1. Allegro,String Quartet,Isabella Stewart Gardner Museum,x,OP{place},5'
        lines.append(f"{2000 + place},{composer},{work}\n")
    lines.append("9999,Haydn,not unpacked,1.,String Quartet,Museopen,x,OP9,5\n")
    folder.mkdir()
    (folder / "musicnet_metadata.csv").write_text("".join(lines))
    for part in ("train_data", "test_data", "train_labels", "test_labels"):
        (folder / "musicnet" / part).mkdir(parents=True)
    numbers = ["1727", "1728", "1733", *(str(2000 + number) for number in range(9))]
    for place, number in enumerate(numbers):
        path = folder / "musicnet" / ("test_data" if place == 4 else "train_data") / f"{number}.wav"
        soundfile.write(path, _tone(300 + 40 * place, 5, 44_100), 44_100, subtype="FLOAT")
        columns = "start_time,end_time,instrument,note,start_beat,end_beat,note_value\n"
        (folder / "musicnet" / "train_labels" / f"{number}.csv").write_text(
            columns + "9182,90078,43,53,4.0,1.5,Quarter\n"
        )
    return folder


def test_isabella_reads_musicnet_as_a_substitute(tmp_path: Path) -> None:
    source = _musicnet(tmp_path / "m")
    dataset = Isabella().make(source, seed=0, progress=_quiet)
    eras = {"Schubert": "Romantic", "Bach": "Baroque", "Mozart": "Classical", "Ravel": "20th Century"}
    with (source / "musicnet_metadata.csv").open() as file:
        composers = {row["id"]: row["composer"] for row in csv.DictReader(file)}
    used = []
    for part in dataset.parts.values():
        for recording, label in zip(part.origins["recording"].tolist(), part.labels, strict=True):
            assert eras[composers[Path(recording).stem]] == Isabella.classes[label]
            used.append(recording)
    assert len(set(used)) == len(used) == 12 and "musicnet/test_data/2001.wav" in used
    assert dataset.substitute == "eras are those of MusicNet's composers, and 9 of 12 recordings are the museum's"
    with pytest.raises(BadFile, match=r"--genuine does not apply .* MusicNet's composers"):
        Isabella().make(source, seed=0, progress=_quiet, genuine=True)
    table = source / "musicnet_metadata.csv"
    for wrong, message in (
        (MUSICNET.replace("Schubert", "Offenbach"), "got 'Offenbach'"),
        (MUSICNET.replace("composer,", "author,"), "has the columns id and composer and source"),
        (MUSICNET.replace("17", "99"), "no train_data/NUMBER.wav that it names"),
    ):
        table.write_text(wrong)
        with pytest.raises(BadFile, match=r"^[^\n]+$") as caught:
            Isabella().make(source, seed=0, progress=_quiet)
        assert message in str(caught.value)


def test_synthetic_sources_are_named_wherever_a_dataset_is_met(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, isabella: GeneratedDataset
) -> None:
    monkeypatch.setenv("NASBED_HOME", str(tmp_path / "home"))
    write_unseen(Isabella(), isabella, tmp_path / "Isabella", seed=0, progress=_quiet)
    text = (tmp_path / "Isabella" / "card.md").read_text()
    assert (
        text.startswith("# Isabella, made from synthetic sources\n\n**Made from synthetic sources")
        and "62.02" not in text
    )
    metadata = json.loads((tmp_path / "Isabella" / "metadata").read_text())
    assert metadata["synthetic"] is True and "benchmark" not in metadata
    refused = run_command("data", "prepare", "isabella", "--source", tmp_path / "Isabella")
    assert refused.returncode == 2 and "call it isabella-synthetic" in refused.stderr
    run_command("data", "prepare", "isabella-synthetic", "--source", tmp_path / "Isabella")
    assert "Isabella, made from synthetic sources" in run_command("data", "info", "isabella-synthetic").stdout
    assert "made from synthetic sources" in run_command("data", "check", tmp_path / "Isabella").stdout
    dataset = open_dataset(str(tmp_path / "Isabella"))
    assert (published().accuracy("isabella", "resnet18"), published().accuracy(dataset.name, "resnet18")) == (
        62.02,
        None,
    )


@given(available=st.lists(st.lists(st.integers(1, 20_000), min_size=4, max_size=4), min_size=3, max_size=3))
def test_counts_are_published_or_fewer_and_never_more_than_there_are(available: list[list[int]]) -> None:
    array = np.array(available)
    counts = _counts(array, (50_000, 10_000, 10_000))
    scarcest = array.min(axis=1)
    assert all(1 <= count <= have for count, have in zip(counts, scarcest, strict=True))
    enough = (scarcest >= [12_500, 2_500, 2_500]).all()
    assert (counts == (12_500, 2_500, 2_500)) == enough
