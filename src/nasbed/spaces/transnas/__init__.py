"""TransNAS-Bench-101: cells (micro) and networks (macro)."""

from nasbed.spaces.transnas.macro import TransNASMacro
from nasbed.spaces.transnas.micro import TransNASMicro, TransNASSkeleton

__all__ = ["TransNASMacro", "TransNASMicro", "TransNASSkeleton"]
