"""Progress bars in a notebook: HTML in the output of the cell, replaced in place. rich's own need ipywidgets."""

from __future__ import annotations

from time import monotonic
from typing import Any

from rich.progress import Progress, TaskID

from nasbed.drawing.page import environment

REDRAW_S = 0.1
"""Seconds between two drawings, so that a fast loop does not wait for the browser."""


class NotebookBars(Progress):
    """The tasks of a ``rich`` progress, drawn by IPython's display instead of a terminal. At the end they vanish."""

    def __init__(self, title: str = "") -> None:
        super().__init__(auto_refresh=False)
        self._title = title
        self._handle: Any = None
        self._last = 0.0

    def start(self) -> None:
        from IPython.display import HTML, display

        self._handle = display(HTML(self.html()), display_id=True)

    def stop(self) -> None:
        self._show("")

    def refresh(self) -> None:
        if monotonic() - self._last >= REDRAW_S:
            self._last = monotonic()
            self._show(self.html())

    def update(self, task_id: TaskID, **changes: Any) -> None:
        super().update(task_id, **changes)
        self.refresh()

    def advance(self, task_id: TaskID, advance: float = 1) -> None:
        super().advance(task_id, advance)
        self.refresh()

    def html(self) -> str:
        """The bars of all visible tasks."""
        shown = [task for task in self.tasks if task.visible]
        return environment().get_template("progress.html").render(title=self._title, tasks=shown)

    def _show(self, html: str) -> None:
        if self._handle is not None:
            from IPython.display import HTML

            self._handle.update(HTML(html))
