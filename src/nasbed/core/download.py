"""Downloads that resume after any interruption; only a complete and verified file gets the final name."""

from __future__ import annotations

import http.client
import random
import re
import shutil
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from nasbed.core.errors import BadFile, DownloadFailed, InvalidOption, NasbedError, shorten
from nasbed.core.files import file_sha256
from nasbed.core.locks import locked
from nasbed.core.partial_download import Origin, PartialDownload

CHUNK = 1 << 18
ENOUGH = 1 << 20
"""An attempt that brought this many new bytes resets the count of failed attempts."""
LONGEST_WAIT_S = 60.0

Progress = Callable[[int, int | None], None]
"""Called with the number of bytes received and, where it is known, their total."""

_SHA256 = re.compile(r"[0-9a-f]{64}")
_CONTENT_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")


def download(
    url: str,
    path: Path,
    *,
    sha256: str | None,
    size: int | None = None,
    progress: Progress | None = None,
    say: Callable[[str], None] = lambda _: None,
    timeout_s: float = 30.0,
    attempts: int = 5,
    backoff_s: float = 1.0,
) -> Path:
    """Download ``url`` to ``path``, resuming an earlier download of it.

    ``path`` appears only when it is complete and has the expected SHA-256 and size; until then the bytes are in
    ``path`` + ``.part``. An existing file is checked and not downloaded again. Two processes that want the same file
    download it once.

    A cut connection, a timeout, too many requests (429) and a server's own error (5xx) are retried. The waits double,
    with jitter. A longer wait that the server asks for (``Retry-After``) is respected, up to ``LONGEST_WAIT_S``.

    Args:
        url: the address.
        path: the file to write.
        sha256: what the file must have; None accepts any content of the length that the server announced.
        size: what the file must have, in bytes.
        progress: called as bytes arrive.
        say: called with one line that a waiting user would want to know.
        timeout_s: limits the wait for a connection and for each read, not the whole download.
        attempts: how many failures in a row, without progress, end the download.
        backoff_s: the first wait before a retry.
    """
    request = _Request(url, (sha256 or "").lower(), size, timeout_s)
    request.check()
    path.parent.mkdir(parents=True, exist_ok=True)
    with locked(path, say):
        if path.is_file():
            if _is_right(path, request):
                return path
            say(f"{path} is not the file that is wanted; downloading it again")
        part = PartialDownload(path)
        part.resume(url, request.sha256)
        if part.size:
            say(f"resuming after {part.size} bytes")
        try:
            _persevere(request, part, progress or (lambda received, total: None), say, attempts, backoff_s)
            _check_whole(request, part)
            part.finish()
        finally:
            part.close()
    return path


@dataclass(frozen=True, slots=True)
class _Request:
    url: str
    sha256: str
    size: int | None
    timeout_s: float

    def check(self) -> None:
        try:
            parts = urlsplit(self.url)
            right = parts.scheme in ("http", "https") and bool(parts.hostname)
        except ValueError:
            right = False
        if not right:
            raise InvalidOption(f"a download's address starts with https:// or http://, got {shorten(self.url)}")
        if self.sha256 and not _SHA256.fullmatch(self.sha256):
            raise InvalidOption(f"a SHA-256 is 64 hexadecimal digits, got {shorten(self.sha256)}")


class _Cut(Exception):
    """The server stopped before the end, or contradicted itself: worth another attempt."""


def _is_right(path: Path, request: _Request) -> bool:
    if request.size is not None and path.stat().st_size != request.size:
        return False
    return not request.sha256 or file_sha256(path) == request.sha256


def _persevere(
    request: _Request,
    part: PartialDownload,
    progress: Progress,
    say: Callable[[str], None],
    attempts: int,
    backoff_s: float,
) -> None:
    """Attempt until the part is complete, or nothing moves any more."""
    jitter = random.SystemRandom()
    failures, furthest = 0, part.size
    while part.origin is None or part.size != part.origin.total:
        try:
            _attempt(request, part, progress)
            return
        except NasbedError:
            raise
        except (_Cut, OSError, ValueError, http.client.HTTPException) as error:
            reason, asked_s = _reason(error), _retry_after_s(error)
            if not _worth_another(error):
                raise DownloadFailed(
                    f"{request.url} answered: {reason}; check the address, or give another that has the same file"
                ) from None
        failures = 0 if part.size >= furthest + ENOUGH else failures + 1
        furthest = max(furthest, part.size)
        if failures >= attempts:
            remainder = f"{part.size} bytes are kept in {part.path.name}, " if part.size else ""
            raise DownloadFailed(
                f"{request.url} could not be fetched in {attempts} attempts: {reason}; {remainder}run the same command "
                "again to resume"
            )
        wait_s = min(LONGEST_WAIT_S, backoff_s * 2 ** max(failures - 1, 0)) * jitter.uniform(0.5, 1.5)
        wait_s = max(wait_s, min(LONGEST_WAIT_S, asked_s))
        say(f"{reason}; trying again in {wait_s:.1f} s")
        time.sleep(wait_s)


