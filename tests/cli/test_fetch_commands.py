"""``nasbed fetch`` and ``nasbed import`` as a user meets them, against a real server on this machine.

The file that is fetched and the format that reads it come from a small plug-in, as a third party would write it.
"""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from configparser import ConfigParser
from contextlib import AbstractContextManager, ExitStack, contextmanager
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from nasbed.core.locks import waiting_lock
from nasbed.core.registry import Registry
from nasbed.results import Results
from nasbed.results.importers import IMPORTERS
from nasbed.results.sources import SOURCES
from support.commands import run_command
from support.forks import Fork, fork_command
from support.local_server import Behaviour, Server, serving, sha256

TABLE = "".join(f"{90 + number / 1000:.3f}\n" for number in range(2_000)).encode()
RIGHT = sha256(TABLE)

PLUGIN = """
from pathlib import Path
import numpy as np
from nasbed.core.errors import BadFile
from nasbed.core.metric import Metric
from nasbed.results import TableInfo, Rows
from nasbed.results.importers import Draft, Importer
from nasbed.results.sources import Source

ACCURACY = Metric("accuracy", split="validation", unit="%", bounds=(0, 100))


class TinyImporter(Importer):
    format = "tiny"
    summary = "a number a line"
    options = {"name": "The table's name. [default: tiny/made-up]"}

    def read(self, path):
        lines = path.read_text().split()
        if "<html>" in lines:
            raise BadFile(f"{path.name} is a web page")
        codes = np.array(np.unravel_index(np.arange(len(lines)), (5,) * 6)).T
        rows = Rows.of(codes, {ACCURACY.key: np.array(lines, dtype=float)})
        yield Draft(TableInfo(self.settings.get("name", "tiny/made-up"), "nb201", (ACCURACY,)), iter([rows]), len(lines))


def source(id, **more):
    return Source(id=id, title="made up", file=f"{id}.txt", page="https://example.org/tiny", bytes=14_000, format="tiny",
                  tables=("tiny/made-up",), licence="none", citation="none", **more)


PLAIN = source("tiny", url="https://example.org/tiny.txt")
MANUAL = source("tiny-manual")
NAMED = source("tiny-named", url="https://example.org/tiny.txt", options={"name": "tiny/named"})
"""

ENTRY_POINTS = """
[nasbed.importers]
tiny = tiny_plugin:TinyImporter
[nasbed.sources]
tiny = tiny_plugin:PLAIN
tiny-manual = tiny_plugin:MANUAL
tiny-named = tiny_plugin:NAMED
"""


class User:
    """Somebody with a home of their own and the plug-in installed: for processes by its folder alone, and for commands
    in this process by :func:`installed`."""

    def __init__(self, folder: Path) -> None:
        self.plugin = plugin = folder / "plugin"
        info = plugin / "tiny_plugin-1.0.dist-info"
        info.mkdir(parents=True)
        (plugin / "tiny_plugin.py").write_text(PLUGIN)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny-plugin\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(ENTRY_POINTS)
        self.home = folder / "home"
        self.work = folder / "work"
        self.work.mkdir()
        self.environment = os.environ | {
            "NASBED_HOME": str(self.home),
            "PYTHONPATH": os.pathsep.join([str(plugin), *sys.path]),
            "no_proxy": "127.0.0.1",
            "COLUMNS": "200",
        }

    def start(self, *words: str, **options: Any) -> Fork:
        """The command in a process of its own."""
        return fork_command(*words, **{"env": self.environment} | options)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        with installed(self.plugin):
            return run_command(*words, cwd=self.work, env=self.environment)

    def ok(self, *words: str) -> str:
        outcome = self.run(*words)
        assert outcome.returncode == 0, outcome.stderr
        return outcome.stdout

    def refusal(self, *words: str) -> str:
        """The one line that says why."""
        outcome = self.run(*words)
        assert outcome.returncode == 2 and outcome.stdout == "" and "Traceback" not in outcome.stderr
        assert len(outcome.stderr.strip().splitlines()) == 1
        return outcome.stderr

    def kept_files(self) -> list[str]:
        """The names in the folder of downloads."""
        folder = self.home / "downloads"
        return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


@contextmanager
def installed(plugin: Path) -> Iterator[None]:
    """The registries have the plug-in's entries meanwhile."""
    groups = ConfigParser()
    groups.read_string(ENTRY_POINTS)
    registries: tuple[Registry[Any], ...] = (IMPORTERS, SOURCES)
    with ExitStack() as stack:
        stack.enter_context(patch.object(sys, "path", [str(plugin), *sys.path]))
        stack.callback(sys.modules.pop, "tiny_plugin", None)
        for registry in registries:
            stack.enter_context(patch.dict(registry._entries))
            stack.enter_context(patch.object(registry, "_plugins_loaded", True))
            for name, value in groups[registry.group].items():
                registry.add(name, EntryPoint(name, value, registry.group))
        yield


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(Behaviour(content=TABLE)) as running:
        yield running


