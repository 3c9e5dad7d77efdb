"""Stopping a job the way its framework wants to be stopped: SIGTERM to the launcher, which ends its ranks in order.

Only where the run's owner allowed it when the run was registered, only processes that are surely of this run, and
never SIGKILL: what is left is reported with the command for a person.
"""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from diagnosis.redaction import mask
from watcher import process_tree
from watcher.job_environment import first_of
from watcher.process_tree import Relative, Tree

WAIT_SECONDS = 45.0
"""torchrun gives its ranks 30 seconds before it kills them itself."""
POLL_SECONDS = 0.1
COMMAND_SECONDS = 10.0
_LONGEST_COMMAND = 160
_STATES = {"R": "running", "S": "sleeping", "D": "waits in the kernel", "T": "stopped"}


@dataclass(frozen=True, slots=True)
class Plan:
    """What would be done on this node, and how a person does the same."""

    node: str
    way: str
    """torchrun, deepspeed, slurm, kubernetes, launcher, process."""
    launchers: tuple[Relative, ...] = ()
    family: tuple[Relative, ...] = ()
    """Every process of the job here: what must be gone at the end."""
    command: tuple[str, ...] = ()
    """A program that asks the scheduler; empty: a signal is sent."""
    hints: tuple[str, ...] = ()
    """What else a person may have to run."""

    @property
    def commands(self) -> tuple[str, ...]:
        """Exactly what a person would type."""
        if self.command:
            return (" ".join(self.command), *self.hints)
        pids = " ".join(str(launcher.pid) for launcher in self.launchers)
        return (*((f"kill -TERM {pids}",) if pids else ()), *self.hints)

    def as_answer(self) -> dict[str, Any]:
        """For whoever asked."""
        return {
            "node": self.node,
            "way": self.way,
            "launchers": [
                {"pid": one.pid, "command": mask(process_tree.command_of(one.pid)).text[:_LONGEST_COMMAND]}
                for one in self.launchers
            ],
            "processes": len(self.family),
            "commands": list(self.commands),
        }


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of it."""

    plan: Plan
    seconds: float
    left: tuple[Relative, ...] = ()
    """Zombies are not: they hold nothing any more, and their parent will see them."""
    error: str = ""

    def as_answer(self, gpu_holders: Mapping[int, Sequence[int]]) -> dict[str, Any]:
        """For whoever asked; `gpu_holders`: process → GPUs whose memory it still holds."""
        left = [one.pid for one in self.left]
        names = " ".join(map(str, left))
        return self.plan.as_answer() | {
            "ended": len(self.plan.family) - len(left),
            "seconds": round(self.seconds, 1),
            "error": self.error,
            "left": [
                {
                    "pid": one.pid,
                    "name": one.name,
                    "state": _STATES.get(one.state, one.state),
                    "gpus": list(gpu_holders.get(one.pid, ())),
                }
                for one in self.left
            ],
            "gpu_holders": {str(pid): list(gpus) for pid, gpus in gpu_holders.items() if pid in left},
            "cleanup": [f"kill -TERM {names}; sleep 10; kill -KILL {names}"] if left else [],
        }


def plan_for(node: str, ranks: Collection[int], tree: Tree | None = None) -> Plan:
    """How the job of these processes is stopped here."""
    tree = tree or process_tree.look()
    family = tuple(tree.all[pid] for pid in tree.family(ranks))
    launchers = tuple(tree.all[pid] for pid in tree.launchers(ranks))
    if not launchers:
        return Plan(node, "process")
    pids = [one.pid for one in family]
    job, pod = first_of(pids, "SLURM_JOB_ID", "SLURM_JOBID"), first_of(pids, "POD_NAME")
    if job is not None and job.isdecimal():
        is_first = first_of(pids, "SLURM_NODEID") in (None, "0")
        command = ("scancel", "--signal=TERM", job) if shutil.which("scancel") and is_first else ()
        hints = () if command else (f"scancel --signal=TERM {job}",)
        return Plan(node, "slurm", launchers if not command and is_first else (), family, command, hints)
    if pod is not None or first_of(pids, "KUBERNETES_SERVICE_HOST") is not None:
        where = first_of(pids, "POD_NAMESPACE")
        name = pod or first_of(pids, "HOSTNAME") or "POD"
        hint = f"kubectl delete pod {name} --grace-period=60" + (f" -n {where}" if where else "")
        return Plan(node, "kubernetes", launchers, family, hints=(hint,))
    return Plan(node, _way(launchers, ranks), launchers, family)


def stop(plan: Plan, wait_seconds: float = WAIT_SECONDS) -> Outcome:
    """Ask the launcher to end, wait, and say what is left."""
    began = time.monotonic()
    error = _ask_scheduler(plan.command) if plan.command else _signal(plan.launchers)
    if error:
        return Outcome(plan, time.monotonic() - began, tuple(_living(plan.family)), error)
    while time.monotonic() - began < wait_seconds and _living(plan.family):
        time.sleep(POLL_SECONDS)
    return Outcome(plan, time.monotonic() - began, tuple(_living(plan.family)))


def _way(launchers: Sequence[Relative], ranks: Collection[int]) -> str:
    commands = " ".join(process_tree.command_of(one.pid) for one in launchers)
    if all(one.pid in ranks for one in launchers):
        return "process"
    if any(one.name == "pt_elastic" for one in launchers) or "torchrun" in commands or "distributed.run" in commands:
        return "torchrun"
    return "deepspeed" if "deepspeed" in commands else "launcher"


def _signal(launchers: Sequence[Relative]) -> str:
    """SIGTERM to exactly these processes: through descriptors, so that a number used anew is never meant."""
    problems = []
    for launcher in launchers:
        try:
            descriptor = os.pidfd_open(launcher.pid)
        except ProcessLookupError:
            continue
        except OSError as error:
            problems.append(f"{launcher.pid}: {error.strerror}")
            continue
        try:
            now = process_tree.read(launcher.pid)
            if now is not None and now.started_ticks == launcher.started_ticks:
                signal.pidfd_send_signal(descriptor, signal.SIGTERM)
        except OSError as error:
            problems.append(f"{launcher.pid}: {error.strerror}")
        finally:
            os.close(descriptor)
    return "; ".join(problems)


def _ask_scheduler(command: Sequence[str]) -> str:
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=COMMAND_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        return f"{command[0]}: {problem}"
    said = mask((done.stderr or done.stdout).decode("utf-8", "replace").strip()).text
    return f"{command[0]} ended with exit code {done.returncode}: {said:.200}" if done.returncode else ""


def _living(family: Sequence[Relative]) -> list[Relative]:
    """Those of the family that still live, as they are now."""
    found = []
    for one in family:
        now = process_tree.read(one.pid)
        if now is not None and now.started_ticks == one.started_ticks and now.state != "Z":
            found.append(now)
    return found
