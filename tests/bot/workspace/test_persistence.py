"""What was said survives the workspace's own death."""

import asyncio
import os
import re
import signal
import sys

import aiohttp

from bot.workspace import Workspace
from tests.contract.conftest import client_of


async def test_a_restart_keeps_messages_files_and_homes(tmp_path):
    """Edits, threads, deletions, files and Home are as they were."""
    async with Workspace.start(data_dir=tmp_path, rate_limit=False, share_delay_seconds=0) as slack:
        client = client_of(slack)
        root = await client.chat_postMessage(channel=slack.channel, text="first")
        await client.chat_update(channel=slack.channel, ts=root["ts"], text="edited")
        gone = await client.chat_postMessage(channel=slack.channel, text="gone")
        await client.chat_delete(channel=slack.channel, ts=gone["ts"])
        file = await client.files_upload_v2(
            content=b"loss=nan", filename="a.log", channel=slack.channel, thread_ts=root["ts"]
        )
        await client.views_publish(user_id="U0BOB", view={"type": "home", "blocks": [{"type": "divider"}]})
        await slack.until(lambda: slack.replies(root["ts"]))
        before = slack.all_messages()

    async with Workspace.start(data_dir=tmp_path) as slack:
        newer = await client_of(slack).chat_postMessage(channel=slack.channel, text="newer")

        assert slack.all_messages()[:-1] == before
        assert [m["text"] for m in slack.messages()] == ["edited", "newer"]
        assert slack.file_bytes(file["file"]["id"]) == b"loss=nan"
        assert slack.home("bob")["blocks"][0]["type"] == "divider"
        assert newer["ts"] > before[-1]["ts"]


async def test_a_torn_last_line_costs_only_itself(tmp_path):
    """A journal cut in the middle of a line is read up to there, and written on."""
    async with Workspace.start(data_dir=tmp_path) as slack:
        await slack.say("kept")
    with (tmp_path / "journal.jsonl").open("ab") as journal:
        journal.write(b'{"op": "message", "channel": "C0TRAI')

    async with Workspace.start(data_dir=tmp_path) as slack:
        await slack.say("after")
    async with Workspace.start(data_dir=tmp_path) as slack:
        assert [m["text"] for m in slack.messages()] == ["kept", "after"]


async def serve(tmp_path, *options):
    """The workspace as a process of its own, and what it told."""
    command = [
        sys.executable,
        "-m",
        "bot.workspace",
        "--port",
        "0",
        "--data",
        str(tmp_path),
        "--no-rate-limit",
        *options,
    ]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    told = {}
    while "page" not in told:
        line = (await process.stdout.readline()).decode().strip()
        name, _, value = re.sub(r"^page: ", "page=", line).partition("=")
        told[name] = value
    return process, told


async def test_what_was_answered_ok_is_there_after_kill_9(tmp_path):
    """Every post that was acknowledged before the kill is counted after it, once."""
    process, told = await serve(tmp_path)
    acknowledged = []

    async def post_on():
        async with aiohttp.ClientSession() as session:
            headers = {"Authorization": f"Bearer {told['SLACK_BOT_TOKEN']}"}
            while True:
                body = {"channel": "#training", "text": str(len(acknowledged))}
                answer = await session.post(told["SLACK_API_URL"] + "chat.postMessage", json=body, headers=headers)
                acknowledged.append((await answer.json())["ts"])

    posting = asyncio.create_task(post_on())
    while len(acknowledged) < 50:
        await asyncio.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    await process.wait()
    await asyncio.gather(posting, return_exceptions=True)

    async with Workspace.start(data_dir=tmp_path) as slack:
        kept = [m["ts"] for m in slack.messages()]

    assert set(acknowledged) <= set(kept)
    assert len(kept) - len(acknowledged) <= 1
    assert len(kept) == len(set(kept))


async def test_the_command_prints_what_an_app_needs_and_stops_on_sigterm(tmp_path):
    """Environment lines to copy, and a clean end."""
    manifest = tmp_path / "manifest.json"
    manifest.write_text('{"features": {"slash_commands": [{"command": "/loss"}]}}')
    process, told = await serve(tmp_path, "--manifest", str(manifest))
    async with aiohttp.ClientSession() as session:
        page = await session.get(told["page"])
        state = await (await session.get(told["page"] + "ui/state")).json()

    process.send_signal(signal.SIGTERM)

    assert await process.wait() == 0
    assert page.status == 200
    assert state["commands"] == [{"command": "/loss"}]
    assert told["SLACK_API_URL"].endswith("/api/")
    assert {"SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "SLACK_SIGNING_SECRET"} <= told.keys()


async def test_a_taken_port_is_said_in_a_sentence():
    """Exit code 3 and what is wrong, no traceback."""
    async with Workspace.start() as slack:
        port = slack.page_url.rsplit(":", 1)[1].strip("/")
        command = [sys.executable, "-m", "bot.workspace", "--port", port]
        process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
        _, said = await process.communicate()

    assert process.returncode == 3
    assert said.decode().startswith(f"The workspace cannot listen on 127.0.0.1:{port}")
    assert "Traceback" not in said.decode()
