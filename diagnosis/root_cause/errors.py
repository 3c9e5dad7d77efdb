"""Errors that may have started the trouble: one group for each cause, with the rank that shows it first.

The same words from many ranks are one event. Errors that training survived, that came after its end, or that
only say that somebody else is gone are left out (`passed.py`).
"""

from collections.abc import Iterable
from dataclasses import replace

from diagnosis.case import Case
from diagnosis.observations import Category, Role
from diagnosis.root_cause.belongs import Belonging
from diagnosis.root_cause.candidates import Candidate, Cause, Whose, candidates
from diagnosis.root_cause.cluster import Cluster
from diagnosis.root_cause.passed import failed_alone, is_noise
from diagnosis.root_cause.timeline import Timeline

SAME_MOMENT = 2.0
"""Seconds within which clocks of two nodes cannot order two events."""


def causes(case: Case, cluster: Cluster, timeline: Timeline, role: Role = Role.ROOT) -> list[Cause]:
    """Everything of this role that may have started it, the most likely first."""
    failed, belonging = failed_alone(case), Belonging(case, cluster, timeline)
    found = [item for item in candidates(case, cluster, (role,)) if not is_noise(item, timeline, failed)]
    found = [replace(item, whose=belonging.of(item)) for item in found]
    groups: dict[tuple[str, str, Whose], Cause] = {}
    for item in sorted(found, key=_place):
        if item.whose is Whose.OTHERS:
            continue
        key = (str(item.category), _words(item), item.whose)
        if key in groups:
            groups[key].candidates.append(item)
        else:
            groups[key] = Cause(item, [item])
    for cause in groups.values():
        if cause.category is Category.NODE_LOST and cause.first.node is None:
            cause.first = next((item for item in cause.candidates if item.node is not None), cause.first)
    return order(_without_consequences(groups.values()), cluster)


def _without_consequences(groups: Iterable[Cause]) -> list[Cause]:
    """A device-side assert is the NaN check's that raised it; who waited for a start, waited for those that failed."""
    found = list(groups)
    found = [cause for cause in found if not any(_kept_it_from_starting(other, cause) for other in found)]
    checks = {
        (item.file.path, item.sighting.attempt)
        for cause in found
        for item in cause.candidates
        if item.name == "collective_nan_check"
    }
    return [
        cause
        for cause in found
        if cause.first.name != "device_assert" or (cause.first.file.path, cause.first.sighting.attempt) not in checks
    ]


def _kept_it_from_starting(other: Cause, cause: Cause) -> bool:
    """Whether one is a rank's own failure, and the other only the wait of the ranks that it left alone."""
    if cause.category is not Category.INIT_TIMEOUT or other.category in {Category.INIT_TIMEOUT, Category.PREEMPTED}:
        return False
    one, two = other.first, cause.first
    if one.file is two.file and one.rank == two.rank:
        return one.sighting.order < two.sighting.order
    return one.time is None or two.time is None or one.time <= two.time + SAME_MOMENT


def order(groups: Iterable[Cause], cluster: Cluster) -> list[Cause]:
    """By time where clocks can tell, then by what the line is, then by how few ranks say it."""
    ordered: list[Cause] = []
    for cause in groups:
        place = next(
            (number for number, other in enumerate(ordered) if _goes_before(cause, other, cluster)), len(ordered)
        )
        ordered.insert(place, cause)
    return ordered


def _words(found: Candidate) -> str:
    """What makes two lines the same event: the row, and for exceptions their type and first words."""
    fields = found.sighting.symptom.fields
    if found.name == "python_exception":
        kind = fields.get("type") or fields.get("type2") or ""
        message = fields.get("message") or fields.get("message2") or ""
        letters = "".join(character if character.isalpha() else " " for character in message[:80])
        return f"{kind.rsplit('.', 1)[-1]} {' '.join(letters.split()[:6])}"
    if found.name == "xid":
        return f"xid {fields.get('xid')} {found.node}"
    if found.category is Category.HOST_OOM:
        return "host oom"
    return found.name if found.category is Category.RANK_CRASH else str(found.category)


def _place(found: Candidate) -> tuple[float, str, int]:
    return (found.time if found.time is not None else float("inf"), found.file.path, found.sighting.order)


def _goes_before(cause: Cause, other: Cause, cluster: Cluster) -> bool:
    one, two = cause.first, other.first
    if one.whose != two.whose:
        return one.whose > two.whose
    if one.file is two.file and one.sighting.attempt == two.sighting.attempt and _is_one_stream(one, two):
        return one.sighting.order < two.sighting.order if one.tier == two.tier else _by_kind(cause, other, cluster)
    is_kernel = "kernel_log" in {one.file.kind, two.file.kind}
    if one.time is not None and two.time is not None and not is_kernel and abs(one.time - two.time) > SAME_MOMENT:
        return one.time < two.time
    return _by_kind(cause, other, cluster)


def _is_one_stream(one: Candidate, two: Candidate) -> bool:
    """Lines of one rank stand in their order; a file that merges ranks does not keep it."""
    return one.sighting.symptom.origin.rank == two.sighting.symptom.origin.rank


def _by_kind(cause: Cause, other: Cause, cluster: Cluster) -> bool:
    one, two = cause.first, other.first
    if one.tier != two.tier:
        return one.tier < two.tier
    many = cluster.size
    rare = [bool(item.ranks) and (len(item.ranks) <= 4 or len(item.ranks) * 3 <= many) for item in (cause, other)]
    if rare[0] != rare[1]:
        return rare[0]
    return one.sighting.order < two.sighting.order if one.file is two.file else False
