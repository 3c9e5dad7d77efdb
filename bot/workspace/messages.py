"""What was said: messages by channel, threads, and what only one person sees."""

from __future__ import annotations

import copy
import uuid
from collections.abc import Callable
from typing import Any

from bot.workspace.clock import Clock
from bot.workspace.values import Json, Refused

Record = Callable[[Json], None]


class Messages:
    """Messages in Slack's shape. Whatever changes goes through `post`, `edit` and `delete`."""

    def __init__(self, clock: Clock, record: Record, tell: Callable[..., None]) -> None:
        self._clock = clock
        self._record = record
        self._tell = tell
        self._by_channel: dict[str, dict[str, Json]] = {}
        self._replies: dict[tuple[str, str], list[str]] = {}
        self.ephemerals: list[Json] = []
        """Messages one person sees, in order; each has `channel`, `user` (who sees it) and `ts`."""

    def post(self, channel: str, message: Json) -> Json:
        """Say it: the message gets its timestamp and stays."""
        message = {"type": "message", **message, "ts": self._clock.next_ts()}
        _name_blocks(message)
        self.restore(channel, message)
        self._saved(channel, message)
        return message

    def edit(self, channel: str, ts: str, changes: Json) -> Json:
        """Change what is there; a value of `None` removes the field."""
        message = self.find(channel, ts)
        for key, value in changes.items():
            if value is None:
                message.pop(key, None)
            else:
                message[key] = value
        _name_blocks(message)
        self._saved(channel, message)
        return message

    def delete(self, channel: str, ts: str) -> None:
        """Take it away; a thread's root leaves a tombstone, as in Slack."""
        message = self.find(channel, ts)
        if self._replies.get((channel, ts)):
            for key in ("blocks", "attachments", "files", "metadata", "edited"):
                message.pop(key, None)
            message.update(subtype="tombstone", text="This message was deleted.", user="USLACKBOT")
            message.pop("bot_id", None)
            self._saved(channel, message)
            return
        self.forget(channel, ts)
        self._record({"op": "delete", "channel": channel, "ts": ts})
        self._tell("message_deleted", channel=channel, ts=ts)

    def forget(self, channel: str, ts: str) -> None:
        """Drop a message without a word (also used when a journal is read back)."""
        message = self._by_channel.get(channel, {}).pop(ts, None)
        if message and message.get("thread_ts", ts) != ts:
            self._replies[channel, message["thread_ts"]].remove(ts)

    def restore(self, channel: str, message: Json) -> None:
        """Put a message with its timestamp in place (also used when a journal is read back)."""
        ts = message["ts"]
        self._clock.seen(ts)
        known = self._by_channel.setdefault(channel, {})
        root = str(message.get("thread_ts", ts))
        if ts not in known and root != ts:
            self._replies.setdefault((channel, root), []).append(ts)
        known[ts] = message

    def find(self, channel: str, ts: str) -> Json:
        """The message itself, to change."""
        message = self._by_channel.get(channel, {}).get(ts)
        if message is None:
            raise Refused("message_not_found")
        return message

    def channel_of(self, ts: str) -> str | None:
        """The channel that has a message with this timestamp; they are unique in a workspace."""
        return next((channel for channel, known in self._by_channel.items() if ts in known), None)

    def roots(self, channel: str) -> list[Json]:
        """What the channel itself holds, oldest first: roots, and replies that were also sent to the channel."""
        return [
            message
            for message in self._by_channel.get(channel, {}).values()
            if message.get("thread_ts", message["ts"]) == message["ts"] or message.get("subtype") == "thread_broadcast"
        ]

    def in_channel(self, channel: str) -> list[Json]:
        """What the channel shows, oldest first, each as a copy."""
        return [self.shown(channel, message) for message in self.roots(channel)]

    def everything(self, channel: str) -> list[Json]:
        """Every message of the channel, replies too, oldest first."""
        return [self.shown(channel, message) for message in self._by_channel.get(channel, {}).values()]

    def thread(self, channel: str, ts: str) -> list[Json]:
        """The root and its replies, oldest first."""
        root = self.find(channel, ts)
        return [
            self.shown(channel, self.find(channel, at)) for at in (root["ts"], *self._replies.get((channel, ts), ()))
        ]

    def shown(self, channel: str, message: Json) -> Json:
        """A copy as Slack shows it: a root counts its replies."""
        shown: Json = copy.deepcopy(message)
        replies = self._replies.get((channel, message["ts"]))
        if replies:
            users = [self._by_channel[channel][ts].get("user", "") for ts in replies]
            shown.update(
                thread_ts=message["ts"],
                reply_count=len(replies),
                reply_users=list(dict.fromkeys(users)),
                reply_users_count=len(set(users)),
                latest_reply=replies[-1],
            )
        return shown

    def whisper(self, channel: str, user: str, message: Json) -> Json:
        """Say it to one person alone."""
        message = {"type": "message", **message, "ts": self._clock.next_ts(), "channel": channel, "user_to_see": user}
        message["is_ephemeral"] = True
        _name_blocks(message)
        self.ephemerals.append(message)
        self._tell("ephemeral", message=copy.deepcopy(message))
        return message

    def replace_whisper(self, ts: str, changes: Json | None) -> bool:
        """Change a message only one person sees, or take it away with `None`; whether it was there."""
        for index, message in enumerate(self.ephemerals):
            if message["ts"] == ts:
                if changes is None:
                    del self.ephemerals[index]
                    self._tell("ephemeral_deleted", channel=message["channel"], ts=ts)
                else:
                    message.update(changes)
                    _name_blocks(message)
                    self._tell("ephemeral", message=copy.deepcopy(message))
                return True
        return False

    def whispered(self, ts: str) -> Json | None:
        """The message only one person sees, by timestamp."""
        return next((message for message in self.ephemerals if message["ts"] == ts), None)

    def _saved(self, channel: str, message: Json) -> None:
        self._record({"op": "message", "channel": channel, "message": message})
        self._tell("message", channel=channel, message=self.shown(channel, message))
        root = message.get("thread_ts")
        if root and root != message["ts"] and root in self._by_channel[channel]:
            self._tell("message", channel=channel, message=self.shown(channel, self._by_channel[channel][root]))


def without_metadata(message: Json) -> Json:
    """The message as a reader sees it who did not ask for metadata."""
    return {key: value for key, value in message.items() if key != "metadata"}


def _name_blocks(message: Json) -> None:
    """Slack gives every block that has none a `block_id`, and every button an `action_id`."""
    blocks: list[Any] = list(message.get("blocks") or ())
    for attachment in message.get("attachments") or ():
        blocks += attachment.get("blocks") or ()
    name_blocks(blocks)


def name_blocks(blocks: list[Any]) -> None:
    """Give blocks and interactive elements the identifiers that the app left to Slack."""
    for block in blocks:
        block.setdefault("block_id", uuid.uuid4().hex[:5])
        elements = [*(block.get("elements") or ()), block.get("accessory"), block.get("element")]
        if block["type"] in {"actions", "section", "input", "context_actions"}:
            for element in elements:
                if isinstance(element, dict) and element.get("type") != "image":
                    element.setdefault("action_id", uuid.uuid4().hex[:5])
