"""What there is to see in a workspace, for tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from bot.workspace.people import Channel, Member
from bot.workspace.site import ApiCall, Site
from bot.workspace.values import Json

Found = TypeVar("Found")


class Looking:
    """Messages, files, modals and calls of a workspace as they are now."""

    def __init__(self, site: Site) -> None:
        self.site = site

    def messages(self, channel: str | None = None) -> list[Json]:
        """What the channel shows, oldest first, with metadata; replies are in `replies`."""
        return self.site.messages.in_channel(self._channel(channel).id)

    def all_messages(self, channel: str | None = None) -> list[Json]:
        """Every message of the channel, replies too, oldest first."""
        return self.site.messages.everything(self._channel(channel).id)

    def message(self, ts: str) -> Json:
        """One message as it is now."""
        channel, message = self._message(ts)
        return message if message.get("is_ephemeral") else self.site.messages.shown(channel.id, message)

    def replies(self, ts: str) -> list[Json]:
        """The replies to this root, oldest first, without the root."""
        channel = self.site.messages.channel_of(ts)
        return [] if channel is None else self.site.messages.thread(channel, ts)[1:]

    def ephemerals(self, user: str = "alice") -> list[Json]:
        """What only this person sees, oldest first."""
        member = self._member(user)
        return [one for one in self.site.messages.ephemerals if one["user_to_see"] == member.id]

    def modal(self, user: str = "alice") -> Json | None:
        """The modal on top of this person's screen."""
        stack = self.site.windows.stacks.get(self._member(user).id)
        return stack[-1] if stack else None

    def home(self, user: str = "alice") -> Json | None:
        """This person's App Home."""
        return self.site.windows.homes.get(self._member(user).id)

    def file(self, file_id: str) -> Json:
        """What is known of a file."""
        return self.site.shelf.find(file_id)

    def file_bytes(self, file_id: str) -> bytes:
        """A file's bytes."""
        return self.site.shelf.read(file_id)

    @property
    def calls(self) -> list[ApiCall]:
        """Every Web API call that came in, oldest first."""
        return list(self.site.calls)

    def calls_of(self, method: str) -> list[ApiCall]:
        """The calls of one method, oldest first."""
        return [call for call in self.site.calls if call.method == method]

    async def until(self, predicate: Callable[[], Found], timeout: float = 60.0) -> Found:  # noqa: ASYNC109 - tests read best with it
        """What `predicate` returns as soon as that is true; `TimeoutError` when it stays false."""
        return await self.site.feed.until(predicate, timeout)

    async def connected(self, timeout: float = 60.0) -> None:  # noqa: ASYNC109
        """Wait until the app has a Socket Mode connection."""
        await self.until(lambda: self.site.sockets.connections, timeout)

    def _member(self, user: str) -> Member:
        return self.site.directory.member(user)

    def _channel(self, channel: str | None) -> Channel:
        return self.site.directory.channel(channel or "training")

    def _message(self, ts: str) -> tuple[Channel, Json]:
        whispered = self.site.messages.whispered(ts)
        if whispered is not None:
            return self._channel(whispered["channel"]), whispered
        channel = self.site.messages.channel_of(ts)
        if channel is None:
            raise LookupError(f"no message {ts}")
        return self._channel(channel), self.site.messages.find(channel, ts)
