"""The sources of proposals: methods and others that have a share, each with its own random numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from itertools import islice

import numpy as np

from nasbed.core.errors import InvalidOption, NasbedError, shorten
from nasbed.core.observation import Observation
from nasbed.experiments.campaign.plan import POOR, Campaign
from nasbed.experiments.campaign.poor_region import operations_of, sample_poor
from nasbed.experiments.campaign.trainer import Trainer
from nasbed.optimizers import OPTIMIZERS, Optimizer, Problem, Proposal
from nasbed.spaces.filling import DESIGNS, space_filling


class PoorRegion(Optimizer):
    """Draws from the known-poor region, and never learns."""

    name = POOR
    summary = "random architectures with many parameter-free operations"

    def ask(self, n: int = 1) -> list[Proposal]:
        return [Proposal(sample_poor(self.space, self.rng)) for _ in range(n)]

    def tell(self, observations: Sequence[Observation]) -> None:
        pass


class SpaceFilling(Optimizer):
    """The next points of a space-filling design, and never learns.

    ``count`` is the number of trials of its share: so many points has one Latin hypercube.
    """

    name = "space-filling"
    summary = "Sobol points, or a Latin hypercube, of the ConfigSpace's unit cube"

    def __init__(self, problem: Problem, rng: np.random.Generator, *, design: str, count: int) -> None:
        super().__init__(problem, rng)
        self._architectures = space_filling(problem.space, design, rng, count=max(count, 1))

    def ask(self, n: int = 1) -> list[Proposal]:
        return [Proposal(arch) for arch in islice(self._architectures, n)]

    def tell(self, observations: Sequence[Observation]) -> None:
        pass


def problem_of(trainer: Trainer) -> Problem:
    """The problem of a campaign, as a method sees it."""
    extra_metrics = tuple(
        metric for metric in trainer.metrics if metric != trainer.objective and metric.split != "test"
    )
    return Problem(trainer.space, trainer.objective, trainer.fidelities, extra_metrics)


def generator(campaign: Campaign, purpose: str) -> np.random.Generator:
    """Random numbers for one purpose, which depend only on it and the campaign's seed."""
    digest = blake2b(purpose.encode(), digest_size=8).digest()
    return np.random.default_rng(np.random.SeedSequence([campaign.seed, int.from_bytes(digest, "big")]))


def sources_of(campaign: Campaign, trainer: Trainer) -> dict[str, Optimizer]:
    """The sources by the name of their share. One that cannot be made raises before anything is evaluated."""
    problem = problem_of(trainer)
    return {name: _source(name, problem, campaign, f"share {name}") for name in campaign.shares}


def searches_of(campaign: Campaign, trainer: Trainer) -> dict[tuple[str, int], Optimizer]:
    """The method of each search that runs for real, by its name and number; raises like :func:`sources_of`."""
    problem = problem_of(trainer)
    names = [] if campaign.searches is None else campaign.searches.names
    return {(name, number): _source(name, problem, campaign, f"search {name} {number}") for name, number in names}


def _source(name: str, problem: Problem, campaign: Campaign, purpose: str) -> Optimizer:
    settings: Mapping[str, object] = campaign.settings_of(name)
    rng = generator(campaign, purpose)
    try:
        if name == POOR:
            operations_of(problem.space)
            return PoorRegion(problem, rng, **settings)
        if name in DESIGNS:
            count = quotas(campaign.shares, campaign.trials)[name]
            return SpaceFilling(problem, rng, design=name, count=count, **settings)
        return _method(name)(problem, rng, **settings)
    except TypeError as error:
        raise InvalidOption(f"[settings.{name}] is not what {name} takes: {shorten(str(error), 200)}") from None
    except NasbedError as error:
        raise InvalidOption(f"the {purpose}: {error}") from None


def _method(name: str) -> type[Optimizer]:
    if ":" not in name:
        return OPTIMIZERS.get(name)
    from nasbed.experiments.named_methods import optimizer_class

    return optimizer_class(name)


def quotas(shares: Mapping[str, float], trials: int) -> dict[str, int]:
    """The number of trials of each share, by the method of the largest remainder.

    >>> quotas({"rs": 0.5, "re": 0.3, "ls": 0.2}, 7)
    {'rs': 4, 're': 2, 'ls': 1}
    """
    exact = {name: share * trials for name, share in shares.items()}
    counts = {name: int(value + 1e-9) for name, value in exact.items()}
    remainder = trials - sum(counts.values())
    for name in sorted(exact, key=lambda name: counts[name] - exact[name])[:remainder]:
        counts[name] += 1
    return counts


def schedule(shares: Mapping[str, float], trials: int, *, after: Sequence[str] = ()) -> list[str]:
    """The share of each trial, in order. Every share stays within about one trial of its quota, and is exact at the
    end. Where trials were raised, those ``after`` the earlier ones: the shares that are behind come first.

    >>> "".join(schedule({"a": 0.5, "b": 0.25, "c": 0.25}, 8)), "".join(schedule({"a": 0.5, "b": 0.5}, 4, after="aa"))
    ('abcaabca', 'bb')
    """
    names = list(shares)
    due = np.array([quotas(shares, trials)[name] for name in names], dtype=np.int64)
    counts = np.array([after.count(name) for name in names], dtype=np.int64)
    turns = []
    for number in range(len(after) + 1, trials + 1):
        behind = np.where(counts < due, due * (number / trials) - counts, -np.inf)
        turn = int(np.argmax(behind))
        counts[turn] += 1
        turns.append(names[turn])
    return turns
