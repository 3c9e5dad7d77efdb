"""The root message of an incident: what, where, since when, how sure, what to do. It is edited in place."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from diagnosis import wording
from diagnosis.costs import Costs
from diagnosis.findings import Finding, Severity
from diagnosis.incidents import Incident, State
from diagnosis.incidents.troubles import UNWATCHED
from diagnosis.next_steps import SAVE, next_steps
from handlers.messages.blocks import Block, Message, context, evidence, lines, message
from handlers.messages.care import buttons, costs_line, last_note, state_line
from handlers.messages.escaping import fit
from handlers.messages.excerpts import telling
from handlers.messages.phrase import NOTHING, Clause, Moment, Phrase, join, listed, say, with_code
from handlers.messages.troubles import called, counted
from handlers.names import typed
from handlers.run_state import DEAD

MOST_STEPS = 3
MOST_CHANGES = 5
MOST_BESIDE = 4
LONGEST_TITLE = 300
AT_ONCE = 0.5
"""Shorter than this it would have lasted 0 s."""
MOST_NAMED = 6
"""Ranks or nodes named one by one; more are counted."""


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What the registry knows of the run beside the findings. None: not known."""

    world_size: int | None = None
    prefix: str = ""
    """Before the names of our commands in this workspace."""
    now: float | None = None
    costs: Costs | None = None
    earlier: Phrase = NOTHING
    """The same failure before, and what helped then."""
    state: str = ""
    """As `/runs` says it."""


NO_FACTS = RunFacts()
_ABOUT_THE_WHOLE_RUN = frozenset({"stall", "run_down", UNWATCHED})
"""Troubles that the monitor finds; their next steps stand beside their names."""


def root(incident: Incident, facts: RunFacts = NO_FACTS, *, note: Phrase = NOTHING, is_repeat: bool = False) -> Message:
    """The message that opens the thread, as it reads now."""
    head = incident.head
    parts: list[Block | None] = [
        context(_repeat()) if is_repeat else None,
        lines(_beside(incident)),
        lines([*_what_was_good(head), *what_the_line_says(head), *_checkpoint(head), *_what_followed(incident)]),
        lines(_changes(head)),
        *evidence(head.evidence, telling=telling(head)),
        lines(_next(incident, facts)) if incident.is_open else None,
        lines([facts.earlier, costs_line(facts.costs)]),
        context(unseen_line(head)),
        context(join([state_line(incident, facts.now), _rule(head)], " · ")),
        context(last_note(incident)),
        context(note) if note else None,
        buttons(incident),
    ]
    return message(headline(incident, facts), *parts)


def headline(incident: Incident, facts: RunFacts = NO_FACTS) -> Phrase:
    """One line that says it all: mark, run, what, since when, where."""
    head = incident.head
    moment = head.seen_at if head.seen_at is not None else incident.opened_at
    over = NOTHING
    if not incident.is_open:
        took = _lasted(incident)
        over = say("over after {took}: ", took=wording.duration(took)) if took >= AT_ONCE else say("over at once: ")
    first = say(
        "{mark} *{run} · {over}{what}* ({moment})",
        mark=_mark(incident),
        run=incident.run,
        over=over,
        what=Clause(what(head)),
        # Each reader's own clock stands beside our name already; this one is in the logs.
        moment=Moment(moment).plain,
    )
    return join([first, where(incident, facts)], " · ")


def what(finding: Finding) -> str:
    """What happened: the finding's sentence up to its first half-stop, without the place that stands beside it."""
    text = wording.first_clause(finding.text)
    origin = finding.origin
    for place in (f" on rank {origin.rank}", f" on {origin.node}"):
        text = re.sub(rf"{re.escape(place)}(?![\w-])", "", text, count=1)
    return fit(text, LONGEST_TITLE) or called(finding.kind).one


