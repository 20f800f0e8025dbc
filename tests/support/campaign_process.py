"""``nasbed …`` in a process that kills itself: ``-m support.campaign_process SECONDS|never FILE_LIMIT|none ARGUMENTS…``.

The clock starts when the imports are done, so that the moment falls into the campaign. A file limit makes the disk look
full to this process.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import threading
import time


def main() -> None:
    import rich.progress  # noqa: F401

    import nasbed.cli
    import nasbed.experiments.campaign
    import nasbed.optimizers.evolution
    import nasbed.optimizers.local_search
    import nasbed.spaces.nb201
    import support.campaign_functions  # noqa: F401

    moment, limit, *sys.argv[1:] = sys.argv[1:]
    if limit != "none":
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), resource.RLIM_INFINITY))
    if moment != "never":

        def kill() -> None:
            time.sleep(float(moment))
            os.kill(os.getpid(), signal.SIGKILL)

        threading.Thread(target=kill, daemon=True).start()
    nasbed.cli.main()


if __name__ == "__main__":
    main()
