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

ROOT = Path(__file__).parents[3]
FINDINGS = ROOT / "docs" / "findings" / "data"
SCRIPT = runpy.run_path(str(ROOT / "campaigns" / "unseen_remaining.py"))
MAIN: Callable[[list[str]], None] = SCRIPT["main"]


def rehearse(state: Path, *options: str) -> None:
    MAIN(["none", str(state), "--rehearse", "--device", "cpu", "--jobs", "pc-darts-addnist", *options])


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
    options = ["--rehearse", "--device", "cpu", "--at-once", "2", "--jobs", "pc-darts-addnist", "gdas-chesseract"]
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
    measured = {(result.model, result.dataset) for result in shipped_results()}
    for job in jobs.values():
        dataset = job.keywords["name"]
        assert dataset in published().datasets
        if job.keywords.get("as_released"):
            written = read_results([FINDINGS / "unseen-as-released.jsonl"])
            assert not [line for line in written if (line.dataset, line.epochs) == (f"{dataset}-as-released", 64)]
            continue
        is_preset = job.func is SCRIPT["search_by_preset"]
        for model in job.keywords["methods"]:
            assert (model, dataset) not in (presets if is_preset else measured), "ship once, then remove the job"


def test_unseen_remaining_starts_with_stopped_jobs_unless_the_state_is_further(tmp_path: Path) -> None:
    left: Path = SCRIPT["STOPPED"]
    names = {path.relative_to(left) for path in left.rglob("*") if path.is_file()}
    assert names, "without stopped jobs nothing needs to start with them"
    further = tmp_path / min(names)
    further.parent.mkdir()
    further.write_bytes(b"further")
    SCRIPT["start_with_stopped_jobs"](tmp_path)
    assert {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()} == names
    assert further.read_bytes() == b"further"
    waiting = {job.keywords["name"] for job in SCRIPT["JOBS"].values()}
    assert {name.parts[1].split("-")[0] for name in names} <= waiting, "remove what no job needs"
