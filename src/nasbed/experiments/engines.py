"""The former place of :mod:`nasbed.core.execution`; it goes with the next version."""

from nasbed.core.execution import WAIT, Engine, LocalEngine, SerialEngine, attempt
from nasbed.core.execution import TaskOutcome as Outcome

__all__ = ["WAIT", "Engine", "LocalEngine", "Outcome", "SerialEngine", "attempt"]
