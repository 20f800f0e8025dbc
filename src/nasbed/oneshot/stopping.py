"""Rules that stop a search before it degenerates. A rule looks at the epochs so far and returns the epoch whose
architecture to take, or None to continue. So it works during a search and on a finished one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nasbed.oneshot.trajectory import SearchEpoch

StoppingRule = Callable[[Sequence[SearchEpoch]], SearchEpoch | None]
"""From the epochs so far, the one whose architecture is taken, or None while the search goes on."""


def skip_rule(epochs: Sequence[SearchEpoch], *, skips: int = 2) -> SearchEpoch | None:
    """Stop as soon as the normal cell, the first kind, has two skip connections or more, and take the architecture of
    that epoch (DARTS+, Liang et al., 1909.06035)."""
    if epochs and next(iter(epochs[-1].skips.values())) >= skips:
        return epochs[-1]
    return None


def eigenvalue_rule(epochs: Sequence[SearchEpoch], *, window: int = 5, ratio: float = 0.75) -> SearchEpoch | None:
    """Stop when the dominant eigenvalue rises too fast. The criterion divides its mean over the window that ended
    ``window`` epochs ago by its mean over the window that ends now; it stops below ``ratio``. Take the architecture
    from before the rise, that of the epoch at which the former ended (Zela et al., 1909.09656). Nothing stops a search
    whose eigenvalues were not measured."""
    values = [epoch.eigenvalue for epoch in epochs[-2 * window :]]
    measured = [value for value in values if value is not None]
    if len(measured) < 2 * window:
        return None
    earlier, recent = sum(measured[:window]), sum(measured[window:])
    return epochs[-1 - window] if recent > 0 and earlier / recent < ratio else None


STOPPING_RULES: dict[str, StoppingRule] = {"skips": skip_rule, "eigenvalue": eigenvalue_rule}
"""The rules that stop a search early, by name."""


def stopped(epochs: Sequence[SearchEpoch], rule: StoppingRule) -> tuple[int, SearchEpoch] | None:
    """When a rule would have stopped a finished search: after how many epochs, and with which of them."""
    for count in range(1, len(epochs) + 1):
        stop_epoch = rule(epochs[:count])
        if stop_epoch is not None:
            return count, stop_epoch
    return None
