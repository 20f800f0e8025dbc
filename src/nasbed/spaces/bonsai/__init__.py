"""The search space of Bonsai-Net."""

from nasbed.spaces.bonsai.costs import BonsaiSkeleton
from nasbed.spaces.bonsai.frame import Frame
from nasbed.spaces.bonsai.genotype import BonsaiCell, BonsaiGenotype
from nasbed.spaces.bonsai.space import Bonsai, bonsai_space

__all__ = ["Bonsai", "BonsaiCell", "BonsaiGenotype", "BonsaiSkeleton", "Frame", "bonsai_space"]
