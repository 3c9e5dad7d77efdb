"""What a page of every width shows: nothing over its edge, and nothing cut that has room."""

from collections import Counter
from dataclasses import replace

import pytest

from handlers.messages.runs import runs_answer
from handlers.run_list import Listing, Page
from registry import Run
from tests.bot.workspace.browser import browser_page

pytestmark = pytest.mark.scenario


@pytest.mark.parametrize(("width", "height"), [(390, 844), (768, 1024), (1280, 860), (1920, 1080)])
async def test_nothing_runs_over_the_edge(slack, client, width, height):
    """A long word, a wide table and a picture fit at every width; the thread too."""
    long = "x" * 400
    table = {"type": "table", "rows": [[{"type": "raw_text", "text": f"column {n}"} for n in range(20)]] * 2}
    root = await client.chat_postMessage(
        channel=slack.channel,
        text=long,
        blocks=[{"type": "section", "text": {"type": "plain_text", "text": long}}, table],
    )
    await client.chat_postMessage(channel=slack.channel, text=f"```{long}``` {long}", thread_ts=root["ts"])

    async with browser_page(slack, width=width, height=height) as page:
        await page.wait_for_selector(".latest .badge", state="attached")
        badge = await page.eval_on_selector(".latest .badge", "badge => getComputedStyle(badge).position")
        await page.click(".replies")
        await page.wait_for_selector("#thread .message >> nth=1")
        over = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
        inner = await page.evaluate(
            "[...document.querySelectorAll('.timeline, .thread-list')].map(box => box.scrollWidth - box.clientWidth)"
        )

        assert over <= 0
        assert all(excess <= 0 for excess in inner)
        assert badge == "static"


async def test_the_list_of_runs_is_seen_whole_on_a_laptop(slack, client):
    """All its columns at 1280 pixels, with the longest that a run of a usual name brings."""
    now, names = 1_796_000_000.0, ("gpt2-124m-baseline-2", "bloom-176b", "llama-7b")
    far = {"last_step": 131_280, "total_steps": 1_115_311, "last_loss": 2.2051, "step_seconds": 61.25}
    runs = [Run(name, state="preempted", last_progress=now - 7_000, **far) for name in names]
    runs[0] = replace(runs[0], state="running", last_progress=now - 600, tokens_per_second=1_124_901.0)
    told = runs_answer(Page(runs, Listing(), 3, 3), Counter({names[0]: 12}), now)
    await client.chat_postMessage(channel=slack.channel, text=told.text, blocks=told.blocks)

    async with browser_page(slack) as page:
        await page.wait_for_selector(".table")
        hidden = await page.eval_on_selector(".table-wrap", "box => box.scrollWidth - box.clientWidth")
        head = await page.locator(".table th").all_inner_texts()

    assert head[-1] == "end in"
    assert "end in" in str(told.blocks[1]["rows"][0])
    assert hidden <= 0
