"""One line on its way through the reader."""

from diagnosis.formats import drafts
from diagnosis.formats.hygiene import MAX_EVIDENCE
from diagnosis.observations import Evidence, Origin


class Line:
    """What was printed, and what is known of it so far. `text` shrinks as envelopes come off."""

    __slots__ = ("before", "number", "offset", "origin", "printed", "stream", "text", "time")

    def __init__(self, printed: str, number: int, offset: int, before: bytes, origin: Origin) -> None:
        self.printed = printed
        self.text = printed
        self.number = number
        self.offset = offset
        self.before = before
        self.origin = origin
        """Where it comes from, as far as envelopes tell."""
        self.stream = origin
        """Whose records go on from line to line: `origin` without what a mere logger's head said."""
        self.time: float | None = None

    def evidence(self, file: str) -> Evidence:
        """The line as it was printed, with its place."""
        text = self.printed
        if self.before and not self.text.startswith('{"'):  # an object is whole without the ones in front of it
            text = (self.before.decode("utf-8", "replace") + text)[-MAX_EVIDENCE:]
        elif len(text) > MAX_EVIDENCE:
            text = text[:MAX_EVIDENCE]
        return drafts.evidence(file, self.number, text, self.offset)

    def part(self, text: str) -> "Line":
        """A piece of the line that is read by itself."""
        part = Line(self.printed, self.number, self.offset, self.before, self.origin)
        part.text, part.stream, part.time = text, self.stream, self.time
        return part
