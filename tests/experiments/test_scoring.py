"""Scoring many networks: the same scores in one process or several, killed or not, in one go or in pieces."""

from __future__ import annotations

import signal
from dataclasses import replace
from pathlib import Path
from subprocess import DEVNULL
from time import monotonic, sleep
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs torch")

import torch

import nasbed
from nasbed import datasets
from nasbed.core.architecture import Architecture
from nasbed.core.errors import BadFile, InvalidMeasurement, InvalidOption, UnknownName
from nasbed.core.execution import LocalEngine, SerialEngine
from nasbed.core.user_code import object_named
from nasbed.datasets import store
from nasbed.experiments.score_journal import journal_of
from nasbed.experiments.scorer import scoring_batch
from nasbed.experiments.scoring import random_architectures, score_architectures
from nasbed.networks import build
from nasbed.proxies import PROXIES, Proxy, score_all
from nasbed.proxies.table import ScoreTable
from nasbed.training.devices import threads_used
from nasbed.training.random_streams import initial_weights
from nasbed.training.recipe_files import load_recipe, recipe_toml
from support.forks import fork_command

FEW = ("params", "snip", "nwot")


def cells(count: int) -> list[Architecture]:
    return random_architectures(nasbed.space("nb201"), count, np.random.default_rng(0))


def scored(out: Path, archs: list[Architecture], **settings: object) -> ScoreTable:
    options = {"proxies": FEW, "recipe": "small-nb201", "batch": 8, "engine": SerialEngine()} | settings
    return score_architectures(archs, dataset="digits", out=out, **options)  # type: ignore[arg-type]


def same(first: ScoreTable, second: ScoreTable) -> None:
    np.testing.assert_array_equal(first.codes, second.codes)
    assert first.seeds == second.seeds and set(first.proxies) == set(second.proxies)
    for name in first.proxies:
        np.testing.assert_array_equal(first.of(name), second.of(name))


def test_a_score_is_that_of_the_network_with_the_weights_and_images_of_its_seed(tmp_path: Path) -> None:
    archs = cells(2)
    table = scored(tmp_path / "s.parquet", archs, recipe="", seeds=(0, 3))
    data = datasets.load("digits")
    for row, code in enumerate(table.codes.tolist()):
        arch = Architecture("nb201", tuple(code))
        for column, seed in enumerate((0, 3)):
            network = build(arch, classes=10, channels_in=1, image=8)
            initial_weights(network, seed)
            with threads_used(1):
                single = score_all(network, scoring_batch(data, 8, seed=seed), proxies=FEW, seed=seed)
            for name in FEW:
                assert table.of(name)[row, column] == single[name].value
    assert all((table.seconds[name] > 0).all() for name in FEW)


def test_batches_are_normalised_images_of_the_training_part() -> None:
    data = datasets.load("digits")
    images, labels = scoring_batch(data, len(data.train))
    assert images.mean().abs() < 1e-4 and (images.std() - 1).abs() < 1e-2
    assert sorted(labels.tolist()) == sorted(data.train.labels.tolist())
    first, repeated, different = (scoring_batch(data, 16, seed=seed)[0] for seed in (0, 0, 1))
    assert torch.equal(first, repeated) and not torch.equal(first, different)
    with pytest.raises(InvalidOption, match="1 to 1437 images"):
        scoring_batch(data, 1438)


def test_pieces_and_processes_give_the_same_as_one_go(tmp_path: Path) -> None:
    archs = cells(4)
    complete = scored(tmp_path / "whole.parquet", archs, seeds=(0, 1))
    pieces = tmp_path / "pieces.parquet"
    scored(pieces, archs[:2], proxies=("snip",))
    scored(pieces, archs, proxies=("snip", "nwot"), engine=LocalEngine(1))
    counts: list[tuple[int, int]] = []
    repeated = scored(pieces, archs, seeds=(0, 1), progress=lambda completed, total: counts.append((completed, total)))
    same(complete, repeated)
    same(complete, ScoreTable.read(pieces))
    assert counts[0] == (0, 8) and counts[-1] == (8, 8)
    counts.clear()
    scored(pieces, archs, seeds=(0, 1), progress=lambda completed, total: counts.append((completed, total)))
    assert counts == [(8, 8)]  # nothing was left to do
    assert not journal_of(pieces).exists()


