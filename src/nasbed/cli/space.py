"""``nasbed space …``: look at a search space and its architectures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nasbed.core.errors import InvalidOption
from nasbed.terminal.former_options import former_options
from nasbed.terminal.output import Json, print_fields, print_json, print_json_or_fields

if TYPE_CHECKING:
    from nasbed.core.architecture import Architecture
    from nasbed.spaces import SearchSpace

app = typer.Typer(help="Inspect a search space: sample, parse, enumerate and draw architectures.", no_args_is_help=True)

SpaceName = Annotated[str, typer.Argument(metavar="SPACE", help="A name from: nasbed list spaces")]
ArchText = Annotated[
    str,
    typer.Argument(
        metavar="ARCH",
        help="An architecture as text; 'nasbed space sample SPACE' shows how it is written. Or its name, such as "
        "inception in nb101.",
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="The same seed gives the same architectures.")]


@app.command()
def sample(
    name: SpaceName,
    count: Annotated[
        int | None,
        typer.Option("--count", "-n", min=1, show_default="1", help="The number of architectures."),
    ] = None,
    design: Annotated[
        str,
        typer.Option(
            help="random; sobol or lhs: spread evenly over the ConfigSpace; or a list that the space names, such as "
            "topologies of darts: its 180 cell topologies with 10 sets of operations."
        ),
    ] = "random",
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Write a text file, one per line, such as the grid of a campaign takes."),
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Print random architectures, or those of a design, one per line.

    Example: nasbed space sample darts --design topologies --out topologies.txt
    """
    from nasbed.cli.samples import designed, write_architectures
    from nasbed.spaces import space

    searched = space(name)
    architectures = designed(searched, design, count=count, seed=seed)
    if out is None:
        _print_architectures(searched, architectures, json)
    elif json:
        raise InvalidOption("--json prints, --out writes a text file; omit one of them")
    else:
        write_architectures(searched, architectures, out)
        typer.echo(f"{len(architectures)} architectures in {out}")


@app.command()
def parse(name: SpaceName, arch: ArchText, json: Json = False) -> None:
    """Check an architecture, and print it in its usual and its canonical form with its properties.

    Example: nasbed space parse nb101 conv3x3:0/maxpool3x3:0,1/output:1,2
    """
    from nasbed.spaces import space

    searched = space(name)
    fields = _description(searched, searched.parse(arch))
    print_json_or_fields(fields, json=json)


@app.command()
def info(name: SpaceName, json: Json = False) -> None:
    """Print the size of a space, its encodings, an example and the paper to cite.

    Example: nasbed space info darts
    """
    import numpy as np

    from nasbed.spaces import space

    searched = space(name)
    example = searched.sample(np.random.default_rng(0))
    fields: dict[str, Any] = {"name": searched.name, "title": searched.title, "size": searched.size}
    fields |= {"encodings": list(searched.encodings), "parameters of its ConfigSpace": len(searched.configspace())}
    fields |= {"example": searched.format(example), "neighbours of it": sum(1 for _ in searched.neighbors(example))}
    if searched.named:
        fields |= {"named": {known: f"{named.title}: {named.text}" for known, named in searched.named.items()}}
    fields |= {"citation": searched.citation}
    if json:
        print_json(fields)
    else:
        named = {f"named {known}": text for known, text in fields.pop("named", {}).items()}
        print_fields(fields | {"encodings": ", ".join(searched.encodings)} | named)


@app.command()
def neighbors(
    name: SpaceName,
    arch: ArchText,
    unique: Annotated[
        bool,
        typer.Option(
            "--unique", help="Those of every isomorphic form, each once in its canonical form, without ARCH itself."
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Print every architecture that is one edit away, one per line.

    Example: nasbed space neighbors nb101 inception --unique
    """
    from nasbed.spaces import space

    searched = space(name)
    architecture = searched.parse(arch)
    near = searched.unique_neighbors(architecture) if unique else list(searched.neighbors(architecture))
    _print_architectures(searched, near, json)


@app.command("enumerate")
@former_options({"--count": "--count-only"})
def enumerate_(
    name: SpaceName,
    count_only: Annotated[bool, typer.Option("--count-only", help="Print only the number of architectures.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Write a .parquet, .csv or .txt file instead, with every architecture's properties."
        ),
    ] = None,
) -> None:
    """Print every architecture of an enumerable space, one per line.

    Example: nasbed space enumerate nb101 --out cells.parquet
    """
    from nasbed.cli.enumerate import print_all, write_all
    from nasbed.spaces import space

    searched = space(name)
    if count_only:
        print_fields(searched.counts())
    elif out is not None:
        typer.echo(f"{write_all(searched, out)} architectures in {out}")
    else:
        print_all(searched)


@app.command()
@former_options({"--seed": "--sample-seed"})
def draw(
    name: SpaceName,
    arch: Annotated[
        str | None, typer.Argument(metavar="[ARCH]", help="An architecture as text; a random one if left out.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", show_default="SPACE.svg", help="A .svg, .png or .pdf file.")
    ] = None,
    sample_seed: Annotated[int, typer.Option(min=0, help="Sample an architecture with this seed instead of ARCH.")] = 0,
    named: Annotated[
        str | None,
        typer.Option(help="Draw an architecture that has a name, such as best, inception or resnet of nb101."),
    ] = None,
    neighbors: Annotated[
        bool, typer.Option("--neighbors", help="Draw also every architecture that is one edit away.")
    ] = False,
) -> None:
    """Draw the cells of an architecture.

    Example: nasbed space draw darts --sample-seed 3 --out cell.png

    Example: nasbed space draw nb101 --named inception --neighbors
    """
    import numpy as np

    from nasbed.drawing.cells import save_cells
    from nasbed.spaces import space

    searched = space(name)
    if named is not None and arch is not None:
        raise InvalidOption(f"--named is drawn instead of ARCH, got both {named} and {arch}; omit one of them")
    if named is not None:
        architecture = searched.named_architecture(named)
    else:
        architecture = searched.sample(np.random.default_rng(sample_seed)) if arch is None else searched.parse(arch)
    near = searched.unique_neighbors(architecture) if neighbors else []
    path = out or Path(f"{searched.name}.svg")
    if path.is_dir():
        raise InvalidOption(
            f"the picture goes into a .svg, .png or .pdf file, got the folder {path}; name a file in it"
        )
    save_cells([diagram for drawn in (architecture, *near) for diagram in searched.diagrams(drawn)], path)
    typer.echo(f"{path}: {searched.format(architecture)}" + (f", {len(near)} neighbours" if neighbors else ""))


def _description(searched: SearchSpace, arch: Architecture) -> dict[str, Any]:
    """An architecture and all its properties."""
    return {
        "space": searched.name,
        "text": searched.format(arch),
        "code": list(arch.code),
        "canonical": searched.format(searched.canonical(arch)),
        **{key: values[0].item() for key, values in searched.properties([arch]).items()},
    }


def _print_architectures(searched: SearchSpace, archs: list[Architecture], json: bool) -> None:
    if json:
        print_json([{"space": arch.space, "code": list(arch.code), "text": searched.format(arch)} for arch in archs])
    else:
        for arch in archs:
            typer.echo(searched.format(arch))
