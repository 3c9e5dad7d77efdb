"""The whole product as processes of their own, in one folder: to be killed, stopped, starved and started again.

Server, workspace, bots and watchers are what a user runs; only the settings are hastier. Nothing here talks to the
inside of any of them: faults are set at the workspace's /debug door, harm is done by signals.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from bot.manifest import manifest
from bot.workspace import WorkspaceSettings
from tests.ports import free_port
from tests.scenarios.nursery import FORKED, Child, Nursery
from tests.scenarios.room import Room, until
from tests.servers import Victim

ROOT = Path(__file__).parents[2]
OURS = ("RUNWATCH_", "SLACK_", "REDIS_")
"""Settings of whoever runs the tests must not reach the processes under test."""

HASTY = {
    # A real bot is patient with Slack; here a whole bad night lasts a minute.
    "RUNWATCH_CHANNEL": "#training",
    "RUNWATCH_CHANNEL_INTERVAL": "1ms",
    "RUNWATCH_EDIT_INTERVAL": "500ms",
    "RUNWATCH_SLACK_DEADLINE": "2s",
    "RUNWATCH_LEASE": "6s",
    "RUNWATCH_SETTLE": "0s",
    "RUNWATCH_REOPEN_WITHIN": "0s",
    "RUNWATCH_STALL_AFTER": "3h",
    "RUNWATCH_STALL_MIN": "3h",
    "RUNWATCH_STALL_MAX": "3h",
    "RUNWATCH_GPU": "0s",
    "RUNWATCH_HEARTBEAT": "1s",
}


@dataclass(slots=True)
class Member:
    """One process and how it was started, so that it can be started again."""

    name: str
    arguments: list[str]
    environment: dict[str, str]
    process: subprocess.Popen | Child
    log: Path
    launcher: tuple[str, ...] = ()
    """Put before its command, such as `ip netns exec …`."""
    starts: int = 1


@dataclass(slots=True)
class Product:
    """Everything that runs, by name: `slack`, `bot0`, `node0` …"""

    home: Path
    settings: dict[str, str] = field(default_factory=dict)
    redis: Victim | None = None
    slack: Room | None = None
    members: dict[str, Member] = field(default_factory=dict)
    nursery: Nursery | None = None
    """Where bots and watchers are forked; None: each is started by itself."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    # -- starting

    def open(self, *, rate_limit=False, redis=()):
        """The workspace, and the server with these options besides."""
        self.redis = Victim(self.home / "redis", *redis)
        port = free_port()
        folder = self.home / "workspace"
        folder.mkdir(parents=True)
        app = folder / "manifest.json"
        app.write_text(json.dumps(manifest()))
        words = ["bot.workspace", "--port", str(port), "--data", str(folder), "--manifest", str(app)]
        self.slack = Room(f"http://127.0.0.1:{port}/", folder)
        self.start("slack", words + ([] if rate_limit else ["--no-rate-limit"]))
        until(lambda: self.slack.look("state"), what="the workspace answers")
        return self

    def start_bot(self, name="bot0", *, module="bot.cli", words=(), **settings):
        """A bot; `module` may be one with a protection taken away."""
        return self.start(name, [module, *words, "bot"], settings)

    def start_watcher(self, node, runs, *, module="bot.cli", words=(), launcher=(), **settings):
        """A watcher of some runs (name → pattern of its logs)."""
        folder = self.home / "watchers" / node
        folder.mkdir(parents=True, exist_ok=True)
        config = folder.with_suffix(".toml")
        config.write_text("\n".join(f'[[runs]]\nname = "{name}"\nlogs = ["{logs}"]\n' for name, logs in runs.items()))
        options = ["watch", "--config", str(config), "--node", node, "--state-dir", str(self.state_of(node))]
        # The bot's settings stand in a watcher's environment too, as they do where one file configures both.
        return self.start(node, [module, *words, *options], settings, launcher)

    def state_of(self, node):
        """The state folder of a node; a test may mount something there first."""
        return self.home / "watchers" / node / "state"

    def start(self, name, words, settings=None, launcher=()):
        """`python -m WORDS`, with its output in a file of its own."""
        environment = self.environment | dict(settings or {})
        log = self.home / f"{name}.log"
        process = self._spawn(launcher, words, environment, log)
        member = Member(name, list(words), environment, process, log, launcher)
        self.members[name] = member
        return member

    def connected(self, bots=1, seconds=60):
        """Wait until so many bots have a socket to the workspace."""
        until(lambda: self.slack.look("state")["connections"] >= bots, seconds, what="the bots are connected")
        return self

    @property
    def environment(self):
        """What every process of ours gets."""
        slack = WorkspaceSettings()
        kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
        return kept | {
            "PYTHONPATH": str(ROOT),
            "PYTHONUNBUFFERED": "1",
            "REDIS_URL": self.redis.url,
            "SLACK_API_URL": self.slack.api,
            "SLACK_BOT_TOKEN": slack.bot_token,
            "SLACK_APP_TOKEN": slack.app_token,
            **HASTY,
            **self.settings,
        }

    # -- harm

    def kill(self, name):
        """End it with SIGKILL, without a chance to tidy up."""
        process = self.members[name].process
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        process.wait()

    def again(self, name):
        """Start it as it was started before."""
        member = self.members[name]
        member.process = self._spawn(member.launcher, member.arguments, member.environment, member.log)
        member.starts += 1

    def _spawn(self, launcher, words, environment, log):
        if self.nursery is not None and not launcher and words[0] in FORKED:
            return self.nursery.start(words, environment, log, self.home)
        return _spawn(launcher, words, environment, log, self.home)

    def kill_redis(self, away_seconds=0.0):
        """End the server with SIGKILL and serve the same folder again."""
        with self.redis_away(away_seconds):
            pass

    @contextlib.contextmanager
    def redis_away(self, seconds):
        """End the server with SIGKILL; after so many seconds the block runs, and then it is served again."""
        self.redis.kill()
        time.sleep(seconds)
        yield
        self.redis.start()

    def pause(self, name, seconds):
        """Let it sleep through some time, as a frozen machine does."""
        process = self.members[name].process
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGCONT)

    def stop(self, name, seconds=20):
        """Ask it to end; its exit code."""
        process = self.members[name].process
        process.terminate()
        return process.wait(seconds)

    def end(self):
        """Nothing of ours is left."""
        for member in self.members.values():
            with contextlib.suppress(ProcessLookupError):
                member.process.kill()
            member.process.wait()
        if self.nursery is not None:
            self.nursery.close()
        if self.redis is not None:
            self.redis.stop()

    # -- looking

    def said(self, name):
        """What a process wrote to its terminal."""
        return self.members[name].log.read_text(errors="replace")

    def memory(self, name, line="VmHWM"):
        """Bytes of memory: VmRSS now, VmHWM at its worst."""
        for said in Path(f"/proc/{self.members[name].process.pid}/status").read_text().splitlines():
            if said.startswith(f"{line}:"):
                return int(said.split()[1]) * 1024
        raise AssertionError(f"{name} has no {line}")

    def are_alive(self, *names):
        """None of these has ended by itself."""
        return all(self.members[name].process.poll() is None for name in names or self.members)


def _spawn(launcher, words, environment, log, cwd):
    with log.open("ab", buffering=0) as output:
        return subprocess.Popen(
            [*launcher, sys.executable, "-m", *words],
            env=environment,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
