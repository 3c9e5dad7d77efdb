"""auth.test, apps.connections.open and the other small methods about the app itself."""

from __future__ import annotations

from bot.workspace.blocks_check import problems_of_blocks, problems_of_view
from bot.workspace.call import Call, Method, invalid
from bot.workspace.people import APP_ID, BOT_ID, BOT_USER, TEAM_ID, TEAM_NAME
from bot.workspace.site import Site
from bot.workspace.values import Json, Refused


async def tell_who(site: Site, _call: Call) -> Json:
    """Who the token is."""
    return {
        "url": f"{site.base_url}/",
        "team": TEAM_NAME,
        "user": site.directory.members[BOT_USER].name,
        "team_id": TEAM_ID,
        "user_id": BOT_USER,
        "bot_id": BOT_ID,
        "is_enterprise_install": False,
    }


async def open_connection(site: Site, _call: Call) -> Json:
    """The URL of a new Socket Mode connection, good once."""
    return {"url": f"{site.base_url.replace('http', 'ws', 1)}/link/?ticket={site.sockets.ticket()}&app_id={APP_ID}"}


async def tell_team(_site: Site, _call: Call) -> Json:
    """The workspace."""
    return {"team": {"id": TEAM_ID, "name": TEAM_NAME, "domain": "runwatch-local", "email_domain": "", "icon": {}}}


async def tell_bot(_site: Site, call: Call) -> Json:
    """The app's bot."""
    if call.text("bot") not in {None, BOT_ID}:
        raise Refused("bot_not_found")
    bot = {"id": BOT_ID, "deleted": False, "name": "Runwatch", "user_id": BOT_USER, "app_id": APP_ID, "icons": {}}
    return {"bot": bot}


async def tell_alive(_site: Site, call: Call) -> Json:
    """Whether the workspace answers at all; needs no token."""
    if error := call.text("error"):
        raise Refused(error, args=call.args)
    return {"args": call.args}


async def validate_blocks(site: Site, call: Call) -> Json:
    """What is wrong with blocks or a view, without posting them."""
    blocks, view = call.structure("blocks", "invalid_blocks_format"), call.structure("view", "invalid_view_format")
    if blocks is None and view is None:
        raise invalid("missing required field: blocks or view")
    problems = (
        problems_of_blocks(blocks, site.shelf.known.get)
        if view is None
        else problems_of_view(view, site.shelf.known.get)
    )
    if problems:
        raise Refused("invalid_blocks", errors=problems, response_metadata={"messages": problems})
    return {}


METHODS = (
    Method("api.test", tell_alive, level="none"),
    Method("auth.test", tell_who, level="any"),
    Method("apps.connections.open", open_connection, "connections:write", level="app"),
    Method("team.info", tell_team, "team:read", 3),
    Method("bots.info", tell_bot, "users:read", 3),
    Method("blocks.validate", validate_blocks, level="any"),
)
