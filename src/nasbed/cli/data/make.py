"""``nasbed data make``: make a published unseen dataset, or a new one of a family."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nasbed.core.errors import InvalidOption, UnknownName, nearest
from nasbed.terminal.interruption import NOTHING_KEPT, on_interrupt
from nasbed.terminal.output import Json, print_fields, print_json, print_table
from nasbed.terminal.progress import note, row_bars
from nasbed.terminal.report_options import check_folder
from nasbed.terminal.settings import settings_by_key

if TYPE_CHECKING:
    from nasbed.datasets.unseen import DatasetFamily


Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="A published dataset: addnist, language, multnist, cifartile, gutenberg, isabella, geoclassing, "
        "chesseract. Or a family, for a new one: channels, tiles, words, phrases, chess.",
    ),
]
Out = Annotated[Path | None, typer.Option("--out", "-o", metavar="DIR", help="The new folder for the dataset.")]
SourceData = Annotated[
    Path | None, typer.Option(metavar="DIR|FILE", help="The source data; 'nasbed data unseen' lists what is needed.")
]
SEED_HELP = "The seed of the images. The hashes of seed 0 are published."
Seed = Annotated[int | None, typer.Option(min=0, show_default="0; of a family, a secret one", help=SEED_HELP)]
SET_HELP = "A parameter of a family; may be given several times. See --describe."
Settings = Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help=SET_HELP)]
Describe = Annotated[bool, typer.Option("--describe", help="Print a family's parameters; nothing is made.")]
Codename = Annotated[str | None, typer.Option("--name", show_default="drawn", help="A new dataset's opaque name.")]
GENUINE_HELP = (
    "You vouch that the source is the published material (isabella, geoclassing). Otherwise the dataset says that it "
    "is made from synthetic sources."
)
Genuine = Annotated[bool, typer.Option("--genuine", help=GENUINE_HELP)]
RELEASED_HELP = (
    "Follow the authors' scripts where they differ from what nasbed decided (addnist, multnist, cifartile, language, "
    "gutenberg)."
)
AsReleased = Annotated[bool, typer.Option("--as-released", help=RELEASED_HELP)]


def make(
    name: Name,
    out: Out = None,
    source: SourceData = None,
    seed: Seed = None,
    set_: Settings = None,
    describe: Describe = False,
    codename: Codename = None,
    genuine: Genuine = False,
    as_released: AsReleased = False,
    json: Json = False,
) -> None:
    """Make one of the eight unseen datasets, or a new one that nobody has seen, in the competition's format.

    A published one: the same source and seed give the same bytes. Then run: nasbed data prepare NAME --source DIR

    A new one of a family goes into DIR in three parts: the dataset under an opaque name; commitment.json to publish at
    once, which lists the files that contestants get; the folder secret, whose reveal.json is published after the
    challenge. 'nasbed data verify' compares them.

    Example: nasbed data make addnist --out AddNIST

    Example: nasbed data make gutenberg --source books/ --out Gutenberg

    Example: nasbed data make channels --describe

    Example: nasbed data make channels --set digits=4 --set rule=alternating-modulo --set modulus=7 --out challenge
    """
    from nasbed.datasets.unseen import FAMILIES, UNSEEN

    if name in FAMILIES:
        if genuine or as_released:
            raise InvalidOption("--genuine and --as-released are for published datasets; omit them for a family")
        family = FAMILIES.get(name)
        if describe:
            _describe(family, json=json)
        else:
            _make_new(family(**settings_by_key(set_ or ())), out, source, codename, seed, json=json)
        return
    if name not in UNSEEN:
        raise UnknownName(f"no unseen dataset or family is called {name!r}; {nearest(name, [*UNSEEN, *FAMILIES])}")
    if describe or set_ or codename is not None:
        raise InvalidOption(
            f"--set, --name and --describe are for families ({', '.join(FAMILIES)}), got {name}; name one of them"
        )
    _make_published(name, out, source, seed or 0, genuine=genuine, as_released=as_released, json=json)


def _make_published(
    name: str, out: Path | None, source: Path | None, seed: int, *, genuine: bool, as_released: bool, json: bool
) -> None:
    from nasbed.datasets.unseen import UNSEEN
    from nasbed.datasets.unseen.export import write_unseen
    from nasbed.datasets.unseen.provenance import substitute_note

    folder = _new_folder(out)
    dataset = UNSEEN.get(name)()
    if as_released:
        dataset = dataset.as_released()
    with row_bars() as report_progress:
        result = dataset.make(source, seed=seed, progress=report_progress, genuine=genuine)
        digests = write_unseen(dataset, result, folder, seed=seed, progress=report_progress)
    substitute = substitute_note(dataset, result)
    if json:
        print_json({"folder": str(folder), "sha256": digests, "synthetic": bool(substitute)})
        return
    print_fields({"folder": folder, "look at": folder / "preview.png", **digests})
    for line in (*filter(None, (substitute, dataset.difference)), *result.notes):
        note(line)
    prepared = "-".join([name, *["as-released"] * as_released, *["synthetic"] * bool(substitute)])
    typer.echo(f"\nCheck it: nasbed data check {folder}\nUse it: nasbed data prepare {prepared} --source {folder}")


def _make_new(
    generator: DatasetFamily,
    out: Path | None,
    source: Path | None,
    codename: str | None,
    seed: int | None,
    *,
    json: bool,
) -> None:
    from nasbed.datasets.unseen.new_dataset import GUESSABLE, drawn_name, drawn_seed, make_new

    folder = _new_folder(out)
    with row_bars() as report_progress:
        new = make_new(
            generator,
            source,
            folder,
            name=drawn_name() if codename is None else codename,
            seed=drawn_seed() if seed is None else seed,
            progress=report_progress,
        )
    if seed is not None and seed < GUESSABLE:
        note(f"The seed {seed} can be guessed, and with it the dataset; omit --seed to have a secret one drawn.")
    places = {"dataset": new.folder, "publish now": new.commitment, "keep secret": new.secret}
    if json:
        print_json({key: str(path) for key, path in places.items()})
        return
    print_fields({**places, "look at": new.secret / "preview.png"})
    for line in new.notes:
        note(line)
    reveal = new.secret / "reveal.json"
    typer.echo(
        f"\nCheck it: nasbed data check {new.folder}\n"
        f"Contestants get the files that {new.commitment} lists, and no others.\n"
        f"After the challenge, publish {reveal}; anybody can then run:\n"
        f"nasbed data verify {new.commitment} --data {new.folder} --reveal {reveal} --remake"
    )


def _new_folder(out: Path | None) -> Path:
    """The folder of ``--out``, which does not exist yet."""
    from nasbed.datasets.unseen.export import check_new

    if out is None:
        raise InvalidOption("a dataset is written to a new folder; name it with --out")
    check_new(out)
    check_folder(out.parent, "a dataset goes")
    on_interrupt(lambda: NOTHING_KEPT)
    return out


def _describe(family: type[DatasetFamily], *, json: bool) -> None:
    """Print what a family's parameters are, its default rule, and the published datasets that are presets of it."""
    from nasbed.datasets.unseen import UNSEEN
    from nasbed.datasets.unseen.families.parameters import NamedChoice

    presets = {name: dict(kind.preset) for name in UNSEEN if issubclass(kind := UNSEEN.get(name), family)}
    default = family()
    rows = [(item.key, item.default_text, item.allowed, item.meaning) for item in family.parameters]
    if json:
        keys = ("key", "default", "allowed", "meaning")
        parameters = [dict(zip(keys, row, strict=True)) for row in rows]
        print_json({"family": family.name, "rule": default.rule, "parameters": parameters, "published": presets})
        return
    typer.echo(f"{default.rule}\nMade from: {default.needs}\n")
    print_table(("parameter", "default", "allowed", "meaning"), rows)
    for choice in (item for item in family.parameters if isinstance(item, NamedChoice)):
        typer.echo("")
        print_table((choice.key, "meaning"), list(choice.options.items()))
    typer.echo("")
    for name, preset in presets.items():
        changes = " ".join(f"{key}={value}" for key, value in preset.items()) or "the defaults"
        typer.echo(f"Published: {name} is {changes}")
