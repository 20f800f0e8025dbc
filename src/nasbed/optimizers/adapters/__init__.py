"""Samplers and facades of other libraries as methods. Their functions are imported from :mod:`nasbed.optimizers`."""
