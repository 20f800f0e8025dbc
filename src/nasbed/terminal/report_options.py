"""Options and checks shared by commands that write a report or other files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from nasbed.core.errors import InvalidOption
from nasbed.terminal.progress import note

Out = Annotated[Path, typer.Option("--out", "-o", help="The folder for report.html and numbers.json.")]
OptionalOut = Annotated[Path | None, typer.Option("--out", "-o", help="A folder for report.html and numbers.json.")]
Figures = Annotated[
    bool,
    typer.Option("--figures", help="Also write each figure as a file, figures/NAME.svg and figures/NAME.pdf."),
]
Formats = Annotated[
    list[str] | None,
    typer.Option(
        "--format",
        show_default="with --figures, svg and pdf",
        help="Write figures in this format: svg, png or pdf; may be given several times.",
    ),
]
CurveCentre = Annotated[
    str,
    typer.Option(
        metavar="median|mean",
        help="What regret curves show of all seeds: the median with quartiles, or the mean with its 95 % interval, as "
        "NAS-Bench-101's figure 7 has means. Tables have both.",
    ),
]
Searched = Annotated[
    str, typer.Argument(metavar="[BENCHMARK]", help="An id from 'nasbed list benchmarks', or a folder.")
]
DEFAULT_BENCHMARK = "nb201-cifar10-16-v1.0"
"""A complete table that comes with the package: it needs no extra and no download."""
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
SearchPreset = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        show_default=False,
        help="Take the method's search and training from its own paper: paper, see 'nasbed list presets paper'. Other "
        "options win over it.",
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
        show_default=False,
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


def chosen_centre(text: str) -> Literal["median", "mean"]:
    """What curves show of all seeds, from the text of ``--centre``."""
    if text == "median":
        return "median"
    if text == "mean":
        return "mean"
    raise InvalidOption(f"--centre is median or mean, got {text!r}; choose one of them")


def report_formats(out: Path, figures: bool, formats: Sequence[str] | None) -> tuple[str, ...]:
    """The formats of a report's figure files: none, unless the user wants some.

    Raises for a format or a folder with which writing the report would fail at the end.

    Args:
        out: the folder of the report.
        figures: whether ``--figures`` was given.
        formats: those of ``--format``, which also ask for files.
    """
    from nasbed.drawing.figures import DEFAULT_FORMATS, FIGURES_FOLDER, check_formats

    check_folder(out, "a report goes")
    chosen = tuple(dict.fromkeys(formats or ())) or (DEFAULT_FORMATS if figures else ())
    check_formats(chosen)
    if not chosen and (out / FIGURES_FOLDER).is_dir():
        note(f"{out / FIGURES_FOLDER} is of an earlier report; draw it again with --figures")
    return chosen


def check_folder(folder: Path, what_goes: str, *, option: str = "--out") -> None:
    """Raise unless a folder exists or can be created: nothing on the way to it may be a file."""
    file = next((place for place in (folder, *folder.parents) if place.exists() and not place.is_dir()), None)
    if file is not None:
        raise InvalidOption(f"{what_goes} into a folder, {file} is a file; name another with {option}")
