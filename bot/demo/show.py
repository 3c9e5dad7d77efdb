"""The demo from curtain to curtain: registry, workspace, bot, two watchers, and the runs that go wrong."""

import asyncio
import contextlib
import fcntl
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
import webbrowser
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from bot.demo.company import Company, Member, Stopped, last_words
from bot.demo.player import play
from bot.demo.stage import NODES, PLAYS, LiveJob
from bot.demo.welcome import own_log_command, post_welcome
from bot.manifest import manifest
from bot.workspace import WorkspaceSettings
from diagnosis.errors import Mistake
from registry.embedded import Embedded

START_SECONDS = 60.0
USUAL_PORT = 8065
PARTS = 5
CHANNEL = "#training"

QUICK = {
    # Real runs wait minutes before anybody is woken; a demo has seconds. Each of these is an ordinary setting.
    "RUNWATCH_STALL_AFTER": "8s",
    "RUNWATCH_STALL_MIN": "8s",
    "RUNWATCH_STALL_FIRST_STEP": "40s",
    "RUNWATCH_HEARTBEAT": "2s",
    "RUNWATCH_HOST": "1s",
    "RUNWATCH_GROUP_WAIT": "2s",
    "RUNWATCH_JUDGE_EVERY": "1s",
    "RUNWATCH_CHART_APART": "5s",
}


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """What `runwatch demo` may be told."""

    port: int | None = None
    """Where the page shall be, nowhere else; None: 8065, or any free one."""
    home: Path | None = None
    opens_browser: bool = False
    ends_after_seconds: float | None = None


