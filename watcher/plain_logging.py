"""Log lines of our own processes: one line for each message, whatever stands in a name or in an exception's text.

Newlines and control characters of what others wrote are shown as escapes, so that nothing can forge a line of the
log, or move the cursor of whoever reads it in a terminal.
"""

import logging
import re
from types import TracebackType

UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]",
)
_Raised = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


def escaped(text: str) -> str:
    """The text as one line that can be printed."""
    return UNSAFE.sub(lambda found: found[0].encode("unicode_escape", "surrogatepass").decode("ascii"), text)


class PlainFormatter(logging.Formatter):
    """Messages are one line; a traceback keeps its lines, all of them indented."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the library's name
        """The line, escaped."""
        return escaped(super().formatMessage(record))

    def formatException(self, ei: _Raised) -> str:  # noqa: N802 - the library's name
        """The traceback, escaped line by line."""
        return indented(super().formatException(ei))

    def formatStack(self, stack_info: str) -> str:  # noqa: N802 - the library's name
        """The stack, escaped line by line."""
        return indented(super().formatStack(stack_info))


def indented(text: str) -> str:
    """Lines that cannot be taken for lines of the log."""
    return "\n".join(f"  {escaped(line)}" for line in text.split("\n"))


def start_logging(level: int, form: str) -> None:
    """Log to stderr from here on, unless somebody does so already."""
    handler = logging.StreamHandler()
    handler.setFormatter(PlainFormatter(form))
    logging.basicConfig(level=level, handlers=[handler])
