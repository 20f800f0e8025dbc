"""Evaluation: pure functions from measurements to statistics. Studies put them together for a whole table."""

from nasbed.evaluation.transfer import Transfer, hyperparameter_transfer

__all__ = ["Transfer", "hyperparameter_transfer"]
