"""The trainings behind the evaluations of a run: each from scratch, or paused and continued."""

from __future__ import annotations

from dataclasses import dataclass, replace

from nasbed.benchmarks.base import Benchmark
from nasbed.core.architecture import Architecture
from nasbed.core.observation import Observation
from nasbed.core.status import Status
from nasbed.optimizers.base import Proposal


@dataclass(frozen=True, slots=True)
class SimulatedTraining:
    """One training up to a fidelity. ``seed`` is what the benchmark was queried with, ``total_s`` what the whole
    training costs. The cost of the ``observation`` is that of the evaluation: of what was added."""

    observation: Observation
    fidelity: int
    seed: int
    total_s: float


class SeparateTrainings:
    """Every evaluation is a training from scratch. An architecture that is proposed twice is trained twice."""

    def __init__(self, benchmark: Benchmark) -> None:
        self._benchmark = benchmark

    def evaluate(self, proposal: Proposal, *, seed: int) -> SimulatedTraining:
        """Train what is proposed, with this seed. Raises what the benchmark raises."""
        fidelity = self._benchmark.fidelities[-1] if proposal.fidelity is None else proposal.fidelity
        observation = self._benchmark.query(proposal.architecture, fidelity=fidelity, seed=seed)
        return SimulatedTraining(observation, fidelity, seed, observation.cost_s or 0.0)

    def pause(self, training: SimulatedTraining) -> None:
        """Keep a training for later, now that its evaluation has ended; here it is discarded."""


class ContinuedTrainings(SeparateTrainings):
    """A training is paused when its evaluation has ended, and continued when its architecture, up to isomorphism, is
    proposed at a higher fidelity (freeze and thaw).

    Continuing costs what the longer training costs more than the shorter one, and nothing if that is negative. It has
    the seed of the shorter one. If several are paused, the longest is continued, of equals the first. Each is continued
    once: what is proposed at that fidelity again is another training. So is what is still being trained, and what
    diverged or failed.
    """

    def __init__(self, benchmark: Benchmark) -> None:
        super().__init__(benchmark)
        self._paused: dict[Architecture, list[SimulatedTraining]] = {}

    def evaluate(self, proposal: Proposal, *, seed: int) -> SimulatedTraining:
        """Continue a paused training if there is one, else train from scratch with this seed."""
        self._benchmark.space.validate(proposal.architecture)
        fidelity = self._benchmark.fidelities[-1] if proposal.fidelity is None else proposal.fidelity
        paused = self._paused.get(self._benchmark.space.canonical(proposal.architecture), [])
        shorter = [training for training in paused if training.fidelity < fidelity]
        if not shorter:
            return super().evaluate(proposal, seed=seed)
        part = max(shorter, key=lambda training: training.fidelity)
        whole = self._benchmark.resume(
            proposal.architecture, paused=part.observation, fidelity=fidelity, seed=part.seed
        )
        paused.remove(part)
        total_s = whole.cost_s or 0.0
        return SimulatedTraining(replace(whole, cost_s=max(0.0, total_s - part.total_s)), fidelity, part.seed, total_s)

    def pause(self, training: SimulatedTraining) -> None:
        if training.observation.status is Status.OK and training.fidelity < self._benchmark.fidelities[-1]:
            arch = self._benchmark.space.canonical(training.observation.architecture)
            self._paused.setdefault(arch, []).append(training)
