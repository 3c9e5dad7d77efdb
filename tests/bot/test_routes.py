"""Which channel hears of which run."""

import pytest

from handlers.arguments import WrongWords
from handlers.routes import channel_for, read_rule
from registry import Run
from tests.bot.conftest import a_run, settled

RULES = {
    "*": "#all",
    "llama-*": "#llama",
    "llama-70b-*": "#big",
    "llama-70b-final": "#final",
    "label:team=vision": "#vision",
    "owner:Bob": "#bob",
}
ROUTES = {rule: {"channel": channel} for rule, channel in RULES.items()}


@pytest.mark.parametrize(
    ("run", "channel"),
    [
        (Run("gpt"), "#all"),
        (Run("LLaMA-7b"), "#llama"),
        (Run("llama-70b-try"), "#big"),
        (Run("llama-70b-final"), "#final"),
        (Run("llama-70b-final", channel="#own"), "#final"),
        (Run("llama-7b", channel="#own"), "#own"),
        (Run("llama-7b", owner="bob"), "#bob"),
        (Run("llama-7b", owner="bob", labels={"team": "Vision"}), "#vision"),
        (Run("llama-7b", labels={"team": "audio"}), "#llama"),
    ],
)
def test_the_nearest_rule_counts(run, channel):
    """Exact name, the run's own word, label, owner, longest pattern."""
    assert channel_for(run, ROUTES, "#training") == channel


def test_a_run_nobody_routed_goes_to_the_default():
    """And a record that cannot be read is no rule."""
    assert channel_for(Run("x"), {"x": {"channel": None}, "y": {}}, "#training") == "#training"


@pytest.mark.parametrize("word", ["", "label:=x", "owner:", "x" * 151])
def test_a_rule_that_means_nothing_is_refused(word):
    """With what is right."""
    with pytest.raises(WrongWords):
        read_rule(word)


async def test_a_route_sends_the_next_incident_elsewhere(workspace, bot, registry, publish, finding):
    """Set in Slack by an admin, listed, and taken back."""
    await a_run(registry)
    await workspace.slash("/runwatch", "route run4* #gpu-ops")
    (said,) = await workspace.until(workspace.messages)
    await publish(finding())
    await settled(registry, 1)

    (root,) = workspace.messages("gpu-ops")
    assert "Today that is `run42`" in said["text"]
    assert "*run42 · loss is NaN" in root["text"]
    await workspace.slash("/runwatch", "unroute run4*")
    await workspace.until(lambda: "is gone" in workspace.messages()[-1]["text"])
    assert await registry.routes.all() == {}


async def test_a_channel_we_cannot_speak_in_is_said_at_once(workspace, bot, registry):
    """Before somebody relies on it."""
    await workspace.slash("/runwatch", "route run4* #general")

    (said,) = await workspace.until(workspace.messages)
    assert "I am no member there" in said["text"]


async def test_an_archived_channel_is_told_in_the_default_one_with_the_reason(
    workspace, bot, registry, publish, finding
):
    """Nothing is dropped."""
    await registry.routes.put("run42", {"channel": workspace.channel_id("gpu-ops")})
    workspace.archive("gpu-ops")

    await publish(finding())
    await settled(registry, 1)

    (root,) = workspace.messages()
    assert "which took nothing from us: is_archived" in str(root["blocks"])


async def test_only_admins_route(workspace, bot, registry):
    """A member is refused."""
    await workspace.slash("/runwatch", "route run4* here", user="bob")

    (said,) = await workspace.until(lambda: workspace.ephemerals("bob"))
    assert "needs the role admin" in said["text"]
    assert await registry.routes.all() == {}
