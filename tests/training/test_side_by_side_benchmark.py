"""benchmarks/side_by_side.py runs on a CPU, and its ratio is that of the times beside it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs torch")

TIMED = re.compile(r"^(.+?) +([\d.]+) ms(?: +([\d.]+)x)?$", re.M)


@pytest.fixture(autouse=True)
def _benchmarks_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")


@pytest.mark.thorough
def test_side_by_side_benchmark_prints_times_and_their_ratio(capsys: pytest.CaptureFixture[str]) -> None:
    from side_by_side import main

    main(["--steps", "2", "--batch", "2", "--datasets", "random:1x4x4,random:2x4x4", "--device", "cpu"])
    first, *lines = capsys.readouterr().out.splitlines()
    assert first == "resnet18, batches of 2, the best of 3 × 2 steps, CPU"
    times = {match[1]: float(match[2]) for match in map(TIMED.fullmatch, lines) if match}
    alone = times["random:1x4x4"] + times["random:2x4x4"]
    assert times["2 datasets one after another"] == pytest.approx(alone, abs=0.02) and len(times) == len(lines) == 4
    (ratio,) = (float(match[3]) for match in map(TIMED.fullmatch, lines) if match and match[3])
    assert ratio == pytest.approx(alone / times["2 datasets side by side"], rel=0.01, abs=0.01)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--network", "resnet-18"], "did you mean resnet18"),
        (["--datasets", "random:1x8x8,random:1x9x8"], "see images of one size, these see 8 × 8, 9 × 8 pixels"),
        (["--steps", "0"], "epoch_images of a recipe is a batch of 64 or more"),
    ],
)
def test_side_by_side_benchmark_refuses_in_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from side_by_side import main

    with pytest.raises(SystemExit):
        main(["--device", "cpu", *arguments])
    assert message in capsys.readouterr().err
