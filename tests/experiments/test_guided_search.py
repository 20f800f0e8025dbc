"""Searches that begin with, or draw by, what a zero-cost proxy prefers."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nasbed
from nasbed import Metric, NasbedError, space
from nasbed.core.architecture import Architecture
from nasbed.core.errors import MissingDependency
from nasbed.core.execution import LocalEngine, SerialEngine
from nasbed.experiments.compare import compare
from nasbed.experiments.guidance import OWN_SCORES, Guidance, ProxyFilter, guided
from nasbed.experiments.proxy_scores import ClosedForm, ProxyScores, ScoreFile
from nasbed.experiments.runs import load_run, load_runs
from nasbed.experiments.simulate import problem_of
from nasbed.optimizers import OPTIMIZERS, Optimizer, Proposal
from nasbed.optimizers.evolution import RegularizedEvolution
from nasbed.optimizers.guidance import FilteredSpace, WarmStarted
from nasbed.optimizers.hyperband import Hyperband
from nasbed.optimizers.local_search import LocalSearch
from nasbed.proxies.table import ScoresInfo, table_of_rows
from nasbed.results import Rows, TableInfo, write_results
from nasbed.spaces import SearchSpace
from nasbed.testing.optimizers import FIDELITIES, measured, problem_on, spaces

SMALL: dict[str, dict[str, Any]] = {
    "re": {"population_size": 6},
    "nre": {"population_size": 6},
    "de": {"population_size": 6},
    "nsga2": {"population_size": 6},
    "bananas": {"initial": 6, "k": 3, "members": 1, "layers": 2, "epochs": 3, "candidates": 10},
    "smac": {"initial_per_parameter": 1, "challengers": 50, "local_search_iterations": 1},
    "hebo": {"trees": 3, "population_size": 10, "generations": 2},
    "combo": {"initial": 6, "burn_in": 2, "samples": 2, "starts": 2, "candidates": 10},
}
"""Settings with which every method leaves its start soon."""


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A made-up table of all nb201 cells, each trained in ten seconds."""
    folder = tmp_path_factory.mktemp("guided") / "table"
    metrics = (
        Metric("accuracy", split="validation", bounds=(0, 1)),
        Metric("parameters", direction="minimize"),
    )
    cells = space("nb201")
    codes = cells.codes(list(cells.enumerate()))
    accuracy = np.random.default_rng(0).random(len(codes))
    values = {"validation_accuracy": accuracy, "parameters": cells.costs(codes)[:, 0].astype(np.float64)}
    rows = Rows.of(codes, values, fidelity=200, seed=0, train_time_s=10.0)
    write_results(folder, TableInfo("made-up", "nb201", metrics), [rows])
    return str(folder)


def scored_file(path: Path, count: int, *, seconds: Sequence[float] | None = None, scores: Any = None) -> Path:
    """A file of the first ``count`` nb201 cells, whose score by ``zen`` is their number."""
    codes = [arch.code for arch, _ in zip(space("nb201").enumerate(), range(count), strict=False)]
    values = {"zen": list(range(count)) if scores is None else scores}
    timed = None if seconds is None else {"zen": seconds}
    table_of_rows(ScoresInfo("nb201", "digits"), codes, [0] * count, values, seconds=timed).write(path)
    return path


def make_optimizer(name: str, searched: SearchSpace, seed: int = 0) -> Optimizer:
    try:
        return OPTIMIZERS.get(name)(problem_on(searched), np.random.default_rng(seed), **SMALL.get(name, {}))
    except MissingDependency as missing:
        pytest.skip(str(missing))


# --- the pool --------------------------------------------------------------------------------------------------------


def test_pool_is_ordered_by_parameters(table: str) -> None:
    benchmark = nasbed.load(table)
    pool, seconds = Guidance.warm_start("params:200").best_first(benchmark, 3)
    counts = benchmark.space.properties(pool)["parameters"].tolist()
    assert counts == sorted(counts, reverse=True) and len(set(pool)) == 200 and seconds == 0
    assert pool == Guidance.warm_start("params:200").best_first(benchmark, 3)[0]
    assert set(pool) > set(Guidance.warm_start("flops:50").pool(benchmark, 3)), "a larger pool has the smaller one"
    assert set(pool) != set(Guidance.warm_start("params:200").pool(benchmark, 4))


