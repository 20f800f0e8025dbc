"""A real FBNet network, written from the description in the papers alone, to count against."""

from __future__ import annotations

import re

from torch import Tensor, nn

STAGES = {"layers": (1, 4, 4, 4, 4, 4, 1), "channels": (16, 24, 32, 64, 112, 184, 352)}
CIFAR_STRIDES = (1, 1, 2, 2, 1, 2, 1)
IMAGENET_STRIDES = (1, 2, 2, 2, 1, 2, 1)


def conv_bn(inputs: int, outputs: int, kernel: int, *, stride: int = 1, groups: int = 1) -> nn.Sequential:
    conv = nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, groups=groups, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(outputs))


class TorchBlock(nn.Module):
    def __init__(self, name: str, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.residual = inputs == outputs and stride == 1
        match = re.fullmatch(r"k(\d)_e(\d)(?:_g(\d))?", name)
        if match:
            kernel, expansion, groups = (int(part or 1) for part in match.groups())
            inner = inputs * expansion
            self.body = nn.Sequential(
                conv_bn(inputs, inner, 1, groups=groups),
                nn.ReLU(),
                nn.ChannelShuffle(groups) if groups > 1 else nn.Identity(),
                conv_bn(inner, inner, kernel, stride=stride, groups=inner),
                nn.ReLU(),
                conv_bn(inner, outputs, 1, groups=groups),
            )
        else:
            assert name == "skip"
            change = nn.Sequential(conv_bn(inputs, outputs, 1, stride=stride), nn.ReLU())
            self.body = nn.Sequential(nn.Identity()) if self.residual else change
            self.residual = False

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.body(x)
        return x + y if self.residual else y


def torch_fbnet(blocks: tuple[str, ...], *, imagenet: bool) -> nn.Sequential:
    strides = IMAGENET_STRIDES if imagenet else CIFAR_STRIDES
    header, classes = (1984, 1000) if imagenet else (1504, 100)
    modules: list[nn.Module] = [conv_bn(3, 16, 3, stride=2 if imagenet else 1), nn.ReLU()]
    inputs, names = 16, iter(blocks)
    for layers, channels, first_stride in zip(STAGES["layers"], STAGES["channels"], strides, strict=True):
        for layer in range(layers):
            modules.append(TorchBlock(next(names), inputs, channels, first_stride if layer == 0 else 1))
            inputs = channels
    modules += [conv_bn(inputs, header, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(header, classes)]
    return nn.Sequential(*modules).eval()
