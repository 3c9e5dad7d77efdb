"""Who we are in Slack: asked in the background until it is known, so that a start never waits for Slack."""

import asyncio
import logging
from dataclasses import dataclass

from slack_bolt.authorization import AuthorizeResult

from bot.slack import Slack

logger = logging.getLogger(__name__)

LONGEST_WAIT_SECONDS = 30.0


@dataclass(slots=True)
class Identity:
    """What auth.test told; None: it has not answered yet."""

    token: str
    team: str | None = None
    enterprise: str | None = None
    bot_id: str | None = None
    user: str | None = None
    url: str = ""
    """Where the workspace is in a browser, for links."""
    trouble: str = ""
    """Why Slack does not take our token, when it does not."""

    async def learn(self, slack: Slack) -> None:
        """Ask until it is known."""
        wait = 0.5
        while self.team is None:
            answer = await slack.call("auth.test", {})
            if answer.is_ok:
                self.team = str(answer.data.get("team_id") or "")
                self.enterprise = str(answer.data.get("enterprise_id") or "") or None
                self.bot_id = str(answer.data.get("bot_id") or "") or None
                self.user = str(answer.data.get("user_id") or "") or None
                self.url = str(answer.data.get("url") or "")
                self.trouble = ""
                logger.info("Connected to the workspace %s.", answer.data.get("team") or self.team)
                return
            self.trouble = answer.error
            logger.warning("Slack does not say who we are (%s); asking again in %.0f s.", answer.error, wait)
            await asyncio.sleep(max(wait, answer.retry_after))
            wait = min(LONGEST_WAIT_SECONDS, wait * 2)

    def result(self) -> AuthorizeResult:
        """What Bolt wants to know for each request, without asking Slack."""
        return AuthorizeResult(
            enterprise_id=self.enterprise,
            team_id=self.team,
            bot_token=self.token,
            bot_id=self.bot_id,
            bot_user_id=self.user,
        )