def test_pool_is_drawn_from_what_is_scored_in_the_file(table: str, tmp_path: Path) -> None:
    """A row without a score or a reason is not in a file."""
    scores = [math.nan if number % 3 == 0 else float(number) for number in range(30)]
    path = scored_file(tmp_path / "scores.parquet", 30, scores=scores)
    guidance = replace(Guidance.warm_start("zen:20"), scores=str(path))
    pool, _ = guidance.best_first(nasbed.load(table), 0)
    scored = [arch for arch, _ in zip(space("nb201").enumerate(), range(30), strict=False)]
    assert pool == [arch for number, arch in reversed(list(enumerate(scored))) if number % 3]


def test_scores_hold_up_to_isomorphism(tmp_path: Path) -> None:
    cells = space("nb101")
    rng = np.random.default_rng(0)
    drawn = [cells.sample(rng) for _ in range(30)]
    forms = {cells.canonical(arch): arch for arch in drawn if cells.canonical(arch) != arch}
    assert len(forms) > 5
    table_of_rows(
        ScoresInfo("nb101"),
        [form.code for form in forms],
        [0] * len(forms),
        {"zen": [math.nan, *range(1, len(forms))], "snip": [1.0] * len(forms)},
    ).write(tmp_path / "scores.parquet")
    scores = ScoreFile(tmp_path / "scores.parquet", cells, "zen")
    archs = list(forms.values())
    np.testing.assert_array_equal(scores.of(archs), [math.nan, *range(1, len(forms))])
    assert scores.best_first(archs) == [*reversed(archs[1:]), archs[0]]


# --- every method ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("outstanding", [pytest.param(1, marks=pytest.mark.thorough), 4])
@pytest.mark.parametrize("name", OPTIMIZERS.names())
def test_every_method_proposes_the_pool_first_and_continues(name: str, outstanding: int) -> None:
    for searched in spaces():
        rng = np.random.default_rng(9)
        pool = list(dict.fromkeys(searched.canonical(searched.sample(rng)) for _ in range(12)))
        optimizer = WarmStarted(make_optimizer(name, searched), pool, start=8)
        proposed: list[Proposal] = []
        running: list[Proposal] = []
        while len(proposed) < 15:
            while len(running) < outstanding:
                new = optimizer.ask(outstanding - len(running))
                assert 1 <= len(new) <= outstanding - len(running)
                proposed += new
                running += new
            optimizer.tell([measured(running.pop(0))])
        assert [proposal.architecture for proposal in proposed][: len(pool[:8])] == pool[:8]
        for proposal in proposed:
            searched.validate(proposal.architecture)
            assert proposal.fidelity in (None, *FIDELITIES)


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("rs", None),
        ("re", 100),
        ("nre", 100),
        ("ls", 10),
        ("de", 20),
        ("rl", 10),
        ("nsga2", 100),
        ("hb", 9),
        ("kde", 14),
        ("bohb", 9),
        ("asha", 9),
        ("dehb", 9),
        ("bananas", 100),
        ("tpe", 10),
        ("smac", 60),
        ("hebo", 7),
        ("combo", 100),
    ],
)
def test_the_usual_start_is_that_of_the_method(name: str, size: int | None) -> None:
    """On nb201's six choices, by the defaults that the methods are published with."""
    try:
        optimizer = OPTIMIZERS.get(name)(problem_on(space("nb201")), np.random.default_rng(0))
    except MissingDependency as missing:
        pytest.skip(str(missing))
    assert optimizer.start_size == size
    rng = np.random.default_rng(1)
    pool = list(dict.fromkeys(space("nb201").sample(rng) for _ in range(300)))
    warm, proposed = WarmStarted(optimizer, pool), 0
    while proposed < (size or len(pool)):
        proposals = warm.ask(7)[: (size or len(pool)) - proposed]
        assert [proposal.architecture for proposal in proposals] == pool[proposed : proposed + len(proposals)]
        proposed += len(proposals)


