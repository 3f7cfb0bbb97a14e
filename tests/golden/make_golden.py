#!/usr/bin/env python3
"""Makes golden.safetensors: exemplar maps and their gradients by PyTorch.

Usage: pip install -r requirements.txt && python3 make_golden.py

PyTorch computes a weight per example the way the paper describes: a grouped convolution with
groups = batch, and bmm. Inputs are float32; PyTorch works in float64 and the results are rounded to
float32 once, so a golden value carries no accumulation error of its own. The loss is
sum(y * cotangent), so a stored gradient is a vector-Jacobian product.

Metadata entry "about" is JSON: versions, cases (geometry and index), noise keys. Tensors, for every case
`c` and each source `s`:
  c/x, c/cotangent, c/bias (where the case has one)    inputs shared by the sources
  c/s/<parameter>                                      given: weights; gaussian: mu, psi;
                                                       low_rank: shared, left, right
  c/s/y, c/s/dx, c/s/dbias, c/s/d<parameter>           results
The gaussian source uses key "key". Noise: noise/bits [keys, 64] (uint32), noise/uniforms and
noise/normals [keys, 64] (float32) of elements 0 .. 64 under the keys "noise".

Not covered: batches of zero, images smaller than the stride, more than 65,535 workgroups, tensors
past a binding limit, dtypes other than float32, speed. Sizes are small,
so sums over thousands of terms are not covered either; the reference and property tests do those.
"""

import json
import pathlib
import sys

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.numpy import save_file

import philox

RANDOM = np.random.default_rng(20240611)
KEY = dict(seed=0x9ABCDEF012345678, draw=3, parameter=11, first_example=5)
ALL = ("given", "gaussian", "low_rank")


