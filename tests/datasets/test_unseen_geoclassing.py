"""GeoClassing: TIFFs of known values, the evenness of countries, and the real patches of bigearthnet-common."""

from __future__ import annotations

import bz2
import json
import tarfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from nasbed.core.errors import BadFile, InvalidOption, MissingDependency
from nasbed.datasets.unseen.export import card, describe
from nasbed.datasets.unseen.geoclassing import GeoClassing, divided, levelled
from nasbed.datasets.unseen.sources.satellite import as_bytes, countries_of, is_published_patch, read_patch

tifffile = pytest.importorskip("tifffile", reason="patches are read with tifffile: pip install 'nasbed[unseen]'")

COUNTRIES = GeoClassing.classes
PUBLISHED = np.array([46_403, 11_701, 233_030, 52_653, 2_140, 58_700, 3_481, 99_248, 78_015, 4_955])
"""Patches of BigEarthNet 1.0 by country, 590 326 in all."""


def _quiet(step: str, count: int, total: int | None) -> None: ...


def _patch(folder: Path, name: str, bands: NDArray[np.uint16]) -> None:
    (folder / name).mkdir(parents=True)
    for band, values in zip(("B04", "B03", "B02"), bands, strict=True):
        tifffile.imwrite(folder / name / f"{name}_{band}.tif", values)


def _material(folder: Path, patches: int = 5) -> Path:
    rng = np.random.default_rng(0)
    lines = ["patch,country"]
    for label, country in enumerate(COUNTRIES):
        for number in range(patches + label % 2):
            name = f"P{label}_{number}"
            _patch(folder / "BigEarthNet-v1.0", name, rng.integers(0, 3_000, (3, 120, 120), np.uint16))
            lines.append(f"{name},{country}")
    (folder / "countries.csv").write_text("\n".join(lines) + "\n")
    return folder


