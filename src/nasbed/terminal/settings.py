"""Settings on the command line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Annotated, Any

import typer

from nasbed.core.errors import InvalidOption

Vary = Annotated[
    list[str],
    typer.Option(metavar="KEY=VALUE,VALUE,…", help="A setting and the values to try; may be given several times."),
]


def settings_by_key(texts: Iterable[str]) -> dict[str, Any]:
    """Settings from texts ``KEY=VALUE``. A value is parsed as JSON if possible; otherwise it is text.

    >>> settings_by_key(["max_depth=8", "features=onehot", "bootstrap=true"])
    {'max_depth': 8, 'features': 'onehot', 'bootstrap': True}
    """
    settings: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not (equals and key):
            raise InvalidOption(f"a setting is KEY=VALUE, such as max_depth=8, got {text!r}")
        settings[key] = _value(value)
    return settings


def settings_by_owner(texts: Iterable[str], *, owner: str, example: str) -> dict[str, dict[str, Any]]:
    """Settings from texts ``OWNER.KEY=VALUE``. A key has no dot, as the owner may be a path. Errors call it ``owner``.

    >>> settings_by_owner(["lgb.num_leaves=20", "my.py:Mine.size=3"], owner="MODEL", example="lgb.num_leaves=20")
    {'lgb': {'num_leaves': 20}, 'my.py:Mine': {'size': 3}}
    """
    settings: dict[str, dict[str, Any]] = {}
    for text in texts:
        target, equals, value = text.partition("=")
        name, _, key = target.rpartition(".")
        if not (equals and name and key):
            raise InvalidOption(f"a setting is {owner}.KEY=VALUE, such as {example}, got {text!r}")
        settings.setdefault(name, {})[key] = _value(value)
    return settings


def varied_settings(texts: Iterable[str]) -> dict[str, list[Any]]:
    """Settings with the values to try, from texts ``KEY=VALUE,VALUE``; a repeated value counts once.

    >>> varied_settings(["population_size=10,50", "features=onehot,path"])
    {'population_size': [10, 50], 'features': ['onehot', 'path']}
    """
    varied: dict[str, list[Any]] = {}
    for text in texts:
        key, equals, values = text.partition("=")
        if not (equals and key and all(values.split(","))):
            raise InvalidOption(f"what varies is KEY=VALUE,VALUE, such as population_size=10,50,100, got {text!r}")
        if key in varied:
            raise InvalidOption(f"each setting varies once, got {key} twice; put all its values into one --vary")
        varied[key] = [_value(value) for value in dict.fromkeys(values.split(","))]
    return varied


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
