"""Memory counters of a control group, version 1 or 2, before and after."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_KILLS = re.compile(r"\boom_kill[ :]{1,3}(?P<count>\d{1,12})\b")
_GROUP_KILLS = re.compile(r"\boom_group_kill[ :]{1,3}(?P<count>\d{1,12})\b")
_LIMIT = re.compile(r"^\s{0,8}memory\.(?:limit_in_bytes|max)[ :]{1,3}(?P<bytes>\d{1,20})\b")


@dataclass(frozen=True, slots=True)
class CgroupReport:
    """What the counters say of out-of-memory kills."""

    kills: int
    """Kills between the first and the last reading; all of them where there is one reading. Of several groups, the
    one with the most: a group counts those of the groups inside."""
    limit_bytes: int | None
    line: int | None
    """The last line that counts kills; None: it was asked of a living node."""
    text: str


def read_cgroup(lines: Iterable[str]) -> CgroupReport | None:
    """The counters of the file, or None when it holds none."""
    groups: dict[str, list[tuple[int, int, str]]] = {}
    group = ""
    limit = None
    for number, raw in enumerate(lines, 1):
        line = raw.rstrip()
        found = _KILLS.search(line)
        if line.startswith("# /"):
            group = line
        elif found is not None:
            groups.setdefault(group, []).append((int(found["count"]), number, line.strip()))
        elif named := _LIMIT.match(line):
            limit = int(named["bytes"])
    if not groups:
        return None
    kills = {name: _kills(readings) for name, readings in groups.items()}
    most = max(kills, key=lambda name: kills[name])
    _, number, text = groups[most][-1]
    return CgroupReport(kills[most], limit, number, text)


def _kills(readings: list[tuple[int, int, str]]) -> int:
    first, last = readings[0][0], readings[-1][0]
    return last - first if len(readings) > 1 else last
