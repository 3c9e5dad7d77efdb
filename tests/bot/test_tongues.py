"""Who hears which language: the workspace, a channel, a person alone, and whoever has their Slack in Chinese."""

from bot.app import bot_running
from tests.bot.chinese import english_in, told_in
from tests.bot.conftest import a_run, settled

CHINESE_LOSS = "看起来正常"


async def ready(workspace, running):
    await workspace.until(lambda: running.identity.team)
    await workspace.connected()


async def test_a_person_chooses_for_themselves(workspace, bot, registry):
    """Their refusals, forms and Home; what all read in the channel stays as it was."""
    await a_run(registry)
    await workspace.slash("/runwatch", "language zh")
    await workspace.until(lambda: [one for one in workspace.ephemerals() if "从现在起" in one["text"]])
    await workspace.slash("/loss", "run4")
    await workspace.until(lambda: [one for one in workspace.ephemerals() if "没有名为" in one["text"]])
    await workspace.slash("/loss", "run42")
    (public, *_) = await workspace.until(workspace.all_messages)
    await workspace.slash("/runwatch", "thresholds run42")
    form = await workspace.until(workspace.modal)
    await workspace.slash("/loss", "run4", user="bob")
    (others,) = await workspace.until(lambda: workspace.ephemerals("bob"))

    assert "looks normal" in public["text"]
    assert form["title"]["text"] == "阈值"
    assert [text for text in told_in(form) if english_in(text)] == []
    assert others["text"].startswith("No run `run4`")


async def test_an_admin_chooses_for_a_channel(workspace, bot, registry, publish, finding):
    """Answers and threads there; a member who is no admin may not."""
    await a_run(registry)
    await workspace.slash("/runwatch", "language zh here", user="bob")
    (refusal,) = await workspace.until(lambda: workspace.ephemerals("bob"))
    await workspace.slash("/runwatch", "language zh here")
    await workspace.until(lambda: [one for one in workspace.all_messages() if "该频道" in one["text"]])
    await workspace.slash("/loss", "run42", user="bob")
    await workspace.until(lambda: [one for one in workspace.all_messages() if CHINESE_LOSS in one["text"]])
    await workspace.slash("/loss", "run4", user="bob")
    await workspace.until(lambda: len(workspace.ephemerals("bob")) == 2)

    assert "needs the role admin" in refusal["text"]
    assert workspace.ephemerals("bob")[1]["text"].startswith("No run")


async def test_a_thread_speaks_its_channel_s_language(workspace, registry, settings, publish, finding):
    """Root and replies, as the channel has it; after a change the next edit follows."""
    async with bot_running(settings()) as running:
        await ready(workspace, running)
        channel = workspace.channel_id("training")
        await registry.languages.put(channel, {"language": "zh"})
        await a_run(registry)
        await publish(finding())
        await settled(registry, 1)
        (root, *_) = await workspace.until(workspace.messages)
        first = str(root["text"])
        await registry.languages.remove(channel)
        await publish(finding(rank=4))
        await settled(registry, 2)
        await workspace.until(lambda: "2 of 8 ranks" in workspace.messages()[0]["text"])

    assert "损失自第 41,200 步起为 NaN" in first


async def test_slack_in_chinese_is_heard_and_a_choice_counts_more(workspace, bot, registry):
    """Nobody has to ask for it; `en` and `auto` work as said; another word is answered with what is right."""
    workspace.site.directory.change_member("alice", locale="zh-CN")
    await workspace.slash("/loss", "run4")
    await workspace.until(lambda: [one for one in workspace.ephemerals() if "还没有登记任何任务" in one["text"]])
    await workspace.slash("/runwatch", "language en")
    await workspace.until(lambda: [one for one in workspace.ephemerals() if "From now on I speak" in one["text"]])
    await workspace.slash("/runwatch", "language fr")
    await workspace.until(lambda: [one for one in workspace.ephemerals() if "I speak `en`, `zh`" in one["text"]])
    await workspace.slash("/runwatch", "language auto")
    await workspace.until(lambda: [one for one in workspace.ephemerals() if "我不再" in one["text"]])
    await workspace.slash("/runwatch", "language")
    await workspace.until(lambda: [one for one in workspace.ephemerals() if "我对你说中文" in one["text"]])

    assert await registry.languages.all() == {}
