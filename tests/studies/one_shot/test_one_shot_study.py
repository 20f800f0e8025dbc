"""Watching searches: trajectories made by hand, with known stops, correlations and failures."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from nasbed.benchmarks import load
from nasbed.benchmarks.places import surrogate_paths
from nasbed.core.errors import InvalidOption
from nasbed.oneshot import BonsaiSettings
from nasbed.oneshot.record import SearchRecord, write_record
from nasbed.studies.one_shot.failure import Failure, failure
from nasbed.studies.one_shot.records import embedded_surrogate, group_by_settings, read_searches
from nasbed.studies.one_shot.study import OneShotStudy, Stop, one_shot_study
from support.oneshot_searches import ERROR, FALLING, JUMP, RISING, Additive, nb201_search, search_record
from support.tables import nb201_table

PREDICTED = [84.0] * 5 + [79.0, 74.0, 69.0, 64.0, 59.0, 54.0, 54.0]
DOWN = np.array(PREDICTED)
UP = np.array(RISING)


def study_of(*records: SearchRecord, benchmark: Additive | None = None, random: int = 1000) -> OneShotStudy:
    return one_shot_study(records, benchmark or Additive(), random=random, rng=np.random.default_rng(0))


def test_study_watches_a_search_that_goes_wrong() -> None:
    """Two skip connections are there at epoch 7; the eigenvalue's two windows of five are complete at epoch 10 and it
    goes back by five."""
    study = study_of(search_record("darts", 0, nb201_search(FALLING, RISING, JUMP)))
    (own,) = study.methods[0].searches
    assert own.prediction.tolist() == PREDICTED and own.supernet.tolist() == list(RISING)
    assert own.skips["cell"].tolist() == list(FALLING) and own.time_s[-1] == 24
    assert own.stops == {"skips": Stop(7, 7, 74.0), "eigenvalue": Stop(10, 5, 84.0)}
    assert own.final == 54 and own.best == 0 and own.end == 11
    assert own.correlation == pytest.approx(spearmanr(RISING, PREDICTED).statistic)
    assert own.failure == Failure(epoch=5, lost=84 - 60, gained=35)  # the last five predictions have the mean 60


def test_random_architectures_have_the_moments_of_the_space() -> None:
    """Each edge has the worth 0, 4, 7, 9 or 2 with equal probability: mean 4.4, variance 10.64."""
    reference = study_of(search_record("darts", 0, nb201_search(FALLING)), random=4000).reference
    assert reference.count == 4000
    assert reference.mean == pytest.approx(30 + 6 * 4.4, abs=4 * math.sqrt(6 * 10.64 / 4000))
    assert reference.std == pytest.approx(math.sqrt(6 * 10.64), rel=0.05)
    assert 75 < reference.best <= 84


@pytest.mark.parametrize(
    ("prediction", "supernet"),
    [
        (DOWN[::-1], UP),  # both rise
        (DOWN, UP[::-1]),  # both fall
        (DOWN[:9], UP[:9]),  # too short
        (60 + DOWN / 100, UP),  # 0.24 is less than half of the spread
        (np.array([84.0] * 4 + [60.0] + [70.0, 60.0] * 4), np.arange(13.0)),  # the last are not all worse
        (np.full(12, np.nan), UP),
    ],
)
def test_failure_is_neither_noise_nor_a_supernet_that_falls_too(prediction: np.ndarray, supernet: np.ndarray) -> None:
    assert failure(prediction, supernet, spread=8.0) is None


def test_failure_needs_half_the_spread_and_counts_epochs_that_are_known() -> None:
    assert failure(DOWN, UP, spread=48.0) == Failure(5, 24.0, 35.0)
    assert failure(DOWN, UP, spread=48.1) is None
    with_gap, longer = np.insert(DOWN, 2, np.nan), np.insert(UP, 2, 50.0)
    assert failure(with_gap, longer, spread=8.0) == Failure(6, 24.0, 35.0)


def test_failure_is_rare_among_independent_predictions() -> None:
    """Ten epochs in any order: one in 252 has the five worst last."""
    rng = np.random.default_rng(0)
    drawn = [failure(rng.normal(size=10), np.arange(10.0), spread=1.0) for _ in range(4000)]
    assert np.mean([failed is not None for failed in drawn]) == pytest.approx(1 / 252, abs=0.003)


def test_less_is_better_turns_everything_round() -> None:
    by_maximum = study_of(search_record("darts", 0, nb201_search(FALLING, RISING, JUMP)))
    by_minimum = study_of(search_record("darts", 0, nb201_search(FALLING, RISING, JUMP)), benchmark=Additive(ERROR))
    (by_accuracy,), (by_error,) = by_maximum.methods[0].searches, by_minimum.methods[0].searches
    assert by_error.final == 46 and by_error.prediction[by_error.best or 0] == 16
    assert by_error.failure == by_accuracy.failure and by_error.correlation == pytest.approx(by_accuracy.correlation)
    assert by_minimum.reference.best == pytest.approx(100 - by_maximum.reference.best)


def test_an_architecture_that_stays_has_no_correlation_and_stops_nowhere() -> None:
    (own,) = study_of(search_record("gdas", 0, nb201_search([0] * 12))).methods[0].searches
    assert math.isnan(own.correlation) and own.failure is None
    assert own.stops == {"skips": None}, "eigenvalues were not measured"
    assert own.at_stop("skips") == 84 and math.isnan(own.at_stop("eigenvalue"))
    (short,) = study_of(search_record("gdas", 0, nb201_search([0, 1]))).methods[0].searches
    assert math.isnan(short.correlation) and not short.long_enough
    (three,) = study_of(search_record("gdas", 0, nb201_search([0, 1, 2]))).methods[0].searches
    assert three.correlation == pytest.approx(-1)


def test_a_rule_stops_nothing_after_the_last_epoch() -> None:
    (complete,) = study_of(search_record("gdas", 0, nb201_search([0, 1, 2]))).methods[0].searches
    assert complete.stops == {"skips": None}
    (cut,) = study_of(search_record("gdas", 0, nb201_search([0, 1, 2], status="stopped"))).methods[0].searches
    assert cut.stops == {"skips": Stop(3, 3, 74.0)}


def test_a_search_that_was_stopped_ends_with_what_it_took() -> None:
    (own,) = (
        study_of(search_record("darts", 0, nb201_search(FALLING[:10], RISING, JUMP, status="stopped", end=4)))
        .methods[0]
        .searches
    )
    assert own.end == 4 and own.final == 84


def test_diverged_searches_have_no_end_and_leave_the_mean() -> None:
    diverging = search_record("darts", 0, nb201_search([0, 2, 4]))
    shorter = search_record("darts", 2, nb201_search([2, 2]))
    diverged = search_record("darts", 1, nb201_search([6], status="diverged"))
    empty = search_record("gdas", 0, nb201_search([6], status="diverged"))
    empty = SearchRecord(**{name: getattr(empty, name) for name in empty.__slots__} | {"searched": _without(empty)})
    study = study_of(diverging, diverged, shorter, empty)
    (method,) = study.methods
    assert [search.seed for search in method.searches] == [0, 1, 2] and math.isnan(method.searches[1].final)
    assert method.mean(lambda search: search.prediction).tolist() == [79, 74], "84, 74 and 74, 74, as far as both go"
    assert study.left_out == {"gdas, seed 0": "the loss is no number"}
    with pytest.raises(InvalidOption, match="with an epoch or more"):
        study_of(empty)


def _without(of: SearchRecord) -> object:
    searched = of.searched
    return type(searched)("diverged", None, (), 0.0, searched.reason)


def test_searches_are_grouped_by_all_but_the_seed() -> None:
    a, b = search_record("darts", 1, nb201_search([0])), search_record("darts", 0, nb201_search([0]))
    assert {name: [record.seed for record in own] for name, own in group_by_settings([a, b]).items()} == {
        "darts": [0, 1]
    }
    longer, set_ = (
        search_record("darts", 0, nb201_search([0]), epochs=50),
        search_record("darts", 0, nb201_search([0]), rate=0.1),
    )
    assert list(group_by_settings([a, longer, set_])) == [
        "darts (epochs 12)",
        "darts (epochs 50)",
        "darts (epochs 12, rate 0.1)",
    ]
    with pytest.raises(InvalidOption, match="darts with seed 0 occurs twice"):
        group_by_settings([b, b])


def test_searches_are_found_in_files_and_below_folders(tmp_path: Path) -> None:
    for seed in (0, 1):
        write_record(
            search_record("darts", seed, nb201_search(FALLING)), tmp_path / "all" / f"darts-{seed}" / "search.json"
        )
    file = tmp_path / "all" / "darts-1" / "search.json"
    assert [record.seed for record in read_searches([file, tmp_path / "all", file.parent])] == [1, 0]
    pruned = replace(search_record("bonsai-net", 0, nb201_search([0])), space="bonsai", settings=BonsaiSettings())
    write_record(pruned, tmp_path / "all" / "bonsai" / "search.json")
    assert [record.seed for record in read_searches([file, tmp_path / "all"])] == [
        1,
        0,
    ]  # without a supernet, and left out
    (tmp_path / "none").mkdir()
    with pytest.raises(InvalidOption, match=r"none is neither"):
        read_searches([tmp_path / "none"])


def test_benchmark_must_answer_for_the_searched_space(tmp_path: Path) -> None:
    foreign = search_record("darts", 0, nb201_search(FALLING), space_name="darts")
    with pytest.raises(InvalidOption, match="is in the space darts, additive answers for nb201; name a benchmark"):
        study_of(foreign)
    part = nb201_table(tmp_path / "part", share=0.01)
    with pytest.raises(InvalidOption, match="use a surrogate, or a table of the whole space"):
        one_shot_study([search_record("darts", 0, nb201_search(FALLING))], part, rng=np.random.default_rng(0))
    with pytest.raises(InvalidOption, match="no stopping rule is called 'skip'"):
        one_shot_study(
            [search_record("darts", 0, nb201_search([0]))], Additive(), rules=["skip"], rng=np.random.default_rng(0)
        )


def test_a_table_of_nb201_watches_by_its_means_with_and_without_the_word(tmp_path: Path) -> None:
    table = nb201_table(tmp_path / "nb201")
    own = search_record("darts", 0, nb201_search(FALLING, RISING))
    plain, mean = (
        one_shot_study([own], benchmark, rng=np.random.default_rng(0))
        for benchmark in (table, load(f"{tmp_path / 'nb201'}:mean"))
    )
    prediction = plain.methods[0].searches[0].prediction
    assert prediction == pytest.approx(PREDICTED, abs=1.5), "the mean of three with a deviation of 0.5"
    assert np.array_equal(prediction, mean.methods[0].searches[0].prediction) and plain.benchmark == mean.benchmark
    assert plain.measured and plain.dataset == "generated"


def test_the_surrogate_that_comes_with_the_package_watches_darts() -> None:
    name = embedded_surrogate("darts")
    newest = max(name for name in surrogate_paths() if name.startswith("snb-darts-cifar10-16-lgb-v"))
    assert name == newest and load(name).space.name == "darts"
    with pytest.raises(InvalidOption, match="no surrogate of nb201 comes with the package"):
        embedded_surrogate("nb201")
