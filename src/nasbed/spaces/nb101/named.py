"""The cells that the paper shows by name: figures 1 and 3, section 3.1."""

from __future__ import annotations

from nasbed.spaces.facts import NamedArchitecture

NAMED_CELLS = {
    "best": NamedArchitecture(
        "conv1x1:0/conv3x3:0/maxpool3x3:2/conv3x3:3/conv3x3:0,1,4/output:0,5",
        "the highest mean test accuracy, 94.32 %",
    ),
    "inception": NamedArchitecture(
        "conv1x1:0/conv3x3:0/conv3x3:0/conv3x3:3/maxpool3x3:0/output:1,2,4,5",
        "Inception-like, the 5×5 convolution as two of 3×3, 92.95 %",
    ),
    "resnet": NamedArchitecture(
        "conv3x3:0/conv3x3:1/output:0,2",
        "ResNet-like: two 3×3 convolutions and a shortcut; the paper's, 93.12 %, is not drawn there",
    ),
}
"""Accuracies are the paper's, after 108 epochs on CIFAR-10. The paper draws the best cell in figure 1; here it is the
target of the public search code of AlphaX, and it has the four encodings that section 3.3 gives. The ResNet-like cell
of figure 3 is not drawn: this is a residual block as He et al. have it, so the 93.12 % may be that of another cell."""
