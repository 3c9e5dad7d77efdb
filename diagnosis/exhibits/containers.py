"""How containers ended, as `docker inspect`, `kubectl get pod -o json|yaml` and `kubectl describe pod` tell it.

All three put a key and a value on a line and nest by indentation, so one reader does for all.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import MappingProxyType

from diagnosis.observations import Evidence, Origin, Symptom
from diagnosis.signatures import ROWS

MOST_LINES = 200_000
_DEEPEST = 64
_LINE = re.compile(
    r"^(?P<indent> {0,200})(?P<dash>(?:- )?)\"?(?P<key>[\w./-][\w ./-]{0,80})\"?:(?: {1,40}(?P<value>.*))?$"
)
_BRACE = re.compile(r"^(?P<indent> {0,200})(?:- )?\{$")
_TABLE = re.compile(r"^NAME {1,80}READY {1,20}STATUS {1,20}RESTARTS ")
_ECS_MEMORY = "OutOfMemoryError: Container killed"
_RUNS = frozenset({"Running", "Succeeded", "Pending"})


@dataclass(frozen=True, slots=True)
class ContainerEnd:
    """One container that ended, now or before it was started again."""

    pod: str | None
    node: str | None
    name: str | None
    reason: str
    exit_code: int | None
    line: int
    text: str
    is_failed: bool
    """Its pod failed with it."""
    is_dockers: bool = False
    """Docker itself tells it: there is no pod."""


@dataclass(frozen=True, slots=True)
class ContainerReport:
    """What such a file tells."""

    ends: tuple[ContainerEnd, ...]
    """Containers that ended with an error; of a pod with helpers, only the one that does its work."""
    lines: frozenset[int]
    """Lines that tell how any container ended."""


@dataclass(slots=True)
class _Container:
    name: str | None = None
    reasons: dict[bool, tuple[str, int, str]] = field(default_factory=dict)
    """By whether it was before the newest start."""
    codes: dict[bool, tuple[int, int, str]] = field(default_factory=dict)


@dataclass(slots=True)
class _Pod:
    name: str | None = None
    node: str | None = None
    phase: str | None = None
    is_dockers: bool = False
    wanted: list[str] = field(default_factory=list)
    """Its containers in the order of its specification."""
    with_gpus: set[str] = field(default_factory=set)
    containers: list[_Container] = field(default_factory=list)


class _Reader:
    """Follows keys by their indentation."""

    def __init__(self) -> None:
        self.pods: list[_Pod] = []
        self.lines: set[int] = set()
        self._at = (0, "")
        """The line that is read, with its number."""
        self._path: list[tuple[int, str]] = []
        self._columns = ""
        """The head of the table whose rows these are."""
        self._listed: str | None = None
        """The container of the specification whose lines these are."""

    def read(self, number: int, text: str) -> None:
        self._at = (number, text)
        if self._read_row(text):
            return
        brace = _BRACE.match(text)
        if brace is not None:
            self._pop(len(brace["indent"]))
            self._begin_item()
            return
        found = _LINE.match(text)
        if found is None or len(self._path) > _DEEPEST:
            return
        indent = len(found["indent"]) + len(found["dash"])
        self._pop(indent if not found["dash"] else len(found["indent"]) + 1)
        if found["dash"]:
            self._begin_item()
        value = (found["value"] or "").strip().rstrip(",").strip('"')
        keys = [key for _, key in self._path]
        self._path.append((indent, found["key"]))
        self._take(keys, found["key"], value)

    def _read_row(self, text: str) -> bool:
        """A line of `kubectl get pods`; its columns stand below their heads."""
        if _TABLE.match(text) is not None:
            self._columns = text
            return True
        if not self._columns or text[:1] in {"", " "}:
            self._columns = ""
            return False
        if self._cell(text, "STATUS") != "OOMKilled":
            return True
        self.pods.append(_Pod(self._cell(text, "NAME"), self._cell(text, "NODE"), containers=[_Container()]))
        self._note(self.pods[-1].containers[0], False, "reason", "OOMKilled")
        return True

    def _cell(self, text: str, head: str) -> str | None:
        place = f"{self._columns} ".find(f" {head} ") + 1 if not self._columns.startswith(head) else 0
        cell = text[place:].split("  ", 1)[0].strip() if place or self._columns.startswith(head) else ""
        return cell or None

    def _pop(self, indent: int) -> None:
        while self._path and self._path[-1][0] >= indent:
            self._path.pop()

    def _begin_item(self) -> None:
        if self._path and self._path[-1][1] == "containerStatuses":
            self._pod().containers.append(_Container())

    def _pod(self) -> _Pod:
        if not self.pods:
            self.pods.append(_Pod())
        return self.pods[-1]

    def _take(self, keys: list[str], key: str, value: str) -> None:
        place = (keys[-1] if keys else "", key)
        if "template" in keys:
            return
        if key == "reason" and value.startswith(_ECS_MEMORY):
            self._pod().containers.append(_Container(self._listed))
            self._note(self._pod().containers[-1], False, "reason", "OOMKilled")
            return
        if place in {("", "Id"), ("", "Name"), ("metadata", "name")}:
            self._take_name(key, value)
        elif place == ("spec", "nodeName"):
            self._pod().node = value
        elif not keys and key == "Node" and value not in {"", "<none>"}:
            self._pod().node = value.split("/", 1)[0]
        elif place == ("status", "phase") or (not keys and key == "Status"):
            self._pod().phase = value
        elif "containerStatuses" in keys:
            self._take_status(keys[keys.index("containerStatuses") + 1 :], key, value)
        elif keys[:1] == ["Containers"]:
            self._take_described(keys[1:], key, value)
        elif "containers" in keys:
            self._take_wanted(keys, key, value)
        elif keys[-1:] == ["State"] and key in {"OOMKilled", "ExitCode"}:
            self._take_docker(key, value)

    def _take_name(self, key: str, value: str) -> None:
        """Another one begins; of Docker's, the name stands behind how it ended."""
        if key == "Name" and value.startswith("/"):
            self._pod().name = value[1:]
        else:
            self.pods.append(_Pod(None if key == "Id" else value))

    def _take_wanted(self, keys: list[str], key: str, value: str) -> None:
        pod = self._pod()
        if keys[-1] == "containers" and key == "name":
            self._listed = value
            pod.wanted.append(value)
        elif key.endswith(".com/gpu") and self._listed is not None:
            pod.with_gpus.add(self._listed)

    def _take_status(self, keys: list[str], key: str, value: str) -> None:
        pod = self._pod()
        if not pod.containers:
            pod.containers.append(_Container())
        if not keys and key == "name":
            pod.containers[-1].name = value
        elif keys[-1:] == ["terminated"]:
            self._note(pod.containers[-1], keys[0] == "lastState", key, value)

    def _take_described(self, keys: list[str], key: str, value: str) -> None:
        pod = self._pod()
        if not keys:
            pod.containers.append(_Container(key))
            pod.wanted.append(key)
        elif key.endswith(".com/gpu"):
            pod.with_gpus.add(keys[0])
        elif keys[-1] in {"State", "Last State"} and pod.containers:
            name = {"Reason": "reason", "Exit Code": "exitCode"}.get(key)
            if name is not None:
                self._note(pod.containers[-1], keys[-1] == "Last State", name, value)

    def _take_docker(self, key: str, value: str) -> None:
        pod = self._pod()
        pod.is_dockers = True
        if key == "OOMKilled":
            pod.containers.append(_Container())
        if not pod.containers:
            return
        if key == "ExitCode":
            pod.phase = "Failed" if value.isdecimal() and int(value) else pod.phase
            self._note(pod.containers[-1], False, "exitCode", value)
        elif value == "true":
            self._note(pod.containers[-1], False, "reason", "OOMKilled")

    def _note(self, container: _Container, is_before: bool, key: str, value: str) -> None:
        self.lines.add(self._at[0])
        if key == "reason":
            container.reasons[is_before] = (value, *self._at)
        elif key == "exitCode" and re.fullmatch(r"\d{1,4}", value):
            container.codes[is_before] = (int(value), *self._at)


