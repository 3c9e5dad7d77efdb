"""What a watcher does when a person asks to save the evidence, or to stop the job after that."""

import asyncio
import time
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from diagnosis.observations import GpuSample
from diagnosis.redaction import mask
from registry import Request
from watcher.evidence.collector import Scene
from watcher.facts import LOOKS_BEFORE_SECONDS
from watcher.globs import Globs
from watcher.jobs import find_members
from watcher.run_watch import RunWatch
from watcher.snapshot import Order
from watcher.snapshots import Snapshots
from watcher.stopping import WAIT_SECONDS, Outcome, Plan, plan_for, stop
from watcher.worker import Worker

if TYPE_CHECKING:
    from watcher.agent import Agent

LOOK_SECONDS = 3.0
FRESH_LOOKS = (0.15, 0.25)
"""Pauses before two more looks at the processes."""
ANSWER_SECONDS = 3.0
"""Kept of a request's time for the answer's way back."""
FRESH_SECONDS = 900.0
"""A snapshot this young is the evidence before a stop."""
MOST_SHARED = 1000
GPU_SECONDS, GPU_PAUSE_SECONDS = 3.0, 0.2
"""After a stop, so long the driver may take to notice."""
IDLE_GPU_BYTES = 1 << 30
"""An idle GPU's driver itself takes less."""


