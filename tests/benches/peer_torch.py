#!/usr/bin/env python3
"""PyTorch's way to a weight per example, on the CPU: the peer of the kernel benchmark.

Usage: peer_torch.py THREADS SECONDS < layers.json

Reads a JSON list of layers and prints one JSON line per layer, source and pass: the median
milliseconds of calls that fill SECONDS after a warm-up. Sources: shared (one weight for the batch) and
gaussian (weights mu + exp(psi) * noise per example, stored, then a convolution with groups = batch, or
bmm), which is how the paper describes it and how a PyTorch user would write it.
"""

import json
import sys
import time

import torch
import torch.nn.functional as F


def calls_until(call, end, fewest, most):
    """Milliseconds of calls until the time `end`, but at least `fewest` of them."""
    times = []
    while len(times) < fewest or (time.perf_counter() < end and len(times) < most):
        start = time.perf_counter()
        call()
        times.append((time.perf_counter() - start) * 1e3)
    return sorted(times)


def median_ms(call, seconds):
    """Up to three calls to warm up; then three calls at the least, as the slowest layer takes seconds."""
    calls_until(call, time.perf_counter() + seconds, 1, 3)
    times = calls_until(call, time.perf_counter() + seconds, 3, 1000)
    middle = len(times) // 2
    return times[middle] if len(times) % 2 else (times[middle - 1] + times[middle]) / 2


def conv(layer, source, x, mu, psi):
    batch, padding = layer["batch"], layer["padding"]
    if source == "shared":
        return F.conv2d(x, mu, padding=padding, groups=layer["groups"])
    w = mu + psi.exp() * torch.randn(batch, *mu.shape)
    x = x.reshape(1, -1, *x.shape[2:])
    y = F.conv2d(x, w.reshape(-1, *mu.shape[1:]), padding=padding, groups=batch * layer["groups"])
    return y.reshape(batch, -1, *y.shape[2:])


def linear(layer, source, x, mu, psi):
    if source == "shared":
        return x @ mu
    return torch.bmm(x[:, None], mu + psi.exp() * torch.randn(layer["batch"], *mu.shape))[:, 0]


def measure(layer, seconds):
    x = torch.randn(layer["x"], requires_grad=True)
    mu = (torch.randn(layer["weight"]) * 0.05).requires_grad_()
    psi = torch.full(layer["weight"], -5.0).requires_grad_()
    apply = conv if layer["op"] == "conv2d" else linear
    for source in ("shared", "gaussian"):
        def forward():
            with torch.no_grad():
                apply(layer, source, x, mu, psi)

        def step():
            x.grad = mu.grad = psi.grad = None
            apply(layer, source, x, mu, psi).sum().backward()

        for name, call in (("forward", forward), ("forward+backward", step)):
            row = dict(shape=layer["shape"], source=source, milliseconds=median_ms(call, seconds))
            print(json.dumps(row | {"pass": name}), flush=True)


def main():
    torch.manual_seed(0)
    torch.set_num_threads(int(sys.argv[1]))
    print(f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads", file=sys.stderr)
    for layer in json.load(sys.stdin):
        measure(layer, float(sys.argv[2]))


if __name__ == "__main__":
    main()
