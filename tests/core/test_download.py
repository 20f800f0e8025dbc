"""Downloads from a real server on this machine that cuts, stalls, lies, changes its mind and redirects."""

from __future__ import annotations

import json
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from email.utils import formatdate
from pathlib import Path

import pytest

from nasbed.core.download import LONGEST_WAIT_S, download
from nasbed.core.errors import BadFile, DownloadFailed, InvalidOption
from support.downloads import RIGHT, Serve, get, names, part_of, servers
from support.local_server import CONTENT, Behaviour, serving, sha256


@pytest.fixture
def serve() -> Iterator[Serve]:
    with servers() as start:
        yield start


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "downloads" / "file.bin"


def test_download_is_the_file_and_nothing_else(serve: Serve, target: Path) -> None:
    server = serve()
    steps: list[tuple[int, int | None]] = []
    assert get(server, target, progress=lambda bytes_read, total: steps.append((bytes_read, total))) == target
    assert target.read_bytes() == CONTENT and names(target) == ["file.bin"]
    assert steps[0] == (0, len(CONTENT)) and steps[-1] == (len(CONTENT), len(CONTENT)) and steps == sorted(steps)


def test_download_that_is_there_is_checked_and_not_fetched_again(serve: Serve, target: Path) -> None:
    server = serve()
    get(server, target)
    get(server, target)
    assert len(server.requests) == 1
    target.write_bytes(CONTENT[:-1])
    get(server, target)
    assert len(server.requests) == 2 and target.read_bytes() == CONTENT


@pytest.mark.parametrize("chunked", [False, True])
def test_download_cut_again_and_again_resumes_where_it_was(serve: Serve, target: Path, chunked: bool) -> None:
    server = serve(cuts=[100_000, 50_000, 0, 70_000], chunked=chunked)
    get(server, target)
    assert target.read_bytes() == CONTENT and names(target) == ["file.bin"]
    assert server.asked_ranges() == ["", "bytes=100000-", "bytes=150000-", "bytes=150000-", "bytes=220000-"]
    assert all(request["if-range"] == '"v1"' for request in server.requests[1:])


def test_download_gives_up_after_attempts_without_progress_and_keeps_the_part(serve: Serve, target: Path) -> None:
    server = serve(cuts=[40_000] + [0] * 10)
    with pytest.raises(
        DownloadFailed, match=r"in 3 attempts: .* cut after 40000 of 300000 bytes; 40000 bytes are kept"
    ):
        get(server, target, attempts=3)
    assert len(server.requests) == 3
    assert names(target) == ["file.bin.part", "file.bin.part.json"] and part_of(target).read_bytes() == CONTENT[:40_000]
    server.behaviour.cuts.clear()
    get(server, target)
    assert server.asked_ranges()[-1] == "bytes=40000-" and target.read_bytes() == CONTENT


def test_download_with_progress_is_not_given_up(serve: Serve, target: Path) -> None:
    """Cut more often than there are attempts, but far apart."""
    content = CONTENT * 15
    server = serve(content=content, cuts=[1_200_000, 1_200_000, 1_200_000])
    get(server, target, sha256(content), attempts=1)
    assert target.read_bytes() == content and len(server.requests) == 4


def test_download_from_a_server_that_ignores_ranges_restarts(serve: Serve, target: Path) -> None:
    server = serve(cuts=[100_000], ranges=False)
    get(server, target)
    assert server.asked_ranges() == ["", "bytes=100000-"] and target.read_bytes() == CONTENT


def test_download_that_changes_between_attempts_is_never_spliced(serve: Serve, target: Path) -> None:
    """The second version is what comes out, whole, though the beginning of the first one was here. No checksum: only
    the server's tag tells them apart."""
    server = serve(cuts=[100_000])
    with pytest.raises(DownloadFailed):
        get(server, target, None, attempts=1)
    newer = bytes(reversed(CONTENT))
    server.behaviour.content, server.behaviour.etag = newer, '"v2"'
    get(server, target, None)
    assert server.requests[-1]["if-range"] == '"v1"' and target.read_bytes() == newer


def test_download_of_another_length_is_never_spliced(serve: Serve, target: Path) -> None:
    """A server without tags: what tells is the size of the whole."""
    server = serve(cuts=[100_000], etag=None)
    with pytest.raises(DownloadFailed):
        get(server, target, attempts=1)
    server.behaviour.content = longer = CONTENT + b"more"
    with pytest.raises(BadFile, match=sha256(longer)):
        get(server, target)
    assert server.asked_ranges() == ["", "bytes=100000-", ""] and names(target) == []


