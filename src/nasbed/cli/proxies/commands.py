"""``nasbed proxies …``: score untrained networks, and judge the scores."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nasbed.cli.proxies.evaluate import evaluate
from nasbed.core.errors import InvalidOption
from nasbed.terminal.former_options import former_options
from nasbed.terminal.interruption import on_interrupt
from nasbed.terminal.output import Json, print_json, print_table
from nasbed.terminal.progress import count_bar, note
from nasbed.terminal.report_options import check_folder
from nasbed.terminal.training_options import Device

if TYPE_CHECKING:
    from nasbed.core.architecture import Architecture
    from nasbed.proxies.table import ScoreTable

app = typer.Typer(help="Zero-cost proxies: score untrained networks, judge the scores.", no_args_is_help=True)

Out = Annotated[Path, typer.Option("--out", "-o", metavar="FILE.parquet", help="The file for the scores.")]
MOST_REASONS = 5


@app.command("list")
def list_(json: Json = False) -> None:
    """List the proxies with a description."""
    from nasbed.networks import check_torch
    from nasbed.proxies import PROXIES

    check_torch()
    proxies = {name: PROXIES.get(name) for name in PROXIES}
    if json:
        print_json([{"name": name, "summary": proxy.summary, "needs": proxy.needs} for name, proxy in proxies.items()])
    else:
        print_table(
            ("name", "what", "shares"), [(n, proxy.summary, ", ".join(proxy.needs)) for n, proxy in proxies.items()]
        )


@app.command()
@former_options({"--n": "--count"})
def score(
    out: Out,
    space: Annotated[
        str | None, typer.Option(help="Score random architectures of this space, from 'nasbed list spaces'.")
    ] = None,
    table: Annotated[
        str | None, typer.Option(metavar="BENCHMARK", help="Score the architectures of a table: an id or a folder.")
    ] = None,
    like: Annotated[
        Path | None, typer.Option(metavar="FILE.parquet", help="Score the architectures of another file of scores.")
    ] = None,
    architectures: Annotated[
        str, typer.Option(metavar="FILE|functions|all", help="With --space: score these, a file having one per line.")
    ] = "",
    dataset: Annotated[str, typer.Option(help="The dataset of the images, from: nasbed data list")] = "digits",
    proxies: Annotated[str, typer.Option(help="Comma-separated names from 'nasbed proxies list'.")] = "all",
    count: Annotated[
        int | None,
        typer.Option(
            "--count",
            "-n",
            min=1,
            show_default="1000; all of a table, file or list",
            help="The number of architectures.",
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="The number of seeds of weights and images: 0, 1, 2 …")] = 1,
    batch: Annotated[int, typer.Option(min=1, help="The number of images.")] = 64,
    recipe: Annotated[
        str,
        typer.Option(
            metavar="NAME|FILE", show_default="the space's usual network", help="Build networks by this recipe."
        ),
    ] = "",
    sample_seed: Annotated[int, typer.Option(min=0, help="The seed of the random architectures.")] = 0,
    device: Device = "auto",
    processes: Annotated[
        int | None, typer.Option(min=1, show_default="all cores", help="Number of parallel networks.")
    ] = None,
    timeout: Annotated[float | None, typer.Option(min=1, help="Timeout per network, in seconds.")] = None,
    json: Json = False,
) -> None:
    """Score untrained networks by zero-cost proxies. Needs torch.

    Each score is stored at once: the same command resumes after an interruption. It also adds seeds, architectures or
    proxies to an existing file.

    Example: nasbed proxies score --space nb201 --dataset cifar10 --count 1000 --seeds 3 --out scores.parquet

    Example: nasbed proxies score --table darts-cifar10-16 --dataset cifar10@16 --recipe collect-darts --out my.parquet
    """
    from nasbed.core.execution import LocalEngine, SerialEngine
    from nasbed.experiments.score_journal import journal_of
    from nasbed.experiments.scoring import score_architectures
    from nasbed.networks import check_torch
    from nasbed.proxies import PROXIES

    check_torch()
    check_folder(out.parent, "scores go")
    from nasbed.training.devices import chosen_device

    names = list(PROXIES) if proxies == "all" else _names(proxies)
    place = chosen_device(device)
    archs = _architectures(space, table, like, architectures, count, sample_seed)
    alone = processes == 1 or (processes is None and place.type == "cuda")
    engine = SerialEngine() if alone and timeout is None else LocalEngine(processes)
    on_interrupt(lambda: _scores_kept(journal_of(out)))
    with count_bar("Scoring networks") as report_count:
        scored = score_architectures(
            archs,
            dataset=dataset,
            proxies=names,
            out=out,
            seeds=range(seeds),
            batch=batch,
            recipe=recipe,
            device=str(place),
            engine=engine,
            timeout_s=timeout,
            progress=report_count,
            on_note=note,
        )
    _print_scores(scored, names, out, json)
    if not json:
        truth = table or "TABLE"
        typer.echo(f"\nJudge them: nasbed proxies evaluate {shlex.quote(str(out))} {shlex.quote(truth)}")


@app.command("import")
def import_(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="zc_SPACE.json, or a .csv or .parquet table.")],
    out: Out,
    space: Annotated[
        str, typer.Option(show_default="as zc_SPACE.json says", help="The space of the architectures.")
    ] = "",
    dataset: Annotated[
        str, typer.Option(help="The dataset to read from a JSON file, or the one whose images were scored.")
    ] = "",
    architecture: Annotated[
        str,
        typer.Option(
            metavar="COLUMN", show_default="architecture, arch_str or arch", help="The column of the architectures."
        ),
    ] = "",
    proxies: Annotated[
        str, typer.Option(show_default="all that nasbed has", help="Comma-separated columns to import.")
    ] = "",
    negate: Annotated[
        str, typer.Option(help="Comma-separated columns in which lower is better; their sign is changed.")
    ] = "",
    source: Annotated[str, typer.Option(help="The publication of the scores.")] = "",
    json: Json = False,
) -> None:
    """Convert published scores: NAS-Bench-Suite-Zero's JSON files as they are, or a table with one column per proxy.

    Architectures are texts as their space writes them, or tuples in NASLib's numbering: "(4, 0, 3, 1, 4, 3)".
    Whatever is not imported is listed.

    Example: nasbed proxies import zc_nasbench201.json --dataset cifar10 --out published.parquet

    Example: nasbed proxies import scores.csv --space nb201 --negate ntk --out published.parquet
    """
    from nasbed.proxies.score_files.published import published_scores
    from nasbed.proxies.table import check_suffix

    check_suffix(out)
    check_folder(out.parent, "scores go")
    scored = published_scores(
        path,
        searched=space,
        dataset=dataset,
        column=architecture,
        proxies=_names(proxies),
        negated=_names(negate),
        source=source,
        on_note=note,
    )
    scored.write(out)
    _print_scores(scored, scored.proxies, out, json)


@app.command()
def join(
    scores: Annotated[
        Path, typer.Argument(metavar="FILE.parquet", help="A file of scores, or an embedded one's name.")
    ],
    others: Annotated[Path, typer.Argument(metavar="OTHER.parquet", help="Scores of the same architectures.")],
    out: Out,
    json: Json = False,
) -> None:
    """Put the proxies of two files side by side, such as published ones and yours, for the architectures of both.

    A proxy that both have is the first file's.

    Example: nasbed proxies join published.parquet nb201-cifar10 --out all.parquet
    """
    from nasbed.proxies.score_files.joining import joined_scores
    from nasbed.proxies.table import check_suffix, open_scores

    check_suffix(out)
    check_folder(out.parent, "scores go")
    joined = joined_scores(open_scores(scores), open_scores(others))
    joined.write(out)
    _print_scores(joined, joined.proxies, out, json)


@app.command()
def compare(
    scores: Annotated[Path, typer.Argument(metavar="FILE.parquet", help="A file of scores.")],
    reference: Annotated[Path, typer.Argument(metavar="OTHER.parquet", help="Scores of the same architectures.")],
    json: Json = False,
) -> None:
    """Print how well two files of scores agree, proxy by proxy, such as yours and published ones.

    The correlation is Spearman's, of mean scores over seeds. "Between seeds" is how well a file agrees with itself: an
    upper limit for another implementation.

    Example: nasbed proxies compare scores.parquet published.parquet
    """
    from dataclasses import asdict
    from math import isfinite

    from nasbed.drawing.number_texts import fixed
    from nasbed.evaluation.proxies.agreement import agreements
    from nasbed.proxies.table import open_scores

    rows_of_proxies = agreements(open_scores(scores), open_scores(reference))
    if json:
        plain = [asdict(agreement) for agreement in rows_of_proxies]
        print_json(
            [{k: None if isinstance(v, float) and not isfinite(v) else v for k, v in row.items()} for row in plain]
        )
        return

    rows = [
        (
            agreement.proxy,
            agreement.count,
            "equal" if agreement.equal else fixed(agreement.correlation, 3),
            fixed(agreement.own, 3),
            fixed(agreement.other_own, 3),
        )
        for agreement in rows_of_proxies
    ]
    print_table(
        ("proxy", "architectures", "agreement", f"{scores.stem}, between seeds", f"{reference.stem}, between seeds"),
        rows,
    )


app.command()(evaluate)


def _scores_kept(journal: Path) -> str:
    if not journal.exists():
        return "nothing was scored; run the same command again"
    return f"the scores so far are kept in {journal}; the same command resumes from there"


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _architectures(
    name: str | None, table: str | None, like: Path | None, listing: str, count: int | None, seed: int
) -> list[Architecture]:
    """The architectures to score. A space without a list gives random ones.

    Args:
        name: of a space.
        table: an id or a folder.
        like: a file of scores.
        listing: of architectures of the space.
        count: how many, drawn at random; without it, 1000 of a space, all of a table, a file or a list.
        seed: of what is drawn.
    """
    import numpy as np

    from nasbed.benchmarks.catalog import load_table
    from nasbed.experiments.architecture_lists import listed_architectures
    from nasbed.experiments.scoring import drawn_rows, random_architectures
    from nasbed.proxies.table import open_scores
    from nasbed.spaces import space

    if sum(option is not None for option in (name, table, like)) != 1:
        raise InvalidOption("architectures come from --space, --table or --like; give exactly one")
    if listing and name is None:
        raise InvalidOption("--architectures are of a space; give it with --space")
    rng = np.random.default_rng(seed)
    if name is not None and listing:
        searched = space(name)
        codes = searched.codes(listed_architectures(listing, searched, option="--architectures"))
    elif name is not None:
        return random_architectures(space(name), 1000 if count is None else count, rng)
    elif like is not None:
        scored = open_scores(like)
        searched, codes = scored.space, scored.codes
    else:
        assert table is not None
        benchmark = load_table(table, rule="a table lists architectures", remedy="score random ones with --space")
        searched, codes = benchmark.space, benchmark.cache.codes
    return searched.architectures(drawn_rows(codes, count, rng))


def _print_scores(scored: ScoreTable, names: Sequence[str], out: Path, json: bool) -> None:
    """A line per proxy: how many networks have a score, its range, and the time per network."""
    import numpy as np

    rows: list[tuple[object, ...]] = []
    for name in names:
        values = scored.of(name)
        finite = values[np.isfinite(values)]
        seconds = scored.seconds.get(name)
        middle, low, high = (
            (float(np.median(finite)), float(finite.min()), float(finite.max())) if len(finite) else (None, None, None)
        )
        timed = None if seconds is None or np.isnan(seconds).all() else float(np.nanmedian(seconds))
        rows.append((name, len(finite), values.size - len(finite), low, middle, high, timed))
    titles = ("proxy", "scored", "without", "lowest", "median", "highest", "seconds")
    if json:
        print_json({"file": str(out), "proxies": [dict(zip(titles, row, strict=True)) for row in rows]})
        return
    print_table(titles, [[_short(cell) for cell in row] for row in rows])
    reasons = scored.reasons().most_common()
    for reason, times in reasons[:MOST_REASONS]:
        note(f"no score, {times} times: {reason}")
    if len(reasons) > MOST_REASONS:
        note(f"and {len(reasons) - MOST_REASONS} more reasons, in the column no_score")
    seeds = f"{len(scored.seeds)} seed{'s' if len(scored.seeds) > 1 else ''}"
    typer.echo(f"\n{out}: {len(scored)} architectures of {scored.about.space}, {seeds}")


def _short(cell: object) -> object:
    from nasbed.drawing.number_texts import MISSING, digits

    return MISSING if cell is None else digits(cell) if isinstance(cell, float) else cell
