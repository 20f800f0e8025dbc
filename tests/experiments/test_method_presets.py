"""The presets of methods: the papers' numbers, on their way into the methods, the runs and the pages."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from nasbed import Metric, NasbedError, space
from nasbed.cli import app
from nasbed.core.errors import UnknownName
from nasbed.core.execution import SerialEngine
from nasbed.experiments.campaign import Campaign
from nasbed.experiments.compare import compare
from nasbed.experiments.runs import join_runs, load_runs, load_setup
from nasbed.optimizers import OPTIMIZERS
from nasbed.optimizers.presets import METHOD_PRESETS
from nasbed.results import Rows, TableInfo, write_results
from nasbed.testing.optimizers import problem_on
from support.tables import additive

PUBLISHED: dict[str, dict[str, dict[str, Any]]] = {
    # Ying et al. 2019, section 4.1, and the scripts that it names in footnote 3
    "nb101": {
        "rs": {},
        "re": {"population_size": 100, "sample_size": 10, "mutation_rate": 1},
        "nre": {"population_size": 100, "sample_size": 10, "mutation_rate": 1},
        "rl": {"learning_rate": 0.1, "momentum": 0.9},
        "hb": {"eta": 3, "lowest_fidelity": 4},
        "bohb": {
            "eta": 3,
            "lowest_fidelity": 4,
            "samples": 64,
            "random_fraction": 0.33,
            "bandwidth_factor": 3,
            "min_bandwidth": 0.3,
        },
        "tpe": {"n_startup_trials": 20, "n_ei_candidates": 24, "multivariate": False},
        "smac": {"initial_per_parameter": 0, "random_fraction": 0.33, "max_evaluations": 4},
    },
    # Zela et al. 2022, appendix C.3; local search: section 4, footnote 5
    "snb": {
        "rs": {},
        "re": {"population_size": 3000, "sample_size": 100},
        "de": {"population_size": 100},
        "kde": {"good": 0.15, "samples": 64},
        "bananas": {"initial": 100, "members": 3},
        "combo": {"initial": 100, "starts": 30},
        "hebo": {"population_size": 100, "generations": 100},
        "ls": {"starts": 10, "first_improvement": True},
    },
}
PAIRS = [(preset, method) for preset, methods in PUBLISHED.items() for method in methods]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A made-up table of all nb201 cells."""
    folder = tmp_path_factory.mktemp("presets") / "table"
    metric = Metric("accuracy", split="validation", unit="%", bounds=(0, 100))
    codes = space("nb201").codes(list(space("nb201").enumerate()))
    rows = Rows.of(codes, {metric.key: additive(codes)}, fidelity=200, seed=0, train_time_s=1.0)
    write_results(folder, TableInfo("made-up", "nb201", (metric,)), [rows])
    return str(folder)


def test_presets_are_those_of_two_papers() -> None:
    presets = {name: METHOD_PRESETS.get(name) for name in METHOD_PRESETS}
    assert {name: list(preset.owners) for name, preset in presets.items()} == {
        name: list(methods) for name, methods in PUBLISHED.items()
    }


@pytest.mark.parametrize(("preset", "method"), PAIRS)
def test_preset_has_the_published_numbers_and_they_arrive_in_the_method(preset: str, method: str) -> None:
    if method in ("tpe", "smac"):
        pytest.importorskip({"tpe": "optuna"}.get(method, method), reason="an extra")
    entries = METHOD_PRESETS.get(preset).owners[method]
    settings = METHOD_PRESETS.get(preset).settings(method)
    assert settings == PUBLISHED[preset][method]
    assert all("section" in entry.source or "appendix" in entry.source for entry in entries.values())
    optimizer = OPTIMIZERS.get(method)(problem_on(space("nb201")), np.random.default_rng(0), **settings)
    assert {name: getattr(optimizer, name) for name in settings} == settings


