"""A Slack-shaped workspace for tests, the demo and chaos: start it, act in it, look at what happened."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from bot.workspace import acts, modals
from bot.workspace.acts import Outcome, Press
from bot.workspace.clock import Clock
from bot.workspace.faults import Faults
from bot.workspace.looking import Looking
from bot.workspace.people import BOT_USER, Member
from bot.workspace.server import Server
from bot.workspace.settings import WorkspaceSettings
from bot.workspace.site import Site
from bot.workspace.sockets import Sockets
from bot.workspace.values import Json

Found = TypeVar("Found")


class Workspace(Looking):
    """One running workspace.

    People are named (`"alice"`) or given by id; a message is named by its `ts`, which is unique in a workspace, so
    a channel need not be said again.
    """

    def __init__(self, settings: WorkspaceSettings) -> None:
        self.settings = settings
        super().__init__(Site(settings))
        self._server = Server(self.site)

    @classmethod
    @asynccontextmanager
    async def start(cls, *, data_dir: Path | str | None = None, **settings: Any) -> AsyncIterator[Workspace]:
        """A workspace that runs until the block ends; settings as in `WorkspaceSettings`."""
        slack = cls(WorkspaceSettings(data_dir=None if data_dir is None else Path(data_dir), **settings))
        await slack.open()
        try:
            yield slack
        finally:
            await slack.close()

    async def open(self) -> None:
        """Listen."""
        await self._server.open()

    async def close(self) -> None:
        """Stop listening and end everything."""
        await self._server.close()

    # What an app needs to know.

    @property
    def url(self) -> str:
        """What SLACK_API_URL must be; ends with `/api/`."""
        return f"{self.site.base_url}/api/"

    @property
    def page_url(self) -> str:
        """Where a person looks."""
        return f"{self.site.base_url}/"

    @property
    def bot_token(self) -> str:
        """SLACK_BOT_TOKEN."""
        return self.settings.bot_token

    @property
    def app_token(self) -> str:
        """SLACK_APP_TOKEN."""
        return self.settings.app_token

    @property
    def signing_secret(self) -> str:
        """SLACK_SIGNING_SECRET."""
        return self.settings.signing_secret

    @property
    def channel(self) -> str:
        """The id of #training, where the app is a member."""
        return self.channel_id("training")

    @property
    def bot_user(self) -> str:
        """The app's user id: `<@…>` mentions it."""
        return BOT_USER

    # What a test may set.

    @property
    def faults(self) -> Faults:
        """What goes wrong on demand."""
        return self.site.faults

    @property
    def sockets(self) -> Sockets:
        """The app's Socket Mode connections: drop, refresh, zombify, repeat."""
        return self.site.sockets

    @property
    def clock(self) -> Clock:
        """The workspace's clock: `clock.skip(seconds)`."""
        return self.site.clock

    @property
    def members(self) -> dict[str, Member]:
        """Everybody by name."""
        return {member.name: member for member in self.site.directory.members.values()}

    def channel_id(self, name: str) -> str:
        """The id of a channel by name."""
        return self.site.directory.channel(name).id

    def direct_channel(self, user: str) -> str:
        """The id of the direct message between the app and this person."""
        return self.site.directory.direct(user).id

    def add_member(self, name: str, **facts: object) -> Member:
        """A new person; `facts` as in `Member`."""
        return self.site.directory.add_member(name, **facts)

    def change_member(self, name: str, **facts: object) -> Member:
        """Make somebody a guest, an admin or deleted."""
        return self.site.directory.change_member(name, **facts)

    def add_group(self, handle: str, users: Iterable[str]) -> str:
        """A user group; returns its id."""
        return self.site.directory.add_group(handle, users).id

    def add_channel(self, name: str, *, private: bool = False, bot: bool = True, members: Iterable[str] = ()) -> str:
        """A new channel; returns its id."""
        people = {self.site.directory.member(one).id for one in members} or {"U0ALICE", "U0BOB"}
        channel = self.site.directory.add_channel(
            name, private=private, members=people | ({BOT_USER} if bot else set())
        )
        self.site.feed.tell("channels")
        return channel.id

    def archive(self, channel: str | None = None, *, archived: bool = True) -> None:
        """Archive a channel, or bring it back."""
        self._channel(channel).is_archived = archived
        self.site.feed.tell("channels")

    def remove_bot(self, channel: str | None = None) -> None:
        """Take the app out of a channel."""
        self._channel(channel).members.discard(BOT_USER)

    def invite_bot(self, channel: str | None = None) -> None:
        """Put the app into a channel; it hears of that."""
        acts.invite_app(self.site, self._channel(channel), self._member("alice"))

    def revoke_scope(self, scope: str) -> None:
        """Take a scope from the bot token."""
        self.site.tokens.scopes.discard(scope)

    def grant_scope(self, scope: str) -> None:
        """Give the bot token a scope."""
        self.site.tokens.scopes.add(scope)

    def refuse_tokens(self, error: str | None) -> None:
        """Every call answers this (`token_revoked`, `account_inactive`, `invalid_auth`); `None` ends it."""
        self.site.tokens.trouble = error

    # What people do.

    async def slash(self, command: str, text: str = "", *, user: str = "alice", channel: str | None = None) -> Outcome:
        """Type a slash command."""
        return await acts.slash(self.site, self._member(user), self._channel(channel), command, text)

    async def click(
        self, ts: str, action_id: str, *, user: str = "alice", value: Any = None, state: dict[str, Any] | None = None
    ) -> Outcome:
        """Press a button of a message, or choose `value` (an option's value) in one of its menus."""
        channel, message = self._message(ts)
        press = Press(action_id, value, state or {})
        return await acts.act_in_message(self.site, self._member(user), channel, message, press)

    async def say(
        self, text: str, *, user: str = "alice", channel: str | None = None, thread_ts: str | None = None
    ) -> str:
        """Write a message; returns its ts."""
        said = acts.say(self.site, self._member(user), self._channel(channel), text, thread_ts=thread_ts)
        return str(said["ts"])

    async def mention(
        self, text: str, *, user: str = "alice", channel: str | None = None, thread_ts: str | None = None
    ) -> str:
        """Write a message that begins with a mention of the app; returns its ts."""
        return await self.say(f"<@{BOT_USER}> {text}", user=user, channel=channel, thread_ts=thread_ts)

    async def upload(
        self,
        name: str,
        data: bytes,
        *,
        text: str = "",
        user: str = "alice",
        channel: str | None = None,
        thread_ts: str | None = None,
    ) -> str:
        """Share a file; returns the ts of its message."""
        member = self._member(user)
        file = self._server.received_file(member, name, data)
        return str(acts.say(self.site, member, self._channel(channel), text, thread_ts=thread_ts, files=[file])["ts"])

    async def shortcut(self, callback_id: str, *, user: str = "alice", ts: str | None = None) -> Outcome:
        """Choose a shortcut: of the message `ts`, or a global one."""
        channel, message = self._message(ts) if ts else (None, None)
        return await acts.run_shortcut(self.site, self._member(user), callback_id, channel, message)

    async def suggest(self, action_id: str, value: str, *, user: str = "alice", ts: str | None = None) -> list[Json]:
        """Type into a select with suggestions, of a message or of the open modal: the options offered."""
        member = self._member(user)
        if ts is None:
            view = self.modal(user)
            assert view is not None, f"{user} has no modal open"
            return await acts.suggest(self.site, member, view["blocks"], Press(action_id, value), {"view": view})
        channel, message = self._message(ts)
        where = {
            "channel": {"id": channel.id, "name": channel.name},
            "container": {"type": "message", "message_ts": ts},
        }
        return await acts.suggest(self.site, member, message["blocks"], Press(action_id, value), where)

    async def open_home(self, *, user: str = "alice") -> None:
        """Look at the app's Home."""
        acts.open_home(self.site, self._member(user))

    async def click_home(self, action_id: str, *, user: str = "alice", value: Any = None) -> Outcome:
        """Press a button of Home."""
        member = self._member(user)
        return await acts.act_in_view(self.site, member, self.site.windows.homes[member.id], Press(action_id, value))

    async def click_modal(self, action_id: str, *, user: str = "alice", value: Any = None) -> Outcome:
        """Press a button in the open modal."""
        view = self.modal(user)
        assert view is not None, f"{user} has no modal open"
        return await acts.act_in_view(self.site, self._member(user), view, Press(action_id, value))

    async def submit_view(self, values: dict[str, Any] | None = None, *, user: str = "alice") -> Outcome:
        """Submit the open modal with these values by action id (an option's value, a list of them, or text)."""
        view = self.modal(user)
        assert view is not None, f"{user} has no modal open"
        return await modals.submit(self.site, self._member(user), view, values or {})

    async def close_view(self, *, user: str = "alice") -> None:
        """Close the open modal."""
        view = self.modal(user)
        assert view is not None, f"{user} has no modal open"
        await modals.close(self.site, self._member(user), view)
