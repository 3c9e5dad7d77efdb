"""A workspace, a registry, and a bot's monitor between them."""

import asyncio
import math
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from bot.announcer import Announcer
from bot.app import Bot, bot_running
from bot.looking import Looking
from bot.monitor import Monitor
from bot.once import Once
from bot.settings import BotSettings
from bot.slack import Slack
from bot.workspace import Workspace
from diagnosis.findings import Cleared, Finding, Severity
from diagnosis.incidents import Habits, Tracker
from diagnosis.observations import Evidence, Heartbeat, Origin, Phase, RankProgress, StepSample
from registry import Registry, StreamId, connect, wire
from tests.bot.stand_ins import NoCharts, NoJudge
from tests.bot.stopping import LIMITS
from tests.servers import PATIENT
from tests.watcher.conftest import NOBODY, no_courtesy  # noqa: F401 - for every test here
from watcher.agent import Agent
from watcher.gpus import Gpus
from watcher.settings import WatchedRun, WatcherSettings
from watcher.spool import Spool

WATCHER = "node17"
ROOT = Path(__file__).parents[2]
NVML = ROOT / "tests" / "watcher" / "stand_in_nvml.py"
EPOCH = "e1"


@pytest.fixture
async def workspace() -> AsyncIterator[Workspace]:
    async with Workspace.start(**PATIENT) as slack:
        yield slack


@pytest.fixture
def slack_seconds(request) -> float:
    """How long an answer of Slack's is waited for: short only where this test makes it come too late."""
    fault = getattr(request.node, "callspec", None) and request.node.callspec.params.get("fault")
    return 2.0 if getattr(fault, "kind", None) in {"slow", "drip"} else 10.0


@pytest.fixture
async def slack(workspace, slack_seconds) -> AsyncIterator[Slack]:
    door = Slack(workspace.bot_token, workspace.url, deadline_seconds=slack_seconds, post_interval_seconds=0.0)
    yield door
    await door.aclose()


@pytest.fixture
def finding() -> Callable[..., Finding]:
    def make(
        kind: str = "nonfinite_loss",
        *,
        rank: int | None = 3,
        step: int | None = 41_200,
        line: str = "step=41200 loss=nan",
        text: str = "loss is NaN since step 41,200; last good: step 41,199 with loss 2.31",
        run: str = "run42",
        severity: Severity = Severity.CRITICAL,
        **more: object,
    ) -> Finding:
        where = Origin(run, "node17", rank, rank)
        return Finding(kind, severity, where, text, (Evidence("train.log", 12, line, step),), step, **more)

    return make


@pytest.fixture
def publish(registry: Registry) -> Callable[..., object]:
    """Publishes what a watcher concluded, under its next number; returns the event's id."""
    count = 0

    async def send(verdict: Finding | Cleared) -> str:
        nonlocal count
        count += 1
        await registry.events.register(StreamId(WATCHER, EPOCH))
        await registry.events.publish(WATCHER, EPOCH, count, wire.encode(verdict))
        return f"{WATCHER}/{EPOCH}/{count}"

    return send


@pytest.fixture
def monitoring(registry, slack):
    """`async with monitoring() as monitor`: a bot's monitor that reigns; killed without mercy at the end."""

    @asynccontextmanager
    async def reign(
        *,
        channel: str = "#training",
        fallback: str = "",
        lease_seconds: float = 30.0,
        grace=5.0,
        by=registry,
        door=slack,
        **habits,
    ):
        lease = by.lease("announcer", lease_seconds)
        once = Once(by, door, lease, Looking(door, by.clock), repeat_after_seconds=2.0)

        def crown(tracker: Tracker) -> Announcer:
            return Announcer(
                by,
                door,
                tracker,
                once,
                NoCharts(),
                channel=channel,
                fallback_channel=fallback,
                edit_interval_seconds=0.05,
            )

        monitor = Monitor(
            by, lease, NoJudge(), crown, Habits(**habits), judge_every_seconds=0.2, is_able=lambda: not door.is_deaf
        )
        running = asyncio.create_task(monitor.run(grace))
        try:
            yield monitor
        finally:
            monitor.stop()
            await asyncio.wait_for(running, 60)

    return reign


async def settled(registry: Registry, count: int, seconds: float = 60.0) -> None:
    """Wait until so many findings of the watcher are settled."""
    async with asyncio.timeout(seconds):
        while await registry.ledger.settled(StreamId(WATCHER, EPOCH)) < count:
            await asyncio.sleep(0.02)


