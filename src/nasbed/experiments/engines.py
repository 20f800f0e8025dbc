"""The former place of :mod:`nasbed.core.execution`."""

from nasbed.core.former_names import former

__getattr__ = former(
    __name__,
    {
        "WAIT": "nasbed.core.execution:WAIT",
        "Engine": "nasbed.core.execution:Engine",
        "LocalEngine": "nasbed.core.execution:LocalEngine",
        "SerialEngine": "nasbed.core.execution:SerialEngine",
        "attempt": "nasbed.core.execution:attempt",
        "Outcome": "nasbed.core.execution:TaskOutcome",
    },
    until="0.3",
)
