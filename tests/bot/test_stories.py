"""Two stories, told message by message in both languages: a first day, and a bad night.

`pytest -s tests/bot/test_stories.py` prints what each person reads, in order and in full.
"""

import re
import sys
from dataclasses import replace

import pytest

from bot.app import bot_running
from diagnosis.findings import Cleared, Severity
from diagnosis.observations import Evidence, Origin
from handlers.messages.blocks import LONGEST_BLOCKS, LONGEST_TEXT, MOST_BLOCKS, weight
from handlers.messages.languages import speak, spoken
from tests.bot.chinese import english_in
from tests.bot.conftest import a_run, settled

MARKS = re.compile(r"<!date\^\d+\^[^|]*\|([^>]*)>|<https?://[^|>]*\|([^>]*)>")
NOTE = "skipping the batch of step 41,200"
"""What a person writes stays as it is."""
MOMENT = re.compile(r"\d\d\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC|\d\d:\d\d:\d\d UTC")


@pytest.fixture(params=["en", "zh"])
def language(request):
    yield request.param
    speak("en")


@pytest.fixture
async def told(workspace, settings, language):
    """A bot that speaks the language; afterwards all that was read is looked at, and printed."""
    async with bot_running(settings(language=language)) as running:
        await workspace.until(lambda: running.identity.team)
        await workspace.connected()
        yield lambda channel=None: [head(one) for one in workspace.all_messages(channel) if is_ours(workspace, one)]
    sys.stdout.write("\n".join(read_in_order(workspace, f"\n--- {language}")) + "\n")
    for one in said_by_us(workspace):
        assert len(one["text"]) <= LONGEST_TEXT
        assert weight(one.get("blocks") or []) <= LONGEST_BLOCKS
        assert len(one.get("blocks") or []) <= MOST_BLOCKS
        if language == "zh":
            assert [line for line in lines(one) if NOTE not in line and english_in(line)] == []


def said_by_us(workspace):
    own = [one for channel in ("training", "general") for one in workspace.all_messages(channel)]
    return [
        *(one for one in own if is_ours(workspace, one)),
        *(one for person in ("alice", "bob") for one in workspace.ephemerals(person)),
    ]


def read_in_order(workspace, title):
    """What each person reads, as it came."""
    names = {member.id: member.name for member in workspace.site.directory.members.values()}
    yield title
    for channel in ("training", "general"):
        for one in workspace.all_messages(channel):
            place = "   ↳" if one.get("thread_ts") not in (None, one["ts"]) else f"#{channel}"
            yield "\n       ".join([f"{place} {names[one['user']]}: ", *lines(one)])
    for person in ("alice", "bob"):
        for one in workspace.ephemerals(person):
            yield "\n       ".join([f"(only {person} reads)", *lines(one)])


def lines(message):
    """Everything in it, from top to bottom."""
    told = [line for block in message.get("blocks") or [] for line in block_lines(block)]
    files = [f"[{file['name']}]" for file in message.get("files") or ()]
    return [readable(line) for line in told or [message.get("text") or ""]] + files


def block_lines(block):
    match block["type"]:
        case "section":
            yield from block["text"]["text"].splitlines()
        case "context":
            yield from (element["text"] for element in block["elements"])
        case "actions":
            yield " ".join(f"[{label(one)}]" for one in block["elements"])
        case "rich_text":
            yield from (f"| {line}" for line in block["elements"][0]["elements"][0]["text"].splitlines())
        case "table":
            yield from (" · ".join(cell["text"] for cell in row) for row in block["rows"])


def label(element):
    if element["type"] == "overflow":
        return " / ".join(option["text"]["text"] for option in element["options"])
    return (element.get("text") or element.get("placeholder"))["text"]


def is_ours(workspace, message):
    return message["user"] == workspace.bot_user and not message.get("files")


def readable(text):
    return MOMENT.sub("03:12:07 UTC", MARKS.sub(lambda mark: mark[1] or mark[2], text))


def head(message):
    return readable(message.get("text") or "")


async def said(workspace, find, seconds=60):
    return await workspace.until(find, seconds)


