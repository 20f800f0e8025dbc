"""Random search with weight sharing (Li and Talwalkar, 1902.07638)."""

from __future__ import annotations

import torch
from torch import Tensor

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidOption
from nasbed.oneshot.methods.base import Judge, SupernetMethod
from nasbed.oneshot.mixing import Mixing
from nasbed.oneshot.random_streams import Chance
from nasbed.oneshot.spaces.base import SearchedSpace
from nasbed.spaces import space as named_space


class RandomWS(SupernetMethod):
    """Each step trains the weights of one architecture, drawn uniformly. In the end ``samples`` more are drawn and
    judged by the shared weights on ``judged_images`` validation images, None for all; the best is the result. After the
    other epochs that is done with ``epoch_samples``, to report progress. It has no parameters.

    Args:
        space: The searched space.
        seed: The seed of the first architecture.
        samples: How many architectures are evaluated in the end.
        epoch_samples: How many architectures are evaluated after each other epoch.
        judged_images: How many validation images evaluate an architecture; None for all.
    """

    best: Tensor

    def __init__(
        self,
        space: SearchedSpace,
        *,
        seed: int = 0,
        samples: int = 1000,
        epoch_samples: int = 10,
        judged_images: int | None = 1024,
    ) -> None:
        super().__init__(space, with_none=False)
        if min(samples, epoch_samples) < 1:
            raise InvalidOption(f"random-ws judges one sample or more, got {samples} and {epoch_samples}")
        self.samples, self.epoch_samples, self.judged_images = samples, epoch_samples, judged_images
        first = self._sample(Chance(seed, torch.device("cpu")), 1)[0]
        self.register_buffer("best", torch.tensor(first.code))

    def mixing(self, chance: Chance) -> Mixing:
        return self._mixing(self._sample(chance, 1)[0])

    def expected(self) -> Mixing:
        """The mixing of the best architecture so far."""
        return self._mixing(self.architecture())

    def architecture(self) -> Architecture:
        return Architecture(self.space.name, tuple(self.best.tolist()))

    def judge(self, accuracy: Judge, chance: Chance, *, last: bool) -> None:
        samples = self._sample(chance, self.samples if last else self.epoch_samples)
        best = max(samples, key=lambda arch: accuracy(arch, self.judged_images))
        self.best.copy_(torch.tensor(best.code))

    def _sample(self, chance: Chance, count: int) -> list[Architecture]:
        rng, space = chance.rng(), named_space(self.space.name)
        return [space.sample(rng) for _ in range(count)]

    def _mixing(self, arch: Architecture) -> Mixing:
        return self.space.one_hot(arch, self.cells, device=self.best.device)
