"""How patient the tracker of incidents is."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Habits:
    """Times of grouping, reminding and reopening; the bot's settings carry the same names."""

    group_wait_seconds: float = 5.0
    """How long a new incident that is not critical gathers ranks before it is announced."""
    cause_wait_seconds: float = 0.0
    """How long the news of a crash or a broken collective waits for the search for its cause; 0: not at all."""
    settle_seconds: float = 30.0
    """What else breaks within this time of the opening is told in the same thread; a further kind without a reply."""
    reopen_within_seconds: float = 600.0
    """A trouble that comes back this soon after it was resolved reopens its thread."""
    inhibit_for_seconds: float = 3600.0
    """How long after its last finding a cause keeps its consequences unsaid, and in its thread what comes of it."""
    claim_for_seconds: float = 14_400.0
    """How long an acknowledged incident stays its owner's without a word of theirs; 0: for ever."""
    close_after_end_seconds: float = 86_400.0
    """How long after its run ended, and was not started again, an incident is closed."""
    reminders_seconds: tuple[float, ...] = (1800.0, 7200.0, 21_600.0, 86_400.0)
    """When an incident nobody acknowledged is said again, after its opening; the last interval repeats."""

    def reminder_due(self, reminders: int) -> float:
        """Seconds after the opening at which the next reminder is due, when so many were said."""
        if not self.reminders_seconds:
            return float("inf")
        if reminders < len(self.reminders_seconds):
            return self.reminders_seconds[reminders]
        beyond = reminders - len(self.reminders_seconds) + 1
        return self.reminders_seconds[-1] * (1 + beyond)
