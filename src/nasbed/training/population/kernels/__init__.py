"""The operations of many programs as Triton kernels, forward and backward.

Bundles of planes lie one after the other in one array, ``arena``. Tables with a row for each operation or bundle say
where each is. So one launch runs operations of any networks, and nothing is gathered before. Lanes of a bundle that
hold no channel are zero, in values and in gradients. Gradients of convolution weights are sums over many pixels. Each
of ``CHUNKS`` parts is summed by one program and stored separately, so that results do not depend on the order in which
programs run.
"""

from nasbed.training.population.kernels.batches import draw_pictures
from nasbed.training.population.kernels.bundled_convolution import (
    bundled_backward_inputs,
    bundled_backward_weights,
    bundled_forward,
)
from nasbed.training.population.kernels.bundled_mean import bundled_mean_backward, bundled_mean_forward
from nasbed.training.population.kernels.convolution import conv_backward_inputs, conv_backward_weights, conv_forward
from nasbed.training.population.kernels.max_pool import largest_backward, largest_forward
from nasbed.training.population.kernels.normalisation import norm_backward, norm_forward
from nasbed.training.population.kernels.sums import combine, mean_backward, mean_forward
from nasbed.training.population.kernels.updates import clipping, squared_lengths, update
from nasbed.training.population.kernels.window import window_backward_inputs, window_forward
from nasbed.training.population.kernels.window_weights import window_backward_weights

CHUNKS = 8

__all__ = [
    "CHUNKS",
    "bundled_backward_inputs",
    "bundled_backward_weights",
    "bundled_forward",
    "bundled_mean_backward",
    "bundled_mean_forward",
    "clipping",
    "combine",
    "conv_backward_inputs",
    "conv_backward_weights",
    "conv_forward",
    "draw_pictures",
    "largest_backward",
    "largest_forward",
    "mean_backward",
    "mean_forward",
    "norm_backward",
    "norm_forward",
    "squared_lengths",
    "update",
    "window_backward_inputs",
    "window_backward_weights",
    "window_forward",
]
