"""Convolutions of one pixel in groups of few channels, by Triton on a GPU. Needs torch."""
