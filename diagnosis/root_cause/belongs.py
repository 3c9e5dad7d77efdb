"""Whether what a kernel or a cluster tells is about this run: they tell of everybody's.

A process, pod, job or node that is known not to be the run's is left out, and so is what a kernel told
long before the run's newest step. One of which nothing tells whose it is may explain an end that nothing else
explains, but only with low confidence and without a name. Where only the zone of a clock is in question, the node
is named, and what was assumed is said.
"""

import re
from functools import cached_property

from diagnosis.case import Case, CaseFile
from diagnosis.formats.timestamps import Clock
from diagnosis.observations import Category
from diagnosis.root_cause.candidates import OF_ONE_PROCESS, Candidate, Whose
from diagnosis.root_cause.cluster import Cluster, is_same_node
from diagnosis.root_cause.killed import CLOCKS_SECONDS, NOTICED_SECONDS, WIDEST_ZONES
from diagnosis.root_cause.passed import between
from diagnosis.root_cause.timeline import Timeline
from diagnosis.signatures.process_names import may_train

_CLUSTER_WIDE = frozenset({"node_shutting_down", "slurm_node_failure"})
"""Rows that controllers print of any node there is."""
_OF_THE_JOB = re.compile(r"\b(?:srun|slurmstepd|salloc|sbatch): ")
"""Slurm's own words inside a job are about that job."""
OUTLIVED_SECONDS = 900.0
"""Steps that are told for longer than this after a line of the kernel show that the run did not end of it."""
RECOVERED_SECONDS = 60.0
"""The same of a trouble that the kernel itself tells the end of."""
_RECOVERY = {"nfs_not_responding": "nfs_ok", "mlx5_link": "mlx5_link_up"}
_HOUR = 3600.0
_FIRST_HALF = 2.25 * _HOUR
"""No zone of half an hour lies nearer to UTC."""
_SOON = 300.0
"""Within this time of a line of the kernel a run ends of it, nearly always."""
_POD = re.compile(r"\bpod/(?P<pod>[\w.-]{1,200})|^(?P<row>[\w.-]{1,200})\s{1,80}\d{1,3}/\d{1,3}\s{1,20}[A-Z]")
_JOB = re.compile(r"^\s{0,12}(?P<job>\d{2,12})(?:[._+]\S{0,40})?[\s|]")
_JOB_OF_FILE = re.compile(r"(?:slurm|job|pbs|lsf)[-_.]?(\d{3,12})|(\d{5,12})(?:[._]\d{1,6})?\.(?:out|err|log)$")
_TAIL = re.compile(
    r"(?:[-.](?:worker|master|launcher|head|chief|leader|node|rank|replica|trainer|ps)s?)?(?:-\d{1,6}){0,3}"
    r"(?:-(?=[a-z]{0,9}\d)[a-z0-9]{4,10}){0,2}$"
)
"""What the name of a pod bears behind that of its job: a role, numbers, letters by chance."""


