#!/usr/bin/env python3
"""Makes checkpoints/: small files in every format that the library reads or must refuse.

Usage: pip install -r requirements.txt && python3 make_checkpoints.py

All networks hold the same weights, conv -> norm -> fc, filled by `values`: element i of the tensor
number t is (i % 13 - 6) / 4 + t, which float16 and bfloat16 hold exactly.

  zip.pt, legacy.pt       the state dict, as PyTorch writes it since 1.6 and as it wrote it before
  wrapped.pt              {'epoch': .., 'state_dict': {'module.conv.weight': ..}, 'optimizer': ..}
  wrapped_legacy.pth      {'model': ..}, with an argparse namespace and a NumPy scalar beside it
  twice.pt                {'ema': .., 'model': ..}: two copies of different values under the same names
  compiled.pt             a torch.compile'd model, with _orig_mod. in front of every name
  f16.pt, bf16.pt, f64.pt the state dict in other types
  views.pt, views_legacy.pt
                          a transposed, an offset, a strided and an expanded view of one storage
  odd.pt                  an empty tensor, a scalar, integers, truth values, a Parameter, uint16
  no_checksums.pt         zip.pt with compute_crc32 off
  protocol4.pt            zip.pt with pickle protocol 4
  system.pt, system_legacy.pt
                          asks for os.system: must be refused, and nothing run
  full_model.pt           torch.save(model), which names Python classes: must be refused
  plain.safetensors       the state dict
  odd.safetensors         float16, bfloat16, an empty tensor, a scalar, metadata

Not covered: big-endian files, the tar format of PyTorch before 0.1.10, archives over 4 GiB, files that
PyTorch 1.x itself wrote (their layout is the one `_use_new_zipfile_serialization=False` still gives).
"""

import argparse
import os
import pathlib
from collections import OrderedDict

import numpy as np
import torch
from safetensors.torch import save_file
from torch.utils import serialization

OUT = pathlib.Path(__file__).parent / "checkpoints"
SHAPES = OrderedDict([
    ("conv.weight", (4, 3, 3, 3)), ("conv.bias", (4,)),
    ("norm.weight", (4,)), ("norm.bias", (4,)), ("norm.running_mean", (4,)), ("norm.running_var", (4,)),
    ("norm.num_batches_tracked", ()),
    ("fc.weight", (5, 4)), ("fc.bias", (5,)),
])


def values(number, shape):
    count = int(np.prod(shape))
    return ((torch.arange(count) % 13 - 6) / 4 + number).reshape(shape)


def state_dict(shift=0, dtype=torch.float32):
    state = OrderedDict((name, (values(t, shape) + shift).to(dtype)) for t, (name, shape) in enumerate(SHAPES.items()))
    state["norm.num_batches_tracked"] = torch.tensor(7)
    return state


def save(name, value, legacy=False, **options):
    torch.save(value, OUT / name, _use_new_zipfile_serialization=not legacy, **options)


def prefixed(prefix, state):
    return OrderedDict((prefix + name, tensor) for name, tensor in state.items())


def views():
    whole = torch.arange(24.0).reshape(4, 6)
    return OrderedDict(whole=whole, transposed=whole.t(), offset=whole[1:3], strided=whole[:, ::2],
                       expanded=whole[1, :1].expand(3))


def odd():
    return OrderedDict(
        empty=torch.zeros(0, 3), scalar=torch.tensor(2.5), long=torch.tensor([-1, 2**40]), byte=torch.tensor([255], dtype=torch.uint8),
        flag=torch.tensor([True, False]), parameter=torch.nn.Parameter(torch.tensor([1.0, 2.0])),
        short=torch.tensor([1, 65535], dtype=torch.uint16),
    )


class System:
    """Pickles as a call of os.system, which weights have no use for."""

    def __reduce__(self):
        return os.system, ("true",)


def main():
    OUT.mkdir(exist_ok=True)
    state = state_dict()
    save("zip.pt", state)
    save("legacy.pt", state, legacy=True)
    moments = {"state": {0: {"momentum_buffer": torch.ones(2)}}, "param_groups": [{"lr": 0.1, "params": [0]}]}
    save("wrapped.pt", {"epoch": 3, "state_dict": prefixed("module.", state), "optimizer": moments})
    settings = argparse.Namespace(lr=0.1, name="small")
    save("wrapped_legacy.pth", {"args": settings, "best": np.float64(0.5), "model": state}, legacy=True)
    save("twice.pt", {"ema": state_dict(shift=1), "model": state})
    save("compiled.pt", prefixed("_orig_mod.", state))
    for name, dtype in [("f16", torch.float16), ("bf16", torch.bfloat16), ("f64", torch.float64)]:
        save(f"{name}.pt", state_dict(dtype=dtype))
    save("views.pt", views())
    save("views_legacy.pt", views(), legacy=True)
    save("odd.pt", odd())
    serialization.config.save.compute_crc32 = False
    save("no_checksums.pt", state)
    serialization.config.save.compute_crc32 = True
    save("protocol4.pt", state, pickle_protocol=4)
    save("system.pt", {"fc.weight": torch.ones(2), "other": System()})
    save("system_legacy.pt", {"fc.weight": torch.ones(2), "other": System()}, legacy=True)
    save("full_model.pt", torch.nn.Linear(2, 2))
    save_file({name: tensor for name, tensor in state.items()}, OUT / "plain.safetensors")
    save_file(
        dict(half=torch.tensor([1.0, -2.0]).half(), brain=torch.tensor([[0.5]]).bfloat16(), empty=torch.zeros(0, 3),
             scalar=torch.tensor(2.5)),
        OUT / "odd.safetensors", metadata={"about": "odd ones"},
    )
    for path in sorted(OUT.iterdir()):
        assert path.stat().st_size < 20_000, path
        print(f"{path.stat().st_size:6d} {path.name}")


main()
