"""The former place of :mod:`nasbed.core.execution.ray_engine`."""

from nasbed.core.former_names import former

__getattr__ = former(
    __name__,
    {
        "RayEngine": "nasbed.core.execution.ray_engine:RayEngine",
    },
    until="0.3",
)
