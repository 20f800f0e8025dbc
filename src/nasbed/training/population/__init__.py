"""Population training: many networks of different architectures trained at once, in the same kernels.

Each has its own weights, seed and data order, and becomes what it would have become if trained alone, but for rounding.
"""

from nasbed.training.population.calibrating import calibrate
from nasbed.training.population.calibration import CostCalibration
from nasbed.training.population.preparing import PopulationPreparer, PreparationTarget
from nasbed.training.population.training import train_population

__all__ = ["CostCalibration", "PopulationPreparer", "PreparationTarget", "calibrate", "train_population"]
