"""Locks that other processes hold, release and die with."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import pytest

from nasbed.core.errors import BadFile, InvalidOption
from nasbed.core.locks import SharedHold, WriterLock, lock_file, locked, reading, remove_unless_held, waiting_lock

HOLDERS = {
    "writer": "WriterLock(path, 'taken')",
    "locked": "stack.enter_context(locked(path, print))",
    "shared": "SharedHold(path)",
}


@contextmanager
def held_elsewhere(path: Path, hold: str) -> Iterator[subprocess.Popen[str]]:
    """Another process holds a file until it is killed."""
    code = (
        "import sys\nfrom contextlib import ExitStack\nfrom pathlib import Path\n"
        "from nasbed.core.locks import SharedHold, WriterLock, locked\n"
        f"path = Path(sys.argv[1])\nstack = ExitStack()\nhold = {HOLDERS[hold]}\n"
        "print('held', flush=True)\nsys.stdin.read()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        assert process.stdout.readline() == "held\n"
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


@pytest.mark.kill
def test_writer_lock_refuses_a_second_process_until_the_first_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with held_elsewhere(path, "writer"), pytest.raises(InvalidOption, match=r"^busy; wait$"):
        WriterLock(path, "busy; wait")
    with WriterLock(path, "busy; wait"), pytest.raises(InvalidOption, match="busy"):
        WriterLock(path, "busy; wait")
    assert list(tmp_path.iterdir()) == []


def test_writer_lock_where_nothing_can_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BadFile, match=r"cannot be written: its lock inner.lock: .*; check the folder"):
        WriterLock(tmp_path / "file" / "inner", "busy")


@pytest.mark.kill
def test_locked_waits_for_another_process_and_says_so(tmp_path: Path) -> None:
    path, notes = tmp_path / "file", []
    with held_elsewhere(path, "locked") as process:

        def say(text: str) -> None:
            notes.append(text)
            process.kill()

        with locked(path, say, doing="reading"):
            assert notes == ["another process is reading file; waiting for it"]
            assert lock_file(path).exists()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.kill
def test_shared_hold_of_another_process_keeps_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "file").touch()
    with held_elsewhere(folder, "shared"):
        own = SharedHold(folder)
        remove_unless_held(folder, shutil.rmtree)
        own.release()
        remove_unless_held(folder, shutil.rmtree)
        assert [path.name for path in folder.iterdir()] == ["file"]
    remove_unless_held(folder, shutil.rmtree)
    assert not folder.exists()


@pytest.mark.kill
def test_reading_removes_a_file_unless_another_process_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()
    with held_elsewhere(path, "shared"), reading(path) as remove:
        remove()
        assert path.exists()
    with reading(path) as remove:
        assert path.exists()
        remove()
        assert not path.exists()
        remove()


def test_import_needs_no_fcntl() -> None:
    """Windows has none."""
    code = (
        "import sys, warnings\nsys.modules['fcntl'] = None\nwarnings.simplefilter('ignore')\n"
        "import nasbed, nasbed.cli, nasbed.results.store, nasbed.core.download, nasbed.experiments.campaign.journal\n"
        "print('imported')"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout == "imported\n", run.stderr


def test_waiting_lock_holds_after_a_normal_release(tmp_path: Path) -> None:
    """The first holder removes the lock file: what the second one then holds keeps a third one out."""
    target, waits, has, may_end = tmp_path / "file", Event(), Event(), Event()

    def wait_and_hold() -> None:
        with waiting_lock(lock_file(target), waits.set):
            has.set()
            may_end.wait(10)

    first = WriterLock(target, "busy")
    with ThreadPoolExecutor(1) as threads:
        second = threads.submit(wait_and_hold)
        assert waits.wait(10) and not has.is_set()
        first.release()
        assert has.wait(10)
        with pytest.raises(InvalidOption, match="busy"):
            WriterLock(target, "busy")
        may_end.set()
        second.result(10)
    WriterLock(target, "busy").release()
    assert list(tmp_path.iterdir()) == []
