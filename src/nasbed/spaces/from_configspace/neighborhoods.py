"""One edit of a configuration, with all that its conditions switch on and off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from nasbed.spaces.from_configspace.conditions import INACTIVE, Rules, any_holds
from nasbed.spaces.from_configspace.hyperparameters import Hyperparameter

COMPLETIONS = 1024
"""Hyperparameters that an edit switches on or off are free to be anything if they have up to this many settings."""

MUTATE_TRIES = 100


class Neighborhoods:
    """The edits of a space's codes. :meth:`nasbed.spaces.from_configspace.FromConfigSpace.neighbors` defines them."""

    def __init__(self, hyperparameters: Sequence[Hyperparameter], rules: Rules) -> None:
        self._hyperparameters = hyperparameters
        self._rules = rules

    def around(self, code: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """Every valid code one edit away, each once."""
        for position, current in enumerate(code):
            if current != INACTIVE:
                below, forbidden = self._rules.descendants[position], self._rules.touching[position]
                for value in self._hyperparameters[position].moves(current):
                    edited = [*code[:position], value, *code[position + 1 :]]
                    for complete in self._completed(code, edited, below) if below else (edited,):
                        if self._may_switch_off(code, complete, below) and not any_holds(forbidden, complete):
                            yield tuple(complete)

    def _completed(
        self,
        origin: tuple[int, ...],
        code: list[int],
        below: Sequence[int],
        settings: int = 1,
        at_default: bool = True,
    ) -> Iterator[list[int]]:
        """What an edit can lead to below it. ``settings`` and ``at_default`` are of all that was switched on so far."""
        for step, position in enumerate(below):
            if not self._rules.active(position, code):
                code[position] = INACTIVE
            elif origin[position] == INACTIVE:
                parameter = self._hyperparameters[position]
                code[position] = parameter.default
                if parameter.countable and parameter.last:
                    settings *= parameter.size
                    if settings <= COMPLETIONS:
                        for value in range(parameter.size):
                            branch = [*code[:position], value, *code[position + 1 :]]
                            still = at_default and value == parameter.default
                            yield from self._completed(origin, branch, below[step + 1 :], settings, still)
                        return
                    if not at_default:
                        return
        yield code

    def _may_switch_off(self, origin: tuple[int, ...], code: list[int], below: Sequence[int]) -> bool:
        settings, at_default = 1, True
        for position in below:
            parameter = self._hyperparameters[position]
            if code[position] == INACTIVE != origin[position] and parameter.countable:
                settings *= parameter.size
                at_default = at_default and origin[position] == parameter.default
        return at_default or settings <= COMPLETIONS

    def mutated(self, code: tuple[int, ...], rng: np.random.Generator) -> tuple[int, ...]:
        """A random valid code after one edit; the same code where there is no other."""
        movable = [
            index for index, current in enumerate(code) if current != INACTIVE and self._hyperparameters[index].last
        ]
        for _ in range(MUTATE_TRIES if movable else 0):
            position = movable[int(rng.random() * len(movable))]
            edited = list(code)
            edited[position] = self._hyperparameters[position].redraw(code[position], rng)
            for child in self._rules.descendants[position]:
                if not self._rules.active(child, edited):
                    edited[child] = INACTIVE
                elif edited[child] == INACTIVE:
                    edited[child] = self._hyperparameters[child].draw(float(rng.random()))
            if edited[position] != code[position] and not any_holds(self._rules.touching[position], edited):
                return tuple(edited)
        neighbors = list(self.around(code))
        return neighbors[int(rng.random() * len(neighbors))] if neighbors else code
