"""``nasbed explore`` as a user starts it."""

from __future__ import annotations

import http.client
import json
import signal
import socket
from contextlib import closing
from subprocess import PIPE
from typing import Any

import pytest

from support.commands import run_command
from support.forks import fork_command

TABLE = "nb201-cifar10-16-v1.0"


def test_explorer_prints_its_address_answers_and_ends_quietly_at_ctrl_c() -> None:
    with fork_command("explore", TABLE, stdout=PIPE, stderr=PIPE) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        address = line.split()[0]
        assert address.startswith("http://127.0.0.1:") and f"shows {TABLE}" in line
        connection = http.client.HTTPConnection(address.removeprefix("http://").rstrip("/"), timeout=60)
        with closing(connection):
            connection.request("GET", "/api/benchmarks")
            answer: Any = json.loads(connection.getresponse().read())
        assert [entry["id"] for entry in answer["benchmarks"] if entry["default"]] == [TABLE]
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
        assert (process.wait(), output, errors) == (0, "", "")


@pytest.mark.parametrize(
    "words, reason",
    [
        (["nothing-such"], "no benchmark is called 'nothing-such'"),
        ([TABLE, "--runs", "/nowhere"], "holds no runs"),
        ([TABLE, "--host", "not a host"], "cannot be served on 'not a host'"),
    ],
)
def test_mistakes_are_one_line(words: list[str], reason: str) -> None:
    result = run_command("explore", *words)
    assert result.returncode == 2 and reason in result.stderr and result.stderr.count("\n") == 1


def test_port_in_use_is_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = run_command("explore", TABLE, "--port", taken.getsockname()[1])
    assert result.returncode == 2 and "choose another --host or --port" in result.stderr


def test_missing_packages_are_named_with_how_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nasbed.explorer.serving.find_spec", lambda _: None)
    result = run_command("explore", TABLE)
    assert result.returncode == 2 and "pip install 'nasbed[explorer]'" in result.stderr
