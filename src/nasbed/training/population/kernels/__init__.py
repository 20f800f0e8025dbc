"""The operations of many programs as Triton kernels, forward and backward.

Planes lie one after the other in one array, ``arena``; tables, a row for each operation or plane, say where each is, so
that one launch runs operations of any networks and nothing is gathered before. Gradients of convolution weights are
sums over many pixels: each of ``CHUNKS`` parts of them is summed by one program and kept apart, so that results do not
depend on the order in which programs run.
"""

from nasbed.training.population.kernels.convolution import conv_backward_inputs, conv_backward_weights, conv_forward
from nasbed.training.population.kernels.largest import largest_backward, largest_forward
from nasbed.training.population.kernels.normalisation import norm_backward, norm_forward
from nasbed.training.population.kernels.sums import combine, mean_backward, mean_forward
from nasbed.training.population.kernels.window import window_backward_inputs, window_forward
from nasbed.training.population.kernels.window_weights import window_backward_weights

CHUNKS = 8

__all__ = [
    "CHUNKS",
    "combine",
    "conv_backward_inputs",
    "conv_backward_weights",
    "conv_forward",
    "largest_backward",
    "largest_forward",
    "mean_backward",
    "mean_forward",
    "norm_backward",
    "norm_forward",
    "window_backward_inputs",
    "window_backward_weights",
    "window_forward",
]
