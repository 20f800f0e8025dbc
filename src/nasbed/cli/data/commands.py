"""``nasbed data …``: make image datasets from published files, and inspect them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nasbed.cli.data.baseline import baseline
from nasbed.cli.data.check import check
from nasbed.cli.data.make import make
from nasbed.cli.data.verify import verify
from nasbed.terminal.interruption import on_interrupt
from nasbed.terminal.output import Json, print_fields, print_json, print_table
from nasbed.terminal.progress import note, row_bars

if TYPE_CHECKING:
    from nasbed.datasets import Dataset

app = typer.Typer(help="Image datasets: prepare published ones, make unseen ones, check them.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="A name from: nasbed data list. NAME@16 is 16×16 pixels.")]


@app.command()
def prepare(
    name: Name,
    source: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR|FILE", help="The published files, a folder or an archive. Without it, they are downloaded."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Convert a dataset once, so that it opens in milliseconds from then on.

    It is kept in the folder NASBED_HOME, or else in the user's data folder.

    Example: nasbed data prepare digits

    Example: nasbed data prepare cifar10 --source cifar-10-python.tar.gz

    Example: nasbed data prepare cifar10@16

    Example: nasbed data prepare addnist --source AddNIST
    """
    from nasbed import datasets

    on_interrupt(lambda: "no dataset was written, downloads are kept; run the same command again")
    with row_bars() as report_progress:
        dataset = datasets.prepare(name, source, progress=report_progress, say=note)
    _print(dataset, json)


@app.command("list")
def list_(json: Json = False) -> None:
    """List the datasets: what they are, whether they are installed, and how to get them.

    Example: nasbed data list
    """
    from nasbed.datasets import DATASETS
    from nasbed.datasets.store import stored_names

    installed_names = stored_names()
    entries: list[dict[str, Any]] = []
    for name in DATASETS:
        source = DATASETS.get(name)()
        entries.append(
            {
                "name": name,
                "what": source.title,
                "train": source.counts[0],
                "test": source.counts[1],
                "shape": list(source.shape),
                "classes": len(source.classes),
                "present": name in installed_names,
                "get": source.how(),
            }
        )
    for name in installed_names:
        if name not in DATASETS:
            fields = _description(name)
            fields |= {"what": f"made from {fields['made from']}", "classes": len(fields["classes"])}
            entries.append({key: fields[key] for key in ("name", "what", "train", "test", "shape", "classes")})
            entries[-1] |= {"present": True, "get": ""}
    if json:
        print_json(entries)
    else:
        rows = [
            (
                *(row[key] for key in ("name", "what", "train", "test")),
                "×".join(map(str, row["shape"])),
                row["classes"],
                "present" if row["present"] else row["get"],
            )
            for row in entries
        ]
        print_table(("name", "what", "train", "test", "shape", "classes", "how to get it"), rows)


@app.command()
def info(
    name: Name,
    verify: Annotated[bool, typer.Option("--verify", help="Check every byte against its SHA-256 first.")] = False,
    json: Json = False,
) -> None:
    """Print what a dataset holds: shapes, classes, images per class, mean and deviation, hash.

    Example: nasbed data info digits

    Example: nasbed data info cifar10 --verify
    """
    from nasbed import datasets
    from nasbed.datasets.store import verify as check_bytes

    dataset = datasets.load(name)
    if verify:
        check_bytes(name)
    _print(dataset, json)


@app.command()
def unseen(json: Json = False) -> None:
    """List the unseen datasets and what they are made from, and the families that make new ones.

    Example: nasbed data unseen
    """
    from nasbed.datasets.unseen import FAMILIES, UNSEEN

    datasets = [UNSEEN.get(name)() for name in UNSEEN]
    if json:
        keys = ("name", "title", "kind", "shape", "counts", "classes", "benchmark", "rule", "needs")
        print_json([{key: getattr(dataset, key) for key in keys} for dataset in datasets])
    else:
        rows = [
            (dataset.name, "×".join(map(str, dataset.shape)), len(dataset.classes), dataset.rule, dataset.needs)
            for dataset in datasets
        ]
        print_table(("name", "shape", "classes", "rule", "made from"), rows)
        typer.echo("\nFamilies, which make new ones with parameters; see nasbed data make FAMILY --describe:\n")
        families = [FAMILIES.get(name)() for name in FAMILIES]
        parameters = [", ".join(parameter.key for parameter in family.parameters) for family in families]
        print_table(
            ("family", "by default", "parameters"),
            [(family.name, family.rule, keys) for family, keys in zip(families, parameters, strict=True)],
        )


app.command()(make)
app.command()(verify)
app.command()(check)
app.command()(baseline)


def _print(dataset: Dataset, json: bool) -> None:
    fields = _description(dataset.name)
    if json:
        print_json(fields)
    else:
        lists = {key: ", ".join(map(str, value)) for key, value in fields.items() if isinstance(value, list)}
        print_fields(fields | lists)


def _description(name: str) -> dict[str, Any]:
    import numpy as np

    from nasbed.datasets import load
    from nasbed.datasets.store import dataset_folder, origin

    dataset = load(name)
    count = len(dataset.classes)
    return {
        "name": dataset.name,
        "shape": list(dataset.shape),
        "values": str(dataset.train.images.dtype),
        "train": len(dataset.train),
        "test": len(dataset.test),
        "classes": list(dataset.classes),
        "train images a class": np.bincount(dataset.train.labels, minlength=count).tolist(),
        "test images a class": np.bincount(dataset.test.labels, minlength=count).tolist(),
        "mean": [round(value, 6) for value in dataset.mean],
        "std": [round(value, 6) for value in dataset.std],
        "hash": dataset.hash,
        "made from": origin(name),
        "folder": str(dataset_folder(name)),
    }
