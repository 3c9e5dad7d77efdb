"""What was found in log text or log files that somebody showed us."""

from collections.abc import Mapping, Sequence
from typing import Any

from diagnosis import wording
from handlers.command import SharedFile
from handlers.messages.blocks import Block, Message, context, fence, lines, message
from handlers.messages.escaping import fit, visible
from handlers.messages.incident import rank_place
from handlers.messages.phrase import NOTHING, Clause, Phrase, join, listed, number_of, say, with_code
from handlers.messages.troubles import called

MOST_REASONS, MOST_STEPS, MOST_FINDINGS, MOST_FILES = 4, 4, 5, 6
LONGEST_LINE = 400


def diagnosis_answer(answer: Mapping[str, Any], left_out: Sequence[str] = ()) -> Message:
    """One sentence, what it rests on, what to do, and what was read."""
    said = answer.get("diagnosis") or {}
    is_fine = said.get("category") in (None, "none")
    parts: list[Block | None] = []
    evidence = said.get("evidence")
    if evidence:
        line = "" if evidence.get("line") is None else f":{evidence['line']}"
        label = say("From the log, `{place}`:", place=f"{evidence.get('file')}{line}")
        parts += [context(label), fence(fit(visible(str(evidence["text"])), 280))]
    parts += [
        _list(say("*Because*"), said.get("because"), MOST_REASONS),
        _list(say("*Next*"), said.get("next"), MOST_STEPS),
        _changes(answer),
        _findings(answer) if is_fine else None,
        _list(say("*Not known*"), said.get("unknown"), MOST_REASONS),
        context(join([_numbers(answer), _read(answer), _left_out(left_out)], " · ")),
    ]
    return message(_head(answer, said, is_fine=is_fine), *parts)


def reading(files: Sequence[SharedFile]) -> Message:
    """Said at once, to whoever asked."""
    if not files:
        return message(say("Reading the text; the answer comes below the message."))
    named = listed(say("`{name}`", name=file.name) for file in files[:MOST_FILES])
    return message(say("Reading {named}; the answer comes below the message.", named=named))


def nothing_to_read() -> Message:
    """The message holds no log."""
    return message(
        say(
            "There is no log in that message: paste some lines of it as a code block, or upload the file, and try "
            "again."
        )
    )


def _head(answer: Mapping[str, Any], said: Mapping[str, Any], *, is_fine: bool) -> Phrase:
    if is_fine:
        loud = [one for one in answer.get("findings") or () if one.get("severity") != "info"]
        if loud:
            one, many = "{n} finding", "{n} findings"
            return say("🟠 *Nothing that ended the run*, but {n} worth a look.", n=number_of(len(loud), one, many))
        cut = next((file for file in answer.get("files") or () if file.get("problem") and file.get("lines")), None)
        if cut is not None:
            place = say("line {n} of `{file}`", n=wording.whole(cut["lines"]), file=visible(str(cut["path"])))
            why = with_code(fit(str(cut["problem"]), LONGEST_LINE))
            return say("🟡 *Nothing wrong found* up to {place}: {why}.", place=place, why=why)
        if (answer.get("loss") or {}).get("points"):
            return say("🟢 *Nothing wrong found*.")
        return say("🟢 *Nothing wrong found*; I read no training loss in it either.")
    where = _where(said)
    head = say("🔴 *{what}*{where}", what=Clause(_capital(called(str(said["category"])).one)), where=where)
    facts = [say("confidence: {level}", level=Clause(said.get("confidence") or "unknown"))]
    if said.get("first_bad_step") is not None:
        facts.append(say("first bad step {step}", step=wording.whole(said["first_bad_step"])))
    if said.get("first_bad_time"):
        facts.append(say("at {time}", time=said["first_bad_time"]))
    return join([head, *facts], " · ")


def _where(said: Mapping[str, Any]) -> Phrase:
    rank, node, local = said.get("culprit_rank"), said.get("culprit_node"), said.get("culprit_local_rank")
    if rank is not None:
        return say(" · {place}", place=rank_place(rank, node, local))
    if said.get("suspects"):
        return say(" · one of ranks {ranks}", ranks=", ".join(map(str, said["suspects"][:8])))
    return say(" · {node}", node=node) if node else NOTHING


def _list(title: Phrase, items: Any, most: int) -> Block | None:
    kept = [say("• {text}", text=with_code(fit(str(item), LONGEST_LINE))) for item in (items or ())[:most]]
    return lines([title, *kept]) if kept else None


def _changes(answer: Mapping[str, Any]) -> Block | None:
    changed = [one.get("line") or one.get("text") for one in answer.get("changes") or ()]
    return _list(say("*What changed around it*"), [one for one in changed if one], MOST_STEPS)


def _findings(answer: Mapping[str, Any]) -> Block | None:
    found = [one for one in answer.get("findings") or () if one.get("severity") != "info"]
    return _list(say("*Findings*"), [one.get("text", "") for one in found], MOST_FINDINGS)


def _numbers(answer: Mapping[str, Any]) -> Phrase:
    loss = answer.get("loss") or {}
    if not loss.get("points"):
        return NOTHING
    first, last = loss.get("first_step"), loss.get("last_step")
    span = NOTHING
    if first is not None and last is not None:
        span = say(", steps {first} to {last}", first=wording.whole(first), last=wording.whole(last))
    points = number_of(loss["points"], "{n} point of loss", "{n} points of loss")
    return join([points, span], "")


def _read(answer: Mapping[str, Any]) -> Phrase:
    files = answer.get("files") or ()
    total = sum(int(file.get("lines") or 0) for file in files)
    read, named = number_of(total, "{n} line", "{n} lines"), number_of(len(files), "{n} file", "{n} files")
    return say("read {lines} in {files}", lines=read, files=named)


def _left_out(names: Sequence[str]) -> Phrase:
    return say("could not read {names}", names=Clause("; ".join(names[:MOST_FILES]))) if names else NOTHING


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