async def test_a_first_day(workspace, told, registry, language):
    """Invited, asked what there is, told how to begin; a run, questions, a typing error, a refusal; and then silence."""
    workspace.invite_bot("general")
    await said(workspace, lambda: told("general"))
    await workspace.slash("/runs")
    await said(workspace, told)
    await a_run(registry)
    await workspace.slash("/runwatch", "help")
    await said(workspace, workspace.ephemerals)
    await workspace.slash("/runs")
    await said(workspace, lambda: len(told()) == 2)
    await workspace.slash("/loss", "run42")
    await said(workspace, lambda: len(told()) == 3)
    await workspace.slash("/stall", "run42")
    await said(workspace, lambda: len(told()) == 4)
    await workspace.slash("/loss", "run4")
    await said(workspace, lambda: len(workspace.ephemerals()) == 2)
    await workspace.slash("/runwatch", "mute run42", user="bob")
    (refusal,) = await said(workspace, lambda: workspace.ephemerals("bob"))

    welcome, (nothing_yet, listed, loss, _stands) = told("general"), told()

    assert len(welcome) == 1
    assert ("*Hello.*" if language == "en" else "*你好。*") in welcome[0]
    assert "runwatch watch --run NAME" in nothing_yet
    assert ("1 run" if language == "en" else "1 个任务") in listed
    assert ("*run42* looks normal" if language == "en" else "*run42* 看起来正常") in loss
    assert "responder" in refusal["text"]


async def test_a_bad_night(workspace, told, registry, publish, finding):
    """NaN at night, eight ranks: one message that calls, an owner, a note, the end; the next night knows what helped."""
    await a_run(registry)
    changes = ("learning rate: 3.0e-4 → 3.0e-3 at step 41,198 (train.log:10)",)
    details = {"last_good_step": "41,199", "last_good_loss": "2.31", "checkpoint": "41,000"}
    for rank in range(8):
        await publish(replace(finding(rank=rank), changes=changes, details=details, rule="first non-finite train loss"))
    await settled(registry, 8)
    await said(workspace, lambda: "8" in workspace.messages()[0]["text"])
    root = workspace.messages()[0]["ts"]
    await workspace.click(root, "acknowledge", user="bob")
    taken = spoken("{who} has it since {moment}").split("{moment}")[-1] or "has it since"
    await said(workspace, lambda: taken in str(workspace.messages()[0]["blocks"]))
    await workspace.mention(f"note {NOTE}", user="bob", thread_ts=root)
    await said(workspace, lambda: "skipping" in str(workspace.messages()[0]["blocks"]))
    for rank in range(8):
        text = "loss is finite again at step 41,300 (loss 2.29); the bad steps were probably skipped"
        await publish(Cleared("nonfinite_loss", Origin("run42", "node17", rank, rank), text))
    await settled(registry, 16)
    await said(workspace, lambda: workspace.messages()[0]["text"].startswith("✅"))
    await publish(replace(finding(run="run43"), severity=Severity.CRITICAL))
    line = "[rank5]: torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 336.00 MiB."
    text = "a GPU ran out of memory on rank 5: it asked for 336.00 MiB with 141.25 MiB free"
    full = finding("cuda_oom", rank=5, step=41_310, line=line, text=text)
    await publish(
        replace(
            full, evidence=(Evidence("rank5.log", 77, line),), details={"category": "gpu_oom", "tried": "336.00 MiB"}
        )
    )
    await settled(registry, 18)

    first, over, second, third = told()
    later = str(next(one for one in workspace.messages() if "run43" in one["text"])["blocks"])

    assert first.startswith("✅ *run42 ·")
    after = spoken("Over after {took}: {text}.").split("{")[-2].split("}")[-1].strip("：: ")
    assert after in over or spoken("Over at once: {text}.").partition("{")[0].strip("：: ") in over
    assert second.startswith("🔴 *run43 · ")
    assert third.startswith("🔴 *run42 · ")
    assert spoken("Same failure before, {where}, {when}").partition("{")[0].strip("，, ") in later
    assert "skipping the batch" in later
    posts = [str(call.args.get("text")) for call in workspace.calls_of("chat.postMessage")]
    assert sum("<!here>" in one for one in posts) == 3
