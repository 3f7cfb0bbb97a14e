#!/usr/bin/env python3
"""Makes models/names.json and models/logits.json: what PyTorch's networks are called and compute.

Usage: pip install -r models/requirements.txt && python3 make_models.py [--check NAME FILE]...

names.json: for every architecture on the command line of bayesadapter, names and shapes of its state
dict. `a.*` stands for the four tensors of a norm layer: a.weight, a.bias, a.running_mean, a.running_var.
ResNets, DenseNets and MobileNetV2 are torchvision's own. The others are in reference_models.py; `--check`
compares a definition with a real file, for example `--check resnet20-cifar resnet20.th`.

logits.json: thin networks with `architecture` as bayesadapter's JSON, and their outputs, computed in
float64 and rounded once. Weights and inputs are not stored: `draw` makes them of a tensor's name, and the
test does the same.

Not covered: training mode, dropout (../tests/models/dropout.rs looks at that), published widths (names.json
has their shapes), the weights at the start of training.
"""

import argparse
import json
import math
import pathlib

import numpy as np
import torch
import torchvision
from torchvision.models.resnet import BasicBlock, Bottleneck

from reference_models import CifarResNet, DigitsCnn, EfficientNetLite, MobileFaceNet, Mlp, ThinResNet, WideResNet

HERE = pathlib.Path(__file__).parent / "models"


# ---------------------------------------------------------------- values made of names


