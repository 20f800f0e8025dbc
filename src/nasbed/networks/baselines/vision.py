"""Networks that torchvision defines, and how to import it beside a torch without CUDA."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from nasbed.core.errors import MissingDependency, shorten

if TYPE_CHECKING:
    from torch import nn

USUAL_CHANNELS = 3
_OPERATORS = ("nms", "qnms")
"""Whose shapes torchvision declares when it is imported, whether or not its own library could be loaded."""
_defined: list[Any] = []


@dataclass(frozen=True, slots=True)
class FromTorchvision:
    """Builds a network by the name of its function in ``torchvision.models``. ``first`` is its first convolution, and
    ``last`` a classifier that gets torch's initial weights in place of its own."""

    function: str
    first: str
    last: str | None = None

    def __call__(self, *, classes: int, channels_in: int) -> nn.Module:
        network: nn.Module = getattr(import_torchvision().models, self.function)(weights=None, num_classes=classes)
        if channels_in != USUAL_CHANNELS:
            take_channels(network, self.first, channels_in)
        if self.last is not None:
            network.get_submodule(self.last).reset_parameters()  # type: ignore[operator]
        return network


ALEXNET = FromTorchvision("alexnet", first="features.0")
VGG16 = FromTorchvision("vgg16", first="features.0")
CONVNEXT_BASE = FromTorchvision("convnext_base", first="features.0.0")
MNASNET = FromTorchvision("mnasnet1_0", first="layers.0", last="classifier.1")
MNASNET_TORCHVISION = FromTorchvision("mnasnet1_0", first="layers.0")
"""Its classifier's weights have a standard deviation of one over the root of the number of classes: fit for a thousand,
36 times torch's with three. A training then begins at a loss of ten nats."""
RESNEXT50 = FromTorchvision("resnext50_32x4d", first="conv1")


def take_channels(network: nn.Module, place: str, channels: int) -> None:
    """Replace a convolution by one for this number of channels, with torch's initial weights."""
    from torch.nn import Conv2d

    parent, _, name = place.rpartition(".")
    old: Any = network.get_submodule(place)
    new = Conv2d(
        channels,
        old.out_channels,
        kernel_size=old.kernel_size,
        stride=old.stride,
        padding=old.padding,
        bias=old.bias is not None,
    )
    setattr(network.get_submodule(parent), name, new)


def import_torchvision() -> Any:
    """The module ``torchvision``.

    Its wheels are made for torch with CUDA. With a different torch their library is not loaded, and the import fails at
    unknown operators for object detection. These are declared without a body; no network for classification needs them.
    """
    if find_spec("torchvision") is None:
        raise MissingDependency("this network needs torchvision; get it with: pip install 'nasbed[vision]'")
    try:
        return import_module("torchvision")
    except RuntimeError as error:
        if "torchvision::" not in str(error) or _defined:
            raise _unfit(error) from None
    _declare_operators()
    for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
        del sys.modules[name]
    try:
        return import_module("torchvision")
    except RuntimeError as error:
        raise _unfit(error) from None


def _declare_operators() -> None:
    import torch

    library = torch.library.Library("torchvision", "DEF")  # type: ignore[no-untyped-call]
    for name in _OPERATORS:
        shape = f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
        library.define(shape)  # type: ignore[no-untyped-call]
    _defined.append(library)  # operators live as long as their library


def _unfit(error: RuntimeError) -> MissingDependency:
    import torch

    return MissingDependency(
        f"torchvision belongs to one version of torch, beside torch {torch.__version__} it does not load: "
        f"{shorten(str(error), 100)}; get the fitting one with: pip install -U 'nasbed[vision]'"
    )
