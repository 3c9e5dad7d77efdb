"""Slack's answer is lost and its channel cannot be read: everything is told, at most once more, and says so (A5)."""

from collections import defaultdict

import pytest

from bot.looking import Looking
from bot.slack_answers import Answer, Outcome
from bot.workspace import Workspace, faults
from tests.bot.conftest import settled
from tests.counts import count, say
from tests.servers import PATIENT

pytestmark = pytest.mark.figure

INCIDENTS = count(6, 500)
MARK = "may be a repeat"


@pytest.fixture
def lost_answers(slack, monkeypatch):
    """Slack takes the first post of each finding, and nobody hears so."""
    real, heard = slack.call, set()

    async def call(method, content, **more):
        answer = await real(method, content, **more)
        name = (content.get("metadata") or {}).get("event_payload", {}).get("event")
        if method != "chat.postMessage" or name in heard or not answer.is_ok:
            return answer
        heard.add(name)
        return Answer(Outcome.UNCLEAR, error="lost on its way")

    monkeypatch.setattr(slack, "call", call)


@pytest.fixture
async def workspace():
    """Slack without its limits: what is counted here is messages."""
    async with Workspace.start(rate_limit=False, **PATIENT) as slack:
        yield slack


@pytest.fixture
def tell(lost_answers, registry, monitoring, publish, finding):
    """`await tell(INCIDENTS)`: so many, each in a run of its own."""

    async def told(incidents):
        async with monitoring():
            for number in range(incidents):
                await publish(finding(run=f"run{number}"))
            # A lost answer and a look that fails take two seconds each time.
            await settled(registry, incidents, seconds=60 + count(1, 3) * incidents)

    return told


def by_run(workspace):
    """Run → whether each message about it says that it may be a repeat."""
    found = defaultdict(list)
    for message in workspace.messages():
        found[message["text"].split("·")[0]].append(MARK in str(message["blocks"]))
    return found


@pytest.mark.timeout(120 + count(2, 4) * INCIDENTS)
async def test_a_repeat_nobody_could_rule_out_is_marked(workspace, tell):
    """Never silent, never more than once again, never without a word."""
    workspace.faults.always("conversations.history", faults.http_error(503))

    await tell(INCIDENTS)

    told = by_run(workspace)
    say("A5", f"{INCIDENTS} lost answers: {len(told)} incidents told, {sum(map(len, told.values()))} messages")
    assert len(told) == INCIDENTS
    assert all(marks == [False, True] for marks in told.values())


@pytest.mark.timeout(120)
async def test_without_looking_the_repeat_bears_no_mark(workspace, tell, monkeypatch):
    """Negative control: who believes that a channel it could not read holds nothing repeats without a word."""
    real = Looking.look

    async def trusting(self, channel, thread_ts, since):
        sight = await real(self, channel, thread_ts, since)
        return type(sight)(Answer(Outcome.OK), {}, sight.at + 60.0, sight.since)

    monkeypatch.setattr(Looking, "look", trusting)

    await tell(3)

    assert any(marks == [False, False] for marks in by_run(workspace).values())
