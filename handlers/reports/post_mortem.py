"""What a post-mortem says: the run, each incident with its evidence and timeline, what was done and by whom."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from diagnosis import wording
from diagnosis.costs import costs_of
from diagnosis.findings import Finding
from diagnosis.incidents import Entry, Incident
from diagnosis.redaction import mask
from diagnosis.series import AttemptSpan
from diagnosis.wording import place_of
from handlers.messages.incident import finding_place
from handlers.messages.phrase import NOTHING, Clause, Moment, Phrase, join, number_of, say, with_code
from handlers.messages.troubles import called, counted
from handlers.reports.document import Code, Document, Heading, Paragraph, Part, Picture, Points, Table
from registry import Run
from registry.audit import ALLOWED, NOT_DONE, settled
from registry.audit import Entry as Effect

MOST_EVIDENCE = 8
SAID: Mapping[str, str] = {
    "finding": "found",
    "cleared": "over for one",
    "acknowledged": "taken",
    "released": "given back",
    "lapsed": "owner not heard of",
    "noted": "note",
    "muted": "muted",
    "unmuted": "quiet ended",
    "reminded": "said again",
    "resolved": "over",
    "reopened": "open again",
}
_OF_EACH_RANK = frozenset({"finding", "cleared"})
"""What many ranks say at once."""
_NUMBERED = re.compile(r"(?i)\b(?:rank|GPU|pid|process) \d+")
"""In what they differ then."""


@dataclass(frozen=True, slots=True)
class Told:
    """Everything a report is made of."""

    run: Run
    incidents: Sequence[Incident]
    """The oldest first."""
    attempts: Sequence[AttemptSpan]
    effects: Sequence[Effect]
    """What people did, the oldest first."""
    now: float
    names: Mapping[str, str] = field(default_factory=dict)
    """Slack id → the person's name."""
    pictures: Mapping[str, bytes] = field(default_factory=dict)
    """Incident id, or empty for the run → PNG."""


def post_mortem(told: Told) -> Document:
    """The document."""
    run = told.run
    parts: list[Part] = [
        Heading(_said("{run}: what happened", run=run.name), 1),
        Paragraph(_said("Made by Runwatch at {when}. All times are UTC.", when=_when(told.now))),
        Table([[_said("run"), run.name], *_facts(told)]),
        *(
            [Picture(told.pictures[""], _said("{run}: loss over all steps", run=run.name))]
            if "" in told.pictures
            else []
        ),
    ]
    if len(told.attempts) > 1:
        parts += [
            Heading(_said("Attempts")),
            Table([_head("attempt", "steps", "began", "ended", "how"), *_attempts(told.attempts)]),
        ]
    for incident in told.incidents:
        parts += _incident(told, incident)
    if not told.incidents:
        parts.append(Paragraph(_said("Nothing went wrong that Runwatch knows of.")))
    if told.effects:
        rows = [_effect(told, one) for one in settled(told.effects)]
        head = _head("when", "who", "what", "words", "result")
        parts += [Heading(_said("What was done, and by whom")), Table([head, *rows])]
    return parts


def _said(template: str, /, **values: object) -> str:
    return say(template, **values).plain


def _head(*names: str) -> list[str]:
    return [_said(name) for name in names]


def _facts(told: Told) -> list[list[str]]:
    run = told.run
    hours = sum(costs.gpu_hours for one in told.incidents if (costs := costs_of(one, run.world_size, told.now)))
    facts: list[tuple[str, str | None]] = [
        ("State", _said("{state}", state=Clause(run.state))),
        ("Owner", run.owner),
        ("Ranks", None if run.world_size is None else f"{run.world_size:,}"),
        ("Last step", None if run.last_step is None else wording.whole(run.last_step)),
        ("Last loss", None if run.last_loss is None else wording.precise(run.last_loss)),
        ("First seen", None if run.first_seen is None else _when(run.first_seen)),
        ("Last progress", None if run.last_progress is None else _when(run.last_progress)),
        ("Incidents", _said("{n}, {m} open", n=len(told.incidents), m=sum(one.is_open for one in told.incidents))),
        ("GPU time lost", _said("about {hours} GPU-hours", hours=f"{hours:,.1f}") if hours >= 0.1 else None),
        ("Log", run.log),
    ]
    return [[_said(name), _masked(value)] for name, value in facts if value]


def _attempts(attempts: Sequence[AttemptSpan]) -> list[list[str]]:
    return [
        [
            str(span.number + 1),
            f"{wording.whole(span.first_step)}–{wording.whole(span.last_step)}",
            "–" if span.started is None else _when(span.started),
            "–" if span.ended is None else _when(span.ended),
            _said("{end}", end=Clause(span.end)),
        ]
        for span in attempts
    ]


