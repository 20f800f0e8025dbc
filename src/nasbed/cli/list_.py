"""``nasbed list …``: available spaces, benchmarks, optimizers, surrogates, presets and recipes."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Annotated

import typer

from nasbed.core.errors import TooLarge
from nasbed.terminal.output import Json, print_fields, print_json, print_table, readable

if TYPE_CHECKING:
    from nasbed.benchmarks.catalog import Card
    from nasbed.spaces import SearchSpace

app = typer.Typer(help="List spaces, benchmarks, optimizers, surrogates, presets or recipes.", no_args_is_help=True)


@app.command()
def spaces(
    pattern: Annotated[str, typer.Argument(help="List only names that match this glob.")] = "*",
    json: Json = False,
) -> None:
    """List the search spaces with their exact sizes."""
    from nasbed.spaces import list_spaces, space

    listing = [space(name) for name in list_spaces(pattern)]
    if json:
        print_json([{"name": searched.name, "size": _size(searched), "title": searched.title} for searched in listing])
    else:
        rows = [(searched.name, _size(searched) or "uncounted", searched.title) for searched in listing]
        print_table(("name", "architectures", "what"), rows)


def _size(space: SearchSpace) -> int | None:
    """The exact size, or empty if there is none, as with a float among the choices."""
    try:
        return space.size
    except TooLarge:
        return None


@app.command()
def benchmarks(
    name: Annotated[str | None, typer.Argument(help="Show all details of this benchmark.")] = None,
    json: Json = False,
) -> None:
    """List the benchmarks: first those that work now, then the others and how to get them."""
    from dataclasses import asdict

    from nasbed.benchmarks.catalog import card, cards

    if name is not None:
        fields = asdict(card(name))
        if json:
            print_json(fields)
        else:
            columns = {
                key: ", ".join(map(str, value)) if isinstance(value, tuple) else value for key, value in fields.items()
            }
            unknown = {key for key in ("space_size", "fitted_on") if not columns[key]}
            print_fields({key: value for key, value in columns.items() if value != "" and key not in unknown})
    elif json:
        print_json([asdict(entry) for entry in cards()])
    else:
        listing = cards()
        ready = [(entry.name, _architectures(entry), _what(entry)) for entry in listing if entry.works_now]
        print_table(("works now", "architectures", "what"), ready)
        typer.echo()
        rows = [(entry.name, _architectures(entry), entry.what, entry.get) for entry in listing if not entry.works_now]
        print_table(("not yet here", "architectures", "what", "how to get it"), rows)


def _architectures(card: Card) -> str:
    """The number of architectures of a benchmark, and of its space if that has more."""
    if card.present and not card.architectures:
        return "uncounted"
    if card.architectures < card.space_size:
        return f"{_count(card.architectures)} of {_count(card.space_size)}"
    return _count(card.architectures)


def _count(number: int) -> str:
    """Up to twelve digits, or the nearest power of ten.

    >>> _count(423_624), _count(1_076_746_950_455_072_400), _count(9**22)
    ('423 624', '10^18', '10^21')
    """
    return readable(number) if number < 10**12 else f"10^{round(math.log10(number))}"


def _what(card: Card) -> str:
    return f"{card.what} (installed, imported on first use)" if card.installed else card.what


@app.command()
def optimizers(json: Json = False) -> None:
    """List the search methods."""
    from nasbed.optimizers import OPTIMIZERS

    rows = [(name, OPTIMIZERS.get(name).summary) for name in OPTIMIZERS]
    if json:
        print_json([{"name": name, "summary": summary} for name, summary in rows])
    else:
        print_table(("name", "what"), rows)


@app.command()
def surrogates(json: Json = False) -> None:
    """List the models that surrogate benchmarks are fitted with, their settings and defaults."""
    from dataclasses import asdict

    from nasbed.surrogates import SURROGATES

    models = [(name, SURROGATES.get(name)) for name in SURROGATES]
    if json:
        print_json(
            [{"name": name, "summary": kind.summary, "settings": asdict(kind.Settings())} for name, kind in models]
        )
    else:
        for name, kind in models:
            print_fields({name: kind.summary})
            print_fields({f"    {key}": value for key, value in asdict(kind.Settings()).items()})
            typer.echo()


@app.command()
def presets(
    name: Annotated[str | None, typer.Argument(help="Show every setting of this preset with its source.")] = None,
    json: Json = False,
) -> None:
    """List the settings that papers have for search methods (nasbed run), surrogate models (nasbed fit) and one-shot
    methods (nasbed oneshot, nasbed study unseen).

    Example: nasbed list presets nb101
    """
    from nasbed.core.errors import UnknownName, nearest
    from nasbed.oneshot.presets import SEARCH_PRESETS
    from nasbed.optimizers.presets import METHOD_PRESETS
    from nasbed.surrogates.presets import MODEL_PRESETS

    uses = {
        "nasbed run --preset": METHOD_PRESETS,
        "nasbed fit --preset": MODEL_PRESETS,
        "nasbed oneshot --preset": SEARCH_PRESETS,
    }
    listing = [(registry.get(key), use) for use, registry in uses.items() for key in registry]
    if name is None:
        columns = ("name", "paper", "for", "use")
        rows = [
            (preset.name, preset.paper, ", ".join(preset.owners), f"{use} {preset.name}") for preset, use in listing
        ]
    else:
        columns = ("for", "setting", "value", "source")
        chosen = next((preset for preset, _ in listing if preset.name == name), None)
        if chosen is None:
            known = [preset.name for preset, _ in listing]
            raise UnknownName(f"no preset is called {name!r}; {nearest(name, known)}")
        rows = [
            (owner, setting, str(entry.value), entry.source)
            for owner, entries in chosen.owners.items()
            for setting, entry in entries.items()
        ]
    if json:
        print_json([dict(zip(columns, row, strict=True)) for row in rows])
    else:
        print_table(columns, rows)


@app.command()
def recipes(
    name: Annotated[str | None, typer.Argument(help="Print this recipe as a TOML file that you can change.")] = None,
    json: Json = False,
) -> None:
    """List the training recipes, or print one of them.

    Example: nasbed list recipes nb101 > mine.toml
    """
    from nasbed.training import RECIPES, load_recipe, recipe_toml

    if name is not None:
        recipe = load_recipe(name)
        if json:
            print_json(recipe.settings())
        else:
            typer.echo(recipe_toml(recipe), nl=False)
        return
    registered = [RECIPES.get(key) for key in RECIPES]
    if json:
        print_json([recipe.settings() for recipe in registered])
    else:
        rows = [
            (
                recipe.name,
                ", ".join(map(str, recipe.epochs)),
                recipe.optimizer,
                recipe.batch,
                re.split("[.:;] ", recipe.source)[0],
            )
            for recipe in registered
        ]
        print_table(("name", "epochs", "optimizer", "batch", "source"), rows)
