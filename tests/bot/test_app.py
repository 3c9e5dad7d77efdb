"""A whole bot against the workspace: commands, mentions, clicks, an incident with its chart."""

import asyncio

import pytest

from bot.app import bot_running
from bot.workspace import Workspace, faults
from tests.bot.conftest import a_run, settled
from tests.ports import free_port
from tests.servers import PATIENT


def files_of(messages):
    return [file for message in messages for file in message.get("files") or ()]


async def shared_png(workspace, count=1):
    def found():
        files = files_of(workspace.all_messages())
        return files if len(files) >= count else None

    return await workspace.until(found)


async def test_loss_answers_with_a_sentence_and_a_picture(workspace, bot, registry):
    """`/loss run42`: normal, watch or wrong first, then the PNG in the channel."""
    await a_run(registry)

    outcome = await workspace.slash("/loss", "run42")
    (file,) = await shared_png(workspace)

    assert outcome.acked
    assert "*run42* looks normal" in workspace.messages()[0]["text"]
    assert workspace.file_bytes(file["id"]).startswith(b"\x89PNG")


async def test_a_bad_run_is_called_wrong_since_its_step(workspace, bot, registry):
    """The sentence names the first bad step and the last good one."""
    await a_run(registry, bad_from=151)

    await workspace.slash("/loss", "run42")
    await shared_png(workspace)

    text = workspace.messages()[0]["text"]
    assert "is wrong since step 151: loss is NaN" in text
    assert "Last good step 150" in text


@pytest.mark.parametrize("part", ["--last 10", "--last 20s", "--steps 180..200"])
async def test_a_part_that_begins_within_the_trouble_tells_its_true_start(workspace, bot, registry, part):
    """What is shown may be cut where one likes; since when it is wrong may not."""
    await a_run(registry, bad_from=151)

    await workspace.slash("/loss", f"run42 {part}")
    await shared_png(workspace)

    text = workspace.messages()[0]["text"]
    assert "is wrong since step 151: loss is NaN. Last good step 150" in text


async def test_csv_and_comparison_arrive_as_files(workspace, bot, registry):
    """`--vs` draws both, `--csv` brings the numbers."""
    await a_run(registry)
    await a_run(registry, "run40")

    await workspace.slash("/loss", "run42 --vs run40 --csv --last 100")
    files = await shared_png(workspace, 2)

    assert {file["name"] for file in files} == {"run42-loss.png", "run42.csv"}
    assert "both runs stand alike" in str(workspace.messages()[0]["blocks"])


@pytest.mark.parametrize(
    ("words", "right"),
    [
        ("run4", "Did you mean `run42`"),
        ("run42 --lats 2h", "Did you mean `--last`?"),
        ("run42 --last soon", "`--last 2h` or `--last 500`"),
        ("run42 --steps 9..2", "ends before it begins"),
        ("run42 --metric gradd", "there are `loss`, `grad_norm` and `lr`"),
        ("run42 --last", "`--last` needs a value"),
        ("run42 run43", "One run at a time"),
        ("run42 --vs nosuch", "No run `nosuch`"),
    ],
)
async def test_wrong_words_get_what_is_right_privately(workspace, bot, registry, words, right):
    """Only the asker sees what was wrong, and what to type instead."""
    await a_run(registry)

    outcome = await workspace.slash("/loss", words)
    (said,) = await workspace.until(workspace.ephemerals)

    assert outcome.acked
    assert right in said["text"]
    assert workspace.messages() == []


async def test_without_any_run_the_answer_says_how_to_register_one(workspace, bot):
    """An empty registry is not an error, it is the first day."""
    await workspace.slash("/loss", "")

    (said,) = await workspace.until(workspace.ephemerals)
    assert "runwatch watch --run NAME" in said["text"]


async def test_runs_lists_every_run(workspace, bot, registry):
    """State, step, loss and last progress of each."""
    await a_run(registry)
    await a_run(registry, "run40")

    await workspace.slash("/runs")
    (answer,) = await workspace.until(workspace.messages)

    assert "2 runs" in answer["text"]
    assert "run40" in str(answer["blocks"])


async def test_help_names_every_command(workspace, bot):
    """`/runwatch help` is made from the commands."""
    await workspace.slash("/runwatch", "help")

    (said,) = await workspace.until(workspace.ephemerals)
    assert all(f"/{name}" in str(said["blocks"]) for name in ("loss", "stall", "snapshot", "runs", "runwatch"))


async def test_stall_says_that_a_training_run_trains(workspace, bot, registry):
    """One sentence, and a row for each rank."""
    await a_run(registry)

    await workspace.slash("/stall", "run42")
    (answer,) = await workspace.until(workspace.messages)

    assert "*run42* trains at step 200" in answer["text"]
    assert any(block["type"] == "table" for block in answer["blocks"])