@pytest.mark.kill
def test_killed_it_resumes_where_it_was(tmp_path: Path) -> None:
    out = tmp_path / "killed.parquet"
    words = ["proxies", "score", "--space", "nb201", "--count", "8", "--batch", "8", "--recipe", "small-nb201"]
    words += ["--proxies", ",".join(FEW), "--processes", "1", "--out", str(out)]
    process = fork_command(*words, stdout=DEVNULL, stderr=DEVNULL)
    deadline = monotonic() + 120
    while process.poll() is None and monotonic() < deadline:
        if journal_of(out).exists() and journal_of(out).read_bytes().count(b"\n") >= 3:
            process.send_signal(signal.SIGKILL)
            break
        sleep(0.01)
    process.wait()
    journal_before = journal_of(out).read_bytes()
    assert not out.exists() and 3 <= journal_before.count(b"\n") < 9
    journal_of(out).write_bytes(
        journal_before[: -len(journal_before.splitlines()[-1]) // 2]
    )  # a line cut short is as if never written
    counts: list[int] = []
    scored(out, cells(8), progress=lambda completed, total: counts.append(completed))
    assert counts[0] >= 1
    same(ScoreTable.read(out), scored(tmp_path / "whole.parquet", cells(8)))
    assert not journal_of(out).exists()


def test_a_network_that_cannot_be_scored_has_the_reason(tmp_path: Path) -> None:
    """A cell without any connection has no gradient but at the classifier; one image has no correlations."""
    empty = nasbed.space("nb201").parse("|none~0|+|none~0|none~1|+|none~0|none~1|none~2|")
    table = scored(tmp_path / "s.parquet", [empty], proxies=("jacov", "params"), batch=1)
    assert np.isnan(table.of("jacov")).all() and np.isfinite(table.of("params")).all()
    ((reason, times),) = table.reasons().items()
    assert reason.startswith("jacov: ") and times == 1
    same(table, scored(tmp_path / "s.parquet", [empty], proxies=("jacov", "params"), batch=1))


def test_scores_that_no_network_has_are_refused_with_the_reason(tmp_path: Path) -> None:
    """One image has neither correlations nor different patterns. An existing file stays as it was."""
    out = tmp_path / "s.parquet"
    refusal = "none of 2 has one by 'jacov': correlations need two images or more, the batch has 1; nothing was written"
    with pytest.raises(InvalidMeasurement, match=refusal):
        scored(out, cells(2), proxies=("jacov",), batch=1)
    assert not list(tmp_path.iterdir())
    scored(out, cells(2), proxies=("params",), batch=1)
    before = out.read_bytes()
    with pytest.raises(InvalidMeasurement, match=refusal):
        scored(out, cells(2), proxies=("jacov",), batch=1)
    assert out.read_bytes() == before and list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize("name", ["nb101", "darts"])
def test_oblong_images_with_a_constant_channel_are_scored(tmp_path: Path, name: str) -> None:
    """The constant channel becomes zeros; multiply-adds are those of the space for this height and width."""
    images = np.random.default_rng(0).random((12, 2, 27, 18)).astype(np.float32)
    images[:, 1] = 0.3
    labels = np.arange(12) % 3
    dataset = f"oblong-{name}"
    store.write(dataset, datasets.Raw(images, labels, images, labels, ("a", "b", "c")), "made here")
    data = datasets.load(dataset)
    batch, _ = scoring_batch(data, 8)
    assert torch.isfinite(batch).all() and not batch[:, 1].any() and batch[:, 0].std() == pytest.approx(1, abs=0.02)
    searched: Any = nasbed.space(name)
    archs = random_architectures(searched, 1, np.random.default_rng(0))
    settings = {"channels": 4, **({"cells": 3} if name == "darts" else {"cells_per_stack": 1})}
    (tmp_path / "narrow.toml").write_text(
        recipe_toml(replace(load_recipe("small-nb201"), name="narrow", split=(8, 4), skeleton=settings))
    )
    names = ("params", "flops", "snip", "nwot")
    table = score_architectures(
        archs,
        dataset=dataset,
        out=tmp_path / "s.parquet",
        proxies=names,
        recipe=str(tmp_path / "narrow.toml"),
        batch=8,
        engine=SerialEngine(),
    )
    assert not table.missing()
    skeleton = searched.make_skeleton({**settings, "image": (27, 18), "image_channels": 2, "classes": 3})
    parameters, multiply_adds = searched.costs(archs, skeleton)[0]
    assert table.of("params")[0, 0] == parameters and table.of("flops")[0, 0] > multiply_adds


def test_what_would_fail_for_all_is_reported_at_once(tmp_path: Path) -> None:
    out = tmp_path / "s.parquet"
    with pytest.raises(InvalidOption, match="of one space and of 1 architecture or more"):
        scored(out, [])
    with pytest.raises(UnknownName, match="did you mean snip"):
        scored(out, cells(1), proxies=("snipp",))
    with pytest.raises(InvalidOption, match="1 seed or more"):
        scored(out, cells(1), seeds=())
    with pytest.raises(InvalidOption, match="skeleton of nb201"):
        scored(out, cells(1), recipe="small-darts")
    with pytest.raises(InvalidOption, match="1 to 1150 images of digits"):
        scored(out, cells(1), batch=5000)
    assert not out.exists() and not journal_of(out).exists()
    scored(out, cells(1))
    with pytest.raises(InvalidOption, match="holds scores with batch 8, not 16"):
        scored(out, cells(1), batch=16)
    journal_of(out).write_text('{"mine": 1}\n')
    with pytest.raises(BadFile, match="line 1, is not one of a journal of scores"):
        scored(out, cells(2))
    assert journal_of(out).read_text() == '{"mine": 1}\n'


def test_a_second_process_on_the_same_file_is_refused_and_harms_nothing(tmp_path: Path) -> None:
    out = tmp_path / "s.parquet"
    sizes: list[str] = []

    def meanwhile(completed: int, total: int) -> None:
        if completed == 1:
            with pytest.raises(InvalidOption, match="another has it open"):
                scored(out, cells(1))
            sizes.append("refused")

    table = scored(out, cells(3), progress=meanwhile)
    assert sizes == ["refused"] and len(table) == len(ScoreTable.read(out)) == 3
    assert not journal_of(out).exists()


def test_random_architectures_are_different_until_there_are_no_more() -> None:
    space = nasbed.space("transnas-micro")
    rng = np.random.default_rng(1)
    assert len(set(random_architectures(space, 500, rng))) == 500
    assert len(random_architectures(nasbed.space("nb101"), 300, rng)) == 300
    with pytest.raises(InvalidOption, match="4096 architectures, got 4097"):
        random_architectures(space, 4097, rng)


def test_scores_are_bound_to_the_content_of_a_recipe(tmp_path: Path) -> None:
    """Not to its name alone."""
    path, recipe = tmp_path / "mine.toml", load_recipe("small-nb201")
    path.write_text(recipe_toml(recipe))
    for _ in range(2):
        scored(tmp_path / "s.parquet", cells(2), proxies=["params"], recipe=str(path))
    path.write_text(recipe_toml(replace(recipe, split=(500, 100))))
    with pytest.raises(InvalidOption, match=r"holds scores with recipe_sha256 .*; choose another file"):
        scored(tmp_path / "s.parquet", cells(2), proxies=["params"], recipe=str(path))


def test_scores_of_another_version_are_kept_and_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out, notes, before = tmp_path / "s.parquet", list[str](), f"nasbed {nasbed.__version__}"
    scored(out, cells(2), proxies=["params"])
    monkeypatch.setattr(nasbed, "__version__", "9.9.9")
    assert scored(out, cells(2), proxies=["params"], on_note=notes.append).about.source == before
    assert scored(out, cells(3), proxies=["params"], on_note=notes.append).about.source == f"{before}; nasbed 9.9.9"
    assert len(notes) == 2
    assert all(f"has scores by {before}, this is nasbed 9.9.9; they are kept" in note for note in notes)


def test_scores_by_an_edited_proxy_are_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def registered(value: float) -> None:
        (tmp_path / "mine.py").write_text(f"def score(passes):\n    return {value}\n")
        function = object_named(f"{tmp_path / 'mine.py'}:score")
        monkeypatch.setitem(PROXIES._entries, "mine", Proxy("mine", "a number", (), function))

    out, notes = tmp_path / "s.parquet", list[str]()
    registered(1.0)
    names = ["params", "mine"]
    first = scored(out, cells(2), proxies=names)
    registered(2.0)
    repeated = scored(out, cells(2), proxies=names, on_note=notes.append)
    assert set(first.of("mine").ravel()) == {1.0} and set(repeated.of("mine").ravel()) == {2.0}
    assert notes == [f"scores by mine in {out} are made again: its code has changed"]
    np.testing.assert_allclose(repeated.seconds["params"], first.seconds["params"], rtol=1e-6, err_msg="and no others")
