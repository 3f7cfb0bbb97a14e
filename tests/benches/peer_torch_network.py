#!/usr/bin/env python3
"""A CIFAR ResNet-20 in PyTorch: seconds of a training step (forward + backward) and of a prediction.

Usage: peer_torch_network.py BATCH THREADS REPEATS
Prints one JSON object: deterministic, vanilla and exemplar steps with a mean-field Gaussian on every weight,
scale and shift, the way PyTorch users write them (a grouped convolution over sampled kernels), and one
deterministic prediction. Medians after one step of warm-up.
"""

import json
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

DETERMINISTIC, VANILLA, EXEMPLAR = "deterministic", "vanilla", "exemplar"


class Gaussian(nn.Module):
    """A weight with a mean and the logarithm of a standard deviation."""

    def __init__(self, *shape, std=1.0):
        super().__init__()
        self.mean = nn.Parameter(torch.randn(*shape) * std)
        self.log_std = nn.Parameter(torch.empty(*shape).uniform_(-6, -5))

    def draws(self, count):
        noise = torch.randn(count, *self.mean.shape)
        return self.mean + self.log_std.exp() * noise


class Conv(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.stride = stride
        self.weight = Gaussian(outputs, inputs, 3, 3, std=(2 / (9 * inputs)) ** 0.5)

    def forward(self, x, mode):
        if mode == DETERMINISTIC:
            return F.conv2d(x, self.weight.mean, stride=self.stride, padding=1)
        if mode == VANILLA:
            return F.conv2d(x, self.weight.draws(1)[0], stride=self.stride, padding=1)
        batch = x.shape[0]
        kernels = self.weight.draws(batch).flatten(0, 1)
        x = x.reshape(1, -1, *x.shape[2:])
        y = F.conv2d(x, kernels, stride=self.stride, padding=1, groups=batch)
        return y.reshape(batch, -1, *y.shape[2:])


class Norm(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = nn.BatchNorm2d(channels)
        self.scale, self.shift = Gaussian(channels), Gaussian(channels)

    def forward(self, x, mode):
        if mode == DETERMINISTIC:
            return self.norm(x)
        # Normalised first, then scaled for all examples alike or for each.
        norm = self.norm
        x = F.batch_norm(x, norm.running_mean, norm.running_var, training=norm.training, momentum=0.1)
        count = 1 if mode == VANILLA else x.shape[0]
        scale, shift = (v.draws(count)[:, :, None, None] for v in (self.scale, self.shift))
        return torch.addcmul(shift, scale, x)


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1, self.norm1 = Conv(inputs, outputs, stride), Norm(outputs)
        self.conv2, self.norm2 = Conv(outputs, outputs, 1), Norm(outputs)
        self.stride, self.added = stride, (outputs - inputs) // 2

    def forward(self, x, mode):
        y = F.relu(self.norm1(self.conv1(x, mode), mode))
        y = self.norm2(self.conv2(y, mode), mode)
        if self.stride > 1:
            x = F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, self.added, self.added))
        return F.relu(y + x)


class ResNet20(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = Conv(3, 16, 1), Norm(16)
        widths = [(16, 16, 1), (16, 32, 2), (32, 64, 2)]
        stages = [[(i, o, s), (o, o, 1), (o, o, 1)] for i, o, s in widths]
        self.blocks = nn.ModuleList(Block(*block) for stage in stages for block in stage)
        self.head = Gaussian(64, 10, std=0.1)

    def forward(self, x, mode):
        x = F.relu(self.norm(self.conv(x, mode), mode))
        for block in self.blocks:
            x = block(x, mode)
        x = x.mean((2, 3))
        if mode == EXEMPLAR:
            return torch.bmm(x[:, None], self.head.draws(x.shape[0]))[:, 0]
        return x @ (self.head.mean if mode == DETERMINISTIC else self.head.draws(1)[0])


def median_seconds(run, repeats):
    run()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 2]


def main():
    batch, threads, repeats = (int(argument) for argument in sys.argv[1:4])
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    network = ResNet20().train()
    x, labels = torch.randn(batch, 3, 32, 32), torch.randint(0, 10, (batch,))

    def step(mode):
        network.zero_grad()
        F.cross_entropy(network(x, mode), labels).backward()

    seconds = {
        mode: median_seconds(lambda mode=mode: step(mode), repeats)
        for mode in (DETERMINISTIC, VANILLA, EXEMPLAR)
    }
    network.eval()
    with torch.no_grad():
        seconds["prediction"] = median_seconds(lambda: network(x, DETERMINISTIC), repeats)
    print(json.dumps(seconds))


if __name__ == "__main__":
    main()
