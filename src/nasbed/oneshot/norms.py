"""Batch normalisation as a supernet has it."""

from __future__ import annotations

from torch import nn


def searching_norms(module: nn.Module, *, affine: bool = False) -> None:
    """Make every batch normalisation in a module use the statistics of the batch, in evaluation too, since its input
    changes with the architecture. Unless ``affine``, remove its scale and shift, since they would undo the weights of
    operations (DARTS, appendix A.1)."""
    for norm in module.modules():
        if isinstance(norm, nn.BatchNorm2d):
            norm.track_running_stats = False
            norm.running_mean = norm.running_var = norm.num_batches_tracked = None
            if not affine:
                norm.affine = False
                norm.register_parameter("weight", None)
                norm.register_parameter("bias", None)
