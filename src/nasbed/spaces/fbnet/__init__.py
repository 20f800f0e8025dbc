"""FBNet: 22 layers in a row, each one of nine blocks."""

from nasbed.spaces.fbnet.costs import FBNetSkeleton
from nasbed.spaces.fbnet.space import FBNet

__all__ = ["FBNet", "FBNetSkeleton"]
