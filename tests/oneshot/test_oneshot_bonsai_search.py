"""Whole searches by Bonsai-Net: that they learn and prune, repeat and resume exactly, and say when they fail."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch")

import nasbed  # noqa: E402
from nasbed import Architecture, datasets  # noqa: E402
from nasbed.core.errors import BadFile, InvalidOption  # noqa: E402
from nasbed.oneshot import BonsaiSettings, SearchEpoch, SearchResult, SearchSettings, search  # noqa: E402
from nasbed.oneshot.checkpoint import SEARCH  # noqa: E402
from nasbed.oneshot.pruning import gradient  # noqa: E402
from nasbed.oneshot.pruning.search import PruningSearch  # noqa: E402
from nasbed.oneshot.search_interface import SearchSetup  # noqa: E402
from nasbed.spaces.bonsai import BonsaiGenotype, Frame  # noqa: E402
from nasbed.training import Recipe, train  # noqa: E402
from nasbed.training.accuracy import accuracy  # noqa: E402
from nasbed.training.devices import threads_used  # noqa: E402
from nasbed.training.images import TrainingImages  # noqa: E402
from support.documentation import page_text  # noqa: E402
from support.recordings import CpuGradientRecording  # noqa: E402

TINY = BonsaiSettings(
    cells="nr", nodes=1, channels=4, epochs=4, batch=16, epoch_images=48, split=(400, 100), interval=1,
    compression=20.0, input_compression=20.0, target=0.2, least_open=0.5, drop_path=0.1, crop_padding=1,
)  # fmt: skip
LEARNING = replace(
    TINY, epochs=6, batch=32, epoch_images=320, split=(1000, 300), compression=1.0, input_compression=1.0, target=0.4,
    least_open=0.25, drop_path=0.0, crop_padding=0, learning_rate=0.1,
)  # fmt: skip


def run(settings: BonsaiSettings, **options: Any) -> SearchResult:
    with threads_used(1):
        return search("bonsai-net", datasets.load("digits"), settings, **options)


def without_time(epoch: SearchEpoch) -> dict[str, Any]:
    stored = {name: getattr(epoch, name) for name in SearchEpoch.__dataclass_fields__ if name != "search_time_s"}
    return stored | {"parameters": {name: values.tolist() for name, values in epoch.parameters.items()}}


def genotype(searched: SearchResult) -> BonsaiGenotype:
    assert searched.architecture is not None
    return BonsaiGenotype.of(searched.architecture)


def assert_same(first: SearchResult, second: SearchResult) -> None:
    assert (first.status, first.architecture) == (second.status, second.architecture)
    for a, b in zip(first.epochs, second.epochs, strict=True):
        assert without_time(a) == without_time(b)
    assert first.network is not None and second.network is not None
    weights = second.network.state_dict()
    assert all(torch.equal(value, weights[name]) for name, value in first.network.state_dict().items())


@pytest.fixture(scope="module")
def learnt() -> SearchResult:
    return run(LEARNING)


def test_search_learns_digits_and_prunes_to_its_target(learnt: SearchResult) -> None:
    """Ten classes: chance is 10 per cent."""
    assert learnt.status == "ok" and learnt.architecture is not None
    first, last = learnt.epochs[0], learnt.epochs[-1]
    present = [epoch.figures["present"] for epoch in learnt.epochs]
    assert present[-1] < present[0] <= 28
    assert last.figures["size"] <= LEARNING.target and genotype(learnt).size <= last.figures["size"]
    assert last.train_loss < first.train_loss and (last.validation_accuracy or 0) > 40
    assert last.figures["compression_loss"] == 0.0 < first.figures["compression_loss"]  # the target is reached
    assert (last.figures["operations"], last.architecture) == (genotype(learnt).kept, learnt.architecture)
    assert all(after <= before for before, after in pairwise(present))
    assert last.skips == genotype(learnt).skips() and set(last.parameters) == {"pruners"}
    nasbed.space("bonsai-nr-1").validate(last.architecture)


def test_search_without_compression_keeps_more(learnt: SearchResult) -> None:
    free = run(replace(LEARNING, compression=0.0, input_compression=0.0, epochs=2, epoch_images=64))
    assert free.epochs[-1].figures["size"] > 0.5 > learnt.epochs[-1].figures["size"]
    assert {epoch.figures["compression_loss"] for epoch in free.epochs} == {0.0}


def test_found_network_is_the_one_that_was_searched_with(learnt: SearchResult) -> None:
    assert learnt.network is not None and learnt.architecture is not None
    with threads_used(1):
        images = TrainingImages(datasets.load("digits"), LEARNING.recipe())
        measured = accuracy(learnt.network, images, "valid", LEARNING.recipe())
    assert measured == learnt.epochs[-1].validation_accuracy
    parameters = sum(weight.numel() for weight in learnt.network.parameters())
    assert parameters == learnt.epochs[-1].figures["network_parameters"]


def test_found_architecture_trains_from_scratch_by_a_recipe(learnt: SearchResult) -> None:
    assert learnt.architecture is not None
    digits = datasets.load("digits")
    recipe = Recipe(
        name="short",
        epochs=(3,),
        batch=32,
        learning_rate=0.1,
        epoch_images=512,
        drop_path=0.1,
        skeleton={"channels": 4},
    )
    with threads_used(1):
        outcome = train(learnt.architecture, digits, recipe, seed=1)
    assert outcome.status == "ok" and (outcome.test_accuracy or 0) > 40


def test_search_repeats_resumes_and_survives_a_death_while_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Interrupted after the second epoch, when operations have been removed, and killed while it writes the third."""
    uninterrupted = run(TINY, seed=3)
    assert uninterrupted.status == "ok" and uninterrupted.epochs[1].figures["present"] < 28

    def interrupt(end: SearchEpoch) -> None:
        if end.epoch == 2:
            raise KeyboardInterrupt

    path = tmp_path / "deep" / "search.ckpt"
    with pytest.raises(KeyboardInterrupt):
        run(TINY, seed=3, checkpoint=path, progress=interrupt)
    saved = path.read_bytes()

    def die(*_: Any) -> None:
        raise SystemExit

    with monkeypatch.context() as patched, pytest.raises(SystemExit):
        patched.setattr(Path, "replace", die)
        run(TINY, seed=3, checkpoint=path)
    assert path.read_bytes() == saved and list(path.parent.iterdir()) == [path]
    torch.rand(5)
    reported: list[SearchEpoch] = []
    resumed = run(TINY, seed=3, checkpoint=path, progress=reported.append)
    assert [end.epoch for end in reported] == [3, 4]
    assert_same(uninterrupted, resumed)
    assert_same(uninterrupted, run(TINY, seed=3, checkpoint=path))
    with pytest.raises(InvalidOption, match="seed 3, not 4"):
        run(TINY, seed=4, checkpoint=path)
    with pytest.raises(InvalidOption, match=r"the setting target 0\.2, not 0\.3"):
        run(replace(TINY, target=0.3), seed=3, checkpoint=path)
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(BadFile, match="damaged"):
        run(TINY, seed=3, checkpoint=path)


