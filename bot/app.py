"""The Slack process: listeners, monitor and announcer around one registry, started and ended in order."""

import asyncio
import logging
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.web.async_client import AsyncWebClient

from bot.announcer import Announcer
from bot.bundles import Bundles
from bot.caretaker import Caretaker
from bot.channels import reach
from bot.diagnosing import SlackInspector
from bot.digests import Digests
from bot.homes import Homes
from bot.http import Endpoint
from bot.identity import Identity
from bot.judging import RunJudge
from bot.listeners import Listeners
from bot.looking import Looking
from bot.metrics import Metrics
from bot.monitor import Monitor
from bot.once import Once
from bot.people import SlackPeople
from bot.pictures import Pictures
from bot.repeats import Repeats
from bot.self_test import SelfTest
from bot.settings import BotSettings
from bot.setup import load_thresholds
from bot.slack import Slack
from bot.sockets import Sockets
from bot.supervision import GaveUp, Patience, Supervisor
from bot.unheard import Unheard
from charts.painter import ChartFailed, Painter
from diagnosis.errors import Mistake
from diagnosis.incidents import Tracker
from diagnosis.thresholds import Thresholds
from handlers.command import Desk
from handlers.messages.languages import speak
from registry import Registry, connect
from registry.broom import Retention
from registry.errors import Refused, RegistryError
from watcher.dead_man import DeadMan
from watcher.plain_logging import start_logging

logger = logging.getLogger(__name__)

LEASE = "announcer"
FINE, FAILURE = 0, 3
MOST_SILENT_SECONDS = 60.0
"""A reign that goes round less often than this is stuck."""


@dataclass(slots=True)
class Bot:
    """The parts of one running bot, for those who look: health, tests."""

    settings: BotSettings
    registry: Registry
    slack: Slack
    identity: Identity
    monitor: Monitor
    sockets: Sockets | None
    endpoint: Endpoint | None
    supervisor: Supervisor
    unheard: Unheard
    caretaker: Caretaker

    def health(self) -> tuple[bool, Mapping[str, object]]:
        """Whether we are well, and the facts."""
        is_connected = self.sockets.is_connected if self.sockets else True
        trouble, failing = self.slack.last_trouble, {**self.supervisor.troubles, **self.monitor.troubles}
        if self.monitor.silent_seconds > MOST_SILENT_SECONDS:
            failing.setdefault("monitor", f"has not gone round for {self.monitor.silent_seconds:.0f} s")
        is_known = self.identity.team is not None and not (trouble and trouble.needs_token)
        return is_connected and is_known and not failing, {
            "connected": is_connected,
            "workspace": self.identity.team,
            "announces": self.monitor.is_reigning,
            "trouble": trouble.error if trouble else self.identity.trouble,
            "failing": failing,
            "registry": dict(self.caretaker.problems),
        }


async def run_bot(settings: BotSettings, thresholds: Thresholds | None = None, patience: Patience | None = None) -> int:
    """Serve Slack until SIGTERM or SIGINT; returns the exit code, 3 when a part of it could not be kept up."""
    _start_logging()
    settings.check_tokens()
    if not settings.channel:
        raise Mistake("Set RUNWATCH_CHANNEL to the channel where incidents are told, such as #training or its id.")
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        with suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(number, stop.set)
    async with bot_running(settings, thresholds or load_thresholds(), patience) as bot:
        ends = [asyncio.create_task(stop.wait()), asyncio.create_task(bot.supervisor.until_given_up())]
        done, waiting = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        for task in waiting:
            task.cancel()
        try:
            for task in done:
                task.result()
        except GaveUp as gave_up:
            logger.critical("Ending, so that a service manager starts me afresh: %s.", gave_up)
            return FAILURE
        logger.info("Stopping; what is in hand is finished first.")
    return FINE


@asynccontextmanager
async def bot_running(
    settings: BotSettings, thresholds: Thresholds | None = None, patience: Patience | None = None
) -> AsyncIterator[Bot]:
    """A bot that serves until the block ends."""
    speak(settings.language)
    registry = connect(settings.redis_url, name="bot", request_key=settings.request_key, audit_key=settings.audit_key)
    slack = Slack(
        settings.slack_bot_token,
        settings.slack_api_url,
        deadline_seconds=settings.slack_deadline_seconds,
        post_interval_seconds=settings.channel_interval_seconds,
    )
    painter, supervisor = Painter(), Supervisor(patience or Patience())
    try:
        await _check_registry(registry)
        bot, listeners = _assemble(
            settings, thresholds or Thresholds(), registry, slack, painter, supervisor=supervisor
        )
        supervisor.keep("identity", lambda: bot.identity.learn(slack))
        supervisor.keep("charts", lambda: _warm(painter))
        monitoring = supervisor.keep("monitor", lambda: bot.monitor.run(settings.stop_grace_seconds))
        supervisor.keep("webhook", bot.unheard.run)
        supervisor.keep("upkeep", bot.caretaker.run)
        if settings.dead_man_url:
            ping = DeadMan(settings.dead_man_url, settings.dead_man_every_seconds, lambda: bot.health()[0])
            supervisor.keep("dead-man ping", ping.run)
        if bot.sockets is not None:
            supervisor.keep("sockets", bot.sockets.run)
        if bot.endpoint is not None:
            await bot.endpoint.open(settings.http_host, _port_of(settings))
        try:
            yield bot
        finally:
            await _end(bot, listeners, monitoring, settings.stop_grace_seconds)
    finally:
        await supervisor.end()
        await painter.close()
        await slack.aclose()
        with suppress(RegistryError, OSError):
            await registry.aclose()


