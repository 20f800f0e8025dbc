"""From journals to a folder of tables and surrogates, twice the same."""

from __future__ import annotations

import pickle
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

import nasbed
from nasbed.benchmarks import SurrogateBenchmark, TabularBenchmark
from nasbed.cli import app
from nasbed.core.errors import BadFile, InvalidOption, UnknownName
from nasbed.experiments.campaign import Campaign, FunctionTrainer, collect
from nasbed.experiments.release import ReleasePlan, release
from nasbed.results.cache import Cache
from nasbed.results.store import Results

PLAN = """
version = "0.3"
licence = "CC0-1.0"
members = 2

[[tables]]
name = "cells"
journals = ["cells.sqlite"]

[tables.surrogates.lgb]
rounds = 20
num_leaves = 8
features = "onehot"
"""


def accuracy(arch: nasbed.Architecture, fidelity: int, seed: int) -> dict[str, float]:
    return {"validation_accuracy": 50.0 + sum(arch.code) + arch.code[0], "train_time_s": 1.0 + arch.code[1]}


@pytest.fixture(scope="module")
def journals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("journals")
    metrics = (nasbed.Metric("accuracy", split="validation", bounds=(0, 100)),)
    trainer = FunctionTrainer(accuracy, "nb201", metrics=metrics, dataset="digits@8")
    collect(Campaign("cells", trials=300, shares={"rs": 0.6, "re": 0.4}), trainer, folder / "cells.sqlite")
    (folder / "release.toml").write_text(PLAN)
    return folder


@pytest.fixture(scope="module")
def released(journals: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("released") / "home"
    release(ReleasePlan.read(journals / "release.toml"), journals, out)
    return out


def contents(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_release_gives_the_same_bytes_again(journals: Path, released: Path, tmp_path: Path) -> None:
    run = CliRunner().invoke(
        app, ["release", str(journals / "release.toml"), "--out", str(tmp_path / "again"), "--processes", "1"]
    )
    assert run.exit_code == 0, run.output
    assert contents(tmp_path / "again") == contents(released)
    assert "| `snb-nb201-digits-8-lgb-rand-v0.3` | 162 |" in run.output


def test_release_is_a_home(released: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(released, tmp_path / "home")
    monkeypatch.setenv("NASBED_HOME", str(tmp_path / "home"))
    table = nasbed.load("cells")
    assert isinstance(table, TabularBenchmark) and len(table) == table.results.manifest.rows == 300
    assert table.results.about.licence == "CC0-1.0"
    assert table.results.about.notes.startswith('release 0.3; trained by {"kind": "function"')
    full, rand = (nasbed.load(f"snb-nb201-digits-8-lgb{variant}-v0.3") for variant in ("", "-rand"))
    assert isinstance(full, SurrogateBenchmark) and isinstance(rand, SurrogateBenchmark)
    assert full.artefact.manifest.provenance["rows"] == 270
    assert rand.artefact.manifest.provenance["methods"] == {"rs": 162}
    assert "others_r2" in rand.artefact.manifest.figures and "others_r2" not in full.artefact.manifest.figures
    assert full.artefact.manifest.created == table.results.manifest.created


def test_release_leaves_nothing_behind_when_it_fails(journals: Path, released: Path, tmp_path: Path) -> None:
    plan = ReleasePlan.read(journals / "release.toml")
    with pytest.raises(InvalidOption, match="exists; remove it"):
        release(plan, journals, released)
    with pytest.raises(BadFile):
        release(plan, tmp_path, tmp_path / "out")
    (tmp_path / "release.toml").write_text(PLAN.replace("num_leaves", "leaves"))
    with pytest.raises(InvalidOption, match="lgb has no setting 'leaves'"):
        release(ReleasePlan.read(tmp_path / "release.toml"), journals, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["release.toml"]


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('"0.3"', '"one"', 'a version is "X.Y"'),
        ("members", "member", "no key 'member'"),
        ("members = 2", "members = 0", "members of a release"),
        ('["cells.sqlite"]', "[]", "a list of journals"),
        ("surrogates.lgb", "surrogates.lbg", "lbg"),
        ("[[tables]]", "[[tables", "TOML"),
        ('name = "cells"', 'name = "cells"\npacked = 1', "packed of cells is true or false"),
        ('name = "cells"', "", "lacks a key"),
        ('name = "cells"', 'name = "cells"\nversion = "one"', 'a version is "X.Y"'),
        ('name = "cells"', 'name = "cells"\nfidelities = 4', "fidelities of cells are a list"),
        ('name = "cells"', 'name = "cells"\nall_fidelities = 1', "all_fidelities of cells is true or false"),
    ],
)
def test_release_plan_says_what_is_wrong(before: str, after: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "release.toml"
    path.write_text(PLAN.replace(before, after, 1))
    with pytest.raises((BadFile, UnknownName), match=message):
        ReleasePlan.read(path)


def test_release_of_this_package_can_be_read() -> None:
    plan = ReleasePlan.read(Path(__file__).resolve().parents[2] / "campaigns" / "release.toml")
    assert {model for table in plan.tables for model in table.surrogates} == {"lgb", "xgb", "gin"}


def test_results_of_a_release_are_sound(released: Path) -> None:
    Results.open(released / "tables" / "cells").verify()


def test_packed_table_is_small_and_answers_the_same(journals: Path, released: Path, tmp_path: Path) -> None:
    path = tmp_path / "release.toml"
    path.write_text(PLAN[: PLAN.index("[tables.surrogates")] + "packed = true\n")
    for out in ("packed", "again"):
        release(ReleasePlan.read(path), journals, tmp_path / out)
    assert contents(tmp_path / "packed") == contents(tmp_path / "again")
    whole, packed = (TabularBenchmark.open(home / "tables" / "cells") for home in (released, tmp_path / "packed"))
    assert sum(map(len, contents(packed.results.folder).values())) < 0.5 * sum(
        map(len, contents(whole.results.folder).values())
    )
    architectures = list(whole.architectures())
    assert list(packed.architectures()) == architectures
    assert [packed.query(arch) for arch in architectures] == [whole.query(arch) for arch in architectures]
    copy = pickle.loads(pickle.dumps(packed))
    assert copy.expected(architectures[0]) == whole.expected(architectures[0])


def test_damaged_packed_table_is_named(journals: Path, tmp_path: Path) -> None:
    path = tmp_path / "release.toml"
    path.write_text(PLAN[: PLAN.index("[tables.surrogates")] + "packed = true\n")
    release(ReleasePlan.read(path), journals, tmp_path / "home")
    (packed,) = (tmp_path / "home").rglob("cache.zip")
    bytes_before = packed.read_bytes()
    packed.write_bytes(bytes_before[:-100] + bytes(100))
    with pytest.raises(BadFile, match="SHA-256"):
        TabularBenchmark.open(tmp_path / "home" / "tables" / "cells")
    for place in [*range(0, len(bytes_before), 500), len(bytes_before) - 100]:  # a checksum of a zip finds each
        packed.write_bytes(bytes_before[:place] + bytes(100) + bytes_before[place + 100 :])
        with pytest.raises(BadFile, match="is damaged"):
            Cache(packed)