def test_search_depends_on_its_seed_and_leaves_torchs_generator_alone() -> None:
    state, short = torch.get_rng_state(), replace(TINY, epochs=1)
    first, same, second = (run(short, seed=seed) for seed in (0, 0, 1))
    assert torch.equal(torch.get_rng_state(), state)
    assert_same(first, same)
    assert first.epochs[0].train_loss != second.epochs[0].train_loss


def test_search_by_recorded_gradients_equals_steps_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A recording is made where the network changed: when paths begin to be dropped, and after each removal."""
    expected = run(TINY)
    removals = sum(a.figures["present"] != b.figures["present"] for a, b in pairwise(expected.epochs[:-1]))
    monkeypatch.setattr(gradient, "is_captured", lambda *_: True)
    monkeypatch.setattr(gradient, "Recording", CpuGradientRecording)
    CpuGradientRecording.created = CpuGradientRecording.closed = 0
    assert_same(run(TINY), expected)
    assert removals > 0 and CpuGradientRecording.created == CpuGradientRecording.closed <= 2 + removals


def test_search_that_cannot_be_recorded_goes_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> None:
        raise RuntimeError("operation not permitted when stream is capturing")

    expected = run(TINY)
    monkeypatch.setattr(gradient, "is_captured", lambda *_: True)
    monkeypatch.setattr(gradient, "Recording", failing)
    assert_same(run(TINY), expected)


def test_deadheading_is_for_good_and_never_cuts_the_output_off() -> None:
    settings = replace(TINY, epochs=6, compression=100.0, target=0.01)
    with threads_used(1):
        setup = SearchSetup("bonsai-net", "bonsai-nr-1", datasets.load("digits"), settings, {}, 0, torch.device("cpu"))
        running = PruningSearch(setup)
        before = running.present
        modules = len(list(running.gated.modules()))
        for number in range(3):
            assert not isinstance(running.epoch(number, 0.0), str)
            after = running.present
            assert all(
                was_present or not is_present for was_present, is_present in zip(before.flags, after.flags, strict=True)
            )
            assert running.gated.pruners.removed.tolist() == [not flag for flag in after.flags]
            before = after
        assert before.kept < 28 and len(list(running.gated.modules())) < modules
        with torch.no_grad():
            running.gated.pruners.weights.fill_(-0.05)
            running.gated.pruners.shares.zero_()
        running.deadhead()
        assert 1 <= running.present.kept <= 3  # a chain of one operation a cell, or one that passes the first by
        moved = {id(weight) for group in running.optimizer.param_groups for weight in group["params"]}
        assert moved == {id(weight) for weight in running.gated.parameters()}


def test_search_whose_gates_all_close_opens_them_again() -> None:
    settings = replace(TINY, epochs=2, interval=2, target=0.01, compression=1e3, learning_rate=0.1, gradient_clip=None)
    result = run(settings)
    assert result.status == "ok" and genotype(result).kept >= 1


def test_search_that_diverges_says_so() -> None:
    result = run(replace(TINY, learning_rate=1e30, gradient_clip=None))
    assert result.status == "diverged" and result.architecture is None and result.network is None
    assert "not a finite number" in result.reason


def test_search_computes_in_bfloat16() -> None:
    short = replace(TINY, epochs=1, drop_path=0.0)
    rounded, exact = run(replace(short, precision="bfloat16")), run(short)
    assert rounded.status == "ok" and rounded.epochs[0].train_loss != exact.epochs[0].train_loss
    assert rounded.epochs[0].train_loss == pytest.approx(exact.epochs[0].train_loss, rel=0.1)


@pytest.mark.thorough
def test_bonsai_page_runs_as_printed(capsys: pytest.CaptureFixture[str]) -> None:
    page = page_text("bonsai")
    (block,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    with threads_used(1):
        exec(block, {})
    printed = capsys.readouterr().out
    assert '{"cells": "nr"' in printed and "test accuracy" in printed


def test_search_refuses_what_does_not_belong_to_it() -> None:
    digits = datasets.load("digits")
    with pytest.raises(InvalidOption, match="set by BonsaiSettings, got SearchSettings"):
        search("bonsai-net", digits, SearchSettings())
    with pytest.raises(InvalidOption, match="set by SearchSettings, got BonsaiSettings"):
        search("darts", digits, TINY)
    with pytest.raises(InvalidOption, match="searches bonsai-nr-1, got 'darts'"):
        search("bonsai-net", digits, TINY, space="darts")
    with pytest.raises(InvalidOption, match="no options beside its settings"):
        search("bonsai-net", digits, TINY, options={"target": 0.1})


# --- what earlier versions wrote -------------------------------------------------------------------------------------


def test_earlier_functions_still_work_and_warn() -> None:
    from nasbed.oneshot import bonsai

    rng = np.random.default_rng(0)
    with pytest.warns(DeprecationWarning, match=r'space\("bonsai"\)\.random; the former name goes in version 0\.3'):
        arch = bonsai.random_architecture(Frame("nr", 1), rng, target=0.3)
    assert arch.architecture == nasbed.space("bonsai-nr-1").sample(np.random.default_rng(0))
    digits = datasets.load("digits")
    with pytest.warns(DeprecationWarning, match=r"is now nasbed\.networks\.build"):
        first, same, different = (bonsai.untrained(arch, digits, channels=4, seed=seed) for seed in (1, 1, 2))
    assert torch.equal(first.stem[0].weight, same.stem[0].weight)
    assert not torch.equal(first.stem[0].weight, different.stem[0].weight)
    with threads_used(1), pytest.warns(DeprecationWarning, match=r'oneshot\.search\("bonsai-net", …\)'):
        assert bonsai.search(digits, replace(TINY, epochs=1)).status == "ok"


def test_checkpoint_of_an_earlier_version_is_resumed_to_the_same_end(tmp_path: Path) -> None:
    """It had the epochs in its state, with the architectures as JSON of a form of their own, and no pruners."""
    path = tmp_path / "search.ckpt"

    def interrupt(end: SearchEpoch) -> None:
        if end.epoch == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(TINY, seed=3, checkpoint=path, progress=interrupt)
    content = SEARCH.content(path)
    epochs = [
        {
            **{name: stored[name] for name in ("epoch", "validation_accuracy", "train_loss", "search_time_s")},
            **{name: stored["figures"][name] for name in ("operations", "present", "size", "compression_loss")},
            "parameters": stored["figures"]["network_parameters"],
            "architecture": BonsaiGenotype.of(Architecture.from_json(stored["architecture"])).to_json(),
        }
        for stored in content["epochs"]
    ]
    identity = json.loads(content["identity"])
    assert "space" not in identity
    SEARCH.write(path, identity, {"state": content["state"] | {"epochs": epochs}, "epochs": []})
    resumed, uninterrupted = run(TINY, seed=3, checkpoint=path), run(TINY, seed=3)
    assert resumed.architecture == uninterrupted.architecture and len(resumed.epochs) == 4
    for before, after in zip(resumed.epochs, uninterrupted.epochs, strict=True):
        assert without_time(before) | {"parameters": 0} == without_time(after) | {"parameters": 0}
