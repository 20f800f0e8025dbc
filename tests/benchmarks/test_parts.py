"""Parts of tables by name, ``TABLE:PART``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nasbed import Architecture, NasbedError, load, space
from nasbed.benchmarks import Restricted, SubSpace, TabularBenchmark
from nasbed.experiments.simulate import Budget, problem_of, simulate
from nasbed.optimizers import OPTIMIZERS
from support.tables import nb201_table


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> TabularBenchmark:
    return nb201_table(tmp_path_factory.mktemp("parts") / "table")


def test_load_gives_the_part_of_a_table(table: TabularBenchmark) -> None:
    folder = Path(table.results.folder)
    part = load(f"{folder}:no-pooling")
    assert isinstance(part, SubSpace) and part.name == "generated/nb201:no-pooling"
    means = table.cache.mean("test_accuracy", 200)[~(table.cache.codes == 4).any(axis=1)]
    assert part.optimum()[1] == means.max() and len(means) == part.space.size


def test_load_refuses_a_part_that_the_space_has_not(table: TabularBenchmark) -> None:
    with pytest.raises(NasbedError, match="no part called 'mini'; it has no-pooling"):
        load(f"{table.results.folder}:mini")


def test_part_and_mean_come_in_any_order(table: TabularBenchmark) -> None:
    first, second = (load(f"{table.results.folder}:{order}") for order in ("mean:no-pooling", "no-pooling:mean"))
    codes = second.space.codes([first.space.sample(np.random.default_rng(seed)) for seed in range(20)])
    assert list(first.query_many(codes, seed=1)) == list(second.query_many(codes, seed=2))
    assert first.optimum() == second.optimum() and first.held_count == second.held_count == 4_096


def test_named_parts_are_as_large_as_they_say() -> None:
    """Counted by listing them: NAS-Bench-Mini as the cells of up to six vertices."""
    nb101, nb201 = space("nb101"), space("nb201")
    listed = {"mini": len(nb101.codes_up_to("6")), "five-vertices": len(nb101.codes_up_to("5"))}
    assert {name: part.size for name, part in nb101.parts.items()} == listed
    ((_, part),) = nb201.parts.items()
    assert part.size == sum(map(part.contains, nb201.enumerate()))


def test_load_gives_the_means_of_a_table(table: TabularBenchmark) -> None:
    means = load(f"{table.results.folder}:mean")
    arch = table.space.sample(np.random.default_rng(0))
    first, second = (means.query(arch, seed=seed).values[means.objective] for seed in (1, 2))
    repeats = table.cache.mean("validation_accuracy", 200)[(table.cache.codes == arch.code).all(axis=1)]
    assert first == second == pytest.approx(repeats.item())


@pytest.mark.parametrize("name", ["rs", "re", "ls", "de", "kde"])
def test_part_is_searched_without_a_step_outside(table: TabularBenchmark, name: str) -> None:
    part = load(f"{table.results.folder}:no-pooling")
    method = OPTIMIZERS.get(name)(problem_of(part), np.random.default_rng(0))
    run = simulate(method, part, seed=0, budget=Budget(evaluations=150))
    assert not run.error and len(run) == 150
    assert not (run.codes == 4).any() and not np.isnan(run.value).any()


def test_mean_of_a_part_answers_as_the_mean_of_the_table(table: TabularBenchmark) -> None:
    """One by one and as a batch; outside the part it refuses."""
    part = load(f"{table.results.folder}:no-pooling:mean")
    rng = np.random.default_rng(0)
    archs = [part.space.sample(rng) for _ in range(20)]
    expected = table.expected_many(archs).values[table.objective]
    assert [part.query(arch, seed=3)[table.objective.key] for arch in archs] == pytest.approx(expected)
    assert (part.query_many(archs, seed=4).values[table.objective] == expected).all()
    outside = Architecture("nb201", (4,) * 6)
    for answer in (part.query, part.expected, lambda arch: part.query_many([arch])):
        with pytest.raises(NasbedError, match="is outside generated/nb201:no-pooling"):
            answer(outside)


def test_restricted_refuses_the_mean_at_a_fidelity_that_it_leaves_out(table: TabularBenchmark) -> None:
    restricted = Restricted(table, table.fidelities[-1:])
    arch = table.space.sample(np.random.default_rng(0))
    assert restricted.expected(arch) == table.expected(arch)
    with pytest.raises(NasbedError, match="has the fidelities 200, got 12"):
        restricted.expected(arch, fidelity=12)


def test_run_on_the_mean_of_a_part_has_a_value_everywhere(table: TabularBenchmark) -> None:
    part = load(f"{table.results.folder}:no-pooling:mean")
    run = simulate(OPTIMIZERS.get("rs")(problem_of(part), np.random.default_rng(0)), part, seed=0, budget=Budget(9))
    assert not run.refusals and (run.value == table.expected_many(run.codes).values[table.objective]).all()
