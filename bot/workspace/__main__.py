"""`python -m bot.workspace`: the workspace as a process of its own, with its page."""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
import webbrowser
from pathlib import Path

from bot.workspace import Workspace, WorkspaceSettings


def main(arguments: list[str] | None = None) -> int:
    """Serve until a signal; prints the environment an app needs."""
    asked = _parser().parse_args(arguments)
    manifest = json.loads(asked.manifest.read_text()) if asked.manifest else None
    settings = WorkspaceSettings(
        host=asked.host,
        port=asked.port,
        public_url=asked.public_url,
        data_dir=asked.data,
        app_url=asked.app_url,
        manifest=manifest,
        rate_limit=not asked.no_rate_limit,
    )
    try:
        asyncio.run(_serve(settings, open_browser=asked.open))
    except OSError as wrong:
        print(f"The workspace cannot listen on {asked.host}:{asked.port}: {wrong.strerror}", file=sys.stderr)  # noqa: T201
        return 3
    return 0


async def _serve(settings: WorkspaceSettings, *, open_browser: bool) -> None:
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopping.set)
    slack = Workspace(settings)
    await slack.open()
    for name, value in (
        ("SLACK_API_URL", slack.url),
        ("SLACK_BOT_TOKEN", slack.bot_token),
        ("SLACK_APP_TOKEN", slack.app_token),
        ("SLACK_SIGNING_SECRET", slack.signing_secret),
    ):
        print(f"{name}={value}")  # noqa: T201 - this is what the command is for
    print(f"page: {slack.page_url}", flush=True)  # noqa: T201
    if open_browser:
        await asyncio.to_thread(webbrowser.open, slack.page_url)
    await stopping.wait()
    await slack.close()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bot.workspace", description=__doc__)
    parser.add_argument("--port", type=int, default=8065, help="TCP port; 0 takes a free one (default 8065)")
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to listen on; there is no sign-in (default 127.0.0.1)"
    )
    parser.add_argument("--public-url", help="how others reach it, when that is not http://127.0.0.1:PORT")
    parser.add_argument("--data", type=Path, metavar="DIR", help="keep messages and files here across restarts")
    parser.add_argument(
        "--manifest", type=Path, metavar="FILE", help="the app manifest as JSON: its commands, scopes and events"
    )
    parser.add_argument("--app-url", metavar="URL", help="send signed HTTP requests there instead of Socket Mode")
    parser.add_argument("--no-rate-limit", action="store_true", help="never answer 429 by itself")
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    return parser


if __name__ == "__main__":
    sys.exit(main())
