"""The rounds of a campaign: what is to be evaluated, as a function of the campaign and of earlier results alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption, NasbedError, exception_line
from nasbed.core.observation import Observation
from nasbed.core.status import Status
from nasbed.core.tracebacks import with_place
from nasbed.experiments.architecture_lists import listed_architectures
from nasbed.experiments.campaign.growth import stages_of
from nasbed.experiments.campaign.journal import FinishedTrial, Journal
from nasbed.experiments.campaign.plan import Campaign, Grid, RealSearches, Repeats
from nasbed.experiments.campaign.proposers import generator, schedule, searches_of, sources_of
from nasbed.experiments.campaign.trainer import Trainer
from nasbed.experiments.campaign.trajectories import searched_architectures
from nasbed.experiments.campaign.trial import Key, Trial, observed
from nasbed.optimizers import Proposal

ASKED_A_TRIAL = 20
"""The number of proposals that a method may make per trial of its share in a round, as known architectures are not new
trials. After that, random architectures fill its share."""
DRAWN_A_TRIAL = 1000
"""The number of random draws without a new architecture after which a space counts as exhausted."""
FILL, GRID, REPEATS = "fill", "grid", "repeats"


@dataclass(slots=True)
class _Round:
    """A round under construction."""

    number: int
    first: int
    trials: list[Trial] = field(default_factory=list)
    keys: set[Key] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)

    def add(self, arch: Architecture, fidelity: int, seed: int, method: str) -> None:
        trial = Trial(self.first + len(self.trials), self.number, arch, fidelity, seed, method)
        self.trials.append(trial)
        self.keys.add(trial.key)


class Rounds:
    """Proposes round after round: the grid, then the trajectories of one-shot searches, then the shares, then the
    searches that run for real, then the noise study.

    A round of shares first gives every method the results of its proposals of the previous round, in order. Then it
    asks each method for its share. A proposal that was evaluated before, or is in this round already, is not a new
    trial and does not count towards the share. The method is asked for another, and gets the known result after the
    round. If a method proposes nothing new, random architectures labelled ``fill`` replace its proposals. If the space
    has no new one either, the round is shorter.

    A search that runs for real sees its own results alone, and each of its proposals is a training of its own, with a
    seed that this search alone has: an architecture that it proposes again is trained again. A search that breaks ends
    there.

    A campaign whose numbers were raised has the rounds of its former numbers first, then those that they add.
    """

    def __init__(self, campaign: Campaign, trainer: Trainer, journal: Journal) -> None:
        assert campaign.round is not None
        self._campaign, self._trainer, self._journal = campaign, trainer, journal
        self._space = trainer.space
        self._top = trainer.fidelities[-1]
        self._stages = stages_of(campaign, journal.former_campaigns())
        self._sources = sources_of(self._stages[0], trainer)
        self._grid = [] if campaign.grid is None else _grid_of(campaign.grid, campaign, trainer)
        self._searched = searched_architectures(campaign, self._space)
        self._random = generator(campaign, FILL)
        self._finished_trials: dict[Key, FinishedTrial] = {}
        self._unanswered: dict[str, list[Key]] = {name: [] for name in campaign.shares}
        self._broken: set[str] = set()
        self._searches = searches_of(campaign, trainer)
        self._under_way: dict[tuple[str, int], list[Key]] = {name: [] for name in self._searches}

    @property
    def most(self) -> int:
        """The number of trials, if nothing is proposed twice and the space is not exhausted."""
        repeats = self._campaign.repeats
        extra = 0 if repeats is None else repeats.architectures * (repeats.seeds - 1)
        searches = self._campaign.searches
        of_searches = 0 if searches is None else len(searches.names) * searches.evaluations
        return self._campaign.trials + extra + len(self._grid) + len(self._searched) + of_searches

    def proposed(self) -> Iterator[list[Trial]]:
        """The trials of each round, stored before they are yielded. Ask for the next round when all of them have
        ended."""
        stored_rounds, first = self._journal.rounds(), 0
        for number, propose in enumerate(self._plan()):
            current = _Round(number, first)
            propose(current)
            if number < stored_rounds:
                self._check_same(current, self._journal.trials(number))
            else:
                self._journal.propose(number, current.trials, current.notes)
            yield current.trials
            first += len(current.trials)
            for finished in self._journal.finished(number):
                self._finished_trials[finished.trial.key] = finished

    def _plan(self) -> Iterator[Callable[[_Round], None]]:
        turns: list[str] = []
        for former, stage in zip([None, *self._stages], self._stages, strict=False):
            further = schedule(stage.shares, stage.trials, after=turns) if stage.trials else []
            turns += further
            yield from self._plan_of_stage(stage, former, further)

    def _plan_of_stage(
        self, stage: Campaign, former: Campaign | None, turns: Sequence[str]
    ) -> Iterator[Callable[[_Round], None]]:
        """The rounds that a stage adds to those of the former one; ``turns`` are the shares of its further trials."""
        size = stage.round
        assert size is not None
        if stage.grid is not None and (former is None or stage.grid != former.grid):
            known_seeds = () if former is None or former.grid is None else former.grid.seeds
            yield partial(self._propose_grid, seeds=set(stage.grid.seeds) - set(known_seeds))
        if former is None and stage.trajectories is not None:
            yield self._propose_trajectories
        for start in range(0, len(turns), size):
            due = Counter(turns[start : start + size])
            yield partial(self._propose_shares, due=due)
        if (searches := stage.searches) is not None:
            known = 0 if former is None or former.searches is None else former.searches.evaluations
            for batch in searches.batches_after(known):
                yield partial(self._propose_searches, searches=searches, batch=batch)
        if stage.repeats is not None and (former is None or stage.repeats != former.repeats):
            yield partial(self._propose_repeats, repeats=stage.repeats)

    def _check_same(self, current: _Round, stored_trials: Sequence[Trial]) -> None:
        if list(stored_trials) == current.trials:
            return
        pairs = zip(stored_trials, current.trials, strict=False)
        shared = min(len(stored_trials), len(current.trials))
        number = next((old.number for old, new in pairs if old != new), current.first + shared)
        version = self._journal.facts().get("nasbed_version")
        raise InvalidOption(
            f"{self._journal.path} cannot be resumed: trial {number} of round {current.number} differs from the "
            "recorded one, so a method, the trainer or a package has changed since; use the original ones (nasbed "
            f"{version}), or export it and start another"
        )

    # --- the grid, the trajectories and the noise study --------------------------------------------------------------

    def _propose_grid(self, current: _Round, seeds: Collection[int]) -> None:
        for arch, fidelity, seed in self._grid:
            if seed in seeds and (arch.code, fidelity, seed) not in self._finished_trials:
                current.add(arch, fidelity, seed, GRID)

    def _propose_trajectories(self, current: _Round) -> None:
        seed = self._campaign.training_seed
        for method, arch in self._searched:
            if (arch.code, self._top, seed) not in self._finished_trials:
                current.add(arch, self._top, seed, method)
        missing = len(self._searched) - len(current.trials)
        if missing:
            current.notes.append(
                f"{missing} architectures of the trajectories are in the grid and are not evaluated again"
            )

    def _propose_repeats(self, current: _Round, repeats: Repeats) -> None:
        methods = self._campaign.methods if repeats.source is None else (repeats.source,)
        ended_well = (
            finished.trial.architecture
            for finished in sorted(self._finished_trials.values(), key=lambda finished: finished.trial.number)
            if finished.trial.method in methods
            and finished.evaluation.status is Status.OK
            and finished.trial.fidelity == self._top
        )
        usable = list(dict.fromkeys(ended_well))
        repeated = {
            finished.trial.architecture
            for finished in self._finished_trials.values()
            if finished.trial.method == REPEATS
        }
        architectures = min(repeats.architectures, len(usable))
        if architectures < repeats.architectures:
            current.notes.append(f"only {architectures} architectures ended well and could be repeated")
        first = self._campaign.training_seed
        drawn = generator(self._campaign, REPEATS).permutation(len(usable)).tolist()
        earlier = [index for index, arch in enumerate(usable) if arch in repeated]
        for index in sorted(list(dict.fromkeys([*earlier, *drawn]))[:architectures]):
            for seed in range(first, first + repeats.seeds):
                if (usable[index].code, self._top, seed) not in self._finished_trials:
                    current.add(usable[index], self._top, seed, REPEATS)

    # --- searches for real -------------------------------------------------------------------------------------------

    def _propose_searches(self, current: _Round, searches: RealSearches, batch: int) -> None:
        for name in list(self._searches):
            try:
                keys, self._under_way[name] = self._under_way[name], []
                if keys:
                    self._searches[name].tell([self._observation(key) for key in keys])
                self._ask_search(current, name, batch, seeds=searches.seeds)
            except Exception as error:
                # a method's own failure must not end the campaign: this search ends, with what it has
                del self._searches[name]
                reason = with_place(exception_line(error), error)
                current.notes.append(f"search {name[1]} of {name[0]} failed and ends here: {reason}")

    def _ask_search(self, current: _Round, name: tuple[str, int], batch: int, *, seeds: int) -> None:
        proposals: list[Proposal] = []
        while len(proposals) < batch:
            wanted = batch - len(proposals)
            more = self._searches[name].ask(wanted)
            if not 0 < len(more) <= wanted:
                raise InvalidOption(f"ask({wanted}) gives 1 to {wanted} proposals, got {len(more)}")
            proposals += more
        for proposal in proposals:
            arch, fidelity = proposal.architecture, self._top if proposal.fidelity is None else proposal.fidelity
            self._space.validate(arch)
            if fidelity not in self._trainer.fidelities:
                raise InvalidOption(f"no fidelity {fidelity}")
            for seed in count(self._campaign.training_seed + name[1], seeds):
                key = arch.code, fidelity, seed
                if key not in self._finished_trials and key not in current.keys:
                    break
            current.add(arch, fidelity, seed, name[0])
            self._under_way[name].append(key)

    # --- shares ------------------------------------------------------------------------------------------------------

    def _propose_shares(self, current: _Round, due: Counter[str]) -> None:
        for name in self._campaign.shares:
            if name not in self._broken:
                try:
                    self._tell(name)
                    self._ask(current, name, due[name])
                except Exception as error:
                    # a method's own failure must not end the campaign: random architectures take its place
                    self._broken.add(name)
                    reason = with_place(exception_line(error), error)
                    current.notes.append(f"{name} failed, random architectures replace its proposals: {reason}")
        self._fill(current, due.total() - len(current.trials))

    def _tell(self, name: str) -> None:
        keys, self._unanswered[name] = self._unanswered[name], []
        if keys:
            self._sources[name].tell([self._observation(key) for key in keys])

    def _observation(self, key: Key) -> Observation:
        finished = self._finished_trials[key]
        return observed(finished.trial, finished.evaluation, self._trainer.metrics)

    def _ask(self, current: _Round, name: str, count: int) -> None:
        source, accepted, attempts = self._sources[name], 0, ASKED_A_TRIAL * count
        while accepted < count and attempts > 0:
            proposals = source.ask(count - accepted)
            if not 0 < len(proposals) <= count - accepted:
                raise InvalidOption(
                    f"ask({count - accepted}) gives 1 to {count - accepted} proposals, got {len(proposals)}"
                )
            attempts -= len(proposals)
            for proposal in proposals:
                accepted += self._take(current, name, proposal)

    def _take(self, current: _Round, name: str, proposal: Proposal) -> bool:
        """Make a proposal a trial, or answer it if it is known; returns whether it is a new trial."""
        source, arch = self._sources[name], proposal.architecture
        fidelity = self._top if proposal.fidelity is None else proposal.fidelity
        try:
            self._space.validate(arch)
            if fidelity not in self._trainer.fidelities:
                raise InvalidOption(f"no fidelity {fidelity}")
        except NasbedError:
            source.tell([Observation(arch, fidelity=fidelity, status=Status.FAILED)])
            return False
        seed = self._campaign.training_seed
        key = arch.code, fidelity, seed
        self._unanswered[name].append(key)
        if key in self._finished_trials or key in current.keys:
            return False
        current.add(arch, fidelity, seed, name)
        return True

    def _fill(self, current: _Round, count: int) -> None:
        seed = self._campaign.training_seed
        for missing in range(count, 0, -1):
            for _ in range(DRAWN_A_TRIAL):
                arch = self._space.sample(self._random)
                key = arch.code, self._top, seed
                if key not in self._finished_trials and key not in current.keys:
                    current.add(arch, self._top, seed, FILL)
                    break
            else:
                current.notes.append(f"{missing} trials were omitted: the space has no new architecture")
                return


def _grid_of(grid: Grid, campaign: Campaign, trainer: Trainer) -> list[tuple[Architecture, int, int]]:
    """The grid, seed by seed: a campaign that is stopped early has all architectures with the first seed."""
    fidelities = grid.fidelities if isinstance(grid.fidelities, tuple) else trainer.fidelities
    unknown = [fidelity for fidelity in fidelities if fidelity not in trainer.fidelities]
    if unknown:
        raise InvalidOption(
            f"[grid] fidelities are of the trainer's, {', '.join(map(str, trainer.fidelities))}, got {unknown[0]}"
        )
    archs = listed_architectures(grid.architectures, trainer.space, campaign.folder)
    return [(arch, fidelity, seed) for seed in grid.seeds for fidelity in fidelities for arch in archs]
