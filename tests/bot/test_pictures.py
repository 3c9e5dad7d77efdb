"""The chart of a thread: one, and of what is true now."""

import asyncio
from dataclasses import replace

import pytest

from bot.pictures import Pictures, state_of
from bot.records import WANTED, Record
from diagnosis.findings import Severity
from diagnosis.incidents import State, Tracker
from handlers.messages.blocks import Message
from tests.bot.conftest import a_run

NOW = 1_780_000_000.0


@pytest.fixture
async def thread(workspace, slack, registry, finding):
    """An open incident with numbers to draw, and its root."""
    await a_run(registry)
    (opened,) = Tracker().receive("e1", finding(step=140), NOW)
    root = await slack.post(workspace.channel, Message("root", []))
    return Record(opened.incident, workspace.channel, root.data["ts"], chart=WANTED)


@pytest.fixture
async def pictures(registry, slack):
    drawn = []

    async def draw(chart, *args, **kwargs):
        drawn.append(chart)
        return b"\x89PNG" + bytes([len(drawn)])

    made = Pictures(registry, slack, draw, redraw_seconds=0.05, apart_seconds=0.0)
    made.drawn = drawn
    yield made
    await made.stop()


def files_of(workspace, record):
    return [file for one in workspace.replies(record.ts) for file in one.get("files") or ()]


def over(record):
    return replace(record, incident=replace(record.incident, state=State.RESOLVED, resolved_at=NOW + 60))


async def shown(workspace, record):
    """Wait until the one chart of the thread tells the state of this record."""
    state = state_of(record.incident)
    await workspace.until(lambda: [state in file["name"] for file in files_of(workspace, record)] == [True])


async def test_a_chart_of_what_is_over_takes_the_place_of_the_first(workspace, pictures, thread):
    """One chart in the thread, and it says that it is over."""
    pictures.want(thread)
    await shown(workspace, thread)
    (first,) = files_of(workspace, thread)

    pictures.changed(over(thread))
    await shown(workspace, over(thread))

    (second,) = files_of(workspace, thread)
    assert second["id"] != first["id"]
    assert second["title"].startswith("run42 · over: ")


async def test_many_changes_are_one_chart(workspace, pictures, thread):
    """The newest of them."""
    pictures.want(thread)
    await shown(workspace, thread)

    for attempt in range(1, 20):
        pictures.changed(replace(thread, incident=replace(thread.incident, attempt=attempt)))
    await shown(workspace, replace(thread, incident=replace(thread.incident, attempt=19)))
    await asyncio.sleep(0.3)

    assert len(pictures.drawn) == 2
    assert len(files_of(workspace, thread)) == 1


async def test_what_tells_the_same_story_is_not_drawn_again(workspace, pictures, thread):
    """More ranks, an owner, a reminder: the curve is the same."""
    pictures.want(thread)
    await shown(workspace, thread)

    pictures.changed(replace(thread, incident=replace(thread.incident, reminders=3, repeats=9)))
    await asyncio.sleep(0.3)

    assert len(pictures.drawn) == 1


async def test_a_change_while_the_first_chart_is_on_its_way_is_not_lost(workspace, pictures, thread):
    """A spike that came back within a second."""
    pictures.want(thread)
    worse = replace(thread, incident=replace(thread.incident, severity=Severity.WARNING, trouble="loss_spike"))
    pictures.changed(worse)

    await shown(workspace, worse)


async def test_a_chart_waits_for_the_line_it_is_about(workspace, pictures, registry, thread):
    """The finding is quicker than its numbers; a chart without the bad point would show nothing."""
    late = replace(thread, incident=replace(thread.incident, head=replace(thread.incident.head, step=205)))
    pictures.want(late)
    await asyncio.sleep(1.2)
    assert pictures.drawn == []

    await a_run(registry, points=210, bad_from=205)
    await shown(workspace, late)


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_the_title_speaks_the_language_of_the_channel(workspace, registry, thread, pictures, language):
    """As the thread around it does."""
    word = {"en": "over: ", "zh": "已结束："}[language]
    await registry.languages.put(workspace.channel, {"language": language, "by": "U0ALICE"})

    pictures.want(over(thread))
    (file,) = await workspace.until(lambda: files_of(workspace, thread))

    assert file["title"].startswith(f"run42 · {word}")


@pytest.mark.parametrize("is_waiting", [True, False], ids=["a chart is on its way", "nothing is on its way"])
async def test_of_what_is_over_and_shown_nothing_is_kept(workspace, pictures, thread, is_waiting):
    """Hundreds of incidents a day leave nothing behind, also where the last chart comes after the thread was left."""
    pictures.want(thread)
    await shown(workspace, thread)
    pictures.changed(over(thread))
    if not is_waiting:
        await shown(workspace, over(thread))

    pictures.forget([thread.incident.id])

    await workspace.until(lambda: not pictures._tasks)
    kept = (pictures._shown, pictures._newest, pictures._redraws, pictures._busy, pictures._leaving)
    assert not any(kept)
    await shown(workspace, over(thread))
