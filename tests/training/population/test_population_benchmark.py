"""benchmarks/population.py runs on a CPU, and its baselines compute what they are compared for."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from nasbed.training.images import TrainingImages

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def _benchmarks_on_the_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parents[3] / "benchmarks")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))


@pytest.mark.thorough
def test_population_benchmark_prints_tables_and_writes_all_numbers(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from population import main

    main(["--device", "cpu", "--smoke", "--cases", "nb201-27x18", "--out", str(tmp_path / "out.json")])
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 150
    written = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    (case,) = written["cases"]
    assert case["failures"] == {}
    assert case["recipe"]["batch"] == 8
    assert set(case["times_the_plain_loop"]) == {"vmap 2", "population", "end to end"}
    times, limits = case["times"], case["limits"]
    assert times["steps"] == 2 * 3
    assert times["whole_s"] > times["steps"] * times["step_s"] / 2
    share = times["step_bytes"] / times["step_s"] / written["environment"]["copy_bytes_a_second"]
    assert limits["copy_percent"] == pytest.approx(100 * share)
    assert all(distances["population"] < 1e-4 < distances["bfloat16"] for distances in case["gradient_distances"])


def test_population_that_fails_is_listed_and_the_baselines_continue(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import population

    def refuse(*_: object) -> None:
        raise RuntimeError("out of memory\non the device")

    monkeypatch.setattr(population, "Measured", refuse)
    population.main(["--device", "cpu", "--smoke", "--cases", "nb101-*", "--out", str(tmp_path / "out.json")])
    assert capsys.readouterr().out.endswith("nb101-16x16: population: RuntimeError: out of memory\n")
    (case,) = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["cases"]
    assert (case["times"], case["limits"]) == (None, None)
    assert set(case["baselines"]) == {"plain loop", "vmap 2"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--cases", "nb301-*"], "no case matches nb301-*; there are nb201-16x16, "),
        (["--space", "nb201", "--dataset", "mnist"], "nasbed data prepare mnist"),
    ],
)
def test_unknown_case_or_dataset_is_refused_in_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from population import main

    with pytest.raises(SystemExit):
        main(["--device", "cpu", *arguments])
    assert message in capsys.readouterr().err


def test_seeds_under_vmap_take_the_step_of_a_plain_loop() -> None:
    from population_training.baselines import Alone, ManySeeds
    from population_training.cases import CASES, smaller

    case = smaller(next(case for case in CASES if case.name == "darts-16x16"))
    recipe = replace(case.recipe, precision="float32")
    dataset, (job, *_) = case.load(), case.jobs(0)
    setting = dataset, recipe, TrainingImages(dataset, recipe), CPU
    many = ManySeeds(job, 2, *setting)
    many.step()
    for seed in range(2):
        single = Alone(replace(job, seed=seed), *setting)
        single.step()
        for name, weight in single.network.named_parameters():
            assert torch.allclose(many.weights[name][seed], weight, rtol=1e-3, atol=1e-5), name


def test_kernels_of_a_trace_are_grouped_by_name_and_launch_shape() -> None:
    from population_training.timing import grouped_kernels

    def event(name: str, duration: float, grid: list[int]) -> dict[str, object]:
        return {"name": name, "dur": duration, "args": {"grid": grid, "block": [32, 1, 1], "registers per thread": 40}}

    events = [event("conv", 2.0, [8, 1, 1]), event("norm", 1.0, [8, 1, 1]), event("conv", 4.0, [8, 1, 1])]
    first, second, third = grouped_kernels([*events, event("conv", 3.0, [4, 1, 1])])
    assert (first.name, first.grid, first.launches, first.registers) == ("conv", (8, 1, 1), 2, 40)
    assert first.share == pytest.approx(0.6)
    assert first.seconds == pytest.approx(6e-6)
    assert (second.grid, third.name) == ((4, 1, 1), "norm")
