"""Whether we can speak in a channel, asked before somebody relies on it."""

from bot.slack import Slack
from bot.slack_answers import NotAnswered


async def reach(slack: Slack, channel: str) -> str:
    """Why nothing can be said there; empty: it can, or Slack does not tell."""
    try:
        found = await slack.channel_id(channel)
    except NotAnswered:
        return ""
    if found is None:
        return "I can see no channel of that name; if it is private, `/invite @runwatch` there"
    answer = await slack.read("conversations.info", {"channel": found})
    if not answer.is_ok:
        return "I can see no such channel" if answer.error == "channel_not_found" else ""
    told = answer.data.get("channel") or {}
    if told.get("is_archived"):
        return "that channel is archived"
    return "" if told.get("is_member", True) else "I am no member there: `/invite @runwatch` helps"
