"""The rules of every zero-cost proxy. Only torch and plain ``assert`` are needed, no test framework."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from nasbed.proxies import PROXIES, Proxy, Score
from nasbed.spaces import space

if TYPE_CHECKING:
    from torch import Tensor, nn

CELLS = (
    "|nor_conv_3x3~0|+|skip_connect~0|nor_conv_1x1~1|+|avg_pool_3x3~0|nor_conv_3x3~1|skip_connect~2|",
    "|skip_connect~0|+|none~0|nor_conv_1x1~1|+|nor_conv_1x1~0|none~1|avg_pool_3x3~2|",
    "|none~0|+|none~0|none~1|+|none~0|none~1|none~2|",
)
"""Networks with gradients everywhere, with layers that have none, and without a path from the images to the output."""
SIDE = 8
"""Of the images, in pixels."""


class ProxyConformance(ABC):
    """The rules of :class:`~nasbed.proxies.Proxy`, as test methods over one proxy."""

    @abstractmethod
    def make_proxy(self) -> Proxy:
        """The proxy under test."""

    def scores(self, small_networks: Iterable[nn.Module] | None = None, **changed: Any) -> list[Score]:
        """The scores of small networks, of new ones by default; ``changed`` replaces ``images`` or ``labels``."""
        parts = dict(zip(("images", "labels"), batch(), strict=True)) | changed
        images_and_labels = parts["images"], parts["labels"]
        return [self.make_proxy().score(network, images_and_labels) for network in small_networks or networks()]

    def test_a_score_is_a_finite_number_or_a_reason_of_one_line(self) -> None:
        scores = self.scores()
        assert scores[0].value is not None, f"no score of an ordinary network: {scores[0].reason}"
        check_scores(scores)

    def test_the_same_seed_gives_the_same_score(self) -> None:
        """The state of torch's own generator and the other proxies that are scored make no difference."""
        import torch

        from nasbed.proxies.scoring import scores

        proxy, network = self.make_proxy(), next(networks())
        first = proxy.score(network, batch(), seed=3).value
        with torch.random.fork_rng(devices=[]):
            torch.rand(3)
            assert proxy.score(network, batch(), seed=3).value == first
        registered = tuple(map(PROXIES.get, PROXIES.names()))
        if proxy in registered:
            assert all(together[proxy.name] == first for together in _scores_together(registered))
        else:
            assert scores(network, batch(), [*registered, proxy], seed=3)[proxy.name].value == first

    def test_the_network_and_the_batch_are_left_as_they_were(self) -> None:
        import torch

        images_and_labels = batch()
        before = [tensor.clone() for tensor in images_and_labels]
        for network in networks():
            list(network.modules())[2].eval()
            next(network.parameters()).requires_grad_(False)
            state_before = state_of(network)
            self.make_proxy().score(network, images_and_labels)
            assert same_state(state_before, state_of(network))
        assert all(torch.equal(old, new) for old, new in zip(before, images_and_labels, strict=True))
        assert not images_and_labels[0].requires_grad

    def test_odd_batches_have_a_score_or_a_reason(self) -> None:
        import torch

        images, labels = batch()
        scored = list(networks())
        for changed in (
            {"images": images[:1], "labels": labels[:1]},
            {"labels": torch.zeros_like(labels)},
            {"images": torch.zeros_like(images)},
            {"images": images * torch.nan},
            {"images": images * 1e30},
            {"labels": labels + 100},
        ):
            check_scores(self.scores(scored, **changed))

    def test_odd_networks_have_a_score_or_a_reason(self) -> None:
        import torch
        from torch import nn

        all_zero = next(networks())
        with torch.no_grad():
            for parameter in all_zero.parameters():
                parameter.mul_(0)
        linear = nn.Sequential(nn.Flatten(), nn.Linear(3 * SIDE * SIDE, 10))
        check_scores(self.scores([nn.Flatten(), linear, nn.Identity(), all_zero]))


def check_scores(scores: Iterable[Score]) -> None:
    """Fail unless each is a finite number or a reason of one line."""
    for score in scores:
        assert (score.value is None) == bool(score.reason)
        assert score.value is None or math.isfinite(score.value)
        assert "\n" not in score.reason + score.remark and score.seconds >= 0


@cache
def _scores_together(proxies: tuple[Proxy, ...]) -> list[dict[str, float | None]]:
    """The scores of all proxies at once, in this order and in the reverse."""
    from nasbed.proxies.scoring import scores

    network = next(networks())
    return [
        {name: score.value for name, score in scores(network, batch(), list(order), seed=3).items()}
        for order in (proxies, proxies[::-1])
    ]


def networks() -> Iterator[nn.Module]:
    """Small ones, with the same weights each time."""
    import torch

    from nasbed.networks import build
    from nasbed.spaces.nb201 import NB201Skeleton

    for cell in CELLS:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            skeleton = NB201Skeleton(channels=4, cells_per_stage=1, image=SIDE)
            yield build(space("nb201").parse(cell), skeleton=skeleton)


def batch() -> tuple[Tensor, Tensor]:
    """Images and labels of four classes."""
    import torch

    generator = torch.Generator().manual_seed(0)
    return torch.randn(8, 3, SIDE, SIDE, generator=generator), torch.arange(8) % 4


def state_of(network: nn.Module) -> list[Any]:
    """All states of a network that a proxy might change, and torch's own generator."""
    import torch

    state: list[Any] = [tensor.detach().clone() for tensor in (*network.parameters(), *network.buffers())]
    state += [(parameter.requires_grad, parameter.grad) for parameter in network.parameters()]
    for module in network.modules():
        state.append((module.training, "forward" in vars(module)))
        state.append((len(module._forward_hooks), len(module._forward_pre_hooks), len(module._backward_hooks)))
    return [*state, torch.get_rng_state()]


def same_state(before: list[Any], after: list[Any]) -> bool:
    import torch

    pairs = zip(before, after, strict=True)
    return all(torch.equal(old, new) if isinstance(old, torch.Tensor) else old == new for old, new in pairs)
