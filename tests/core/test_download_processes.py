"""Downloads in real processes that are stopped, that meet each other, and whose disk is full."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nasbed.core.errors import DownloadFailed
from support.downloads import RIGHT, Serve, get, names, part_of, servers
from support.local_server import CONTENT, Server

CODE = """
import resource, sys
from pathlib import Path
from nasbed.core.errors import NasbedError
from nasbed.core.download import download
if len(sys.argv) > 4:
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[4]), resource.RLIM_INFINITY))
try:
    download(sys.argv[1], Path(sys.argv[2]), sha256=sys.argv[3], backoff_s=0.01, attempts=3)
except NasbedError as error:
    sys.exit(str(error))
"""


@pytest.fixture
def serve() -> Iterator[Serve]:
    with servers() as started:
        yield started


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "downloads" / "file.bin"


def start(server: Server, target: Path, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", CODE, server.url, str(target), RIGHT, *options]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


@pytest.mark.kill
@pytest.mark.parametrize("kill", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_download_killed_midway_is_resumed(serve: Serve, target: Path, kill: signal.Signals) -> None:
    server = serve(stall=200_000)
    with start(server, target) as process:
        assert server.behaviour.stalled.wait(20)
        wait_until(lambda: part_of(target).exists() and part_of(target).stat().st_size == 200_000)
        assert not target.exists()
        process.send_signal(kill)
        process.communicate(timeout=20)
    assert process.returncode != 0 and not target.exists() and part_of(target).read_bytes() == CONTENT[:200_000]
    server.behaviour.stall = None
    get(server, target)
    assert server.asked_ranges() == ["", "bytes=200000-"]
    assert target.read_bytes() == CONTENT and names(target) == ["file.bin"]


def wait_until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_two_processes_fetch_the_file_once(serve: Serve, target: Path) -> None:
    server = serve(stall=200_000)
    with start(server, target) as first:
        assert server.behaviour.stalled.wait(20)
        messages: list[str] = []
        second = threading.Thread(target=lambda: get(server, target, say=messages.append))
        second.start()
        wait_until(lambda: bool(messages))
        assert "another process is fetching file.bin" in messages[0] and not target.exists()
        server.behaviour.stall = None
        server.behaviour.release.set()
        assert first.wait(20) == 0
        second.join(20)
    assert target.read_bytes() == CONTENT and names(target) == ["file.bin"]
    assert server.asked_ranges() == ["", "bytes=200000-"], "both requests are of the first process, cut once"


def test_lock_of_a_killed_process_blocks_no_other(serve: Serve, target: Path) -> None:
    server = serve(stall=200_000)
    with start(server, target) as first:
        assert server.behaviour.stalled.wait(20)
        first.kill()
        first.communicate(timeout=20)
    assert target.with_name("file.bin.lock").exists()
    server.behaviour.stall = None
    get(server, target)
    assert names(target) == ["file.bin"]


def test_file_that_may_not_grow_is_one_line_and_resumable(serve: Serve, target: Path) -> None:
    server = serve()
    with start(server, target, "123456") as process:
        _, errors = process.communicate(timeout=20)
    assert process.returncode == 1 and len(errors.strip().splitlines()) == 1
    assert "cannot be written after 123456 bytes: File too large; make room" in errors
    assert names(target) == ["file.bin.part", "file.bin.part.json"]
    get(server, target)
    assert server.asked_ranges() == ["", "bytes=123456-"] and target.read_bytes() == CONTENT


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "small"
    folder.mkdir()
    options = ["-t", "tmpfs", "-o", "size=128k", "tmpfs", str(folder)]
    if os.geteuid() or subprocess.run(["mount", *options], capture_output=True).returncode:
        pytest.skip("needs the right to mount a small file system")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_full_disk_is_one_line_and_resumable(serve: Serve, small_disk: Path) -> None:
    """Chunked, so that the size is not known before the disk is full."""
    target = small_disk / "file.bin"
    server = serve(chunked=True)
    with pytest.raises(DownloadFailed, match="No space left on device; make room") as caught:
        get(server, target)
    assert "\n" not in str(caught.value)
    partial = part_of(target).read_bytes()
    assert names(target) == ["file.bin.part", "file.bin.part.json"]
    assert 0 < len(partial) < len(CONTENT) and CONTENT.startswith(partial)
    subprocess.run(["mount", "-o", "remount,size=1m", str(small_disk)], check=True)
    get(server, target)
    assert server.asked_ranges() == ["", f"bytes={len(partial)}-"] and target.read_bytes() == CONTENT


def test_disk_that_is_too_small_is_noticed_first(serve: Serve, small_disk: Path) -> None:
    with pytest.raises(DownloadFailed, match=r"needs 300000 bytes more and \d+ are free; make room"):
        get(serve(), small_disk / "file.bin")
    assert not (small_disk / "file.bin").exists()