def _worth_another(error: Exception) -> bool:
    if isinstance(error, urllib.error.HTTPError):
        return error.code >= 500 or error.code == http.HTTPStatus.TOO_MANY_REQUESTS
    certificate = isinstance(getattr(error, "reason", error), ssl.SSLCertVerificationError)
    return not certificate and not isinstance(error, ValueError)  # which is an address that cannot be


def _retry_after_s(error: Exception) -> float:
    """How many seconds the server asks to wait, as a number or as a date; 0 where it does not say."""
    if not isinstance(error, urllib.error.HTTPError):
        return 0.0
    header = (error.headers.get("Retry-After") or "").strip()
    if header.isdecimal():
        return float(header)
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except (ValueError, OverflowError):
        return 0.0


def _reason(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"{error.code} {error.reason}"
    if isinstance(error, urllib.error.URLError):
        return str(error.reason) or type(error.reason).__name__
    return str(error) or type(error).__name__


def _attempt(request: _Request, part: PartialDownload, progress: Progress) -> None:
    """One request, and all the bytes that it brings; returns when the server says that they are all."""
    http_request = urllib.request.Request(request.url, headers={"User-Agent": "nasbed", "Accept-Encoding": "identity"})
    if part.size and part.origin is not None:
        http_request.add_header("Range", f"bytes={part.size}-")
        if part.origin.validator:
            http_request.add_header("If-Range", part.origin.validator)
    try:
        response = _opener().open(http_request, timeout=request.timeout_s)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 416 and part.size:
            part.discard()
            raise _Cut("the server has no further bytes, but the file is incomplete; starting again") from None
        raise
    with closing(response):
        announced = _begin(request, part, response)
        progress(part.size, announced)
        while announced is None or part.size < announced:
            data = response.read1(CHUNK if announced is None else min(CHUNK, announced - part.size))
            if not data:
                break
            part.write(data)
            progress(part.size, announced)
        if announced is not None and part.size < announced:
            raise _Cut(f"the connection was cut after {part.size} of {announced} bytes")


def _begin(request: _Request, part: PartialDownload, response: http.client.HTTPResponse) -> int | None:
    """Read the head of an answer: where its bytes belong, and the size of the whole, if the server knows it."""
    if response.status not in (200, 206):
        raise DownloadFailed(f"{request.url} answered {response.status} {response.reason}, not with a file")
    headers = response.headers
    total: int | None
    if response.status == 206:
        matched = _CONTENT_RANGE.fullmatch(headers.get("Content-Range", ""))
        total = int(matched[2]) if matched and matched[2] != "*" else None
        expected_total = part.origin.total if part.origin is not None else None
        if not matched or int(matched[1]) != part.size or (expected_total is not None and total != expected_total):
            part.discard()
            raise _Cut(f"the server sent the wrong range, {headers.get('Content-Range')!r}; starting again")
    else:
        length = headers.get("Content-Length", "")
        total = int(length) if length.isdecimal() else None
    if request.size is not None and total is not None and total != request.size:
        part.discard()
        raise BadFile(f"{request.url} offers {total} bytes, {request.size} are expected; check the address")
    if total is None and not request.sha256 and not response.chunked:
        raise DownloadFailed(
            f"{request.url} does not announce its size, so a truncated file would look complete; give its SHA-256"
        )
    if response.status == 200:
        etag, changed = headers.get("ETag", ""), headers.get("Last-Modified", "")
        part.restart(Origin(request.url, request.sha256, etag, changed, total))
    room = shutil.disk_usage(part.path.parent).free
    if total is not None and total - part.size > room:
        raise DownloadFailed(
            f"{part.target} needs {total - part.size} bytes more and {room} are free; make room and run the same "
            "command again"
        )
    return total


def _check_whole(request: _Request, part: PartialDownload) -> None:
    """Remove the part and raise unless it is what was wanted."""
    if request.size is not None and part.size != request.size:
        actual, expected = f"{part.size} bytes", f"{request.size}"
    elif request.sha256 and part.sha256 != request.sha256:
        actual, expected = f"SHA-256 {part.sha256}", request.sha256
    else:
        return
    part.discard()
    raise BadFile(
        f"{request.url} gave {actual}, expected {expected}; the download was removed: the file was changed or damaged, "
        "or the address is wrong"
    )


class _CarefulRedirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects to the web only, and never from an encrypted connection to a plain one."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        allowed = ("https",) if req.type == "https" else ("http", "https")
        if urlsplit(newurl).scheme not in allowed:
            raise DownloadFailed(
                f"a download from {req.type} is redirected to {' or '.join(allowed)} only, {req.full_url} leads to "
                f"{shorten(newurl)}; do not use this address"
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opener() -> urllib.request.OpenerDirector:
    """Knows http, https and the proxies of the environment; nothing else, so that no redirect reads a local file."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        _CarefulRedirects(),
    ):
        opener.add_handler(handler)
    return opener
