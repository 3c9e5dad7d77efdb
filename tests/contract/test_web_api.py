"""Web API methods as slack_sdk's AsyncWebClient sees them."""

import pytest
from slack_sdk.errors import SlackApiError

from tests.contract.conftest import client_of


async def error_of(call):
    """The error Slack answers."""
    with pytest.raises(SlackApiError) as caught:
        await call
    return caught.value.response


async def test_auth_test_says_who_the_app_is_and_what_it_may(client):
    """The bot's ids, and its scopes in the header that a doctor reads."""
    answer = await client.auth_test()

    assert (answer["user_id"], answer["bot_id"], answer["team_id"]) == ("U0RUNWATCH", "B0RUNWATCH", "T0RUNWATCH")
    assert "chat:write" in answer.headers["x-oauth-scopes"]


@pytest.mark.parametrize(
    ("token", "error"),
    [("", "not_authed"), ("xoxb-wrong", "invalid_auth"), ("xapp-1-runwatch-local", "not_allowed_token_type")],
)
async def test_a_wrong_token_is_refused(slack, token, error):
    """No token, an unknown one, or the wrong kind each get Slack's own error."""
    client = client_of(slack, token or " ")

    answer = await error_of(client.chat_postMessage(channel=slack.channel, text="x"))

    assert answer["error"] == error


async def test_a_missing_scope_names_what_is_needed_and_what_there_is(slack, client):
    """The answer a doctor can turn into a remedy."""
    slack.revoke_scope("chat:write")

    answer = await error_of(client.chat_postMessage(channel=slack.channel, text="x"))

    assert answer["error"] == "missing_scope"
    assert answer["needed"] == "chat:write"
    assert "files:write" in answer["provided"]


@pytest.mark.parametrize("error", ["token_revoked", "account_inactive", "invalid_auth"])
async def test_a_revoked_token_is_refused_everywhere(slack, client, error):
    """Every method answers the same until the token is good again."""
    slack.refuse_tokens(error)

    answer = await error_of(client.auth_test())
    slack.refuse_tokens(None)

    assert answer["error"] == error
    assert (await client.auth_test())["ok"]


async def test_an_unknown_method_is_said_to_be_unknown(client):
    """A typing error in a method's name is not a silent success."""
    answer = await error_of(client.api_call("chat.postMesage"))

    assert (answer["error"], answer["req_method"]) == ("unknown_method", "chat.postMesage")


async def test_form_and_json_bodies_mean_the_same(slack, client):
    """Slack takes both; blocks in a form are JSON text."""
    block = {"type": "divider"}

    await client.api_call("chat.postMessage", json={"channel": slack.channel, "text": "a", "blocks": [block]})
    await client.api_call(
        "chat.postMessage", data={"channel": slack.channel, "text": "a", "blocks": '[{"type":"divider"}]'}
    )
    await client.api_call(
        "chat.postMessage", params={"channel": slack.channel, "text": "a", "blocks": '[{"type":"divider"}]'}
    )

    assert [m["blocks"][0]["type"] for m in slack.messages()] == ["divider"] * 3


async def test_metadata_is_read_back_only_when_asked_for(slack, client):
    """What the look before a repeat stands on."""
    metadata = {"event_type": "runwatch_finding", "event_payload": {"id": "w1:1:7"}}
    said = await client.chat_postMessage(channel=slack.channel, text="x", metadata=metadata)
    await client.chat_postMessage(channel=slack.channel, text="reply", thread_ts=said["ts"], metadata=metadata)

    without = await client.conversations_history(channel=slack.channel)
    with_it = await client.conversations_history(channel=slack.channel, include_all_metadata=True)
    replies = await client.conversations_replies(channel=slack.channel, ts=said["ts"], include_all_metadata=True)

    assert "metadata" not in without["messages"][0]
    assert with_it["messages"][0]["metadata"] == metadata
    assert [m["metadata"] for m in replies["messages"]] == [metadata, metadata]


