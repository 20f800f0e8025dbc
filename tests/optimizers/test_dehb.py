"""DEHB: its brackets are Hyperband's, its first one random, its later ones evolve from the best of the rung below."""

from __future__ import annotations

from itertools import groupby

import numpy as np
import pytest

from nasbed import Architecture, Metric, Observation, space
from nasbed.optimizers import OPTIMIZERS, Problem, Proposal

NB201 = space("nb201")
LOSS = Metric("loss", split="validation", direction="minimize")
EPOCHS = (1, 3, 9, 27, 81)
TABLE_1 = (
    ((81, 1), (27, 3), (9, 9), (3, 27), (1, 81)),
    ((27, 3), (9, 9), (3, 27), (1, 81)),
    ((9, 9), (3, 27), (1, 81)),
    ((6, 27), (2, 81)),
    ((5, 81),),
)
"""Li et al. (2018), table 1: architectures and epochs of each rung for R = 81 and eta = 3."""
ROUND = sum(size for bracket in TABLE_1 for size, _ in bracket)
STARTS = {0, 5, 9, 12, 14}
"""The lowest rungs of the five brackets, among the rungs of a round."""


def loss_of(arch: Architecture) -> float:
    """A different loss for every architecture, the lower its entries the better."""
    return float(sum(entry * 5**place for place, entry in enumerate(arch.code)))


def search(method: str, evaluations: int, seed: int = 0, **settings: float) -> list[Proposal]:
    """The proposals of a run with one worker and exact results."""
    optimizer = OPTIMIZERS.get(method)(Problem(NB201, LOSS, EPOCHS), np.random.default_rng(seed), **settings)
    proposals = []
    for _ in range(evaluations):
        proposal = optimizer.ask()[0]
        proposals.append(proposal)
        value = {LOSS: loss_of(proposal.architecture)}
        optimizer.tell([Observation(proposal.architecture, value, proposal.fidelity)])
    return proposals


def rungs(proposals: list[Proposal]) -> list[list[Architecture]]:
    """The architectures of each rung of whole rounds, in the order of table 1."""
    result, rest = [], iter(proposals)
    for _ in range(len(proposals) // ROUND):
        result += [[next(rest).architecture for _ in range(size)] for bracket in TABLE_1 for size, _ in bracket]
    return result


def test_dehb_rungs_have_the_sizes_of_hyperbands_table() -> None:
    sequence = [(len(list(group)), fidelity) for fidelity, group in groupby(search("dehb", 2 * ROUND), _fidelity)]
    expected = [rung for _ in range(2) for bracket in TABLE_1 for rung in bracket]
    merged: list[tuple[int, int]] = []
    for size, fidelity in expected:  # the last rung of a bracket and the first of the next may have the same epochs
        if merged and merged[-1][1] == fidelity:
            merged[-1] = merged[-1][0] + size, fidelity
        else:
            merged.append((size, fidelity))
    assert sequence == merged


def _fidelity(proposal: Proposal) -> int | None:
    return proposal.fidelity


@pytest.mark.parametrize("seed", range(3))
def test_dehb_first_bracket_is_random_sampling_and_hyperbands_promotions(seed: int) -> None:
    rng, draws = np.random.default_rng(seed), list[Architecture]()
    while len(draws) < 81:
        arch = NB201.sample(rng)
        if arch not in draws:
            draws.append(arch)
    first = sum(size for size, _ in TABLE_1[0])
    proposals = search("dehb", first, seed)
    assert [proposal.architecture for proposal in proposals[:81]] == draws
    lower = draws
    for rung in rungs_of_first(proposals)[1:]:
        assert rung == sorted(lower, key=loss_of)[: len(rung)]
        lower = rung
    assert proposals == search("hb", first, seed)


def rungs_of_first(proposals: list[Proposal]) -> list[list[Architecture]]:
    rest = iter(proposals)
    return [[next(rest).architecture for _ in range(size)] for size, _ in TABLE_1[0]]


def test_dehb_upper_rungs_of_the_first_round_are_promoted_from_below_and_new_there() -> None:
    """The best at the fidelity below comes first, unless it was evaluated at this one by an earlier bracket."""
    sizes = [rung for bracket in TABLE_1 for rung in bracket]
    evaluated: dict[int, set[Architecture]] = {epochs: set() for epochs in EPOCHS}
    promoted_best = 0
    for number, ((size, epochs), rung) in enumerate(zip(sizes, rungs(search("dehb", ROUND)), strict=True)):
        if number not in STARTS:
            below = evaluated[sizes[number - 1][1]]
            assert len(set(rung)) == size and set(rung) <= below - evaluated[epochs]
            best = min(below, key=loss_of)
            assert best in evaluated[epochs] or rung[0] == best
            promoted_best += rung[0] == best
        evaluated[epochs] |= set(rung)
    assert promoted_best > 4  # those of the first bracket, and some of later ones


def test_dehb_trials_come_from_the_best_of_the_rung_below() -> None:
    """Without a difference to add and with all components from the mutant, a trial is its first parent."""
    proposals = search("dehb", 3 * ROUND, mutation_factor=0.0, crossover_probability=1.0)
    all_rungs, sizes = rungs(proposals), [rung for bracket in TABLE_1 for rung in bracket]
    checked = 0
    for number in range(len(sizes), len(all_rungs)):
        place = number % len(sizes)
        size, below = sizes[place][0], sizes[place - 1][1]
        if place in STARTS or size < 3:
            continue
        before = proposals[: sum(len(rung) for rung in all_rungs[:number])]
        known = {proposal.architecture for proposal in before if proposal.fidelity == below}
        median = np.median([loss_of(arch) for arch in known])
        assert set(all_rungs[number]) <= known
        assert all(loss_of(arch) <= median for arch in all_rungs[number])
        checked += 1
    assert checked == 2 * 6


def test_dehb_repeats_by_its_generator_and_differs_by_its_seed() -> None:
    assert search("dehb", 2 * ROUND) == search("dehb", 2 * ROUND)
    assert search("dehb", 2 * ROUND) != search("dehb", 2 * ROUND, seed=1)
