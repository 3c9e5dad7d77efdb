"""One word after `/runwatch`."""

from dataclasses import dataclass

from handlers.command import Answer, Right


@dataclass(frozen=True, slots=True)
class Subject:
    """What it is called, how it is typed, what it does, and who may."""

    name: str
    usage: str
    summary: str
    answer: Answer
    right: Right