def _assemble(
    settings: BotSettings,
    thresholds: Thresholds,
    registry: Registry,
    slack: Slack,
    painter: Painter,
    *,
    supervisor: Supervisor,
) -> tuple[Bot, Listeners]:
    identity = Identity(settings.slack_bot_token)
    desk = Desk(
        registry,
        painter.draw,
        lambda: identity.team,
        settings.command_prefix,
        settings.ask_deadline_seconds,
        settings.snapshot_deadline_seconds,
        thresholds,
        SlackPeople(slack, settings),
        lambda channel: reach(slack, channel),
        SlackInspector(slack),
        lambda: identity.url,
        Bundles(settings),
    )
    repeats = Repeats(registry)
    web = AsyncWebClient(base_url=_base_url(settings), retry_handlers=[])

    async def authorize() -> AuthorizeResult:
        return identity.result()

    # Bolt warns that a token of the environment is not used; it is, by us.
    logging.getLogger("slack_bolt.AsyncApp").setLevel(logging.ERROR)
    # Requests over HTTP are verified by our endpoint, which never raises.
    app = AsyncApp(client=web, authorize=authorize, request_verification_enabled=False)
    homes = Homes(desk, slack, every_seconds=settings.home_refresh_seconds)
    listeners = Listeners(desk, slack, repeats, identity, homes, default_channel=settings.channel)
    supervisor.keep("homes", homes.run)
    listeners.register(app)
    unheard = Unheard(registry, slack, settings.fallback_webhook, settings.fallback_after_seconds)
    monitor = _monitor(settings, registry, slack, painter, desk, identity=identity, unheard=unheard)
    sockets = None
    if settings.uses_sockets:
        silence = settings.socket_silence_seconds
        sockets = Sockets(app, settings.slack_app_token, web, repeats, silence_seconds=silence)
    retention = Retention(settings.keep_runs_seconds, settings.most_runs)
    caretaker = Caretaker(registry.upkeep, lambda: monitor.is_reigning, retention)
    bot = Bot(settings, registry, slack, identity, monitor, sockets, None, supervisor, unheard, caretaker)
    if not settings.uses_sockets or settings.health_port:
        over_http = None if settings.uses_sockets else app
        secret = "" if settings.uses_sockets else settings.slack_signing_secret
        metrics = Metrics(bot).text if settings.metrics else None
        bot.endpoint = Endpoint(over_http, secret, repeats, bot.health, metrics)
    return bot, listeners


def _monitor(
    settings: BotSettings,
    registry: Registry,
    slack: Slack,
    painter: Painter,
    desk: Desk,
    *,
    identity: Identity,
    unheard: Unheard,
) -> Monitor:
    lease = registry.lease(LEASE, settings.lease_seconds)
    once = Once(registry, slack, lease, Looking(slack, registry.clock), settings.repeat_after_seconds)
    judge = RunJudge(registry, desk, desk.thresholds, idle_after_seconds=settings.judge_idle_after_seconds)

    def crown(tracker: Tracker) -> Announcer:
        pictures = Pictures(
            registry,
            slack,
            painter.draw,
            tries=settings.chart_tries,
            command=desk.command("loss"),
            redraw_seconds=settings.chart_redraw_seconds,
            apart_seconds=settings.chart_apart_seconds,
        )
        return Announcer(
            registry,
            slack,
            tracker,
            once,
            pictures,
            channel=settings.channel,
            fallback_channel=settings.fallback_channel,
            edit_interval_seconds=settings.edit_interval_seconds,
            prefix=settings.command_prefix,
            mention=settings.mention_sign,
            workspace_url=lambda: identity.url,
            unheard=unheard,
        )

    return Monitor(
        registry,
        lease,
        judge,
        crown,
        settings.habits,
        judge_every_seconds=settings.judge_every_seconds,
        chores=(
            Digests(desk, slack, once, settings.channel).post_due,
            SelfTest(desk, slack, once, settings.channel, settings.self_test_after_seconds).post_due,
        ),
        is_able=lambda: not slack.is_deaf,
    )


async def _end(bot: Bot, listeners: Listeners, monitoring: asyncio.Task[None], grace_seconds: float) -> None:
    """Take nothing new, finish the post in hand, then go."""
    bot.monitor.stop()
    if bot.endpoint is not None:
        await bot.endpoint.close()
    with suppress(TimeoutError):
        async with asyncio.timeout(grace_seconds + 1.0):
            await asyncio.gather(listeners.finish(grace_seconds), asyncio.shield(monitoring), return_exceptions=True)


async def _check_registry(registry: Registry) -> None:
    """A policy that drops our data is refused; a registry that is away is waited for, later."""
    try:
        for warning in await registry.check():
            logger.warning("%s", warning)
    except Refused as refused:
        raise Mistake(str(refused)) from refused
    except RegistryError as away:
        logger.warning("The registry does not answer yet (%s). I start all the same and go on when it does.", away)


async def _warm(painter: Painter) -> None:
    try:
        await painter.start()
    except ChartFailed as failed:
        logger.warning("%s", failed)


def _start_logging() -> None:
    start_logging(logging.INFO, "%(asctime)s %(levelname)s %(name)s: %(message)s")
    for talkative in ("slack_bolt", "slack_sdk", "aiohttp", "asyncio"):
        logging.getLogger(talkative).setLevel(logging.WARNING)


def _base_url(settings: BotSettings) -> str:
    return settings.slack_api_url.rstrip("/") + "/"


def _port_of(settings: BotSettings) -> int:
    return settings.health_port if settings.uses_sockets else settings.http_port
