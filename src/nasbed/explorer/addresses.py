"""Names and numbers of machines."""

from __future__ import annotations

from ipaddress import ip_address

LOOPBACK = "127.0.0.1"
LOOPBACK_NAMES = frozenset({"localhost", LOOPBACK, "::1"})
"""The names of this machine that only itself can use."""


def is_address(name: str) -> bool:
    """Whether a name is the number of a machine, which no name server can point elsewhere.

    >>> is_address("10.0.0.1"), is_address("::1"), is_address("localhost")
    (True, True, False)
    """
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches what is served on a host.

    >>> is_loopback("127.0.0.2"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    return host in LOOPBACK_NAMES or (is_address(host) and ip_address(host).is_loopback)