def test_compare_runs_with_the_preset_and_the_users_own_settings_win(table: str, tmp_path: Path) -> None:
    """A population of 100 shows: the first 100 are random draws, and the twin draws the same."""
    notes: list[str] = []
    runs = compare(
        table, ["re", "rl", "ls"], seeds=1, budget="110ev", out=tmp_path, engine=SerialEngine(), preset="nb101",
        settings={"re": {"sample_size": 50}, "rl": {"momentum": 0.9}}, on_note=notes.append,
    )  # fmt: skip
    assert dict(runs.setup.settings) == {
        "re": {"population_size": 100, "sample_size": 50, "mutation_rate": 1},
        "rl": {"learning_rate": 0.1, "momentum": 0.9},
    }
    assert dict(runs.setup.presets) == {"re": "nb101 except sample_size", "rl": "nb101"}
    assert notes == ["NAS-Bench-101 (Ying et al. 2019) does not use ls: the preset nb101 leaves the defaults there"]
    assert runs.of("re")[0].random_start == 100


def test_runs_of_several_presets_are_told_apart(table: str, tmp_path: Path) -> None:
    for folder, preset in (("one", "nb101"), ("one", "snb"), ("two", "nb101")):
        method = {"nb101": "re", "snb": "de"}[preset] if folder == "one" else "rl"
        compare(table, [method], seeds=1, budget="5ev", out=tmp_path / folder, engine=SerialEngine(), preset=preset)
    assert dict(load_setup(tmp_path / "one").presets) == {"re": "nb101", "de": "snb"}
    joined = join_runs([load_runs(tmp_path / folder) for folder in ("one", "two")])
    assert dict(joined.setup.presets) == {"re": "nb101", "de": "snb", "rl": "nb101"}


@pytest.mark.usefixtures("without_charts")
def test_run_command_names_the_preset_on_its_page(table: str, tmp_path: Path) -> None:
    words = ["run", table, "--optimizers", "rs,de", "--preset", "snb", "--seeds", "1", "--budget", "5ev"]
    result = CliRunner().invoke(app, [*words, "--engine", "serial", "--out", str(tmp_path)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    page = (tmp_path / "report.html").read_text()
    assert "<dt>preset snb</dt><dd>rs, de" in page and "population_size = 100" in page


def test_unknown_preset_is_refused_in_one_line_with_the_nearest_name(table: str, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match=r"^no preset of methods is called 'nb10'; did you mean nb101\?$"):
        compare(table, ["re"], seeds=1, budget="5ev", out=tmp_path / "runs", preset="nb10")
    assert not (tmp_path / "runs").exists()


CAMPAIGN = """
[campaign]
name = "small"
trials = 10
preset = "snb"

[shares]
rs = 0.5
re = 0.25
de = 0.25

[settings.re]
sample_size = 7
"""


def test_campaign_takes_settings_from_its_preset_and_keeps_its_own() -> None:
    campaign = Campaign.parse(tomllib.loads(CAMPAIGN))
    expected = {"re": {"population_size": 3000, "sample_size": 7}, "de": {"population_size": 100}}
    assert {name: campaign.settings_of(name) for name in campaign.methods} == {"rs": {}, **expected}
    assert campaign.identity()["settings"] == expected
    assert Campaign.parse(tomllib.loads(campaign.toml())) == campaign
    with pytest.raises(NasbedError, match=r"^no preset of methods is called 'snd'; did you mean snb\?$"):
        Campaign.parse(tomllib.loads(CAMPAIGN.replace("snb", "snd")))


def test_campaign_without_a_preset_is_known_by_what_it_was_known_by() -> None:
    campaign = Campaign.parse(tomllib.loads(CAMPAIGN.replace('preset = "snb"\n', "")))
    assert campaign.identity()["settings"] == {"re": {"sample_size": 7}} and "preset" not in campaign.toml()


def test_list_shows_every_preset_with_its_sources() -> None:
    listing = CliRunner().invoke(app, ["list", "presets"], catch_exceptions=False).output
    assert all(name in listing for name in ("nb101", "snb", "table-6", "appendix-b"))
    rows = CliRunner().invoke(app, ["list", "presets", "snb", "--json"], catch_exceptions=False).output
    assert '"setting": "population_size"' in rows and '"value": "3000"' in rows and '"source": "appendix C.3"' in rows
