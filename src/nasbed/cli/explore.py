"""``nasbed explore``: look around in a benchmark, in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

FIRST_SHOWN = "What to show first: an id from 'nasbed list benchmarks', or a folder. The page can switch to others."
FirstBenchmark = Annotated[str | None, typer.Argument(metavar="BENCHMARK", help=FIRST_SHOWN, show_default=False)]


def explore(
    benchmark: FirstBenchmark = None,
    runs: Annotated[
        list[Path] | None,
        typer.Option("--runs", metavar="DIR", help="A folder of 'nasbed run' whose searches are shown; repeatable."),
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write one self-contained page instead of serving; it opens without nasbed."),
    ] = None,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    host: Annotated[
        str,
        typer.Option(help="The address to serve on. Any other than this machine's own asks clients for a token."),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, show_default="a free one", help="The port to serve on.")] = 0,
) -> None:
    """Open a web page on this machine: see a benchmark, edit a cell and its prediction follows, watch searches.

    The page talks to a JSON API that any program can use; /api/openapi.json describes it. Ctrl-C ends the explorer.

    Example: nasbed explore nb201-cifar10-16-v1.0 --open
    """
    from nasbed.explorer.catalogue import Catalogue

    if export is not None:
        from nasbed.explorer.export import write_export

        written = write_export(Catalogue(benchmark), export)
        typer.echo(f"{export}: {written}")
        return
    from nasbed.explorer.serving import check_server, listen, serve

    check_server()
    from nasbed.explorer.answers import Answers
    from nasbed.explorer.searches import Searches, searched_benchmark

    folders = runs or []
    catalogue = Catalogue(benchmark or searched_benchmark(folders))
    answers = Answers(catalogue, Searches(catalogue, folders))
    place = listen(host, port)

    def announce() -> None:
        typer.echo(f"{place.address}  shows {catalogue.default}; Ctrl-C ends it")
        if open_browser:
            import webbrowser

            webbrowser.open(place.address)

    serve(answers, place, announce)
