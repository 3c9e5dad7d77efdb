"""People paste whole lines of logs: a secret in what they type is told to nobody, and kept nowhere."""

import pytest
from redis import Redis

from tests.bot.conftest import a_run, settled
from tests.scenarios.test_secrets import everything

SECRET = "0123456789abcdef0123456789abcdef01234567"
TYPED = f"known hole, WANDB_API_KEY={SECRET} was in the line"


@pytest.fixture
async def incident(bot, publish, finding):
    """One that is open."""
    await a_run(bot.registry)
    await publish(finding())
    await settled(bot.registry, 1)


@pytest.mark.parametrize(
    ("act", "answer"),
    [("mute run42 2h", "is quiet for 2 h"), ("note run42", "known hole"), ("close run42", "known hole")],
)
async def test_a_secret_in_what_is_typed_is_masked(workspace, incident, redis_url, act, answer):
    """A reason, a note, what helped: the rest is said as it was typed."""
    await workspace.slash("/runwatch", f"{act} {TYPED}")
    await workspace.until(lambda: answer in said(workspace))

    assert SECRET not in said(workspace)
    assert SECRET not in everything(Redis.from_url(redis_url))


def said(workspace):
    """Everything that stands in the channel, in its threads, and before single people."""
    threads = [one for root in workspace.messages() for one in (root, *workspace.replies(root["ts"]))]
    return str(threads + workspace.ephemerals())