@pytest.fixture
def settings(workspace, redis_url) -> Callable[..., BotSettings]:
    """Settings of a bot in this workspace, quick where a real one is patient."""

    def make(**changes: object) -> BotSettings:
        quick: dict[str, object] = {
            "slack_bot_token": workspace.bot_token,
            "slack_app_token": workspace.app_token,
            "slack_api_url": workspace.url,
            "redis_url": redis_url,
            "channel": "#training",
            "edit_interval_seconds": 0.1,
            "slack_deadline_seconds": 10.0,
            "judge_every_seconds": 0.2,
            "ask_deadline_seconds": 4.0,
            "snapshot_deadline_seconds": 6.0,
            "stop_grace_seconds": 3.0,
            "repeat_after_seconds": 2.0,
        }
        return BotSettings(**(quick | changes))

    return make


@pytest.fixture
async def bot(workspace, settings) -> AsyncIterator[Bot]:
    """A whole bot over Socket Mode."""
    async with bot_running(settings()) as running:
        await workspace.connected()
        await workspace.until(lambda: running.identity.team)
        yield running


@pytest.fixture
async def quick_bot(workspace, settings) -> AsyncIterator[Bot]:
    """A bot that waits seconds where a real one waits minutes."""
    async with bot_running(settings(group_wait_seconds=0.5, ask_deadline_seconds=6.0), LIMITS) as running:
        await workspace.connected()
        await workspace.until(lambda: running.identity.team)
        yield running


@pytest.fixture
async def watching(redis_url, tmp_path) -> AsyncIterator[Callable[..., object]]:
    """Start watchers; each on a connection of its own, as on a node of its own."""
    async with AsyncExitStack() as stack:

        async def start(log, node="node002", *, run="llama-7b", scene=None):
            known = WatcherSettings(
                runs=(WatchedRun(run, (str(log),), pids=(NOBODY,)),),
                node=node,
                state_dir=tmp_path / "state" / node,
                redis_url=redis_url,
                poll_seconds=0.05,
                wake_seconds=0.0,
                heartbeat_seconds=0.3,
                tell_seconds=0.1,
                host_seconds=0.3,
                gpu_seconds=0.1 if scene else 0.0,
                thresholds=LIMITS,
            )
            gpus = None
            if scene:
                program = f"import sys, runpy; sys.path.insert(0, {str(ROOT)!r}); sys.argv = ['x', {scene!r}, '0.1']; "
                program += f"runpy.run_path({str(NVML)!r}, run_name='__main__')"
                gpus = Gpus(node, command=[sys.executable, "-c", program], deadline_seconds=2.0)
            return await begin_watching(stack, known, gpus)

        yield start


async def begin_watching(stack: AsyncExitStack, settings: WatcherSettings, gpus: Gpus | None = None) -> Agent:
    """A watcher on a connection of its own, as on a node of its own, until the stack is left."""
    agent = Agent(settings, connect(settings.redis_url, name=settings.node), Spool(settings.home / "spool"))
    agent.gpus = gpus or agent.gpus
    task = asyncio.create_task(agent.watch())

    async def end() -> None:
        agent.stop()
        await task
        await agent.registry.aclose()
        agent.publisher._disk.close()

    stack.push_async_callback(end)
    return agent


async def a_run(registry: Registry, name: str = "run42", *, points: int = 200, bad_from: int | None = None) -> None:
    """Register a run with a falling loss, NaN from a step on."""
    now = await registry.now()
    await registry.series.claim_writer(name, WATCHER)
    samples = [
        StepSample(
            Origin(name, WATCHER, 0, 0),
            step,
            "printed",
            math.nan if bad_from is not None and step >= bad_from else 3.0 - step / (2 * points),
            Evidence("train.log", step, ""),
            grad_norm=0.9,
            lr=1e-4,
            time=now - points + step,
        )
        for step in range(1, points + 1)
    ]
    await registry.series.append(name, 0, samples)
    await registry.runs.see(name, state="running", last_step=points, last_loss=2.5, last_progress=now, world_size=8)
    await registry.ranks.update(name, [RankProgress(Origin(name, WATCHER, 0, 0), points, now, now, Phase.TRAINING)])
    await registry.heartbeats.beat(Heartbeat(WATCHER, WATCHER, now, runs=(name,)), ttl=3600)
