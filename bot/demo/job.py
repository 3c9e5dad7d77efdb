"""A small stand-in for a training job: real processes, real output shapes, real faults, no PyTorch.

`python -m bot.demo.job --ranks 4 --fault lock:2:24` starts as many worker processes with RANK, LOCAL_RANK and
WORLD_SIZE set, which compute a falling loss, meet in an all-reduce over loopback each step and print what a
torchrun `--tee 3` job prints. A fault really happens: a rank blocks on a file lock, spins, is killed, raises,
sees NaN, leaves early, or sleeps. The demo shows a hang with it, and the live tests use all of its faults.
"""

import argparse
import contextlib
import fcntl
import logging
import math
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

FAULTS = ("none", "lock", "busy", "nan", "exception", "exit_early", "loader", "sigkill", "straggler", "oom")
LATE = (
    "[../third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:78] "
    "Timed out waiting {waited}ms for recv operation to complete"
)
CLOSED = (
    "[../third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [127.0.0.1]:{port}. "
    "This is typically caused by a remote worker crashing."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Launch the ranks (or be one, when RANK is set) and return as torchrun would."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--step-seconds", type=float, default=0.2)
    parser.add_argument("--fault", default="none", help=f"name:rank:step[:argument], name one of {', '.join(FAULTS)}")
    parser.add_argument("--eval-every", type=int, default=0)
    parser.add_argument("--save-every", type=int, default=0)
    parser.add_argument("--pause-seconds", type=float, default=1.0, help="how long an eval or a save takes")
    parser.add_argument("--timeout", type=float, default=600.0, help="of a collective, seconds")
    parser.add_argument("--dir", type=Path, default=None)
    parser.add_argument("--stubborn", type=int, default=-1, metavar="RANK", help="this rank does not heed SIGTERM")
    options = parser.parse_args(arguments)
    if "RUNWATCH_JOB_PORT" in os.environ:
        return Worker(options).run()
    return launch(options, list(sys.argv[1:] if arguments is None else arguments))


def launch(options: argparse.Namespace, arguments: list[str]) -> int:
    """Start all ranks, tee their output with torchrun's prefix, end them when one fails."""
    home = options.dir or Path(tempfile.mkdtemp(prefix="runwatch-job-"))
    home.mkdir(parents=True, exist_ok=True)
    lock = (home / "dataset.index.lock").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)  # the other process of the `lock` fault: the launcher itself holds it
    os.set_inheritable(lock.fileno(), False)
    meeting = Meeting(options.ranks)
    workers = [_start(rank, options.ranks, home, meeting.port, arguments) for rank in range(options.ranks)]
    tees = [threading.Thread(target=_tee, args=(rank, worker)) for rank, worker in enumerate(workers)]
    for tee in tees:
        tee.start()
    signal.signal(signal.SIGTERM, lambda *_: _end(workers, "Received 15 death signal, shutting down workers"))
    code = _wait(workers)
    for tee in tees:
        tee.join()
    return code