class Saving:
    """Snapshots and stops of this node's runs."""

    def __init__(self, agent: "Agent") -> None:
        settings = agent.settings
        self._agent = agent
        self._snapshots = Snapshots(
            settings.home / "snapshots",
            settings.snapshot_keep_bytes,
            settings.snapshots_per_hour,
            settings.snapshot_url,
        )
        self._worker = Worker("stop")

    async def snapshot(self, request: Request) -> dict[str, Any]:
        """Save the evidence of a run."""
        run = self._run_of(request)
        if run is None:
            return self._not_mine(request)
        return await self._take(run, request, is_urgent=bool(request.payload.get("before_stop")))

    async def stop_plan(self, request: Request) -> dict[str, Any]:
        """What a stop would do here, and whether it is allowed."""
        run = self._run_of(request)
        if run is None:
            return self._not_mine(request)
        plan = await self._plan(run)
        return plan.as_answer() | {"allowed": run.run.allow_stop}

    async def stop(self, request: Request) -> dict[str, Any]:
        """Stop the job of a run on this node; its evidence is saved first, whoever asks."""
        run = self._run_of(request)
        if run is None:
            return self._not_mine(request)
        plan = await self._plan(run)
        if not run.run.allow_stop:
            said = f"the owner of {run.run.name} did not allow stops when it was registered (--allow-stop)"
            return plan.as_answer() | {"allowed": False, "error": said}
        if not self._snapshots.shelf.taken_since(run.run.name, time.time() - FRESH_SECONDS):
            saved = await self._take(run, request, is_urgent=True)
            if saved["error"]:
                return plan.as_answer() | {"allowed": True, "error": f"not stopped: {saved['error']}"}
        if not plan.family:
            return plan.as_answer() | {"allowed": True, "ended": 0, "left": [], "cleanup": []}
        left = request.deadline - await self._agent.registry.clock.estimate() - ANSWER_SECONDS - GPU_SECONDS
        wait = max(1.0, min(WAIT_SECONDS, left))
        family = {one.pid for one in plan.family}
        used = {gpu.gpu_index for gpu in self._agent.gpus.newest if family & set(gpu.pids or ())}
        outcome: Outcome = await self._worker.call(
            lambda: stop(plan, wait), what="stopping the job", seconds=wait + 15.0
        )
        held = await self._still_held(used)
        return outcome.as_answer(self._gpu_holders()) | {"allowed": True, "gpus_held": held}

    async def _still_held(self, used: Collection[int]) -> list[str]:
        """GPUs of the job whose memory is still in use, once the driver had time to notice the end."""
        for _ in range(int(GPU_SECONDS / GPU_PAUSE_SECONDS)):
            if not _held(self._agent.gpus.newest, used):
                break
            await asyncio.sleep(GPU_PAUSE_SECONDS)
        return _held(self._agent.gpus.newest, used)

    async def _take(self, run: RunWatch, request: Request, *, is_urgent: bool) -> dict[str, Any]:
        agent = self._agent
        await agent.host.look(LOOK_SECONDS, finds=True)
        for pause in FRESH_LOOKS:
            await asyncio.sleep(pause)
            await agent.host.look(LOOK_SECONDS)
        until = request.deadline - await agent.registry.clock.estimate() - ANSWER_SECONDS
        order = Order(
            by=str(request.payload.get("by") or ""),
            note=mask(str(request.payload.get("note") or "")).text,
            at=request.payload.get("at"),
            seconds=min(agent.settings.snapshot_seconds, until),
            most_bytes=agent.settings.snapshot_total_bytes,
            is_urgent=is_urgent,
        )
        taken = await self._snapshots.take(self._scene(run, await self._own(run)), order)
        saved = [file.source for piece in taken.pieces if piece.name == "log_tails" for file in piece.files]
        return taken.as_answer() | {"shared_logs": agent.shared_logs.names_of(saved, MOST_SHARED)}

    async def _plan(self, run: RunWatch) -> Plan:
        """Only processes that are surely of this run: named, writing its logs, or related to such."""
        node = self._agent.settings.node

        def look() -> Plan:
            return plan_for(node, [member.pid for member in find_members([run.run], guesses=False)])

        return await self._worker.call(look, what="/proc on this node", seconds=10.0)

    async def _own(self, run: RunWatch) -> frozenset[int] | None:
        """The processes of this run alone, where the watcher follows several; None: all that are known are its own."""
        if len(self._agent.runs) == 1:
            return None

        def look() -> frozenset[int]:
            return frozenset(member.pid for member in find_members([run.run], guesses=False))

        return await self._worker.call(look, what="/proc on this node", seconds=10.0)

    def _scene(self, run: RunWatch, own: frozenset[int] | None) -> Scene:
        """What there is to look at."""
        agent = self._agent
        processes = agent.host.with_gpus(agent.gpus.newest)
        logs = tuple(dict.fromkeys(Path(reader.file) for reader in run.reading.readers()))
        return Scene(
            run=run.run,
            node=agent.settings.node,
            logs=logs,
            processes=tuple(process for process in processes if own is None or process.pid in own),
            ring=agent.gpus.ring,
            facts={"gpus": agent.gpus.problem or agent.gpus.driver or "", "problems": "; ".join(agent.problems())},
            folders=tuple(dict.fromkeys([*(path.parent for path in logs), agent.settings.home])),
            roots=_roots(run, logs),
            moments=run.moments.all(),
            host_ring=agent.host.ring,
            quiet=run.quiet.texts(),
            looks=agent.host.looks_of(run.run.name, _stopped_at(run)),
        )

    def _gpu_holders(self) -> dict[int, tuple[int, ...]]:
        holders: dict[int, tuple[int, ...]] = {}
        for gpu in self._agent.gpus.newest:
            for pid in gpu.pids or ():
                holders[pid] = (*holders.get(pid, ()), gpu.gpu_index)
        return holders

    def _run_of(self, request: Request) -> RunWatch | None:
        wanted = request.payload.get("run")
        return next((run for run in self._agent.runs if run.run.name == wanted), None)

    def _not_mine(self, request: Request) -> dict[str, Any]:
        return {"error": f"this watcher does not follow {request.payload.get('run')!r:.60}"}


def _held(gpus: Iterable[GpuSample], used: Collection[int]) -> list[str]:
    told = []
    for gpu in gpus:
        memory = gpu.memory_used_bytes or 0
        if gpu.gpu_index in used and memory > IDLE_GPU_BYTES:
            by = ", ".join(map(str, gpu.pids or ())) or "no process that the driver names"
            told.append(f"GPU {gpu.gpu_index}: {memory / (1 << 30):.1f} GiB still in use by {by}")
    return told


def _stopped_at(run: RunWatch) -> float:
    """When the run made its last step, on this node's clock; earlier looks show it at work."""
    progressed_at = run.reporting.progress.facts.get("last_progress")
    return 0.0 if progressed_at is None else float(progressed_at) + run.clock.ahead_seconds + LOOKS_BEFORE_SECONDS


def _roots(run: RunWatch, logs: tuple[Path, ...]) -> dict[str, str]:
    """Below the folder that the user's pattern names, no link is followed."""
    globs = Globs(run.run.logs)
    found = {str(path): globs.means(str(path)) for path in logs}
    return {path: match.beneath for path, match in found.items() if match is not None}
