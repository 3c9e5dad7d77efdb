"""The answer to /stall: one sentence, then a table of what differs, evidence, and what to do."""

from collections import Counter
from collections.abc import Sequence

from diagnosis import wording
from diagnosis.findings import Severity
from diagnosis.incidents import Incident
from diagnosis.next_steps import SAVE, next_steps
from diagnosis.observations import Phase
from diagnosis.stall import Outcome
from handlers.messages.blocks import Message, context, evidence, lines, message, table
from handlers.messages.causes import cause, missing, reasons, steps
from handlers.messages.incident import RunFacts, steps_of
from handlers.messages.phrase import NOTHING, Clause, Phrase, and_more, join, say, with_code
from handlers.messages.stall_rows import HEAD, telling_rows
from handlers.messages.unseen import is_ordinary, unseen
from handlers.run_state import DEAD
from handlers.standing import Picture, is_lawful_pause

MOST_NODES = 6
MOST_READINGS = 4
MARKS = {
    Outcome.FINE: "🟢",
    Outcome.ENDED: "⚪",
    Outcome.PROGRESS_UNKNOWN: "⚪",
    Outcome.WATCHER_SILENT: "🟠",
    Outcome.INITIALISING_TOO_LONG: "🟠",
    Outcome.STALLED: "🔴",
    Outcome.RUN_DOWN: "🔴",
}
STOPPED = (Outcome.STALLED, Outcome.RUN_DOWN)


def stall_answer(
    run: str,
    picture: Picture,
    now: float,
    answered: int,
    asked: int,
    *,
    state: str = "",
    loudest: Severity | None = None,
    known: Incident | None = None,
) -> Message:
    """Everything one look tells; `state` as `/runs` says it, `loudest` the gravest that is open of the run.

    `known`: the incident that the answer points to; where the look finds the same, both say the same is to be done.
    """
    shown = telling_rows(picture, now)
    said = picture.diagnosis
    proof = said.evidence if said is not None else None
    parts = [
        lines([_silent(picture), _gpus(picture), *(reasons(said) if said is not None else [])]),
        *(evidence([proof], most=1) if proof is not None else []),
        table([HEAD, *shown]) if shown else None,
        lines(_next(picture, known, state)),
        context(join([_nodes(answered, asked), _blind(picture)], " · ")),
    ]
    return message(sentence(run, picture, state, loudest), *parts)


def sentence(run: str, picture: Picture, state: str = "", loudest: Severity | None = None) -> Phrase:
    """What is the matter, in one line."""
    standing = picture.standing
    is_fine = standing.outcome is Outcome.FINE and loudest is not None
    mark = ("🔴" if loudest is Severity.CRITICAL else "🟠") if is_fine else MARKS[standing.outcome]
    head = say("{mark} *{run}*", mark=mark, run=run)
    at = say(" at step {step}", step=wording.whole(standing.step)) if standing.step is not None else NOTHING
    span = wording.duration(standing.silent_seconds) if standing.silent_seconds is not None else ""
    match standing.outcome:
        case Outcome.FINE if is_lawful_pause(standing):
            form = "pauses lawfully ({phase}){at}, last progress {span} ago; that is no stall."
            return head + say(form, phase=Clause(standing.phase or ""), at=at, span=span)
        case Outcome.FINE if standing.phase is Phase.INITIALISING or standing.step is None:
            return head + say("is {text}; no step was printed yet.", text=Clause(standing.text or "starting"))
        case Outcome.FINE:
            return head + say("trains{at}, last progress {span} ago.", at=at, span=span)
        case Outcome.ENDED:
            return head + say("has ended{at}; it is not stalled.", at=at) + _why(picture)
        case Outcome.PROGRESS_UNKNOWN:
            return head + say("prints nothing that I can read as progress, so I cannot tell whether it is stalled.")
        case Outcome.WATCHER_SILENT if standing.is_unseen or standing.step is None:
            last = say(" Last progress {span} ago{at}.", span=span, at=at) if span else NOTHING
            form = "– I cannot tell whether it is stalled, because {text}.{last}"
            return head + say(form, text=Clause(standing.text), last=last)
        case Outcome.WATCHER_SILENT:
            return head + say("is not fully watched: {text}.", text=Clause(standing.text))
        case Outcome.STALLED if state in DEAD:
            # Nobody waits for it any more: the same word as `/runs` says.
            said = "stopped{at} ({state}), last progress {span} ago."
            return head + say(said, at=at, state=Clause(state), span=span) + _why(picture)
        case Outcome.STALLED:
            return head + say("has been stalled for {span}{at}.", span=span, at=at) + _why(picture)
        case Outcome.RUN_DOWN:
            return head + say("is down{at}: {text}.", at=at, text=Clause(standing.text)) + _why(picture)
        case _:
            return head + say("– {text}.", text=Clause(standing.text)) + _why(picture)


