"""What Prometheus may ask a watcher: what it reads, how far it is behind, what waits, what it cannot see.

Loaded only where RUNWATCH_METRICS and a port are set: the library costs some MiB.
"""

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from diagnosis.errors import Mistake
from watcher.health import is_well

if TYPE_CHECKING:
    from watcher.agent import Agent


class Metrics:
    """The exposition of one watcher; everything in it is known already, so nothing is asked for it."""

    def __init__(self, agent: "Agent") -> None:
        try:
            import prometheus_client  # noqa: PLC0415 - only where somebody asks for it
        except ImportError as missing:
            raise Mistake("RUNWATCH_METRICS needs prometheus-client: pip install 'runwatch[metrics]'.") from missing
        self._client = prometheus_client
        self._agent = agent

    def text(self) -> bytes:
        """In Prometheus' text format, with the process's own memory and processor time."""
        made = self._client.CollectorRegistry()
        made.register(self)
        whole: bytes = self._client.generate_latest(made) + self._client.generate_latest(self._client.REGISTRY)
        return whole

    def collect(self) -> Iterable[Any]:
        """As the library wants it."""
        agent = self._agent
        yield self._gauge("healthy", "Whether /healthz says 200.", float(is_well(agent)))
        yield self._gauge(
            "registry_up", "Whether the registry took the last heartbeat.", float(not agent.registry_problem)
        )
        yield self._gauge("up_seconds", "Since this watcher began.", time.monotonic() - agent.began)
        yield self._gauge("findings_waiting", "Findings on their way to the registry.", float(agent.publisher.pending))
        yield self._gauge("gpus", "GPUs that were read last.", float(len(agent.gpus.newest)))
        yield self._gauge("problems", "What it cannot look at, as the heartbeat tells.", float(len(agent.problems())))
        yield self._of_runs("log_files", "Log files of each run.", {run.run.name: run.files for run in agent.runs})
        yield self._of_runs("lag_bytes", "Bytes not read yet.", {run.run.name: run.lag_bytes for run in agent.runs})

    def _gauge(self, name: str, told: str, value: float) -> Any:
        return self._client.metrics_core.GaugeMetricFamily(f"runwatch_watcher_{name}", told, value)

    def _of_runs(self, name: str, told: str, values: dict[str, int]) -> Any:
        family = self._client.metrics_core.GaugeMetricFamily(f"runwatch_watcher_{name}", told, labels=("run",))
        for run, value in values.items():
            family.add_metric([run], value)
        return family
