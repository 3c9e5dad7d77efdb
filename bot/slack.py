"""The only door to Slack's Web API: one try per call, a total deadline, a named outcome.

The SDK's own retries are off: the default one sends a message twice when the connection breaks after Slack has
taken it. Whoever calls knows whether a repeat is harmless.
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from bot.pacing import NORMAL, PATIENT, Pacing
from bot.slack_answers import FENCED, Answer, NotAnswered, Outcome, answer_of, answer_of_failure
from handlers.messages.blocks import Message

logger = logging.getLogger(__name__)

METADATA_TYPE = "runwatch_finding"
EDIT_INTERVAL_SECONDS = 1.2
"""chat.update: 50 a minute for the whole workspace, short bursts are taken."""
EDIT_BURST = 20
TIERS = {
    "auth.test": (0.6, 60),
    "chat.delete": (1.2, 20),
    "chat.postEphemeral": (0.6, 60),
    "conversations.history": (1.2, 40),
    "conversations.info": (1.2, 40),
    "conversations.list": (3.0, 15),
    "conversations.replies": (1.2, 40),
    "files.completeUploadExternal": (0.6, 80),
    "files.delete": (1.2, 20),
    "files.getUploadURLExternal": (0.6, 80),
    "files.info": (0.6, 80),
    "usergroups.list": (3.0, 15),
    "usergroups.users.list": (3.0, 15),
    "users.info": (0.6, 80),
    "views.open": (0.6, 80),
    "views.publish": (0.6, 80),
    "views.update": (0.6, 80),
}
"""Method → seconds between calls and how many may come at once, a little below what Slack documents."""
POST_BURST = 1
DEAF_SECONDS = 60.0
"""Nothing was answered for so long: Slack cannot be reached from here."""
DEAF_AGAIN_SECONDS = 300.0
"""So long after the last try that is believed."""
_QUIET = {"unfurl_links": False, "unfurl_media": False, "parse": "none", "link_names": False}
_MOST_PAGES = 20
PAGE_TRIES = 3


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread under a root of ours."""

    root: str
    newest_reply: str
    """Its ts."""
    run: str
    """Empty: the root does not say."""


Fence = Callable[[], Awaitable[bool]]
"""Asked right before a post is sent: may this bot still do it?"""


@dataclass(frozen=True, slots=True)
class Shared:
    """A file, and the message that shows it."""

    file: str
    ts: str


