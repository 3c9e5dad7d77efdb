"""When a judgement about a whole run is over, and in which words: only what was seen to be good again is.

That a stall is no longer to be seen proves nothing: the processes may have died, or nobody looks any more. Then the
incident stays open.
"""

from dataclasses import dataclass

from diagnosis import wording
from diagnosis.stall import Outcome
from handlers.standing import Picture

Key = tuple[str, str | None]
"""Kind and node; None: the whole run."""


@dataclass(frozen=True, slots=True)
class Since:
    """Where the run stood when it was said."""

    step: int | None = None
    attempt: int = 0
    progressed_at: float | None = None
    """The last progress of any rank by then; None: not known."""


def since(picture: Picture, attempt: int) -> Since:
    """Where the run stands now."""
    return Since(picture.standing.step, attempt, progressed_at(picture))


def progressed_at(picture: Picture) -> float | None:
    """The last progress of any rank."""
    return max((rank.progressed_at for rank in picture.ranks if rank.progressed_at is not None), default=None)


def why_over(key: Key, picture: Picture, attempt: int, began: Since) -> str | None:
    """In which words it is over; None: it cannot be said to be."""
    kind, node = key
    if picture.outcome is Outcome.ENDED:
        return "the run has ended"
    if kind == Outcome.WATCHER_SILENT:
        return "its watcher is heard again" if _is_heard(node, picture) else None
    standing = picture.standing
    is_seen = len(standing.silent_nodes) < len(picture.nodes) or not picture.nodes
    if standing.outcome not in {Outcome.FINE, Outcome.WATCHER_SILENT} or not is_seen or standing.step is None:
        return None
    step = wording.whole(standing.step)
    if attempt > began.attempt:
        return f"progress again in attempt {attempt + 1}, at step {step}"
    if began.step is None or standing.step > began.step:
        return f"progress again, at step {step}"
    newest = progressed_at(picture)
    if newest is not None and began.progressed_at is not None and newest > began.progressed_at:
        return f"new steps again, now at step {step}"
    if standing.outcome is Outcome.FINE and kind != Outcome.RUN_DOWN and standing.allowed_seconds is not None:
        return f"still at step {step}, but {wording.duration(standing.allowed_seconds)} without a step are allowed now"
    return None


def gone_over(text: str, firing: "dict[Key, Since]") -> str:
    """A stall whose processes are gone is no longer one, and not over either."""
    was = next((firing[key] for key in firing if key[0] == Outcome.STALLED), None)
    if was is None:
        return text
    at = f" at step {wording.whole(was.step)}" if was.step is not None else ""
    return f"{text}; it had stalled{at} before that"


def _is_heard(node: str | None, picture: Picture) -> bool:
    silent = picture.standing.silent_nodes
    if node is None and silent and picture.outcome is Outcome.RUN_DOWN:
        return False  # what is seen to be gone was seen by another one
    heard = {view.node for view in picture.nodes if not view.is_silent and view.node not in silent}
    return bool(heard) if node is None else node in heard
