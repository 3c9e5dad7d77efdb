"""The watcher process: follows its runs, reads GPUs and host, beats, answers; nothing of it touches the job.

Every part runs by itself. What goes wrong in one becomes a sentence in the heartbeat and leaves the others alone;
Redis may be away at any time.
"""

import asyncio
import contextlib
import gc
import logging
import signal
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from diagnosis.observations import Heartbeat, Symptom
from registry import Registry, RegistryError, connect
from registry.address import parse
from registry.ending import end_all
from watcher.answers import Answers
from watcher.bookmarks import RunTaken, file_name
from watcher.boot import is_this_boot
from watcher.gpu_trouble import GpuTrouble
from watcher.gpus import Gpus
from watcher.host import Host
from watcher.job_end import JobEnd
from watcher.kernel_log import KernelLog
from watcher.pace import Pace
from watcher.plain_logging import start_logging
from watcher.publisher import Publisher
from watcher.run_watch import RunWatch
from watcher.saying import Saying
from watcher.settings import WatcherSettings
from watcher.shared_logs import SharedLogs
from watcher.spool import Spool, SpoolTaken
from watcher.unread import say_how_it_reads
from watcher.worker import NoAnswer

if TYPE_CHECKING:
    from watcher.health_page import HealthPage

CLOCK_SECONDS = 30.0
SPOOL_SECONDS = 10.0
SAY_SECONDS = 1.0
RESTART_SECONDS = (1.0, 5.0, 30.0)
KEPT_KERNEL_LINES = 64
STOP_SECONDS = 1.5
"""A clean end takes at most this, and half a second for what cannot be hurried."""

logger = logging.getLogger(__name__)


