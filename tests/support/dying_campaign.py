"""A campaign each of whose trials kills its worker once."""

from __future__ import annotations

import functools
from pathlib import Path

from nasbed.core.execution import Engine
from nasbed.experiments.campaign import Campaign, FunctionTrainer, collect
from support.campaign_functions import dying_once


def check_dying_campaign(folder: Path, engine: Engine) -> None:
    """Every worker that dies is replaced, and its trial repeated."""
    campaign = Campaign("dying", trials=2, shares={"rs": 1})
    trainer = FunctionTrainer(functools.partial(dying_once, markers=str(folder)), "nb201", timeout_s=60)
    status = collect(campaign, trainer, folder / "journal.sqlite", engine=engine)
    assert dict(status.by_status) == {"ok": 2, "diverged": 0, "failed": 0}
    assert len(list(folder.glob("(*"))) == 2, "each was killed once"
