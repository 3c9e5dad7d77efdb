"""The Slack side of a scenario: a workspace in a process of its own, acted in and looked at over HTTP and its journal."""

import json
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

_local = urllib.request.build_opener(urllib.request.ProxyHandler({}))
"""Nothing here may go through a proxy of the environment."""


class Room:
    """One workspace: its page, its /debug door, and what it wrote down."""

    def __init__(self, page: str, folder: Path) -> None:
        self.page = page
        self.folder = folder
        self._read = 0
        """Bytes of the journal that were read."""
        self._messages = {}

    @property
    def api(self) -> str:
        """What SLACK_API_URL must be."""
        return f"{self.page}api/"

    def look(self, what, **query):
        """GET /debug/WHAT."""
        with _local.open(f"{self.page}debug/{what}?{urllib.parse.urlencode(query)}", timeout=20) as answer:
            return json.load(answer)

    def change(self, what, **body):
        """POST /debug/WHAT."""
        data = json.dumps(body).encode()
        asked = urllib.request.Request(
            f"{self.page}debug/{what}", data, headers={"Content-Type": "application/json"}, method="POST"
        )
        try:
            with _local.open(asked, timeout=20) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refused:
            raise AssertionError(f"/debug/{what} {body}: {refused.read().decode()}") from refused

    def slash(self, command, text="", *, user="alice", channel="training"):
        """Type a slash command."""
        return self.change("act", act="slash", user=user, channel=channel, command=command, text=text)

    def messages(self, channel="training"):
        """Every message of the channel, replies too, as it reads now."""
        return self.look("messages", channel=channel)

    def roots(self, channel="training"):
        """The messages that open a thread, or stand alone."""
        return [one for one in self.messages(channel) if one.get("thread_ts", one["ts"]) == one["ts"]]

    def incidents(self, channel="training"):
        """The roots that tell a finding."""
        return [one for one in self.roots(channel) if one.get("metadata")]

    def replies(self, ts, channel="training"):
        """What was said below a root."""
        return [one for one in self.messages(channel) if one.get("thread_ts") == ts != one["ts"]]

    def ephemerals(self):
        """What single people were told."""
        return self.look("ephemerals")

    def pictures(self, ts, channel="training"):
        """The PNG files of a thread, as bytes."""
        files = [file for reply in self.replies(ts, channel) for file in reply.get("files") or ()]
        found = [(self.folder / "files" / file["id"]).read_bytes() for file in files]
        return [data for data in found if data.startswith(b"\x89PNG\r\n\x1a\n")]

    def written(self):
        """Every message the journal holds, in its newest form, by timestamp: readable with the workspace dead."""
        with (self.folder / "journal.jsonl").open("rb") as journal:
            journal.seek(self._read)
            for line in journal:
                if not line.endswith(b"\n"):
                    break  # still being written, or torn by a kill: that call was never answered
                self._read += len(line)
                self._take(line)
        return dict(self._messages)

    def _take(self, line):
        try:
            record = json.loads(line)
        except ValueError:
            return  # the rest of a torn one
        if record.get("op") == "message":
            self._messages[record["message"]["ts"]] = record["message"]
        elif record.get("op") == "delete":
            self._messages.pop(record["ts"], None)


def until(look, seconds=60.0, every=0.1, what=""):
    """What `look` returns as soon as that is true; an AssertionError with its name when it stays false."""
    deadline = time.monotonic() + seconds
    while True:
        found, trouble = None, ""
        try:
            found = look()
        except (urllib.error.URLError, ConnectionError, TimeoutError) as away:
            trouble = f" ({away})"
        if found:
            return found
        assert time.monotonic() < deadline, f"did not come within {seconds:.0f} s: {what or look.__doc__}{trouble}"
        time.sleep(every)
