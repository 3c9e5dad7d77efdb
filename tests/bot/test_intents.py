"""What a bot writes down before it posts, and when."""

import pytest

from tests.bot.conftest import settled


@pytest.fixture
def done(registry, slack, monkeypatch):
    """What the bot did on its way to a post, in order."""
    order = []

    def note(owner, name, what):
        real = getattr(owner, name)

        async def noting(*arguments, **more):
            answer = await real(*arguments, **more)
            if named := what(arguments):
                order.append(named)
            return answer

        monkeypatch.setattr(owner, name, noting)

    note(slack.pacing, "turn", lambda arguments: "its turn came" if arguments[0].startswith("post") else "")
    note(registry.ledger, "intent", lambda _: "intent")
    note(slack, "call", lambda arguments: "posted" if arguments[0] == "chat.postMessage" else "")
    return order


async def test_the_intent_is_as_young_as_the_post(done, registry, monitoring, publish, finding):
    """A post that waited for its turn is no older on its way than its intent: the next bot counts from there."""
    async with monitoring():
        await publish(finding())
        await settled(registry, 1)

    before = done[: done.index("posted")]
    assert before[before.index("its turn came") :] == ["its turn came", "intent"]