def uniform(name, count):
    """`count` numbers in 0 .. 1, exact in float32: 24 bits of a hash of name and index."""
    start = 2166136261
    for byte in name.encode():
        start = (start ^ byte) * 16777619 % 2**32
    z = np.uint32(start) + np.arange(count, dtype=np.uint32) * np.uint32(0x9E3779B9)
    z = (z ^ (z >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    z = (z ^ (z >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    z = z ^ (z >> np.uint32(16))
    return (z >> np.uint32(8)).astype(np.float64) / 2**24


def draw(name, shape):
    """Of a scale that keeps activations near one; scales and variances are positive, nothing is zero."""
    u = uniform(name, math.prod(shape))
    if name == "input":
        value = 4 * u - 2
    elif len(shape) > 1:
        value = (2 * u - 1) * math.sqrt(4 / math.prod(shape[1:]))
    elif name.endswith(("bias", "running_mean")):
        value = (2 * u - 1) * 0.25
    else:
        value = 0.5 + u
    return torch.from_numpy(value.astype(np.float32).reshape(shape))


# ---------------------------------------------------------------- networks

RESNETS = {
    18: (BasicBlock, [2, 2, 2, 2]), 34: (BasicBlock, [3, 4, 6, 3]), 50: (Bottleneck, [3, 4, 6, 3]),
    101: (Bottleneck, [3, 4, 23, 3]), 152: (Bottleneck, [3, 8, 36, 3]),
}  # fmt: skip
DENSENETS = {121: (6, 12, 24, 16), 169: (6, 12, 32, 32), 201: (6, 12, 48, 32)}

# By the family in bayesadapter's JSON.
FAMILIES = {
    "cifar-resnet": CifarResNet,
    "wide-resnet": WideResNet,
    "resnet": lambda depth, classes, width: ThinResNet(*RESNETS[depth], width, classes),
    "densenet": lambda depth, classes, growth: torchvision.models.DenseNet(
        growth, DENSENETS[depth], 2 * growth, num_classes=classes
    ),
    "mobilenet-v2": lambda classes, width: torchvision.models.MobileNetV2(classes, width),
    "efficientnet-lite": EfficientNetLite,
    "mobilefacenet": MobileFaceNet,
    "digits-cnn": DigitsCnn,
    "mlp": Mlp,
}

# By the name on the command line, at published sizes.
NAMED = {
    **{f"resnet{depth}-cifar": lambda depth=depth: CifarResNet(depth, 10, 16) for depth in (20, 32, 44, 56, 110)},
    "wrn-28-10": lambda: WideResNet(28, 10, 10, 16),
    **{
        name: getattr(torchvision.models, name)
        for name in [*(f"resnet{d}" for d in RESNETS), *(f"densenet{d}" for d in DENSENETS), "mobilenet_v2"]
    },
    "efficientnet_lite0": lambda: EfficientNetLite(1000, 1.0),
    "mobilefacenet": lambda: MobileFaceNet(None, (112, 96), 128, 1.0),
    "digits-cnn": lambda: DigitsCnn(10, 16),
    "mlp": lambda: Mlp([1, 8, 8], [64, 64], 10),
}

# Sides differ and some are odd, so that height, width and both kinds of padding are told apart.
CASES = [
    (dict(family="cifar-resnet", depth=8, classes=5, width=4), [2, 3, 13, 10]),
    (dict(family="cifar-resnet", depth=14, classes=5, width=8), [2, 3, 16, 12]),
    (dict(family="wide-resnet", depth=16, widen=2, classes=5, width=4), [2, 3, 13, 10]),
    (dict(family="wide-resnet", depth=10, widen=1, classes=5, width=4), [2, 3, 12, 8]),
    (dict(family="resnet", depth=18, classes=5, width=4), [2, 3, 37, 46]),
    (dict(family="resnet", depth=50, classes=5, width=4), [2, 3, 37, 46]),
    (dict(family="densenet", depth=121, classes=5, growth=4), [2, 3, 41, 64]),
    (dict(family="mobilenet-v2", classes=5, width=0.25), [2, 3, 33, 48]),
    (dict(family="efficientnet-lite", classes=5, width=0.25), [2, 3, 33, 48]),
    (dict(family="mobilefacenet", classes=5, input=[48, 32], embedding=8, width=0.25), [2, 3, 48, 32]),
    (dict(family="mobilefacenet", classes=None, input=[40, 56], embedding=12, width=0.125), [2, 3, 40, 56]),
    (dict(family="digits-cnn", classes=5, width=4), [2, 1, 8, 8]),
    (dict(family="mlp", input=[2, 3, 4], hidden=[6, 7], classes=5), [2, 2, 3, 4]),
    (dict(family="mlp", input=[2, 3, 4], hidden=[], classes=5), [2, 2, 3, 4]),
]


# ---------------------------------------------------------------- files


def tensors(state_dict):
    """Without the counters of batches, which bayesadapter does not have."""
    return {name: tensor for name, tensor in state_dict.items() if not name.endswith("num_batches_tracked")}


def shapes(name):
    with torch.device("meta"):
        return {key: list(tensor.shape) for key, tensor in tensors(NAMED[name]().state_dict()).items()}


def folded(table):
    """`a.*` for each norm layer."""
    short, norms = {}, {key.removesuffix("running_var") for key in table if key.endswith("running_var")}
    for key, shape in table.items():
        norm = key[: key.rindex(".") + 1]
        short[norm + "*" if norm in norms else key] = shape
    return short


def logits(config, input_shape):
    config = dict(config)
    network = FAMILIES[config.pop("family")](**config).eval()
    network.load_state_dict(
        {name: draw(name, list(tensor.shape)) for name, tensor in tensors(network.state_dict()).items()}, strict=False
    )
    with torch.no_grad():
        found = network.double()(draw("input", input_shape).double())
    return [float(np.float32(value)) for value in found.flatten()]


def check(name, file):
    content = torch.load(file, map_location="cpu", weights_only=False)
    content = next((content[key] for key in ("state_dict", "net_state_dict") if key in content), content)
    found = {key.removeprefix("module."): list(tensor.shape) for key, tensor in tensors(content).items()}
    expected = shapes(name)
    differing = sorted(key for key in found.keys() | expected.keys() if found.get(key) != expected.get(key))
    if differing:
        raise SystemExit(f"{file} differs from {name}: {differing}")
    print(f"{file} is a {name}: {len(found)} tensors")


def lines(entries):
    """One entry a line: a change of one is a change of one line."""
    return ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in entries)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", nargs=2, action="append", default=[], metavar=("NAME", "FILE"))
    for name, file in parser.parse_args().check:
        check(name, file)
    names = ",\n".join(f"{json.dumps(name)}:{lines([folded(shapes(name))])}" for name in NAMED)
    (HERE / "names.json").write_text("{\n" + names + "\n}\n")
    cases = [dict(architecture=config, input=shape, logits=logits(config, shape)) for config, shape in CASES]
    (HERE / "logits.json").write_text("[\n" + lines(cases) + "\n]\n")


if __name__ == "__main__":
    main()
