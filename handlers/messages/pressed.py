"""What the person who pressed a button is told; the root message shows the rest."""

from handlers.acts import Done
from handlers.messages.blocks import Message, message
from handlers.messages.languages import to_the_asker
from handlers.messages.phrase import Person, say


@to_the_asker()
def acknowledged(done: Done | None, by: str) -> Message | None:
    """Nothing when the root says it already; otherwise who was first, or why nothing happened."""
    if done is None:
        return message(say("Noted. It will show in the message as soon as a bot announces again, within a minute."))
    if done.is_done:
        return None
    if not done.state:
        return unknown_incident()
    if done.state == "resolved":
        return over()
    if done.owner == by:
        return message(say("You have it already."))
    return message(say("{who} has it already.", who=Person(done.owner)))


def done_in_thread(run: str) -> Message:
    """For whoever asked from elsewhere."""
    return message(say("Done; the thread of *{run}* shows it.", run=run))


def noted() -> Message:
    """For whoever wrote it into the thread: there it stands already."""
    return message(say("Noted: it stands in the first message of this thread, and in the report."))


@to_the_asker()
def changed(done: Done | None, act: str = "") -> Message | None:
    """Nothing when the thread says it; otherwise why nothing happened."""
    if done is None:
        return message(say("Noted. It will show in the message as soon as a bot announces again, within a minute."))
    if done.is_done:
        return None
    if not done.state:
        return unknown_incident()
    if act == "note":
        return message(say("A note needs some words."))
    return over() if done.state == "resolved" else message(say("Nothing to change: it stands like that already."))


def unknown_incident() -> Message:
    """The message is older than what we keep."""
    return message(say("I no longer know that incident; it is older than what I keep."))


def over() -> Message:
    """Nothing to do any more."""
    return message(say("That incident is over already."))
