"""The former place of :mod:`nasbed.core.execution.ray_engine`; it goes with the next version."""

from nasbed.core.execution.ray_engine import RayEngine

__all__ = ["RayEngine"]
