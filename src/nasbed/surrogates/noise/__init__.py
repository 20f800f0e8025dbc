"""The noise of a surrogate: how far evaluations lie from predictions, and trainings of one architecture apart."""

from nasbed.surrogates.noise.model import Curve, Floats, NoiseModel, learn_noise

__all__ = ["Curve", "Floats", "NoiseModel", "learn_noise"]
