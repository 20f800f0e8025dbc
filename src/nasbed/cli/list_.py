"""``nasbed list …``: what there is."""

from __future__ import annotations

from typing import Annotated

import typer

from nasbed.cli.output import Json, print_json, print_table

app = typer.Typer(help="List what there is: spaces.", no_args_is_help=True)


@app.command()
def spaces(
    pattern: Annotated[str, typer.Argument(help="Only names that match this glob.")] = "*",
    json: Json = False,
) -> None:
    """List the search spaces with their exact sizes."""
    from nasbed.spaces import list_spaces, space

    found = [space(name) for name in list_spaces(pattern)]
    if json:
        print_json([{"name": each.name, "size": each.size, "title": each.title} for each in found])
    else:
        print_table(("name", "architectures", "what"), [(each.name, each.size, each.title) for each in found])
