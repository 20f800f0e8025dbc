"""Recipes as TOML: a file has the fields of a recipe, and what it leaves out is as by default."""

from __future__ import annotations

import tomllib
from pathlib import Path

from nasbed.core.errors import BadFile, InvalidOption, UnknownName, nearest
from nasbed.training.recipe import FIELDS, Recipe
from nasbed.training.recipes import RECIPES

SUFFIX = ".toml"


def load_recipe(name: str | Path) -> Recipe:
    """A recipe by its name, or from a TOML file by its path.

    >>> load_recipe("nb101").epochs
    (4, 12, 36, 108)
    """
    path = Path(name)
    if isinstance(name, str) and path.suffix != SUFFIX:
        try:
            return RECIPES.get(name)
        except UnknownName as unknown:
            raise UnknownName(f"{unknown}; a recipe of your own is a file, FILE{SUFFIX}") from None
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadFile(f"the recipe {path} cannot be read: {error.strerror}; check the path") from None
    except UnicodeDecodeError:
        raise BadFile(f"the recipe {path} is not UTF-8 text; convert it") from None
    return recipe_from_toml(text, source=str(path))


def recipe_from_toml(text: str, *, source: str = "the recipe") -> Recipe:
    """The recipe that a TOML text describes; ``source`` names it in errors."""
    try:
        settings = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadFile(f"{source} is not TOML: {' '.join(str(error).split())}; fix that line") from None
    for field in settings:
        if field not in FIELDS:
            raise InvalidOption(f"{source}: a recipe has no field {field!r}; {nearest(field, FIELDS)}")
    for field, needed in FIELDS.items():
        if needed and field not in settings:
            raise InvalidOption(f"{source}: a recipe needs the field {field}; add it")
    try:
        return Recipe(**settings)
    except InvalidOption as error:
        raise InvalidOption(f"{source}: {error}") from None


def recipe_toml(recipe: Recipe) -> str:
    """The TOML text of a recipe: every field that is set, the skeleton as a table at the end."""
    import tomli_w

    settings = {name: value for name, value in recipe.settings().items() if value not in (None, {})}
    try:
        return tomli_w.dumps(settings)
    except TypeError as error:
        raise InvalidOption(f"a recipe in a file has numbers, texts, lists and tables: {error}") from None
