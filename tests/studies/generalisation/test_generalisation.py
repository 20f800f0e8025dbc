"""The generalisation bootstrap, and the curves it is drawn from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from nasbed import NasbedError, load
from nasbed.core.execution import SerialEngine
from nasbed.evaluation.anytime import anytime, final_regrets
from nasbed.evaluation.judging import Trajectory
from nasbed.experiments.runs import load_runs
from nasbed.studies.generalisation.study import (
    GROUPS,
    RE,
    RS,
    GeneralisationStudy,
    Ordering,
    generalisation_study,
    part_of,
    variants,
)
from nasbed.studies.variants import Variant
from support.tables import nb201_table

SMALL_GROUPS = {"methods": (RS, RE), "rates": (Variant("1", "re"), Variant("4", "re", {"mutation_rate": 4}))}
SEEDS = 8


def study_of(table: str, out: Path, spaces: list[str]) -> GeneralisationStudy:
    return generalisation_study(
        table,
        seeds=SEEDS,
        budget="300ev",
        out=out,
        engine=SerialEngine(),
        groups=SMALL_GROUPS,
        progress=spaces.append,
    )


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("generalisation") / "table"
    nb201_table(folder)
    return str(folder)


@pytest.fixture(scope="module")
def ran(table: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[GeneralisationStudy, Path, list[str]]:
    out, spaces = tmp_path_factory.mktemp("study"), list[str]()
    return study_of(table, out, spaces), out, spaces


def test_generalisation_study_runs_every_variant_once_in_both_spaces(
    ran: tuple[GeneralisationStudy, Path, list[str]],
) -> None:
    study, out, spaces = ran
    assert sorted(variants(SMALL_GROUPS)) == ["re", "re-mutation_rate-4", "rs"]
    assert spaces == ["small"] * 3 * SEEDS + ["full"] * 3 * SEEDS
    assert (study.small.architectures, study.full.architectures) == (4**6, 5**6)
    inside = load_runs(out / "runs" / "small" / "re").runs
    assert all(not (run.codes == 4).any() for run in inside)
    assert study.small.broken == study.full.broken == 0


def test_generalisation_study_finds_the_order_on_an_additive_table(
    ran: tuple[GeneralisationStudy, Path, list[str]],
) -> None:
    study, _, _ = ran
    for place in (study.small, study.full):
        (ordering,) = place.orderings
        rs, re = place.groups["methods"]
        assert ordering.p == pytest.approx(stats.wilcoxon(rs.finals, re.finals, method="exact").pvalue)
        assert ordering.verdict == "holds" and re.mean < rs.mean
        assert (rs.finals >= 0).all() and len(rs.finals) == SEEDS
        assert rs.curve.median[-1] == np.median(rs.finals)
    assert study.correlations == pytest.approx({"methods": 1.0, "rates": 1.0})


def test_generalisation_study_resumes_where_it_stopped(
    ran: tuple[GeneralisationStudy, Path, list[str]], table: str
) -> None:
    study, out, _ = ran
    spaces: list[str] = []
    assert study_of(table, out, spaces).correlations == study.correlations
    assert not spaces


def test_ordering_is_reversed_only_where_the_difference_is_more_than_luck() -> None:
    assert Ordering("NRE", "RE", -0.1, 0.001).verdict == "reversed"
    assert Ordering("NRE", "RE", -0.1, 0.2).verdict == Ordering("NRE", "RE", 0.1, 0.2).verdict == "not settled"


def test_groups_hold_the_default_setting_of_re_in_each_row() -> None:
    for group in GROUPS.values():
        assert any(variant.method == "re" and not variant.settings for variant in group)


def test_part_of_is_of_any_benchmark_of_a_space_that_names_one(tmp_path: Path) -> None:
    nb201_table(tmp_path / "t")
    for name in (f"{tmp_path / 't'}", f"{tmp_path / 't'}:mean"):
        assert part_of(name) == f"{name}:no-pooling" and load(part_of(name)).space.size == 4_096
    with pytest.raises(NasbedError, match="named part, such as nb101 or nb201"):
        part_of(f"{tmp_path / 't'}:no-pooling")


def test_part_of_refuses_a_table_without_a_known_part(tmp_path: Path) -> None:
    from nasbed.results import Rows, TableInfo, write_results
    from support.tables import VALIDATION

    rows = Rows.of(np.zeros((1, 6), dtype=np.int64), {VALIDATION.key: np.array([1.0])}, fidelity=1, seed=0)
    write_results(tmp_path / "t", TableInfo("t", "transnas-micro", (VALIDATION,), dataset="d", licence="none"), [rows])
    with pytest.raises(NasbedError, match="named part, such as nb101 or nb201"):
        part_of(str(tmp_path / "t"))


def trajectory(seed: int, times: list[float], regrets: list[float]) -> Trajectory:
    values = np.array(regrets)
    return Trajectory("m", seed, np.array(times), np.arange(len(times)), values, np.full(len(values), np.nan))


def test_anytime_is_the_median_and_quartiles_of_step_functions() -> None:
    runs = [trajectory(seed, [1.0, 10.0 * (seed + 1)], [5.0, float(seed)]) for seed in range(3)]
    curve = anytime(runs, points=3)
    assert curve.time_s.tolist() == pytest.approx([1.0, 30**0.5, 30.0])
    assert curve.median.tolist() == [5.0, 5.0, 1.0] and curve.low[-1] == 0.5 and curve.high[-1] == 1.5
    assert final_regrets(runs[::-1]).tolist() == [0.0, 1.0, 2.0]


def test_anytime_of_runs_that_found_nothing_is_empty() -> None:
    empty = trajectory(0, [], [])
    assert not len(anytime([empty]).time_s) and final_regrets([empty]).tolist() == [np.inf]