async def test_history_is_newest_first_and_paged(slack, client):
    """Cursor pages, time bounds, and replies that stay in their thread."""
    tss = [(await client.chat_postMessage(channel=slack.channel, text=str(n)))["ts"] for n in range(5)]
    await client.chat_postMessage(channel=slack.channel, text="reply", thread_ts=tss[0])

    first = await client.conversations_history(channel=slack.channel, limit=2)
    second = await client.conversations_history(
        channel=slack.channel, limit=2, cursor=first["response_metadata"]["next_cursor"]
    )
    newer = await client.conversations_history(channel=slack.channel, oldest=tss[2])
    inclusive = await client.conversations_history(channel=slack.channel, oldest=tss[2], inclusive=True)

    assert [m["text"] for m in first["messages"] + second["messages"]] == ["4", "3", "2", "1"]
    assert first["has_more"]
    assert [m["text"] for m in newer["messages"]] == ["4", "3"]
    assert [m["text"] for m in inclusive["messages"]] == ["4", "3", "2"]


async def test_a_thread_counts_its_replies(slack, client):
    """The root knows how many, by whom and the latest; a reply to a reply joins the thread."""
    root = await client.chat_postMessage(channel=slack.channel, text="root")
    reply = await client.chat_postMessage(channel=slack.channel, text="one", thread_ts=root["ts"])
    await client.chat_postMessage(channel=slack.channel, text="two", thread_ts=reply["ts"])

    replies = await client.conversations_replies(channel=slack.channel, ts=root["ts"])

    assert [m["text"] for m in replies["messages"]] == ["root", "one", "two"]
    assert replies["messages"][0]["reply_count"] == 2
    assert replies["messages"][2]["thread_ts"] == root["ts"]


@pytest.mark.filterwarnings("ignore:The top-level")
async def test_update_changes_what_it_is_given(slack, client):
    """Text without blocks takes the blocks away; blocks alone keep the text; the metadata can change."""
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": "hello"}}]
    said = await client.chat_postMessage(channel=slack.channel, text="first", blocks=blocks)

    await client.chat_update(channel=slack.channel, ts=said["ts"], blocks=[{"type": "divider"}])
    after_blocks = slack.messages()[0]
    await client.chat_update(channel=slack.channel, ts=said["ts"], text="second")
    after_text = slack.messages()[0]

    assert (after_blocks["text"], after_blocks["blocks"][0]["type"]) == ("first", "divider")
    assert after_text["text"] == "second"
    assert "blocks" not in after_text
    assert after_text["edited"]["user"] == slack.bot_user


@pytest.mark.filterwarnings("ignore:The top-level")
@pytest.mark.parametrize(
    ("method", "arguments", "error"),
    [
        ("chat_postMessage", {"text": ""}, "no_text"),
        ("chat_postMessage", {"text": "x" * 40_001}, "msg_too_long"),
        ("chat_postMessage", {"text": "x", "channel": "C0NOWHERE"}, "channel_not_found"),
        ("chat_postMessage", {"text": "x", "channel": "#general"}, "not_in_channel"),
        ("chat_postMessage", {"text": "x", "blocks": "[{"}, "invalid_blocks_format"),
        ("chat_postMessage", {"text": "x", "metadata": {"event_type": 1}}, "invalid_metadata_schema"),
        ("chat_update", {"ts": "1.2", "text": "x"}, "message_not_found"),
        ("chat_delete", {"ts": "1.2"}, "message_not_found"),
        ("chat_postEphemeral", {"user": "U0NOBODY", "text": "x"}, "user_not_found"),
        ("chat_getPermalink", {"message_ts": "1.2"}, "message_not_found"),
        ("conversations_history", {"channel": "C0GENERAL"}, "not_in_channel"),
        ("conversations_history", {"cursor": "x!"}, "invalid_cursor"),
        ("conversations_replies", {"ts": "1.2"}, "thread_not_found"),
        ("conversations_info", {"channel": "C0NOWHERE"}, "channel_not_found"),
        ("conversations_history", {"channel": "#training"}, "channel_not_found"),
        ("chat_update", {"channel": "#training", "ts": "1.2", "text": "x"}, "channel_not_found"),
        ("files_info", {"file": "F0"}, "file_not_found"),
        ("users_info", {"user": "U0NOBODY"}, "user_not_found"),
        ("usergroups_users_list", {"usergroup": "S0"}, "no_such_subteam"),
    ],
)
async def test_a_wrong_call_gets_slacks_own_error(slack, client, method, arguments, error):
    """Each refusal by the name that Slack gives it."""
    wants_channel = method not in {"files_info", "users_info", "usergroups_users_list"}
    given = {"channel": slack.channel, **arguments} if wants_channel else arguments

    answer = await error_of(getattr(client, method)(**given))

    assert answer["error"] == error


