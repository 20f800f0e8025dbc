"""What a search reports: after each epoch, and in the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import NDArray

from nasbed.core.architecture import Architecture

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True, slots=True, eq=False)
class SearchEpoch:
    """The state of a search after an epoch, counted from 1.

    ``architecture`` is what the search would end with now. ``validation_accuracy`` is the supernet's, in per cent, by
    the method's mixing, on the images that train architectures; that of Bonsai-Net is on its validation images, None if
    it has none. ``parameters`` are the architecture parameters by name, ``skips`` the skip connections of each kind of
    cell. ``eigenvalue`` is the dominant one of the Hessian, if it was requested and there are parameters.
    ``search_time_s`` is the time of all epochs so far without measurements. ``figures`` are what else the method
    measures, by name.
    """

    epoch: int
    architecture: Architecture
    validation_accuracy: float | None
    train_loss: float
    skips: Mapping[str, int]
    parameters: Mapping[str, NDArray[Any]]
    search_time_s: float
    eigenvalue: float | None = None
    figures: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class SearchResult:
    """A finished search: complete, stopped early by a rule, or diverged because its loss was no number.

    ``architecture`` is None only if it diverged. ``network`` is its network with the weights and on the device of the
    search, for methods whose weights are to be used. It is None in a trajectory read from a record.
    """

    status: Literal["ok", "stopped", "diverged"]
    architecture: Architecture | None
    epochs: tuple[SearchEpoch, ...]
    search_time_s: float
    reason: str = ""
    network: nn.Module | None = None