def test_download_without_tag_and_checksum_is_not_resumed(serve: Serve, target: Path) -> None:
    server = serve(cuts=[100_000], etag=None)
    with pytest.raises(DownloadFailed):
        get(server, target, None, attempts=1)
    get(server, target, None)
    assert server.asked_ranges() == ["", ""] and target.read_bytes() == CONTENT


@pytest.mark.parametrize("change", ["url", "sha256", "sidecar", "longer"])
def test_part_of_something_else_is_not_taken_up(serve: Serve, target: Path, change: str) -> None:
    server = serve(cuts=[100_000])
    with pytest.raises(DownloadFailed):
        get(server, target, attempts=1)
    sidecar = target.with_name("file.bin.part.json")
    recorded = json.loads(sidecar.read_text())
    if change == "longer":
        part_of(target).write_bytes(CONTENT * 2)
    else:
        sidecar.write_text("[" if change == "sidecar" else json.dumps(recorded | {change: "x"}))
    get(server, target)
    assert server.asked_ranges() == ["", ""] and target.read_bytes() == CONTENT


def test_part_that_was_damaged_is_found_out(serve: Serve, target: Path) -> None:
    server = serve(cuts=[100_000])
    with pytest.raises(DownloadFailed):
        get(server, target, attempts=1)
    part_of(target).write_bytes(b"\0" * 100_000)
    with pytest.raises(BadFile, match=f"expected {RIGHT}"):
        get(server, target)
    assert names(target) == []
    get(server, target)
    assert target.read_bytes() == CONTENT


def test_part_that_is_complete_needs_no_server(serve: Serve, target: Path) -> None:
    """Killed after the last byte and before the rename."""
    server = serve()
    get(server, target)
    target.rename(part_of(target))
    origin = {"url": server.url, "sha256": RIGHT, "etag": '"v1"', "last_modified": "", "total": len(CONTENT)}
    target.with_name("file.bin.part.json").write_text(json.dumps(origin))
    get(server, target)
    assert len(server.requests) == 1 and names(target) == ["file.bin"]


def test_download_with_wrong_bytes_is_removed_and_both_hashes_named(serve: Serve, target: Path) -> None:
    wrong = CONTENT[:-1] + b"?"
    with pytest.raises(BadFile, match=rf"SHA-256 {sha256(wrong)}, expected {RIGHT}"):
        get(serve(content=wrong), target)
    assert names(target) == []


def test_download_checks_the_size(serve: Serve, target: Path) -> None:
    with pytest.raises(BadFile, match="offers 300000 bytes, 299999 are expected"):
        get(serve(), target, None, size=299_999)
    with pytest.raises(BadFile, match="gave 300000 bytes, expected 299999"):
        get(serve(chunked=True), target, None, size=299_999)
    assert names(target) == []
    assert get(serve(), target, None, size=300_000).read_bytes() == CONTENT


@pytest.mark.parametrize("error", [429, 500, 502, 503])
def test_servers_error_is_tried_again(serve: Serve, target: Path, error: int) -> None:
    server = serve(statuses=[error, error])
    messages: list[str] = []
    get(server, target, say=messages.append)
    assert len(server.requests) == 3 and target.read_bytes() == CONTENT
    assert all(line.startswith(f"{error} ") and "trying again in" in line for line in messages)


@pytest.mark.parametrize("error", [400, 403, 404, 410])
def test_users_error_is_not_tried_again(serve: Serve, target: Path, error: int) -> None:
    server = serve(statuses=[error, error])
    with pytest.raises(DownloadFailed, match=f"answered: {error} .*check the address"):
        get(server, target)
    assert len(server.requests) == 1 and names(target) == []


@pytest.mark.parametrize("error", [429, 503])
@pytest.mark.parametrize(
    ("query", "shortest", "longest"),
    [
        ("7", 7, 7),
        (lambda: formatdate(time.time() + 20, usegmt=True), 10, 20),
        ("86400", LONGEST_WAIT_S, LONGEST_WAIT_S),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0, 1),
        ("soon", 0, 1),
        ("-5", 0, 1),
    ],
)
def test_download_waits_as_the_server_asks_up_to_a_limit(
    serve: Serve,
    target: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: int,
    query: str | Callable[[], str],
    shortest: float,
    longest: float,
) -> None:
    waits: list[float] = []
    monkeypatch.setattr("nasbed.core.download.time.sleep", waits.append)
    server = serve(statuses=[error], retry_after=query if isinstance(query, str) else query())
    get(server, target)
    assert target.read_bytes() == CONTENT and len(server.requests) == 2
    (wait_s,) = waits
    assert shortest <= wait_s <= longest


