"""response_url: five uses, thirty minutes, and what each use can do."""

import pytest


@pytest.fixture
def url(slack):
    """A response_url as a slash command of alice gets it."""
    return slack.site.base_url + slack.site.response_urls.give(slack.channel, "U0ALICE")


async def test_five_uses_and_no_sixth(slack, http, url):
    """The sixth answer is lost, and says so."""
    answers = [await http.post(url, json={"text": str(n)}) for n in range(6)]

    assert [answer.status for answer in answers] == [200] * 5 + [404]
    assert (await answers[-1].json())["error"] == "used_url"
    assert len(slack.ephemerals()) == 5


async def test_thirty_minutes_and_no_longer(slack, http, url):
    """An answer after half an hour is refused."""
    slack.clock.skip(1801)

    answer = await http.post(url, json={"text": "late"})

    assert (answer.status, (await answer.json())["error"]) == (404, "expired_url")


async def test_it_works_where_the_app_is_not_a_member(slack, http):
    """A command may be typed in a channel without the app; the answer still comes."""
    url = slack.site.base_url + slack.site.response_urls.give("C0GENERAL", "U0ALICE")

    await http.post(url, json={"text": "for all", "response_type": "in_channel"})

    assert [m["text"] for m in slack.messages("general")] == ["for all"]


async def test_an_ephemeral_is_replaced_and_deleted(slack, http):
    """`replace_original` and `delete_original` reach what only one person sees."""
    whisper = slack.site.messages.whisper(slack.channel, "U0ALICE", {"user": "U0RUNWATCH", "text": "one"})
    url = slack.site.base_url + slack.site.response_urls.give(slack.channel, "U0ALICE", whisper["ts"])

    await http.post(url, json={"text": "two", "replace_original": True})
    replaced = [m["text"] for m in slack.ephemerals()]
    await http.post(url, json={"delete_original": True})

    assert replaced == ["two"]
    assert slack.ephemerals() == []


async def test_bad_blocks_are_refused_there_too(slack, http, url):
    """The same rules as for chat.postMessage."""
    answer = await http.post(url, json={"text": "x", "blocks": [{"type": "section"}]})

    assert (answer.status, (await answer.json())["error"]) == (400, "invalid_blocks")
    assert slack.ephemerals() == []