def test_methods_learn_from_the_start_that_they_are_given() -> None:
    cells = space("nb201")
    rng = np.random.default_rng(2)
    pool = [cells.sample(rng) for _ in range(9)]
    best = min(pool, key=lambda arch: sum(arch.code))

    evolution = RegularizedEvolution(problem_on(cells), np.random.default_rng(0), population_size=9, sample_size=500)
    searching = LocalSearch(problem_on(cells), np.random.default_rng(0))
    for method in (evolution, searching):
        warm = WarmStarted(method, pool, start=9)
        for _ in pool:
            warm.tell([measured(proposal) for proposal in warm.ask()])
        (child,) = warm.ask()
        assert sum(a != b for a, b in zip(child.architecture.code, best.code, strict=True)) == 1
    assert evolution.population == pool

    halving = Hyperband(problem_on(cells), np.random.default_rng(0))
    warm = WarmStarted(halving, pool)
    first = [warm.ask()[0] for _ in pool]
    assert {proposal.fidelity for proposal in first} == {FIDELITIES[0]}
    warm.tell([measured(proposal) for proposal in first])
    promoted = warm.ask(3)
    ranked = sorted(pool, key=lambda arch: sum(arch.code))
    assert [entry.architecture for entry in promoted] == ranked[:3] and promoted[0].fidelity == FIDELITIES[1]


def test_packages_get_the_warm_start() -> None:
    """What Optuna and SMAC hold of it: the very values, as their own trials; SMAC's Sobol points make room."""
    pytest.importorskip("optuna")
    pytest.importorskip("smac")
    cells = space("nb201")
    rng = np.random.default_rng(2)
    pool = list(dict.fromkeys(cells.sample(rng) for _ in range(12)))
    optimizers: dict[str, Any] = {
        name: OPTIMIZERS.get(name)(problem_on(cells), np.random.default_rng(0)) for name in ("tpe", "smac")
    }
    for optimizer in optimizers.values():
        warm = WarmStarted(optimizer, pool, start=12)
        for _ in range(13):
            warm.tell([measured(proposal) for proposal in warm.ask()])
    trials = optimizers["tpe"]._study.trials
    losses = [optimizers["tpe"].problem.loss(measured(Proposal(arch))) for arch in pool]
    assert [trial.value for trial in trials[:12]] == losses
    history = optimizers["smac"]._facade.runhistory
    assert {cells.from_config(dict(config)) for config in history.get_configs()} >= set(pool)
    assert optimizers["smac"]._facade._initial_design._n_configs == 60 - 12


# --- runs ------------------------------------------------------------------------------------------------------------


def test_compare_runs_methods_with_and_without_side_by_side(table: str, tmp_path: Path) -> None:
    """The guided runs begin with the pool, have the settings of the method, and leave the others as they were."""
    options: dict[str, Any] = {"seeds": 2, "budget": "30ev", "settings": {"re": {"population_size": 10}}}
    compare(table, ["re"], out=tmp_path / "alone", engine=SerialEngine(), **options)
    starts = [None, Guidance.warm_start("params:100"), Guidance.filter("flops:5")]
    for name, engine in (("serial", SerialEngine()), ("local", LocalEngine(1))):
        runs = compare(table, ["re"], out=tmp_path / name, engine=engine, guidance=starts, **options)
        assert set(runs.methods) == {"re", "re+params", "re~flops"}
    benchmark = nasbed.load(table)
    for seed in range(2):
        unguided, plain = (load_run(tmp_path / out / "runs" / f"re-{seed}.npz") for out in ("alone", "serial"))
        np.testing.assert_array_equal(unguided.codes, plain.codes)
        for name in ("re+params", "re~flops"):
            serial, local = (load_run(tmp_path / out / "runs" / f"{name}-{seed}.npz") for out in ("serial", "local"))
            np.testing.assert_array_equal(serial.codes, local.codes)
            np.testing.assert_array_equal(serial.end_s, local.end_s)
        warm = load_run(tmp_path / "serial" / "runs" / f"re+params-{seed}.npz")
        pool, _ = Guidance.warm_start("params:100").best_first(benchmark, seed)
        assert benchmark.space.architectures(warm.codes[:10]) == pool[:10]
    settings = load_runs(tmp_path / "serial").setup.settings
    assert settings["re+params"] == {
        "population_size": 10,
        "warm_start": "params:100",
        "scores": "in closed form, without any time",
    }
    assert settings["re~flops"]["filter"] == "flops:5" and settings["re"] == {"population_size": 10}

    changed, notes = [Guidance.warm_start("params:101")], list[str]()
    folder = tmp_path / "serial"
    compare(table, ["re"], out=folder, engine=SerialEngine(), guidance=changed, on_note=notes.append, **options)
    assert notes == ["2 runs of re+params are made again: its settings have changed"]


