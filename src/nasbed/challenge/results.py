"""The stored files of a run: RUNS/SUBMISSION/DATASET with ``result.json``, ``predictions.npy``, ``log.txt`` and
``key.json``."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.challenge.scoring import FINISHED, WORST
from nasbed.core.errors import BadFile, InvalidOption
from nasbed.core.files import complete_folder

FILE = "result.json"
KEY_FILE = "key.json"


@dataclass(frozen=True, slots=True)
class SubmissionResult:
    """One submission on one dataset. ``raw`` is the accuracy in per cent, ``None`` after a failure; ``benchmark`` the
    one that scores 0, of the kind ``zero``. ``time_s`` is what the dataset got of the submission's ``total_time_s``.
    Older results have neither; their zero is the figure in the metadata."""

    submission: str
    dataset: str
    ended: str
    reason: str
    raw: float | None
    score: float
    benchmark: float
    seconds: float
    peak_memory_bytes: int
    parameters: int | None
    isolation: str
    isolation_notes: list[str]
    limits: dict[str, float]
    seed: int
    device: str
    submission_sha256: str
    labels_sha256: str
    versions: dict[str, str]
    date: str
    zero: str = "paper"
    zero_source: str = ""
    data_sha256: str = ""
    codename: str = ""
    disguise: str = "none"
    time_s: float | None = None
    total_time_s: float | None = None

    @property
    def failed(self) -> bool:
        return self.ended != FINISHED


def write_result(
    folder: Path,
    result: SubmissionResult,
    log: bytes,
    predictions: NDArray[np.int64] | None,
    key: Mapping[str, object] | None = None,
) -> None:
    """Write the folder, which appears only when complete.

    Args:
        folder: The folder of the result.
        result: The result.
        log: What the submission printed.
        predictions: Its predictions, in the order and with the class numbers of the files.
        key: How the dataset was disguised; only the owner of the file can read it.
    """
    with complete_folder(folder) as draft:
        text = json.dumps(asdict(result), indent=1, ensure_ascii=False, allow_nan=False)
        (draft / FILE).write_text(text + "\n", encoding="utf-8")
        (draft / "log.txt").write_bytes(log)
        if predictions is not None:
            np.save(draft / "predictions.npy", predictions, allow_pickle=False)
        if key is not None:
            (draft / KEY_FILE).touch(mode=0o600)
            (draft / KEY_FILE).write_text(json.dumps(key) + "\n", encoding="utf-8")


def read_result(path: Path) -> SubmissionResult:
    """One ``result.json``, checked."""
    try:
        content: Any = json.loads(path.read_bytes())
        result = SubmissionResult(**content)
        numbers = [result.score, result.benchmark, result.seconds, *([] if result.failed else [result.raw])]
        valid = all(isinstance(item, int | float) and math.isfinite(item) for item in numbers)
        texts = all(
            isinstance(getattr(result, item.name), str) for item in fields(SubmissionResult) if item.type == "str"
        )
        valid = valid and texts and isinstance(result.limits, dict) and result.score >= WORST
    except (OSError, ValueError, TypeError, RecursionError):
        valid = False
    if not valid:
        raise BadFile(f"{path} is not a result of a challenge; remove its folder and run it again")
    return result


def read_results(runs: Sequence[Path]) -> list[SubmissionResult]:
    """All results stored in these folders; a repeated one raises."""
    results: dict[tuple[str, str], tuple[SubmissionResult, Path]] = {}
    for folder in runs:
        paths = sorted(path for path in folder.glob(f"*/*/{FILE}") if not path.parent.name.startswith("."))
        if not paths:
            raise InvalidOption(f"{folder} has no result of a challenge; name the folder given to challenge run --out")
        for path in paths:
            result = read_result(path)
            key = result.submission, result.dataset
            if key in results:
                raise InvalidOption(
                    f"a submission runs once on a dataset, {key[0]} on {key[1]} is in {results[key][1]} and in "
                    f"{path}; omit one"
                )
            results[key] = result, path
    return [result for result, _ in results.values()]
