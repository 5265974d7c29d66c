#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench_qn_torch.py: training steps of our networks beside the same steps in PyTorch.

Needs python3-torch and bench_qn_step. Not a test.

    bench/bench_qn_torch.py time build/dev/bench_qn_step resnet20@1x28x28 --threads 1 --rounds 9
    bench/bench_qn_torch.py compare build/dev/bench_qn_step lenet-s lenet5 resnet20 vgg-small

time: rounds of some steps take turns, ours and theirs, on the same number of threads. compare: both
start from the same parameters and the same batch; loss, class values and gradients of the first
step and the parameters after the second are compared, with PyTorch's in double precision and, as a
measure of what is to be expected, PyTorch's own in single with those.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import tempfile
import time

import torch
import torch.nn.functional as F

NETS = pathlib.Path(__file__).resolve().parent.parent / "data" / "nets"
STEPS = 7  # of a round, as in bench_qn_step
RATE, MOMENTUM, DECAY = 0.01, 0.9, 1e-3  # of its comparison


# ---- networks ------------------------------------------------------------------------------------

def pair(v):
    return [v, v] if isinstance(v, int) else v


def window_args(d):
    pad = pair(d.get("pad", 0))
    if len(pad) == 4 and pad[:2] != pad[2:]:
        raise SystemExit("paddings that differ before and behind are not written yet")
    return {"kernel_size": pair(d["kernel"]), "padding": pad[:2], "dilation": pair(d.get("dilation", 1))}


def make_conv(d, shapes):
    return torch.nn.Conv2d(shapes[0][1], d["out"], stride=pair(d.get("stride", 1)), groups=d.get("groups", 1),
                           bias=d.get("bias", False), **window_args(d))


def make_fc(d, shapes):
    return torch.nn.Linear(shapes[0][1:].numel(), d["out"], bias=d.get("bias", True))


def make_batch_norm(d, shapes):
    kind = torch.nn.BatchNorm2d if len(shapes[0]) == 4 else torch.nn.BatchNorm1d
    return kind(shapes[0][1], eps=d.get("eps", 1e-5), momentum=d.get("momentum", 0.1))


def make_max_pool(d, _):
    return torch.nn.MaxPool2d(stride=pair(d.get("stride", d["kernel"])), ceil_mode=d.get("ceil", False),
                              **window_args(d))


def make_avg_pool(d, _):
    args = window_args(d)
    del args["dilation"]
    return torch.nn.AvgPool2d(stride=pair(d.get("stride", d["kernel"])), ceil_mode=d.get("ceil", False),
                              count_include_pad=d.get("count_pad", True), **args)


class Sum(torch.nn.Module):
    def forward(self, *x):
        return sum(x[1:], x[0])


MAKE = {
    "conv": make_conv,
    "fc": make_fc,
    "batch_norm": make_batch_norm,
    "relu": lambda d, s: torch.nn.ReLU(inplace=True),
    "relu6": lambda d, s: torch.nn.ReLU6(inplace=True),
    "max_pool": make_max_pool,
    "avg_pool": make_avg_pool,
    "global_pool": lambda d, s: torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten()),
    "flatten": lambda d, s: torch.nn.Flatten(),
    "add": lambda d, s: Sum(),
    "quant": lambda d, s: torch.nn.Identity(),
}


class Net(torch.nn.Module):
    """A description of data/nets as a module; quantisers pass values on."""

    def __init__(self, name):
        super().__init__()
        name, _, size = name.partition("@")
        text = json.loads((NETS / (name + ".json")).read_text())
        self.shape = [int(v) for v in size.split("x")] if size else text["input"]
        self.parts = torch.nn.ModuleDict()
        self.order = []  # (name, key of the module, names read)
        values = {"input": torch.zeros(2, *self.shape)}
        last = "input"
        for i, d in enumerate(text["layers"], 1):
            layer = d.get("name", d["type"] + str(i))
            source = d.get("from", last)
            source = [source] if isinstance(source, str) else source
            if d.get("out") == "classes":
                d["out"] = self.classes = text["classes"]
            key = layer.replace(".", "/")
            part = MAKE[d["type"]](d, [values[s].shape for s in source])
            values[layer] = part(*[values[s] for s in source]).detach()
            self.parts[key] = part
            self.order.append((layer, key, source))
            last = layer

    def forward(self, x):
        values = {"input": x}
        for layer, key, source in self.order:
            values[layer] = self.parts[key](*[values[s] for s in source])
        return values[self.order[-1][0]]

    def arrays(self):
        """Parameters and running moments under our names."""
        every = list(self.named_parameters()) + list(self.named_buffers())
        return {k[len("parts."):].replace("/", "."): v for k, v in every if "num_batches" not in k}


# ---- times ---------------------------------------------------------------------------------------

class Theirs:
    def __init__(self, net, batch, threads, channels_last):
        torch.set_num_threads(threads)
        self.net = Net(net).train()
        self.x = torch.rand(batch, *self.net.shape) * 4 - 2
        if channels_last:
            self.net = self.net.to(memory_format=torch.channels_last)
            self.x = self.x.to(memory_format=torch.channels_last)
        self.labels = torch.arange(batch) * 7 % self.net.classes
        self.optim = torch.optim.SGD(self.net.parameters(), 1e-3, momentum=MOMENTUM, weight_decay=DECAY)

    def step(self):
        self.optim.zero_grad(set_to_none=True)
        F.cross_entropy(self.net(self.x), self.labels).backward()
        self.optim.step()

    def round(self):
        """Milliseconds of all cores together and of the wall: the least, and medians."""
        cores, wall = [], []
        self.step()
        for _ in range(STEPS):
            core, began = time.process_time(), time.perf_counter()
            self.step()
            cores.append(1e3 * (time.process_time() - core))
            wall.append(1e3 * (time.perf_counter() - began))
        return min(cores), min(wall), statistics.median(cores), statistics.median(wall)


