"""Where work runs, and how it survives: engines carry out tasks, journals keep what became of them.

An :class:`Engine` runs one function over many tasks: :class:`SerialEngine` here, :class:`LocalEngine` in processes,
:class:`~nasbed.core.execution.ray_engine.RayEngine` on a Ray cluster. A
:class:`~nasbed.core.execution.journal.TaskJournal` keeps each result durably under its key, so that the same call
resumes after a kill.
"""

from nasbed.core.execution.engine import WAIT, Engine, SerialEngine, TaskOutcome, attempt
from nasbed.core.execution.local_engine import LocalEngine

__all__ = ["WAIT", "Engine", "LocalEngine", "SerialEngine", "TaskOutcome", "attempt"]
