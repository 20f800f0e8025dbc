"""Options and checks shared by commands that write a report or other files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from nasbed.core.errors import InvalidOption

Out = Annotated[Path, typer.Option("--out", "-o", help="The folder for report.html, figures/ and numbers.json.")]
OptionalOut = Annotated[
    Path | None, typer.Option("--out", "-o", help="A folder for report.html, figures/ and numbers.json.")
]
Formats = Annotated[
    list[str], typer.Option("--format", help="The format of figures: svg, png or pdf; may be given several times.")
]
Searched = Annotated[
    str, typer.Argument(metavar="[BENCHMARK]", help="An id from 'nasbed list benchmarks', or a folder.")
]
Budget = Annotated[str, typer.Option(help="The budget of each run: evaluations (500ev) or simulated seconds (1e6s).")]
Processes = Annotated[int | None, typer.Option(min=1, show_default="all cores", help="The number of processes.")]
MethodPreset = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        show_default=False,
        help="Take each method's settings from a paper: nb101 or snb, see 'nasbed list presets'. --set wins over it.",
    ),
]
ModelPreset = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        show_default=False,
        help="Take the model's settings from the paper: table-6 or appendix-b, see 'nasbed list presets'. --set wins.",
    ),
]
MetricKey = Annotated[
    str | None,
    typer.Option("--metric", metavar="KEY", show_default="the validation metric", help="The metric to predict."),
]
Fidelity = Annotated[
    int | None, typer.Option(show_default="the highest", help="Use only evaluations at this fidelity.")
]
ScoresAndTables = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[SCORES TABLE]...",
        show_default="those that come with the package",
        help="A file of scores and the table with the true values (an id or a folder), once or several times.",
    ),
]
OtherTables = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[TABLE]...",
        show_default=False,
        help="Tables of the same architectures: ids from 'nasbed list benchmarks', or folders.",
    ),
]
TopPercent = Annotated[
    float, typer.Option(help="The share of truly best architectures that counts as the top, in per cent.")
]
TopWeight = Annotated[float, typer.Option(help="The weight of the top in rank-biased overlap, above 0 and below 1.")]


def check_report(out: Path, formats: Sequence[str]) -> None:
    """Raise for a format or a folder with which writing the report would fail at the end."""
    from nasbed.drawing.figures import check_formats

    check_formats(formats)
    check_folder(out, "a report goes")


def check_folder(folder: Path, what_goes: str, *, option: str = "--out") -> None:
    """Raise unless a folder exists or can be created: nothing on the way to it may be a file."""
    file = next((place for place in (folder, *folder.parents) if place.exists() and not place.is_dir()), None)
    if file is not None:
        raise InvalidOption(f"{what_goes} into a folder, {file} is a file; name another with {option}")
