"""What a diagnosis says in a message: what it was, who was first, how sure that is, or why nobody can tell."""

import re
from collections.abc import Mapping
from types import MappingProxyType

from diagnosis.observations import Category
from diagnosis.root_cause.answer import Diagnosis
from diagnosis.root_cause.lead import short
from handlers.messages.incident import rank_place
from handlers.messages.phrase import NOTHING, Clause, Phrase, and_more, join, say

MOST_REASONS = 3
MOST_STEPS = 3
MOST_SUSPECTS = 6
_UNTOLD = "nothing tells which was first"
"""Said already where the suspects are named."""
_QUOTED = 60
"""Letters of the shown line by which a reason that only repeats it is known."""
ONLY_NUMBERS = "only_numbers"
"""The signature of a diagnosis that knows of an end no more than that the numbers went bad before it."""
WAITS = frozenset(
    {
        Category.COLLECTIVE_HANG,
        Category.NETWORK_FAULT,
        Category.DATALOADER_STALL,
        Category.STORAGE_STALL,
        Category.NODE_LOST,
        Category.NONE,
    }
)
"""Where the question is who the others wait for."""
_FOLDERS = re.compile(r"\((?:[^\s()]*/)?([^/\s()]+)\)")
_FIRST = {Category.SLOWDOWN: "{place} is whom the others wait for · {sure}"}

CAUSES: Mapping[Category, str] = MappingProxyType(
    {
        Category.GPU_OOM: "a GPU ran out of memory",
        Category.HOST_OOM: "the host ran out of memory and a process was killed",
        Category.NAN_INF: "the numbers went NaN or infinite",
        Category.LOSS_SPIKE: "the loss spiked",
        Category.COLLECTIVE_HANG: "the ranks wait for each other",
        Category.NETWORK_FAULT: "the network between ranks failed",
        Category.GPU_HARDWARE: "a GPU is at fault",
        Category.DATALOADER_CRASH: "a data loader died",
        Category.DATALOADER_STALL: "the data does not come",
        Category.STORAGE_STALL: "storage or a file lock holds it up",
        Category.DISK_FULL: "a disk or quota is full",
        Category.CHECKPOINT_FAILURE: "a checkpoint could not be saved or loaded",
        Category.RANK_CRASH: "a process crashed",
        Category.PREEMPTED: "it was stopped from outside",
        Category.NODE_LOST: "a node was lost",
        Category.INIT_TIMEOUT: "the ranks did not find each other",
        Category.SLOWDOWN: "steps became slower",
        Category.NONE: "no node shows why",
    }
)
"""What each category is called in a sentence."""


def cause(said: Diagnosis, *, is_known: bool = False) -> Phrase:
    """`Storage or a file lock holds it up: rank 2 (node002) stopped first · confidence: high`, or why nobody can tell.

    `is_known`: what happened stands above already, and only who was first is news.
    """
    if said.signature == ONLY_NUMBERS:
        return say("No node shows another reason for its end than the numbers that went bad before it.")
    if said.category is Category.NONE:
        return say("Why cannot be told, because {why}.", why=why_not(said))
    sure = say("confidence: {level}", level=Clause(said.confidence))
    what = NOTHING if is_known else say("{what}", what=Clause(_capital(CAUSES[said.category])))
    node = say("on {node}", node=said.culprit_node) if said.culprit_node else NOTHING
    if said.category is Category.NODE_LOST and said.culprit_node:
        return say("{said}.", said=join([what, say("{node} · {sure}", node=said.culprit_node, sure=sure)], ": "))
    if said.culprit_rank is not None:
        place = rank_place(said.culprit_rank, said.culprit_node, said.culprit_local_rank)
        stopped, failed = "{place} stopped first · {sure}", "{place} failed first · {sure}"
        form = stopped if said.category in WAITS else _FIRST.get(said.category, failed)
        return say("{said}.", said=join([what, say(form, place=place, sure=sure)], ": "))
    head = say("{said}.", said=join([what, node, say("· {sure}", sure=sure)], " ")) if what else NOTHING
    if said.suspects:
        return join([head, _suspects(said)], " ")
    if said.category in WAITS:
        why = say("Which rank stopped first cannot be told, because {why}.", why=why_not(said))
        return join([head, why], " ")
    return head


def _suspects(said: Diagnosis) -> Phrase:
    """Those that evidence points at, where it cannot tell them apart."""
    names = ", ".join(map(str, said.suspects[:MOST_SUSPECTS]))
    more = and_more(len(said.suspects) - MOST_SUSPECTS)
    if said.category not in WAITS:
        return say("Ranks {names}{more} show it; which was first cannot be told.", names=names, more=more)
    if len(said.suspects) == 1:
        return say("Which rank stopped first cannot be told; only rank {names} differs from the rest.", names=names)
    form = "Which rank stopped first cannot be told; ranks {names}{more} differ from the rest."
    return say(form, names=names, more=more)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def why_not(said: Diagnosis) -> Phrase:
    """Why nobody is named, in a clause."""
    absent = [item for item in said.unknown if item.startswith("no ")]
    apart = say("nothing that the nodes told tells the ranks apart")
    if not absent:
        return apart
    lacks = join((say("{lack}", lack=Clause(item)) for item in absent[:3]), ", ")
    return say("{apart} ({lacks})", apart=apart, lacks=lacks)


def reasons(said: Diagnosis) -> list[Phrase]:
    """What speaks for it, each with its place, beside the line that is shown anyway; and what else it could be."""
    shown = short(said.evidence.text, _QUOTED) if said.evidence is not None else None
    because = [why for why in said.because if shown is None or shown.rstrip("…") not in why]
    because = [why for why in because if _UNTOLD not in why]
    told = [say("• {why}", why=Clause(short_places(why))) for why in because[:MOST_REASONS]]
    found = [say("Because:"), *told] if told else []
    if said.runner_up:
        found.append(say("Or else: {other}.", other=Clause(short_places(said.runner_up).rstrip("."))))
    return found


def steps(said: Diagnosis) -> list[str]:
    """What to do, at most three sentences."""
    return [_sentence(step) for step in said.next[:MOST_STEPS]]


def missing(said: Diagnosis) -> list[str]:
    """What could not be looked at; that nobody can be named is said elsewhere."""
    return [item for item in said.unknown if not item.startswith("which ")]


def _sentence(text: str) -> str:
    """A clause as a sentence: a capital at its head, unless it begins with a program's name, and a stop at its end."""
    stripped = text.strip().rstrip(".")
    first = stripped.partition(" ")[0].rstrip(",:;")
    head = stripped[:1].upper() if first.isalpha() else stripped[:1]
    return f"{head}{stripped[1:]}."


def short_places(text: str) -> str:
    """`(/home/ada/logs/rank3.log:41)` as `(rank3.log:41)`."""
    return _FOLDERS.sub(r"(\1)", text)