def read_containers(text: str) -> ContainerReport:
    """Every container of a report; none where the text is no such report."""
    reader = _Reader()
    for number, line in _lines(text):
        reader.read(number, line)
    ends = tuple(end for pod in reader.pods for container in _workers(pod) for end in _ends(pod, container))
    return ContainerReport(ends, frozenset(reader.lines))


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines with their numbers; a document on one line is laid out, and all of it stands on that line."""
    bare = text.strip()
    if bare[:1] in {"{", "["} and "\n" not in bare:
        try:
            laid_out = json.dumps(json.loads(bare), indent=1)
        except (ValueError, RecursionError):
            return
        yield from ((1, line) for line in laid_out.split("\n")[:MOST_LINES])
        return
    for number, line in enumerate(text.split("\n")[:MOST_LINES], 1):
        yield number, line.rstrip("\r")[:4096].replace("\t", " ")


def _workers(pod: _Pod) -> list[_Container]:
    """A log shipper that ran out of memory did not end the training beside it."""
    if pod.with_gpus:
        return [one for one in pod.containers if one.name in pod.with_gpus]
    first = pod.wanted[0] if len(pod.wanted) > 1 else None
    return [one for one in pod.containers if first is None or one.name == first]


def _ends(pod: _Pod, container: _Container) -> Iterator[ContainerEnd]:
    for is_before in (False, True):
        reason = container.reasons.get(is_before)
        code = container.codes.get(is_before)
        is_oom = reason is not None and reason[0] == "OOMKilled"
        telling = reason if is_oom or code is None else code
        if telling is None or not (is_oom or (code is not None and code[0])):
            continue
        if is_before and not is_oom:
            continue  # it was started again, and its own log tells why
        yield ContainerEnd(
            pod=pod.name,
            node=pod.node,
            name=container.name,
            reason=reason[0] if reason is not None else "",
            exit_code=code[0] if code is not None else None,
            line=telling[1],
            text=telling[2],
            is_failed=not is_before and pod.phase not in _RUNS,
            is_dockers=pod.is_dockers,
        )
        return


def as_symptoms(end: ContainerEnd, origin: Origin, file: str) -> list[Symptom]:
    """The same in the words of the tables of telling lines."""
    evidence = Evidence(file, end.line, end.text)
    told = {"node": end.node, "pod": end.pod, "container": end.name}
    fields = {name: value for name, value in told.items() if value}
    if end.exit_code is not None:
        fields["exit_code"] = str(end.exit_code)
    exits = ["container_exit"] if end.is_dockers else ["kubernetes_exit", "kubernetes_failed"][: 1 + end.is_failed]
    names = ["kubernetes_oom"] if end.reason == "OOMKilled" else exits
    return [
        Symptom(origin, name, ROWS[name].role, ROWS[name].category, evidence, MappingProxyType(fields))
        for name in names
    ]