def where(incident: Incident, facts: RunFacts = NO_FACTS) -> Phrase:
    """`8 of 8 ranks, first on rank 139 (node17, local 3)`, where that is known; a single rank or node by its name."""
    ranks, nodes, head = incident.ranks, incident.nodes, incident.head.origin
    if not ranks:
        local = incident.head.details.get("local_rank", "")
        if local.isdecimal() and len(nodes) == 1:
            return say("local rank {local} on {node}", local=local, node=nodes[0])
        return listed(say("{node}", node=node) for node in nodes[:MOST_NAMED]) if nodes else NOTHING
    if len(ranks) == 1:
        return rank_place(head.rank if head.rank is not None else ranks[0], head.node, head.local_rank)
    has_size = facts.world_size and facts.world_size >= len(ranks)
    of = say(" of {n}", n=f"{facts.world_size:,}") if has_size else NOTHING
    count = say("{count}{of} ranks", count=f"{len(ranks):,}", of=of)
    if head.rank is None or not incident.is_head_first:
        return count
    return say("{count}, first on {rank}", count=count, rank=rank_place(head.rank, head.node, head.local_rank))


def rank_place(rank: int, node: str | None, local_rank: int | None) -> Phrase:
    """`rank 139 (node17, local 3)`: the global and the local number, because people mean either."""
    inner = join(
        [
            say("{node}", node=node) if node else NOTHING,
            say("local {local}", local=local_rank) if local_rank is not None and local_rank != rank else NOTHING,
        ],
        ", ",
    )
    return say("rank {rank} ({inner})", rank=rank, inner=inner) if inner else say("rank {rank}", rank=rank)


def finding_place(finding: Finding) -> Phrase:
    """Whom a finding concerns."""
    origin = finding.origin
    if origin.rank is not None:
        return rank_place(origin.rank, origin.node, origin.local_rank)
    return say("{node}", node=origin.node) if origin.node else NOTHING


def _lasted(incident: Incident) -> float:
    return (incident.resolved_at or incident.changed_at) - incident.opened_at


def _mark(incident: Incident) -> str:
    if not incident.is_open:
        return "✅"
    if incident.muted_until is not None:
        return "🔕"
    if incident.state is State.ACKNOWLEDGED:
        return "🔵"
    return "🔴" if incident.severity is Severity.CRITICAL else "🟠"


def _what_was_good(head: Finding) -> list[Phrase]:
    """The last good numbers; what moved is told among the changes, with its line."""
    told = head.details
    step, loss, norms = told.get("last_good_step"), told.get("last_good_loss"), told.get("grad_norms")
    facts = [say("loss {loss}", loss=loss) if loss else NOTHING]
    if norms and not _has_changed(head, "grad norm"):
        facts.append(say("grad norm {norms}", norms=norms))
    if told.get("lr") and not _has_changed(head, "learning rate"):
        facts.append(_learning_rate(told))
    if told.get("loss_scale") and not _has_changed(head, "loss scale"):
        facts.append(say("loss scale {scale}", scale=told["loss_scale"]))
    inner = join(facts, "; ")
    if step and step != wording.whole(None):
        where = say("Last good step {step}", step=step)
        return [say("{where}: {inner}.", where=where, inner=inner) if inner else say("{where}.", where=where)]
    said = [say("Before it: {inner}.", inner=inner)] if inner else []
    if told.get("last_step"):
        said.append(say("Last step in the log: {step}.", step=told["last_step"]))
    return said


def _learning_rate(told: Mapping[str, str]) -> Phrase:
    """Old and new value where it moved."""
    course = told.get("lr_change", "")
    if "→" in course:
        return say("learning rate {course}", course=course)
    same = say(", {course}", course=Clause(course)) if course else NOTHING
    return say("learning rate {lr}{same}", lr=told["lr"], same=same)


def _has_changed(head: Finding, what_changed: str) -> bool:
    return any(line.startswith(f"{what_changed}: ") for line in head.changes)


def _checkpoint(head: Finding) -> list[Phrase]:
    """The newest one that cannot hold the bad step, and how long it will be there."""
    told = head.details
    if not told.get("checkpoint"):
        return []
    before, any_one = "Newest checkpoint before it: step {step}", "Newest checkpoint: step {step}"
    newest = say(before if head.step is not None else any_one, step=told["checkpoint"])
    end = told.get("checkpoint_end")
    return [say("{newest}; {end}.", newest=newest, end=Clause(end)) if end else say("{newest}.", newest=newest)]