def _start(rank: int, ranks: int, home: Path, port: int, arguments: list[str]) -> "subprocess.Popen[bytes]":
    environment = os.environ | {
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(ranks),
        "MASTER_ADDR": "127.0.0.1",
        "RUNWATCH_JOB_PORT": str(port),
    }
    command = [sys.executable, "-u", "-m", "bot.demo.job", *arguments, "--dir", str(home)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def _tee(rank: int, worker: "subprocess.Popen[bytes]") -> None:
    assert worker.stdout is not None
    for line in worker.stdout:
        sys.stdout.buffer.write(b"[default%d]:%s" % (rank, line))
        sys.stdout.buffer.flush()


def _stamp(level: str) -> str:
    return f"{level}{time.strftime('%m%d %H:%M:%S')}.000000 {os.getpid()} torch/distributed/elastic/multiprocessing/"


def _end(workers: "list[subprocess.Popen[bytes]]", why: str) -> None:
    say(f"{_stamp('W')}api.py:1028] {why}")
    for worker in workers:
        if worker.poll() is None:
            say(f"{_stamp('W')}api.py:1028] Sending process {worker.pid} closing signal SIGTERM")
            worker.terminate()


def _wait(workers: "list[subprocess.Popen[bytes]]") -> int:
    while any(worker.poll() is None for worker in workers):
        failed = [(r, w) for r, w in enumerate(workers) if w.poll() not in (None, 0)]
        if failed:
            # On a busy machine others have failed because of it before anybody looks: who was killed was first.
            return _report(workers, *min(failed, key=lambda one: one[1].returncode >= 0))
        time.sleep(0.05)
    return int(any(worker.returncode for worker in workers))


def _report(workers: "list[subprocess.Popen[bytes]]", rank: int, failed: "subprocess.Popen[bytes]") -> int:
    for other in workers:
        if other.poll() is None:
            say(f"{_stamp('W')}api.py:1028] Sending process {other.pid} closing signal SIGTERM")
            other.terminate()
    for other in workers:
        with contextlib.suppress(subprocess.TimeoutExpired):
            other.wait(3)
        other.kill()
    say(
        f"{_stamp('E')}api.py:1002] failed (exitcode: {failed.returncode}) local_rank: {rank} "
        f"(pid: {failed.pid}) of binary: {sys.executable}"
    )
    return 1


def say(line: str) -> None:
    """One line of the launcher's own, at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


class Meeting:
    """The all-reduce: answers when every rank has come, and leaves everybody when one is lost."""

    def __init__(self, ranks: int) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._server.getsockname()[1]
        self._ranks = ranks
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        peers = [self._server.accept()[0] for _ in range(self._ranks)]
        try:
            while True:
                sums = [float(peer.recv(64).decode()) for peer in peers]
                mean = f"{sum(sums) / len(sums):.6f}".encode()
                for peer in peers:
                    peer.sendall(mean)
        except (OSError, ValueError):
            for peer in peers:
                peer.close()


class Worker:
    """One rank."""

    def __init__(self, options: argparse.Namespace) -> None:
        name, rank, step, argument = (
            [*options.fault.split(":"), "-1", "-1", "1"][:4]
            if ":" not in options.fault
            else ([*options.fault.split(":"), "1"][:4])
        )
        self.options, self.fault, self.fault_rank, self.fault_step = options, name, int(rank), int(step)
        self.argument = float(argument)
        self.rank, self.ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        self.home: Path = options.dir
        self.random = random.Random(1234)  # noqa: S311 - noise on a loss, no secret
        logging.basicConfig(
            stream=sys.stdout, level=logging.INFO, format=f"%(asctime)s %(levelname)s [rank{self.rank}] %(message)s"
        )
        self.log = logging.getLogger()
        self.lr = 1e-3
        sys.excepthook = self.print_traceback

    def print_traceback(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """As torch does: every line of the traceback under the rank's own label."""
        text = "".join(traceback.format_exception(kind, error, trace))
        sys.stderr.write("".join(f"[rank{self.rank}]: {line}\n" for line in text.splitlines()))

    def run(self) -> int:
        """Train until the steps are done or the fault strikes."""
        if self.rank == self.options.stubborn:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        port = int(os.environ["RUNWATCH_JOB_PORT"])
        self.peer = socket.create_connection(("127.0.0.1", port))
        self.peer.settimeout(self.options.timeout)
        self.log.info("world size %d, 137216 parameters, batch %d x 64 tokens", self.ranks, 8 * self.ranks)
        for step in range(1, self.options.steps + 1):
            if self.rank == self.fault_rank and step >= self.fault_step and not self.strike():
                return 0
            self.train(step)
            self.pause(step)
        self.log.info("training done")
        return 0

    def strike(self) -> bool:
        """Let the fault happen; false: this rank leaves the loop."""
        if self.fault == "exit_early":
            self.log.info("data exhausted, leaving the loop")
            self.log.info("training done")
            return False
        if self.fault == "straggler":
            time.sleep(self.argument)
        elif self.fault == "sigkill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif self.fault == "exception":
            msg = (
                "Expected tensor for argument #1 'indices' to have scalar type Long, but got torch.FloatTensor instead"
            )
            raise RuntimeError(msg)
        elif self.fault in ("lock", "loader", "busy", "oom"):
            self.never_return()
        return True

    def never_return(self) -> None:
        """Block on a file lock or a dead file server, spin, or grow until the kernel ends it."""
        if self.fault == "lock":
            with (self.home / "dataset.index.lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
        if self.fault == "loader":
            shard = self.home / "shard-00017.bin"
            with contextlib.suppress(FileExistsError):
                os.mkfifo(shard)
            shard.read_bytes()
        kept = []
        while True:
            if self.fault == "oom":
                kept.append(bytearray(os.urandom(1 << 20)) * 8)

    def train(self, step: int) -> None:
        """One step: compute, meet the others, print."""
        started = time.monotonic()
        time.sleep(self.options.step_seconds * (0.9 + 0.2 * self.random.random()))
        loss = 2.2 + 3.5 * math.exp(-step / 40) + 0.02 * self.random.gauss(0, 1)
        grad_norm = 0.5 + math.exp(-step / 30) + 0.05 * self.random.random()
        if self.fault == "nan" and 0 < self.fault_step <= step:
            self.lr = 1e18  # a schedule is every rank's own, so all of them err at the same step
            if step > self.fault_step:
                loss = grad_norm = math.nan
        mean = self.all_reduce(loss)
        speed = 8 * self.ranks * 64 / max(time.monotonic() - started, 1e-6)
        self.log.info(
            "step %d/%d loss %.4f grad_norm %.3f lr %.2e tok/s %.0f",
            step, self.options.steps, mean, grad_norm, self.lr, speed,
        )  # fmt: skip

    def all_reduce(self, value: float) -> float:
        """Mean over all ranks; raises as gloo does when a peer is gone or late."""
        try:
            self.peer.sendall(f"{value:.6f}".encode())
            answer = self.peer.recv(64)
        except TimeoutError:
            waited = int(self.options.timeout * 1000)
            raise RuntimeError(LATE.format(waited=waited)) from None
        except OSError:
            answer = b""
        if not answer:
            raise RuntimeError(CLOSED.format(port=os.environ["RUNWATCH_JOB_PORT"]))
        return float(answer.decode())

    def pause(self, step: int) -> None:
        """A lawful pause: everybody evaluates, or rank 0 saves while the others wait in a barrier."""
        if self.options.eval_every and step % self.options.eval_every == 0:
            self.log.info("evaluating at step %d", step)
            time.sleep(self.options.pause_seconds)
            self.log.info("eval_loss %.4f at step %d", 2.4, step)
        if self.options.save_every and step % self.options.save_every == 0:
            if self.rank == 0:
                self.log.info("saving checkpoint at step %d", step)
                time.sleep(self.options.pause_seconds)
                self.log.info("checkpoint saved in %.1fs (1661234 bytes)", self.options.pause_seconds)
            self.all_reduce(0.0)


if __name__ == "__main__":
    raise SystemExit(main())
