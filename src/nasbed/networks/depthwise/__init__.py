"""Depthwise convolutions with gradients of our own, by numba on a CPU and by Triton on a GPU. Needs torch."""
