"""``nasbed fetch``: get a published file and make tables of it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nasbed.cli.import_ import TablesFolder, print_written
from nasbed.core.errors import BadFile, DownloadFailed, InvalidOption
from nasbed.terminal.interruption import on_interrupt
from nasbed.terminal.output import Json, print_json, print_table
from nasbed.terminal.progress import byte_bar, note, row_bars
from nasbed.terminal.report_options import check_folder

if TYPE_CHECKING:
    from nasbed.results import Results
    from nasbed.results.sources import Source


def fetch(
    id: Annotated[
        str | None,
        typer.Argument(
            metavar="ID|FILE.tar.gz|URL",
            help="A file from 'nasbed fetch --list', or a release by 'nasbed release', by path or address.",
            show_default=False,
        ),
    ] = None,
    out: TablesFolder = None,
    sha256: Annotated[
        str | None, typer.Option(metavar="HEX", help="The expected SHA-256, if the list has none.")
    ] = None,
    unverified: Annotated[
        bool, typer.Option("--unverified", help="Accept the file without checking its SHA-256.")
    ] = False,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the downloaded file after its tables are made.")] = False,
    url: Annotated[str | None, typer.Option(metavar="MIRROR", help="Download from this address instead.")] = None,
    list_files: Annotated[bool, typer.Option("--list", help="List the files that can be fetched.")] = False,
    json: Json = False,
) -> None:
    """Download a published file, check it, and make tables of it; or install a release, its tables and surrogates. An
    interrupted download resumes.

    Files and tables are kept in the folder NASBED_HOME, or else in the user's data folder.

    Example: nasbed fetch --list

    Example: nasbed fetch nb101-108

    Example: nasbed fetch nb301 --unverified --keep

    Example: nasbed fetch my-benchmarks-v1.0.tar.gz
    """
    if list_files:
        _list_files(json)
        return
    if id is None:
        raise InvalidOption("a fetch needs the id of a published file; list them with: nasbed fetch --list")
    if id.endswith(".tar.gz"):
        if out is not None or url is not None:
            raise InvalidOption("a release goes into NASBED_HOME and has its own address; leave out --out and --url")
        _install(id, sha256, unverified=unverified, keep=keep, json=json)
        return
    from nasbed.results.sources import SOURCES

    source = SOURCES.get(id)
    if out is not None:
        check_folder(out, "tables go")
    address = url or _address(source)
    expected = _expected_sha256(source, sha256, unverified)
    on_interrupt(lambda: "the downloaded part is kept; the same command resumes it")
    tables = _fetch(source, address, expected, out, keep)
    print_written(tables, json)


def _install(place: str, sha256: str | None, *, unverified: bool, keep: bool, json: bool) -> None:
    """Install a release from a file, or from an address after downloading it."""
    from nasbed.core.download import download
    from nasbed.core.files import file_sha256
    from nasbed.core.home import downloads_folder, home
    from nasbed.core.locks import reading
    from nasbed.experiments.release_archive import install_archive

    if "://" in place:
        if sha256 is None and not unverified:
            raise InvalidOption(
                "the SHA-256 of a release is given with --sha256, as 'nasbed release' prints it; or accept the file "
                "unchecked with --unverified"
            )
        path = downloads_folder() / place.rsplit("/", 1)[1]
        on_interrupt(lambda: "the downloaded part is kept; the same command resumes it")
        with byte_bar(f"Fetching {path.name}") as report_bytes:
            download(place, path, sha256=sha256, progress=report_bytes, say=note)
    else:
        path = Path(place)
        if not path.is_file():
            raise BadFile(f"{path} is not a file; check the path")
        if sha256 is not None and file_sha256(path) != sha256:
            raise BadFile(f"{path} has SHA-256 {file_sha256(path)}, expected {sha256}; get it again")
    with reading(path) as remove:
        try:
            parts = install_archive(path, home(), note)
        finally:
            if "://" in place and not keep:
                remove()
    if json:
        print_json([{"name": part.name, "path": str(part.path), "new": part.is_new} for part in parts])
        return
    for part in parts:
        typer.echo(f"{part.name}: {'installed in' if part.is_new else 'was already in'} {part.path}")


def _fetch(source: Source, address: str, sha256: str | None, out: Path | None, keep: bool) -> list[Results]:
    from nasbed.core.download import download
    from nasbed.core.home import downloads_folder
    from nasbed.results.importers import IMPORTERS

    IMPORTERS.get(source.format)  # a format that is not there is better noticed before hours of download
    path = downloads_folder() / source.file
    while True:
        with byte_bar(f"Fetching {source.file}") as report_bytes:
            download(address, path, sha256=sha256, progress=report_bytes, say=note)
        try:
            return _import(source, path, out, keep=keep, trusted=sha256 is not None)
        except FileNotFoundError:
            if path.exists():
                raise
            note(f"another process has removed {path.name} after use; fetching it again")


def _import(source: Source, path: Path, out: Path | None, *, keep: bool, trusted: bool) -> list[Results]:
    from nasbed.core.home import tables_folder
    from nasbed.core.locks import reading
    from nasbed.results.importing import import_tables

    with reading(path) as remove:
        try:
            with row_bars() as rows:
                tables = import_tables(source.format, path, out or tables_folder(), source.options, rows)
        except BadFile:
            if not trusted:
                remove()  # whatever it is, it would be found here and taken for the file next time
            raise
        if not keep:
            remove()
    return tables


def _address(source: Source) -> str:
    if source.url is None:
        raise DownloadFailed(
            f"{source.id} cannot be downloaded automatically; download {source.file} from {source.page} yourself, "
            "then run: "
            f"nasbed import {source.format} {source.file}"
        )
    return source.url


def _expected_sha256(source: Source, sha256: str | None, unverified: bool) -> str | None:
    """The SHA-256 that the file must have; ``None`` only if the user said so."""
    if sha256 and unverified:
        raise InvalidOption("a file is either checked or not: give either --sha256 or --unverified")
    if unverified:
        return None
    if sha256 or source.sha256:
        return sha256 or source.sha256
    raise InvalidOption(
        f"the SHA-256 of {source.file} is not known here; give it with --sha256, or accept the file unchecked with "
        "--unverified"
    )


def _list_files(json: bool) -> None:
    from nasbed.results.sources import SOURCES

    sources = [SOURCES.get(name) for name in SOURCES]
    if json:
        print_json([asdict(source) for source in sources])
        return
    rows = [(source.id, source.title, _megabytes(source), _way_to_fetch(source), source.licence) for source in sources]
    print_table(("id", "what", "size", "how it is fetched", "licence"), rows)


def _megabytes(source: Source) -> str:
    return f"{source.bytes / 1e6:,.0f} MB".replace(",", " ") if source.bytes else "?"


def _way_to_fetch(source: Source) -> str:
    if source.url is None:
        return "by hand"
    return "checked" if source.sha256 else "--sha256 or --unverified"