class Agent:
    """One watcher."""

    def __init__(self, settings: WatcherSettings, registry: Registry, spool: Spool | None) -> None:
        self.settings = settings
        self.registry = registry
        self.watcher = watcher_name(settings)
        self.publisher = Publisher(registry, self.watcher, spool)
        self.gpus = Gpus(settings.node, seconds=settings.gpu_seconds, deadline_seconds=settings.gpu_deadline_seconds)
        self.host = Host(settings)
        pace = Pace(settings.most_cpu_share)
        self.runs = [
            RunWatch(run, settings, self.publisher, self.watcher, on_bookmark=self._bookmarked, pace=pace)
            for run in settings.runs
        ]
        self.kernel_log = KernelLog(after=self._last_kernel_message())
        self.kernel_lines: deque[Symptom] = deque(maxlen=KEPT_KERNEL_LINES)
        """The newest telling lines of the kernel."""
        self.gpu_troubles = [GpuTrouble(run.name, settings.node) for run in settings.runs]
        self.shared_logs = SharedLogs()
        self.answers = Answers(self)
        self._spool = spool
        self._problems: dict[str, str] = {}
        self._registry_problem: str | None = None
        self._saying = Saying(parse(settings.redis_url).place, settings.home)
        self._offset: tuple[float, float] | None = None
        self._stopping = asyncio.Event()
        self.began = time.monotonic()
        self.page: HealthPage | None = None

    async def watch(self) -> None:
        """Work until `stop`."""
        parts: list[tuple[str, Callable[[], Awaitable[None]]]] = [
            *((f"the logs of {run.run.name}", run.watch) for run in self.runs),
            *((f"what is told of {run.run.name}", lambda run=run: self._tell(run)) for run in self.runs),
            ("the GPUs", self.gpus.watch),
            ("the host", self.host.watch),
            ("the kernel log", self._follow_kernel_log),
            ("judging the node", self._judge_node),
            ("the disks", self._watch_disks),
            ("the spool", self._open_spool),
            ("publishing", self.publisher.run),
            ("heartbeats", self._beat),
            ("what is said here", self._say),
            ("requests", self.answers.serve),
        ]
        parts += self._for_those_outside()
        if self.settings.gpu_seconds <= 0:
            parts = [part for part in parts if part[0] != "the GPUs"]
        tasks = [asyncio.create_task(self._keep(name, work), name=name) for name, work in parts]
        # What the start left behind is not wanted again; a smaller heap stays smaller.
        gc.collect()
        gc.freeze()
        await self._stopping.wait()
        for run in self.runs:
            run.stop()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(STOP_SECONDS):
                await end_all(tasks)
                for run in self.runs:
                    await run.close()
                await self.publisher.flush(STOP_SECONDS / 2)
        self.gpus.close()

    def stop(self) -> None:
        """End cleanly."""
        self._stopping.set()

    def rescan(self) -> None:
        """Look for new log files now."""
        for run in self.runs:
            run.rescan()

    async def job_ended(self, end: JobEnd) -> None:
        """The launched command ended: read on to the end of its output, say how it ended, and stop."""
        for run in self.runs:
            await run.finish(end)
            with contextlib.suppress(RegistryError):
                await run.reporting.tell(self.registry, run.attempts(), time.monotonic(), state=run.state)
        await self.publisher.flush(5.0)
        self.stop()

    def heartbeat(self) -> Heartbeat:
        """What this watcher sees and cannot see at this moment."""
        offset, uncertainty = self._offset or (None, None)
        return Heartbeat(
            watcher=self.watcher,
            node=self.settings.node,
            time=time.time(),
            clock_offset_seconds=offset,
            clock_uncertainty_seconds=uncertainty,
            runs=tuple(run.run.name for run in self.runs),
            lag_bytes=sum(run.lag_bytes for run in self.runs),
            problems=self.problems(),
            fields={
                "files": str(sum(run.files for run in self.runs)),
                "pending": str(self.publisher.pending),
                **self._shared(),
                **self.registry.requests.heartbeat_fields,
            },
        )

    def _shared(self) -> dict[str, str]:
        """Of each run, which of its logs other nodes may see too: they may save them when this one no longer can."""
        named = {
            run.run.name: self.shared_logs.names_of(one.file for one in run.reading.readers()) for run in self.runs
        }
        return {f"shared_logs/{run}": " ".join(names) for run, names in named.items() if names}

    def problems(self) -> tuple[str, ...]:
        """Everything it could not look at, in words."""
        said = [*self._problems.values()]
        for run in self.runs:
            said += run.problems
        said += [what for what in (self.gpus.problem, self.kernel_log.problem, *self.host.problems) if what]
        if self._spool is None or self.publisher.holds_bookmark:
            said.append("findings are sent without being spooled: the state folder takes no writes")
        if self.publisher.problem:
            said.append(f"findings wait: {self.publisher.problem}")
        if self.registry.requests.problem:
            said.append(self.registry.requests.problem)
        return tuple(dict.fromkeys(said))

    @property
    def failing(self) -> dict[str, str]:
        """Parts of this watcher that fail now, with their reason; Redis being away is none of them."""
        return {name: why for name, why in self._problems.items() if name != "registry"}

    @property
    def registry_problem(self) -> str | None:
        """Why the last heartbeat was not taken; None: it was."""
        return self._registry_problem

    # -- the parts

    def _for_those_outside(self) -> list[tuple[str, Callable[[], Awaitable[None]]]]:
        """Who watches the watcher, where somebody set that; nothing of it is loaded otherwise."""
        settings, parts = self.settings, list[tuple[str, Callable[[], Awaitable[None]]]]()
        if settings.watcher_port:
            from watcher.health_page import HealthPage  # noqa: PLC0415

            metrics = None
            if settings.metrics:
                from watcher.metrics import Metrics  # noqa: PLC0415

                metrics = Metrics(self)
            self.page = HealthPage(self, settings.watcher_host, settings.watcher_port, metrics)
            parts.append(("the health page", self.page.serve))
        if settings.watcher_dead_man_url:
            from watcher.dead_man import DeadMan  # noqa: PLC0415
            from watcher.health import is_well  # noqa: PLC0415

            ping = DeadMan(settings.watcher_dead_man_url, settings.dead_man_every_seconds, lambda: is_well(self))
            parts.append(("the dead-man ping", ping.run))
        return parts

    async def _keep(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """Run one part; when it fails, say so and begin it again."""
        failures = 0
        while not self._stopping.is_set():
            began = time.monotonic()
            try:
                await work()
            except RegistryError as away:
                self._problems[name] = f"{name}: {away}"
            except Exception as error:
                logger.exception("%s failed", name)
                self._problems[name] = f"{name}: {type(error).__name__}: {error}"
            else:
                return
            if time.monotonic() - began > RESTART_SECONDS[-1]:
                failures = 0
            await asyncio.sleep(RESTART_SECONDS[min(failures, len(RESTART_SECONDS) - 1)])
            failures += 1
            self._problems.pop(name, None)

    async def _tell(self, run: RunWatch) -> None:
        while True:
            try:
                if not run.clock.is_known:
                    await self._measure_clock()
                await run.reporting.tell(
                    self.registry,
                    run.attempts(),
                    time.monotonic(),
                    state=run.state,
                    dialect=run.dialect,
                    log=run.run.logs[0] if run.run.logs else None,
                    world_size=self._world_size(run),
                )
                await asyncio.sleep(self.settings.tell_seconds)
            except RegistryError:
                await asyncio.sleep(2.0)

    def _world_size(self, run: RunWatch) -> int | None:
        """How many ranks a run has: as its processes say on a node of one run, else as its log says."""
        return self.host.world_size if len(self.runs) == 1 else run.reporting.progress.world_size

    async def _beat(self) -> None:
        measured_at = float("-inf")
        while True:
            began = time.monotonic()
            try:
                if began - measured_at >= CLOCK_SECONDS:
                    await self._measure_clock()
                    measured_at = began
                await self.registry.heartbeats.beat(
                    self.heartbeat(),
                    self.gpus.newest,
                    self.host.with_gpus(self.gpus.newest),
                    ttl=3 * self.settings.heartbeat_seconds,
                )
                for run in self.runs:
                    run.adopt(await self.registry.runs.limits(run.run.name))
            except RegistryError as away:
                self._problems["registry"], self._registry_problem = f"the registry is away: {away}", str(away)
            else:
                self._problems.pop("registry", None)
                self._registry_problem = None
            await asyncio.sleep(max(0.0, self.settings.heartbeat_seconds - (time.monotonic() - began)))

    async def _say(self) -> None:
        """Tell whoever started us what is followed, and whether Redis answers."""
        while True:
            for run in self.runs:
                self._saying.follows(run.run.name, run.run.logs, run.files, run.problems)
                say_how_it_reads(self._saying, run)
            self._saying.registry(self._registry_problem, has_spool=self._spool is not None)
            await asyncio.sleep(SAY_SECONDS)

    async def _measure_clock(self) -> None:
        offset = await self.registry.clock.measure()
        self._offset = (offset.seconds, offset.uncertainty_seconds)
        for run in self.runs:
            run.reporting.progress.move(run.clock.measured(offset.seconds))

    async def _follow_kernel_log(self) -> None:
        async for symptom in self.kernel_log.follow(self.settings.node):
            self.kernel_lines.append(symptom)
            whose = self.host.process_of(symptom.fields.get("pid", ""))
            for run in self.runs:
                if whose is None:
                    run.see(symptom)
                elif not self.host.has_several or whose.run in {None, run.run.name}:
                    place = replace(symptom.origin, rank=whose.rank, local_rank=whose.local_rank)
                    run.see(replace(symptom, origin=place))
                run.kernel_place = [self.kernel_log.boot, self.kernel_log.number or 0]

    def _last_kernel_message(self) -> int | None:
        """The number after which the kernel's messages were not judged yet; None: only what comes from now on is."""
        places = [run.kernel_place for run in self.runs if run.kernel_place and is_this_boot(run.kernel_place[0])]
        return min((int(place[1]) for place in places), default=None)

    async def _judge_node(self) -> None:
        """What the GPUs and the host show concerns every run here."""
        while True:
            await asyncio.sleep(self.settings.host_seconds)
            for run, trouble in zip(self.runs, self.gpu_troubles, strict=True):
                run.keep_quiet_evidence(time.time())
                for said in trouble.look(self.gpus.newest, self.gpus.problem, time.time()):
                    run.accept(said)
                for sample in (*self.gpus.newest, *((self.host.sample,) if self.host.sample else ())):
                    run.see(sample)

    async def _watch_disks(self) -> None:
        """Say in time that a disk of a run fills up, or that its next checkpoint will not fit."""
        # Not needed in the first minute, and not by a watcher that is asked to be small.
        await asyncio.sleep(self.settings.disk_look_seconds)
        from watcher.disk_forecast import DiskForecast  # noqa: PLC0415
        from watcher.run_disks import look_at_disks  # noqa: PLC0415

        forecasts = [DiskForecast(run.run.name, self.settings.node) for run in self.runs]
        while True:
            for run, forecast in zip(self.runs, forecasts, strict=True):
                logs = [Path(reader.file) for reader in run.reading.readers()]
                pids = [process.pid for process in self.host.of_run(run.run.name) if process.state != "gone"]
                look = partial(look_at_disks, pids, logs, run.run.checkpoints, time.time())
                with contextlib.suppress(NoAnswer):
                    for said in forecast.look(await self.host.ask(look, f"the disks of {run.run.name}")):
                        run.accept(said)
            await asyncio.sleep(self.settings.disk_look_seconds)

    async def _open_spool(self) -> None:
        """The state folder took no writes at the start: try again until it does."""
        while self._spool is None:
            await asyncio.sleep(SPOOL_SECONDS)
            with contextlib.suppress(OSError, SpoolTaken):
                self._spool = open_spool(self.settings)
                self.publisher.adopt(self._spool)

    def _bookmarked(self) -> None:
        if self._spool is not None and not any(run.is_unsaved for run in self.runs):
            self._spool.bookmarked()


def watcher_name(settings: WatcherSettings) -> str:
    """What this watcher is called in the registry: its node, and its run where there may be others beside it."""
    return f"{settings.node}/{group_name(settings)}"


def group_name(settings: WatcherSettings) -> str:
    """Tells watchers on one node apart: by their run, or as the one that follows many."""
    return file_name(settings.runs[0].name) if len(settings.runs) == 1 else "all"


def open_spool(settings: WatcherSettings) -> Spool:
    """Where findings lie until they are told."""
    return Spool(settings.home / f"spool-{group_name(settings)}")


async def watch(
    settings: WatcherSettings, *, beside: "Callable[[Agent], Coroutine[None, None, None]] | None" = None
) -> int:
    """Watch until a signal says stop (or whoever works `beside` does); the exit code."""
    start_logging(logging.WARNING, "%(message)s")
    registry = connect(settings.redis_url, name=f"watcher-{settings.node}", request_key=settings.request_key)
    try:
        spool: Spool | None = open_spool(settings)
    except SpoolTaken as taken:
        logger.error("%s", taken)  # noqa: TRY400  (a sentence for people, no stack)
        return 2
    except OSError as problem:
        logger.warning("no spool: %s", problem)
        spool = None
    try:
        agent = Agent(settings, registry, spool)
    except RunTaken as taken:
        logger.error("%s", taken)  # noqa: TRY400  (a sentence for people, no stack)
        return 2
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, agent.stop)
    loop.add_signal_handler(signal.SIGHUP, agent.rescan)
    other = asyncio.create_task(beside(agent)) if beside is not None else None
    try:
        await agent.watch()
    finally:
        if other is not None:
            other.cancel()
        with contextlib.suppress(TimeoutError, Exception):
            await asyncio.wait_for(registry.aclose(), 0.5)
        if spool is not None:
            spool.close()
    return 0
