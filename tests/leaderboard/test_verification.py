"""What a submission claims is found out when it is not so: by the benchmark's own answers, and by running it again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nasbed.core.errors import InvalidOption
from nasbed.experiments.runs import Run
from nasbed.leaderboard.joining import load_reference, reference_suites
from nasbed.leaderboard.packing import pack
from nasbed.leaderboard.run_file import RunFile, load_run_file, save_run_file
from nasbed.leaderboard.verification import Check, unpack_code, verify, wrong_values
from support.suite_runs import NAMES, run_small, write_methods

ALL = 100


@pytest.fixture(scope="module")
def file(small_suite: Path) -> RunFile:
    """A submission of two methods: one that its seed determines, and one that it does not."""
    save_run_file(small_suite / "mine.nbr", pack(small_suite / "runs", label="us"))
    return load_run_file(small_suite / "mine.nbr")


def changed(file: RunFile, change: Callable[[Run], Run]) -> RunFile:
    """The first two runs of mine on the first benchmark, the second one changed."""
    first, second = (run for run in file.runs[NAMES[0]] if run.method == "mine" and run.seed < 2)
    return replace(file, runs={NAMES[0]: [first, change(second)], NAMES[1]: []})


def verdicts(checks: list[Check]) -> dict[tuple[str, int], str]:
    return {(check.benchmark, check.seed): check.verdict for check in checks}


def test_true_submission_is_verified_from_its_file_alone(file: RunFile) -> None:
    assert wrong_values(file) == []
    checks = verify(file, sample=ALL, methods=["mine"], trust_code=True)
    assert set(verdicts(checks).values()) == {"verified"} and len(checks) == 6


def test_code_is_run_only_if_it_is_trusted(file: RunFile) -> None:
    checks = verify(file, sample=2)
    assert {check.verdict for check in checks} == {"cannot be verified here"}
    assert all("--trust-code" in check.reason for check in checks)


def test_method_with_hidden_randomness_differs(file: RunFile) -> None:
    checks = verify(file, sample=2, methods=["hidden"], trust_code=True)
    assert [check.verdict for check in checks] == ["differs"] * 2


def test_altered_value_is_found_in_all_runs_and_when_sampled(file: RunFile) -> None:
    better = changed(file, lambda run: replace(run, value=np.minimum(run.value + 0.01, 100.0)))
    (wrong,) = wrong_values(better)
    assert (wrong.benchmark, wrong.method, wrong.seed) == (NAMES[0], "mine", 1)
    assert "evaluation 1 has" in wrong.reason and "the benchmark gives" in wrong.reason
    results = verdicts(verify(better, sample=ALL, methods=["mine"], trust_code=True))
    assert results.pop((NAMES[0], 1)) == "differs" and set(results.values()) == {"verified"}


def earlier(run: Run) -> Run:
    """The last incumbent, claimed one evaluation earlier."""
    assert run.condensed is not None
    numbers = run.condensed.numbers.copy()
    numbers[-2] -= 1
    return replace(run, condensed=replace(run.condensed, numbers=numbers))


def other_proposals(run: Run) -> Run:
    assert run.condensed is not None
    return replace(run, condensed=replace(run.condensed, proposals=bytes(16)))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (earlier, "differs in its place"),
        (other_proposals, "other proposals differ"),
        (lambda run: replace(run, end_s=run.end_s * 0.5), "has end_s"),
        (lambda run: replace(run, error="ValueError: x"), "has the error"),
    ],
)
def test_altered_run_is_found_when_it_is_sampled(file: RunFile, change: Callable[[Run], Run], reason: str) -> None:
    checks = verify(changed(file, change), sample=ALL, methods=["mine"], trust_code=True)
    (differing,) = (check for check in checks if check.verdict == "differs")
    assert (differing.benchmark, differing.seed) == (NAMES[0], 1) and reason in differing.reason


def test_seed_that_was_not_run_is_found(file: RunFile) -> None:
    """A good run, claimed for another seed."""
    claimed = changed(file, lambda run: replace(run, seed=77))
    checks = verify(claimed, sample=ALL, methods=["mine"], trust_code=True)
    assert [check.seed for check in checks if check.verdict == "differs"] == [77]


def test_sample_is_of_its_seed_and_size(file: RunFile) -> None:
    first, same, other = (verify(file, sample=4, seed=seed) for seed in (0, 0, 1))
    assert first == same != other and len(first) == len({(c.benchmark, c.method, c.seed) for c in first}) == 4


def test_other_bytes_versions_and_missing_libraries_are_no_forgery(file: RunFile) -> None:
    records = [replace(record, sha256="0" * 64) for record in file.benchmarks]
    (check,) = verify(replace(file, benchmarks=records), sample=1, trust_code=True)
    assert check.verdict == "cannot be verified here" and "other bytes of nb201" in check.reason
    assert wrong_values(replace(file, benchmarks=records)) == []
    older = replace(changed(file, other_proposals), versions={**file.versions, "numpy": "1.0"})
    checks = verify(older, sample=ALL, methods=["mine"], trust_code=True)
    (unsure,) = (check for check in checks if check.verdict != "verified")
    assert unsure.verdict == "cannot be verified here" and "numpy 1.0 made it" in unsure.reason


def test_source_in_a_file_is_what_made_its_runs_and_stays_in_its_folder(file: RunFile, tmp_path: Path) -> None:
    mine = file.method("mine")
    other = replace(mine, files={**mine.files, "helper.py": "def chosen(*_):\n    return None\n"})
    (check,) = verify(replace(file, methods=[other]), sample=1, methods=["mine"], trust_code=True)
    assert "is not what made its runs" in check.reason
    for name in ("../up.py", "/tmp/up.py", "a\\..\\up.py", "C:up.py"):
        with pytest.raises(InvalidOption, match="outside its folder"):
            unpack_code(replace(mine, files={**mine.files, name: ""}), tmp_path)
    for main in ("../other.py", "/tmp/other.py"):
        with pytest.raises(InvalidOption, match="without"):
            unpack_code(replace(mine, method=f"{main}:Mine"), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_source_is_not_written_over_another_file(file: RunFile, tmp_path: Path) -> None:
    mine = file.method("mine")
    assert unpack_code(mine, tmp_path) == unpack_code(mine, tmp_path) == tmp_path / "my.py"
    (tmp_path / "helper.py").write_text("my thesis")
    with pytest.raises(InvalidOption, match=r"helper\.py is there and is another file"):
        unpack_code(mine, tmp_path)
    assert (tmp_path / "helper.py").read_text() == "my thesis"
    with pytest.raises(InvalidOption, match="cannot be written"):
        unpack_code(replace(mine, files={**mine.files, "my.py/x.py": ""}), tmp_path / "new")


def test_file_without_runs_is_not_verified(file: RunFile) -> None:
    with pytest.raises(InvalidOption, match="no runs"):
        verify(replace(file, runs={name: [] for name in NAMES}), trust_code=True)


def test_broken_run_is_compared_too(file: RunFile, tmp_path: Path) -> None:
    """Its code breaks after ten evaluations, and the file claims better ones before that."""
    write_methods(tmp_path)
    source = (tmp_path / "my.py").read_text()
    breaking = source.replace("def ask(self, n=1):", "asked = 0\n\n    def ask(self, n=1):\n        self.asked += 1\n")
    breaking = breaking.replace("self.asked += 1\n", "self.asked += 1\n        1 / (self.asked < 11)")
    (tmp_path / "my.py").write_text(breaking)
    run_small(tmp_path / "runs", [f"{tmp_path / 'my.py'}:Mine"])
    broken = pack(tmp_path / "runs", label="us")
    claimed = changed(broken, lambda run: replace(run, codes=run.codes[::-1]))
    assert all(run.error.startswith("ZeroDivisionError") for run in claimed.runs[NAMES[0]])
    results = verdicts(verify(claimed, sample=ALL, trust_code=True))
    assert results == {(NAMES[0], 0): "verified", (NAMES[0], 1): "differs"}


def test_reference_runs_of_the_package_are_made_again_to_the_bit() -> None:
    assert "quick" in reference_suites()
    checks = verify(load_reference("quick"), sample=2, seed=1, methods=["rs", "re", "ls"])
    assert [check.verdict for check in checks] == ["verified"] * 2
