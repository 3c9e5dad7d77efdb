"""A hundred alarms at once over twenty runs: twenty roots, the criticals first, nothing twice, and no 429 ignored."""

import asyncio

import pytest

from bot.announcer import AT_ONCE
from bot.slack import Slack
from bot.slack_answers import Outcome
from bot.workspace import Workspace, faults
from diagnosis.findings import Severity
from tests.bot.conftest import settled
from tests.servers import PATIENT

RUNS, EACH = 20, 5
RETRY_AFTER = 1
GATHERING_SECONDS = 1.0
"""A fifth, too, of what a warning waits for company; a critical has so much of a lead."""


@pytest.fixture
async def workspace():
    """Slack as strict as ever, but for the rate: it says 429 when the test says so."""
    async with Workspace.start(rate_limit=False, **PATIENT) as slack:
        yield slack


@pytest.fixture
async def slack(workspace):
    """The one door, at a fifth of the time between two posts: what a busy machine holds up for less changes no order."""
    door = Slack(workspace.bot_token, workspace.url, deadline_seconds=20.0, post_interval_seconds=0.2)
    yield door
    await door.aclose()


@pytest.fixture
def alarms(finding):
    """Five ranks of each run in any order; every other run's trouble is a warning."""

    def make(number, rank):
        run, is_critical = f"run{number:02}", number % 2
        kind = "nonfinite_loss" if is_critical else "loss_spike"
        severity = Severity.CRITICAL if is_critical else Severity.WARNING
        return finding(kind, run=run, rank=rank, severity=severity)

    return [make(number % RUNS, rank) for rank in range(EACH) for number in range(RUNS)]


def told(workspace):
    """The runs in the order in which they were told."""
    return [next(name for name in _RUN_NAMES if name in root["text"]) for root in workspace.messages()]


def criticals_go_first(runs):
    is_critical = [int(run[3:]) % 2 == 1 for run in runs]
    return is_critical == sorted(is_critical, reverse=True)


async def test_a_hundred_alarms_are_twenty_messages(workspace, registry, monitoring, publish, alarms, slack):  # noqa: PLR0917
    """One root for each run, whose five ranks stand in it; criticals before warnings; not a single reply."""
    workspace.faults.next("chat.postMessage", faults.rate_limited(RETRY_AFTER))
    for alarm in alarms:
        await publish(alarm)

    async with monitoring(lease_seconds=120.0, group_wait_seconds=GATHERING_SECONDS):
        await settled(registry, len(alarms), 100)
        await workspace.until(lambda: all("5 ranks" in root["text"] for root in workspace.messages()))

    roots, runs = workspace.messages(), told(workspace)
    assert sorted(runs) == list(_RUN_NAMES)
    assert [workspace.replies(root["ts"]) for root in roots] == [[]] * RUNS
    assert criticals_go_first(runs)
    assert slack.calls["chat.postMessage", "ok"] == RUNS


async def test_criticals_go_first_however_late_their_channel_is_known(workspace, registry, monitoring, publish, alarms):
    """Who asked first waits longest for Slack's list of channels; what is less urgent does not overtake it meanwhile."""
    workspace.faults.next("conversations.list", faults.slow(4.0))
    for alarm in alarms:
        await publish(alarm)

    async with monitoring(lease_seconds=120.0, group_wait_seconds=GATHERING_SECONDS):
        await settled(registry, len(alarms), 100)

    assert criticals_go_first(told(workspace))


async def test_what_joins_is_shown_while_many_roots_wait(workspace, slack, registry, monitoring, publish, finding):  # noqa: PLR0917
    """Slack counts edits by themselves: a root that stands is kept up to date, however many others wait for their turn."""
    slack._post_interval = 600.0
    await publish(finding(run="first", rank=0))
    async with monitoring(lease_seconds=120.0, group_wait_seconds=0.0, grace=0.5):
        await settled(registry, 1)
        for number in range(2 * AT_ONCE):
            await publish(finding(run=f"run{number:02}"))
        await publish(finding(run="first", rank=1))

        await workspace.until(lambda: "2 ranks" in workspace.messages()[0]["text"])

    assert len(workspace.messages()) == 1


_RUN_NAMES = tuple(f"run{number:02}" for number in range(RUNS))


@pytest.mark.parametrize("is_heeded", [True, False], ids=["heeded", "control: not heeded"])
async def test_no_429_is_ignored(workspace, slack, registry, monitoring, publish, alarms, is_heeded):  # noqa: PLR0917
    """Three times Slack says when to come again: nothing goes to that channel before, and nothing is lost by it."""
    for alarm in alarms[:RUNS]:
        await publish(alarm)
    if not is_heeded:
        slack.pacing.close = lambda *_: None
    loop, sent, call = asyncio.get_running_loop(), [], slack.call

    async def calling(method, content, **how):
        began = loop.time()
        answer = await call(method, content, **how)
        if method == "chat.postMessage":
            sent.append((began, loop.time(), answer.outcome))
        return answer

    slack.call = calling
    for _ in range(3):
        workspace.faults.next("chat.postMessage", faults.rate_limited(RETRY_AFTER))

    async with monitoring(lease_seconds=120.0, group_wait_seconds=0.0):
        await settled(registry, RUNS, 100)

    refusals = [ended for _, ended, outcome in sent if outcome is Outcome.LIMITED]
    # What was under way when the refusal came cannot be called back; nothing begins after it before its time.
    early = [began - ended for ended in refusals for began, _, _ in sent if 0 < began - ended < RETRY_AFTER]
    assert (early == []) is is_heeded
    assert len(refusals) == 3
    assert len(workspace.messages()) == RUNS