class Belonging:
    """What is known of a run's nodes, pods and jobs, and of whom a line tells by them."""

    def __init__(self, case: Case, cluster: Cluster, timeline: Timeline) -> None:
        self._case = case
        self._cluster = cluster
        self._timeline = timeline
        self._with_ours: dict[str, bool] = {}
        """Whether a list of pods names one of the run's, by file."""
        self._several: dict[str, bool] = {}
        """Whether a report tells of pods of several jobs, by file."""

    def of(self, found: Candidate) -> Whose:
        """Of whom it tells; what names nobody else tells of the run."""
        text = found.sighting.symptom.evidence.text
        if found.file.kind == "kernel_log" and (by_time := self._by_time(found)) is not Whose.OURS:
            return by_time
        if found.file.kind == "kernel_log" and found.rank is None and self._is_of_another_node(found.node):
            return self._of_silent_node(found)
        if found.name in OF_ONE_PROCESS:
            return Whose.OURS if found.rank is not None else self._of_process(found)
        if _OF_THE_JOB.search(text) is not None:
            return Whose.OURS
        if found.file.kind == "scheduler":
            pod, job = found.sighting.symptom.fields.get("pod") or _name(_POD, text), _name(_JOB, text)
            if pod is not None:
                return self._of_pod(found, pod)
            if job is not None and self._jobs:
                return Whose.OURS if job in self._jobs else Whose.OTHERS
        return self._of_node(found) if found.name in _CLUSTER_WIDE else Whose.OURS

    def _by_time(self, found: Candidate) -> Whose:
        """The run told steps for long after it; where stamps tell no zone, some of those hours may be between zones."""
        time, last = found.sighting.symptom.time, self._timeline.newest_step
        if time is None or last is None or last.time is None:
            return Whose.UNKNOWN if time is None and _has_recovered(found) else Whose.OURS
        later = between(time, last.time)
        if later is None or later <= (RECOVERED_SECONDS if _has_recovered(found) else OUTLIVED_SECONDS):
            return Whose.OURS
        is_exact = self._case.looked_at is not None or (
            _is_zoned(found.sighting.symptom.evidence.text) and _is_zoned(last.evidence.text)
        )
        may_be_zones = later <= WIDEST_ZONES and (later + CLOCKS_SECONDS) % _HOUR <= CLOCKS_SECONDS + _SOON
        if not is_exact and self._fits_another_zone(found, later):
            return Whose.LIKELY
        if is_exact or not may_be_zones:
            return Whose.OTHERS
        return Whose.UNKNOWN if found.rank is None else Whose.OURS

    def _fits_another_zone(self, found: Candidate, later: float) -> bool:
        """A GPU failed whole hours before the last step, nothing follows in that log, and its node is the run's."""
        zone = _HOUR / 2 if later > _FIRST_HALF else _HOUR
        fits = later <= WIDEST_ZONES and (later + CLOCKS_SECONDS) % zone <= 2 * CLOCKS_SECONDS
        nodes, own = self._nodes, found.node
        is_alone = not nodes and len(self._case.of_kind("kernel_log")) == 1
        is_ours = own is not None and (is_alone or any(is_same_node(own, node) for node in nodes))
        is_of_gpu = found.category is Category.GPU_HARDWARE and found.rank is None
        return fits and is_ours and is_of_gpu and _is_newest(found)

    def _of_process(self, found: Candidate) -> Whose:
        """A name that says nothing may be a training's where the run ended just then."""
        if may_train(found.sighting.symptom.fields.get("name", "")):
            return Whose.UNKNOWN
        last, time = self._timeline.newest_step, found.sighting.symptom.time
        later = between(time, last.time) if time is not None and last is not None and last.time is not None else None
        return Whose.UNKNOWN if later is not None and -NOTICED_SECONDS <= later <= CLOCKS_SECONDS else Whose.OTHERS

    def _of_pod(self, found: Candidate, pod: str) -> Whose:
        if self._is_ours(pod):
            return Whose.OURS
        is_listed = _POD.search(found.sighting.symptom.evidence.text) is not None
        if is_listed and self._lists_ours(found.file):
            return Whose.OTHERS  # the run's own pods are in the list, and this is none of them
        return Whose.UNKNOWN if is_listed or self._tells_of_several(found.file) else Whose.OURS

    def _lists_ours(self, file: CaseFile) -> bool:
        if file.path not in self._with_ours:
            pods = filter(None, map(_pod_in, file.tail))
            self._with_ours[file.path] = any(self._is_ours(pod) for pod in pods)
        return self._with_ours[file.path]

    def _tells_of_several(self, file: CaseFile) -> bool:
        if file.path not in self._several:
            sightings = file.log.sightings if file.log is not None else []
            pods = {item.symptom.fields["pod"] for item in sightings if "pod" in item.symptom.fields}
            self._several[file.path] = len({_job_of(pod) for pod in pods}) > 1
        return self._several[file.path]

    def _is_ours(self, pod: str) -> bool:
        job = _job_of(pod)
        return any(pod == name or pod.endswith(f"-{name}") or job in {name, _job_of(name)} for name in self._names)

    def _of_silent_node(self, found: Candidate) -> Whose:
        """A node with a kernel log and no other: where the world is not told, it may be the one that went away."""
        if self._cluster.world is not None:
            return Whose.OTHERS
        may_be_gone = found.category in {Category.NETWORK_FAULT, Category.NODE_LOST} or len(self._nodes) < 2
        return Whose.OURS if may_be_gone else Whose.UNKNOWN

    def _of_node(self, found: Candidate) -> Whose:
        fields = found.sighting.symptom.fields
        named = fields.get("node") or fields.get("node_before")
        if named is None or any(is_same_node(named, node) for node in self._nodes):
            return Whose.OURS
        return Whose.OTHERS if self._is_of_another_node(named) else Whose.UNKNOWN

    def _is_of_another_node(self, named: str | None) -> bool:
        """Every rank's node is known, they are called alike, and this is none of them."""
        if named is None or any(is_same_node(named, node) for node in self._nodes):
            return False
        is_like_ours = _shape(named) in {_shape(node) for node in self._nodes}
        everybody = self._cluster.everybody
        return is_like_ours and bool(everybody) and all(self._cluster.node_of(rank) is not None for rank in everybody)

    @cached_property
    def _nodes(self) -> frozenset[str]:
        nodes = {self._cluster.node_of(rank) for rank in self._cluster.ranks}
        nodes |= {self._cluster.node_of_file(file) for file, _ in self._case.logs()}
        return frozenset(node for node in nodes if node is not None)

    @cached_property
    def _names(self) -> frozenset[str]:
        """Names under which the run's processes are known: hosts, which are pods in a cluster of pods, and files."""
        files = {file.path.rsplit("/", 1)[-1].rsplit(".", 1)[0] for file, _ in self._case.logs()}
        return self._nodes | files

    @cached_property
    def _jobs(self) -> frozenset[str]:
        """Numbers of the run's job: in the names of its logs, or in Slurm's words inside them."""
        told = {_name(_JOB_OF_FILE, file.path) for file, _ in self._case.logs()} - {None}
        for _, log in self._case.logs():
            told |= {item.symptom.fields["job"].split(".")[0] for item in log.all_of("slurm_cancelled")}
        return frozenset(number for number in told if number is not None)