def test_scoring_is_charged_by_what_the_file_recorded(table: str, tmp_path: Path) -> None:
    """The sum over the pool, the median of those known for the others; nothing where no time is known."""
    seconds = [float(number % 4) for number in range(40)]
    seconds[7] = math.nan
    path = scored_file(tmp_path / "timed.parquet", 40, seconds=seconds)
    untimed = scored_file(tmp_path / "untimed.parquet", 40)
    start = [Guidance.warm_start("zen:40")]
    timed = np.array([value for value in seconds if not math.isnan(value)])
    total_s = timed.sum() + np.median(timed)
    for budget, file, charged, evaluations in (
        ("5ev", path, total_s, 5),
        ("5ev", untimed, 0.0, 5),
        (f"{total_s + 35:g}s", path, total_s, 3),
        (f"{total_s - 1:g}s", path, total_s, 0),
    ):
        out = tmp_path / f"{file.stem}-{budget}"
        (run,) = compare(table, ["rs"], seeds=1, budget=budget, out=out, engine=SerialEngine(), guidance=start, scores=file).runs  # fmt: skip
        assert run.scoring_s == charged and len(run) == evaluations and not run.error
        np.testing.assert_allclose(run.end_s, charged + 10.0 * np.arange(1, evaluations + 1))


def test_runs_are_bound_to_a_file_of_scores_wherever_it_lies(table: str, tmp_path: Path) -> None:
    starts = [Guidance.warm_start("zen:5")]
    arguments: dict[str, Any] = {"budget": "3ev", "out": tmp_path / "out", "engine": SerialEngine(), "guidance": starts}
    path = scored_file(tmp_path / "scores.parquet", 10)
    compare(table, ["rs"], seeds=1, scores=path, **arguments)
    (tmp_path / "elsewhere").mkdir()
    moved = path.rename(tmp_path / "elsewhere" / path.name)
    assert len(compare(table, ["rs"], seeds=2, scores=moved, **arguments).runs) == 2
    scored_file(moved, 11)
    notes: list[str] = []
    compare(table, ["rs"], seeds=3, scores=moved, on_note=notes.append, **arguments)
    assert notes == ["2 runs of rs+zen are made again: its settings have changed"]


def test_a_filter_is_charged_once_for_each_architecture(table: str, tmp_path: Path) -> None:
    path = scored_file(tmp_path / "timed.parquet", 15_625, seconds=[0.5] * 15_625)
    filters = [Guidance.filter("zen:4")]
    (run,) = compare(table, ["rs"], seeds=1, budget="20ev", out=tmp_path / "out", engine=SerialEngine(), guidance=filters, scores=path).runs  # fmt: skip
    rng = np.random.default_rng([0, int.from_bytes(b"rs".ljust(16, b"\0"), "big")])
    drawn = [space("nb201").sample(rng) for _ in range(80)]
    assert run.scoring_s == 0.5 * len(set(drawn)) and run.start_s[0] == 2.0
    numbers = {arch: number for number, arch in enumerate(space("nb201").enumerate())}
    best = [max(drawn[at : at + 4], key=numbers.__getitem__) for at in range(0, 80, 4)]
    assert space("nb201").architectures(run.codes) == best


class ListedScores(ProxyScores):
    """Scores by a dictionary; each takes a second."""

    origin = "a dictionary"

    def __init__(self, scores: dict[Architecture, float]) -> None:
        self._scores = scores

    def of(self, archs: Sequence[Architecture]) -> Any:
        return np.array([self._scores.get(arch, math.nan) for arch in archs])

    def seconds(self, archs: Sequence[Architecture]) -> float:
        return float(len(archs))


