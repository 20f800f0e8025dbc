"""What a one-shot method is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Generic

import numpy as np
import torch
from torch import Tensor, nn

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption
from nasbed.core.former_names import former
from nasbed.networks.eager_optimizers import Adam
from nasbed.oneshot import SEARCHED_SPACES
from nasbed.oneshot.cells import Layout
from nasbed.oneshot.mixing import Mixing
from nasbed.oneshot.random_streams import Chance
from nasbed.oneshot.search_interface import RunningSearch, SearchSetup, SettingsT, as_array
from nasbed.oneshot.search_text import SearchWording, SupernetWording
from nasbed.oneshot.settings import OneShotSettings, SearchSettings
from nasbed.oneshot.spaces.base import SearchedSpace, Strengths
from nasbed.oneshot.steps import Step
from nasbed.oneshot.supernet_search import SupernetSearch
from nasbed.spaces import space as registered_space
from nasbed.training.recipe import Recipe

Judge = Callable[[Architecture, int | None], float]
"""The accuracy of an architecture by the supernet's weights, in per cent, on all or the first validation images."""


class OneShotMethod(ABC, Generic[SettingsT]):
    """What is registered as a one-shot method: how its searches start, and how the command speaks of them.

    ``settings`` is the type of its settings. ``trains_together`` says that the networks of its architectures can be
    trained as a population. ``chooses_space`` says that the space is asked for, not part of the settings. Settings
    begin with ``settings_prefix`` on the command line, beside the options of the method. ``refused_options`` are those
    of the command that the method does not have, and why.
    """

    settings: ClassVar[type[OneShotSettings]]
    trains_together: ClassVar[bool] = False
    chooses_space: ClassVar[bool] = True
    settings_prefix: ClassVar[str] = "supernet."
    refused_options: ClassVar[Mapping[str, str]] = {}

    @classmethod
    @abstractmethod
    def searched_space(cls, space: str | None, settings: SettingsT) -> str:
        """The name of the space that is searched; ``space`` is the requested one, None for the default."""

    @classmethod
    @abstractmethod
    def start_search(cls, setup: SearchSetup[SettingsT]) -> RunningSearch[SettingsT]:
        """A search before its first epoch."""

    @classmethod
    def training_recipe(cls, recipe: Recipe, settings: SettingsT) -> Recipe:
        """The recipe by which the resulting architecture is trained from scratch."""
        return recipe

    @classmethod
    def network_settings(cls, settings: SettingsT) -> dict[str, Any]:
        """The settings of an architecture's network that those of its search decide."""
        return {}

    @classmethod
    def random_settings(cls, settings: SettingsT) -> dict[str, Any]:
        """The settings that decide what :meth:`random_architecture` draws, beside the space."""
        return {}

    @classmethod
    def random_architecture(cls, space: str, settings: SettingsT, rng: np.random.Generator) -> Architecture:
        """A random architecture of the space that is searched, to compare with."""
        return registered_space(space).sample(rng)

    @classmethod
    @abstractmethod
    def wording(cls, space: str, settings: SettingsT) -> SearchWording:
        """How searches are described to people."""


class SupernetMethod(nn.Module, OneShotMethod[SearchSettings]):
    """A strategy for a supernet. Its parameters are the architecture parameters, if any; with its buffers they are all
    of its state, so that a search resumes from them.

    A subclass takes its hyperparameters as keywords, with the published values as defaults, beside a seed for its first
    parameters.

    Args:
        space: The searched space.
        with_none: Whether the operation ``none`` is a candidate.
        learning_rate: The learning rate of Adam for the architecture parameters.
        adam_betas: The two decay rates of Adam.
        weight_decay: The weight decay of Adam.
    """

    settings = SearchSettings
    trains_together = True

    def __init__(
        self,
        space: SearchedSpace,
        *,
        with_none: bool,
        learning_rate: float = 3e-4,
        adam_betas: Sequence[float] = (0.5, 0.999),
        weight_decay: float = 1e-3,
    ) -> None:
        super().__init__()
        self.space, self.cells = space, space.cells(with_none=with_none)
        self.learning_rate, self.weight_decay = learning_rate, weight_decay
        self.adam_betas = (adam_betas[0], adam_betas[1])

    @classmethod
    def create(cls, space: SearchedSpace, *, seed: int, options: Mapping[str, Any]) -> SupernetMethod:
        """A method with its first parameters."""
        try:
            return cls(space, seed=seed, **options)  # type: ignore[call-arg]
        except TypeError as error:
            raise InvalidOption(f"the options of the method are invalid: {error}; change them") from None

    @classmethod
    def searched_space(cls, space: str | None, settings: SearchSettings) -> str:
        return SEARCHED_SPACES.get(space or "darts").name

    @classmethod
    def start_search(cls, setup: SearchSetup[SearchSettings]) -> SupernetSearch:
        space = SEARCHED_SPACES.get(setup.space)
        return SupernetSearch(setup, cls.create(space, seed=setup.seed, options=setup.options))

    @classmethod
    def wording(cls, space: str, settings: SearchSettings) -> SearchWording:
        return SupernetWording(SEARCHED_SPACES.get(space))

    @abstractmethod
    def mixing(self, chance: Chance) -> Mixing:
        """The mixing of one step; gradients flow through it to the parameters."""

    @abstractmethod
    def expected(self) -> Mixing:
        """A mixing without chance, which gradients flow through too."""

    def evaluated(self) -> Mixing:
        """The mixing by which the supernet's accuracy is measured."""
        return self.expected()

    def strengths(self) -> Strengths:
        """How strong each candidate is now."""
        return as_array(self.expected().operations)

    def architecture(self) -> Architecture:
        """What the search would end with now."""
        return self.space.strongest(self.strengths(), self.cells)

    def begin(self, epoch: int, epochs: int) -> None:
        """Prepare an epoch, counted from 0, of ``epochs``."""

    def learns(self, epoch: int, epochs: int) -> bool:
        """Whether the architecture parameters move in an epoch; there may be none."""
        return next(self.parameters(), None) is not None

    def layout(self) -> Layout:
        """What the supernet has to look like now. When it changes, a new supernet inherits the weights of the old."""
        return Layout()

    def judge(self, accuracy: Judge, chance: Chance, *, last: bool) -> None:
        """Try architectures out after an epoch, for methods that do."""

    def optimizer(self) -> torch.optim.Optimizer | None:
        """The optimizer of the parameters: Adam, as in all papers of the family; None without parameters."""
        moved = list(self.parameters())
        if not moved:
            return None
        return Adam(moved, lr=self.learning_rate, betas=self.adam_betas, weight_decay=self.weight_decay)

    def penalty(self) -> Tensor | None:
        """A term that is added to the validation loss, if any."""
        return None

    def gradients(self, step: Step) -> list[Tensor]:
        """The gradients of the validation loss by the parameters, with fixed weights (first order)."""
        loss = step.loss(step.valid, self.mixing(step.chance))
        penalty = self.penalty()
        moved = list(self.parameters())
        gradients = torch.autograd.grad(loss if penalty is None else loss + penalty, moved, allow_unused=True)
        return [
            torch.zeros_like(parameter) if gradient is None else gradient
            for parameter, gradient in zip(moved, gradients, strict=True)
        ]


__getattr__ = former(__name__, {"Method": "nasbed.oneshot.methods.base:SupernetMethod"}, until="0.3")
