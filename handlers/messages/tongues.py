"""What is said about languages."""

from handlers.messages.blocks import Message, message
from handlers.messages.languages import NAMES, now_spoken
from handlers.messages.phrase import NOTHING, Phrase, join, say

HOW = "`/runwatch language zh` or `en` chooses yours, `auto` takes it back; with `here` behind it, the channel's."

FOR_ALL = "What all can read stays in the channel's language: `/runwatch language {language} here` changes that."


def language_state(chosen: str, channel: str) -> Message:
    """What holds for the person and the channel; empty: nothing was chosen."""
    mine = say("To you I speak {language}", language=_name(chosen or now_spoken()))
    there = say("in this channel {language}", language=_name(channel)) if channel else _as_all()
    return message(say("{said}. {how}", said=join([mine, there], ", "), how=say(HOW)))


def language_set(language: str, channel: str) -> Message:
    """It holds from now on; not for what stands in a channel that reads another one."""
    if not language:
        return message(say("I no longer speak a language of your own choice to you."))
    first = say("From now on I speak {language} to you.", language=_name(language))
    return message(join([first, say(FOR_ALL, language=language) if channel != language else NOTHING], " "))


def channel_language_set(language: str) -> Message:
    """The same for a channel."""
    if not language:
        return message(say("This channel reads the language of the workspace again."))
    return message(
        say(
            "From now on I speak {language} in this channel; open threads follow with their next change.",
            language=_name(language),
        )
    )


def _as_all() -> Phrase:
    return say("in this channel the language of the workspace")


def _name(language: str) -> str:
    return NAMES.get(language, language)