def test_fetch_makes_the_table_and_removes_the_download(user: User, server: Server) -> None:
    output = user.ok("fetch", "tiny", "--url", server.url, "--sha256", RIGHT)
    folder = user.home / "tables" / "tiny" / "made-up"
    assert output == f"tiny/made-up: 2 000 rows, 2 000 architectures in {folder}\n"
    assert Results.open(folder).manifest.rows == 2_000 and user.kept_files() == []


def test_fetch_keeps_the_file_and_writes_to_the_given_folder(user: User, server: Server) -> None:
    words = ("fetch", "tiny-named", "--url", server.url, "--unverified", "--keep", "--out", "mine", "--json")
    (table,) = json.loads(user.ok(*words))
    assert table == {"name": "tiny/named", "rows": 2_000, "architectures": 2_000, "folder": "mine/tiny/named"}
    assert Results.open(user.work / "mine" / "tiny" / "named").manifest.rows == 2_000
    assert user.kept_files() == ["tiny-named.txt"] and not (user.home / "tables").exists()
    user.ok(*words)
    assert len(server.requests) == 1, "what was kept is not fetched again"


def test_fetch_that_was_cut_resumes(user: User, server: Server) -> None:
    server.behaviour.cuts = [5_000]
    outcome = user.run("fetch", "tiny", "--url", server.url, "--sha256", RIGHT)
    assert outcome.returncode == 0 and server.asked_ranges() == ["", "bytes=5000-"]
    assert "the connection was cut after 5000 of 14000 bytes; trying again" in outcome.stderr


def test_fetch_interrupted_says_so_and_resumes_the_next_time(user: User, server: Server) -> None:
    server.behaviour.stall = 6_000
    words = ("fetch", "tiny", "--url", server.url, "--sha256", RIGHT)
    with user.start(*words, stderr=subprocess.PIPE) as process:
        part = user.home / "downloads" / "tiny.txt.part"
        deadline = time.monotonic() + 20
        while not (part.exists() and part.stat().st_size == 6_000):
            assert time.monotonic() < deadline and process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, error_text = process.communicate(timeout=20)
    assert process.returncode == 130 and error_text.startswith("nasbed: interrupted; the downloaded part is kept")
    assert len(error_text.splitlines()) == 1
    assert user.kept_files() == ["tiny.txt.part", "tiny.txt.part.json"] and not (user.home / "tables").exists()
    server.behaviour.stall = None
    user.ok("fetch", "tiny", "--url", server.url, "--sha256", RIGHT)
    assert server.asked_ranges() == ["", "bytes=6000-"] and user.kept_files() == []


