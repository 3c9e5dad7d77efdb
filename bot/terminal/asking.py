"""Asks the registry from a terminal: a desk without Slack, mistakes and absences as the command line says them."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NoReturn

from bot.settings import BotSettings
from bot.setup import load_thresholds
from bot.terminal.words import NotOfThatName
from diagnosis.errors import Away, Mistake
from handlers.command import IN_TERMINAL, Asked, Command, Desk, Who
from handlers.find_run import NoSuchRun, WhichRun
from handlers.messages.mistakes import no_such_run, which_run
from registry import connect
from registry.errors import RegistryError

TERMINAL = Who("terminal", "terminal")
"""Whoever has a shell here may read the registry anyway."""
ASK_SECONDS = 3.0


def ask(
    command: Command, settings: BotSettings, work: Callable[[Desk], Awaitable[int]], config: Path | None = None
) -> int:
    """Run one question to its end, with the thresholds of the settings file `config`; returns the exit code."""
    return asyncio.run(_ask(command, settings, work, config))


async def _ask(
    command: Command, settings: BotSettings, work: Callable[[Desk], Awaitable[int]], config: Path | None
) -> int:
    async with desk_for(settings, config) as desk:
        try:
            async with asyncio.timeout(ASK_SECONDS):
                await desk.registry.now()
            return await work(desk)
        except NoSuchRun as mistake:
            raise NotOfThatName(no_such_run(mistake, "").plain, mistake.name) from mistake
        except WhichRun as mistake:
            raise Mistake(which_run(mistake, command, "").plain.replace("/", "runwatch ")) from mistake
        except (TimeoutError, RegistryError) as away:
            why = str(away).rstrip(".") or f"no answer within {ASK_SECONDS:g} s"
            raise Away(f"The registry does not answer: {why}. Is REDIS_URL right?") from away


@asynccontextmanager
async def desk_for(settings: BotSettings, config: Path | None = None) -> AsyncIterator[Desk]:
    """A desk on the registry of these settings."""
    registry = connect(
        settings.redis_url, name="terminal", request_key=settings.request_key, audit_key=settings.audit_key
    )
    try:
        yield Desk(
            registry,
            _draws_nothing,
            lambda: TERMINAL.team,
            ask_deadline_seconds=settings.ask_deadline_seconds,
            snapshot_deadline_seconds=settings.snapshot_deadline_seconds,
            thresholds=load_thresholds(config),
        )
    finally:
        await registry.aclose()


def question(words: str) -> Asked:
    """What was typed, as a handler takes it."""
    return Asked(TERMINAL, "", words, how=IN_TERMINAL)


async def _draws_nothing(*_args: Any, **_options: Any) -> NoReturn:
    raise AssertionError("a terminal draws with letters")
