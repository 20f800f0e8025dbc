"""NAS-Bench-201's first query interface. Its one file ``NAS-Bench-201-v1_1-096897.pth`` is not read: the same trainings
are in NATS-Bench's topology folder, and a results folder may stand in the file's place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nasbed.compat.nats_bench.api_topology import NATStopology
from nasbed.compat.nats_bench.tables import Source
from nasbed.core.errors import BadFile

BUDGETS = {"less": "12", "full": "200"}
"""What NAS-Bench-201 called the trainings of 12 and of 200 epochs."""


class NASBench201API(NATStopology):
    """The cells of NAS-Bench-201, by the arguments that its own package had."""

    def __init__(self, file_path_or_dict: Source = None, verbose: bool = False, *, seed: int | None = 0) -> None:
        if isinstance(file_path_or_dict, str | Path) and Path(file_path_or_dict).expanduser().is_file():
            raise BadFile(
                f"{file_path_or_dict} is one file of all results, which is not read; give the folder "
                "NATS-tss-v1_0-3ffb9-simple, a results folder or a table's id"
            )
        super().__init__(file_path_or_dict, True, verbose, seed=seed)

    def get_more_info(
        self, index: Any, dataset: str, iepoch: int | None = None, hp: str | int = "12", is_random: bool | int = True
    ) -> dict[str, Any]:
        """As of ``nats_bench``; ``less`` and ``full`` name the trainings of 12 and of 200 epochs.

        Args:
            index: The index or the text of an architecture.
            dataset: As the published package names it.
            iepoch: The epoch, counted from 0.
            hp: The epochs of the training.
            is_random: True draws one training, a seed chooses one, False averages over all.
        """
        return super().get_more_info(index, dataset, iepoch, BUDGETS.get(str(hp), hp), is_random)

    def find_best(  # type: ignore[override]  # the limits had capital letters
        self,
        dataset: str,
        metric_on_set: str,
        FLOP_max: float | None = None,  # noqa: N803
        Param_max: float | None = None,  # noqa: N803
        hp: str | int = "12",
    ) -> tuple[int, float]:
        """As of ``nats_bench``.

        Args:
            dataset: As the published package names it.
            metric_on_set: The split of the accuracy.
            FLOP_max: The most FLOPs, in millions.
            Param_max: The most parameters, in millions.
            hp: The epochs of the training.
        """
        return super().find_best(dataset, metric_on_set, FLOP_max, Param_max, BUDGETS.get(str(hp), hp))
