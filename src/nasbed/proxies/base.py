"""A proxy and its score. Nothing here needs torch until something is scored."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from nasbed.core.errors import InvalidMeasurement, InvalidOption, shorten

if TYPE_CHECKING:
    from torch import Tensor, nn

    from nasbed.proxies.passes import Passes

Need = Literal["forward", "patterns", "loss_gradients", "output_gradients", "input_gradients", "tangents"]
"""A pass over the network that proxies share; :class:`nasbed.proxies.passes.Passes` says what each one gives."""


@dataclass(frozen=True, slots=True)
class Score:
    """The score of a network: a finite number, higher predicting better, or the reason why there is none.

    ``remark`` says what was left out of a value, such as layers without a gradient. ``seconds`` is the time of the
    proxy itself, ``shared_seconds`` that of the passes it shares with others: alone it would take the sum.
    """

    value: float | None
    reason: str = ""
    remark: str = ""
    seconds: float = 0.0
    shared_seconds: float = 0.0

    def __post_init__(self) -> None:
        if (self.value is None) != bool(self.reason):
            raise InvalidMeasurement(
                f"a score has either a value or a reason why not, got {self.value} and {shorten(self.reason)}"
            )
        if self.value is not None and not math.isfinite(self.value):
            raise InvalidMeasurement(f"a score's value is finite, got {self.value}; leave it out and give the reason")


ProxyFunction = Callable[["Passes"], float]
"""Scores the network of these passes. Raises :class:`nasbed.core.errors.InvalidMeasurement` with the reason where there
is not a score; neither is a result that is not finite."""


@dataclass(frozen=True, slots=True)
class Proxy:
    """A score of an untrained network from one batch. ``needs`` are the passes that it shares with other proxies."""

    name: str
    summary: str
    needs: tuple[Need, ...]
    function: ProxyFunction

    def __post_init__(self) -> None:
        for need in self.needs:
            if need not in get_args(Need):
                raise InvalidOption(
                    f"the passes that a proxy needs are among {', '.join(get_args(Need))}, got {shorten(need)} for "
                    f"{self.name}"
                )

    def score(
        self,
        network: nn.Module,
        batch: tuple[Tensor, Tensor],
        *,
        seed: int = 0,
        loss: Callable[[Tensor, Tensor], Tensor] | None = None,
    ) -> Score:
        """The score of one network, as :func:`nasbed.proxies.score_all` gives it."""
        from nasbed.proxies.scoring import scores

        return scores(network, batch, [self], seed=seed, loss=loss)[self.name]


def defined(name: str, *, summary: str, needs: tuple[Need, ...] = ()) -> Callable[[ProxyFunction], Proxy]:
    """Make a proxy of a function without registering it."""

    def decorate(function: ProxyFunction) -> Proxy:
        return Proxy(name, summary, needs, function)

    return decorate
