"""Words every part of the workspace shares."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
"""A JSON object as Slack sends and takes them."""


class Refused(Exception):
    """The workspace says no, in Slack's words: `{"ok": false, "error": …}`."""

    def __init__(self, error: str, /, **more: Any) -> None:
        super().__init__(error)
        self.error = error
        self.more = more

    def body(self) -> Json:
        """The answer's JSON."""
        return {"ok": False, "error": self.error, **self.more}
