"""`runwatch health`: for a container's or a service manager's health check."""

import argparse
import asyncio
import json
import os
import time
import urllib.error
import urllib.request

from bot.settings import BotSettings
from bot.setup import load
from registry import RegistryError, connect
from watcher.settings import WatcherSettings

SUMMARY = "is the bot, or this node's watcher, alive and seeing? (for health checks)"
STALE_SECONDS = 60.0


def configure(parser: argparse.ArgumentParser) -> None:
    """Whose health."""
    parser.add_argument("who", choices=("bot", "watcher"), metavar="bot|watcher", help="which of the two")


def run(options: argparse.Namespace) -> int:
    """Return 0 when it lives and sees, 1 when not, with one sentence."""
    alive, sentence = _bot() if options.who == "bot" else asyncio.run(_watcher())
    os.write(1, f"{sentence}\n".encode())
    return 0 if alive else 1


def _bot() -> tuple[bool, str]:
    settings = load(BotSettings)
    port = settings.health_port or settings.http_port
    host = "127.0.0.1" if settings.http_host in ("0.0.0.0", "::") else settings.http_host  # noqa: S104
    try:
        with urllib.request.urlopen(f"http://{host}:{port}/healthz", timeout=4) as answer:
            return True, answer.read(2000).decode(errors="replace").strip()
    except urllib.error.HTTPError as unwell:
        return False, unwell.read(2000).decode(errors="replace").strip()
    except OSError as away:
        return False, f"The bot does not answer on {host}:{port} (RUNWATCH_HEALTH_PORT): {away}."


async def _watcher() -> tuple[bool, str]:
    settings = load(WatcherSettings)
    registry = connect(settings.redis_url, "health", call_seconds=4.0)
    try:
        beats = [beat for beat in await registry.heartbeats.all() if beat.heartbeat.node == settings.node]
    except RegistryError as away:
        # The watcher works on without its registry; its death would be news, Redis' absence is not.
        return True, f"Cannot ask the registry ({away}); the watcher spools meanwhile."
    finally:
        await registry.aclose()
    if not beats:
        return False, f"No watcher of node {settings.node} beats."
    newest = max(beats, key=lambda beat: beat.heartbeat.time)
    age = time.time() - newest.heartbeat.time
    facts = {"node": settings.node, "age_seconds": round(age, 1), "problems": newest.heartbeat.problems}
    return age < STALE_SECONDS, json.dumps(facts)
