"""Block Kit: what Slack takes, and what it refuses with which words and where."""

import copy

import pytest
from slack_sdk.errors import SlackApiError

from bot.workspace.blocks_check import problems_of_blocks, problems_of_options, problems_of_view


def plain(text):
    return {"type": "plain_text", "text": text}


def mrkdwn(text):
    return {"type": "mrkdwn", "text": text}


def section(**more):
    return {"type": "section", "text": mrkdwn("x"), **more}


def button(action_id="a", **more):
    return {"type": "button", "action_id": action_id, "text": plain("Go"), **more}


def actions(*elements, **more):
    return {"type": "actions", "elements": list(elements), **more}


def option(value="v", text="t"):
    return {"text": plain(text), "value": value}


def table(rows, columns=1, text="x"):
    return {"type": "table", "rows": [[{"type": "raw_text", "text": text}] * columns] * rows}


def rich(*elements):
    return {"type": "rich_text", "elements": list(elements)}


GOOD = {
    "section": [section()],
    "fields": [{"type": "section", "fields": [mrkdwn("a"), plain("b")]}],
    "accessory": [section(accessory=button())],
    "longest section": [{"type": "section", "text": mrkdwn("x" * 3000)}],
    "header": [{"type": "header", "text": plain("x" * 150)}],
    "context": [{"type": "context", "elements": [mrkdwn("a")] * 10}],
    "25 buttons": [actions(*(button(f"a{n}") for n in range(25)))],
    "same action in two blocks": [actions(button("a")), actions(button("a"))],
    "confirm": [
        actions(
            button(confirm={"title": plain("Sure"), "text": mrkdwn("x"), "confirm": plain("y"), "deny": plain("n")})
        )
    ],
    "menu": [actions({"type": "static_select", "action_id": "m", "options": [option()], "placeholder": plain("p")})],
    "grouped menu": [
        actions(
            {"type": "static_select", "action_id": "m", "option_groups": [{"label": plain("l"), "options": [option()]}]}
        )
    ],
    "overflow": [
        section(accessory={"type": "overflow", "action_id": "o", "options": [option(str(n)) for n in range(5)]})
    ],
    "external select": [actions({"type": "external_select", "action_id": "e", "min_query_length": 0})],
    "picture by url": [{"type": "image", "image_url": "https://example.org/a.png", "alt_text": "a"}],
    "rich text": [
        rich(
            {"type": "rich_text_section", "elements": [{"type": "text", "text": "a", "style": {"bold": True}}]},
            {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": "Traceback"}]},
            {"type": "rich_text_list", "style": "bullet", "elements": [{"type": "rich_text_section", "elements": []}]},
        )
    ],
    "table": [table(100, 20, "ab")],
    "markdown": [{"type": "markdown", "text": "# hi"}],
    "chart": [
        {
            "type": "data_visualization",
            "title": "loss",
            "chart": {"type": "line", "series": [{"name": "loss", "data": [{"label": "1", "value": 2.3}] * 20}]},
        }
    ],
    "input in a message": [
        {"type": "input", "label": plain("l"), "element": {"type": "plain_text_input", "action_id": "i"}}
    ],
    "50 blocks": [{"type": "divider"}] * 50,
}


@pytest.mark.parametrize("blocks", GOOD.values(), ids=GOOD.keys())
async def test_good_blocks_are_taken(slack, client, blocks):
    """What the documentation allows is allowed here."""
    said = await client.chat_postMessage(channel=slack.channel, text="x", blocks=copy.deepcopy(blocks))

    assert said["ok"]


BAD = {
    "51 blocks": ([{"type": "divider"}] * 51, "no more than 50 items allowed [json-pointer:/blocks]"),
    "unknown block": ([{"type": "carousel9"}], "unsupported type: carousel9 [json-pointer:/blocks/0/type]"),
    "no type": ([{"text": mrkdwn("x")}], "missing required field: type [json-pointer:/blocks/0]"),
    "unknown field": ([section(colour="red")], "invalid additional property: colour [json-pointer:/blocks/0]"),
    "section without text": ([{"type": "section"}], "missing required field: text or fields [json-pointer:/blocks/0]"),
    "long section": (
        [{"type": "section", "text": mrkdwn("x" * 3001)}],
        "must be less than 3001 characters [json-pointer:/blocks/0/text/text]",
    ),
    "empty section": (
        [{"type": "section", "text": mrkdwn("")}],
        "must be more than 0 characters [json-pointer:/blocks/0/text/text]",
    ),
    "text is a string": ([{"type": "section", "text": "x"}], "must provide an object [json-pointer:/blocks/0/text]"),
    "11 fields": (
        [{"type": "section", "fields": [mrkdwn("a")] * 11}],
        "no more than 10 items allowed [json-pointer:/blocks/0/fields]",
    ),
    "long field": (
        [{"type": "section", "fields": [mrkdwn("x" * 2001)]}],
        "must be less than 2001 characters [json-pointer:/blocks/0/fields/0/text]",
    ),
    "emoji on mrkdwn": (
        [{"type": "section", "text": {**mrkdwn("x"), "emoji": True}}],
        "invalid additional property: emoji [json-pointer:/blocks/0/text]",
    ),
    "mrkdwn header": (
        [{"type": "header", "text": mrkdwn("x")}],
        "must be one of: plain_text [json-pointer:/blocks/0/text/type]",
    ),
    "long header": (
        [{"type": "header", "text": plain("x" * 151)}],
        "must be less than 151 characters [json-pointer:/blocks/0/text/text]",
    ),
    "11 in context": (
        [{"type": "context", "elements": [mrkdwn("a")] * 11}],
        "no more than 10 items allowed [json-pointer:/blocks/0/elements]",
    ),
    "button in context": (
        [{"type": "context", "elements": [button()]}],
        "unsupported type: button [json-pointer:/blocks/0/elements/0/type]",
    ),
    "26 buttons": (
        [actions(*(button(f"a{n}") for n in range(26)))],
        "no more than 25 items allowed [json-pointer:/blocks/0/elements]",
    ),
    "no buttons": ([actions()], "no fewer than 1 items allowed [json-pointer:/blocks/0/elements]"),
    "long button": (
        [actions(button(text=plain("x" * 76)))],
        "must be less than 76 characters [json-pointer:/blocks/0/elements/0/text/text]",
    ),
    "mrkdwn button": (
        [actions(button(text=mrkdwn("x")))],
        "must be one of: plain_text [json-pointer:/blocks/0/elements/0/text/type]",
    ),
    "long value": (
        [actions(button(value="x" * 2001))],
        "must be less than 2001 characters [json-pointer:/blocks/0/elements/0/value]",
    ),
    "number as value": ([actions(button(value=7))], "must provide a string [json-pointer:/blocks/0/elements/0/value]"),
    "wrong style": (
        [actions(button(style="red"))],
        "must be one of: primary, danger [json-pointer:/blocks/0/elements/0/style]",
    ),
    "long action_id": (
        [actions(button("x" * 256))],
        "must be less than 256 characters [json-pointer:/blocks/0/elements/0/action_id]",
    ),
    "same action_id": (
        [actions(button("a"), button("a"))],
        "`action_id` `a` already exists for another action [json-pointer:/blocks/0/elements/1/action_id]",
    ),
    "same block_id": (
        [section(block_id="b"), section(block_id="b")],
        "`block_id` `b` already exists for another block [json-pointer:/blocks/1/block_id]",
    ),
    "confirm without text": (
        [actions(button(confirm={"title": plain("a"), "confirm": plain("y"), "deny": plain("n")}))],
        "missing required field: text [json-pointer:/blocks/0/elements/0/confirm]",
    ),
    "6 in overflow": (
        [section(accessory={"type": "overflow", "action_id": "o", "options": [option(str(n)) for n in range(6)]})],
        "no more than 5 items allowed [json-pointer:/blocks/0/accessory/options]",
    ),
    "101 options": (
        [actions({"type": "static_select", "action_id": "m", "options": [option(str(n)) for n in range(101)]})],
        "no more than 100 items allowed [json-pointer:/blocks/0/elements/0/options]",
    ),
    "long option": (
        [actions({"type": "static_select", "action_id": "m", "options": [option(text="x" * 76)]})],
        "must be less than 76 characters [json-pointer:/blocks/0/elements/0/options/0/text/text]",
    ),
    "options and groups": (
        [actions({"type": "static_select", "action_id": "m"})],
        "must have exactly one of: options, option_groups [json-pointer:/blocks/0/elements/0]",
    ),
    "typing in actions": (
        [actions({"type": "plain_text_input", "action_id": "i"})],
        "unsupported type: plain_text_input [json-pointer:/blocks/0/elements/0/type]",
    ),
    "button as input": (
        [{"type": "input", "label": plain("l"), "element": button()}],
        "unsupported type: button [json-pointer:/blocks/0/element/type]",
    ),
    "picture without alt": (
        [{"type": "image", "image_url": "https://example.org/a.png"}],
        "missing required field: alt_text [json-pointer:/blocks/0]",
    ),
    "picture of both kinds": (
        [{"type": "image", "image_url": "https://example.org/a.png", "slack_file": {"id": "F1"}, "alt_text": "a"}],
        "must have exactly one of: image_url, slack_file [json-pointer:/blocks/0]",
    ),
    "unknown file": (
        [{"type": "image", "slack_file": {"id": "F1"}, "alt_text": "a"}],
        "invalid slack file [json-pointer:/blocks/0/slack_file]",
    ),
    "file of both kinds": (
        [{"type": "image", "slack_file": {"id": "F1", "url": "u"}, "alt_text": "a"}],
        "must have exactly one of: id, url [json-pointer:/blocks/0/slack_file]",
    ),
    "empty rich text": (
        [rich({"type": "rich_text_section", "elements": [{"type": "text", "text": ""}]})],
        "must be more than 0 characters [json-pointer:/blocks/0/elements/0/elements/0/text]",
    ),
    "101 rows": ([table(101)], "no more than 100 items allowed [json-pointer:/blocks/0/rows]"),
    "21 columns": ([table(1, 21)], "no more than 20 items allowed [json-pointer:/blocks/0/rows/0]"),
    "two tables": ([table(1), table(1)], "only_one_table_allowed [json-pointer:/blocks/1]"),
    "big table": ([table(100, 20, "abcdef")], "must be less than 10001 characters [json-pointer:/blocks/0/rows]"),
    "long markdown": (
        [{"type": "markdown", "text": "x" * 7000}, {"type": "markdown", "text": "x" * 7000}],
        "markdown blocks must be less than 12001 characters together [json-pointer:/blocks/1/text]",
    ),
    "21 points": (
        [
            {
                "type": "data_visualization",
                "title": "loss",
                "chart": {"type": "line", "series": [{"name": "loss", "data": [{"label": "1", "value": 1}] * 21}]},
            }
        ],
        "no more than 20 items allowed [json-pointer:/blocks/0/chart/series/0/data]",
    ),
    "alert in a message": (
        [{"type": "alert", "text": plain("x")}],
        "unsupported type: alert [json-pointer:/blocks/0/type]",
    ),
}


@pytest.mark.parametrize(("blocks", "problem"), BAD.values(), ids=BAD.keys())
async def test_bad_blocks_are_refused_with_what_is_wrong(slack, client, blocks, problem):
    """invalid_blocks names the problem and where; nothing is posted."""
    with pytest.raises(SlackApiError) as refused:
        await client.chat_postMessage(channel=slack.channel, text="x", blocks=copy.deepcopy(blocks))

    assert refused.value.response["error"] == "invalid_blocks"
    assert problem in refused.value.response["errors"]
    assert slack.messages() == []


async def test_blocks_may_hold_about_thirteen_thousand_characters_together(slack, client):
    """Each block within its limit, and too much together: msg_blocks_too_long."""
    blocks = [{"type": "section", "text": mrkdwn("x" * 2700)} for _ in range(5)]

    with pytest.raises(SlackApiError) as refused:
        await client.chat_postMessage(channel=slack.channel, text="x", blocks=blocks)

    assert refused.value.response["error"] == "msg_blocks_too_long"


async def test_blocks_in_an_attachment_are_checked_too(slack, client):
    """The coloured bar is no way around the rules."""
    attachment = {"color": "#d00", "blocks": [{"type": "section"}]}

    with pytest.raises(SlackApiError) as refused:
        await client.chat_postMessage(channel=slack.channel, text="x", attachments=[attachment])

    assert "/attachments/0/blocks/0" in refused.value.response["errors"][0]


async def test_blocks_validate_tells_without_posting(client):
    """The live check a doctor may use."""
    good = await client.api_call("blocks.validate", json={"blocks": [section()]})
    with pytest.raises(SlackApiError) as refused:
        await client.api_call("blocks.validate", json={"blocks": [{"type": "section"}]})

    assert good["ok"]
    assert refused.value.response["error"] == "invalid_blocks"


VIEW = {"type": "modal", "title": plain("t"), "blocks": [section()]}
BAD_VIEWS = {
    "no title": ({"type": "modal", "blocks": []}, "missing required field: title [json-pointer:/view]"),
    "long title": (
        {**VIEW, "title": plain("x" * 25)},
        "must be less than 25 characters [json-pointer:/view/title/text]",
    ),
    "101 blocks": (
        {**VIEW, "blocks": [{"type": "divider"}] * 101},
        "no more than 100 items allowed [json-pointer:/view/blocks]",
    ),
    "input without submit": (
        {**VIEW, "blocks": [{"type": "input", "label": plain("l"), "element": {"type": "plain_text_input"}}]},
        "missing required field: submit [json-pointer:/view]",
    ),
    "table in a modal": ({**VIEW, "blocks": [table(1)]}, "unsupported type: table [json-pointer:/view/blocks/0/type]"),
    "long private_metadata": (
        {**VIEW, "private_metadata": "x" * 3001},
        "must be less than 3001 characters [json-pointer:/view/private_metadata]",
    ),
    "unknown field": ({**VIEW, "size": "l"}, "invalid additional property: size [json-pointer:/view]"),
}


@pytest.mark.parametrize(("view", "problem"), BAD_VIEWS.values(), ids=BAD_VIEWS.keys())
def test_bad_views_are_refused_with_what_is_wrong(view, problem):
    """A modal has limits of its own."""
    assert problem in problems_of_view(view, lambda _: None)


def test_options_an_app_suggests_are_checked():
    """More than a hundred suggestions are as wrong as none at all."""
    assert problems_of_options({"options": [option(str(n)) for n in range(101)]})
    assert problems_of_options({})
    assert not problems_of_options({"options": []})


@pytest.mark.parametrize(
    "junk", [None, 7, "x", {}, [None], [[]], [{"type": None}], [{"type": []}], [{"type": "section", "text": []}]]
)
def test_junk_never_breaks_the_checker(junk):
    """Whatever is sent, the answer is a list of problems."""
    assert problems_of_blocks(junk, lambda _: None)
