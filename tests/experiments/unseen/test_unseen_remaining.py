"""The script that measures what nasbed lacks on unseen datasets stops in time, and resumes on another machine."""

from __future__ import annotations

import runpy
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs torch")

from nasbed.experiments.unseen.published import published
from nasbed.experiments.unseen.results import read_results, shipped_results
from nasbed.training import load_recipe

ROOT = Path(__file__).parents[3]
FINDINGS = ROOT / "docs" / "findings" / "data"
SCRIPT = runpy.run_path(str(ROOT / "campaigns" / "unseen_remaining.py"))
MAIN: Callable[[list[str]], None] = SCRIPT["main"]


def rehearse(state: Path, *options: str) -> None:
    MAIN(["none", str(state), "--rehearse", "--device", "cpu", "--jobs", "pc-darts-multnist", *options])


def test_unseen_remaining_stops_after_an_epoch_and_packs_what_resumes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], thorough: bool
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    rehearse(first, "--seconds", "0")
    printed = capsys.readouterr().out
    assert printed.count("epoch 1: loss") == 1 and printed.endswith("stopped, the same command resumes\n")
    with tarfile.open(first / "take-along.tar") as archive:
        archive.extractall(second, filter="data")
    assert [path.name.split("-search-")[0] for path in (second / "checkpoints").iterdir()] == ["digits-pc-darts-0"]
    rehearse(second, *(() if thorough else ("--seconds", "0")))
    assert "epoch 2: loss" in capsys.readouterr().out
    if thorough:
        models = [(result.model, list(result.validated)) for result in read_results([second / "results.jsonl"])]
        assert models == [("pc-darts", ["1", "2"]), ("rs-darts", ["1", "2"])]


def test_unseen_remaining_runs_jobs_at_once_and_names_those_that_fail(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], thorough: bool
) -> None:
    options = ["--rehearse", "--device", "cpu", "--at-once", "2", "--jobs", "pc-darts-multnist", "gdas-chesseract"]
    MAIN(["none", str(tmp_path), *options, "--seconds", "0"])
    assert capfd.readouterr().out == "", "no job starts after its time"
    MAIN(["none", str(tmp_path), *options, "--seconds", "1"])
    printed = capfd.readouterr().out
    assert all(f"digits, {method} 0: search of 2 epochs, epoch 1" in printed for method in ("pc-darts", "gdas"))
    with tarfile.open(tmp_path / "take-along.tar") as archive:
        assert len([name for name in archive.getnames() if "-search-" in name]) == 2
    if thorough:
        (tmp_path / "results.jsonl").write_text("no result")
        with pytest.raises(SystemExit, match=r"^failed, see above: .*gdas-chesseract"):
            MAIN(["none", str(tmp_path), *options, "--seconds", "1000"])


def test_unseen_remaining_leaves_what_is_too_large(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state = tmp_path / "state"
    (state / "checkpoints").mkdir(parents=True)
    (state / "checkpoints" / "large.pt").write_bytes(bytes(2**20))
    (state / "results.jsonl").write_text("{}\n")
    SCRIPT["take_along"](state, 0.5)
    with tarfile.open(state / "take-along.tar") as archive:
        assert archive.getnames() == ["results.jsonl"]
    assert "left here: checkpoints/large.pt" in capsys.readouterr().out


def test_unseen_remaining_names_cells_that_are_not_shipped(capsys: pytest.CaptureFixture[str]) -> None:
    MAIN(["--list"])
    names = capsys.readouterr().out.split()
    jobs: dict[str, Any] = SCRIPT["JOBS"]
    assert names == list(jobs)
    presets = {(result.model, result.dataset) for result in shipped_results() if result.preset}
    released = {
        (line.model, line.dataset, line.recipe["name"])
        for line in read_results([FINDINGS / "unseen-as-released.jsonl"])
        if line.epochs == 64
    }
    for job in jobs.values():
        dataset = job.keywords["name"]
        assert dataset in published().datasets
        if job.keywords.get("as_released"):
            recipe = job.keywords.get("recipe", "unseen")
            for model in job.keywords["models"]:
                assert (model, f"{dataset}-as-released", recipe) not in released, "write once, then remove the job"
            continue
        for model in job.keywords["methods"]:
            assert (model, dataset) not in presets, "ship once, then remove the job"


def test_unseen_remaining_has_recipes_that_differ_from_the_papers_in_what_they_say() -> None:
    usual = load_recipe("unseen").settings()
    differing: dict[str, dict[str, Any]] = {}
    for job in SCRIPT["JOBS"].values():
        if name := job.keywords.get("recipe"):
            settings = load_recipe(ROOT / "campaigns" / f"{name}.toml").settings()
            assert settings["name"] == name
            changed = {key for key in settings if settings[key] != usual[key]} - {"name", "source"}
            differing[name] = {key: settings[key] for key in changed}
    assert differing == {
        "unseen-tile-rate": {"learning_rate": 0.1},
        "unseen-moved-images": {"crop_padding": 4, "flip": True},
    }


def test_unseen_remaining_starts_with_stopped_jobs_unless_the_state_is_further(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped, state = tmp_path / "stopped", tmp_path / "state"
    checkpoint, record = Path("checkpoints", "a.ckpt"), Path("searches", "b", "search.json")
    for path in (stopped / checkpoint, stopped / record, state / checkpoint):
        path.parent.mkdir(parents=True)
        path.write_text(path.relative_to(tmp_path).parts[0])
    monkeypatch.setitem(SCRIPT["start_with_stopped_jobs"].__globals__, "STOPPED", stopped)
    SCRIPT["start_with_stopped_jobs"](state)
    assert (state / checkpoint).read_text() == "state", "what is further stays"
    assert (state / record).read_text() == "stopped"


def test_unseen_remaining_keeps_only_what_a_job_needs() -> None:
    left: Path = SCRIPT["STOPPED"]
    names = {path.relative_to(left) for path in left.rglob("*") if path.is_file()}
    waiting = {job.keywords["name"] for job in SCRIPT["JOBS"].values()}
    assert {name.parts[1].split("-")[0] for name in names} <= waiting, "remove what no job needs"
