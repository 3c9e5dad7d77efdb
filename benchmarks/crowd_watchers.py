"""Many watchers in one process, each with connections, a spool and a door of its own: for `benchmarks.crowd`.

One node of each run, the one that writes its series, does all of a watcher's work again and again. The others do it
once; what their door was asked to send is then sent at the same rates, so that a few processes suffice for a thousand.

python -m benchmarks.crowd_watchers REDIS_URL FIRST COUNT NODES_PER_RUN
"""

import asyncio
import logging
import math
import random
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from diagnosis.findings import Cleared
from diagnosis.observations import Evidence, GpuSample, Heartbeat, Origin, ProcessSample, StepSample
from diagnosis.series import AttemptSpan
from registry import Registry, RegistryError, connect
from watcher.publisher import Publisher
from watcher.reporting import Reporting
from watcher.settings import WatchedRun, WatcherSettings

RANKS = 8
START_SECONDS = 30.0
STEP_SECONDS = 2.0
RATES = WatcherSettings()
"""The rates of a watcher nobody configured."""


class Tape:
    """What a registry was asked to send, to be sent again."""

    def __init__(self, registry: Registry) -> None:
        self._door = registry._door  # noqa: SLF001 - the one place where all commands pass
        self._sent: list[Callable[[], Awaitable[Any]]] = []

    async def again(self) -> None:
        """Send what was remembered."""
        for send in self._sent:
            await send()

    async def once(self, work: Callable[[], Awaitable[Any]]) -> None:
        """Do some work and remember its commands; nobody else may use the door meanwhile."""
        real = {name: getattr(self._door, name) for name in ("call", "many", "together")}
        for name, send in real.items():
            setattr(self._door, name, self._remembering(send))
        try:
            await work()
        except RegistryError:
            self._sent.clear()
        finally:
            for name in real:
                delattr(self._door, name)

    def _remembering(self, send: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def sending(*given: Any, **how: Any) -> Any:
            self._sent.append(lambda: send(*given, **how))
            return await send(*given, **how)

        return sending


class Watcher:
    """One node: eight ranks that train."""

    def __init__(self, url: str, number: int, nodes_per_run: int) -> None:
        self.node, self._first_rank = f"node{number:04}", number % nodes_per_run * RANKS
        run = f"run{number // nodes_per_run:03}"
        self.name = f"{self.node}/{run}"
        self.run = WatchedRun(run, (f"/logs/{run}/rank*.log",), owner="person1")
        self.registry = connect(url, self.name)
        self.reporting = Reporting(self.run, self.name, facts_seconds=2 * RATES.tell_seconds)
        self.publisher = Publisher(self.registry, self.name, None)
        self.step = 0
        self._writes = number % nodes_per_run == 0
        self._told, self._beaten = Tape(self.registry), Tape(self.registry)
        self._began = time.time()
        # Every watcher has found something once, so each has a stream that is followed.
        self.publisher.accept(Cleared("loss_spike", Origin(run, self.node, 0, 0), "back to normal"))

    async def watch(self) -> None:
        """For ever; the thousand do not all begin at once."""
        await asyncio.sleep(random.uniform(0.0, START_SECONDS))
        self._print()
        # One after the other and before all else, so that each tape holds its own commands.
        await self._beaten.once(self._beat_now)
        await self._told.once(self._tell_now)
        await asyncio.gather(
            self._train(), self._tell(), self._beat(), self._listen(), self.publisher.run(), return_exceptions=False
        )

    async def _train(self) -> None:
        while self._writes:
            await asyncio.sleep(STEP_SECONDS)
            self._print()

    def _print(self) -> None:
        self.step += 1
        now = time.time()
        loss = 2.0 + 3.0 * math.exp(-self.step / 500) + 0.01 * math.sin(self.step)
        for local in range(RANKS):
            rank = self._first_rank + local
            line = f"[rank{rank}] iteration {self.step}/ 90000 | lm loss: {loss:.6E} | grad norm: 0.913 |"
            seen = StepSample(
                Origin(self.run.name, self.node, rank, local),
                self.step,
                "printed",
                loss,
                Evidence(f"/logs/rank{rank}.log", self.step, line, self.step),
                grad_norm=0.913,
                lr=1e-4,
                time=now,
            )
            self.reporting.progress.observe(seen, 0, now, is_news=True)
            self.reporting.sample(seen, 0)

    async def _tell(self) -> None:
        while True:
            with suppress(RegistryError):
                await (self._tell_now() if self._writes else self._told.again())
            # The others' facts go out at every second turn only, as `Reporting` sends them.
            await asyncio.sleep(RATES.tell_seconds * (1 if self._writes else 2))

    async def _tell_now(self) -> None:
        spans = [AttemptSpan(0, first_step=1.0, started=self._began)]
        facts = {"state": "running", "dialect": "megatron", "log": self.run.logs[0], "world_size": 160}
        await self.reporting.tell(self.registry, spans, time.monotonic(), **facts)

    async def _beat(self) -> None:
        while True:
            began = time.monotonic()
            with suppress(RegistryError):
                await (self._beat_now() if self._writes else self._beaten.again())
            await asyncio.sleep(max(0.0, RATES.heartbeat_seconds - (time.monotonic() - began)))

    async def _beat_now(self) -> None:
        await self.registry.heartbeats.beat(
            Heartbeat(self.name, self.node, time.time(), 0.01, 0.001, (self.run.name,), lag_bytes=0),
            [self._gpu(index) for index in range(RANKS)],
            [self._process(local) for local in range(RANKS)],
            ttl=3 * RATES.heartbeat_seconds,
        )

    async def _listen(self) -> None:
        while True:
            try:
                await self.registry.requests.next(self.name, block=5.0)
            except RegistryError:
                await asyncio.sleep(2.0)

    def _gpu(self, index: int) -> GpuSample:
        busy = random.randrange(60, 100)
        return GpuSample(
            self.node,
            index,
            time.time(),
            uuid=f"GPU-{self.node}-{index}",
            name="NVIDIA H100 80GB HBM3",
            utilization_percent=float(busy),
            memory_used_bytes=70 << 30,
            memory_total_bytes=80 << 30,
            power_watts=612.5,
            power_limit_watts=700.0,
            temperature_c=61,
            sm_clock_mhz=1755,
            pids=(4000 + index,),
        )

    def _process(self, local: int) -> ProcessSample:
        return ProcessSample(
            self.node,
            4000 + local,
            time.time(),
            "python3",
            "running",
            started_at=self._began,
            rank=self._first_rank + local,
            local_rank=local,
            cpu_seconds=1234.5,
            memory_bytes=30 << 30,
            read_bytes=1 << 30,
            gpu_indices=(local,),
        )


async def crowd(url: str, first: int, count: int, nodes_per_run: int) -> None:
    """All of them."""
    # That none has a spool on the disk is meant.
    logging.disable(logging.WARNING)
    await asyncio.gather(*(Watcher(url, number, nodes_per_run).watch() for number in range(first, first + count)))


if __name__ == "__main__":
    asyncio.run(crowd(sys.argv[1], *(int(word) for word in sys.argv[2:5])))
