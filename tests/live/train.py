"""A small real training over gloo whose failures are real; started by torchrun with PyTorch's own Python.

`--fault name:rank:step` lets one rank block on a file lock, skip its part of the all-reduce, be killed, wait for data
that never comes, fill its memory group, or check a loss that is NaN on it alone; or sets a learning rate that no model
survives. Nothing else that is printed says so.
"""

import argparse
import datetime as dt
import fcntl
import logging
import os
import signal
import sys
import time
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=10_000)
parser.add_argument("--dir", type=Path, required=True)
parser.add_argument("--fault", default="none:-1:-1")
parser.add_argument("--eval-every", type=int, default=0)
parser.add_argument("--pause-seconds", type=float, default=4.0)
parser.add_argument("--timeout", type=float, default=600.0)
parser.add_argument("--memory-group", type=Path)
OPTIONS = parser.parse_args()
FAULT, AT_RANK, AT_STEP = OPTIONS.fault.split(":")[0], *map(int, OPTIONS.fault.split(":")[1:3])
RANK, WORLD = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
logging.basicConfig(
    stream=sys.stdout, level=logging.INFO, format=f"%(asctime)s %(levelname)s [rank{RANK}] %(message)s", force=True
)
log = logging.getLogger()
torch.set_num_threads(1)


class Noise(Dataset):
    """Random numbers; the loader of the faulty rank waits for a pipe that nobody fills, as for a dead file server."""

    def __len__(self):
        return 1 << 20

    def __getitem__(self, item):
        if FAULT == "loader" and RANK == AT_RANK and item // (8 * WORLD) >= AT_STEP:
            (OPTIONS.dir / "shard-00017.bin").read_bytes()
        return torch.randn(16, generator=torch.Generator().manual_seed(item))


def strike(step, model, optimizer):
    """Let the fault happen."""
    if FAULT == "nan" and step == AT_STEP:
        for group in optimizer.param_groups:
            group["lr"] = 1e30
    if RANK != AT_RANK or step < AT_STEP:
        return
    if FAULT == "lock":
        with (OPTIONS.dir / "index.lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
    elif FAULT == "skip":
        model.require_backward_grad_sync = False
    elif FAULT == "memory":
        (OPTIONS.memory_group / "cgroup.procs").write_text(str(os.getpid()))
        held = []
        while True:
            held.append(torch.ones(2 << 20))  # 8 MiB
            time.sleep(0.1)
    elif FAULT == "sigkill":
        os.kill(os.getpid(), signal.SIGKILL)


def main():
    """Train until the steps are done or the fault strikes."""
    dist.init_process_group("gloo", timeout=dt.timedelta(seconds=OPTIONS.timeout))
    torch.manual_seed(1234)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(16, 64), nn.GELU(), nn.Linear(64, 1)))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    workers = 1 if FAULT == "loader" else 0
    batches = iter(DataLoader(Noise(), batch_size=8, sampler=range(RANK, 1 << 20, WORLD), num_workers=workers))
    for step in range(1, OPTIONS.steps + 1):
        strike(step, model, optimizer)
        batch = next(batches)
        if FAULT == "nan_here" and RANK == AT_RANK and step >= AT_STEP:
            batch = batch * float("nan")
        loss = (model(batch) - batch.sum(1, keepdim=True)).square().mean()
        if FAULT == "nan_here" and not loss.isfinite():
            raise AssertionError(f"Rank {RANK}: found NaN in local forward loss calculation. Device: cpu, node: n1")
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1e9)
        optimizer.step()
        told = loss.detach().clone()
        dist.all_reduce(told)
        log.info("step %d/%d loss %.4f grad_norm %.3f lr %.2e", step, OPTIONS.steps, told.item() / WORLD, norm, optimizer.param_groups[0]["lr"])  # fmt: skip
        if OPTIONS.eval_every and step % OPTIONS.eval_every == 0:
            log.info("evaluating at step %d", step)
            time.sleep(OPTIONS.pause_seconds)
        time.sleep(0.05)
    dist.destroy_process_group()


main()
