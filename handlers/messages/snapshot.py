"""What is said about a snapshot: which nodes answered, how much was saved, what is missing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from diagnosis import wording
from handlers.messages.blocks import Block, Message, actions, button, context, lines, message, table
from handlers.messages.phrase import NOTHING, Clause, Phrase, and_more, join, listed, number_of, say
from handlers.messages.silent_nodes import silent_nodes
from handlers.messages.snapshot_gaps import gaps
from handlers.names import typed

STOP = "stop_run"
SAVED, NOT_SAVED = "saved", "not_saved"
"""What its button tells of the evidence, before the run's name."""
"""The button that asks how the run is stopped."""
HEAD = tuple(map(say, ("node", "saved", "files", "masked", "missing")))
MOST_ROWS = 30


@dataclass(frozen=True, slots=True)
class NodeSaved:
    """What one node saved; `silent_seconds` set: it did not answer."""

    node: str
    bytes: int = 0
    files: int = 0
    masked: int = 0
    path: str = ""
    missing: tuple[str, ...] = ()
    """What could not be saved, each with its reason."""
    error: str = ""
    silent_seconds: float | None = None
    essential: tuple[str, ...] = ()
    """What a stop has to wait for."""
    has: tuple[str, ...] = ()
    """Pieces that are in."""
    without: tuple[tuple[str, str], ...] = ()
    """Pieces that cannot be had on this node, each with its reason."""
    url: str = ""
    """Where a copy lies that everybody can reach."""
    url_problem: str = ""
    logs_from: str = ""
    """For a silent node: another one that has its logs, or sees their folder."""
    has_logs_elsewhere: bool = False
    """Whether that one saved all of them."""


def saved_of(node: str, body: Mapping[str, Any]) -> NodeSaved:
    """A watcher's answer, read kindly: another version may say less or more."""
    pieces = [piece for piece in body.get("pieces") or () if isinstance(piece, Mapping)]
    missing = [_missing(piece) for piece in pieces if piece.get("outcome") not in (None, "collected", "empty")]
    missing += [str(what) for what in body.get("missing") or ()]
    return NodeSaved(
        node=str(body.get("node") or node),
        bytes=_whole(body.get("bytes")),
        files=_whole(body.get("files")) or len([piece for piece in pieces if piece.get("outcome") == "collected"]),
        masked=_whole(body.get("masked")),
        path=str(body.get("path") or ""),
        missing=tuple(missing),
        error=str(body.get("error") or ""),
        essential=tuple(map(str, _listed(body.get("essential_missing")))),
        has=tuple(str(piece.get("name")) for piece in pieces if _is_in(piece)),
        without=tuple((str(piece.get("name")), _reason(piece)) for piece in pieces if not _is_in(piece)),
        url=str(body.get("url") or ""),
        url_problem=str(body.get("url_problem") or ""),
    )


def asking(run: str, nodes: int, seconds: float) -> Message:
    """Said at once."""
    count = number_of(nodes, "{n} node", "{n} nodes")
    return message(
        say(
            "Asking {count} of *{run}* to save the evidence; the answer comes within {span}.",
            count=count,
            run=run,
            span=wording.duration(seconds),
        )
    )


def nobody_to_ask(run: str, silent: Sequence[tuple[str, float]]) -> Message:
    """No watcher of the run can be heard."""
    if not silent:
        return message(say("No watcher of *{run}* is known, so there is nobody to save anything.", run=run))
    names = listed(say("{node} ({span} ago)", node=node, span=wording.duration(age)) for node, age in silent[:6])
    return message(say("Nothing was saved: no watcher of *{run}* answers. Last heard: {names}.", run=run, names=names))


