"""What NCCL's RAS says of a job: communicators whose ranks stand at different collectives, and processes it lost.

Text since NCCL 2.24, JSON since 2.28.7 (NVIDIA/nccl, ras.rst). Ranks are grouped by identical state.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

MOST_MEMBERS = 4096
MOST_GROUPS = 256

_HEAD = re.compile(
    r"^\s{0,4}#(?P<group>\d{1,6})-(?P<number>\d{1,6}) \((?P<hash>[0-9a-f]{1,32})\) (?P<what>[A-Z]{2,20})"
)
_COUNT = re.compile(
    r"^\s{1,12}(?P<ranks>\d{1,7}) ranks? (?:has|have) launched up to (?:(?P<kind>[A-Z]\w{1,30}) )?"
    r"operation (?P<number>\d{1,15})"
)
_STATUS = re.compile(r"^\s{1,12}(?P<ranks>\d{1,7}) ranks? (?:has|have) status (?P<status>[A-Z]{2,20})")
_MEMBER = re.compile(
    r"^\s{1,12}Rank (?P<rank>\d{1,7}) -- GPU \S{1,20} managed by process (?P<pid>\d{1,10}) on node (?P<node>\S{1,120})"
)
_MISSING = re.compile(r"^\s{1,12}The missing ranks?: (?P<ranks>[\d, -]{1,2000})")
_PROCESS = re.compile(r"^\s{1,12}Process (?P<pid>\d{1,10}) on node (?P<node>\S{1,120}) managing GPU")
_SECTION = re.compile(r"^\s{0,4}(?P<what>DEAD|INCOMPLETE|TIMEOUT)\s{0,4}$")


@dataclass(frozen=True, slots=True)
class RasMember:
    """One rank of a communicator; the number counts within it."""

    rank: int
    pid: int | None = None
    node: str | None = None


@dataclass(frozen=True, slots=True)
class RasGroup:
    """Ranks of one communicator in the same state."""

    communicator: str
    state: str
    """`operation 6649`, `AllReduce 6649`, `status INIT`, `missing`, `dead`."""
    size: int
    number: int | None = None
    """How many collectives they launched; None: the state is no count."""
    members: tuple[RasMember, ...] = ()
    """Those that RAS names: of a group that is an outlier."""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class RasReport:
    """One answer."""

    groups: tuple[RasGroup, ...] = ()
    lost: tuple[RasMember, ...] = ()
    """Processes that RAS cannot reach."""
    is_answer: bool = True

    def lagging(self) -> list[tuple[RasGroup, tuple[RasGroup, ...]]]:
        """In each communicator, the group that launched least where it is the smaller one, and the others."""
        found = []
        by_place: dict[tuple[str, str], list[RasGroup]] = defaultdict(list)
        for group in self.groups:
            if group.number is not None:
                by_place[group.communicator, group.state.rsplit(" ", 1)[0]].append(group)
        for groups in by_place.values():
            least = min(groups, key=lambda one: one.number or 0)
            others = tuple(one for one in groups if one is not least)
            if others and least.size < sum(one.size for one in others):
                found.append((least, others))
        return found


def read_ras(text: str) -> RasReport:
    """Whatever RAS printed; an empty report for anything else."""
    if text.lstrip()[:1] == "{":
        try:
            return _of_json(json.loads(text))
        except (ValueError, RecursionError, TypeError, AttributeError, KeyError):
            return RasReport(is_answer=False)
    return _of_text(text.splitlines()[:200_000])


def is_ras(text: str) -> bool:
    """Whether a text is such an answer."""
    if '"communicators_count"' in text and '"collective_counts"' in text:
        return True
    return "Job summary\n===" in text and "Communicators... (" in text


def _of_text(lines: Iterable[str]) -> RasReport:
    groups: list[RasGroup] = []
    lost: list[RasMember] = []
    communicator, section, members = "", "", list[RasMember]()
    for place, line in enumerate(lines, 1):
        if (found := _HEAD.match(line)) is not None:
            communicator, section = found["hash"], found["what"]
        elif (found := _SECTION.match(line)) is not None:
            communicator, section = "", found["what"]
        elif communicator and ((found := _COUNT.match(line)) or (found := _STATUS.match(line))):
            said = found.groupdict()
            number = said.get("number")
            kind = said.get("kind") or "operation"
            state = f"status {said['status']}" if number is None else f"{kind} {number}"
            members = []
            count = None if number is None else int(number)
            groups.append(RasGroup(communicator, state, int(found["ranks"]), count, (), place))
        elif communicator and (found := _MISSING.match(line)) is not None:
            missing = tuple(RasMember(rank) for rank in _ranks(found["ranks"]))
            groups.append(RasGroup(communicator, "missing", len(missing), None, missing, place))
        elif (found := _MEMBER.match(line)) is not None and groups and len(members) < MOST_MEMBERS:
            members.append(RasMember(int(found["rank"]), int(found["pid"]), found["node"]))
            last = groups[-1]
            groups[-1] = RasGroup(last.communicator, last.state, last.size, last.number, tuple(members), last.line)
        elif section in {"DEAD", "INCOMPLETE"} and not communicator and (found := _PROCESS.match(line)) is not None:
            lost.append(RasMember(-1, int(found["pid"]), found["node"]))
        if len(groups) >= MOST_GROUPS:
            break
    return RasReport(tuple(groups), tuple(dict.fromkeys(lost)))


def _ranks(text: str) -> Iterator[int]:
    for part in text.replace(",", " ").split()[:1024]:
        low, _, high = part.partition("-")
        if low.isdecimal() and (not high or high.isdecimal()):
            yield from range(int(low), min(int(high or low), int(low) + 1024) + 1)


def _of_json(told: Mapping[str, Any]) -> RasReport:
    groups: list[RasGroup] = []
    lost: list[RasMember] = []
    for one in list(told["communicators"])[:MOST_GROUPS]:
        name = str(one.get("hash", "")).removeprefix("0x")
        by_count: dict[tuple[str, int], list[RasMember]] = defaultdict(list)
        for rank in one.get("ranks", ())[:MOST_MEMBERS]:
            member = RasMember(int(rank["rank"]), int(rank["pid"]), str(rank["host"]))
            for kind, number in rank.get("collective_counts", {}).items():
                by_count[str(kind), int(number)].append(member)
        kinds: dict[str, int] = defaultdict(int)
        for kind, _ in by_count:
            kinds[kind] += 1
        groups += [
            RasGroup(name, f"{kind} {number}", len(members), number, tuple(members))
            for (kind, number), members in by_count.items()
            if kinds[kind] > 1
        ]
        missing = tuple(
            RasMember(int(rank["rank"]), int(rank["pid"]), str(rank["host"]))
            for rank in one.get("missing_ranks", ())[:MOST_MEMBERS]
        )
        if missing:
            groups.append(RasGroup(name, "missing", len(missing), None, missing))
            lost += missing
    return RasReport(tuple(groups), tuple(dict.fromkeys(lost)))
