"""benchmarks/sampled_supernets.py compares gradients: it passes where they agree, and fails where they do not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs torch")

SMALL = ["5", "--device", "cpu", "--batch", "4", "--channels", "4", "--cells", "3", "--steps", "1", "--warm-up", "1"]


@pytest.fixture(autouse=True)
def _benchmarks_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")


def test_replayed_operations_have_the_gradients_of_launched_ones(capsys: pytest.CaptureFixture[str]) -> None:
    from sampled_supernets import main

    main(SMALL)
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("5x5: launched ")
    assert float(re.findall(r"by ([\d.e+-]+) between them", line)[0]) < 1e-4


def test_benchmark_fails_if_a_replayed_operation_forgets_its_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    import sampled_supernets

    operation_of = sampled_supernets.RecordedOperations._of

    def forgetful(*arguments: Any) -> Any:
        operation = operation_of(*arguments)
        return lambda x, weight, *, by_weights: operation(x, weight, by_weights=True)

    monkeypatch.setattr(sampled_supernets.RecordedOperations, "_of", forgetful)
    with pytest.raises(AssertionError, match="the gradients differ"):
        sampled_supernets.main(SMALL)