class Slack:
    """Calls of one bot token."""

    def __init__(
        self, token: str, url: str, *, deadline_seconds: float = 20.0, post_interval_seconds: float = 1.0
    ) -> None:
        self._token = token
        self._url = url.rstrip("/") + "/"
        self._deadline = deadline_seconds
        self._post_interval = post_interval_seconds
        self._session: aiohttp.ClientSession | None = None
        self._client: AsyncWebClient | None = None
        self._channels: dict[str, str] = {}
        self._listing = asyncio.Lock()
        self.pacing = Pacing()
        self.calls: Counter[tuple[str, str]] = Counter()
        """How often each method came to which outcome."""
        self.last_trouble: Answer | None = None
        """What the newest call that was not done came to; None after one that was."""
        self._unanswered: tuple[float, float] | None = None
        """When the first and the newest call since the last answer began; None: the newest one was answered."""

    @property
    def client(self) -> AsyncWebClient:
        """The SDK's client, without its retries; made on first use, inside the event loop."""
        if self._client is None or self._session is None or self._session.closed:
            connector = aiohttp.TCPConnector(limit=64, keepalive_timeout=15)
            self._session = aiohttp.ClientSession(connector=connector, trust_env=True)
            self._client = AsyncWebClient(
                self._token, base_url=self._url, session=self._session, retry_handlers=[], timeout=int(self._deadline)
            )
        return self._client

    @property
    def deadline_seconds(self) -> float:
        """Total time a call may take."""
        return self._deadline

    @property
    def is_deaf(self) -> bool:
        """Whether Slack has answered nothing at all for a while, lately."""
        if self._unanswered is None:
            return False
        first, newest = self._unanswered
        return newest - first >= DEAF_SECONDS and time.monotonic() - newest < DEAF_AGAIN_SECONDS

    def _note_answer(self, began: float, *, is_answered: bool) -> None:
        first, newest = self._unanswered or (began, began)
        # One call that failed now and another hours ago are no long silence.
        first = first if began - newest < DEAF_AGAIN_SECONDS else began
        self._unanswered = None if is_answered else (first, began)

    async def aclose(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()

    async def call(self, method: str, content: Mapping[str, Any], *, as_json: bool = True) -> Answer:
        """One call, sent once."""
        given = {name: value for name, value in content.items() if value is not None}
        options: dict[str, Any] = {"json": given} if as_json else {"params": given}
        began = time.monotonic()
        try:
            async with asyncio.timeout(self._deadline):
                found = await self.client.api_call(method, **options)
            answer = answer_of(found.data, int(found.status_code), dict(found.headers), time.time())
        except Exception as failure:
            answer = answer_of_failure(failure, time.time())
        self.calls[method, str(answer.outcome)] += 1
        self.last_trouble = None if answer.is_ok else answer
        self._note_answer(began, is_answered=answer.is_answer)
        if not answer.is_ok:
            logger.info("%s: %s %s", method, answer.outcome, answer.error)
        return answer

    async def post(
        self,
        channel: str,
        message: Message,
        *,
        thread_ts: str | None = None,
        event: str = "",
        key: str = "",
        run: str = "",
        priority: int = NORMAL,
        fence: Fence | None = None,
        is_for_all: bool = False,
        place: int | None = None,
    ) -> Answer:
        """Post when it is its turn in the channel; `event`, `key` and `run` stand in the metadata, to find it again.

        Who posts anew what was refused brings the place it had (`pacing.place`), so that nobody overtakes it. A reply
        `is_for_all` stands in the channel, too: in a thread `@here` reaches only those who follow it.
        """
        content: dict[str, Any] = {"channel": channel, "thread_ts": thread_ts, **_content(message), **_QUIET}
        if is_for_all and thread_ts is not None:
            content["reply_broadcast"] = True
        if event:
            payload = {"event": event} | {name: text for name, text in (("key", key), ("run", run)) if text}
            content["metadata"] = {"event_type": METADATA_TYPE, "event_payload": payload}
        lane = f"post {channel}"
        place = self.pacing.place() if place is None else place
        while True:
            await self.pacing.turn(lane, self._post_interval, burst=POST_BURST, priority=priority, place=place)
            if fence is not None and not await fence():
                return FENCED
            # While the fence was asked, another post may have been told to come later.
            if not self.pacing.is_closed(lane):
                break
        return self._closing(lane, await self.call("chat.postMessage", content))

    async def turn_to_edit(self) -> None:
        """Wait until an edit may go; whoever composes after this shows the newest."""
        await self.pacing.turn("edit", EDIT_INTERVAL_SECONDS, burst=EDIT_BURST, priority=PATIENT)

    async def edit(self, channel: str, ts: str, message: Message, *, fence: Fence | None = None) -> Answer:
        """Change a message, after `turn_to_edit`; doing it twice is harmless."""
        content = {"channel": channel, "ts": ts, **_content(message), "parse": "none", "link_names": False}
        if fence is not None and not await fence():
            return FENCED
        return self._closing("edit", await self.call("chat.update", content))

    async def whisper(self, channel: str, user: str, message: Message, *, thread_ts: str | None = None) -> Answer:
        """Say something to one person in a channel."""
        content = {"channel": channel, "user": user, "thread_ts": thread_ts, **_content(message), **_QUIET}
        return await self._paced("chat.postEphemeral", content)

    async def respond(self, response_url: str, message: Message, *, is_private: bool, replaces: bool = False) -> Answer:
        """Answer a command or click by its own address; works in channels the bot is not in."""
        body = {"response_type": "ephemeral" if is_private else "in_channel", "replace_original": replaces}
        content = {**body, **_content(message), **_QUIET}
        try:
            async with asyncio.timeout(self._deadline):
                await self.pacing.turn("respond", 0.02, burst=50)
                assert self.client.session is not None
                async with self.client.session.post(response_url, json=content) as found:
                    text = await found.text()
                    is_ok = found.status == 200
                    return answer_of({"ok": is_ok, "error": text[:80]}, found.status, dict(found.headers), time.time())
        except Exception as failure:
            return answer_of_failure(failure, time.time())

    async def posted(self, channel: str, since: float, thread_ts: str | None = None) -> tuple[Answer, dict[str, str]]:
        """The messages of ours since a time: event id and finding key → ts. Without a thread: roots of the channel."""
        method = "conversations.replies" if thread_ts else "conversations.history"
        content: dict[str, Any] = {"channel": channel, "ts": thread_ts, "limit": 200, "include_all_metadata": True}
        content["oldest"] = f"{max(0.0, since):.6f}"
        found: dict[str, str] = {}
        async for answer in self._pages(method, content):
            found |= _events_in(answer.data.get("messages") or ())
        return answer, found

    async def threads(self, channel: str, since: float) -> tuple[Answer, list[Thread]]:
        """The threads under roots of ours that are not older."""
        content = {"channel": channel, "limit": 200, "oldest": f"{max(0.0, since):.6f}", "include_all_metadata": True}
        found: list[Thread] = []
        async for answer in self._pages("conversations.history", content):
            for message in answer.data.get("messages") or ():
                payload = _payload_of(message)
                if payload and message.get("latest_reply"):
                    run = str(payload.get("run", ""))
                    found.append(Thread(str(message["ts"]), str(message["latest_reply"]), run))
        return answer, found

    async def _pages(self, method: str, content: dict[str, Any]) -> AsyncIterator[Answer]:
        """Read to the end, or to the first answer that is none; at least one."""
        for _ in range(_MOST_PAGES):
            answer = await self._page(method, content)
            yield answer
            cursor = (answer.data.get("response_metadata") or {}).get("next_cursor")
            if not answer.is_ok or not cursor:
                return
            content["cursor"] = cursor

    async def _page(self, method: str, content: dict[str, Any]) -> Answer:
        """A page that does not come is asked for again by itself; begun anew each time, a long read would never end."""
        answer = Answer(Outcome.AWAY)
        for _ in range(PAGE_TRIES):
            answer = await self._paced(method, content, as_json=False)
            if answer.is_ok or answer.outcome is Outcome.REFUSED:
                break
        return answer

    async def read(self, method: str, content: Mapping[str, Any]) -> Answer:
        """Ask Slack something that changes nothing."""
        return await self._paced(method, content, as_json=False)

    async def show(self, method: str, content: Mapping[str, Any]) -> Answer:
        """Open, change or publish a view."""
        return await self._paced(method, content)

    async def upload(self, name: str, data: bytes, title: str, channel: str, thread_ts: str | None) -> Answer:
        """Bring a file into a channel or thread; never with `alt_txt`, which makes Slack share it nowhere."""
        asked = await self._paced("files.getUploadURLExternal", {"filename": name, "length": len(data)}, as_json=False)
        if not asked.is_ok:
            return asked
        sent = await self._send_bytes(str(asked.data.get("upload_url", "")), data)
        if not sent.is_ok:
            return sent
        file = str(asked.data.get("file_id", ""))
        content = {"files": [{"id": file, "title": title}], "channel_id": channel, "thread_ts": thread_ts}
        answer = await self._paced("files.completeUploadExternal", content)
        return Answer(answer.outcome, {**answer.data, "file_id": file}, answer.error, answer.retry_after)

    async def files_in(self, channel: str, thread_ts: str) -> dict[str, Shared] | None:
        """The files in a thread by name; None: could not look."""
        content = {"channel": channel, "ts": thread_ts, "limit": 200}
        # Charts ask this; the search for a message that may have arrived must not wait behind them.
        answer = await self._paced("conversations.replies", content, as_json=False, priority=PATIENT)
        if not answer.is_ok:
            return None
        found: dict[str, Shared] = {}
        for message in answer.data.get("messages") or ():
            for file in message.get("files") or ():
                found[str(file.get("name"))] = Shared(str(file.get("id")), str(message.get("ts")))
        return found

    async def remove(self, channel: str, shared: Shared) -> Answer:
        """Take a file of ours back: the message that showed it, and then the file."""
        gone = await self._paced("chat.delete", {"channel": channel, "ts": shared.ts}, priority=PATIENT)
        if not gone.is_ok and not gone.is_gone:
            return gone
        return await self._paced("files.delete", {"file": shared.file}, priority=PATIENT)

    async def is_shared(self, file: str, channel: str) -> bool | None:
        """Whether an uploaded file reached the channel; None: could not look."""
        answer = await self._paced("files.info", {"file": file}, as_json=False)
        if not answer.is_ok:
            return False if answer.error == "file_not_found" else None
        shares = (answer.data.get("file") or {}).get("shares") or {}
        return any(channel in places for places in shares.values())

    async def channel_id(self, name: str) -> str | None:
        """The id of `#training`; an id is itself; None: we can see none.

        Raises:
            NotAnswered: The list could not be read; a name alone is not enough to look for what was posted.
        """
        wanted = name.removeprefix("#")
        if not name.startswith("#") and wanted.isupper():
            return wanted
        if wanted not in self._channels:
            # Incidents that begin together ask once: else the first waits for its answer and later ones go ahead.
            async with self._listing:
                if wanted not in self._channels:
                    await self._list_channels(wanted)
        return self._channels.get(wanted)

    async def _list_channels(self, wanted: str) -> None:
        """Read the list of channels until this one is in it."""
        content: dict[str, Any] = {"limit": 200, "exclude_archived": True, "types": "public_channel,private_channel"}
        for _ in range(_MOST_PAGES * 5):
            answer = await self._paced("conversations.list", content, as_json=False)
            if answer.outcome is Outcome.REFUSED:
                return
            if not answer.is_ok:
                raise NotAnswered("conversations.list", answer)
            self._channels |= {str(one.get("name")): str(one.get("id")) for one in answer.data.get("channels") or ()}
            cursor = (answer.data.get("response_metadata") or {}).get("next_cursor")
            if wanted in self._channels or not cursor:
                return
            content["cursor"] = cursor

    async def _paced(
        self, method: str, content: Mapping[str, Any], *, as_json: bool = True, priority: int = NORMAL
    ) -> Answer:
        interval, burst = TIERS[method]
        await self.pacing.turn(method, interval, burst=burst, priority=priority)
        return self._closing(method, await self.call(method, content, as_json=as_json))

    async def _send_bytes(self, url: str, data: bytes) -> Answer:
        try:
            async with asyncio.timeout(self._deadline):
                assert self.client.session is not None
                async with self.client.session.post(url, data=data) as found:
                    await found.read()
                    is_ok = found.status == 200
                    error = "" if is_ok else f"upload answered {found.status}"
                    return answer_of({"ok": is_ok, "error": error}, found.status, dict(found.headers), time.time())
        except Exception as failure:
            return answer_of_failure(failure, time.time())

    def _closing(self, lane: str, answer: Answer) -> Answer:
        if answer.outcome is Outcome.LIMITED:
            self.pacing.close(lane, answer.retry_after)
        return answer


def _content(message: Message) -> dict[str, Any]:
    return {"text": message.text, "blocks": message.blocks or None}


def _events_in(messages: Any) -> dict[str, str]:
    found: dict[str, str] = {}
    for message in messages:
        payload = _payload_of(message)
        for name in (payload.get("event"), payload.get("key")):
            if isinstance(name, str):
                found.setdefault(name, str(message.get("ts", "")))
    return found


def _payload_of(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """What our metadata says of a message; empty: it is none of ours."""
    metadata = message.get("metadata") or {}
    return (metadata.get("event_payload") or {}) if metadata.get("event_type") == METADATA_TYPE else {}
