"""What every zero-cost proxy must satisfy, whatever it measures. Needs torch, and no test framework but ``assert``."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
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
"""With gradients everywhere, with layers that have none, and without any way from the images to the output."""


class ProxyConformance(ABC):
    """The rules of :class:`~nasbed.proxies.Proxy`, as test methods over one proxy."""

    @abstractmethod
    def make_proxy(self) -> Proxy:
        """The proxy under test."""

    def scores(self, **changed: Any) -> list[Score]:
        """Of small networks; a change replaces ``images`` or ``labels``."""
        given = dict(zip(("images", "labels"), batch(), strict=True)) | changed
        return [self.make_proxy().score(each, (given["images"], given["labels"])) for each in networks()]

    def test_a_score_is_a_finite_number_or_a_reason_of_one_line(self) -> None:
        found = self.scores()
        assert found[0].value is not None, f"no score of an ordinary network: {found[0].reason}"
        for score in found:
            assert (score.value is None) == bool(score.reason)
            assert score.value is None or math.isfinite(score.value)
            assert "\n" not in score.reason + score.remark and score.seconds >= 0

    def test_the_same_seed_gives_the_same_score(self) -> None:
        """Whatever torch's own generator has drawn, and whichever proxies are asked with it."""
        import torch

        from nasbed.proxies.scoring import scores

        proxy, network = self.make_proxy(), next(networks())
        first = proxy.score(network, batch(), seed=3).value
        with torch.random.fork_rng(devices=[]):
            torch.rand(3)
            assert proxy.score(network, batch(), seed=3).value == first
        others = [each for each in map(PROXIES.get, PROXIES.names()) if each.name != proxy.name]
        assert scores(network, batch(), [*others, proxy], seed=3)[proxy.name].value == first

    def test_the_network_and_the_batch_are_left_as_they_were(self) -> None:
        import torch

        given = batch()
        before = [each.clone() for each in given]
        for network in networks():
            list(network.modules())[2].eval()
            next(network.parameters()).requires_grad_(False)
            kept = state_of(network)
            self.make_proxy().score(network, given)
            assert same_state(kept, state_of(network))
        assert all(torch.equal(one, other) for one, other in zip(before, given, strict=True))
        assert not given[0].requires_grad

    def test_odd_batches_have_a_score_or_a_reason(self) -> None:
        import torch

        images, labels = batch()
        self.scores(images=images[:1], labels=labels[:1])
        self.scores(labels=torch.zeros_like(labels))
        self.scores(images=torch.zeros_like(images))
        self.scores(images=images * torch.nan)
        self.scores(images=images * 1e30)
        self.scores(labels=labels + 100)

    def test_odd_networks_have_a_score_or_a_reason(self) -> None:
        import torch
        from torch import nn

        whole = next(networks())
        with torch.no_grad():
            for each in whole.parameters():
                each.mul_(0)
        for network in (nn.Flatten(), nn.Sequential(nn.Flatten(), nn.Linear(3 * 16 * 16, 10)), nn.Identity(), whole):
            self.make_proxy().score(network, batch())


def networks() -> Iterator[nn.Module]:
    """Small ones, with the same weights each time."""
    import torch

    from nasbed.networks import build
    from nasbed.spaces.nb201 import NB201Skeleton

    for cell in CELLS:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            skeleton = NB201Skeleton(channels=4, cells_per_stage=1, image=16)
            yield build(space("nb201").parse(cell), skeleton=skeleton)


def batch() -> tuple[Tensor, Tensor]:
    """Images and labels of four classes."""
    import torch

    drawn = torch.Generator().manual_seed(0)
    return torch.randn(8, 3, 16, 16, generator=drawn), torch.arange(8) % 4


def state_of(network: nn.Module) -> list[Any]:
    """Everything of a network that a proxy might leave changed, and torch's own generator."""
    import torch

    found: list[Any] = [each.detach().clone() for each in (*network.parameters(), *network.buffers())]
    found += [(each.requires_grad, each.grad) for each in network.parameters()]
    for module in network.modules():
        found.append((module.training, "forward" in vars(module)))
        found.append((len(module._forward_hooks), len(module._forward_pre_hooks), len(module._backward_hooks)))
    return [*found, torch.get_rng_state()]


def same_state(before: list[Any], after: list[Any]) -> bool:
    import torch

    pairs = zip(before, after, strict=True)
    return all(torch.equal(one, other) if isinstance(one, torch.Tensor) else one == other for one, other in pairs)