_LINE_SAYS: Mapping[str, str] = {
    "tried": "tried to allocate {value}",
    "allocated": "PyTorch holds {value}",
    "unallocated": "{value} reserved but unallocated",
    "op": "operation {value}",
    "seq": "sequence number {value}",
    "timeout": "limit {value}",
    "exit_code": "exit code {value}",
    "signal": "signal {value}",
}


def what_the_line_says(head: Finding) -> list[Phrase]:
    """The numbers in its line, and what the nodes told of the cause."""
    details = head.details
    told = [
        say(form, value=details[name])
        for name, form in _LINE_SAYS.items()
        if details.get(name) and details[name] not in head.text
    ]
    if details.get("free") and details.get("total") and details["free"] not in head.text:
        told.insert(1, say("{free} of {total} free", free=details["free"], total=details["total"]))
    said = [say("The line says: {told}.", told=join(told, "; "))] if told else []
    said += [with_code(line) for line in details.get("more", "").splitlines()]
    return said


def _changes(head: Finding) -> list[Phrase]:
    """What moved around the step, each with its line."""
    if not head.changes:
        return []
    return [
        say("What changed around it:"),
        *(say("• {line}", line=Clause(line)) for line in head.changes[:MOST_CHANGES]),
    ]


def unseen_line(head: Finding) -> Phrase:
    """What the nodes could not look at, in small print: it seldom matters, and sometimes it is why nobody is named."""
    told = head.details.get("unseen", "")
    return say("could not look: {what}", what=with_code(told)) if told else NOTHING


def _beside(incident: Incident) -> list[Phrase]:
    """The other troubles of the run that are told in this thread, each with whether it is over."""
    firing, told = incident.firing_troubles, []
    for trouble, finding in list(incident.beside.items())[:MOST_BESIDE]:
        place = finding_place(finding)
        # Who closes an incident does not make a dead run live; a restart or a finished run does end its troubles.
        goes_on = trouble in firing and (incident.is_open or bool(incident.resolved_by))
        form = "{mark} Also: *{what}* ({moment})" if goes_on else "{mark} Also, over again: {what} ({moment})"
        said = say(
            form,
            mark="✅" if not goes_on else "❗" if incident.is_open else "▫️",
            what=Clause(what(finding)),
            moment=Moment(finding.seen_at if finding.seen_at is not None else incident.changed_at),
        )
        told.append(join([said, place], " · "))
    return told


def _what_followed(incident: Incident) -> list[Phrase]:
    if not incident.consequences:
        return []
    counts = listed(counted(trouble, count) for trouble, count in incident.consequences.items())
    return [say("Followed by {counts}, kept quiet as a consequence.", counts=counts)]


def _next(incident: Incident, facts: RunFacts) -> list[Phrase]:
    """What to do, at most three steps."""
    head = incident.head
    if incident.trouble not in _ABOUT_THE_WHOLE_RUN:
        return what_to_do(steps_of(incident, facts))
    steps = [*head.details.get("next", "").splitlines(), *called(incident.trouble).next]
    if incident.trouble == "stall":
        steps.append(f"`/{facts.prefix}stall {typed(incident.run)}` looks at every node again, now.")
    # Who would save the evidence is who is not heard.
    return what_to_do(steps if incident.trouble == UNWATCHED else [*steps, SAVE])


def steps_of(incident: Incident, facts: RunFacts = NO_FACTS) -> list[str]:
    """What to do about what the log or the nodes told, the same in its root and in an answer that points there."""
    stall = f"`/{facts.prefix}stall {typed(incident.run)}`"
    known = next_steps(
        incident.head,
        ranks=max(1, len(incident.ranks)),
        world_size=facts.world_size,
        is_down=facts.state in DEAD,
    )
    return [step.replace("`/stall`", stall) for step in known]


def what_to_do(steps: Sequence[str]) -> list[Phrase]:
    """At most three steps, under their title; nothing where there are none."""
    if not steps:
        return []
    return [say("What to do:"), *(say("• {step}", step=with_code(step)) for step in steps[:MOST_STEPS])]


def _rule(head: Finding) -> Phrase:
    return say("rule: {rule}", rule=Clause(head.rule)) if head.rule else NOTHING


def _repeat() -> Phrase:
    return say("This may be a repeat: Slack did not say whether the first one arrived, and could not be asked.")
