"""Scoring: the network is left as it was, bad input is reported, passes are shared, any function can be a proxy."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from torch import Tensor, nn  # noqa: E402

from nasbed.core.errors import DuplicateName, InvalidMeasurement, InvalidOption, UnknownName  # noqa: E402
from nasbed.networks import build  # noqa: E402
from nasbed.proxies import PROXIES, Proxy, Score, proxy, score_all  # noqa: E402
from nasbed.proxies.passes import Passes  # noqa: E402
from nasbed.spaces import space  # noqa: E402
from nasbed.spaces.darts import DartsSkeleton  # noqa: E402
from nasbed.spaces.nb201 import NB201, NB201Skeleton  # noqa: E402
from nasbed.testing.proxies import same_state, state_of  # noqa: E402
from support.documentation import page_text  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
EVERY = ["epe_nas", "fisher", "flops", "grad_norm", "grasp", "jacov", "l2_norm", "meco", "ntk", "ntk_all"]
EVERY += ["nwot", "params", "plain", "snip", "swap", "synflow", "zen", "zico"]
NEEDING_LABELS = {"fisher", "grad_norm", "grasp", "plain", "snip", "zico"}
OF_WEIGHTS = {"flops", "l2_norm", "params"}
"""These look at no output."""


def batch(images: int = 8, side: int = 16, classes: int = 4) -> tuple[Tensor, Tensor]:
    drawn = torch.Generator().manual_seed(0)
    return torch.randn(images, 3, side, side, generator=drawn), torch.arange(images) % classes


def small() -> nn.Module:
    torch.manual_seed(0)
    cell = ["nor_conv_3x3", "skip_connect", "nor_conv_1x1", "avg_pool_3x3", "nor_conv_3x3", "skip_connect"]
    arch = NB201().from_options(cell)
    return build(arch, skeleton=NB201Skeleton(channels=4, cells_per_stage=1, image=16))


def test_registry_has_every_built_in_proxy() -> None:
    assert list(PROXIES) == EVERY
    for name in EVERY:
        assert PROXIES.get(name).name == name
        assert PROXIES.get(name).summary
        assert PROXIES.get(name).function.__doc__


def test_every_proxy_scores_a_network_and_leaves_it_alone() -> None:
    network = small()
    list(network.modules())[3].eval()
    next(network.parameters()).requires_grad_(False)
    before = state_of(network)
    images, labels = batch()
    images_before = images.clone()
    scores = score_all(network, (images, labels))
    assert list(scores) == EVERY
    assert all(score.value is not None for score in scores.values()), scores
    assert same_state(before, state_of(network))
    assert torch.equal(images_before, images)
    assert not images.requires_grad


def with_dropout() -> nn.Module:
    return nn.Sequential(small(), nn.Dropout(0.3))


@pytest.fixture(scope="module")
def together() -> dict[str, Score]:
    return score_all(with_dropout(), batch())


@pytest.mark.parametrize("name", EVERY)
def test_score_alone_is_the_score_in_company(together: dict[str, Score], name: str) -> None:
    """And the same seed gives the same score, whatever torch's own generator has drawn."""
    network = with_dropout()
    torch.rand(3)
    single = PROXIES.get(name).score(network, batch())
    assert single.value == together[name].value


def test_network_is_left_alone_by_a_proxy_that_fails() -> None:
    network = small()
    before = state_of(network)
    score_all(network, (batch()[0] * torch.nan, batch()[1]))

    def failing(passes: Passes) -> float:
        raise KeyError("a mistake of its author")

    with pytest.raises(KeyError):
        Proxy("failing", "", ("output_gradients", "patterns"), failing).score(network, batch())
    assert same_state(before, state_of(network))