async def test_a_mention_in_a_thread_answers_there_without_a_name(workspace, bot, registry, publish, finding):
    """In the thread of an incident the run goes without saying."""
    await a_run(registry)
    await publish(finding())
    await settled(registry, 1)
    (root,) = workspace.messages()

    await workspace.mention("stall", thread_ts=root["ts"])
    answer = await workspace.until(
        lambda: [one for one in workspace.replies(root["ts"]) if "run42" in one["text"] and "trains" in one["text"]]
    )

    assert answer


async def test_a_mention_with_a_typing_error_is_understood(workspace, bot, registry):
    """`@runwatch lsos run42` is close enough."""
    await a_run(registry)

    ts = await workspace.mention("lsos run42")
    await workspace.until(lambda: any("looks normal" in one["text"] for one in workspace.replies(ts)))


@pytest.mark.parametrize("words", ["why is run42 nan?", "why is `run42` NaN", "run42", "run42是不是NaN？ run42？"])
async def test_a_mention_that_only_speaks_of_a_run_says_how_it_stands(workspace, bot, registry, words):
    """What /loss says first, and what to ask for more; for the asker alone, since nobody asked by command."""
    await a_run(registry, bad_from=151)

    await workspace.mention(words)
    (said,) = await workspace.until(workspace.ephemerals)

    assert "*run42* is wrong since step 151: loss is NaN." in said["text"]
    assert "`/loss run42`" in str(said["blocks"])
    assert "`/stall run42`" in str(said["blocks"])


async def test_in_a_thread_the_run_need_not_be_named(workspace, bot, registry, publish, finding):
    """It is the one of the incident."""
    await a_run(registry, bad_from=151)
    await publish(finding())
    await settled(registry, 1)
    (root,) = workspace.messages()

    await workspace.mention("why is this?", thread_ts=root["ts"])
    (said,) = await workspace.until(workspace.ephemerals)

    assert "*run42* is " in said["text"]


async def test_a_mention_that_is_nothing_we_know_is_told_what_can_be_asked(workspace, bot, registry):
    """The first lines of the help."""
    await a_run(registry)

    await workspace.mention("why is the sky blue?")
    (said,) = await workspace.until(workspace.ephemerals)

    assert "I do not know `why`" in said["text"]
    assert all(f"`/{name}" in str(said["blocks"]) for name in ("loss", "stall", "snapshot", "runs", "runwatch help"))


async def test_an_incident_gets_its_chart_in_the_thread(workspace, bot, registry, publish, finding):
    """The root first, the PNG after it, below it."""
    await a_run(registry, bad_from=151)
    await publish(finding(step=151))

    (file,) = await shared_png(workspace)
    (root,) = workspace.messages()

    assert files_of(workspace.replies(root["ts"]))[0]["id"] == file["id"]
    assert workspace.file_bytes(file["id"]).startswith(b"\x89PNG")


async def test_an_upload_that_fails_is_tried_again(workspace, bot, registry, publish, finding):
    """One 500 on the way costs a second, not the chart."""
    await a_run(registry, bad_from=151)
    workspace.faults.next("files.getUploadURLExternal", faults.http_error(500))
    workspace.faults.next("files.completeUploadExternal", faults.cut_after())

    await publish(finding(step=151))
    await shared_png(workspace)
    await asyncio.sleep(1.5)

    assert len(files_of(workspace.all_messages())) == 1


async def test_a_chart_that_cannot_arrive_is_said_in_words(workspace, bot, registry, publish, finding):
    """A missing scope costs the picture, never the alert; the thread says why."""
    workspace.revoke_scope("files:write")
    await a_run(registry, bad_from=151)
    await publish(finding(step=151))

    await settled(registry, 1)
    (root,) = workspace.messages()
    said = await workspace.until(lambda: workspace.replies(root["ts"]))

    assert "The chart could not be added: missing_scope" in said[0]["text"]


async def test_the_buttons_acknowledge_and_mute(workspace, bot, registry, publish, finding):
    """A click shows in the root; a second person is told who was first."""
    await publish(finding())
    await settled(registry, 1)
    (root,) = workspace.messages()

    first = await workspace.click(root["ts"], "acknowledge", user="alice")
    await workspace.until(lambda: "has it since" in str(workspace.messages()[0]["blocks"]))
    await workspace.click(root["ts"], "mute_1h", user="alice")
    await workspace.until(lambda: "quiet until" in str(workspace.messages()[0]["blocks"]))

    assert first.acked
    assert not any(
        element["action_id"] in ("acknowledge", "mute_1h")
        for block in workspace.messages()[0]["blocks"]
        if block["type"] == "actions"
        for element in block["elements"]
    )


async def test_a_second_click_is_told_who_was_first(workspace, bot, registry, publish, finding):
    """Two people press at once: one has it, the other hears who."""
    await publish(finding())
    await settled(registry, 1)
    (root,) = workspace.messages()

    await asyncio.gather(*(workspace.click(root["ts"], "acknowledge", user=user) for user in ("alice", "bob")))
    told = await workspace.until(lambda: workspace.ephemerals("alice") or workspace.ephemerals("bob"))

    assert "has it already" in told[0]["text"]