def say(text: str) -> None:
    """A line for the person at the terminal."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def claim_home(named: Path | None) -> tuple[Path, int]:
    """An empty folder of our own, locked; a second demo gets another one.

    Raises:
        Mistake: The folder that was named is in use or cannot be written.
    """
    base = Path(os.environ.get("XDG_STATE_HOME") or "~/.local/state").expanduser() / "runwatch"
    for home in [named] if named else [base / "demo", Path(tempfile.mkdtemp(prefix="runwatch-demo-"))]:
        assert home is not None
        try:
            home.mkdir(parents=True, exist_ok=True)
            lock = os.open(home / "lock", os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as refused:
            if named:
                raise Mistake(f"Cannot use {home} for the demo: {refused.strerror}. Is another demo running?") from None
            continue
        for name in ("logs", "watchers", "registry", "workspace"):
            shutil.rmtree(home / name, ignore_errors=True)
            (home / name).mkdir(mode=0o700)
        return home, lock
    raise Mistake("No writable folder for the demo; name one with --home DIR.")


def page_port(wanted: int | None) -> int:
    """The port that was asked for; without a wish the usual one if nobody listens there, else any free one.

    Raises:
        Mistake: Somebody listens on the port that was asked for, or we may not.
    """
    if wanted is None:
        return free_port(USUAL_PORT, 0)
    try:
        return free_port(wanted)
    except Mistake:
        raise Mistake(f"Port {wanted} of 127.0.0.1 is taken, or not ours to take: name another one, or none.") from None


def free_port(*wanted: int) -> int:
    """The first of these on which nobody listens; 0 stands for any."""
    for port in wanted:
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
            return int(probe.getsockname()[1])
    raise Mistake("No free port on 127.0.0.1.")


async def wait_until_it_answers(member: Member, url: str) -> None:
    """Poll a page until it answers 200.

    Raises:
        Stopped: The process ended, or said nothing in time.
    """
    deadline = asyncio.get_running_loop().time() + START_SECONDS
    async with aiohttp.ClientSession() as session:
        while asyncio.get_running_loop().time() < deadline:
            if member.process.returncode is not None:
                raise Stopped(last_words(member))
            with contextlib.suppress(aiohttp.ClientError, OSError):
                async with session.get(url) as answer:
                    if answer.status == 200:
                        return
            await asyncio.sleep(0.1)
    raise Stopped(f"{member.name} did not answer at {url} within {START_SECONDS:.0f} s. See {member.log}.")


async def perform(options: DemoOptions) -> int:
    """Run the demo until Ctrl-C (or for the time it was given); returns the exit code."""
    port = page_port(options.port)
    home, lock = claim_home(options.home)
    company = Company(home / "logs")
    stopping = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    plays: list[asyncio.Task[None]] = []
    try:
        say(f"starting 1/{PARTS}: a private Redis-compatible server")
        with Embedded.start(home / "registry") as server:
            page = await _raise_curtain(company, home, server.url, port)
            plays = [asyncio.create_task(play(part, home / "logs" / part.node / f"{part.run}.log")) for part in PLAYS]
            _greet(page, home, server.url)
            if options.opens_browser:
                await asyncio.to_thread(webbrowser.open, page)
            await _until_the_end(company, stopping, options.ends_after_seconds)
            say("\nending: the demo's processes stop, its logs stay in " + str(home))
            await _end(plays, company)
    except Stopped as stopped:
        say(f"\nThe demo stopped: {stopped}")
        return 3
    finally:
        await _end(plays, company)
        os.close(lock)
    return 0


async def _raise_curtain(company: Company, home: Path, redis_url: str, port: int) -> str:
    page = f"http://127.0.0.1:{port}/"
    slack = WorkspaceSettings()
    environment = {
        "SLACK_API_URL": f"{page}api/",
        "SLACK_BOT_TOKEN": slack.bot_token,
        "SLACK_APP_TOKEN": slack.app_token,
        "REDIS_URL": redis_url,
        "RUNWATCH_CHANNEL": CHANNEL,
        "PYTHONUNBUFFERED": "1",
        **QUICK,
    }
    say(f"starting 2/{PARTS}: the local workspace, a Slack-shaped server with its page")
    app = home / "workspace" / "manifest.json"
    app.write_text(json.dumps(manifest()))
    arguments = ["bot.workspace", "--port", str(port), "--data", str(home / "workspace"), "--manifest", str(app)]
    workspace = await company.start("workspace", arguments, {})
    await wait_until_it_answers(workspace, page)
    await post_welcome(page, slack.bot_token, CHANNEL, PLAYS)
    say(f"starting 3/{PARTS}: the bot")
    health = free_port(0)
    bot = await company.start("bot", ["bot.cli", "bot"], {**environment, "RUNWATCH_HEALTH_PORT": str(health)})
    await wait_until_it_answers(bot, f"http://127.0.0.1:{health}/healthz")
    say(f"starting 4/{PARTS}: {len(NODES)} watchers, one for each node")
    for node in NODES:
        await company.start(f"watcher-{node}", *_watcher(node, home, environment))
    say(f"starting 5/{PARTS}: {len(PLAYS)} training runs")
    return page


def _watcher(node: str, home: Path, environment: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    (home / "logs" / node).mkdir(exist_ok=True)
    config = home / "watchers" / f"{node}.toml"
    tables = [
        f'[[runs]]\nname = "{part.run}"\nlogs = ["{home}/logs/{node}/{part.run}.log"]\nmatch = "{part.run}.work"\n'
        for part in PLAYS
        if part.node == node
    ]
    config.write_text("\n".join(tables))
    state = home / "watchers" / node
    return (
        ["bot.cli", "watch", "--config", str(config), "--node", node, "--state-dir", str(state)],
        {**environment, "RUNWATCH_CONFIG": str(config)},
    )


def _greet(page: str, home: Path, redis_url: str) -> None:
    say(f"\nOpen {page} and watch {CHANNEL} for a minute:")
    for part in PLAYS:
        source = "a job on this machine" if isinstance(part, LiveJob) else f"replayed: {part.source}"
        say(f"  {part.run:<11} on {part.node}: {part.shows} ({source})")
    say(
        "\nTo see a log of your own in it, from another terminal "
        f"(a run without a step for {QUICK['RUNWATCH_STALL_MIN']} counts as stalled here):\n"
        f"  {own_log_command(redis_url)}\n"
        "\nType in the page:  /loss run42    /stall llama-7b    /snapshot run42    /runs    /runwatch help\n"
        f"Logs of everything are in {home}/logs. Ctrl-C ends the demo."
    )


async def _until_the_end(company: Company, stopping: asyncio.Event, seconds: float | None) -> None:
    ends = asyncio.ensure_future(stopping.wait())
    watching = asyncio.ensure_future(company.watch())
    done, waiting = await asyncio.wait({ends, watching}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    for task in waiting:
        task.cancel()
    if watching in done:
        watching.result()


async def _end(plays: list["asyncio.Task[None]"], company: Company) -> None:
    for task in plays:
        task.cancel()
    await asyncio.gather(*plays, return_exceptions=True)
    plays.clear()
    await company.end()
    company.members.clear()
