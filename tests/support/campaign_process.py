"""``nasbed …`` in a process that kills itself or may write small files only."""

from __future__ import annotations

import os
import resource
import signal
import threading
import time


def run_command_until(moment_s: float | None, file_limit: int | None) -> None:
    """Run the command of ``sys.argv``.

    Args:
        moment_s: kill this process so many seconds after its imports, so that the moment falls into the campaign.
        file_limit: the size in bytes of the largest file, which makes the disk look full to this process.
    """
    import nasbed.cli
    import nasbed.experiments.campaign
    import nasbed.optimizers.evolution
    import nasbed.optimizers.local_search
    import nasbed.spaces.nb201
    import support.campaign_functions  # noqa: F401

    if file_limit is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, resource.RLIM_INFINITY))
    if moment_s is not None:
        threading.Thread(target=_kill, args=(moment_s,), daemon=True).start()
    nasbed.cli.main()


def _kill(moment_s: float) -> None:
    time.sleep(moment_s)
    os.kill(os.getpid(), signal.SIGKILL)
