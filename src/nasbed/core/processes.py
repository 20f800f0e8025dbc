"""Processes that end with the one that started them."""

from __future__ import annotations

import multiprocessing
import os
from signal import SIG_IGN, SIGINT, signal
from threading import Thread
from time import sleep

ORPHANED_S = 1.0
"""How often a process looks whether the one that started it still runs."""


def follow_parent() -> None:
    """Make this process, a child of ``multiprocessing``, end when its parent does, be it killed in the middle of work.
    Ctrl-C is left to the parent. A process that is no such child is not changed."""
    parent = multiprocessing.parent_process()
    if parent is None or parent.pid is None:
        return
    signal(SIGINT, SIG_IGN)
    Thread(target=_end_with, args=(parent.pid,), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        sleep(ORPHANED_S)
    os._exit(1)
