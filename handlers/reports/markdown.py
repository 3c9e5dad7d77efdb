"""A document as Markdown that no text of a stranger can break."""

import re

from handlers.messages.escaping import visible
from handlers.messages.phrase import say
from handlers.reports.document import Code, Document, Heading, Paragraph, Part, Picture, Points, Table

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~$])")
_NUMBERED = re.compile(r"^(\s*\d+)([.)])(?=\s|$)")
_RULED = re.compile(r"^(\s*)([-=])")


def to_markdown(document: Document) -> str:
    """The whole document."""
    return "\n\n".join(filter(None, (_part(part) for part in document))) + "\n"


def _part(part: Part) -> str:
    match part:
        case Heading():
            return f"{'#' * part.level} {_text(part.text)}"
        case Paragraph():
            return _text(part.text)
        case Points():
            return "\n".join(f"- {_text(text)}" for text in part.texts)
        case Table():
            return _table(part)
        case Code():
            return _code(part)
        case Picture():
            return f"*{_text(say('Chart (in the HTML report): {what}', what=part.text).plain)}*"


def _table(table: Table) -> str:
    if len(table.rows) < 2:
        return ""
    head, *rows = [f"| {' | '.join(_text(cell) or '–' for cell in row)} |" for row in table.rows]
    return "\n".join([head, f"|{'---|' * len(table.rows[0])}", *rows])


def _code(code: Code) -> str:
    shown = visible(code.text, keeps_lines=True)
    longest = max((len(run) for run in re.findall(r"`+", shown)), default=0)
    fence = "`" * max(3, longest + 1)
    label = f"{_text(code.label)}\n\n" if code.label else ""
    return f"{label}{fence}text\n{shown}\n{fence}"


def _text(text: str) -> str:
    escaped = _SPECIAL.sub(r"\\\1", visible(text).replace("&", "&amp;"))
    return _RULED.sub(r"\1\\\2", _NUMBERED.sub(r"\1\\\2", escaped))
