"""The folder of a tuning: its setup, and a journal of proposals and results by the numbers of the trials."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import nasbed
from nasbed.core.errors import BadFile, first_line
from nasbed.core.execution.journal import LineFormat, TaskJournal, check_same_inputs
from nasbed.core.files import complete_file

JOURNAL, SETUP = "trials.jsonl", "tuning.json"


@dataclass(frozen=True, slots=True)
class TuningTrial:
    """One fit on the train part, scored on the validation part. Trial 0 has the default settings."""

    number: int
    settings: Mapping[str, Any]
    """The settings that differ from the defaults, including the budget."""
    budget: int | None = None
    """``None`` where a model has one budget."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """The point of the tuning space; empty for trial 0."""
    figures: Mapping[str, float] = field(default_factory=dict)
    """On the validation part: ``skt``, ``r2``, ``kendall``, ``mae``; empty for a trial that failed."""
    fit_s: float = 0.0
    error: str = ""
    nasbed_version: str = ""
    """The version of nasbed that fitted it; empty if an older one did not record it."""


@dataclass(frozen=True, slots=True)
class TuningSetup:
    """The common setup of the trials of a folder; a tuning with another setup needs another folder."""

    model: str
    space: str
    metric: str
    score: str
    seed: int
    settings: Mapping[str, Any]
    budget: str | None
    data_sha256: str
    """The checksum of the train and validation parts."""
    code_sha256: str = ""
    """The checksum of the model's code if it is not nasbed's own."""


class TuningJournal(TaskJournal[int, TuningTrial]):
    """The trials of a folder by their numbers. A line is a proposal (``asked``) or a result (``ended``), in the order
    of the optimizer's calls. The setup is not a line but a file of its own."""

    def __init__(self, folder: Path, setup: TuningSetup) -> None:
        self._folder = folder
        self.proposals: dict[int, TuningTrial] = {}
        form: LineFormat[int, TuningTrial] = LineFormat("trials", SETUP, _line, self._trial)
        super().__init__(folder / JOURNAL, asdict(setup), form=form)

    def begin(self, inputs: dict[str, Any]) -> None:
        path = self._folder / SETUP
        if path.is_file():
            self.check_inputs(read_json(path), inputs)
            return
        with complete_file(path) as draft:
            draft.write_text(
                json.dumps(inputs | {"nasbed_version": nasbed.__version__}, indent=1) + "\n", encoding="utf-8"
            )

    def check_inputs(self, before: dict[str, Any], now: dict[str, Any]) -> None:
        check_same_inputs(
            f"{self._folder} holds trials",
            before,
            now,
            remedy="choose another folder",
            optional=("code_sha256",),
            differences={
                "data_sha256": "other evaluations",
                "code_sha256": f"another content of the code of {now['model']}",
            },
        )

    def take(self, line: dict[str, Any], inputs: dict[str, Any]) -> None:
        if "asked" in line:
            proposal = {name: line[name] for name in ("settings", "budget", "values")}
            self.proposals[line["asked"]] = TuningTrial(line["asked"], **proposal)
        else:
            super().take(line, inputs)

    def keep(self, key: int, result: TuningTrial) -> None:
        """If the journal has two results of a trial, the first counts."""
        self._results.setdefault(key, result)

    def propose(self, trial: TuningTrial) -> None:
        """Store a proposal. It survives the end of this process, and after the next result also a power cut."""
        line = {"asked": trial.number, "settings": trial.settings, "budget": trial.budget, "values": trial.values}
        self.add(line, durable=False)
        self.proposals[trial.number] = trial

    def _trial(self, line: dict[str, Any]) -> tuple[int, TuningTrial]:
        number = line["ended"]
        outcome = {name: line[name] for name in ("figures", "fit_s", "error")}
        return number, replace(self.proposals[number], **outcome, nasbed_version=line.get("nasbed_version", ""))


def _line(number: int, trial: TuningTrial) -> dict[str, Any]:
    return {
        "ended": number,
        "figures": trial.figures,
        "fit_s": trial.fit_s,
        "error": trial.error,
        "nasbed_version": trial.nasbed_version,
    }


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in a file."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadFile(f"{path} cannot be read: {first_line(error)}; give another file") from None
    if not isinstance(data, dict):
        raise BadFile(f"{path} holds no JSON object; give another file")
    return data
