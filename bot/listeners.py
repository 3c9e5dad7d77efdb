"""What Slack sends us, and who answers it: acknowledged first, worked on after.

One function takes every command, one every button, one every mention; the tables in `handlers` say which there
are. So whoever adds a command adds no listener.
"""

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.deliver import Place, deliver
from bot.homes import Homes
from bot.identity import Identity
from bot.pacing import PATIENT
from bot.repeats import Repeats
from bot.slack import Slack
from bot.slack_answers import NotAnswered
from handlers import BUTTONS, COMMANDS, FORMS, SELECTS, SHORTCUTS
from handlers.answering import answers
from handlers.authorise import authorise
from handlers.command import Asked, Button, Command, Desk, Modal, Reply, Select, SharedFile, Shortcut, Who
from handlers.mentions import chosen
from handlers.messages.help import welcome
from handlers.messages.languages import speaking
from handlers.messages.modals import plain, read_place
from handlers.messages.phrase import Clause, say
from handlers.tongues import channel_language, languages_for
from registry.errors import RegistryError

logger = logging.getLogger(__name__)

SUGGEST_SECONDS = 2.0
"""Slack waits three for a menu."""

Next = Callable[[], Awaitable[Any]]


class Listeners:
    """Takes what Slack sends and starts its work."""

    def __init__(
        self, desk: Desk, slack: Slack, repeats: Repeats, identity: Identity, homes: Homes, *, default_channel: str
    ) -> None:
        self._desk = desk
        self._slack = slack
        self._repeats = repeats
        self._identity = identity
        self._homes = homes
        self._default_channel = default_channel
        self._at_work: set[asyncio.Task[None]] = set()

    def register(self, app: AsyncApp) -> None:
        """Put every command, every button and the mention before Bolt."""
        app.middleware(self.take_once)
        for command in COMMANDS:
            app.command(self._desk.command(command.name))(self._commanded(command))
        for button in BUTTONS:
            # Several of one kind in one message bear a suffix: Slack wants each id once.
            app.action(re.compile(rf"{re.escape(button.action)}(:.*)?"))(self._pressed(button))
        for form in FORMS:
            app.view(form.callback)(self._sent(form))
        for shortcut in SHORTCUTS:
            app.shortcut({"type": "message_action", "callback_id": shortcut.callback})(self._chosen(shortcut))
        app.event("app_mention")(self.mentioned)
        for select in SELECTS:
            app.options(select.action)(self._suggested(select))
        app.event("app_home_opened")(self.home_opened)
        app.event("message")(self.written)
        app.event("member_joined_channel")(self.invited)
        app.error(_failed)

    async def finish(self, seconds: float) -> None:
        """Let the answers in hand end, within so many seconds."""
        if self._at_work:
            await asyncio.wait(self._at_work, timeout=seconds)
        for task in list(self._at_work):
            task.cancel()

    async def take_once(self, body: dict[str, Any], ack: AsyncAck, next: Next) -> None:  # noqa: A002 - Bolt's word
        """Handle each event once, however often Slack sends it."""
        event = body.get("event_id")
        if isinstance(event, str) and not await self._repeats.is_first(f"event/{event}"):
            await ack()
            return
        await next()

    def _commanded(self, command: Command) -> Callable[..., Awaitable[None]]:
        async def listen(ack: AsyncAck, body: dict[str, Any]) -> None:
            await ack()
            asked = Asked(_who(body), str(body.get("channel_id", "")), str(body.get("text") or ""))
            place = Place(
                asked.channel,
                asked.who.user,
                response_url=body.get("response_url"),
                trigger_id=body.get("trigger_id"),
            )
            self._start(place, answers(self._desk, command, asked))

        return listen

    def _pressed(self, button: Button) -> Callable[..., Awaitable[None]]:
        async def listen(ack: AsyncAck, body: dict[str, Any]) -> None:
            await ack()
            action = (body.get("actions") or [{}])[0]
            container = body.get("container") or {}
            who = _who(body)
            is_view = container.get("type") == "view"
            channel = str(container.get("channel_id") or (body.get("channel") or {}).get("id") or "")
            root = container.get("thread_ts") or container.get("message_ts")
            value = str(action.get("value") or (action.get("selected_option") or {}).get("value") or "")
            about = value.rpartition("/")[2]
            how = "home" if is_view else "button"
            asked = Asked(who, channel, value, thread_incident=about, how=how, thread_ts=root)
            place = Place(
                channel or who.user,
                who.user,
                thread_ts=root,
                response_url=body.get("response_url"),
                is_direct=is_view,
                trigger_id=body.get("trigger_id"),
            )
            self._start(place, answers(self._desk, button, asked), who if is_view else None)

        return listen

    def _sent(self, form: Modal) -> Callable[..., Awaitable[None]]:
        async def listen(ack: AsyncAck, body: dict[str, Any]) -> None:
            view = body.get("view") or {}
            values = form_values(view)
            wrong = form.check(values)
            if wrong:
                _, mine = await languages_for(self._desk, _who(body).user, "")
                with speaking(mine):
                    said = {name: Clause(why, has_code=True).plain for name, why in wrong.items()}
                await ack(response_action="errors", errors=said)
                return
            await ack()
            told = read_place(str(view.get("private_metadata") or ""))
            channel, thread = told.get("channel", ""), told.get("thread") or None
            asked = Asked(
                _who(body),
                channel,
                told.get("words", ""),
                thread_incident=told.get("incident"),
                how="modal",
                thread_ts=thread,
                values=values,
            )
            self._start(Place(channel, asked.who.user, thread_ts=thread), answers(self._desk, form, asked))

        return listen

    def _chosen(self, shortcut: Shortcut) -> Callable[..., Awaitable[None]]:
        async def listen(ack: AsyncAck, body: dict[str, Any]) -> None:
            await ack()
            said = body.get("message") or {}
            channel = str((body.get("channel") or {}).get("id") or "")
            root = str(said.get("thread_ts") or said.get("ts") or body.get("message_ts") or "") or None
            asked = Asked(
                _who(body),
                channel,
                how="shortcut",
                thread_ts=root,
                pasted=str(said.get("text") or ""),
                files=tuple(file for one in said.get("files") or () if (file := _file(one)) is not None),
            )
            place = Place(channel, asked.who.user, thread_ts=root, response_url=body.get("response_url"))
            self._start(place, answers(self._desk, shortcut, asked))

        return listen

    def _suggested(self, select: Select) -> Callable[..., Awaitable[None]]:
        async def listen(ack: AsyncAck, body: dict[str, Any]) -> None:
            options: Sequence[tuple[str, str]] = ()
            with suppress(TimeoutError, RegistryError):
                async with asyncio.timeout(SUGGEST_SECONDS):
                    ruling = await authorise(self._desk, _who(body), select.right)
                    if ruling.refusal is None:
                        options = await select.suggest(self._desk, str(body.get("value") or ""))
            await ack(
                options=[{"text": plain(say("{label}", label=label)), "value": value} for label, value in options]
            )

        return listen

    async def home_opened(self, event: dict[str, Any], body: dict[str, Any]) -> None:
        """Somebody looks at their Home."""
        if event.get("tab", "home") == "home":
            who = Who(str(event.get("user") or ""), str(body.get("team_id") or ""))
            self._work(self._show_home(who))

    async def written(self, event: dict[str, Any]) -> None:
        """A direct message is a question, as if it began with our name."""
        is_ours = event.get("bot_id") or event.get("user") in (None, self._identity.user)
        if event.get("channel_type") == "im" and not is_ours and event.get("subtype") in (None, "file_share"):
            await self.mentioned(event)

    async def invited(self, event: dict[str, Any]) -> None:
        """Somebody invited us: say once what we are for."""
        channel = str(event.get("channel") or "")
        if event.get("user") == self._identity.user and await self._repeats.is_first(f"welcome/{channel}"):
            self._work(self._greet(channel))

    async def _greet(self, channel: str) -> None:
        with suppress(NotAnswered):
            is_default = await self._slack.channel_id(self._default_channel) == channel
            with speaking(await channel_language(self._desk.registry, channel)):
                said = welcome(self._desk.prefix, is_default=is_default)
            await self._slack.post(channel, said, priority=PATIENT)

    async def _show_home(self, who: Who) -> None:
        try:
            await self._homes.opened(who)
        except RegistryError as away:
            logger.warning("A Home waits for the registry: %s", away)

    async def mentioned(self, event: dict[str, Any]) -> None:
        """`@runwatch loss run42`, in a thread too."""
        who = Who(
            str(event.get("user") or ""),
            str(event.get("user_team") or event.get("source_team") or event.get("team") or ""),
            is_bot=bool(event.get("bot_id")),
        )
        thread = event.get("thread_ts")
        words = re.sub(
            rf"<@{re.escape(self._identity.user or '')}(\|[^>]*)?>", " ", str(event.get("text") or "")
        ).strip()
        is_direct = event.get("channel_type") == "im"
        place = Place(
            str(event.get("channel", "")),
            who.user,
            thread_ts=thread or (None if is_direct else event.get("ts")),
            is_direct=is_direct,
        )
        self._start(place, self._mention_answers(who, place, words, thread))

    async def _mention_answers(self, who: Who, place: Place, words: str, thread: str | None) -> AsyncIterator[Reply]:
        command, asked = await chosen(self._desk, who, place.channel, words, thread)
        async for reply in answers(self._desk, command, asked):
            yield reply

    def _start(self, place: Place, replies: AsyncIterator[Reply], at_home: Who | None = None) -> None:
        self._work(self._deliver(place, replies, at_home))

    def _work(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._at_work.add(task)
        task.add_done_callback(self._at_work.discard)

    async def _deliver(self, place: Place, replies: AsyncIterator[Reply], at_home: Who | None) -> None:
        try:
            theirs, mine = await languages_for(self._desk, place.user, place.channel)
            with speaking(mine if place.is_direct else theirs, mine):
                await deliver(self._slack, place, replies)
            if at_home is not None:
                await self._homes.changed_by(at_home)
        except Exception:
            logger.exception("An answer could not be delivered")


def form_values(view: Mapping[str, Any]) -> dict[str, str]:
    """What was filled in: action id → text, or the chosen value."""
    filled = {}
    for block in ((view.get("state") or {}).get("values") or {}).values():
        for action, state in block.items():
            chosen = state.get("selected_option") or {}
            value = state.get("value") if "value" in state else chosen.get("value")
            value = value or state.get("selected_conversation") or state.get("selected_channel")
            if isinstance(value, str):
                filled[action] = value
    return filled


def _file(told: Mapping[str, Any]) -> SharedFile | None:
    url = told.get("url_private_download") or told.get("url_private")
    name = str(told.get("name") or told.get("title") or "file")
    return SharedFile(name, str(url), int(told.get("size") or 0)) if url else None


def _who(body: dict[str, Any]) -> Who:
    """The person in a command or a click, and their own workspace."""
    user = body.get("user")
    if isinstance(user, dict):
        return Who(str(user.get("id") or ""), str(user.get("team_id") or (body.get("team") or {}).get("id") or ""))
    return Who(str(body.get("user_id") or ""), str(body.get("team_id") or ""))


async def _failed(error: Exception) -> None:
    logger.error("Bolt could not handle a request: %s: %s", type(error).__name__, error)