def test_fetch_by_two_at_once_downloads_once(user: User, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second is this process; the server continues with the first once the second says that it waits."""

    def wait(path: Path, on_wait: Callable[[], None]) -> AbstractContextManager[None]:
        def release_server() -> None:
            on_wait()
            server.behaviour.stall = None
            server.behaviour.release.set()

        return waiting_lock(path, release_server)

    server.behaviour.stall = 6_000
    words = ("fetch", "tiny", "--url", server.url, "--sha256", RIGHT)
    with user.start(*words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as first:
        assert server.behaviour.stalled.wait(20)
        monkeypatch.setattr("nasbed.core.locks.waiting_lock", wait)
        second = user.run(*words)
        printed = first.communicate(timeout=30)[0]
    assert "another process is fetching tiny.txt; waiting for it" in second.stderr.splitlines()[0]
    assert (first.returncode, second.returncode) == (0, 0) and printed == second.stdout
    assert Results.open(user.home / "tables" / "tiny" / "made-up").manifest.rows == 2_000
    assert user.kept_files() == [] and server.asked_ranges() == ["", "bytes=6000-"]


def test_fetch_of_other_bytes_names_both_checksums(user: User, server: Server) -> None:
    server.behaviour.content = TABLE + b"91\n"
    message = user.refusal("fetch", "tiny", "--url", server.url, "--sha256", RIGHT)
    assert f"SHA-256 {sha256(TABLE + b'91' + bytes([10]))}, expected {RIGHT}" in message
    assert user.kept_files() == [] and not (user.home / "tables").exists()


def test_fetch_does_not_keep_an_unverified_file_of_another_format(user: User, server: Server) -> None:
    """The page that stands where the file should be would be taken for the file the next time."""
    server.behaviour.content = b"<html> no such file"
    assert "tiny.txt is a web page" in user.refusal("fetch", "tiny", "--url", server.url, "--unverified")
    assert user.kept_files() == []
    server.behaviour.content = TABLE
    user.ok("fetch", "tiny", "--url", server.url, "--unverified")


def test_fetch_not_found_is_one_line(user: User, server: Server) -> None:
    server.behaviour.statuses = [404]
    assert "404 Not Found; check the address" in user.refusal("fetch", "tiny", "--url", server.url, "--unverified")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "nasbed fetch --list"),
        (("nb1o1",), "no published file is called 'nb1o1'; did you mean nb101"),
        (("tiny",), "the SHA-256 of tiny.txt is not known here; give it with --sha256, or accept the file unchecked"),
        (
            ("tiny-manual",),
            "tiny-manual.txt from https://example.org/tiny yourself, then run: nasbed import tiny tiny-",
        ),
        (("nats-tss",), "https://drive.google.com/"),
        (("nb301",), "--unverified"),
        (("tiny", "--unverified", "--sha256", RIGHT), "give either --sha256 or --unverified"),
        (("tiny", "--sha256", "beef"), "64 hexadecimal digits, got 'beef'"),
        (("tiny", "--unverified", "--url", "ftp://127.0.0.1/x"), "https:// or http://, got 'ftp://127.0.0.1/x'"),
    ],
)
def test_fetch_refuses_in_one_line(user: User, words: tuple[str, ...], message: str) -> None:
    assert message in user.refusal("fetch", *words)
    assert not user.home.exists()


def test_fetch_by_hand_works_with_a_mirror(user: User, server: Server) -> None:
    user.ok("fetch", "tiny-manual", "--url", server.url, "--sha256", RIGHT)


def test_fetch_lists_what_there_is(user: User) -> None:
    listed = {entry["id"]: entry for entry in json.loads(user.ok("fetch", "--list", "--json"))}
    assert listed["nb101"]["sha256"] and listed["nb301"]["sha256"] is None and listed["nats-tss"]["url"] is None
    assert listed["nb101-108"]["url"] == "https://storage.googleapis.com/nasbench/nasbench_only108.tfrecord"
    lines = {line.split()[0]: line for line in user.ok("fetch", "--list").splitlines()}
    assert "checked" in lines["nb101"] and "--unverified" in lines["nb301"] and "by hand" in lines["nats-tss"]
    assert "2 090 MB" in lines["nb101"] and "Apache-2.0" in lines["nb101"]


def test_fetch_draws_a_bar_on_a_terminal_and_only_there(user: User, server: Server) -> None:
    """On a pseudo-terminal of its own; what is printed goes elsewhere and stays clean."""
    words = ("fetch", "tiny", "--url", server.url, "--sha256", RIGHT)
    master, terminal = pty.openpty()
    environment = user.environment | {"TERM": "xterm"}
    with user.start(*words, stdout=subprocess.PIPE, stderr=terminal, env=environment) as process:
        os.close(terminal)
        drawn = b""
        try:
            while piece := os.read(master, 65_536):
                drawn += piece
        except OSError:  # how Linux says that the other end is closed
            pass
        os.close(master)
        printed, _ = process.communicate(timeout=20)
    assert process.returncode == 0 and b"Fetching tiny.txt" in drawn and b"Importing tiny/made-up" in drawn
    assert printed.startswith("tiny/made-up: 2 000 rows") and printed.count("\n") == 1
    assert user.run("fetch", "tiny", "--url", server.url, "--sha256", RIGHT).stderr == ""


def test_import_writes_the_tables(user: User) -> None:
    (user.work / "x.txt").write_bytes(TABLE)
    user.ok("import", "tiny", "x.txt")
    assert Results.open(user.home / "tables" / "tiny" / "made-up").manifest.rows == 2_000
    assert "here/other: 2 000 rows" in user.ok("import", "tiny", "x.txt", "--out", "o", "--option", "name=here/other")
    assert Results.open(user.work / "o" / "here" / "other").about.name == "here/other"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "nasbed import --list"),
        (("tiny",), "the format tiny reads a file or folder; give its path"),
        (("tinny", "x.txt"), "no import format is called 'tinny'; did you mean tiny"),
        (("tiny", "y.txt"), "y.txt does not exist; check the path"),
        (("tiny", "x.txt", "--option", "name"), "an option reads KEY=VALUE, got 'name'"),
        (("tiny", "x.txt", "--option", "name=a", "--option", "name=b"), "occurs twice"),
        (("tiny", "x.txt", "--option", "nmae=a"), "the format tiny has no option 'nmae'; did you mean name"),
        (("tiny", "x.txt", "--option", "name=../../x"), "a table's name is"),
    ],
)
def test_import_refuses_in_one_line(user: User, words: tuple[str, ...], message: str) -> None:
    (user.work / "x.txt").write_bytes(TABLE)
    assert message in user.refusal("import", *words)
    assert not user.home.exists()


def test_import_lists_the_formats_with_their_options(user: User) -> None:
    output = user.ok("import", "--list")
    assert "a number a line" in output and "name: The table's name. [default: tiny/made-up]" in output
    (tiny,) = [entry for entry in json.loads(user.ok("import", "--list", "--json")) if entry["format"] == "tiny"]
    assert tiny["summary"] == "a number a line" and set(tiny["options"]) == {"name"}


@pytest.mark.parametrize("word", ["fetch", "import"])
def test_help_teaches_by_examples(user: User, word: str) -> None:
    output = user.ok(word, "--help")
    assert output.count(f"Example: nasbed {word}") >= 3 and "in which benchmarks look for them" in output
