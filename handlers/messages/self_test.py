"""What is said after a long time without a word, so that silence is not mistaken for all being well."""

from diagnosis import wording
from handlers.messages.blocks import Message, context, message
from handlers.messages.phrase import NOTHING, join, say


def self_test(seconds: float, runs: int, watchers: int, silent: int, muted: int, *, is_first: bool = False) -> Message:
    """One line: what is watched, and that this message itself got through."""
    span = wording.duration(seconds)
    if is_first:
        head = say("*Runwatch is here* and has told of nothing yet.")
    else:
        head = say("*Nothing to tell* for {span}, and this message got through.", span=span)
    told = say("runs in training: {n}", n=f"{runs:,}")
    heard = say("watchers heard: {n}", n=f"{watchers:,}")
    lost = say("watchers silent: {n}", n=f"{silent:,}") if silent else NOTHING
    quiet = say("{n} muted: `/runwatch mutes`", n=muted) if muted else NOTHING
    return message(head, context(join([told, heard, lost, quiet], " · ")))
