"""COMBO: a Gaussian process on the combinatorial graph of a space's choices."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from nasbed.core.architecture import Architecture
from nasbed.optimizers.base import Proposal
from nasbed.optimizers.model_based import ModelBased
from nasbed.optimizers.models.choice_graphs import ChoiceGraphs, Floats, Vertices
from nasbed.optimizers.models.diffusion_gp import Hyperparameters, Posterior, sweep
from nasbed.optimizers.settings import integer, number


@dataclass(eq=False, kw_only=True)
class COMBO(ModelBased):
    """Bayesian optimisation with a diffusion kernel on the Cartesian product of the choice graphs (Oh et al. 2019), as
    the Surrogate NAS Benchmarks ran it.

    Each proposal is the end of an ascent of expected improvement to the best neighbour. The ascents start from the best
    of random architectures and neighbours of the incumbent. The priors and the settings are those of the authors' code,
    with two exceptions. ``initial`` and ``starts`` are from appendix C.3 of the latter. ``sweeps``, ``candidates`` and
    ``keep`` are ours, for speed.

    Also ours: losses are standardised, so the priors do not depend on units. A failed evaluation counts as the worst
    loss so far. A pending one is assumed to turn out as the process expects. Parameters become graphs as described in
    :class:`~nasbed.optimizers.models.choice_graphs.ChoiceGraphs`.
    """

    name = "combo"
    summary = "Bayesian optimisation with a Gaussian process on the graph of all choices"

    initial: int = integer(100, low=1)
    """Evaluations that end before the model is used; until then proposals are random."""
    starts: int = integer(30, low=1)
    """Ascents."""
    samples: int = integer(10, low=1)
    """Draws of the hyperparameters over which expected improvement is averaged."""
    burn_in: int = integer(100, low=0)
    """Sweeps of slice sampling before the first proposal."""
    sweeps: int = integer(1, low=1)
    """New draws for each proposal; the other draws are from earlier proposals. The authors draw all again."""
    candidates: int = integer(500, low=1)
    """Random architectures from which ascents may start. The authors take 20 000."""
    spray: int = integer(10, low=0)
    """Neighbours of the incumbent from which ascents may start."""
    keep: float = number(0.5, low=0, high=1)
    """The share of the ascents, the best ones, that continue after each step. The authors continue all."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._choices = ChoiceGraphs(self.space)
        self._draws: deque[Hyperparameters] = deque(maxlen=self.samples)
        self._drawn_at = 0
        self._pending: dict[Architecture, None] = {}

    @property
    def start_size(self) -> int:
        return self.initial

    def begin_with(self, arch: Architecture) -> Proposal:
        self._pending[arch] = None
        return super().begin_with(arch)

    def _learn(self, arch: Architecture, loss: float) -> None:
        """Note an evaluation, a failed one included."""
        self._pending.pop(arch, None)
        self._archs.append(arch)
        self._losses.append(loss)

    def _next(self) -> Architecture:
        arch = None
        if len(self._archs) >= self.initial and self._learnable():
            arch = self._archive.first_new(self._promising())
        if arch is None:
            arch = self._archive.sample(self.rng)
        self._pending[arch] = None
        return arch

    def _learnable(self) -> bool:
        """Whether there is a choice, and more than one loss to explain by it."""
        return bool(self._choices.graphs) and len({loss for loss in self._losses if loss < math.inf}) > 1

    def _promising(self) -> list[Architecture]:
        """All architectures visited by the ascents, the highest expected improvement first."""
        targets = self._targets()
        vertices = self._choices.vertices([*self._archs, *self._pending])
        if self._drawn_at < len(targets):
            self._draw(vertices[: len(targets)], targets)
            self._drawn_at = len(targets)
        posteriors = [Posterior(self._choices.graphs, draw, vertices, targets) for draw in self._draws]
        gains: dict[Architecture, float] = {}

        def visit(archs: list[Architecture]) -> None:
            new = [arch for arch in dict.fromkeys(archs) if arch not in gains]
            if new:
                improvements = self._improvements(posteriors, new, float(targets.min()))
                gains.update(zip(new, improvements.tolist(), strict=True))

        near = list(self.space.neighbors(self._archs[int(targets.argmin())]))
        sprayed = [near[index] for index in self.rng.permutation(len(near))[: self.spray]]
        visit(sprayed + [self.space.sample(self.rng) for _ in range(self.candidates)])
        climbers = sorted(gains, key=gains.__getitem__, reverse=True)[: self.starts]
        while climbers:
            neighborhoods = [list(self.space.neighbors(arch)) for arch in climbers]
            visit([arch for neighbors in neighborhoods for arch in neighbors])
            steps: dict[Architecture, None] = {}
            for arch, neighbors in zip(climbers, neighborhoods, strict=True):
                best = max(neighbors, key=gains.__getitem__, default=arch)
                if gains[best] > gains[arch]:
                    steps[best] = None
            survivors = max(1, int(self.keep * len(climbers)))
            climbers = sorted(steps, key=gains.__getitem__, reverse=True)[:survivors]
        return sorted(gains, key=gains.__getitem__, reverse=True)

    def _improvements(self, posteriors: list[Posterior], archs: list[Architecture], best: float) -> Floats:
        """Expected improvement on ``best``, averaged over the draws."""
        rows = self._choices.vertices(archs)
        total = np.zeros(len(archs))
        for posterior in posteriors:
            mean, variance = posterior.predict(rows)
            spread = np.sqrt(variance)
            steps = (best - mean) / spread
            total += spread * (steps * ndtr(steps) + np.exp(-0.5 * steps**2) / math.sqrt(2 * math.pi))
        return total / len(posteriors)

    def _draw(self, rows: Vertices, targets: Floats) -> None:
        """Continue the chain with the evaluations so far; fill the window of draws the first time."""
        graphs = self._choices.graphs
        first = not self._draws
        state = Hyperparameters.start(graphs) if first else self._draws[-1]
        for _ in range(self.burn_in if first else 0):
            state = sweep(graphs, state, rows, targets, self.rng)
        for _ in range(self.samples if first else self.sweeps):
            state = sweep(graphs, state, rows, targets, self.rng)
            self._draws.append(state)

    def _targets(self) -> Floats:
        """The losses, standardised."""
        losses = np.array(self._losses)
        losses = np.where(np.isfinite(losses), losses, losses[np.isfinite(losses)].max())
        return np.asarray((losses - losses.mean()) / losses.std())
