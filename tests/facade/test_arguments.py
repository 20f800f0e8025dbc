"""Arguments of the wrong kind are refused in one line, before anything runs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nasbed
from nasbed.core.errors import InvalidOption, NasbedError

TABLE = "nb201-chesseract-v1.0"


def compare(*arguments: Any, **options: Any) -> Any:
    return nasbed.compare(*arguments, **{"seeds": 1, "budget": "3ev", "progress": False, **options})


WRONG: dict[str, Callable[[], Any]] = {
    "methods is a list, got 3": lambda: compare(TABLE, 3),
    "at least one method, got none": lambda: compare(TABLE, []),
    "a benchmark is an id .* got None": lambda: compare(None, "rs"),
    "seeds is a whole number of at least 1, got 0": lambda: compare(TABLE, "rs", seeds=0),
    "seeds is a whole number of at least 1, got '3'": lambda: compare(TABLE, "rs", seeds="3"),
    "such as 500ev or 1e6s, got 10$": lambda: compare(TABLE, "rs", budget=10),
    "workers is a whole number of at least 1, got 0": lambda: compare(TABLE, "rs", workers=0),
    "processes is a whole number of at least 0, got 1.5": lambda: compare(TABLE, "rs", processes=1.5),
    "settings are dictionaries by method.* got 3": lambda: compare(TABLE, "re", settings={"re": 3}),
    "settings are dictionaries by method.* got \\[1\\]": lambda: compare(TABLE, "re", settings=[1]),
    "no preset of methods is called 3": lambda: compare(TABLE, "re", preset=3),
    "warm_start is a list, got 3": lambda: compare(TABLE, "re", warm_start=3),
    "a suite is an id, a TOML file or a Suite, got None": lambda: nasbed.suite(None, "rs"),  # type: ignore[arg-type]
    "at least one method, got none;": lambda: nasbed.suite("quick", []),
    "a benchmark is an id .* got 3": lambda: nasbed.load(3),  # type: ignore[arg-type]
    "a space is an id .* got 3": lambda: nasbed.space(3),
    "stored runs are a folder, got 3": lambda: nasbed.load_runs(3),  # type: ignore[arg-type]
    "a campaign is .* got 3": lambda: nasbed.collect(3, out="never"),  # type: ignore[arg-type]
    "a table is an id .* got 3": lambda: nasbed.fit(3),  # type: ignore[arg-type]
    "members is a whole number of at least 1, got '2'": lambda: nasbed.fit(TABLE, members="2"),  # type: ignore[arg-type]
    "settings are values by name, got \\[1\\]": lambda: nasbed.fit(TABLE, settings=[1]),  # type: ignore[arg-type]
    "the seed of a query is a whole number, got 'x'": lambda: nasbed.load(TABLE).query(
        "|none~0|+|none~0|none~1|+|none~0|none~1|none~2|",
        seed="x",  # type: ignore[arg-type]
    ),
    "a single Architecture; use query": lambda: nasbed.load(TABLE).query_many(
        nasbed.Architecture("nb201", (0,) * 6)  # type: ignore[arg-type]
    ),
}


@pytest.mark.parametrize("reason", WRONG)
def test_call_refuses_a_wrong_argument(reason: str) -> None:
    with pytest.raises(NasbedError, match=reason) as refusal:
        WRONG[reason]()
    assert "\n" not in str(refusal.value)


def test_compare_refuses_workers_before_it_makes_a_folder(tmp_path: Path) -> None:
    with pytest.raises(InvalidOption, match="workers"):
        compare(TABLE, "rs", workers=0, out=tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


def test_compare_takes_one_warm_start_as_a_text() -> None:
    runs = compare(TABLE, "re", warm_start="params:20")
    assert runs.methods == compare(TABLE, "re", warm_start=["params:20"]).methods and len(runs.methods) == 2


def test_score_refuses_what_is_no_architecture() -> None:
    pytest.importorskip("torch")
    for wrong in ([None], ["text"], {"1<-0": "none"}):
        with pytest.raises(InvalidOption, match="holds architectures, got"):
            nasbed.score(wrong, proxies="params", progress=False)  # type: ignore[arg-type]
    arch = nasbed.Architecture("nb201", (1,) * 6)
    one = nasbed.score(arch, proxies="params", progress=False)
    assert len(one.to_pandas()) == 1


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint8])
def test_query_takes_the_integers_of_numpy_as_seeds(kind: Any) -> None:
    benchmark = nasbed.load(TABLE)
    arch = nasbed.Architecture("nb201", (1, 2, 3, 4, 0, 1))
    for seed in (0, 1, 7, 200):
        assert benchmark.query(arch, seed=kind(seed)) == benchmark.query(arch, seed=seed)
        many, same = (benchmark.query_many([arch], seed=number) for number in (kind(seed), seed))
        assert all((column == same.values[metric]).all() for metric, column in many.values.items())


class Nothing(nasbed.Optimizer):
    """Forgets to return."""

    def ask(self, n: int = 1) -> Any:
        pass

    def tell(self, observations: Any) -> None:
        pass


class Text(Nothing):
    """Proposes the text of an architecture."""

    def ask(self, n: int = 1) -> Any:
        return [nasbed.Proposal("|none~0|+|none~0|none~1|+|none~0|none~1|none~2|")]  # type: ignore[arg-type]


class Bare(Nothing):
    """Returns architectures that are not in proposals."""

    def ask(self, n: int = 1) -> Any:
        return [self.space.sample(self.rng)]


def test_run_of_a_method_that_returns_no_proposals_says_what_to_return() -> None:
    for run in compare(TABLE, [Nothing, Bare, Text]).runs:
        assert "ask returns a list of proposals, got" in run.error
        assert "return [nasbed.Proposal(architecture)]" in run.error


class Outside(Nothing):
    """Proposes operations that nb201 has not."""

    def ask(self, n: int = 1) -> Any:
        return [nasbed.Proposal(nasbed.Architecture("nb201", (99,) * 6))]


def test_runs_with_proposals_outside_the_space_are_shown_and_reported(tmp_path: Path) -> None:
    runs = compare(TABLE, ["rs", Outside])
    frame = runs.to_pandas()
    outside = frame[frame["method"] == "Outside"]
    assert outside["status"].tolist() == ["failed"] * 3 and outside["architecture"].isna().all()
    assert frame[frame["method"] == "rs"]["architecture"].notna().all()
    assert "rs" in runs._repr_html_()
    assert runs.write_report(tmp_path / "page").is_file()


def test_script_without_a_main_guard_is_told_so_in_a_line(tmp_path: Path) -> None:
    script = tmp_path / "unguarded.py"
    call = f"nasbed.compare({TABLE!r}, 'rs', seeds=1, budget='3ev', processes=2, progress=False)"
    script.write_text(f"import nasbed\nprint({call}.runs[0].error)\n", encoding="utf-8")
    process = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60, check=True)
    assert 'put the call under: if __name__ == "__main__":' in process.stdout
    assert "Traceback" not in process.stderr


def test_script_from_standard_input_is_refused_processes() -> None:
    call = f"nasbed.compare({TABLE!r}, 'rs', seeds=1, budget='3ev', processes=2, progress=False)"
    text = f"import nasbed\ntry:\n    {call}\nexcept nasbed.NasbedError as error:\n    print(error)\n"
    process = subprocess.run([sys.executable, "-"], input=text, capture_output=True, text=True, timeout=60, check=True)
    assert "<stdin> is no file; save it as one" in process.stdout
