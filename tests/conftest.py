"""What tests of every part share."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

os.environ.setdefault(
    "OMP_NUM_THREADS", "1"
)  # the suite runs one process a core; threads on top only wait for each other
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a shell's background: tests interrupt what they start
    signal.signal(signal.SIGINT, signal.default_int_handler)
settings.register_profile("nasbed", deadline=None, max_examples=60)
settings.load_profile("nasbed")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--thorough",
        action="store_true",
        help="Draw more: 20 moments to kill at, 10 000 damaged files, 1 000 networks.",
    )


@pytest.fixture(scope="session")
def thorough(request: pytest.FixtureRequest) -> bool:
    """Whether tests that draw moments to kill at, files to damage or networks to build draw many more of them."""
    return bool(request.config.getoption("--thorough"))


@pytest.fixture(scope="session", autouse=True)
def _home_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> None:
    """No test reads or writes the tables of whoever runs it."""
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


@pytest.fixture(scope="module")
def without_figures() -> Iterator[None]:
    """Comparisons without files of figures, which take most of their time; the page draws its own all the same."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nasbed.reports.comparison.page._save_figures", lambda *_: None)
        yield
