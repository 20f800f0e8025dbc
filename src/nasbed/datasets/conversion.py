"""Convert published files to a dataset on disk, once; afterwards it is only opened."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from nasbed.core.download import download
from nasbed.core.errors import BadFile, InvalidOption
from nasbed.core.home import datasets_folder, downloads_folder
from nasbed.core.registry import Registry
from nasbed.core.unpack import ARCHIVES, unpacked
from nasbed.datasets import store
from nasbed.datasets.competition import read_competition
from nasbed.datasets.dataset import Dataset
from nasbed.datasets.resize import resized
from nasbed.datasets.source import DatasetSource, Progress, Raw

DATASETS = Registry[type[DatasetSource]]("dataset", group="nasbed.datasets")
DATASETS.add_entries(
    "nasbed.datasets",
    {
        "digits": "digits:Digits",
        "mnist": "mnist:Mnist",
        "fashion-mnist": "fashion_mnist:FashionMnist",
        "cifar10": "cifar10:Cifar10",
        "cifar100": "cifar100:Cifar100",
    },
)


def _no_progress(step: str, count: int, total: int | None) -> None:
    pass


def load(name: str) -> Dataset:
    """The prepared dataset of that name, mapped into memory.

    A dataset that needs no files is prepared on first use: ``digits``, and a smaller ``cifar10@16`` if there is
    ``cifar10``. Any other missing dataset raises, saying how to get it.
    """
    if store.is_stored(name):
        return store.read(name)
    base, side = store.name_and_side(name)
    if side is None or not store.is_stored(base):
        source = DATASETS.get(base)()
        if not source.embedded:
            raise BadFile(f"the images of {base} are not in {datasets_folder()}; get them with: {source.how()}")
    return prepare(name)


_ORIGINS = {"synthetic": "made from synthetic sources", "as-released": "made as the authors' scripts do"}


def prepare(
    name: str,
    source: Path | str | None = None,
    *,
    progress: Progress = _no_progress,
    say: Callable[[str], None] = lambda _: None,
) -> Dataset:
    """Convert a dataset and store it; an existing one is only opened.

    ``source`` is a folder with the published files, in it or a few folders down, or an archive of one. Without it, an
    operating system's package is looked for, then the files are downloaded where their checksums are known. A folder
    in the form of the Unseen Data competition can be given any name; one that is made from synthetic sources, a name
    with "synthetic" in it; one by the authors' scripts, a name with "as-released".
    """
    if store.is_stored(name):
        say(f"{name} exists already, made from {store.origin(name)}")
        return store.read(name)
    base, side = store.name_and_side(name)
    if side is not None:
        original = prepare(base, source, progress=progress, say=say)
        store.write(name, _smaller(original, side, name, progress), f"{base} with hash {original.hash}")
    elif base not in DATASETS and source is not None:
        with open_source(Path(source)) as folder:
            raw = read_competition(base, folder, progress)
        raw.check(str(source))
        _check_published_name(base, raw, source)
        for word in raw.words_of_name:
            if word not in base:
                raise InvalidOption(
                    f"{source} is {_ORIGINS[word]} and prepared under a name that says so, got {base}; call it "
                    f"{base}-{word}"
                )
        store.write(base, raw, Path(source).name + (", made from synthetic sources" if raw.synthetic else ""))
    else:
        _convert(DATASETS.get(base)(), source, progress, say)
    return store.read(name)


def _check_published_name(name: str, raw: Raw, source: Path | str) -> None:
    """Raise if a published unseen dataset of that name has images of another shape."""
    from nasbed.datasets.unseen import UNSEEN

    if name not in UNSEEN:
        return
    shape, own = UNSEEN.get(name)().shape, raw.train_images.shape[1:]
    if own != shape:
        expected, got = ("×".join(map(str, lengths)) for lengths in (shape, own))
        raise InvalidOption(f"images of {name} have {expected} pixels, those of {source} {got}; choose another name")


def _convert(
    source: DatasetSource, source_path: Path | str | None, progress: Progress, say: Callable[[str], None]
) -> None:
    if source_path is not None:
        path = Path(source_path)
    elif source.embedded:
        path = Path()
    else:
        path = _installed(source) or _downloaded(source, progress, say)
    with open_source(path) as folder:
        raw = source.read(folder, progress)
    source.check(raw, str(path) if not source.embedded else source.name)
    store.write(source.name, raw, "an installed package" if source.embedded else path.name)
    if source_path is None and path.is_relative_to(downloads_folder()):
        _remove(source)


def _installed(source: DatasetSource) -> Path | None:
    return next((Path(folder) for folder in source.folders if Path(folder).is_dir()), None)


def _downloaded(source: DatasetSource, progress: Progress, say: Callable[[str], None]) -> Path:
    """The folder of the downloaded files, or the one file that is an archive."""
    if not source.remotes:
        raise BadFile(f"{source.name} is not downloaded by a program: {source.how()}")
    folder = downloads_folder() / source.name
    for remote in source.remotes:

        def report(size: int, total: int | None, file: str = remote.file) -> None:
            progress(file, size, total)

        download(remote.url, folder / remote.file, sha256=remote.sha256, progress=report, say=say)
    only = source.remotes[0].file
    return folder / only if len(source.remotes) == 1 and only.endswith(ARCHIVES) else folder


def _remove(source: DatasetSource) -> None:
    folder = downloads_folder() / source.name
    for remote in source.remotes:
        (folder / remote.file).unlink(missing_ok=True)
    if not any(folder.iterdir()):
        folder.rmdir()


@contextmanager
def open_source(path: Path) -> Iterator[Path]:
    """The folder of a source, or the unpacked content of its archive."""
    if not path.exists():
        raise BadFile(f"the source {path} does not exist; check the path")
    with unpacked(path, datasets_folder()) as folder:
        if not folder.is_dir():
            raise BadFile(f"a source is a folder or an archive ({', '.join(ARCHIVES)}), {path} is neither")
        yield folder


def _smaller(original: Dataset, side: int, name: str, progress: Progress) -> Raw:
    count = len(original.train)
    total = count + len(original.test)
    raw = Raw(
        original.train.images,
        original.train.labels,
        original.test.images,
        original.test.labels,
        original.classes,
        original.published,
    )
    train = resized(raw.train_images, side, lambda resized_count: progress(name, resized_count, total))
    test = resized(raw.test_images, side, lambda resized_count: progress(name, count + resized_count, total))
    return replace(raw, train_images=train, test_images=test)