def our_round(program, net, batch, threads, quantisers):
    command = [program, net, str(batch), str(threads)] + quantisers
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    line = re.search(r"a step takes ([\d.]+) ms of cores, ([\d.]+) ms; median ([\d.]+) ms of cores, ([\d.]+) ms", text)
    return tuple(float(v) for v in line.groups())


def time_net(o, net, threads):
    theirs = Theirs(net, o.batch, threads, o.channels_last)
    rows = []
    for _ in range(o.rounds):
        rows.append((our_round(o.program, net, o.batch, threads, []), theirs.round()))
    for i, what in enumerate(("cores, least", "wall, least", "cores, median", "wall, median")):
        ours, other = [r[0][i] for r in rows], [r[1][i] for r in rows]
        ratio = sorted(a / b for a, b in zip(ours, other))
        # the least of all rounds; of medians their median
        of = min if i < 2 else statistics.median
        print(f"{net:18} threads {threads}  {what:13}  ours {of(ours):8.2f} ms  theirs {of(other):8.2f} ms  "
              f"ratio {of(ours) / of(other):.3f}  by round {ratio[0]:.2f} {statistics.median(ratio):.2f} "
              f"{ratio[-1]:.2f}", flush=True)


# ---- numbers -------------------------------------------------------------------------------------

def read_safetensors(path):
    data = pathlib.Path(path).read_bytes()
    size = int.from_bytes(data[:8], "little")
    types = {"F32": torch.float32, "F64": torch.float64, "I32": torch.int32}
    out = {}
    for name, e in json.loads(data[8:8 + size]).items():
        if name != "__metadata__":
            begin, end = (8 + size + v for v in e["data_offsets"])
            out[name] = torch.frombuffer(bytearray(data[begin:end]), dtype=types[e["dtype"]]).reshape(e["shape"])
    return out


def their_steps(net, given, dtype):
    """What two steps from the same start compute, under the names of bench_qn_step."""
    model = Net(net).to(dtype).train()
    arrays = model.arrays()
    for name, v in arrays.items():
        v.data.copy_(given[name + ".start"].reshape(v.shape))
    optim = torch.optim.SGD(model.parameters(), RATE, momentum=MOMENTUM, weight_decay=DECAY)
    out = {}
    for step in range(2):
        optim.zero_grad()
        y = model(given["x"].to(dtype))
        loss = F.cross_entropy(y, given["labels"].long())
        loss.backward()
        if step == 0:
            out["loss"], out["result"] = loss.detach(), y.detach()
            out.update({k + ".gradient": v.grad.clone() for k, v in arrays.items() if v.grad is not None})
        optim.step()
    out.update({k + ".end": v.detach() for k, v in arrays.items()})
    return out


def apart(a, b):
    """Largest difference by the largest value, and length of the difference by the length."""
    a, b = a.double().reshape(b.shape), b.double()
    return (((a - b).abs().max() / b.abs().max()).item(), ((a - b).norm() / b.norm()).item())


def compare_net(o, net):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "steps.safetensors")
        subprocess.run([o.program, net, str(o.batch), "1"], check=True, env=dict(os.environ, SAVE=path))
        ours = read_safetensors(path)
    exact = their_steps(net, ours, torch.float64)
    single = their_steps(net, ours, torch.float32)
    missing = [k for k in ours if k not in exact and not k.endswith(".start") and k not in ("x", "labels")]
    if missing or any(k not in ours for k in exact):
        raise SystemExit(f"{net}: not the same parameters: {missing}")
    for what in ("loss", "result", "gradient", "end"):
        # a bias in front of a batch norm has a gradient of 0, and what is computed is rounding
        names = [k for k in exact if k.endswith(what) and exact[k].abs().max() > 1e-12]
        for who, values in (("ours", ours), ("theirs", single)):
            worst = max(names, key=lambda k: apart(values[k], exact[k])[1])
            top = max(apart(values[k], exact[k])[0] for k in names)
            print(f"{net:18} {what:9} {who:6} of {len(names):3}: largest value {top:.1e}, length "
                  f"{apart(values[worst], exact[worst])[1]:.1e} ({worst})", flush=True)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("what", choices=["time", "compare"])
    p.add_argument("program", help="bench_qn_step")
    p.add_argument("nets", nargs="+", help="name or name@CxHxW")
    p.add_argument("--batch", type=int, default=128)
    p.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    p.add_argument("--rounds", type=int, default=7)
    p.add_argument("--channels-last", action="store_true", help="the other layout of PyTorch's tensors")
    o = p.parse_args()
    config = torch.__config__.show()
    print("torch", torch.__version__, "oneDNN", re.search(r"MKL-DNN (v[\d.]+)|$", config).group(1),
          re.search(r"CPU capability usage: (\w+)|$", config).group(0))
    torch.manual_seed(1)
    for net in o.nets:
        if o.what == "compare":
            compare_net(o, net)
        else:
            for threads in o.threads:
                time_net(o, net, threads)


if __name__ == "__main__":
    main()