def _why(picture: Picture) -> Phrase:
    return cause(picture.diagnosis) if picture.diagnosis is not None else NOTHING


def _silent(picture: Picture) -> Phrase:
    """Nodes that nobody could look at come first: whatever is said of the others is said without them."""
    silent = [node for node in picture.nodes if node.is_silent]
    if not silent:
        return NOTHING
    named = join(
        (say("{node} ({span})", node=one.node, span=wording.duration(one.age_seconds)) for one in silent[:MOST_NODES]),
        ", ",
    )
    more = and_more(len(silent) - MOST_NODES)
    return say("Not heard, and so not looked at: {named}{more}.", named=named, more=more)


def _gpus(picture: Picture) -> Phrase:
    """What the GPUs show, the nodes whose pattern is rare first."""
    if picture.outcome not in STOPPED:
        return NOTHING
    readings = [view.reading for view in picture.nodes if view.reading is not None and view.reading.gpus]
    if not readings:
        return NOTHING
    counts = Counter(reading.pattern for reading in readings)
    rare = sorted(readings, key=lambda reading: counts[reading.pattern])
    left = len(readings) - MOST_READINGS
    more = say(" … and {n} nodes more", n=left) if left > 0 else NOTHING
    text = "; ".join(reading.sentence() for reading in rare[:MOST_READINGS])
    return say("{text}{more}.", text=Clause(text[0].upper() + text[1:]), more=more)


def _next(picture: Picture, known: Incident | None, state: str) -> list[Phrase]:
    said = picture.diagnosis
    told = _told_there(said.category, known, state) if said is not None and known is not None else ()
    if told:
        return [say("• {step}", step=with_code(step)) for step in told if step != SAVE]
    if said is not None and said.next:
        return [say("• {step}", step=with_code(step)) for step in steps(said)]
    if picture.outcome is Outcome.RUN_DOWN:
        return [with_code("• Before anybody starts it again, save the evidence: `/snapshot`.")]
    if picture.outcome is Outcome.STALLED:
        return [with_code("• Before you stop it, save the evidence: `/snapshot`.")]
    if picture.outcome is Outcome.WATCHER_SILENT:
        return [say("• Check that the watchers run on its nodes and reach Redis.")]
    return []


def _told_there(category: str, known: Incident, state: str) -> Sequence[str]:
    """What the thread says is to be done about the same trouble, whether it heads it or stands beside."""
    if known.trouble == category:
        return steps_of(known, RunFacts(state=state))
    beside = known.beside.get(category)
    return next_steps(beside, is_down=state in DEAD) if beside is not None else ()


def _nodes(answered: int, asked: int) -> Phrase:
    if not asked:
        return say("No watcher of it is known")
    return say("{answered} of {asked} nodes answered", answered=answered, asked=asked)


def _blind(picture: Picture) -> Phrase:
    """Where no cause is asked for, what a node never has is no news; what went wrong there is."""
    silent = [f"{node.node}: " for node in picture.nodes if node.is_silent]
    told = [item for item in picture.blind if not item.startswith(tuple(silent))]
    if picture.diagnosis is not None:
        told += missing(picture.diagnosis)
    elif picture.outcome not in STOPPED:
        told = [item for item in told if not is_ordinary(item)]
    what = unseen(told)
    return say("could not look: {what}", what=with_code(what)) if what else NOTHING
