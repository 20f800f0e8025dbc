"""One explorer of the embedded benchmarks for all tests of its API."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from nasbed.explorer.catalogue import Catalogue
from support.explorers import Explorer, serving

TABLE = "nb201-cifar10-16-v1.0"


@pytest.fixture(scope="session")
def explorer() -> Iterator[Explorer]:
    """The embedded benchmarks; overviews of surrogates are small, as it takes seconds to predict large ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nasbed.explorer.sample.SAMPLE", 60)
        patch.setattr("nasbed.explorer.sample.MOST_DRAWS", 60)
        patch.setattr("nasbed.explorer.sample.MOST_FITTED", 20)
        with serving(Catalogue(TABLE)) as running:
            yield running
