"""The page in headless Chromium: every message is drawn as Slack draws it, and text stays text."""

import asyncio

import pytest

from tests.bot.workspace.browser import browser_page
from tests.bot.workspace.test_page import plain

pytestmark = pytest.mark.scenario


HOSTILE = [
    "<script>window.hit=1</script>",
    "<img src=x onerror=window.hit=1>",
    "<javascript:window.hit=1|click>",
    '<https://example.org/" onmouseover="window.hit=1|x>',
    "```<script>window.hit=1</script>```",
    "`<svg onload=window.hit=1>`",
    "*<b onclick=window.hit=1>bold</b>*",
    "&lt;iframe src=https://example.org&gt;",
    "<data:text/html,<script>window.hit=1</script>|x>",
    "<!date^1^{date}^javascript:window.hit=1|x>",
]


async def test_hostile_text_stays_text_everywhere(slack, client):
    """In messages, blocks, attachments, tables, file names and snippets: nothing runs, nothing is fetched, no element appears."""
    for text in HOSTILE:
        section = {"type": "section", "text": {"type": "mrkdwn", "text": text}, "fields": [plain(text)]}
        table = {"type": "table", "rows": [[{"type": "raw_text", "text": text}]]}
        rich = {
            "type": "rich_text",
            "elements": [
                {
                    "type": "rich_text_section",
                    "elements": [{"type": "link", "url": "javascript:window.hit=1", "text": text}],
                }
            ],
        }
        blocks = [section, table, rich, {"type": "markdown", "text": f"[x](javascript:window.hit=1) {text}"}]
        await client.chat_postMessage(channel=slack.channel, text=text, blocks=blocks)
        attachment = {"text": text, "title": text, "color": "red;background:url(https://example.org)"}
        await client.chat_postMessage(channel=slack.channel, text=text, attachments=[attachment])
        await slack.upload(text + ".svg", text.encode(), text=text)

    async with browser_page(slack) as page:
        await page.wait_for_selector(".message >> nth=29")
        for link in await page.query_selector_all(".timeline a"):
            assert (await link.get_attribute("href")).startswith(
                ("http://", "https://", "mailto:", "#", "/ui/files/", "/#")
            )
        found = await page.evaluate(
            "document.querySelectorAll('.timeline script, .timeline iframe, .timeline b, .timeline svg[onload]').length"
        )

        assert await page.evaluate("window.hit") is None
        assert found == 0
        assert "<script>window.hit=1</script>" in await page.inner_text(".timeline")


MRKDWN = [
    ("*bold* _italic_ ~gone~ `code`", "<strong>bold</strong> <em>italic</em> <s>gone</s> <code>code</code>"),
    ("grad_norm_max stays, 2*3*4 too", "grad_norm_max stays, 2*3*4 too"),
    ("*a _b_ c*", "<strong>a <em>b</em> c</strong>"),
    ("one\ntwo", "one<br>two"),
    ("&gt; quoted\nafter", "<blockquote>quoted</blockquote>after"),
    ("a &lt;b&gt; &amp;amp;", "a &lt;b&gt; &amp;amp;"),
    ("```x *y*\nz```", "<pre>x *y*\nz</pre>"),
    ("unclosed ``` fence", "unclosed ``` fence"),
    ("<@U0BOB> <!here>", '<span class="mention">@bob</span> <span class="mention broadcast">@here</span>'),
    ("<@U0ALICE>", '<span class="mention me">@alice</span>'),
    (
        "<https://example.org/a?b=1&amp;c=2|docs>",
        '<a href="https://example.org/a?b=1&amp;c=2" target="_blank" rel="noopener noreferrer">docs</a>',
    ),
    (
        "see https://example.org/x.",
        'see <a href="https://example.org/x" target="_blank" rel="noopener noreferrer">https://example.org/x</a>.',
    ),
    (
        ":red_circle: :no_such_thing: 12:30:45",
        '<span class="emoji" role="img" aria-label="red circle">🔴</span> :no_such_thing: 12:30:45',
    ),
    ("gone", "gone"),  # `on` is an emoji, and what its first and last letters are cut from is none
]


async def test_mrkdwn_is_drawn_as_slack_draws_it(slack, client):
    """A table of texts and what they become."""
    for text, _ in MRKDWN:
        await client.chat_postMessage(channel=slack.channel, text=text)

    async with browser_page(slack) as page:
        await page.wait_for_selector(f".message >> nth={len(MRKDWN) - 1}")
        drawn = await page.eval_on_selector_all(".message .body", "nodes => nodes.map(node => node.innerHTML)")

    assert dict(zip([text for text, _ in MRKDWN], drawn, strict=True)) == dict(MRKDWN)


async def test_a_hundred_messages_at_once_are_all_drawn(slack, client):
    """A burst ends with every message on the page, in order, at its end."""
    async with browser_page(slack) as page:
        await asyncio.gather(*(client.chat_postMessage(channel=slack.channel, text=f"message {n}") for n in range(100)))
        await page.wait_for_selector(".message >> nth=99")
        drawn = await page.eval_on_selector_all(".message", "nodes => nodes.map(node => node.dataset.ts)")
        left = await page.evaluate(
            "(box => box.scrollHeight - box.scrollTop - box.clientHeight)(document.querySelector('.timeline'))"
        )

        assert drawn == [message["ts"] for message in slack.messages()]
        assert left < 2