def test_as_bytes_is_the_mean_of_boxes_exactly(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    bands = rng.integers(0, 5_000, (3, 120, 120), np.uint16)
    _patch(tmp_path, "one", bands)
    pixels, _ = read_patch(tmp_path, "one")
    assert pixels.shape == (3, 60, 60)
    for channel, row, column in rng.integers(0, (3, 60, 60), (200, 3)):
        box = bands[channel, 2 * row : 2 * row + 2, 2 * column : 2 * column + 2]
        total = sum(int(value) for value in box.ravel())
        assert pixels[channel, row, column] == min(255, (total * 255 + 6_000) // 12_000)


@pytest.mark.parametrize(("number", "byte"), [(0, 0), (1_000, 85), (3_000, 255), (65_535, 255), (5, 0), (6, 1)])
def test_as_bytes_known_values(number: int, byte: int) -> None:
    assert (as_bytes(np.full((3, 120, 120), number, np.uint16)) == byte).all()


def test_geoclassing_is_divided_without_repeats(tmp_path: Path) -> None:
    dataset = GeoClassing().make(_material(tmp_path / "s"), seed=0, progress=_quiet)
    GeoClassing().check(dataset)
    names = [name for part in dataset.parts.values() for name in part.origins["patch"].tolist()]
    assert len(names) == len(set(names)) == 55
    assert dataset.notes[0].startswith("Reduced: ") and "43821/8758/8751" in dataset.notes[0]
    name = str(dataset.test.origins["patch"][0])
    assert np.array_equal(dataset.test.images[0], read_patch(tmp_path / "s" / "BigEarthNet-v1.0", name)[0])
    repeated = GeoClassing().make(tmp_path / "s", seed=0, progress=_quiet)
    assert np.array_equal(repeated.train.images, dataset.train.images) and repeated.sources == dataset.sources
    other_seed = GeoClassing().make(tmp_path / "s", seed=1, progress=_quiet)
    assert not np.array_equal(other_seed.train.origins["patch"], dataset.train.origins["patch"])


def test_shares_of_the_whole_of_bigearthnet_give_the_published_counts() -> None:
    counts = levelled(PUBLISHED, 61_330)
    assert PUBLISHED.sum() == 590_326 and counts.sum() == 61_330
    assert counts.tolist() == [7_251, 7_251, 7_251, 7_251, 2_140, 7_250, 3_481, 7_250, 7_250, 4_955]
    assert divided(counts, GeoClassing.counts).sum(axis=0).tolist() == [43_821, 8_758, 8_751]


@given(sizes=st.lists(st.integers(3, 400), min_size=1, max_size=12), total=st.integers(1, 3_000))
def test_levelled_and_divided_take_no_more_than_there_is(sizes: list[int], total: int) -> None:
    available = np.array(sizes)
    counts = levelled(available, total)
    assert counts.sum() == min(total, available.sum()) and (counts <= available).all()
    assert (counts[counts < available] >= counts.max() - 1).all()
    shares = divided(available, GeoClassing.counts)
    assert (shares.sum(axis=1) == available).all() and (shares >= 1).all()


def test_geoclassing_errors_name_what_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = _material(tmp_path / "s", patches=3)
    place = source / "BigEarthNet-v1.0"
    make = GeoClassing().make
    with pytest.raises(InvalidOption, match="--source"):
        make(None, seed=0, progress=_quiet)
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadFile, match="has none"):
        make(tmp_path / "empty", seed=0, progress=_quiet)
    band = place / "P1_0" / "P1_0_B03.tif"
    original = band.read_bytes()
    for content in (b"II*\0broken", original[: len(original) // 2], b""):
        band.write_bytes(content)
        with pytest.raises(BadFile, match=r"P1_0_B03\.tif"):
            make(source, seed=0, progress=_quiet)
    tifffile.imwrite(band, np.zeros((60, 60), np.uint16))
    with pytest.raises(BadFile, match="120×120"):
        make(source, seed=0, progress=_quiet)
    band.unlink()
    with pytest.raises(BadFile, match=r"P1_0_B03\.tif cannot be read; get"):
        make(source, seed=0, progress=_quiet)
    band.write_bytes(original)
    table = source / "countries.csv"
    table_text = table.read_text()
    for wrong, match in (
        (table_text.replace("P0_0,Austria", "P0_0,Atlantis"), "Atlantis"),
        (table_text.replace("patch,", "name,"), "columns patch"),
        (table_text + "P0_0,Belgium\n", "is in two"),
        (table_text.replace("P0_0,Austria\n", ""), "Austria has 2"),
    ):
        table.write_text(wrong)
        with pytest.raises(BadFile, match=match):
            make(source, seed=0, progress=_quiet)
    table.write_text(table_text)
    monkeypatch.setitem(__import__("sys").modules, "tifffile", None)
    with pytest.raises(MissingDependency, match=r"nasbed\[unseen\]"):
        make(source, seed=0, progress=_quiet)


def _packaged() -> Path:
    spec = find_spec("bigearthnet_common")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("needs the table and the six patches of: pip install bigearthnet-common")
    return Path(spec.submodule_search_locations[0])


def _published_patch(folder: Path, name: str, rng: np.random.Generator) -> None:
    """A patch in the layout of BigEarthNet 1.0: twelve bands at 10, 20 and 60 m and the file on its place."""
    (folder / name).mkdir(parents=True)
    sides = {"B01": 20, "B09": 20} | dict.fromkeys(("B02", "B03", "B04", "B08"), 120)
    for band in ("B01", "B02", "B03", "B04", "B05", "B06", "B07", "B08", "B09", "B11", "B12", "B8A"):
        side = sides.get(band, 60)
        tifffile.imwrite(folder / name / f"{name}_{band}.tif", rng.integers(0, 3_000, (side, side), np.uint16))
    facts = {
        "labels": ["Non-irrigated arable land"],
        "coordinates": {"ulx": 404400, "uly": 5342400, "lrx": 405600, "lry": 5341200},
        "projection": 'PROJCS["WGS 84 / UTM zone 33N"]',
        "tile_source": "S2A_MSIL1C_20170613T101031_N0205_R022_T33UUP_20170613T101608.SAFE",
        "acquisition_date": "2017-06-13 10:10:31",
    }
    (folder / name / f"{name}_labels_metadata.json").write_text(json.dumps(facts))


@pytest.fixture(scope="module")
def written_layout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three patches of each country, and bigearthnet-common's table of them."""
    root = tmp_path_factory.mktemp("published")
    rng = np.random.default_rng(0)
    rows = ["s1_name,s2_name,country,season"]
    for label, country in enumerate(COUNTRIES):
        for number in range(3):
            name = f"S2{'AB'[number % 2]}_MSIL2A_20170924T93020_{label}_{number}"
            _published_patch(root / "BigEarthNet-v1.0", name, rng)
            rows.append(f"S1A_IW_GRDH_1SDV_20170802T163350_34TCR_{label}_{number},{name},{country},Fall")
    package = root / "site" / "bigearthnet_common"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise AssertionError('the package is read, never run')")
    (package / "s1_s2_name_country_season.csv.bz2").write_bytes(bz2.compress("\n".join(rows).encode()))
    return root


@pytest.fixture
def published_layout(written_layout: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The patches, where Python finds the package with their table."""
    monkeypatch.syspath_prepend(written_layout / "site")
    return written_layout / "BigEarthNet-v1.0"


def test_geoclassing_reads_the_published_layout_and_needs_somebody_to_vouch_for_it(published_layout: Path) -> None:
    doubted = GeoClassing().make(published_layout, seed=0, progress=_quiet)
    vouched = GeoClassing().make(published_layout, seed=0, progress=_quiet, genuine=True)
    assert (doubted.substitute, vouched.substitute) == ("nobody vouched for the material with --genuine", "")
    assert [len(part) for part in vouched.parts.values()] == [10, 10, 10]
    assert next(iter(vouched.sources)) == "bigearthnet-common s1_s2_name_country_season.csv.bz2"
    for dataset, synthetic in ((doubted, True), (vouched, False)):
        metadata = describe(GeoClassing(), dataset, 0)
        assert metadata.get("synthetic", False) is synthetic and "benchmark" not in metadata
        text = card(GeoClassing(), dataset, 0, {})
        assert ("made from synthetic sources" in text) is synthetic and "80.33" not in text
        assert ("Its maker vouches, with --genuine" in text) is not synthetic


def test_geoclassing_keeps_the_papers_figure_only_at_the_published_size(published_layout: Path) -> None:
    class AsLarge(GeoClassing):
        counts = (10, 10, 10)

    for genuine in (False, True):
        dataset = AsLarge().make(published_layout, seed=0, progress=_quiet, genuine=genuine)
        assert describe(AsLarge(), dataset, 0).get("benchmark") == (80.33 if genuine else None)


def test_geoclassing_of_other_patches_is_not_vouched_for(tmp_path: Path, published_layout: Path) -> None:
    source = _material(tmp_path / "s", patches=3)
    with pytest.raises(BadFile, match=r"--genuine does not apply .* 35 of 35 patches are not as BigEarthNet"):
        GeoClassing().make(source, seed=0, progress=_quiet, genuine=True)
    name = sorted(path.name for path in published_layout.iterdir())[0]
    assert is_published_patch(published_layout, name)
    facts = published_layout / name / f"{name}_labels_metadata.json"
    content = facts.read_text()
    for wrong in ("", "[]", content.replace("projection", "map"), content.replace("ulx", "left")):
        facts.write_text(wrong)
        assert not is_published_patch(published_layout, name)
    facts.write_text(content)


def test_countries_of_the_package_are_those_of_bigearthnet(tmp_path: Path) -> None:
    _packaged()
    countries, table, _ = countries_of(tmp_path, COUNTRIES)
    assert np.array_equal(np.bincount(list(countries.values())), PUBLISHED)
    assert table.startswith("bigearthnet-common")


def test_real_patches_are_read(tmp_path: Path) -> None:
    with tarfile.open(_packaged() / "BigEarthNet-S2-Example.tar.bz2") as file:
        file.extractall(tmp_path, filter="data")
    folder = tmp_path / "BigEarthNet-S2-Example"
    names = sorted(path.name for path in folder.iterdir())
    assert len(names) == 6
    for name in names:
        image, _ = read_patch(folder, name)
        red = tifffile.imread(folder / name / f"{name}_B04.tif")
        mean = np.minimum(red.reshape(60, 2, 60, 2).mean(axis=(1, 3)) * 255 / 3_000, 255)
        assert np.abs(image[0] - mean).max() <= 0.5
        assert is_published_patch(folder, name)
    with pytest.raises(BadFile, match="every country has a patch"):
        GeoClassing().make(folder, seed=0, progress=_quiet)
