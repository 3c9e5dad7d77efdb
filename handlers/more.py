"""The menu behind three dots: note, mute, close, give back, report. Each entry asks for its own right."""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from diagnosis.incidents import Act, Incident
from handlers.acts import do_act
from handlers.admission import admitted, refusal_for
from handlers.authorise import authorise
from handlers.command import Asked, Button, Desk, Reply, Right, Say, opened, whisper
from handlers.find_incident import get_incident
from handlers.find_run import named_run
from handlers.messages.care import MORE
from handlers.messages.modals import close_form, mute_form, note_form, place_word
from handlers.messages.pressed import changed, over, unknown_incident
from handlers.reports.making import make_report


@dataclass(frozen=True, slots=True)
class _Form:
    """An entry that opens a form."""

    draw: Callable[[Incident, str], dict[str, Any]]
    right: Right
    needs_open: bool = True


_FORMS: Mapping[str, _Form] = {
    "note": _Form(note_form, Right.ACKNOWLEDGE, needs_open=False),
    "mute": _Form(mute_form, Right.RESPOND),
    "close": _Form(close_form, Right.RESPOND),
}


async def answer(desk: Desk, asked: Asked) -> AsyncIterator[Reply]:
    """Opens a form, or does it at once."""
    choice, _, name = asked.words.partition("/")
    about = replace(asked, words="", thread_incident=name)
    form = _FORMS.get(choice)
    if form is not None:
        # Opening a form changes nothing: the right is asked for, and asked for again when it is sent.
        async for reply in _open(desk, about, choice, form):
            yield reply
        return
    if choice == "report":
        kept = await get_incident(desk, name)
        if kept is None:
            yield whisper(unknown_incident)
            return
        async for reply in make_report(desk, await named_run(desk, kept.incident.run), only=name):
            yield reply
    elif choice == "release":
        refusal = await admitted(desk, about, Right.ACKNOWLEDGE, choice)
        said = refusal or changed(await do_act(desk.registry, name, Act("release", asked.who.user)))
        if said is not None:
            yield Say(said, is_private=True)


async def _open(desk: Desk, asked: Asked, choice: str, form: _Form) -> AsyncIterator[Reply]:
    ruling = await authorise(desk, asked.who, form.right)
    refusal = await refusal_for(desk, asked, ruling, choice)
    if refusal is not None:
        yield Say(refusal, is_private=True)
        return
    kept = await get_incident(desk, asked.thread_incident or "")
    if kept is None:
        yield whisper(unknown_incident)
    elif form.needs_open and not kept.incident.is_open:
        yield whisper(over)
    else:
        yield opened(form.draw, kept.incident, place_word(kept.incident.id, asked.channel, kept.ts))


BUTTON = Button(MORE, answer, Right.READ)
