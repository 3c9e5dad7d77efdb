"""A document in parts, before it is Markdown or HTML. Texts are anybody's; each writer escapes them its own way."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Heading:
    """A title; level 1 is the document's."""

    text: str
    level: int = 2


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Plain text."""

    text: str


@dataclass(frozen=True, slots=True)
class Points:
    """A list."""

    texts: Sequence[str]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells; the first is the head."""

    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Code:
    """Lines of a log, letter for letter."""

    text: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """A PNG."""

    data: bytes
    text: str
    """What it shows, in words."""


Part = Heading | Paragraph | Points | Table | Code | Picture
Document = Sequence[Part]