async def test_the_registry_being_away_is_said_within_a_second(workspace, settings):
    """Redis is down: every command is acknowledged and answered with a clear word."""
    async with bot_running(settings(redis_url="redis://127.0.0.1:1/0")) as running:
        await workspace.connected()
        await workspace.until(lambda: running.identity.team)
        outcome = await workspace.slash("/loss", "run42")
        (said,) = await workspace.until(workspace.ephemerals)

    assert outcome.acked
    assert "The registry (Redis) does not answer" in said["text"]


async def test_signed_http_answers_as_sockets_do(settings, registry):
    """The same commands over signed HTTP requests."""
    await a_run(registry)
    port = free_port()
    async with Workspace.start(app_url=f"http://127.0.0.1:{port}/slack/events", **PATIENT) as workspace:
        over_http = settings(
            slack_app_token="",
            slack_signing_secret=workspace.signing_secret,
            slack_api_url=workspace.url,
            http_port=port,
        )
        async with bot_running(over_http) as running:
            await workspace.until(lambda: running.identity.team)
            outcome = await workspace.slash("/runs")
            (answer,) = await workspace.until(workspace.messages)

    assert outcome.acked
    assert "1 run" in answer["text"]


async def test_a_start_does_not_wait_for_slack(workspace, settings, registry):
    """auth.test fails at first; the bot starts all the same and serves once Slack answers."""
    workspace.faults.next("auth.test", faults.http_error(503), times=2)
    workspace.faults.next("apps.connections.open", faults.http_error(503), times=1)

    async with bot_running(settings()) as running:
        await workspace.connected()
        await workspace.until(lambda: running.identity.team)
        await workspace.slash("/runs")
        await workspace.until(lambda: workspace.messages() or workspace.ephemerals())


async def test_a_repeated_event_is_answered_once(workspace, bot, registry):
    """Slack sends a mention again when it is not sure: one answer."""
    await a_run(registry)
    ts = await workspace.mention("runs")
    await workspace.until(lambda: workspace.replies(ts))

    (envelope,) = [sent for sent in workspace.sockets.sent if sent["type"] == "events_api"]
    await workspace.sockets.repeat(envelope)
    await workspace.sockets.repeat({**envelope, "envelope_id": "another"}, attempt=1)
    await asyncio.sleep(1.0)

    assert len(workspace.replies(ts)) == 1


async def test_a_dropped_connection_is_replaced(workspace, bot, registry):
    """After a cut the next command is answered."""
    await a_run(registry)
    before = workspace.sockets.opened

    assert workspace.sockets.drop() == 1
    await workspace.until(lambda: workspace.sockets.opened > before)
    outcome = await workspace.slash("/runs")

    assert outcome.acked


async def test_a_silent_connection_is_replaced(workspace, settings, registry):
    """Open and dead: after the time allowed for silence there is a new connection that works."""
    await a_run(registry)
    async with bot_running(settings(socket_silence_seconds=3.0)) as running:
        await workspace.connected()
        await workspace.until(lambda: running.identity.team)
        before = workspace.sockets.opened

        workspace.sockets.zombify()
        await workspace.until(lambda: workspace.sockets.opened > before)
        outcome = await workspace.slash("/runs")

        assert outcome.acked


async def test_a_refresh_loses_no_command(workspace, bot, registry):
    """Slack asks for a new connection every few hours; commands go on."""
    await a_run(registry)
    before = workspace.sockets.opened

    await workspace.sockets.refresh()
    await workspace.until(lambda: workspace.sockets.opened > before)
    outcome = await workspace.slash("/runs")

    assert outcome.acked


async def test_strangers_get_nothing(workspace, bot, registry, publish, finding):
    """A person of another workspace is refused, and told nothing about any run."""
    await publish(finding())
    await settled(registry, 1)
    (root,) = workspace.messages()
    workspace.add_member("stranger", team_id="T0OTHER")

    await workspace.click(root["ts"], "acknowledge", user="stranger")
    (said,) = await workspace.until(lambda: workspace.ephemerals("stranger"))

    assert "Only members of the workspace" in said["text"]
    assert "run42" not in str(said)
    assert "nobody has it yet" in str(workspace.message(root["ts"])["blocks"])


async def test_the_list_of_runs_turns_in_place(workspace, bot, registry):
    """“Next” changes the same message; the menu changes the order."""
    for number in range(25):
        await registry.runs.see(f"run{number:02}", state="running")
    await workspace.slash("/runs", "--sort name")
    (first,) = await workspace.until(workspace.messages)

    await workspace.click(first["ts"], "runs_page:next")
    await workspace.until(lambda: "run24" in str(workspace.messages()[0]["blocks"]))

    (only,) = workspace.messages()
    assert "run00" not in str(only["blocks"])
    assert "page 2 of 2" in str(only["blocks"])
