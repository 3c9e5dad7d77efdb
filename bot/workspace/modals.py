"""Submitting and closing modals, and what the app's answer does to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.workspace import payloads
from bot.workspace.acts import Outcome, state_values
from bot.workspace.delivery import INTERACTIVE
from bot.workspace.people import Member
from bot.workspace.site import Site
from bot.workspace.values import Json, Refused
from bot.workspace.views import refuse_bad_view


async def submit(site: Site, member: Member, view: Json, chosen: Mapping[str, Any]) -> Outcome:
    """Press the modal's submit button with these values, by action id.

    Slack itself asks for every input that is not optional, before the app hears of it.
    """
    values = state_values(view["blocks"], chosen)
    missing = _missing(view, values)
    if missing:
        return Outcome("missing_input", 0.0, {"errors": dict.fromkeys(missing, "Please complete this required field.")})
    payload = payloads.submission(site, member, view, values)
    answer = await site.delivery.once(INTERACTIVE, payload)
    if answer.acked:
        try:
            _after(site, member, view, answer.payload)
        except Refused:
            return Outcome("invalid_view", answer.seconds, answer.payload, payload)
    return Outcome(answer.error, answer.seconds, answer.payload, payload)


async def close(site: Site, member: Member, view: Json) -> None:
    """Close the modal; the app hears of it if it asked to."""
    everything = bool(view.get("clear_on_close"))
    site.windows.close(member.id, everything=everything)
    if view.get("notify_on_close"):
        await site.delivery.once(INTERACTIVE, payloads.closed(member, view, is_cleared=everything))


def _after(site: Site, member: Member, view: Json, answer: Json) -> None:
    match answer.get("response_action"):
        case None:
            site.windows.close(member.id)
        case "clear":
            site.windows.close(member.id, everything=True)
        case "update":
            site.windows.update(member.id, view, refuse_bad_view(site, answer.get("view"), "modal"))
        case "push":
            site.windows.push(member.id, refuse_bad_view(site, answer.get("view"), "modal"))
        case _:
            pass  # errors: the modal stays and shows them


def _missing(view: Json, values: Json) -> list[str]:
    missing = []
    for block in view["blocks"]:
        if block["type"] != "input" or block.get("optional"):
            continue
        state = values.get(block["block_id"], {}).get(block["element"]["action_id"], {})
        if not any(value for key, value in state.items() if key != "type"):
            missing.append(block["block_id"])
    return missing
