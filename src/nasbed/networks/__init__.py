"""Networks: the torch module of an architecture. This package loads torch only when a network is built."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol

from nasbed.core.architecture import Architecture
from nasbed.core.errors import InvalidArchitecture, InvalidOption, MissingDependency, UnknownName, shorten
from nasbed.core.registry import Registry
from nasbed.spaces import SPACES, registered_id, space
from nasbed.spaces.image_size import Image, plain

if TYPE_CHECKING:
    from torch import nn


class NetworkBuilder(Protocol):
    """What a space registers: the network of one of its architectures, which is known to be valid. ``image`` is a pair
    only where height and width differ. ``skeleton`` is the space's own description of what stands around the cells,
    None for the usual one; the other arguments override it.

    Args:
        arch: The architecture.
        classes: How many classes the network has.
        channels_in: The channels of an image.
        image: The side of a square image, or its height and width.
        skeleton: The network around the cells; None for the usual one.
    """

    def __call__(
        self, arch: Architecture, *, classes: int, channels_in: int, image: Image, skeleton: Any
    ) -> nn.Module: ...


NETWORKS: Registry[NetworkBuilder] = Registry("network", group="nasbed.networks")
"""The registry of builders by space. Packages add to it by entry points in the group ``nasbed.networks``."""
NETWORKS.add_entries(
    "nasbed.networks",
    {
        "nb101": "nb101:network",
        "nb201": "nb201:network",
        "darts": "darts:network",
        "fbnet": "fbnet:network",
        "transnas-micro": "transnas.micro:network",
        "transnas-macro": "transnas.macro:network",
        "bonsai": "bonsai:network",
    },
)

USUAL = {"classes": 10, "image_channels": 3, "image": 32}
"""What is built when neither the call nor the skeleton says: a network for CIFAR-10."""


def build(
    arch: Architecture,
    *,
    classes: int | None = None,
    channels_in: int | None = None,
    image: Image | None = None,
    skeleton: Any = None,
) -> nn.Module:
    """The network of an architecture, a plain ``torch.nn.Module`` in training mode with torch's own initial weights.

    For the same weights each time call ``torch.manual_seed`` before. Inside ``with torch.device("meta")`` no weights
    are made.

    Args:
        arch: The architecture.
        classes: How many classes; by default as the skeleton says, 10 without one.
        channels_in: The channels of an image; by default as the skeleton says, 3 without one.
        image: Its height and width in pixels, or the side of a square; by default as the skeleton says, 32 without one.
        skeleton: The network around the cells; None for the usual one.
    """
    if not isinstance(arch, Architecture):
        raise InvalidArchitecture(
            f"a network is built from an Architecture, got {type(arch).__name__} {shorten(arch)}; make one with parse"
        )
    check_network(arch.space)
    if registered_id(arch.space) in SPACES:
        space(arch.space).validate(arch)
    check_torch()
    requested = {"classes": classes, "image_channels": channels_in, "image": image}
    sizes = {
        name: getattr(skeleton, name, USUAL[name]) if value is None else _validate_size(name, value)
        for name, value in requested.items()
    }
    return NETWORKS.get(registered_id(arch.space))(
        arch,
        classes=sizes["classes"],
        channels_in=sizes["image_channels"],
        image=sizes["image"],
        skeleton=skeleton,
    )


def check_network(space_name: str) -> None:
    """Raise unless the architectures of a space can be built as networks."""
    if registered_id(space_name) not in NETWORKS:
        raise UnknownName(
            f"the space {space_name!r} has no network; those with one: {', '.join(NETWORKS)}; a plug-in adds one by an "
            f"entry point in the group {NETWORKS.group}"
        )


def check_torch() -> None:
    """Raise, saying how to get it, unless torch is installed."""
    if find_spec("torch") is None:
        raise MissingDependency("a network needs torch; get it with: pip install 'nasbed[torch]'")


def _validate_size(name: str, value: Any) -> Any:
    if name == "image" and type(value) is tuple:
        return plain(value)
    if type(value) is not int or value < 1:
        raise InvalidOption(f"a network's {name} is a whole number of 1 or more, got {shorten(value)}")
    return value


__all__ = ["NETWORKS", "NetworkBuilder", "build", "check_network", "check_torch"]
