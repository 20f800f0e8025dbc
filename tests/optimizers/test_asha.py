"""ASHA against its algorithm (Li et al. 2020, algorithm 2), worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nasbed import Architecture, Metric, Observation, Status, space
from nasbed.optimizers import OPTIMIZERS, Optimizer, Problem, Proposal

NB201 = space("nb201")
LOSS = Metric("loss", split="validation", direction="minimize")


class Search:
    """ASHA with rungs of 1, 3 and 9 epochs, and the names A, B, C … of architectures in the order of their first
    proposals."""

    def __init__(self, **settings: float) -> None:
        problem = Problem(NB201, LOSS, (1, 3, 9))
        self.method: Optimizer = OPTIMIZERS.get("asha")(problem, np.random.default_rng(0), **settings)
        self.names: dict[Architecture, str] = {}
        self.proposals: dict[str, Proposal] = {}

    def ask(self, count: int = 1) -> list[str]:
        """Proposals as ``A@1``: A for one epoch."""
        return [self._label(proposal) for proposal in self.method.ask(count)]

    def tell(self, label: str, loss: float) -> None:
        proposal = self.proposals[label]
        failed = math.isinf(loss)
        values, status = ({}, Status.FAILED) if failed else ({LOSS: loss}, Status.OK)
        self.method.tell([Observation(proposal.architecture, values, proposal.fidelity, status=status)])

    def _label(self, proposal: Proposal) -> str:
        name = self.names.setdefault(proposal.architecture, chr(ord("A") + len(self.names)))
        label = f"{name}@{proposal.fidelity}"
        self.proposals[label] = proposal
        return label


def test_asha_promotes_as_worked_out_by_hand() -> None:
    """One worker. The best third of the results so far is promoted, rounded down, each once, the highest rung first."""
    search = Search()
    steps = [
        ("A@1", 0.50),
        ("B@1", 0.30),
        ("C@1", 0.40),
        ("B@3", 0.20),  # B is the best third of three
        ("D@1", 0.10),
        ("D@3", 0.25),  # of four the best third is one: D, which displaces B
        ("E@1", 0.60),
        ("F@1", 0.35),  # of six it is two: D and B, both promoted
        ("G@1", 0.32),
        ("H@1", 0.20),
        ("H@3", 0.15),  # of eight still two: D and H
        ("H@9", 0.12),  # of the three at 3 epochs H is the best
        ("I@1", 0.90),
    ]
    for label, loss in steps:
        assert search.ask() == [label]
        search.tell(label, loss)
    assert search.ask() == ["J@1"]  # nine at 1 epoch: D, H and B, all promoted; three at 3 epochs: H alone


def test_asha_a_later_result_displaces_what_was_not_promoted_in_time() -> None:
    """Four workers. B would be promoted after three results; the fourth is better and comes before anyone asks."""
    search = Search()
    assert search.ask(4) == ["A@1", "B@1", "C@1", "D@1"]
    for label, loss in (("A@1", 0.5), ("B@1", 0.3), ("C@1", 0.4), ("D@1", 0.1)):
        search.tell(label, loss)
    assert search.ask(2) == ["D@3", "E@1"]
    search.tell("E@1", 0.9)
    assert search.ask() == ["F@1"]
    search.tell("F@1", 0.8)
    assert search.ask(2) == ["B@3", "G@1"]  # of six results two are the best third: D and B


def test_asha_results_in_any_order_fill_the_rungs_that_they_belong_to() -> None:
    """A promotion does not wait for other results of its rung, and a worker never waits for a promotion."""
    search = Search()
    assert search.ask(6) == ["A@1", "B@1", "C@1", "D@1", "E@1", "F@1"]
    for label, loss in (("F@1", 0.3), ("C@1", 0.2), ("A@1", 0.1)):
        search.tell(label, loss)
    assert search.ask(2) == ["A@3", "G@1"]
    for label, loss in (("A@3", 0.1), ("B@1", 0.05), ("D@1", 0.04), ("E@1", 0.03)):
        search.tell(label, loss)
    assert search.ask(3) == ["E@3", "D@3", "H@1"]


def test_asha_promotes_no_failure_and_counts_it_in_the_size_of_its_rung() -> None:
    search = Search()
    assert search.ask(3) == ["A@1", "B@1", "C@1"]
    for label, loss in (("A@1", math.inf), ("B@1", math.inf), ("C@1", 0.4)):
        search.tell(label, loss)
    assert search.ask() == ["C@3"]
    search.tell("C@3", math.inf)
    assert search.ask(3) == ["D@1", "E@1", "F@1"]
    for label in ("D@1", "E@1", "F@1"):
        search.tell(label, math.inf)
    assert search.ask() == ["G@1"]


def test_asha_equal_losses_rank_in_the_order_of_their_results() -> None:
    search = Search()
    assert search.ask(3) == ["A@1", "B@1", "C@1"]
    for label in ("C@1", "A@1", "B@1"):
        search.tell(label, 0.5)
    assert search.ask(2) == ["C@3", "D@1"]


@pytest.mark.parametrize(("eta", "rungs"), [(3.0, {1, 3, 9}), (9.0, {1, 9}), (10.0, {9})])
def test_asha_rungs_are_fidelities_a_factor_eta_apart(eta: float, rungs: set[int]) -> None:
    search = Search(eta=eta)
    fidelities = set()
    for step in range(300):
        proposal = search.method.ask()[0]
        assert proposal.fidelity is not None
        fidelities.add(proposal.fidelity)
        search.method.tell([Observation(proposal.architecture, {LOSS: step % 7 / 7}, proposal.fidelity)])
    assert fidelities == rungs
