"""Who may do what, by what Slack says of people and by the settings."""

import pytest

from bot.people import SlackPeople
from bot.settings import BotSettings
from bot.workspace import faults
from handlers.command import NotKnownNow, Role, Who
from tests.bot.conftest import a_run, settled


@pytest.fixture
def people(slack):
    def make(**settings):
        return SlackPeople(slack, BotSettings(**settings))

    return make


async def role(people, user):
    return await people.role_of(Who(user, "T0LOCAL"))


async def test_members_view_admins_administer_guests_nothing(people, workspace):
    """The first day: nobody set anything."""
    who = people()

    assert await role(who, "U0BOB") is Role.VIEWER
    assert await role(who, "U0ALICE") is Role.ADMIN
    assert await role(who, "U0GUEST") is Role.NOBODY
    assert await role(who, "U0NOBODY") is Role.NOBODY


async def test_settings_name_people_and_groups(people, workspace):
    """By id, by group, by the group's handle; the highest role counts."""
    group = workspace.add_group("oncall", ["bob"])
    by_id, by_handle = people(responders=(group,)), people(operators=("@oncall",), responders=("U0BOB",))

    assert await role(by_id, "U0BOB") is Role.RESPONDER
    assert await role(by_handle, "U0BOB") is Role.OPERATOR
    assert await role(people(viewers=("U0GUEST",)), "U0GUEST") is Role.VIEWER


async def test_admins_of_the_workspace_need_not_be_ours(people):
    """Both defaults can be turned off."""
    strict = people(members_role="nobody", workspace_admins_are_admins=False, operators=("U0BOB",))

    assert await role(strict, "U0ALICE") is Role.NOBODY
    assert await role(strict, "U0BOB") is Role.OPERATOR


@pytest.mark.parametrize("fact", ["deleted", "is_bot", "is_stranger"])
async def test_who_is_gone_or_no_person_of_ours_may_nothing(people, workspace, fact):
    """Also somebody whom the settings name."""
    workspace.change_member("bob", **{fact: True})

    assert await role(people(admins=("U0BOB",)), "U0BOB") is Role.NOBODY


async def test_what_was_asked_holds_for_five_minutes(slack, workspace):
    """A role that is taken away is gone soon; a Slack that is away then makes nobody anybody."""
    now = [0.0]
    who = SlackPeople(slack, BotSettings(), lambda: now[0])
    assert await role(who, "U0BOB") is Role.VIEWER
    workspace.faults.always("users.info", faults.http_error(503))
    now[0] = 299.0
    assert await role(who, "U0BOB") is Role.VIEWER
    now[0] = 301.0
    with pytest.raises(NotKnownNow):
        await role(who, "U0BOB")


async def test_a_viewer_is_refused_kindly_and_it_is_written_down(workspace, bot, registry, publish, finding):
    """Bob may take the incident, not mute it; only he reads why, and both stand in the audit."""
    await a_run(registry)
    await publish(finding())
    await settled(registry, 1)
    (root,) = workspace.messages()

    await workspace.click(root["ts"], "mute_1h", user="bob")
    (said,) = await workspace.until(lambda: workspace.ephemerals("bob"))
    await workspace.click(root["ts"], "acknowledge", user="bob")
    await workspace.until(lambda: "has it since" in str(workspace.messages()[0]["blocks"]))

    assert "needs the role responder; yours is viewer" in said["text"]
    took, muted = await registry.audit.newest()
    assert (took.user, took.action, took.result) == ("U0BOB", "acknowledge", "allowed")
    assert (muted.action, muted.role) == ("mute_1h", "viewer")
    assert muted.result != "allowed"
    assert await registry.mutes.active(0.0) == {}