def _has_recovered(found: Candidate) -> bool:
    """Whether a later line of the same file tells that the same server or link is back."""
    back = _RECOVERY.get(found.name)
    subject = found.sighting.symptom.fields
    return back is not None and any(
        item.order > found.sighting.order
        and all(subject.get(name) == item.symptom.fields.get(name) for name in ("server", "interface", "device"))
        for item in found.log.all_of(back)
    )


def _is_newest(found: Candidate) -> bool:
    """Nothing of its log is stamped much later: the log was read soon after it."""
    own, newest = _stamp(found.sighting.symptom.evidence.text), map(_stamp, reversed(found.file.tail))
    last = next((stamp for stamp in newest if stamp is not None), None)
    return own is not None and (last is None or last - own <= NOTICED_SECONDS)


def _stamp(text: str) -> float | None:
    stamp = Clock().find(text)
    return stamp[2] if stamp is not None else None


def _is_zoned(text: str) -> bool:
    clock = Clock()
    return clock.find(text) is not None and clock.style == "zoned"


def _job_of(pod: str) -> str:
    return _TAIL.sub("", pod)


def _pod_in(text: str) -> str | None:
    return _name(_POD, text)


def _shape(node: str) -> str:
    return re.sub(r"\d+", "#", node.split(".", 1)[0])


def _name(pattern: re.Pattern[str], text: str) -> str | None:
    found = pattern.search(text)
    return next((name for name in found.groups() if name is not None), None) if found is not None else None