async def test_a_reply_to_a_root_that_is_gone_lands_in_the_channel(slack, client):
    """Slack does not refuse it: only the answer's missing thread_ts tells (slack-go/slack#1571)."""
    root = await client.chat_postMessage(channel=slack.channel, text="root")
    threaded = await client.chat_postMessage(channel=slack.channel, text="one", thread_ts=root["ts"])
    lonely = await client.chat_postMessage(channel=slack.channel, text="lonely")
    await client.chat_delete(channel=slack.channel, ts=lonely["ts"])

    orphan = await client.chat_postMessage(channel=slack.channel, text="orphan", thread_ts=lonely["ts"])

    assert threaded["message"]["thread_ts"] == root["ts"]
    assert "thread_ts" not in orphan["message"]
    assert [m["text"] for m in slack.messages()] == ["root", "orphan"]


async def test_update_takes_four_thousand_characters_of_text(slack, client):
    """The limit that posting does not have."""
    said = await client.chat_postMessage(channel=slack.channel, text="x" * 4_001)

    answer = await error_of(client.chat_update(channel=slack.channel, ts=said["ts"], text="x" * 4_001))

    assert answer["error"] == "msg_too_long"


async def test_only_its_own_messages_may_an_app_change(slack, client):
    """A person's message can be neither edited nor deleted."""
    ts = await slack.say("mine")

    update = await error_of(client.chat_update(channel=slack.channel, ts=ts, text="x"))
    delete = await error_of(client.chat_delete(channel=slack.channel, ts=ts))

    assert (update["error"], delete["error"]) == ("cant_update_message", "cant_delete_message")


async def test_an_archived_channel_refuses_and_a_left_one_too(slack, client):
    """is_archived and not_in_channel, as the monitor must tell them apart."""
    slack.archive()
    archived = await error_of(client.chat_postMessage(channel=slack.channel, text="x"))
    slack.archive(archived=False)
    slack.remove_bot()
    left = await error_of(client.chat_postMessage(channel=slack.channel, text="x"))
    slack.invite_bot()

    assert (archived["error"], left["error"]) == ("is_archived", "not_in_channel")
    assert (await client.chat_postMessage(channel=slack.channel, text="x"))["ok"]


async def test_a_private_channel_without_the_app_does_not_exist(slack, client):
    """Slack does not tell an app that a private channel is there."""
    secret = slack.add_channel("secret", private=True, bot=False)

    answer = await error_of(client.chat_postMessage(channel=secret, text="x"))
    listed = await client.conversations_list(types="public_channel,private_channel")

    assert answer["error"] == "channel_not_found"
    assert secret not in {channel["id"] for channel in listed["channels"]}


async def test_a_user_id_opens_the_direct_message(slack, client):
    """Posting to a person, and conversations.open, mean the same conversation."""
    said = await client.chat_postMessage(channel="U0BOB", text="hello")
    opened = await client.conversations_open(users="U0BOB")

    assert said["channel"] == opened["channel"]["id"] == slack.direct_channel("bob")


async def test_an_ephemeral_is_seen_by_one_and_is_not_in_history(slack, client):
    """Only the person asked for sees it."""
    await client.chat_postEphemeral(channel=slack.channel, user="U0BOB", text="psst")

    history = await client.conversations_history(channel=slack.channel)

    assert [m["text"] for m in slack.ephemerals("bob")] == ["psst"]
    assert history["messages"] == []


async def test_guests_and_groups_are_what_permissions_need(slack, client):
    """users.info says who is a guest; a user group lists its people."""
    slack.change_member("bob", is_restricted=True)
    group = slack.add_group("oncall", ["alice", "bob"])

    bob = await client.users_info(user="U0BOB")
    people = await client.usergroups_users_list(usergroup=group)

    assert bob["user"]["is_restricted"]
    assert people["users"] == ["U0ALICE", "U0BOB"]


async def test_deleting_a_root_leaves_its_thread(slack, client):
    """A root with replies becomes a tombstone; one without is gone."""
    root = await client.chat_postMessage(channel=slack.channel, text="root")
    lonely = await client.chat_postMessage(channel=slack.channel, text="lonely")
    await client.chat_postMessage(channel=slack.channel, text="reply", thread_ts=root["ts"])

    await client.chat_delete(channel=slack.channel, ts=root["ts"])
    await client.chat_delete(channel=slack.channel, ts=lonely["ts"])

    assert [m.get("subtype") for m in slack.messages()] == ["tombstone"]
    assert [m["text"] for m in slack.replies(root["ts"])] == ["reply"]