def test_a_filtered_draw_is_never_worse_than_the_plain_one() -> None:
    cells = space("darts")
    params = ClosedForm(cells, "params")
    filtered = FilteredSpace(cells, 6, ProxyFilter(params))
    arch = cells.sample(np.random.default_rng(1))
    better = 0
    for seed in range(40):
        for draw, plain in (
            (filtered.sample(np.random.default_rng(seed)), cells.sample(np.random.default_rng(seed))),
            (filtered.mutate(arch, np.random.default_rng(seed)), cells.mutate(arch, np.random.default_rng(seed))),
        ):
            filtered.validate(draw)
            have, had = params.of([draw, plain])
            assert have >= had
            better += int(have > had)
    assert better > 40 and filtered.size == cells.size and filtered.name == cells.name


def test_unscored_candidates_are_never_preferred() -> None:
    rng = np.random.default_rng(0)
    first, second, third = (space("nb201").sample(rng) for _ in range(3))
    sieve = ProxyFilter(ListedScores({second: -5.0}))
    assert sieve([first, second, third]) == second and sieve.spent_s == 3
    assert sieve([first, third]) == first and sieve([third, first, first]) == third and sieve.spent_s == 3


@pytest.mark.parametrize("name", [name for name in OPTIMIZERS.names() if name not in ("tpe", "smac")])
def test_every_method_that_draws_can_be_filtered(name: str, table: str) -> None:
    benchmark = nasbed.load(table)
    sizes = {}
    for guidance in (Guidance.filter("params:1"), Guidance.filter("params:8")):
        optimizer, spent = guided(
            guidance, OPTIMIZERS.get(name), problem_of(benchmark), np.random.default_rng(0), SMALL.get(name, {}),
            benchmark=benchmark, seed=0,
        )  # fmt: skip
        proposed = []
        for _ in range(12):
            for proposal in optimizer.ask():
                proposed.append(proposal.architecture)
                optimizer.tell([benchmark.query(proposal.architecture)])
        sizes[guidance.count] = benchmark.space.costs(proposed)[:6, 0].mean()
        assert spent() == 0
    assert sizes[8] > sizes[1]


def test_pools_without_a_file_are_scored_first_and_once(table: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from nasbed.proxies.table import ScoreTable

    starts = [Guidance.warm_start("nwot:3"), Guidance.warm_start("params:3")]
    arguments: dict[str, Any] = {"seeds": 2, "budget": "5ev", "out": tmp_path, "engine": SerialEngine()}
    runs = compare(table, ["rs"], guidance=starts, proxy_dataset="digits", **arguments)
    scores = ScoreTable.read(tmp_path / OWN_SCORES)
    benchmark = nasbed.load(table)
    rows = {tuple(code): row for row, code in enumerate(scores.codes.tolist())}
    assert scores.proxies == ("nwot",) and scores.about.dataset == "digits"
    for run in runs.of("rs+nwot"):
        pool = starts[1].pool(benchmark, run.seed)
        seconds = [scores.seconds["nwot"][rows[arch.code], 0] for arch in pool]
        assert run.scoring_s == pytest.approx(sum(seconds)) and run.scoring_s > 0
        ranked = sorted(pool, key=lambda arch: -scores.mean("nwot")[rows[arch.code]])
        assert benchmark.space.architectures(run.codes[:3]) == ranked
    before = (tmp_path / OWN_SCORES).read_bytes()
    compare(table, ["rs"], guidance=starts[:1], proxy_dataset="digits", **(arguments | {"seeds": 3}))
    grown = ScoreTable.read(tmp_path / OWN_SCORES)
    assert len(grown) > len(scores) and (tmp_path / OWN_SCORES).read_bytes() != before
    assert len(load_runs(tmp_path).of("rs+nwot")) == 3


def test_the_embedded_surrogate_needs_no_scores(tmp_path: Path) -> None:
    starts = [Guidance.warm_start("params:50:5")]
    runs = compare("snb-darts-cifar10-16-lgb-v2.0", ["rs", "re"], seeds=1, budget="12ev", out=tmp_path,
                   engine=SerialEngine(), guidance=starts)  # fmt: skip
    first, second = runs.runs
    np.testing.assert_array_equal(first.codes[:5], second.codes[:5])
    counts = space("darts").costs(first.codes)[:, 0]
    assert (
        not first.error and not second.error and (np.diff(counts[:5]) <= 0).all() and counts[4] > np.median(counts[5:])
    )


def test_runs_of_an_older_version_took_no_scoring(table: str, tmp_path: Path) -> None:
    compare(table, ["rs"], seeds=1, budget="3ev", out=tmp_path, engine=SerialEngine())
    path = tmp_path / "runs" / "rs-0.npz"
    with np.load(path) as data:
        arrays = dict(data)
    facts = json.loads(str(arrays["facts"]))
    assert facts.pop("scoring_s") == 0
    np.savez_compressed(path, **(arrays | {"facts": np.array(json.dumps(facts))}))
    assert load_run(path).scoring_s == 0


# --- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["", "zen", ":5", "zen:", "zen:0", "zen:-1", "zen:1.5", "zen:1e3", "zen:five", "zen:²", "zen:5:0", "zen:5:2:1"],
)
def test_guidance_refuses_other_texts(text: str) -> None:
    for read, option in ((Guidance.warm_start, "--warm-start"), (Guidance.filter, "--filter")):
        with pytest.raises(NasbedError, match=f"{option} is PROXY:.* of at least 1") as caught:
            read(text)
        assert "\n" not in str(caught.value)


