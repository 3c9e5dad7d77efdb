"""users.* and usergroups.*: who the people are."""

from __future__ import annotations

from bot.workspace.call import Call, Method
from bot.workspace.people import TEAM_ID
from bot.workspace.site import Site
from bot.workspace.values import Json, Refused


async def tell_user(site: Site, call: Call) -> Json:
    """One person, by id."""
    member = site.directory.members.get(call.need("user"))
    if member is None:
        raise Refused("user_not_found")
    locale = {"locale": member.locale} if call.flag("include_locale") else {}
    return {"user": member.as_slack() | locale}


async def list_users(site: Site, _call: Call) -> Json:
    """Everybody."""
    members = [member.as_slack() for member in site.directory.members.values()]
    return {"members": members, "cache_ts": int(site.clock.now()), "response_metadata": {"next_cursor": ""}}


async def list_groups(site: Site, _call: Call) -> Json:
    """The user groups."""
    groups = [
        {
            "id": group.id,
            "team_id": TEAM_ID,
            "handle": group.handle,
            "name": group.handle,
            "user_count": len(group.users),
        }
        for group in site.directory.groups.values()
    ]
    return {"usergroups": groups}


async def list_group_users(site: Site, call: Call) -> Json:
    """The members of a user group, by its id."""
    group = site.directory.groups.get(call.need("usergroup"))
    if group is None:
        raise Refused("no_such_subteam")
    return {"users": list(group.users)}


METHODS = (
    Method("users.info", tell_user, "users:read", 4),
    Method("users.list", list_users, "users:read", 2),
    Method("usergroups.list", list_groups, "usergroups:read", 2),
    Method("usergroups.users.list", list_group_users, "usergroups:read", 2),
)
