"""Every knob of the workspace, with Slack's own values as defaults."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bot.workspace.values import Json

BOT_SCOPES = (
    "app_mentions:read",
    "channels:history",
    "channels:read",
    "chat:write",
    "commands",
    "files:read",
    "files:write",
    "groups:history",
    "groups:read",
    "im:history",
    "im:read",
    "im:write",
    "usergroups:read",
    "users:read",
)
"""What the bot token may do unless a manifest says otherwise; a test takes one away to see `missing_scope`."""
BOT_EVENTS = ("app_mention", "app_home_opened", "member_joined_channel", "message.im")
"""What the app hears of unless a manifest says otherwise."""


@dataclass(frozen=True, slots=True)
class WorkspaceSettings:
    """How this workspace behaves. Defaults are what Slack does, or documents."""

    host: str = "127.0.0.1"
    """Address to listen on. Only loopback unless somebody asks for more: there is no sign-in."""
    port: int = 0
    """TCP port; 0 takes a free one."""
    public_url: str | None = None
    """How others reach the workspace, when that is not http://127.0.0.1:PORT (a service name, a forwarded port)."""
    data_dir: Path | None = None
    """Folder for the journal and the files, so that they survive a restart. None: memory only."""
    bot_token: str = "xoxb-1-runwatch-local"  # noqa: S105 - the key to a toy on loopback
    """The app's bot token."""
    app_token: str = "xapp-1-runwatch-local"  # noqa: S105
    """The app-level token for Socket Mode."""
    signing_secret: str = "runwatch-local-signing-secret"  # noqa: S105
    """What signs requests sent over HTTP."""
    scopes: tuple[str, ...] | None = None
    """Scopes of the bot token. None: those of the manifest, or `BOT_SCOPES`."""
    app_url: str | None = None
    """Where to send signed HTTP requests. None: Socket Mode."""
    manifest: Json | None = None
    """The app manifest: its slash commands, shortcuts, scopes and events. None: every command goes to the app."""
    events: tuple[str, ...] | None = None
    """Events the app hears of, such as `message.channels`. None: those of the manifest, or `BOT_EVENTS`."""
    rate_limit: bool = True
    """Answer 429 as Slack does: 1 post per second and channel, other methods by tier."""
    posts_per_second: float = 1.0
    """Sustained chat.postMessage rate in one channel."""
    post_burst: int = 3
    """Posts in one channel that may come at once before the rate counts (Slack: "short bursts")."""
    ack_deadline_seconds: float = 3.0
    """How long the app has to acknowledge."""
    trigger_lifetime_seconds: float = 3.0
    """How long a trigger_id opens a modal."""
    response_url_lifetime_seconds: float = 1800.0
    """How long a response_url works."""
    response_url_uses: int = 5
    """How often a response_url works."""
    event_retry_delays_seconds: tuple[float, ...] = (0.0, 60.0, 300.0)
    """When an event that was not acknowledged comes again."""
    share_delay_seconds: float = 0.25
    """How long after completeUploadExternal a file has its mimetype and appears in its channel."""
    max_connections: int = 10
    """Socket Mode connections of one app."""
    calls_kept: int = 20_000
    """API calls remembered for inspection."""
