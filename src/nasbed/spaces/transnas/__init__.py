"""TransNAS-Bench-101: cells (micro) and networks (macro)."""

from nasbed.spaces.transnas.macro import TransNASMacro
from nasbed.spaces.transnas.micro import TransNASMicro
from nasbed.spaces.transnas.skeleton import TASKS, TransNASMacroSkeleton, TransNASSkeleton

__all__ = ["TASKS", "TransNASMacro", "TransNASMacroSkeleton", "TransNASMicro", "TransNASSkeleton"]
