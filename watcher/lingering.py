"""How long a file is still read after it lost its name to a rotation, or lost every name it had."""

from collections.abc import Sequence

from watcher import writers
from watcher.part import Part

LINGER_SECONDS = 5.0
"""How long a renamed file that is quiet is still read."""
HELD_CHECK_SECONDS = 30.0
NAMELESS_SECONDS = 300.0
"""How long a quiet file without a name keeps its descriptor (and the disk its bytes)."""


class Lingering:
    """Decides when the files of one log are let go."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._held: dict[int, tuple[float, bool | None]] = {}

    def is_over(self, part: Part, parts: Sequence[Part], now: float, *, has_name: bool) -> bool:
        """True when nothing more is expected of a file that is read to its end.

        `parts` are all files of the log, the live one last; `has_name` says that a file bears the log's name.
        """
        if part.is_copy:
            return True
        live = parts[-1]
        if now - part.grew_at < LINGER_SECONDS or (part is live and part.has_name()):
            return False
        if part is not live and part.has_name() and live.offset == 0:
            # A plain shell redirection never reopens: the job goes on writing into the renamed file.
            return False
        is_held = self._is_held(part, now)
        if is_held or (part is live and has_name):
            return False
        return (is_held is False and part is not live) or now - part.grew_at > NAMELESS_SECONDS

    def forget(self, part: Part) -> None:
        """It was let go."""
        self._held.pop(part.number, None)

    def _is_held(self, part: Part, now: float) -> bool | None:
        """Whether a process still has it open, as far as we may see; asked now and then."""
        looked_at, answer = self._held.get(part.number, (-HELD_CHECK_SECONDS, None))
        if now - looked_at >= HELD_CHECK_SECONDS:
            answer = writers.is_held(part.file_id, self._folder)
            self._held[part.number] = (now, answer)
        return answer