def _incident(told: Told, incident: Incident) -> list[Part]:
    head = incident.head
    ended = incident.resolved_at if incident.resolved_at is not None else told.now
    lasted = wording.duration(max(0.0, ended - incident.opened_at))
    costs = costs_of(incident, told.run.world_size, told.now)
    facts = [
        say("Kind: {kind}, {severity}", kind=Clause(called(incident.trouble).one), severity=Clause(incident.severity)),
        say(
            "From {when}, open for {span}" if incident.is_open else "From {when}, over after {span}",
            when=_when(incident.opened_at),
            span=lasted,
        ),
        _who_is_concerned(incident),
        _what_followed(incident),
        *(_beside(finding) for finding in incident.beside.values()),
        say("Cost about {hours} GPU-hours", hours=f"{costs.gpu_hours:,.1f}")
        if costs is not None and costs.gpu_hours >= 0.1
        else NOTHING,
        say("Owner: {who}", who=_name(told, incident.acknowledged_by)) if incident.acknowledged_by else NOTHING,
        say("Rule: {rule}", rule=Clause(head.rule)) if head.rule else NOTHING,
    ]
    parts: list[Part] = [
        Heading(_masked(_clause(wording.first_clause(head.text)))),
        Points([_masked(fact.plain) for fact in facts if fact]),
    ]
    if incident.id in told.pictures:
        parts.append(
            Picture(told.pictures[incident.id], _said("The steps around step {step}", step=wording.whole(head.step)))
        )
    helped = _what_helped(told, incident)
    if helped:
        parts += [Heading(_said("How it ended"), 3), Paragraph(_masked(helped))]
    if head.evidence:
        kept = head.evidence[:MOST_EVIDENCE]
        label = _said("From the log: {places}", places=", ".join(place_of(one) for one in kept))
        parts += [Heading(_said("Evidence"), 3), Code(_masked("\n".join(one.text for one in kept)), label)]
    if head.changes:
        points = [_masked(_clause(line)) for line in head.changes]
        parts += [Heading(_said("What changed around it"), 3), Points(points)]
    rows = _timeline(told, incident)
    return [*parts, Heading(_said("Timeline"), 3), Table([_head("when", "what", "who", "in words"), *rows])]


def _clause(text: str) -> str:
    return Clause(text).plain


def _what_followed(incident: Incident) -> Phrase:
    if not incident.consequences:
        return NOTHING
    counts = join((counted(one, n) for one, n in incident.consequences.items()), ", ")
    return say("Followed by {counts}", counts=counts)


def _beside(finding: Finding) -> Phrase:
    """A further trouble that is told in this incident's thread, and what was found out about it."""
    place, more = finding_place(finding), finding.details.get("more", "").splitlines()
    said = say("Also: {what}", what=Clause(wording.first_clause(finding.text)))
    where = say("{said}, {place}", said=said, place=place) if place else said
    return say("{said}. {more}", said=where, more=with_code(more[0])) if more else where


def _who_is_concerned(incident: Incident) -> Phrase:
    ranks, nodes = incident.ranks, incident.nodes
    named, places = NOTHING, NOTHING
    if ranks:
        few = say("rank {ranks}", ranks=", ".join(map(str, ranks)))
        named = say("{n} ranks", n=f"{len(ranks):,}") if len(ranks) > 8 else few
    if nodes:
        few = say("{nodes}", nodes=", ".join(nodes))
        places = say("{n} nodes", n=f"{len(nodes):,}") if len(nodes) > 8 else few
    if named and places:
        return say("Where: {ranks} on {nodes}", ranks=named, nodes=places)
    return say("Where: {place}", place=named or places) if named or places else NOTHING


def _timeline(told: Told, incident: Incident) -> list[list[str]]:
    """One row for what was said once; the same thing of several ranks is one row with their number."""
    rows: dict[object, list[Entry]] = {}
    for entry in sorted(incident.entries, key=lambda entry: entry.at):
        key = (entry.what, _NUMBERED.sub("", entry.text)) if entry.what in _OF_EACH_RANK else entry.event
        rows.setdefault(key, []).append(entry)
    return [_line(told, same) for same in rows.values()]


def _line(told: Told, same: Sequence[Entry]) -> list[str]:
    entry, last = same[0], same[-1]
    until = NOTHING if _when(last.at) == _when(entry.at) else say(", the last at {when}", when=_when(last.at))
    more = number_of(len(same) - 1, "and {n} more like it", "and {n} more like it")
    count = say("{n} times", n=len(same)) if entry.text == last.text else more
    times = _said(" ({count}{until})", count=count, until=until) if len(same) > 1 else ""
    what = _said(SAID.get(entry.what, entry.what))
    # What a person wrote stays as it is.
    text = entry.text if entry.by else _clause(entry.text)
    return [_when(entry.at), what, _name(told, entry.by), _masked(text) + times]


def _what_helped(told: Told, incident: Incident) -> str:
    if incident.is_open:
        return ""
    why = incident.resolved_because
    if incident.resolved_by:
        who = _said("{who} closed it", who=_name(told, incident.resolved_by))
        return f"{who}: {why}" if why else f"{who}."
    return _said("By itself: {why}", why=Clause(why)) if why else _said("By itself.")


def _effect(told: Told, effect: Effect) -> list[str]:
    words = _masked(effect.words)
    return [_when(effect.at), _name(told, effect.user), effect.action.replace("_", " "), words, _result(effect)]


def _result(effect: Effect) -> str:
    return _said({ALLOWED: "done", NOT_DONE: "not done: not understood"}.get(effect.result, "refused"))


def _name(told: Told, user: str) -> str:
    return told.names.get(user, user)


def _when(time: float) -> str:
    return Moment(time, shows_date=True).plain.removesuffix(" UTC")


def _masked(text: str | None) -> str:
    return mask(text).text if text else ""
