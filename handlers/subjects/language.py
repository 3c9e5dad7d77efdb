"""`/runwatch language [zh|en|auto] [here]`: which language is spoken to me, or in this channel."""

from collections.abc import AsyncIterator

from handlers.admission import admitted
from handlers.arguments import WrongWords
from handlers.command import Asked, Desk, Reply, Right, Say, whisper
from handlers.messages.languages import LANGUAGES, NAMES, speaking
from handlers.messages.tongues import channel_language_set, language_set, language_state
from handlers.subjects.subject import Subject
from handlers.tongues import WORKSPACE, languages_for

AUTO, HERE = "auto", "here"
_WORDS = {name.lower(): language for language, name in NAMES.items()} | {"chinese": "zh", "zh-cn": "zh", "cn": "zh"}


async def language(desk: Desk, asked: Asked) -> AsyncIterator[Reply]:
    """Shows, sets, or takes back; a channel's language is set by its admins."""
    words = asked.words.lower().split()
    is_channel = HERE in words
    wanted = [word for word in words if word != HERE]
    if not wanted:
        channel, mine = await languages_for(desk, asked.who.user, asked.channel)
        yield whisper(language_state, mine, channel)
        return
    chosen = _read(wanted)
    if is_channel:
        refusal = await admitted(desk, asked, Right.ADMINISTER, "channel_language")
        if refusal is not None:
            yield Say(refusal, is_private=True)
            return
    await _keep(desk, asked.channel if is_channel else asked.who.user, chosen, asked.who.user)
    channel, mine = await languages_for(desk, asked.who.user, asked.channel)
    with speaking(channel if is_channel else mine):
        said = channel_language_set(chosen) if is_channel else language_set(chosen, channel)
    yield Say(said, is_private=not is_channel)


async def _keep(desk: Desk, whose: str, chosen: str, by: str) -> None:
    if chosen == WORKSPACE:
        await desk.registry.languages.remove(whose)
    else:
        await desk.registry.languages.put(whose, {"language": chosen, "by": by})


def _read(words: list[str]) -> str:
    word = words[0]
    chosen = _WORDS.get(word, word)
    if len(words) > 1 or (chosen not in LANGUAGES and chosen != AUTO):
        raise WrongWords(f"I speak {', '.join(f'`{one}`' for one in LANGUAGES)}; `auto` takes a choice back.")
    return WORKSPACE if chosen == AUTO else chosen


SUBJECTS = (
    Subject(
        "language", "[zh|en|auto] [here]", "which language I speak to you, or in this channel", language, Right.READ
    ),
)
