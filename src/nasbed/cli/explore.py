"""``nasbed explore``: look around in a benchmark, in a browser."""

from __future__ import annotations

from typing import Annotated

import typer


def explore(
    benchmark: Annotated[
        str | None,
        typer.Argument(metavar="[BENCHMARK]", help="An id from 'nasbed list benchmarks', or a folder; any by default."),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, show_default="a free one", help="The port to serve on.")] = 0,
) -> None:
    """Open a web page on this machine to see a benchmark, edit cells and watch searches.

    Example: nasbed explore nb201-cifar10-16-v1.0 --open
    """
    import uvicorn

    from nasbed.explorer.catalogue import Catalogue
    from nasbed.explorer.server import explorer_app

    app = explorer_app(Catalogue(benchmark))
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="info")
