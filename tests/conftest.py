"""What tests of every part share."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import typer.main
import typer.testing
from hypothesis import settings

from support.examples import THOROUGH, USUAL
from support.figures import Rendering
from support.rewriting import rewrite_share

if TYPE_CHECKING:
    from support.explorers import Explorer

gc.disable()  # until all tests are collected: see pytest_collection_finish
os.environ.setdefault(
    "OMP_NUM_THREADS", "1"
)  # the suite runs one process a core; threads on top only wait for each other
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a shell's background: tests interrupt what they start
    signal.signal(signal.SIGINT, signal.default_int_handler)
typer.main.get_command = typer.testing._get_command = cache(typer.main.get_command)  # type: ignore[attr-defined]
"""The commands of nasbed are built from their functions once, not for each of the calls that tests make."""
settings.register_profile("nasbed", deadline=None, max_examples=USUAL)
settings.register_profile("thorough", deadline=None, max_examples=THOROUGH)


RENDERING = Rendering()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--thorough",
        action="store_true",
        help="Repeat more: 20 moments to kill at, 10 000 damaged files, 1 000 networks, 200 examples, all figures.",
    )


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("thorough" if config.getoption("--thorough") else "nasbed")
    RENDERING.cache = getattr(config, "cache", None)


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    rewrite_share(session.config)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the repetitions that are marked thorough, unless they are asked for."""
    if not config.getoption("--thorough"):
        extra = [item for item in items if item.get_closest_marker("thorough")]
        config.hook.pytest_deselected(items=extra)
        items[:] = [item for item in items if not item.get_closest_marker("thorough")]


def pytest_collection_finish() -> None:
    """What the collected modules brought in stays for the whole run: to search it for garbage is a tenth of the time."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Figures are placeholders except in tests marked figures or browser; set before any fixture draws one."""
    marked = any(item.get_closest_marker(name) for name in ("figures", "browser"))
    RENDERING.switch(real=marked or item.config.getoption("--thorough"))


@pytest.fixture(scope="session")
def thorough(request: pytest.FixtureRequest) -> bool:
    """Whether tests that draw moments to kill at, files to damage or networks to build draw many more of them."""
    return bool(request.config.getoption("--thorough"))


@pytest.fixture(scope="session", autouse=True)
def _home_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> None:
    """No test reads or writes the tables of the user who runs it."""
    os.environ["NASBED_HOME"] = str(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="session")
def published_data() -> Callable[[str], Path]:
    """Finds a file of published results; the test is skipped where there is none.

    The folder is the environment variable NASBED_TEST_DATA, or shared/data beside the repository.
    """
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("NASBED_TEST_DATA", beside))

    def find(name: str) -> Path:
        path = folder / name
        if not path.is_file():
            pytest.skip(f"needs the published results {name}, not in {folder}; set NASBED_TEST_DATA to their folder")
        return path

    return find


@pytest.fixture(scope="session")
def small_suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two methods of a user's own in files, and runs of these, rs and ls on a small suite in ``runs``."""
    from support.suite_runs import run_small, write_methods

    folder = tmp_path_factory.mktemp("small")
    run_small(folder / "runs", ["rs", "ls", *write_methods(folder)])
    return folder


@pytest.fixture(scope="module")
def without_charts() -> Iterator[None]:
    """Comparisons whose page has tables and text but no charts, which take most of its time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nasbed.reports.comparison.page._save_figures", lambda *_: None)
        patch.setattr("nasbed.reports.comparison.page._charts", lambda *_, **__: {})
        yield


@pytest.fixture(scope="session")
def explorer() -> Iterator[Explorer]:
    """One explorer of the embedded benchmarks for all tests of its API. Overviews of surrogates are small, as it takes
    seconds to predict large ones."""
    from nasbed.explorer.catalogue import Catalogue
    from support.explorers import serving

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nasbed.explorer.overview.sample.SAMPLE", 60)
        patch.setattr("nasbed.explorer.overview.sample.MOST_DRAWS", 60)
        patch.setattr("nasbed.explorer.overview.sample.MOST_FITTED", 20)
        with serving(Catalogue("nb201-cifar10-16-v1.0")) as running:
            yield running
