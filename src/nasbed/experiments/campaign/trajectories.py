"""The architectures that one-shot searches went through, as trials of a campaign."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from nasbed.core.architecture import Architecture
from nasbed.core.errors import BadFile, InvalidOption, NasbedError
from nasbed.experiments.campaign.plan import NOT_METHODS, Campaign
from nasbed.oneshot.record import SearchRecord, read_record
from nasbed.spaces.base import SearchSpace

Searched = tuple[str, Architecture]
"""A method and an architecture that it had at the end of an epoch."""


def searched_architectures(campaign: Campaign, space: SearchSpace) -> list[Searched]:
    """The different architectures of all searches that a campaign names, each with the method that had it first. Files
    are in the order of their names in the plan, those of one pattern by path, epochs in order. A journal evaluates an
    architecture once, so one that two methods had belongs to the first."""
    architectures: dict[Architecture, str] = {}
    for path in _paths(campaign):
        record = read_record(path)
        _check(record, path, campaign, space)
        for epoch in record.searched.epochs:
            architectures.setdefault(epoch.architecture, record.method)
    if campaign.trajectories is not None and not architectures:
        raise InvalidOption("[trajectories] searches have no epoch at all; search again")
    return [(method, arch) for arch, method in architectures.items()]


def trajectories_identity(searched: list[Searched]) -> dict[str, Any]:
    """The identity that two campaigns on one journal must share: the same architectures by the same methods, in
    order."""
    text = json.dumps([[method, list(arch.code)] for method, arch in searched])
    return {"architectures": len(searched), "sha256": hashlib.sha256(text.encode()).hexdigest()}


def _paths(campaign: Campaign) -> list[Path]:
    """The files that the patterns name, each once."""
    paths: dict[Path, None] = {}
    for pattern in () if campaign.trajectories is None else campaign.trajectories.searches:
        path = Path(pattern)
        root = Path(path.anchor) if path.is_absolute() else campaign.folder
        matching = sorted(root.glob(str(path.relative_to(path.anchor))))
        if not matching:
            raise BadFile(
                f"[trajectories] searches are records that nasbed oneshot writes, no file is {root / path}; check the "
                "path"
            )
        paths |= dict.fromkeys(matching)
    return list(paths)


def _check(record: SearchRecord, path: Path, campaign: Campaign, space: SearchSpace) -> None:
    if record.space != space.name:
        raise InvalidOption(f"{path} is a search in the space {record.space}, the campaign is of {space.name}")
    if record.method in NOT_METHODS or record.method in campaign.shares:
        raise InvalidOption(
            f"{path} is a search by {record.method!r}, which has another meaning in this campaign; omit one of the two"
        )
    for epoch in record.searched.epochs:
        try:
            space.validate(epoch.architecture)
        except NasbedError as error:
            raise BadFile(f"{path}, epoch {epoch.epoch}: {error}") from None
