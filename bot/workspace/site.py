"""Everything one workspace holds, in one place that its parts share."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Coroutine
from dataclasses import dataclass

from bot.workspace.clock import Clock
from bot.workspace.delivery import Delivery
from bot.workspace.faults import Faults
from bot.workspace.feed import Feed
from bot.workspace.journal import Journal
from bot.workspace.messages import Messages
from bot.workspace.people import first_day
from bot.workspace.rates import Rates
from bot.workspace.response_urls import ResponseUrls
from bot.workspace.settings import BOT_EVENTS, BOT_SCOPES, WorkspaceSettings
from bot.workspace.shelf import Shelf
from bot.workspace.sockets import Sockets
from bot.workspace.tokens import Tokens
from bot.workspace.triggers import Triggers
from bot.workspace.values import Json
from bot.workspace.windows import Windows
from registry.ending import end_all


@dataclass(frozen=True, slots=True)
class ApiCall:
    """One call that came in, and what became of it."""

    at: float
    """Unix seconds when it arrived."""
    method: str
    args: Json
    error: str | None
    """Slack's error, or `cut`, `http 500` … for a fault; `None` when it went well."""
    status: int


class Site:
    """The state of one workspace. Parts that act on it take it as their first argument."""

    def __init__(self, settings: WorkspaceSettings) -> None:
        self.settings = settings
        self.base_url = ""
        self.clock = Clock()
        self.feed = Feed()
        self.directory = first_day()
        self.journal = Journal(settings.data_dir / "journal.jsonl") if settings.data_dir else None
        self.messages = Messages(self.clock, self._record, self.feed.tell)
        self.shelf = Shelf(settings.data_dir / "files" if settings.data_dir else None, self._record, self.feed.tell)
        self.windows = Windows(self.clock, self._record, self.feed.tell)
        self.tokens = Tokens(settings.bot_token, settings.app_token)
        self.rates = Rates(self.clock, posts_per_second=settings.posts_per_second, post_burst=settings.post_burst)
        self.faults = Faults()
        self.triggers = Triggers(self.clock, settings.trigger_lifetime_seconds)
        self.response_urls = ResponseUrls(
            self.clock, uses=settings.response_url_uses, lifetime_seconds=settings.response_url_lifetime_seconds
        )
        self.sockets = Sockets(self.feed, settings.max_connections)
        self.delivery = Delivery(settings, self.sockets)
        self.manifest: Json = {}
        self.events: frozenset[str] = frozenset()
        """Events the app subscribed to."""
        self.install(settings.manifest or {})
        self.history_lag_seconds = 0.0
        """How long a message takes to appear in conversations.history and .replies."""
        self.calls: deque[ApiCall] = deque(maxlen=settings.calls_kept)
        self._tasks: set[asyncio.Task[None]] = set()
        self._read_back()

    def install(self, manifest: Json) -> None:
        """Install the app by its manifest: its commands, shortcuts, scopes and events."""
        asked = manifest.get("oauth_config", {}).get("scopes", {}).get("bot", BOT_SCOPES)
        events = manifest.get("settings", {}).get("event_subscriptions", {}).get("bot_events", BOT_EVENTS)
        self.manifest = manifest
        self.tokens.scopes = set(self.settings.scopes or asked)
        self.events = frozenset(self.settings.events or events)
        self.feed.tell("channels")

    def background(self, work: Coroutine[object, object, None]) -> None:
        """Do this beside whatever is being answered; it is cancelled when the workspace closes."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """End streams, sockets and background work."""
        self.feed.end()
        await self.sockets.close()
        await self.delivery.close()
        await end_all(self._tasks)
        if self.journal is not None:
            self.journal.close()

    def _record(self, record: Json) -> None:
        if self.journal is not None:
            self.journal.write(record)

    def _read_back(self) -> None:
        if self.journal is None:
            return
        for record in self.journal.read():
            match record.get("op"):
                case "message":
                    self.messages.restore(record["channel"], record["message"])
                case "delete":
                    self.messages.forget(record["channel"], record["ts"])
                case "file":
                    self.shelf.known[record["file"]["id"]] = record["file"]
                case "home":
                    self.windows.homes[record["user"]] = record["view"]