def test_auxiliary_output_is_not_scored() -> None:
    arch = space("darts").sample(np.random.default_rng(0))
    torch.manual_seed(0)
    network = build(arch, skeleton=DartsSkeleton(channels=4, cells=3, auxiliary=True))
    scores = score_all(network, batch(8, side=32))
    assert [name for name, score in scores.items() if score.value is None] == ["meco", "ntk"]
    assert "Expected more than 1 value per channel" in scores["meco"].reason  # one image, one pixel
    assert "have no gradient and count as zero" in scores["grad_norm"].remark


def test_passes_are_shared_and_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each pass takes a second by a clock that goes a second ahead whenever it is read."""
    calls, clock = [], count()
    monkeypatch.setattr("nasbed.proxies.passes.perf_counter", lambda: next(clock))
    monkeypatch.setattr("nasbed.proxies.scoring.perf_counter", lambda: next(clock))

    class Counted(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = small()

        def forward(self, x: Tensor) -> Tensor:
            calls.append(len(x))
            result: Tensor = self.inner(x)
            return result

    names = ["grad_norm", "snip", "plain", "fisher", "grasp", "jacov", "epe_nas", "nwot", "swap", "l2_norm", "params"]
    scores = score_all(Counted(), batch(), proxies=names)
    assert calls == [8]
    assert {score.seconds for score in scores.values()} == {1}
    shared = {name: scores[name].shared_seconds for name in ("l2_norm", "nwot", "snip", "fisher")}
    assert shared == {"l2_norm": 0, "nwot": 1, "snip": 2, "fisher": 2}, "the forward pass, and with the gradients"


@pytest.fixture
def own_proxy() -> Iterator[str]:
    @proxy("test-mine", needs=("loss_gradients",))
    def mine(passes: Passes) -> float:
        """Largest gradient.

        Of all.
        """
        return max(float(gradient.abs().max()) for gradient in passes.loss_gradients().values())

    yield "test-mine"
    del PROXIES._entries["test-mine"]


def test_own_function_joins_by_a_decorator(own_proxy: str) -> None:
    assert PROXIES.get(own_proxy).summary == "Largest gradient."
    scores = score_all(small(), batch(), proxies=[own_proxy, "grad_norm"])
    largest, norm = scores[own_proxy].value, scores["grad_norm"].value
    assert largest is not None and norm is not None and 0 < largest < norm
    with pytest.raises(DuplicateName, match="is taken"):
        proxy(own_proxy)(lambda passes: 0.0)


@pytest.mark.parametrize("result", [float("nan"), float("inf")])
def test_value_that_is_not_finite_is_no_score(result: float) -> None:
    score = Proxy("strange", "", (), lambda passes: result).score(small(), batch())
    assert score.value is None
    assert score.reason == f"the value is {result}"


def test_score_has_a_value_or_a_reason() -> None:
    wrongs: list[dict[str, Any]] = [{"value": None}, {"value": 1.0, "reason": "none"}, {"value": float("nan")}]
    for wrong in wrongs:
        with pytest.raises(InvalidMeasurement):
            Score(**wrong)


class Constant(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.new_ones(len(x), 10)


class ConstantInTheEnd(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = small()

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.inner(x) * 0
        return result


def _not_scored(network: nn.Module, images_and_labels: tuple[Tensor, Tensor]) -> dict[str, str]:
    return {name: score.reason for name, score in score_all(network, images_and_labels).items() if score.value is None}


def test_network_without_parameters_is_reported() -> None:
    reasons = _not_scored(Constant(), batch())
    assert set(reasons) == set(EVERY)
    assert reasons["params"] == "the network has no parameters"
    assert reasons["snip"] == reasons["l2_norm"] == "the network has no convolution and no linear layer"
    assert reasons["jacov"] == "the output does not depend on the images"
    assert reasons["nwot"].startswith("the network has no rectifier")


def test_constant_network_is_reported() -> None:
    reasons = _not_scored(ConstantInTheEnd(), batch())
    assert set(reasons) >= {"grad_norm", "snip", "fisher", "jacov", "epe_nas", "ntk", "synflow", "zico"}
    assert reasons["grad_norm"] == "every gradient is zero"


def test_images_that_are_not_finite_are_reported() -> None:
    images, labels = batch()
    images[0, 0, 0, 0] = torch.nan
    reasons = _not_scored(small(), (images, labels))
    assert set(reasons) == set(EVERY) - OF_WEIGHTS - {"synflow", "zen", "meco"}
    assert set(reasons.values()) == {"the images are not all finite"}


def test_weights_that_are_not_finite_are_reported() -> None:
    network = small()
    with torch.no_grad():
        next(network.parameters()).fill_(torch.inf)
    assert set(_not_scored(network, batch())) == set(EVERY) - {"params", "flops", "zen"}


def test_labels_outside_the_classes_are_reported() -> None:
    images, labels = batch()
    reasons = _not_scored(small(), (images, labels + 7))
    assert set(reasons) == NEEDING_LABELS
    assert reasons["snip"] == "the labels run from 7 to 10, the network has 10 classes"


def test_batch_of_one_is_reported() -> None:
    reasons = _not_scored(small(), batch(1))
    assert set(reasons) == {"jacov", "epe_nas", "nwot", "ntk", "ntk_all", "zico"}


def test_one_class_is_enough_and_no_pair_is_not() -> None:
    images, labels = batch()
    assert _not_scored(small(), (images, torch.zeros_like(labels))) == {}
    assert set(_not_scored(small(), (images, torch.arange(8)))) == {"epe_nas"}


def test_output_without_a_row_for_each_image_is_reported() -> None:
    reasons = _not_scored(nn.Sequential(small(), nn.Flatten(0)), batch())
    assert reasons["ntk"] == "the network's output has no row for each of 8 images, its shape is (80,)"


def test_images_of_another_shape_are_reported() -> None:
    reasons = _not_scored(small(), (torch.randn(4, 5, 16, 16), torch.arange(4)))
    assert set(reasons) == set(EVERY) - {"params", "l2_norm"}
    assert re.match(r"the network cannot be run on this batch: .*5 channels", reasons["snip"])
    assert all("\n" not in reason for reason in reasons.values())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda network, images, labels: (None, (images, labels)), "a proxy scores a torch module"),
        (lambda network, images, labels: (network, (images.long(), labels)), "images are a tensor of floats"),
        (lambda network, images, labels: (network, (images[:0], labels[:0])), "at least one"),
        (lambda network, images, labels: (network, (images, labels[:3])), "a label for each image"),
        (lambda network, images, labels: (network, (images,)), "a pair of tensors"),
        (lambda network, images, labels: (network.to("meta"), (images, labels)), "a network with weights"),
    ],
)
def test_wrong_arguments_raise(change: Callable[..., tuple[Any, Any]], message: str) -> None:
    network, images_and_labels = change(small(), *batch())
    with pytest.raises(InvalidOption, match=message):
        score_all(network, images_and_labels)


def test_unknown_names_and_needs_raise() -> None:
    with pytest.raises(UnknownName, match="did you mean"):
        score_all(small(), batch(), proxies=["snipe"])
    with pytest.raises(InvalidOption, match="are among forward, patterns"):
        proxy("test-needy", needs=("backward",))(lambda passes: 0.0)  # type: ignore[arg-type]
    with pytest.raises(InvalidOption, match="says so in its needs"):
        Proxy("undeclared", "", (), lambda passes: float(len(passes.patterns()))).score(small(), batch())


def test_import_loads_no_torch() -> None:
    code = "import sys, nasbed.proxies; nasbed.proxies.PROXIES.names(); print('torch' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_page_names_every_proxy_and_its_python_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = page_text("proxies")
    assert sorted(re.findall(r"^\| `(\w+)`", page, flags=re.MULTILINE)) == EVERY
    blocks = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    monkeypatch.chdir(tmp_path)
    with patch.dict(PROXIES._entries):
        exec("\n".join(blocks), {"__name__": "__main__"})
