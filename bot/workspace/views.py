"""views.*: modals and App Home."""

from __future__ import annotations

import json

from bot.workspace.blocks_check import problems_of_view
from bot.workspace.call import Call, Method, invalid
from bot.workspace.site import Site
from bot.workspace.values import Json, Refused

MOST_BYTES = 250_000


async def open_view(site: Site, call: Call) -> Json:
    """A modal for the person whose trigger this is."""
    view = checked_view(site, call, "modal")
    user, _ = site.triggers.exchange(call.need("trigger_id"))
    return {"view": site.windows.open(user, view)}


async def push_view(site: Site, call: Call) -> Json:
    """A modal on top of the one in which the trigger arose."""
    view = checked_view(site, call, "modal")
    user, _ = site.triggers.exchange(call.need("trigger_id"))
    return {"view": site.windows.push(user, view)}


async def update_view(site: Site, call: Call) -> Json:
    """Another content for an open modal or a Home."""
    view_id, external_id = call.text("view_id"), call.text("external_id")
    if view_id is None and external_id is None:
        raise invalid("missing required field: view_id or external_id")
    wanted_hash = call.text("hash")
    for user, home in site.windows.homes.items():
        if view_id == home["id"]:
            return {"view": site.windows.publish(user, checked_view(site, call, "home"), wanted_hash)}
    view = checked_view(site, call, "modal")
    user, old = site.windows.find(view_id=view_id, external_id=external_id)
    if wanted_hash is not None and wanted_hash != old["hash"]:
        raise Refused("hash_conflict")
    return {"view": site.windows.update(user, old, view)}


async def publish_view(site: Site, call: Call) -> Json:
    """A person's Home."""
    user = site.directory.members.get(call.need("user_id"))
    if user is None:
        raise invalid("user_not_found")
    return {"view": site.windows.publish(user.id, checked_view(site, call, "home"), call.text("hash"))}


def checked_view(site: Site, call: Call, surface: str) -> Json:
    """The view that was sent, checked as strictly as Slack checks it."""
    view = call.structure("view", "invalid_arguments")
    if view is None:
        raise invalid("missing required field: view")
    return refuse_bad_view(site, view, surface)


def refuse_bad_view(site: Site, view: object, surface: str) -> Json:
    """The view, or `invalid_arguments` with every problem."""
    problems = problems_of_view(view, site.shelf.known.get)
    if problems:
        raise invalid(*problems)
    assert isinstance(view, dict)
    if view["type"] != surface:
        raise invalid(f"must be a {surface} view [json-pointer:/view/type]")
    if len(json.dumps(view)) > MOST_BYTES:
        raise Refused("view_too_large")
    return view


METHODS = (
    Method("views.open", open_view, tier=4),
    Method("views.push", push_view, tier=4),
    Method("views.update", update_view, tier=4),
    Method("views.publish", publish_view, tier=4),
)
