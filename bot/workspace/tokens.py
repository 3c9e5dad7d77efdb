"""Which tokens are good, and what each method asks of them."""

from __future__ import annotations

import hmac

from bot.workspace.values import Refused

APP_SCOPES = ("connections:write",)


class Tokens:
    """The app's two tokens; a test may revoke them or take a scope away."""

    def __init__(self, bot_token: str, app_token: str) -> None:
        self.bot_token = bot_token
        self.app_token = app_token
        self.scopes: set[str] = set()
        """Scopes of the bot token."""
        self.trouble: str | None = None
        """What every call answers instead, such as `token_revoked` or `account_inactive`."""

    def check(self, given: str | None, *, level: str, needed: str | None) -> None:
        """Refuse what Slack would refuse: no token, a wrong one, the wrong kind, too few scopes."""
        if not given:
            raise Refused("not_authed")
        kind = self._kind_of(given)
        if kind is None:
            raise Refused("invalid_auth")
        if self.trouble:
            raise Refused(self.trouble)
        if level not in {"any", kind}:
            raise Refused("not_allowed_token_type")
        provided = sorted(self.scopes if kind == "bot" else APP_SCOPES)
        if needed and needed not in provided:
            raise Refused("missing_scope", needed=needed, provided=",".join(provided))

    def need(self, scope: str) -> None:
        """Refuse a bot call whose scope depends on what it is about."""
        if scope not in self.scopes:
            raise Refused("missing_scope", needed=scope, provided=",".join(sorted(self.scopes)))

    def _kind_of(self, given: str) -> str | None:
        if hmac.compare_digest(given.encode(), self.bot_token.encode()):
            return "bot"
        if hmac.compare_digest(given.encode(), self.app_token.encode()):
            return "app"
        return None
