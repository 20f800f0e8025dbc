"""Any Python function as the trainer, on a space of any origin."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from nasbed.core.architecture import Architecture
from nasbed.core.code_fingerprint import named_file, named_fingerprint, object_fingerprint
from nasbed.core.errors import InvalidOption, shorten
from nasbed.core.metric import Metric
from nasbed.core.user_code import object_named
from nasbed.experiments.campaign.provenance import CodeVersion
from nasbed.experiments.campaign.trainer import Trainer, check_keys
from nasbed.experiments.campaign.trial import Evaluation, Trial
from nasbed.spaces.base import SearchSpace
from nasbed.spaces.named import space_of

if TYPE_CHECKING:
    from ConfigSpace import ConfigurationSpace

Measured = float | Mapping[str, float]
Function = Callable[[Architecture, int, int], Measured]
USUAL = Metric("value", split="validation")
TIME = "train_time_s"


class FunctionTrainer(Trainer):
    """Evaluates architectures by ``function(architecture, fidelity, seed)``.

    The function returns the objective, or a mapping of metric keys to values. The mapping may contain ``train_time_s``;
    otherwise the clock measures the time. :meth:`~nasbed.spaces.base.SearchSpace.to_native` gives an architecture of a
    ``ConfigSpace`` as a dict.

    Args:
        function: the function, or its name (``module:name``, ``file.py:name``), by which other processes can find it.
        space: a :class:`~nasbed.spaces.base.SearchSpace`, a ``ConfigSpace``, or the name of either.
        metrics: the metrics that the function returns. The objective is the first of the validation split, or else the
            first that is not of the test split.
        fidelities: the budgets that the function accepts, rising.
        fidelity_unit: the unit of the fidelities.
        timeout_s: wall-clock timeout per task, in seconds.
        dataset: the name of the dataset, for the table.
        folder: the folder to which file names are relative.
    """

    kind = "function"
    usual_workers = None

    def __init__(
        self,
        function: Function | str,
        space: SearchSpace | ConfigurationSpace | str,
        *,
        metrics: Sequence[Metric] = (USUAL,),
        fidelities: Sequence[int] = (1,),
        fidelity_unit: str = "epochs",
        timeout_s: float | None = None,
        dataset: str = "",
        folder: str | Path = Path(),
    ) -> None:
        folder = Path(folder)
        self._function = function
        self._folder = folder.resolve()
        self._space = space
        self._loaded_function: Function | None = None
        self.space = space_of(space, self._folder)
        self.metrics = tuple(metrics)
        objective = next((metric for metric in metrics if metric.split == "validation"), None)
        objective = objective or next((metric for metric in metrics if metric.split != "test"), None)
        if objective is None:
            raise InvalidOption("a trainer has a metric to optimise, which is not of the test split; add one")
        self.objective = objective
        self.fidelities = tuple(fidelities)
        self.fidelity_unit = fidelity_unit
        self.timeout_s = timeout_s
        self.dataset = dataset
        self.recipe_name = self.name
        self.check()

    @property
    def name(self) -> str:
        if isinstance(self._function, str):
            return self._function
        kind = self._function if hasattr(self._function, "__qualname__") else type(self._function)
        return f"{kind.__module__}:{kind.__qualname__}"

    @property
    def function(self) -> Function:
        """The function itself, looked up once a process."""
        if self._loaded_function is None:
            source = self._function
            function = object_named(source, folder=self._folder) if isinstance(source, str) else source
            if not callable(function):
                raise InvalidOption(f"the function of a trainer can be called, {self.name} cannot; check the name")
            self._loaded_function = function
        return self._loaded_function

    def __getstate__(self) -> dict[str, Any]:
        """Objects from a user's file are looked up again in each process."""
        state = self.__dict__ | {"_loaded_function": None}
        if isinstance(self._space, str):
            del state["space"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "space" not in state:
            self.space = space_of(self._space, self._folder)

    def identity(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "function": self.name,
            "fidelities": list(self.fidelities),
            "metrics": [metric.key for metric in self.metrics],
            "objective": f"{self.objective.direction} {self.objective.key}",
            "dataset": self.dataset,
        }

    def code(self) -> dict[str, CodeVersion]:
        versions = {f"function {self.name}": self._version(self._function)}
        if isinstance(self._space, str) and ":" in self._space:
            versions[f"space {self._space}"] = self._version(self._space)
        versions |= {
            name: own for name, own in super().code().items() if not name.startswith("space") or len(versions) == 1
        }
        return {name: version for name, version in versions.items() if version.sha256}

    def _version(self, source: Any) -> CodeVersion:
        if not isinstance(source, str):
            return CodeVersion(object_fingerprint(source))
        file = named_file(source, self._folder)
        return CodeVersion(named_fingerprint(source, self._folder), "" if file is None else str(file))

    def check_ready(self) -> list[str]:
        """Raise where the function cannot be loaded."""
        _ = self.function
        return []

    def evaluate(self, trials: Sequence[Trial]) -> list[Evaluation]:
        return [self._evaluate(trial) for trial in trials]

    def _evaluate(self, trial: Trial) -> Evaluation:
        start = perf_counter()
        answer = self.function(trial.architecture, trial.fidelity, trial.seed)
        seconds = perf_counter() - start
        if isinstance(answer, Mapping):
            values = dict(answer)
            seconds = values.pop(TIME, seconds)
        else:
            values = {self.objective.key: answer}
        return Evaluation(values=values, train_time_s=float(seconds))

    @classmethod
    def of_file(cls, space: str, settings: Mapping[str, Any], folder: Path) -> FunctionTrainer:
        """The trainer that ``[trainer]`` of a campaign's file describes. Without metrics there, they are the function's
        attribute ``metrics``, or else the single metric ``validation_value``."""
        optional = ("metrics", "fidelities", "fidelity_unit", "timeout_s", "dataset")
        check_keys(cls.kind, settings, ("function",), optional)
        if not space:
            raise InvalidOption("[campaign] has a space, got none; add one")
        options = dict(settings)
        name = options.pop("function")
        if not isinstance(name, str):
            raise InvalidOption(f"[trainer] function is module:name or file.py:name, got {shorten(name)}")
        options["metrics"] = _metrics(options.get("metrics", ()), object_named(name, folder=folder.resolve()))
        return cls(name, space, folder=folder, **options)


def _metrics(tables: Any, function: Any) -> tuple[Metric, ...]:
    if not tables:
        return tuple(getattr(function, "metrics", (USUAL,)))
    metrics = []
    for table in tables:
        try:
            values = dict(table)
            low, high = values.get("bounds", (-math.inf, math.inf))
            bounds = [None if low == -math.inf else float(low), None if high == math.inf else float(high)]
            metrics.append(Metric.from_json(values | {"bounds": bounds}))
        except (TypeError, ValueError) as error:
            reason = next(iter(str(error).splitlines()), "")
            raise InvalidOption(f"[[trainer.metrics]] has name, split, direction, unit and bounds: {reason}") from None
    return tuple(metrics)
