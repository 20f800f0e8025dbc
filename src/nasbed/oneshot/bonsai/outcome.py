"""What a search by Bonsai-Net tells: after each epoch, and in the end."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

from nasbed.oneshot.bonsai.space import BonsaiArchitecture

if TYPE_CHECKING:
    from nasbed.oneshot.bonsai.network import BonsaiNetwork


@dataclass(frozen=True, slots=True)
class BonsaiEpoch:
    """The state of a search after an epoch, counted from 1.

    ``architecture`` has the operations whose gates are open now, ``operations`` and ``parameters`` are its numbers of
    them. ``present`` operations are not removed yet; ``size`` is what those take of memory, as a share of all there
    were. ``train_loss`` is the cross entropy in nats, ``compression_loss`` what was added to it, both as means over the
    epoch. ``validation_accuracy`` is in per cent, by the weights of the search. ``search_time_s`` is the time of all
    epochs so far without measurements.
    """

    epoch: int
    architecture: BonsaiArchitecture
    operations: int
    parameters: int
    present: int
    size: float
    train_loss: float
    compression_loss: float
    validation_accuracy: float | None
    search_time_s: float

    def packed(self) -> dict[str, Any]:
        """As a checkpoint has it."""
        stored = {item.name: getattr(self, item.name) for item in fields(self)}
        return stored | {"architecture": self.architecture.to_json()}

    @classmethod
    def unpacked(cls, stored: dict[str, Any]) -> BonsaiEpoch:
        return cls(**stored | {"architecture": BonsaiArchitecture.from_json(stored["architecture"])})


@dataclass(frozen=True, slots=True, eq=False)
class BonsaiSearched:
    """A search that ended. ``network`` is that of the architecture with the weights of the search, on its device:
    training and pruning are one, so it can be used as it is; what is read from a record has none. Both are None if the
    search diverged."""

    status: Literal["ok", "diverged"]
    architecture: BonsaiArchitecture | None
    network: BonsaiNetwork | None
    epochs: tuple[BonsaiEpoch, ...]
    search_time_s: float
    reason: str = ""