def test_stalled_server_times_out_and_the_download_resumes(serve: Serve, target: Path) -> None:
    server = serve(stall=60_000)
    messages: list[str] = []

    def heard(line: str) -> None:
        messages.append(line)
        server.behaviour.stall = None

    get(server, target, timeout_s=0.3, say=heard)
    assert server.asked_ranges() == ["", "bytes=60000-"] and "timed out" in messages[0]
    assert target.read_bytes() == CONTENT


def test_server_without_an_answer_is_an_error_of_one_line(serve: Serve, target: Path) -> None:
    with serving(Behaviour()) as closed_server:
        pass
    with pytest.raises(DownloadFailed, match=r"in 2 attempts: .*refused") as caught:
        get(closed_server, target, attempts=2)
    assert "\n" not in str(caught.value) and isinstance(caught.value, OSError)


def test_server_that_announces_too_much_is_given_up(serve: Serve, target: Path) -> None:
    """It stops before the length that it promised, every time: bounded, and never taken for whole."""
    server = serve(announce=lambda length: length + 5, ranges=False)
    with pytest.raises(DownloadFailed, match="300000 of 300005 bytes"):
        get(server, target, None, attempts=3)
    assert len(server.requests) == 3 and not target.exists()


def test_server_that_announces_too_little_gives_wrong_bytes(serve: Serve, target: Path) -> None:
    server = serve(announce=lambda length: length - 5)
    with pytest.raises(BadFile, match=sha256(CONTENT[:-5])):
        get(server, target)
    assert names(target) == []


def test_server_that_announces_nothing_needs_a_checksum(serve: Serve, target: Path) -> None:
    """The end of such an answer is the end of the connection, as it is when that is cut."""
    server = serve(announce=lambda length: None)
    with pytest.raises(DownloadFailed, match="a truncated file would look complete"):
        get(server, target, None)
    assert get(server, target).read_bytes() == CONTENT


def test_download_follows_redirects_of_the_web(serve: Serve, target: Path) -> None:
    server = serve(redirect="/elsewhere.bin", cuts=[100_000])
    get(server, target)
    assert target.read_bytes() == CONTENT
    assert server.asked_ranges() == ["", "", "bytes=100000-", "bytes=100000-"]


@pytest.mark.parametrize("place", ["file:///etc/hostname", "ftp://127.0.0.1/file", "data:text/plain,x", "javascript:x"])
def test_download_refuses_other_redirects(serve: Serve, target: Path, place: str) -> None:
    server = serve(redirect=place)
    with pytest.raises(DownloadFailed, match=place.partition(":")[0]):
        get(server, target, None)
    assert len(server.requests) == 1 and names(target) == []


@pytest.fixture
def tls(tmp_path: Path) -> ssl.SSLContext:
    """A self-signed certificate for this machine."""
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    words = [
        "req",
        "-x509",
        "-nodes",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-subj",
        "/CN=nobody",
    ]
    files = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    try:
        subprocess.run(["openssl", *words, *files], check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("needs the program openssl to make a certificate")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


def test_https_is_checked_and_never_left_for_http(
    serve: Serve, target: Path, tls: ssl.SSLContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(Behaviour(cuts=[0]), tls) as server:
        with pytest.raises(DownloadFailed, match=r"certificate verify failed.*check the address"):
            get(server, target)
        assert server.requests == []
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
        assert get(server, target).read_bytes() == CONTENT
        target.unlink()
        server.behaviour.redirect = serve().url
        with pytest.raises(DownloadFailed, match="redirected to https only"):
            get(server, target)
        assert names(target) == []
    upwards = serve(redirect="https://127.0.0.1:1/file.bin")
    with pytest.raises(DownloadFailed, match="refused"):
        get(upwards, target, attempts=1)


def test_endless_redirects_end(serve: Serve, target: Path) -> None:
    with pytest.raises(DownloadFailed, match="infinite loop"):
        get(serve(redirect="/file.bin"), target)


@pytest.mark.parametrize("url", ["ftp://a/b", "file:///etc/passwd", "https://", "file.bin", "http://[::1", ""])
def test_address_that_is_not_of_the_web_is_refused(target: Path, url: str) -> None:
    with pytest.raises(InvalidOption, match="https:// or http://"):
        download(url, target, sha256=None)
    assert not target.parent.exists()


@pytest.mark.parametrize("digest", ["abc", "g" * 64, RIGHT + "0"])
def test_malformed_checksum_is_refused(serve: Serve, target: Path, digest: str) -> None:
    with pytest.raises(InvalidOption, match="64 hexadecimal digits"):
        get(serve(), target, digest)


def test_checksum_in_capitals_is_the_same(serve: Serve, target: Path) -> None:
    assert get(serve(), target, RIGHT.upper()).exists()
