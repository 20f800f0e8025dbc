"""ResNet-18 (He et al., 2016, table 1), which needs no torchvision.

Layers have torchvision's names and are made in its order, so that weights can be exchanged and the same seed of torch's
generator gives the same initial weights.
"""

from __future__ import annotations

from torch import Tensor, nn

from nasbed.networks.baselines.vision import USUAL_CHANNELS, take_channels

WIDTHS = (64, 128, 256, 512)


class BasicBlock(nn.Module):
    """Two 3×3 convolutions beside an identity; where the shape changes, beside a 1×1 convolution instead."""

    def __init__(self, channels_in: int, width: int, stride: int) -> None:
        super().__init__()
        changes = stride > 1 or channels_in != width
        shortcut = [nn.Conv2d(channels_in, width, 1, stride, bias=False), nn.BatchNorm2d(width)] if changes else []
        self.conv1 = nn.Conv2d(channels_in, width, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.downsample = nn.Sequential(*shortcut)

    def forward(self, images: Tensor) -> Tensor:
        inner = self.bn1(self.conv1(images)).relu()
        total: Tensor = self.bn2(self.conv2(inner)) + self.downsample(images)
        return total.relu()


class ResNet18(nn.Module):
    """Eight blocks of two convolutions, halving the image before every second; convolutions start normal with the
    variance 2 over their fan-out."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(USUAL_CHANNELS, WIDTHS[0], 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(WIDTHS[0])
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        previous = WIDTHS[0]
        for number, width in enumerate(WIDTHS, start=1):
            stage = nn.Sequential(BasicBlock(previous, width, 1 if number == 1 else 2), BasicBlock(width, width, 1))
            self.add_module(f"layer{number}", stage)
            previous = width
        self.fc = nn.Linear(previous, classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, images: Tensor) -> Tensor:
        features: Tensor = self.maxpool(self.bn1(self.conv1(images)).relu())
        for number in range(1, len(WIDTHS) + 1):
            features = self.get_submodule(f"layer{number}")(features)
        logits: Tensor = self.fc(features.mean(dim=(2, 3)))
        return logits


def resnet18(*, classes: int, channels_in: int) -> nn.Module:
    """As published: a first convolution of 7×7 pixels that halves the image, before pooling halves it again."""
    network = ResNet18(classes)
    if channels_in != USUAL_CHANNELS:
        take_channels(network, "conv1", channels_in)
    return network


def resnet18_kit(*, classes: int, channels_in: int) -> nn.Module:
    """As in the example submission of the competition's starting kit, the first convolution has 3×3 pixels and a bias,
    and keeps the size of the image. Everything after it is as published."""
    network = ResNet18(classes)
    network.conv1 = nn.Conv2d(channels_in, WIDTHS[0], 3, 1, 1)
    return network
