"""Whom a message pings and where it links: what the escaping tests stand on."""

import pytest

from bot.workspace.mrkdwn import links, pings


def section(text, kind="mrkdwn"):
    return {"blocks": [{"type": "section", "text": {"type": kind, "text": text}}]}


@pytest.mark.parametrize(
    "message",
    [
        {"text": "loss <!channel> nan"},
        {"text": "```<!here>```"},
        section("<@U0BOB> look"),
        {"blocks": [{"type": "context", "elements": [{"type": "mrkdwn", "text": "<!subteam^S0ONCALL>"}]}]},
        {"blocks": [{"type": "section", "fields": [{"type": "mrkdwn", "text": "<!everyone>"}]}]},
        {"attachments": [{"text": "<!here>"}]},
        {"attachments": [section("<!here>")]},
        {
            "blocks": [
                {
                    "type": "rich_text",
                    "elements": [{"type": "rich_text_section", "elements": [{"type": "broadcast", "range": "here"}]}],
                }
            ]
        },
    ],
)
def test_a_live_mention_is_found_wherever_it_hides(message):
    """Text, fences, blocks, fields, attachments and rich text."""
    assert pings(message)


@pytest.mark.parametrize(
    "message",
    [
        {"text": "&lt;!channel&gt;"},
        {"text": "mail@here"},
        section("<!channel>", "plain_text"),
        {"text": "a < b @here > c"},
        {},
    ],
)
def test_dead_text_pings_nobody(message):
    """Escaped, plain or incomplete control sequences are only text."""
    assert pings(message) == []


def test_links_are_found_dressed_and_bare():
    """A fake label and an address that Slack links by itself."""
    message = {"text": "<http://evil.example|safe> and https://example.org/x"}

    assert links(message) == ["http://evil.example|safe", "https://example.org/x"]
    assert links(message, bare=False) == ["http://evil.example|safe"]
    assert links({"text": "&lt;http escaped&gt; no.link"}) == []
