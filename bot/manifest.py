"""The Slack app as a manifest: made from the commands, so that it cannot lag behind them."""

from typing import Any

from handlers import COMMANDS, SHORTCUTS
from handlers.names import slash

BOT_SCOPES = (
    "commands",
    "chat:write",
    "files:write",
    "files:read",
    "app_mentions:read",
    "channels:read",
    "groups:read",
    "channels:history",
    "groups:history",
    "im:history",
    "im:write",
    "users:read",
)
"""What the product needs; history is for looking before a message is repeated."""
OPTIONAL_SCOPES = ("chat:write.public", "usergroups:read")


def manifest(prefix: str = "", public_url: str = "") -> dict[str, Any]:
    """The app to create: for Socket Mode, or with `public_url` for signed HTTP."""
    endpoint = f"{public_url.rstrip('/')}/slack/events" if public_url else ""
    address = {"url": endpoint} if endpoint else {}
    return {
        "display_information": {
            "name": "Runwatch",
            "description": "The on-call engineer for LLM training runs",
            "background_color": "#1a1d21",
        },
        "features": {
            "app_home": {"home_tab_enabled": True, "messages_tab_enabled": True},
            "bot_user": {"display_name": "runwatch", "always_online": True},
            "shortcuts": [
                {
                    "name": shortcut.title,
                    "type": "message",
                    "callback_id": shortcut.callback,
                    "description": shortcut.summary,
                }
                for shortcut in SHORTCUTS
            ],
            "slash_commands": [
                {
                    "command": slash(prefix, command.name),
                    "description": command.summary,
                    "usage_hint": command.usage,
                    "should_escape": False,
                    **address,
                }
                for command in COMMANDS
            ],
        },
        "oauth_config": {"scopes": {"bot": [*BOT_SCOPES, *OPTIONAL_SCOPES]}},
        "settings": {
            "event_subscriptions": {
                **({"request_url": endpoint} if endpoint else {}),
                "bot_events": ["app_home_opened", "app_mention", "member_joined_channel", "message.im"],
            },
            "interactivity": {"is_enabled": True, **({"request_url": endpoint} if endpoint else {})},
            "org_deploy_enabled": False,
            "socket_mode_enabled": not endpoint,
            "token_rotation_enabled": False,
        },
    }