def snapshot_answer(
    run: str,
    saved: Sequence[NodeSaved],
    silent: Sequence[NodeSaved],
    seconds: float,
    note: str,
    *,
    prefix: str = "",
    may_stop: bool = False,
    is_gone: bool = False,
) -> Message:
    """A silent node first, then how complete it is, and whether a stop loses anything.

    `is_gone`: no process of the run is left to be stopped.
    """
    good = [node for node in saved if not node.error]
    total = sum(node.bytes for node in good)
    count = say("{n} of {all} nodes", n=len(good), all=len(saved) + len(silent))
    head = say(
        "{silent}*Snapshot of {run}: {count}, {size}, {span}.*",
        run=run,
        count=count,
        size=say_bytes(total),
        span=say("{span}", span=wording.duration(seconds)) if seconds >= 1 else say("under a second"),
        silent=silent_nodes(silent),
    )
    masked = sum(node.masked for node in good)
    facts = [
        number_of(masked, "{n} secret masked.", "{n} secrets masked.") if good else NOTHING,
        _where(good),
        say("Note: {note}.", note=note.rstrip(".")) if note else NOTHING,
    ]
    rows = [HEAD, *(_row(node) for node in saved[:MOST_ROWS])] if len(saved) > 1 else []
    return message(
        head,
        lines([join(facts, " "), safe_to_stop(saved, silent, is_gone=is_gone)]),
        lines(gaps(saved)),
        table(rows),
        context(_paths(good)),
        context(say("Before the restart: `/{prefix}runwatch checklist {run}`.", prefix=prefix, run=typed(run))),
        _buttons(run, may_stop=may_stop, is_saved=is_safe(saved, silent)) if good and not is_gone else None,
    )


def no_bundle(why: str) -> Message:
    """The files could not be brought together for this channel."""
    return message(say("The bundle is not here: {why}.", why=Clause(why.rstrip("."))))


def is_safe(saved: Sequence[NodeSaved], silent: Sequence[NodeSaved]) -> bool:
    """Whether a stop loses nothing that only the living job can tell."""
    return bool(saved) and not silent and not any(node.error or node.essential for node in saved)


def safe_to_stop(saved: Sequence[NodeSaved], silent: Sequence[NodeSaved], *, is_gone: bool = False) -> Phrase:
    """Said only when the essential evidence of every node is in, or cannot be had there; otherwise what is missing."""
    if is_safe(saved, silent):
        return _safe(saved, _AGAIN if is_gone else _STOP)
    reasons = [
        *(say("{node} did not answer", node=node.node) for node in silent),
        *(say("{node} saved nothing", node=node.node) for node in saved if node.error),
        *(
            say("{node} lacks {what}", node=node.node, what=listed(_called(name) for name in node.essential))
            for node in saved
            if node.essential and not node.error
        ),
    ]
    more = and_more(len(reasons) - 6)
    told = listed(reasons[:6]) if reasons else say("no node answered")
    form = "*Not yet safe to stop*: {told}{more}. What is missing would be lost."
    if is_gone:
        form = "*Not all is saved yet*: {told}{more}. A new start may overwrite what is missing."
    return say(form, told=told, more=more)


_STOP = (
    "*Safe to stop now*: {kept} of this node are saved.",
    "*Safe to stop now*: {kept} of every node are saved.",
    "*Safe to stop now*: nothing more can be saved here.",
)
_AGAIN = (
    "*Safe to start again*: {kept} of this node are saved.",
    "*Safe to start again*: {kept} of every node are saved.",
    "*Safe to start again*: nothing more can be saved here.",
)
"""Of a run that is down there is nothing to stop."""


def _safe(saved: Sequence[NodeSaved], forms: Sequence[str]) -> Phrase:
    """Names what is in on every node, and what is not there: nobody shall believe that a line is saved which is not."""
    everywhere = [name for name in _ESSENTIAL if all(name in node.has for node in saved)]
    absent = [told for name in _ESSENTIAL if (told := _absent(name, saved))]
    this, each, nothing = forms
    return join(
        [
            say(this if len(saved) == 1 else each, kept=listed(map(_named, everywhere)))
            if everywhere
            else say(nothing),
            say("Not there: {absent}.", absent=join(absent, "; ")) if absent else NOTHING,
        ],
        " ",
    )


