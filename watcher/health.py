"""Is this watcher well, and what does it see: for /healthz, /metrics and the dead-man ping."""

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from watcher.agent import Agent


def is_well(agent: "Agent") -> bool:
    """Whether it really observes: every part runs, and at least one log of its runs was read.

    Redis away is no illness of the watcher: it goes on and spools.
    """
    return not agent.failing and any(run.files for run in agent.runs)


def account_of(agent: "Agent") -> Mapping[str, Any]:
    """The facts, as JSON can hold them."""
    return {
        "watcher": agent.watcher,
        "node": agent.settings.node,
        "well": is_well(agent),
        "up_seconds": round(time.monotonic() - agent.began, 1),
        "registry": agent.registry_problem or "answers",
        "findings_waiting": agent.publisher.pending,
        "runs": {run.run.name: {"files": run.files, "lag_bytes": run.lag_bytes} for run in agent.runs},
        "failing": dict(agent.failing),
        "problems": list(agent.problems()),
    }
