"""A batch of answers, column by column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.architecture import Architecture
from nasbed.core.metric import Metric
from nasbed.core.metric_values import MetricValues
from nasbed.core.observation import Observation
from nasbed.core.presentation.data_frames import data_frame
from nasbed.core.status import STATUSES
from nasbed.spaces import SearchSpace
from nasbed.spaces import space as registered_space

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Observations:
    """The answer of ``query_many``. A value that was not measured is NaN here and omitted in the single observation.
    ``values`` are looked up by a metric or by its key. An index gives a single
    :class:`~nasbed.core.observation.Observation`."""

    space: str
    codes: NDArray[np.int64]
    values: Mapping[Metric, NDArray[np.float64]]
    fidelity: int | None
    seeds: NDArray[np.int64]  # -1 where it was not recorded
    cost_s: NDArray[np.float64]
    status: NDArray[np.int8]  # index into STATUSES

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", MetricValues(self.values))

    @classmethod
    def of(
        cls,
        space: str,
        codes: NDArray[np.int64],
        answers: Sequence[Observation],
        *,
        metrics: Sequence[Metric],
        fidelity: int | None,
    ) -> Observations:
        """Single answers as a batch.

        Args:
            space: the name of the space.
            codes: of the architectures, in the order of the answers.
            answers: one for each architecture.
            metrics: the columns to make.
            fidelity: that of all answers.
        """
        missing = float("nan")
        return cls(
            space=space,
            codes=codes,
            values={
                metric: np.array([answer.values.get(metric, missing) for answer in answers], dtype=np.float64)
                for metric in metrics
            },
            fidelity=fidelity,
            seeds=np.array([-1 if answer.seed is None else answer.seed for answer in answers], dtype=np.int64),
            cost_s=np.array([answer.cost_s for answer in answers], dtype=np.float64),
            status=np.array([answer.status.number for answer in answers], dtype=np.int8),
        )

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, position: int) -> Observation:
        values = {metric: float(column[position]) for metric, column in self.values.items()}
        cost, seed = float(self.cost_s[position]), int(self.seeds[position])
        return Observation(
            Architecture(self.space, tuple(self.codes[position].tolist())),
            {metric: value for metric, value in values.items() if value == value},
            fidelity=self.fidelity,
            seed=None if seed < 0 else seed,
            cost_s=None if cost != cost else cost,
            status=STATUSES[self.status[position]],
        )

    def __iter__(self) -> Iterator[Observation]:
        return (self[position] for position in range(len(self)))

    def to_pandas(self, space: SearchSpace | None = None) -> pd.DataFrame:
        """One row an answer: ``architecture`` as text, the metrics by key, ``fidelity``, ``seed``, ``cost_s`` and
        ``status``. Needs pandas (``pip install 'nasbed[pandas]'``).

        ``space`` is needed where it is not a registered one: ``to_pandas(benchmark.space)``.
        """
        searched = registered_space(self.space) if space is None else space
        columns: dict[str, Any] = {"architecture": searched.texts(self.codes)}
        columns |= {metric.key: column for metric, column in self.values.items()}
        columns |= {"fidelity": self.fidelity, "seed": np.where(self.seeds < 0, np.nan, self.seeds)}
        columns |= {"cost_s": self.cost_s, "status": [STATUSES[number].value for number in self.status.tolist()]}
        return data_frame(columns).astype({"fidelity": "Int64", "seed": "Int64"})

    def column(self, metric: Metric | str) -> NDArray[np.float64]:
        """The values of a metric, which is named by itself or by its key."""
        return self.values[metric]  # type: ignore[index]
