"""What a watcher answers when it is asked: a fresh look at its node."""

import asyncio
import contextlib
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from diagnosis.redaction import mask
from registry import RegistryError, Request, wire
from registry.facts import pack
from watcher.facts import gather
from watcher.run_watch import RunWatch
from watcher.shelf import Shelf
from watcher.worker import Worker

if TYPE_CHECKING:
    from watcher.agent import Agent
    from watcher.saving import Saving

LOOK_SECONDS = 3.0
PACK_SECONDS = 4.0
FRESH_LOOKS = (0.15, 0.25)
"""Pauses before two more looks at the processes: one alone misleads."""
MOST_SAMPLES = 128
"""Of each kind beside the packed facts; an answer is bounded."""
LINES = 20
_LONGEST_LINE = 500
_MOST_RANKS_WITH_LINES = 64


class Answers:
    """The watcher's side of `registry.requests`."""

    def __init__(self, agent: "Agent") -> None:
        self._agent = agent
        self._kinds = {"look": self._look, "facts": self._facts, "limits": self._limits}
        self._kinds |= dict.fromkeys(("snapshot", "stop_plan", "stop"), self._save)
        self._saving: Saving | None = None
        self._worker = Worker("facts")
        self._at_work: set[asyncio.Task[None]] = set()

    async def serve(self) -> None:
        """Answer for ever; what an interrupted snapshot left is removed first."""
        shelf = Shelf(self._agent.settings.home / "snapshots")
        for run in self._agent.runs:
            shelf.remove_interrupted(run.run.name)
        registry = self._agent.registry
        while True:
            try:
                asked = await registry.requests.next(self._agent.watcher, block=5.0)
            except RegistryError:
                await asyncio.sleep(2.0)
                continue
            for request in asked:
                task = asyncio.create_task(self._answer(request))
                self._at_work.add(task)
                task.add_done_callback(self._at_work.discard)

    async def _answer(self, request: Request) -> None:
        answer = self._kinds.get(request.kind)
        try:
            if answer is None:
                body: Mapping[str, Any] = {"error": f"this watcher does not know how to answer {request.kind!r:.40}"}
            else:
                body = await answer(request)
        except Exception as error:
            body = {"error": f"{type(error).__name__}: {error}"}
        with contextlib.suppress(RegistryError):
            await self._agent.registry.requests.answer(request, body)

    async def _look(self, request: Request) -> dict[str, Any]:
        agent = self._agent
        await agent.host.look(LOOK_SECONDS)
        gpus = agent.gpus.newest
        wanted = request.payload.get("run")
        runs = [run for run in agent.runs if wanted in (None, run.run.name)]
        return {
            "node": agent.settings.node,
            "time": time.time(),
            "heartbeat": wire.plain(agent.heartbeat()),
            "gpus": [wire.plain(gpu) for gpu in (*agent.gpus.recent(), *gpus)],
            "processes": [
                wire.plain(process)
                for process in agent.host.with_gpus(gpus, wanted if isinstance(wanted, str) else None)
            ],
            "ranks": [wire.plain(rank) for run in runs for rank in run.reporting.progress.all()],
            "lines": {name: lines for run in runs for name, lines in _last_lines(run).items()},
            "problems": list(agent.problems()),
        }

    async def _limits(self, request: Request) -> dict[str, Any]:
        """Somebody set other thresholds for a run: from its next point on they hold."""
        wanted, told = request.payload.get("run"), request.payload.get("limits")
        run = next((run for run in self._agent.runs if run.run.name == wanted), None)
        if run is None or not isinstance(told, Mapping):
            return {"error": f"this watcher does not follow {wanted!r:.60}"}
        found = {str(name): wire.number(value) for name, value in told.items()}
        run.adopt({name: value for name, value in found.items() if value is not None})
        return {"taken": True}

    async def _facts(self, request: Request) -> dict[str, Any]:
        """A fresh look and all that tells why the run stopped, as far as this node knows."""
        agent = self._agent
        wanted = request.payload.get("run")
        run = next((run for run in agent.runs if run.run.name == wanted), None)
        if run is None:
            return {"error": f"this watcher does not follow {wanted!r:.60}"}
        await agent.host.look(LOOK_SECONDS, finds=True)
        for pause in FRESH_LOOKS:
            await asyncio.sleep(pause)
            await agent.host.look(LOOK_SECONDS)
        build = gather(agent, run, stands=request.payload.get("stands") is True)
        packed = await self._worker.call(lambda: pack(build()), what="the evidence", seconds=PACK_SECONDS)
        self._worker.close()  # asked seldom: its memory is given back
        gpus, ranks = agent.gpus.newest, run.reporting.progress.all()
        own_gpus = agent.host.gpus_of(run.run.name, gpus)
        shown = [gpu for gpu in (*agent.gpus.recent(), *gpus) if own_gpus is None or gpu.gpu_index in own_gpus]
        processes = agent.host.with_gpus(gpus, run.run.name)
        return {
            "node": agent.settings.node,
            "time": time.time(),
            "heartbeat": wire.plain(agent.heartbeat()),
            "gpus": [wire.plain(gpu) for gpu in shown[:MOST_SAMPLES]],
            "processes": [wire.plain(process) for process in processes[:MOST_SAMPLES]],
            # The registry knows them too, if not as freshly.
            "ranks": [wire.plain(rank) for rank in ranks] if len(ranks) <= MOST_SAMPLES else [],
            "problems": [*agent.host.problems_of(run.run.name), *agent.problems()],
            "facts": packed,
        }

    async def _save(self, request: Request) -> dict[str, Any]:
        """Snapshots and stops."""
        if self._saving is None:
            # Two dozen collectors, which most watchers never need: not loaded before somebody asks.
            from watcher.saving import Saving  # noqa: PLC0415

            self._saving = Saving(self._agent)
        answer: dict[str, Any] = await getattr(self._saving, request.kind)(request)
        return answer


def _last_lines(run: RunWatch) -> dict[str, list[str]]:
    """The last lines of each rank, masked."""
    found: dict[str, list[str]] = {}
    for reader in run.reading.readers():
        ranks: list[int | None] = [*sorted(reader.ranks)[:_MOST_RANKS_WITH_LINES]]
        for rank in ranks or [None]:
            lines = [mask(line[:_LONGEST_LINE]).text for line in reader.recent_lines(rank)[-LINES:]]
            if lines:
                found[reader.file if rank is None else str(rank)] = lines
    return found
