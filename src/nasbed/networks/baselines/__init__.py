"""Networks that were not found by a search: the CNNs of the paper on unseen datasets, for images of any shape.

The paper is Geada, Towers et al., "Insights from the use of previously unseen neural architecture search datasets",
CVPR 2024, section 5.1. To add one: a function in a file and a line below, or an entry point in the group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from nasbed.core.errors import InvalidOption, shorten
from nasbed.core.registry import Registry
from nasbed.networks import check_torch
from nasbed.networks.baselines.vision import import_torchvision

if TYPE_CHECKING:
    from torch import nn


class BaselineBuilder(Protocol):
    """The registered function: makes a network for ``classes`` and ``channels_in``, in training mode, with its own
    initial weights. It need not take small images: those are enlarged in front of it."""

    def __call__(self, *, classes: int, channels_in: int) -> nn.Module: ...


BASELINES: Registry[BaselineBuilder] = Registry("baseline", group="nasbed.baselines")
BASELINES.add_entries(
    "nasbed.networks",
    {
        "resnet18": "resnet18:resnet18",
        "resnet18-kit": "resnet18:resnet18_kit",
        "alexnet": "baselines.vision:ALEXNET",
        "vgg16": "baselines.vision:VGG16",
        "convnext-base": "baselines.vision:CONVNEXT_BASE",
        "mnasnet": "baselines.vision:MNASNET",
        "mnasnet-torchvision": "baselines.vision:MNASNET_TORCHVISION",
        "densenet161": "baselines.densenet:densenet161",
        "resnext50": "baselines.vision:RESNEXT50",
    },
)


def baseline(name: str, *, classes: int, channels_in: int, image: int | tuple[int, int]) -> nn.Module:
    """The network of that name for images of a shape: as published but for its first convolution and its classifier.

    ``image`` is height and width in pixels, or the side of a square. Where a network would reduce an image below one
    pixel, each side that is too short is first enlarged, by repeating pixels, to the least that it can do with. What of
    a kernel never meets the image is not computed, which changes results by rounding alone.

    Weights come from torch's own generator; inside ``with torch.device("meta")`` none are made.

    >>> baseline("resnet18", classes=10, channels_in=1, image=(27, 18)).fc.out_features
    10
    """
    sides = image if isinstance(image, tuple) else (image, image)
    for label, value in (
        ("classes", classes),
        ("channels_in", channels_in),
        ("height", sides[0]),
        ("width", sides[-1]),
    ):
        if type(value) is not int or value < 1 or len(sides) != 2:
            raise InvalidOption(f"the {label} of a baseline is a whole number of 1 or more, got {shorten(value)}")
    builder = BASELINES.get(name)
    check_torch()
    from nasbed.networks.baselines.upscaling import enlarged
    from nasbed.networks.trimming import trim_convolutions

    return trim_convolutions(enlarged(builder, classes=classes, channels_in=channels_in, image=sides))


__all__ = ["BASELINES", "BaselineBuilder", "baseline", "import_torchvision"]
