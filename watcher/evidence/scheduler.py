"""What the scheduler knows of the job: Slurm by scontrol and sacct, Kubernetes by the files it gives a pod."""

import re
from pathlib import Path

from watcher.bins import Bin
from watcher.evidence.collector import Outcome, Result, Scene
from watcher.evidence.programs import Program
from watcher.job_environment import environment_of, first_of
from watcher.process_tree import text_of

POD_FILES = (Path("/etc/podinfo"), Path("/etc/pod-info"), Path("/podinfo"))
NAMESPACE = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"
"""Beside it lies the pod's token, which nobody reads."""
_SACCT = "JobID,JobName,State,ExitCode,DerivedExitCode,Start,End,Elapsed,NodeList,MaxRSS,Reason"
_JOB = re.compile(r"\d{1,12}(?:[_+.]\d{1,8})?")


class Scheduler:
    """One file for each thing that answered."""

    name = "scheduler"
    seconds = 12.0
    bytes = 4 << 20

    def collect(self, scene: Scene, into: Bin) -> Result:
        """Ask for this job alone."""
        why = [*self._slurm(scene, into), *_kubernetes(scene, into)]
        if into.files:
            return Result(Outcome.COLLECTED, "; ".join(why))
        return Result(Outcome.UNAVAILABLE, "; ".join(why) or "the job's environment names none")

    def _slurm(self, scene: Scene, into: Bin) -> list[str]:
        job = first_of(scene.pids, "SLURM_JOB_ID", "SLURM_JOBID")
        if job is None or not _JOB.fullmatch(job):
            return []
        asked = (
            Program(("scontrol", "show", "job", job), "slurm-job.txt"),
            Program(("sacct", "-j", job, f"--format={_SACCT}", "-P"), "slurm-accounting.txt"),
        )
        answers = [program.collect(into, (self.seconds - 2) / len(asked), scene.silent) for program in asked]
        return [answer.why for answer in answers if answer.why]


def _kubernetes(scene: Scene, into: Bin) -> list[str]:
    inside = first_of(scene.pids, "KUBERNETES_SERVICE_HOST") is not None
    said = [f"{path}: {text_of(str(path)).strip()}" for folder in POD_FILES for path in _plain_files(folder)]
    if not said and not inside:
        return []
    if namespace := text_of(NAMESPACE).strip():
        said.append(f"namespace: {namespace}")
    for pid in scene.pids[:1]:
        named = {name: value for name, value in environment_of(pid).items() if name.startswith(("POD_", "HOSTNAME"))}
        said += [f"{name}: {value}" for name, value in sorted(named.items())]
    into.write("kubernetes.txt", "\n".join(said) + "\n")
    return []


def _plain_files(folder: Path) -> list[Path]:
    """The downward files; Kubernetes itself reaches them through links inside the folder."""
    try:
        found = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError:
        return []
    return [path for path in found if path.is_file() and path.resolve().is_relative_to(folder.resolve())]
