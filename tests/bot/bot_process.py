"""A bot's monitor as a process of its own, to be killed: `python -m tests.bot.bot_process API_URL REDIS_URL TOKEN`.

A fourth word `blind` takes a protection away, for the negative control: it looks and sees nothing.
"""

import asyncio
import sys
from dataclasses import replace

from bot.announcer import Announcer
from bot.looking import Looking, Sight
from bot.monitor import Monitor
from bot.once import Once
from bot.slack import Slack
from diagnosis.incidents import Habits, Tracker
from registry import connect
from tests.bot.stand_ins import NoCharts, NoJudge


class Blind(Looking):
    """Reads the channel and finds nothing there."""

    async def look(self, channel: str, thread_ts: str | None, since: float) -> Sight:
        """What nobody sees."""
        return replace(await super().look(channel, thread_ts, since), found={})


async def main(api_url: str, redis_url: str, token: str, without: str = "") -> None:
    """Announce until killed."""
    registry = connect(redis_url, name="bot")
    slack = Slack(token, api_url, deadline_seconds=1.5, post_interval_seconds=0.0)
    lease = registry.lease("announcer", 5.0)
    looking = (Blind if without == "blind" else Looking)(slack, registry.clock)
    once = Once(registry, slack, lease, looking, repeat_after_seconds=60.0)

    def crown(tracker: Tracker) -> Announcer:
        charts = NoCharts()
        return Announcer(registry, slack, tracker, once, charts, channel="#training", edit_interval_seconds=0.2)

    await Monitor(registry, lease, NoJudge(), crown, Habits()).run()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:5]))
