"""NAS-Bench-301's ``download_models``."""

from __future__ import annotations

import sys
from pathlib import Path

from nasbed.compat.nasbench301._stand_in import HOW_TO_STAND_IN, VARIABLE, stand_in
from nasbed.core.download import download
from nasbed.core.errors import DownloadFailed, InvalidOption, shorten
from nasbed.core.unpack import unpacked

URLS = {
    "0.9": "https://ndownloader.figshare.com/files/24693026",
    "1.0": "https://ndownloader.figshare.com/files/24992018",
}
"""Where the published package downloads the models of each version from."""


def download_models(version: str, delete_zip: bool = True, download_dir: str | Path | None = None) -> None:
    """Download the published models of a version to ``nb_models_VERSION`` in ``download_dir``, by default the current
    folder. No checksum was published, so that the file is not checked; nothing in it is ever run.

    Models that are there are kept. Where :data:`VARIABLE` names a surrogate of nasbed, that one answers instead.
    """
    if version not in URLS:
        raise InvalidOption(f"the published models have the versions {', '.join(URLS)}, got {shorten(version)}")
    folder = Path.cwd() if download_dir is None else Path(download_dir)
    models, archive = folder / f"nb_models_{version}", folder / f"models_{version}.zip"
    if models.exists():
        print(f"Models {version} already at {models}")
        return
    if (name := stand_in()) is not None:
        print(f"nasbed: {VARIABLE} is {name}, so that nothing is downloaded to {models}", file=sys.stderr)
        return
    print(f"Downloading models {version} from {URLS[version]} to {archive}")
    try:
        download(URLS[version], archive, sha256=None)
    except DownloadFailed as error:
        raise DownloadFailed(
            f"the published models cannot be downloaded: {error}; unpack {URLS[version]} as {models} by hand, or "
            f"{HOW_TO_STAND_IN}"
        ) from None
    with unpacked(archive, folder) as inside:
        inside.rename(models)
        inside.mkdir()  # which is removed at the end
    if delete_zip:
        archive.unlink()


__all__ = ["download_models"]