def test_a_start_is_no_larger_than_its_pool() -> None:
    with pytest.raises(NasbedError, match="pool of 5, got 6"):
        Guidance.warm_start("zen:5:6")
    with pytest.raises(NasbedError, match="--filter is PROXY:M"):
        Guidance.filter("zen:5:6")


def test_compare_refuses_guidance_in_one_line(table: str, tmp_path: Path) -> None:
    small_file = scored_file(tmp_path / "few.parquet", 10)
    foreign = tmp_path / "foreign.parquet"
    darts = space("darts").sample(np.random.default_rng(0))
    table_of_rows(ScoresInfo("darts"), [darts.code], [0], {"zen": [1.0]}).write(foreign)
    empty = tmp_path / "empty.parquet"
    code = next(iter(space("nb201").enumerate())).code
    table_of_rows(ScoresInfo("nb201"), [code], [0], {"zen": [math.nan], "snip": [1.0]}).write(empty)
    warm, filtered = Guidance.warm_start, Guidance.filter
    cases: list[tuple[list[str], list[Guidance | None], Path | None, str]] = [
        (["rs"], [warm("nosuch:5")], None, "no proxy is called 'nosuch'"),
        (["rs"], [warm("nosuch:5")], small_file, "no scores by 'nosuch'"),
        (["rs"], [warm("zen:5")], None, "--scores, or the images to score on with --proxy-dataset"),
        (["rs"], [filtered("zen:5")], None, "give a file with --scores$"),
        (["rs"], [warm("zen:5")], tmp_path / "none.parquet", "is not a file; make one with"),
        (["rs"], [warm("zen:5")], foreign, "scores of the space darts, the benchmark's is nb201"),
        (["rs"], [filtered("zen:5")], foreign, "scores of the space darts, the benchmark's is nb201"),
        (["rs"], [warm("zen:1")], empty, "no score by zen for any architecture"),
        (["rs"], [warm("zen:11")], small_file, "11 scored architectures were requested, .* has 10"),
        (["rs"], [warm("params:5"), warm("params:6")], None, "once with each proxy .* got params"),
        (["rs"], [], None, "got none"),
        (["rs", "tpe"], [filtered("params:5")], None, "tpe proposes by its own model"),
        (["smac"], [None, filtered("params:5")], None, "smac proposes by its own model"),
    ]  # fmt: skip
    for methods, guidance, scores, message in cases:
        with pytest.raises(NasbedError, match=message) as caught:
            compare(
                table,
                methods,
                seeds=1,
                budget="5ev",
                out=tmp_path / "out",
                engine=SerialEngine(),
                guidance=guidance,
                scores=scores,
            )
        assert "\n" not in str(caught.value) and not (tmp_path / "out").exists(), message
