"""files_upload_v2 and what becomes of a file, as slack_sdk sees it."""

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 64


def image(file_id):
    """An image block that shows an uploaded file."""
    return [{"type": "image", "slack_file": {"id": file_id}, "alt_text": "loss"}]


@pytest.mark.parametrize("share_seconds", [5.0])
async def test_an_upload_appears_in_its_thread_a_moment_later(slack, client):
    """The answer comes before the share and before the mimetype; then files.info tells both."""
    root = await client.chat_postMessage(channel=slack.channel, text="incident")

    answer = await client.files_upload_v2(
        content=PNG,
        filename="loss.png",
        title="loss of run42",
        channel=slack.channel,
        thread_ts=root["ts"],
        initial_comment="chart",
    )
    at_once = await client.files_info(file=answer["file"]["id"])
    await slack.until(lambda: slack.replies(root["ts"]))
    later = await client.files_info(file=answer["file"]["id"])

    assert (at_once["file"]["mimetype"], at_once["file"]["shares"]) == ("", {})
    assert later["file"]["mimetype"] == "image/png"
    share = later["file"]["shares"]["public"][slack.channel][0]
    assert (share["ts"], share["thread_ts"]) == (slack.replies(root["ts"])[0]["ts"], root["ts"])
    assert slack.replies(root["ts"])[0]["text"] == "chart"
    assert slack.file_bytes(answer["file"]["id"]) == PNG


async def test_an_upload_with_alt_txt_is_kept_but_never_shared(slack, client):
    """Slack's own bug (python-slack-sdk #1818): we must not build on it."""
    answer = await client.files_upload_v2(content=PNG, filename="a.png", channel=slack.channel, alt_txt="loss chart")
    await slack.until(lambda: slack.file(answer["file"]["id"])["mimetype"])

    assert slack.file(answer["file"]["id"])["shares"] == {}
    assert slack.messages() == []


@pytest.mark.parametrize("share_seconds", [5.0])
async def test_an_image_block_waits_for_the_mimetype(slack, client):
    """slack_file sent too early is invalid_blocks; after the scan it is fine."""
    answer = await client.files_upload_v2(content=PNG, filename="loss.png")
    file_id = answer["file"]["id"]

    with pytest.raises(SlackApiError) as too_early:
        await client.chat_postMessage(channel=slack.channel, text="chart", blocks=image(file_id))
    await slack.until(lambda: slack.file(file_id)["mimetype"])
    said = await client.chat_postMessage(channel=slack.channel, text="chart", blocks=image(file_id))

    assert too_early.value.response["error"] == "invalid_blocks"
    assert said["ok"]


async def test_a_text_file_is_a_snippet_and_no_picture(slack, client):
    """It has a preview; an image block may not show it."""
    answer = await client.files_upload_v2(content="step=1 loss=nan\n", filename="tail.log", channel=slack.channel)
    file_id = answer["file"]["id"]
    await slack.until(lambda: slack.file(file_id)["mimetype"])

    with pytest.raises(SlackApiError) as refused:
        await client.chat_postMessage(channel=slack.channel, text="x", blocks=image(file_id))

    assert slack.file(file_id)["preview"] == "step=1 loss=nan\n"
    assert "slack file must be a png" in refused.value.response["errors"][0]


async def test_a_file_is_read_with_the_token_only(slack, client):
    """url_private gives the bytes to the app, and a page of HTML with status 200 to anybody else."""
    ts = await slack.upload("train.log", b"loss=nan", text="look")
    url = slack.message(ts)["files"][0]["url_private"]

    async with aiohttp.ClientSession() as session:
        with_token = await session.get(url, headers={"Authorization": f"Bearer {slack.bot_token}"})
        without = await session.get(url)

    assert await with_token.read() == b"loss=nan"
    assert without.content_type == "text/html"


@pytest.mark.parametrize(("channel", "error"), [("C0NOWHERE", "channel_not_found"), ("C0GENERAL", "not_in_channel")])
async def test_an_upload_into_a_wrong_channel_is_refused(slack, client, channel, error):
    """The refusal comes with completeUploadExternal; nothing is shared."""
    with pytest.raises(SlackApiError) as refused:
        await client.files_upload_v2(content=PNG, filename="a.png", channel=channel)

    assert refused.value.response["error"] == error


async def test_bytes_that_never_came_cannot_be_completed(slack, client):
    """A failed upload is not quietly an empty file."""
    place = await client.files_getUploadURLExternal(filename="a.png", length=10)

    with pytest.raises(SlackApiError) as refused:
        await client.files_completeUploadExternal(
            files=[{"id": place["file_id"], "title": "a"}], channel_id=slack.channel
        )

    assert refused.value.response["error"] == "file_not_found"