def conv(name, b, i, o, image, kernel, stride=(1, 1), dilation=(1, 1), padding=(0, 0, 0, 0), groups=1, bias=False):
    """Padding is (top, bottom, left, right)."""
    return dict(
        name=name, op="conv2d", x=[b, i, *image], weight=[o, i // groups, *kernel], stride=stride,
        dilation=dilation, padding=padding, groups=groups, bias=bias,
    )


def linear(name, b, t, i, o, bias=False):
    return dict(name=name, op="matmul", x=[b, t, i], weight=[i, o], bias=bias)


CASES = [
    linear("linear", 5, 1, 13, 7, bias=True),
    linear("linear_rows", 3, 5, 11, 6, bias=True),
    linear("linear_one", 1, 1, 1, 1),
    conv("conv3x3", 4, 3, 5, (7, 6), (3, 3), padding=(1, 1, 1, 1), bias=True),
    conv("stride2", 3, 4, 4, (9, 8), (3, 3), stride=(2, 2), padding=(1, 1, 1, 1)),
    conv("dilation2", 3, 2, 3, (8, 9), (3, 3), dilation=(2, 2), padding=(2, 2, 2, 2)),
    conv("groups2", 3, 4, 6, (5, 5), (3, 3), padding=(1, 1, 1, 1), groups=2, bias=True),
    conv("depthwise", 3, 5, 5, (7, 5), (3, 3), padding=(1, 1, 1, 1), groups=5),
    conv("multiplier2", 2, 3, 6, (5, 4), (3, 3), padding=(1, 1, 1, 1), groups=3),
    conv("conv1x1", 3, 6, 7, (5, 3), (1, 1)),
    conv("non_square", 3, 3, 4, (4, 9), (2, 5), stride=(1, 2), padding=(0, 0, 2, 2), bias=True),
    conv("asymmetric", 3, 2, 4, (6, 5), (3, 2), padding=(0, 2, 1, 0)),
    conv(
        "everything", 3, 4, 2, (11, 7), (3, 2), stride=(3, 2), dilation=(2, 3), padding=(2, 1, 0, 3), groups=2, bias=True
    ),
    conv("prime", 7, 2, 3, (5, 3), (3, 3), padding=(1, 1, 1, 1)),
    conv("one_pixel", 2, 3, 2, (1, 1), (3, 3), padding=(1, 1, 1, 1)),
]


def draw(*shape, scale=1.0):
    return (RANDOM.standard_normal(shape) * scale).astype(np.float32)


def leaf(array):
    return torch.tensor(array, dtype=torch.float64, requires_grad=True)


def fan(case):
    """(in, out) of the weight read as a matrix."""
    w = case["weight"]
    return (w[0], w[1]) if case["op"] == "matmul" else (w[1] * w[2] * w[3], w[0])


def parameters(case, source, slots):
    """float32 arrays by name. Spreads are large so that noise weighs as much as the mean."""
    weight, (fan_in, fan_out), rank = case["weight"], fan(case), 2
    if source == "given":
        return dict(weights=draw(slots, *weight))
    if source == "gaussian":
        return dict(mu=draw(*weight), psi=draw(*weight, scale=0.5) - np.float32(0.5))
    left = 1 + draw(slots, fan_in, rank, scale=0.3)
    right = 1 + draw(slots, rank, fan_out, scale=0.3)
    return dict(shared=draw(*weight), left=left, right=right)


def weights_of(case, source, p, index):
    """One weight per example, [b, *weight], in float64."""
    batch, weight = case["x"][0], case["weight"]
    if source == "given":
        return p["weights"][index]
    if source == "gaussian":
        count = int(np.prod(weight))
        eps = np.stack([philox.normals(KEY, b, count) for b in range(batch)])
        eps = torch.tensor(eps.astype(np.float32), dtype=torch.float64)
        return p["mu"] + p["psi"].exp() * eps.reshape(batch, *weight)
    scale = torch.bmm(p["left"], p["right"])
    if case["op"] == "conv2d":
        scale = scale.transpose(1, 2)
    return p["shared"] * scale[index].reshape(batch, *weight)


def apply(case, x, w, bias):
    """y of one weight per example."""
    batch = case["x"][0]
    if case["op"] == "matmul":
        y = torch.bmm(x, w)
        return y if bias is None else y + bias[:, None, :]
    top, bottom, left, right = case["padding"]
    x = F.pad(x, (left, right, top, bottom))
    y = F.conv2d(
        x.reshape(1, -1, *x.shape[2:]), w.reshape(-1, *w.shape[2:]), bias=None if bias is None else bias.reshape(-1),
        stride=case["stride"], dilation=case["dilation"], groups=batch * case["groups"],
    )
    return y.reshape(batch, -1, *y.shape[2:])


def index_of(batch):
    """Index and number of slots: fewer than examples, unsorted. A batch of four or more leaves the last
    slot without an example, so that its gradient must come out as zero."""
    used = max(1, (batch + 1) // 2)
    return [(used - 1 - b) % used for b in range(batch)], used + (batch > 3)


def run(case, out):
    index, slots = index_of(case["x"][0])
    case["index"] = index
    inputs = dict(x=draw(*case["x"]))
    if case["bias"]:
        outputs = case["weight"][1 if case["op"] == "matmul" else 0]
        inputs["bias"] = draw(case["x"][0], outputs)
    cotangent = None
    for source in ALL:
        arrays = inputs | parameters(case, source, slots)
        leaves = {name: leaf(array) for name, array in arrays.items()}
        w = weights_of(case, source, leaves, index)
        y = apply(case, leaves["x"], w, leaves.get("bias"))
        cotangent = draw(*y.shape) if cotangent is None else cotangent
        (y * torch.tensor(cotangent, dtype=torch.float64)).sum().backward()
        prefix = f"{case['name']}/{source}"
        out[f"{prefix}/y"] = y.detach().numpy().astype(np.float32)
        for name, tensor in leaves.items():
            out[f"{prefix}/d{name}"] = tensor.grad.numpy().astype(np.float32)
            if name not in inputs:
                out[f"{prefix}/{name}"] = arrays[name]
    for name, array in (inputs | dict(cotangent=cotangent)).items():
        out[f"{case['name']}/{name}"] = array


def noise(out):
    """Every field of the key moves on its own, and reaches its largest value."""
    zero = dict(seed=0, draw=0, parameter=0, first_example=0, example=0)
    top = philox.WORD
    changes = [{}, dict(seed=1), dict(seed=1 << 32), dict(draw=1), dict(parameter=1), dict(first_example=1)]
    keys = [zero | change for change in changes]
    keys += [KEY | dict(example=2), dict(seed=(1 << 64) - 1, draw=top, parameter=top, first_example=top, example=1)]
    bits = np.stack([philox.words(key, key["example"], 64) for key in keys])
    out["noise/bits"] = bits
    out["noise/uniforms"] = philox.uniforms(bits).astype(np.float32)
    out["noise/normals"] = np.stack([philox.normals(key, key["example"], 64) for key in keys]).astype(np.float32)
    return keys


def main():
    philox.check_known_answers()
    out = {}
    keys = noise(out)
    for case in CASES:
        run(case, out)
    about = dict(
        torch=torch.__version__, numpy=np.__version__, python=sys.version.split()[0], key=KEY, noise=keys, cases=CASES
    )
    # One entry: safetensors writes several in no fixed order, and the file should be the same each time.
    metadata = dict(about=json.dumps(about))
    path = pathlib.Path(__file__).with_name("golden.safetensors")
    save_file({name: np.ascontiguousarray(array) for name, array in out.items()}, path, metadata)
    print(f"{path.name}: {len(out)} tensors, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
