"""What Prometheus may ask: is the bot well, what is open, who is silent, how Slack answers."""

import asyncio
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from diagnosis.errors import Mistake
from registry.errors import RegistryError

if TYPE_CHECKING:
    from bot.app import Bot

ASK_SECONDS = 2.0
MOST_RUNS = 10_000


class Metrics:
    """Answers /metrics; what the registry knows is asked at that moment, and left out when it does not answer."""

    def __init__(self, bot: "Bot") -> None:
        try:
            import prometheus_client  # noqa: PLC0415 - only where somebody asks for it
        except ImportError as missing:
            raise Mistake("RUNWATCH_METRICS needs prometheus-client: pip install 'runwatch[metrics]'.") from missing
        self._client = prometheus_client
        self._bot = bot

    async def text(self) -> bytes:
        """The exposition, in Prometheus' text format."""
        families = [*self._own(), *await self._from_registry()]
        made = self._client.CollectorRegistry()
        made.register(_Given(families))
        whole: bytes = self._client.generate_latest(made) + self._client.generate_latest(self._client.REGISTRY)
        return whole

    def _own(self) -> Iterable[Any]:
        bot = self._bot
        is_well, facts = bot.health()
        yield self._gauge("runwatch_healthy", "Whether /healthz says 200.", float(is_well))
        yield self._gauge("runwatch_connected", "Whether Slack's socket is open.", float(bool(facts["connected"])))
        yield self._gauge(
            "runwatch_announces", "Whether this bot is the one that announces.", float(bot.monitor.is_reigning)
        )
        yield self._gauge(
            "runwatch_monitor_silent_seconds", "Since the monitor last went round.", bot.monitor.silent_seconds
        )
        failing = {(part,): 1.0 for part in dict(facts["failing"])}  # type: ignore[call-overload]
        yield self._gauge("runwatch_part_failing", "Parts of the bot that fail now.", failing, ("part",))
        yield self._counter("runwatch_slack_calls", "Calls of Slack's Web API.", bot.slack.calls, ("method", "outcome"))

    async def _from_registry(self) -> Iterable[Any]:
        registry = self._bot.registry
        try:
            async with asyncio.timeout(ASK_SECONDS):
                incidents = list((await registry.incidents.all_open()).values())
                runs = await registry.runs.partly(await registry.runs.names(MOST_RUNS), ("state",))
                beats = await registry.heartbeats.all()
                now = await registry.clock.estimate()
                muted = len(await registry.mutes.active(now))
        except (TimeoutError, RegistryError):
            return [self._gauge("runwatch_registry_up", "Whether the registry answers.", 0.0)]
        opened = Counter((str(one.get("severity")), str(one.get("state"))) for one in incidents)
        states = Counter((run.state,) for run in runs)
        ages = {(beat.heartbeat.watcher,): beat.age_seconds for beat in beats}
        silent = float(sum(beat.is_silent for beat in beats))
        return [
            self._gauge("runwatch_registry_up", "Whether the registry answers.", 1.0),
            self._gauge("runwatch_incidents_open", "Open incidents.", opened, ("severity", "state")),
            self._gauge("runwatch_runs", "Runs by state.", states, ("state",)),
            self._gauge("runwatch_watcher_age_seconds", "Since each watcher was last heard.", ages, ("watcher",)),
            self._gauge("runwatch_watchers_silent", "Watchers past their expiry.", silent),
            self._gauge("runwatch_mutes", "Mutes that hold.", float(muted)),
        ]

    def _gauge(self, name: str, told: str, values: Any, labels: tuple[str, ...] = ()) -> Any:
        return self._family(self._client.metrics_core.GaugeMetricFamily, name, told, values, labels)

    def _counter(self, name: str, told: str, values: Any, labels: tuple[str, ...] = ()) -> Any:
        return self._family(self._client.metrics_core.CounterMetricFamily, name, told, values, labels)

    @staticmethod
    def _family(kind: Any, name: str, told: str, values: Any, labels: tuple[str, ...]) -> Any:
        family = kind(name, told, labels=labels)
        for label, value in values.items() if labels else [((), values)]:
            family.add_metric([str(part) for part in label], value)
        return family


class _Given:
    """A collector of what was worked out already."""

    def __init__(self, families: Iterable[Any]) -> None:
        self._families = list(families)

    def collect(self) -> Iterable[Any]:
        """Those."""
        return self._families
