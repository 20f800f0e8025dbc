"""What a submission learns of its dataset: the images and labels, and nothing that names them."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from nasbed.challenge import isolation
from nasbed.challenge.contest_data import open_contest_data
from nasbed.challenge.disguise import Disguise, codenames, draw_disguise, running_order
from nasbed.challenge.isolation import choose_isolation
from nasbed.challenge.organiser_secret import organiser_secret
from nasbed.challenge.submission import open_submission
from nasbed.core.errors import BadFile
from nasbed.datasets.unseen import UNSEEN
from support.identifying_submission import write_identifying_submission
from support.submissions import CLASSES, TESTED, run_on, write_dataset, write_submission

BENCHMARK = 57.83


@pytest.mark.sandbox
@pytest.mark.parametrize("started_by", ["anyone", "a user who is not root"])
def test_submission_written_to_identify_its_dataset_fails_to(
    tmp_path: Path, started_by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without root it has the user of the launcher, whose memory names the folders."""
    if started_by != "anyone":
        monkeypatch.setattr(isolation, "_users", lambda kind: [None])
    chosen = choose_isolation("auto")
    if chosen.kind != "namespaces":
        pytest.skip(f"needs namespaces, which this system does not give: {'; '.join(chosen.notes)}")
    data = write_dataset(tmp_path / "Wombatseract", benchmark=BENCHMARK, images=400)
    metadata = json.loads((data / "metadata").read_text())
    metadata |= {"codename": "Quokkanist", "classes": ["burrowing", "pouched", "nocturnal", "extinct"]}
    (data / "metadata").write_text(json.dumps(metadata | {"made_by": "nasbed 7.8.9", "sources": {"echidna.pgn": "a1"}}))
    (data / "card.md").write_text("# Quokkanist")
    words = ["Wombatseract", "Quokkanist", "burrowing", "nasbed 7.8.9", "echidna.pgn", str(BENCHMARK), str(tmp_path)]
    prefixes = {str(Path(prefix).resolve()) for prefix in (sys.prefix, sys.base_prefix)}
    entry = write_identifying_submission(
        tmp_path / "entry", data, words=words, skipped=["/proc", "/sys", "/usr", *prefixes]
    )
    runs = tmp_path / "runs"
    (result,) = run_on(entry, [data], runs, disguise="full")
    folder = runs / "entry" / "Wombatseract"
    log = (folder / "log.txt").read_text()
    assert result.ended == "finished", log
    assert "MEANS []" in log, log
    assert "KEYS ['codename', 'input_shape', 'num_classes', 'time_remaining']" in log, log  # those the kit documents
    assert f"KNOWN IMAGES {TESTED}" in log  # the limit: who carries hashes of public images recognises those

    # the organiser has it all: labels as in the files, predictions in their order, the key
    assert result.raw == 100
    np.testing.assert_array_equal(np.load(folder / "predictions.npy"), np.load(data / "test_y.npy"))
    key = json.loads((folder / "key.json").read_text())
    assert (key["dataset"], key["codename"]) == ("Wombatseract", result.codename)
    assert re.fullmatch(rf"({'|'.join(codenames())})-\d{{4}}", result.codename) and sorted(
        key["class_numbers"]
    ) == list(range(CLASSES))
    assert [path.stat().st_mode & 0o077 for path in (runs / "organiser.key", folder / "key.json")] == [0, 0]


def test_disguise_is_undone_by_its_inverse() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 7, 500).astype(np.int16)
    for disguise in (Disguise("full", "Sadie", 2**100 + 1, 7), Disguise("none", "own", 0, 7)):
        shown = disguise.shown_labels(labels)[disguise.order("test_y", 500)]
        assert shown.dtype == labels.dtype and sorted(np.bincount(shown)) == sorted(np.bincount(labels))
        np.testing.assert_array_equal(disguise.original_predictions(shown.astype(np.int64)), labels)
        wrong = disguise.original_predictions(np.where(shown == shown[0], -1, 7 + shown.astype(np.int64)))
        assert not np.isin(wrong, labels).any()  # what is no class never becomes one
    full = Disguise("full", "Sadie", 5, 7)
    orders = [full.order(part, 500) for part in ("train_x", "train_y", "valid_x", "test_x")]
    np.testing.assert_array_equal(orders[0], orders[1])
    assert (orders[0] == orders[2]).mean() < 0.05 and (orders[0] == orders[3]).mean() < 0.05


def test_disguise_differs_by_submission_and_dataset_and_repeats_for_the_organiser(tmp_path: Path) -> None:
    datasets = [open_contest_data(write_dataset(tmp_path / f"data{number}")) for number in range(6)]
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "organiser.key").write_text("5a" * 32)  # of other secrets one in 200 draws a codename twice
    secret = organiser_secret(tmp_path / "runs")
    drawn, orders = [], set()
    for number in range(20):
        with open_submission(write_submission(tmp_path / f"team{number}"), tmp_path) as entry:
            drawn += [draw_disguise("full", secret, entry, data) for data in datasets]
            orders.add(tuple(data.name for data in running_order("full", secret, entry, datasets)))
            assert drawn[-1] == draw_disguise("full", organiser_secret(tmp_path / "runs"), entry, datasets[-1])
            assert drawn[-1] != draw_disguise("full", organiser_secret(tmp_path / "other"), entry, datasets[-1])
    assert len({disguise.seed for disguise in drawn}) == 120 and len({item.codename for item in drawn}) == 120
    assert len(orders) > 10
    names = {UNSEEN.get(name)().title for name in UNSEEN}
    assert len(names) == 8 and not names & set(codenames())
    (tmp_path / "runs" / "organiser.key").write_text("guess")
    with pytest.raises(BadFile, match="64 hexadecimal digits"):
        organiser_secret(tmp_path / "runs")
