"""/debug and /ui: acting and looking over HTTP, and who may."""

import pytest
from slack_sdk.errors import SlackApiError

from tests.contract.conftest import app_of, by_socket, client_of


def at(slack, path):
    return slack.page_url + path


async def test_a_scenario_can_act_and_look_over_http(slack, http):
    """Say something, read it back, see the calls: no Python object needed."""
    said = await (
        await http.post(at(slack, "debug/act"), json={"act": "say", "user": "bob", "channel": "training", "text": "hi"})
    ).json()
    messages = await (await http.get(at(slack, "debug/messages"))).json()
    await client_of(slack).auth_test()
    calls = await (await http.get(at(slack, "debug/calls?method=auth.test"))).json()

    assert [m["ts"] for m in messages] == [said["ts"]]
    assert [call["method"] for call in calls] == ["auth.test"]


async def test_faults_are_set_over_http(slack, http):
    """The next call meets it; /debug/state tells."""
    await http.post(
        at(slack, "debug/faults"), json={"method": "auth.test", "fault": "refused", "with": {"error": "fatal_error"}}
    )

    with pytest.raises(SlackApiError) as refused:
        await client_of(slack).auth_test()
    state = await (await http.get(at(slack, "debug/state"))).json()

    assert refused.value.response["error"] == "fatal_error"
    assert state["faults"]["met"] == 1


@pytest.mark.parametrize(
    ("path", "body", "seen"),
    [
        (
            "channel",
            {"channel": "training", "is_archived": True},
            lambda s: s.site.directory.channel("training").is_archived,
        ),
        ("channel", {"channel": "extra", "create": True}, lambda s: s.channel_id("extra")),
        ("tokens", {"trouble": "token_revoked"}, lambda s: s.site.tokens.trouble == "token_revoked"),
        ("tokens", {"scopes": ["chat:write"]}, lambda s: s.site.tokens.scopes == {"chat:write"}),
        ("history", {"lag_seconds": 30}, lambda s: s.site.history_lag_seconds == 30),
        ("manifest", {"features": {"shortcuts": []}}, lambda s: s.site.manifest == {"features": {"shortcuts": []}}),
        ("app_url", {"url": "http://127.0.0.1:1/"}, lambda s: s.site.delivery.app_url == "http://127.0.0.1:1/"),
        ("sockets", {"repeat_next": 2}, lambda s: s.sockets.repeat_next == 2),
        (
            "faults",
            {"share": 0.2, "faults": ["html", "cut_after"]},
            lambda s: s.site.faults.described()["some"]["share"] == 0.2,
        ),
        (
            "faults",
            {"share": 0.2, "faults": ["html", {"fault": "slow", "with": {"seconds": 3.0, "done": True}}]},
            lambda s: s.site.faults.described()["some"]["share"] == 0.2,
        ),
    ],
)
async def test_every_knob_can_be_turned_over_http(slack, http, path, body, seen):
    """The same knobs as in Python."""
    answer = await http.post(at(slack, f"debug/{path}"), json=body)

    assert answer.status == 200, await answer.text()
    assert seen(slack)


async def test_a_wrong_request_says_what_is_right(slack, http):
    """Unknown paths and acts list the known ones."""
    path = await (await http.post(at(slack, "debug/fault"), json={})).json()
    act = await (await http.post(at(slack, "ui/act"), json={"act": "shout"})).json()

    assert "faults" in path["known"]
    assert "say" in act["known"]


@pytest.mark.parametrize("headers", [{"Origin": "https://evil.example"}, {"Host": "evil.example"}])
@pytest.mark.parametrize("path", ["ui/act", "debug/act", "api/chat.postMessage"])
async def test_a_foreign_page_may_not_act(slack, http, headers, path):
    """Neither another origin nor a rebound host name reaches a workspace without sign-in."""
    body = {"act": "say", "user": "bob", "channel": "training", "text": "hi"}

    answer = await http.post(at(slack, path), json=body, headers=headers)

    assert answer.status == 403
    assert slack.messages() == []


async def test_a_command_in_a_thread_is_not_supported(slack, http):
    """Slack's historical gap, kept: mentions and buttons must do."""
    root = await slack.say("root")
    asked = {"act": "slash", "user": "alice", "channel": "training", "command": "/loss", "thread_ts": root}

    answer = await (await http.post(at(slack, "ui/act"), json=asked)).json()

    assert answer["error"] == "invalid_command"
    assert slack.ephemerals()[0]["text"] == "/loss is not supported in threads. Sorry!"


async def test_with_a_manifest_unknown_commands_never_reach_the_app(slack):
    """As in Slack: only what the manifest names is a command."""
    slack.site.install({"features": {"slash_commands": [{"command": "/loss"}]}})
    app = app_of(slack)

    @app.command("/loss")
    async def loss(ack):
        await ack()

    async with by_socket(slack, app):
        known, unknown = await slack.slash("/loss"), await slack.slash("/lost")

    assert known.acked
    assert unknown.error == "invalid_command"
    assert "/lost is not a valid command" in slack.ephemerals()[0]["text"]


async def test_the_manifest_gives_the_scopes_and_events(slack, client):
    """What the app did not ask for it cannot do, and does not hear."""
    scopes = {"oauth_config": {"scopes": {"bot": ["chat:write", "app_mentions:read"]}}}
    slack.site.install({**scopes, "settings": {"event_subscriptions": {"bot_events": ["app_home_opened"]}}})

    with pytest.raises(SlackApiError) as refused:
        await client.users_info(user="U0BOB")

    assert refused.value.response["needed"] == "users:read"
    assert slack.site.events == {"app_home_opened"}


async def test_the_page_streams_what_happens(slack, http):
    """A message is pushed to a listening page."""
    async with http.get(at(slack, "ui/stream")) as stream:
        await stream.content.readline()
        await slack.say("hello")
        lines = [await stream.content.readline() for _ in range(2)]

    assert b'"text": "hello"' in lines[1]


async def test_the_page_is_served_with_a_policy_that_runs_nothing_foreign(slack, http):
    """Only own scripts and styles; no frames, no foreign images."""
    page = await http.get(slack.page_url)

    assert "default-src 'none'; script-src 'self'" in page.headers["Content-Security-Policy"]
    assert "unsafe" not in page.headers["Content-Security-Policy"]


async def test_an_uploaded_page_is_never_run_as_ours(slack, http):
    """HTML that somebody shares comes down as a download of plain text."""
    ts = await slack.upload("x.html", b"<script>alert(1)</script>")
    file = slack.message(ts)["files"][0]["id"]

    answer = await http.get(at(slack, f"ui/files/{file}"))

    assert answer.content_type == "text/plain"
    assert answer.headers["Content-Disposition"].startswith("attachment")
