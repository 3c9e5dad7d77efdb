"""Files that people shared in Slack; our token goes to Slack's own hosts and nowhere else."""

import asyncio
import time
from urllib.parse import urlsplit

import aiohttp

from bot.slack import Slack
from bot.slack_answers import Answer, Outcome, answer_of_failure

DOWNLOAD_SECONDS = 60.0


async def download(slack: Slack, url: str, most_bytes: int) -> tuple[Answer, bytes | None]:
    """The bytes of a file; None: why not stands in the answer."""
    if not is_of_slack(url, slack.client.base_url):
        return Answer(Outcome.REFUSED, error="not a file of Slack's"), None
    try:
        async with asyncio.timeout(DOWNLOAD_SECONDS):
            data = await _read(slack, url, most_bytes)
    except Exception as failure:
        return answer_of_failure(failure, time.time()), None
    if isinstance(data, str):
        return Answer(Outcome.REFUSED, error=data), None
    return Answer(Outcome.OK), data


def is_of_slack(url: str, api_url: str) -> bool:
    """Whether an address may get our token: Slack's own hosts, or the one whose API we use."""
    there, api = urlsplit(url), urlsplit(api_url)
    host = there.hostname or ""
    is_ours = (there.scheme, there.netloc) == (api.scheme, api.netloc)
    return is_ours or (there.scheme == "https" and (host == "slack.com" or host.endswith(".slack.com")))


async def _read(slack: Slack, url: str, most_bytes: int) -> bytes | str:
    session = slack.client.session
    assert isinstance(session, aiohttp.ClientSession)
    headers = {"Authorization": f"Bearer {slack.client.token}"}
    async with session.get(url, headers=headers, allow_redirects=False) as found:
        # Slack answers a token it does not take with its sign-in page, and with 200.
        is_page = "html" in found.content_type and not url.endswith((".html", ".htm"))
        if found.status != 200 or is_page:
            return f"Slack answered {found.status} instead of the file"
        data = b""
        while len(data) <= most_bytes and (more := await found.content.read(most_bytes + 1 - len(data))):
            data += more
    return "too large" if len(data) > most_bytes else data
