"""The beginning and the end of what a submission prints."""

from __future__ import annotations


class BoundedLog:
    """Keeps at most ``limit`` bytes: the first half as it came, and of the rest the last.

    >>> log = BoundedLog(8)
    >>> log.add(b"abcdefgh"); log.add(b"ijkl")
    >>> log.content()
    b'abcd\\n[nasbed: 4 bytes left out]\\nijkl'
    """

    def __init__(self, limit: int) -> None:
        self._half = limit // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0

    def add(self, data: bytes) -> None:
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        excess = len(self._tail) - self._half
        if excess > 0:
            del self._tail[:excess]
            self._dropped += excess

    def content(self) -> bytes:
        gap = f"\n[nasbed: {self._dropped} bytes left out]\n".encode() if self._dropped else b""
        return bytes(self._head) + gap + bytes(self._tail)
