"""BOHB: Hyperband that draws its architectures from kernel densities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nasbed.core.architecture import Architecture
from nasbed.core.observation import Observation
from nasbed.optimizers.hyperband import Bracket, Hyperband
from nasbed.optimizers.kde import Parzen, ParzenModel


@dataclass(eq=False, kw_only=True)
class BOHB(Parzen, Hyperband):
    """Hyperband's schedule; new architectures come from the model of the highest fidelity that has enough evaluations
    (Falkner et al. 2018).

    ``eta`` and ``lowest_fidelity`` are Hyperband's, the other settings those of the densities. ``good`` is the share
    called good, ``samples`` are those of the acquisition function, and ``random_fraction`` is drawn without the model.
    ``min_points`` is one more than there are parameters; ``bandwidth_factor`` and ``min_bandwidth`` set kernel widths.
    Their defaults are those of the reference implementation, HpBandSter; :class:`~nasbed.optimizers.kde.KDE` lists the
    differences.
    """

    name = "bohb"
    summary = "Hyperband with kernel densities"
    draws_from_space = False
    on_one_fidelity = "its kernel densities alone decide"

    def __post_init__(self) -> None:
        super().__post_init__()
        fidelities = sorted(self.problem.fidelities, reverse=True)
        self._models = {fidelity: ParzenModel(self.problem, self) for fidelity in fidelities}

    @property
    def random_start(self) -> int | None:
        """As for Hyperband; with one fidelity, the number of evaluations that the densities need."""
        return super().random_start if self._rungs > 1 else next(iter(self._models.values())).needed

    def tell(self, observations: Sequence[Observation]) -> None:
        super().tell(observations)
        for observation in observations:
            fidelity = observation.fidelity if observation.fidelity is not None else max(self._models)
            self._models[fidelity].add(observation.architecture, self.problem.loss(observation))

    def _sample(self, bracket: Bracket) -> Architecture:
        model = next((candidate for candidate in self._models.values() if candidate.ready), None)
        arch = None if model is None else model.propose(self._archive, self.rng)
        return arch or super()._sample(bracket)
