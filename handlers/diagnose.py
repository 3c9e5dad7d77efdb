"""The shortcut “Runwatch: diagnose”: the same answer as `runwatch inspect`, for log text or log files in Slack."""

from collections.abc import AsyncIterator

from handlers.command import Asked, Desk, Reply, Right, Say, Shortcut, Upload, whisper
from handlers.messages.diagnosis import diagnosis_answer, nothing_to_read, reading
from handlers.messages.phrase import say
from handlers.pasted import pasted_text

CALLBACK = "diagnose"


async def answer(desk: Desk, asked: Asked) -> AsyncIterator[Reply]:
    """What went wrong, under the message, with the lines it rests on and the curve."""
    text = pasted_text(asked.pasted)
    if not asked.files and len(text.split()) < 2:
        yield whisper(nothing_to_read)
        return
    yield whisper(reading, asked.files)
    found = await desk.inspect(text if not asked.files or "\n" in text else "", asked.files)
    yield Say(diagnosis_answer(found.answer, found.left_out))
    if found.chart is not None:
        yield Upload("loss.png", found.chart, say("Loss in these files").plain)


SHORTCUT = Shortcut(
    CALLBACK, "Runwatch: diagnose", "What went wrong in this log text, or in these log files", answer, Right.READ
)
