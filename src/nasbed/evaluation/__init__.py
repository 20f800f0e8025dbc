"""Evaluation: pure functions from measurements to statistics. Studies apply them to a whole table.

Measurements are arrays. Some functions take the runs of a comparison and the benchmark that judges them, or a file of
scores and its table: they ask these objects for arrays, and import their classes for type checking alone. Nothing here
trains, starts a process or touches a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nasbed.evaluation.transfer import Transfer, hyperparameter_transfer

__all__ = ["Transfer", "hyperparameter_transfer"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'nasbed.evaluation' has no attribute {name!r}; it offers {', '.join(__all__)}")
    from nasbed.evaluation import transfer

    return getattr(transfer, name)
