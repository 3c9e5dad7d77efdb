"""What a reader may be told about a source."""

from dataclasses import dataclass

from diagnosis.formats.user_pattern import UserPattern


@dataclass(frozen=True, slots=True)
class ReadSettings:
    """How one source is to be read; the defaults recognise everything by themselves."""

    pattern: UserPattern | None = None
    """A person's own pattern for step lines, asked before all dialects."""
    logging_interval: int | None = None
    """Optimizer steps between two logged losses, for logs whose loss lines carry no step (HF `logging_steps`)."""
    recent_lines: int = 40
    """Last lines of every rank that are kept as evidence."""
    unread_samples: int = 5
    """Lines kept as a sample of what looked like metrics and was not understood."""


def read_settings(pattern: str | None = None, logging_steps: int | None = None) -> ReadSettings:
    """What a person says of a log. Raises `RefusedPattern`, or a ValueError in words, with the reason."""
    if logging_steps is not None and logging_steps < 1:
        raise ValueError(f"The optimizer steps between two losses are 1 or more, not {logging_steps}.")
    return ReadSettings(UserPattern(pattern) if pattern else None, logging_steps)
