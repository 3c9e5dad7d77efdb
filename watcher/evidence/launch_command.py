"""How the job was started: command lines, working folder, and an allow-list of its environment."""

import json
import os

from watcher import process_tree
from watcher.bins import Bin
from watcher.evidence.collector import Outcome, Result, Scene
from watcher.job_environment import environment_of

MOST_RANKS = 16
"""Ranks differ in a few numbers; the first ones tell the rest."""


class LaunchCommand:
    """A small JSON."""

    name = "launch_command"
    seconds = 4.0
    bytes = 1 << 20

    def collect(self, scene: Scene, into: Bin) -> Result:
        """Launchers first, then the ranks."""
        tree = process_tree.look()
        ranks = [process.pid for process in scene.processes if process.rank is not None and process.state != "gone"]
        pids = list(dict.fromkeys([*tree.launchers(ranks or scene.pids), *(ranks or scene.pids)[:MOST_RANKS]]))
        told = [
            {
                "pid": pid,
                "command": command,
                "working_folder": _folder(pid),
                "environment": dict(sorted(environment_of(pid).items())),
            }
            for pid in pids
            if (command := process_tree.command_of(pid))
        ]
        if not told:
            return Result(Outcome.UNAVAILABLE, "no process of the job was found on this node")
        into.write("launch.json", json.dumps({"node": scene.node, "launched": told}, indent=1) + "\n")
        return Result(Outcome.COLLECTED)


def _folder(pid: int) -> str | None:
    try:
        return os.readlink(f"/proc/{pid}/cwd")  # noqa: PTH115  (its target is only text here)
    except OSError:
        return None