def _absent(name: str, saved: Sequence[NodeSaved]) -> Phrase:
    """`kernel lines (kernel log not readable)`; where only some nodes lack it, with their names."""
    lacking = [(node.node, why) for node in saved for piece, why in node.without if piece == name]
    if not lacking:
        return NOTHING
    whys = dict.fromkeys(why for _, why in lacking if why)
    nodes = [node for node, _ in lacking] if len(lacking) < len(saved) else []
    where = say("on {nodes}{more}", nodes=", ".join(nodes[:4]), more=and_more(len(nodes) - 4)) if nodes else NOTHING
    inner = join([where, *(say("{why}", why=Clause(why)) for why in list(whys)[:2])], "; ")
    return say("{what} ({inner})" if inner else "{what}", what=_named(name), inner=inner)


_ESSENTIAL = {
    "log_tails": "logs",
    "gpu_ring": "GPU readings",
    "processes": "process states",
    "kernel_messages": "kernel lines",
}
"""What nobody can get any more once the job is stopped, in words."""


def _named(name: str) -> Phrase:
    return say("{piece}", piece=Clause(_ESSENTIAL.get(name, name.replace("_", " "))))


def _called(name: str) -> Phrase:
    return say("its logs") if name == "log_tails" else _named(name)


def _buttons(run: str, *, may_stop: bool, is_saved: bool) -> Block | None:
    label = "Stop the run…" if may_stop else "How to stop it"
    return actions(f"snapshot/{run}", [button(label, STOP, f"{SAVED if is_saved else NOT_SAVED}/{run}")])


def say_bytes(count: float) -> str:
    """`212 MiB`, `3.4 GiB`, `12 KiB`."""
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            return f"{count:,.0f} {unit}" if unit == "bytes" or count >= 10 else f"{count:,.1f} {unit}"
        count /= 1024
    raise AssertionError("unreachable")


def _is_in(piece: Mapping[str, Any]) -> bool:
    """Whether it was saved; a kernel log in which nothing of note stands was read all the same."""
    return piece.get("outcome") == "collected" or (piece.get("name"), piece.get("outcome")) == _QUIET_KERNEL


_QUIET_KERNEL = ("kernel_messages", "empty")


def _reason(piece: Mapping[str, Any]) -> str:
    return str(piece.get("why") or piece.get("reason") or "").split(": ")[0]


def _missing(piece: Mapping[str, Any]) -> str:
    why = piece.get("why") or piece.get("reason") or piece.get("outcome")
    return f"{piece.get('name', 'a piece')}: {why}"


def _where(good: Sequence[NodeSaved]) -> Phrase:
    if good and all(node.url for node in good):
        return say("Stored on each node, and together at `{url}`.", url=good[0].url.rpartition("/")[0])
    places = {node.path for node in good if node.path}
    if not places:
        return NOTHING
    if len(places) == 1:
        return say("Stored at `{path}`.", path=next(iter(places)))
    return say("Stored on each node.")


def _paths(good: Sequence[NodeSaved]) -> Phrase:
    places = [node for node in good if node.path]
    if len({node.path for node in places}) < 2:
        return NOTHING
    return join([say("{node}: `{path}`", node=node.node, path=node.path) for node in places[:10]], " · ")


def _row(node: NodeSaved) -> tuple[str | Phrase, ...]:
    if node.error:
        return (node.node, "–", "–", "–", say("{error}", error=Clause(node.error)))
    missing = str(len(node.missing)) if node.missing else say("nothing")
    return (node.node, say_bytes(node.bytes), str(node.files), str(node.masked), missing)


def _listed(value: object) -> Sequence[object]:
    return value if isinstance(value, list | tuple) else ()


def _whole(value: object) -> int:
    if isinstance(value, list | tuple):
        return len(value)
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0
