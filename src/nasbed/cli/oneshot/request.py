"""The request of ``nasbed oneshot``: its options, read and checked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from nasbed.core.errors import InvalidOption, nearest, shorten
from nasbed.datasets.dataset import Dataset
from nasbed.oneshot import METHODS, STOPPING_RULES, OneShotSettings, SearchSettings
from nasbed.oneshot.method_options import option_defaults
from nasbed.oneshot.methods.base import OneShotMethod, SupernetMethod
from nasbed.oneshot.presets import SEARCH_PRESETS, MethodPreset, method_preset
from nasbed.terminal.settings import settings_by_key

OWN_OPTIONS = frozenset({"epochs", "channels", "batch", "epoch_images", "precision"})
"""Settings of all methods that are given by options, not by ``--set``."""
BATCH = SearchSettings().batch
"""The usual batch size of a supernet."""


@dataclass(frozen=True, slots=True, eq=False)
class SearchRequest:
    """The requested search, and the folder that it goes into."""

    method: str
    kind: type[OneShotMethod[Any]]
    space: str
    images: Dataset
    seed: int
    settings: OneShotSettings
    options: dict[str, Any]
    stop: str | None
    device: torch.device
    folder: Path


def check_refused(method: str, kind: type[OneShotMethod[Any]], options: dict[str, Any]) -> None:
    """Raise for an option of the command that the method lacks."""
    for name, reason in kind.refused_options.items():
        if options.get(name) is not None:
            raise InvalidOption(f"{name} is not for {method}, which {reason}")


def read_preset(name: str, method: str, dataset: str, space: str | None) -> MethodPreset | None:
    """The preset of a method on a dataset, None without a name. A preset is for the usual space of a method."""
    if not name:
        return None
    preset = method_preset(SEARCH_PRESETS.get(name), method, dataset)
    kind = METHODS.get(method)
    usual = kind.searched_space(None, kind.settings(**preset.search))
    if space not in (None, usual):
        raise InvalidOption(f"the preset {name} is for the space {usual}, got {space}; omit --preset or --space")
    return preset


def read_settings(
    method: str,
    kind: type[OneShotMethod[Any]],
    options: dict[str, Any],
    texts: list[str],
    stop: str | None,
    preset: MethodPreset | None = None,
) -> tuple[OneShotSettings, dict[str, Any]]:
    """The settings of a search and the options of its method.

    Args:
        method: The id of the method.
        kind: The method.
        options: Settings that have options of their own, as far as they were given.
        texts: The values of ``--set``.
        stop: The stopping rule.
        preset: Settings and options that hold where none are given.
    """
    names = set(kind.settings.names())
    if refused := [name for name in options if name not in names]:
        raise InvalidOption(f"{method} has no setting {refused[0]}; omit --{refused[0].replace('_', '-')}")
    settings, method_options = _split_settings(method, kind, names, texts)
    _check_method_options(kind, method_options)
    if stop is not None and stop not in STOPPING_RULES:
        raise InvalidOption(f"a search is stopped by {' or '.join(STOPPING_RULES)}, got {stop!r}; choose one of them")
    if stop == "eigenvalue" and not settings.setdefault("eigenvalue_images", options.get("batch", BATCH)):
        raise InvalidOption("--stop eigenvalue needs eigenvalues; omit supernet.eigenvalue_images=0")
    try:
        base, base_options = ({}, {}) if preset is None else (preset.search, preset.options)
        return kind.settings(**(base | options | settings)), base_options | method_options
    except TypeError as error:
        prefix = kind.settings_prefix
        owner, remedy = ("the supernet", f"what begins with {prefix}") if prefix else (method, "its settings")
        raise InvalidOption(f"the settings of {owner} are invalid: {error}; change {remedy}") from None


def _split_settings(
    method: str, kind: type[OneShotMethod[Any]], names: set[str], texts: list[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The values of ``--set``: settings, which have these names, and options of the method."""
    prefix = kind.settings_prefix
    own = OWN_OPTIONS if "--cells" in kind.refused_options else OWN_OPTIONS | {"cells"}
    settings: dict[str, Any] = {}
    method_options: dict[str, Any] = {}
    for key, value in settings_by_key(texts).items():
        name = key.removeprefix(prefix)
        if prefix and name == key:
            method_options[key] = value
        elif name in own:
            raise InvalidOption(f"{key} has its own option; use --{name.replace('_', '-')}")
        elif name not in names:
            plain = name.removeprefix(SupernetMethod.settings_prefix)
            if plain != name:
                raise InvalidOption(f"the settings of {method} have no prefix, got {key!r}; use --set {plain}=…")
            owner = "a supernet" if prefix else method
            raise InvalidOption(f"{owner} has no setting {name!r}; {nearest(name, names - own)}")
        else:
            settings[name] = tuple(value) if isinstance(value, list) else value
    return settings, method_options


def _check_method_options(kind: type[OneShotMethod[Any]], options: dict[str, Any]) -> None:
    """Raise unless the method has such options, of the kind that their defaults are."""
    defaults = option_defaults(kind)
    for name, value in options.items():
        if name not in defaults:
            raise InvalidOption(f"the method has no setting {name!r}; {nearest(name, defaults)}")
        if not _fits(value, defaults[name]):
            raise InvalidOption(
                f"the setting {name} has the type of its default {defaults[name]!r}, got {shorten(value)}; change it"
            )


def _fits(value: Any, default: Any) -> bool:
    """Whether a value has the type of a default; a whole number that is a limit may be None."""
    if default is None or isinstance(default, list | tuple):
        return default is None or isinstance(value, list)
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(default, bool) and isinstance(value, bool)
    if isinstance(default, int):
        return value is None or isinstance(value, int)
    return isinstance(value, int | float) if isinstance(default, float) else isinstance(value, type(default))


def set_defaults(kind: type[OneShotMethod[Any]]) -> dict[str, Any]:
    """The names that ``--set`` accepts without a prefix, with their defaults: options of the method, or its
    settings."""
    if kind.settings_prefix:
        return option_defaults(kind)
    plain = kind.settings().plain()
    return {name: value for name, value in plain.items() if name not in OWN_OPTIONS}
