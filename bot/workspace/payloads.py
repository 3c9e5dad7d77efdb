"""What Slack sends an app when somebody does something."""

from __future__ import annotations

import secrets
from typing import Any

from bot.workspace.messages import without_metadata
from bot.workspace.people import APP_ID, BOT_USER, TEAM_ID, Channel, Member
from bot.workspace.site import Site
from bot.workspace.values import Json

VERIFICATION = "local-verification-token"


def _common(member: Member) -> Json:
    return {
        "token": VERIFICATION,
        "api_app_id": APP_ID,
        "team": {"id": TEAM_ID, "domain": "runwatch-local"},
        "enterprise": None,
        "is_enterprise_install": False,
        "user": {"id": member.id, "username": member.name, "name": member.name, "team_id": member.team_id},
    }


def slash(site: Site, member: Member, channel: Channel, command: str, text: str) -> Json:
    """A slash command; every value is text, as in a form."""
    path = site.response_urls.give(channel.id, member.id)
    return {
        "token": VERIFICATION,
        "team_id": TEAM_ID,
        "team_domain": "runwatch-local",
        "channel_id": channel.id,
        "channel_name": "directmessage" if channel.is_im else channel.name,
        "user_id": member.id,
        "user_name": member.name,
        "command": command,
        "text": text,
        "api_app_id": APP_ID,
        "is_enterprise_install": "false",
        "response_url": site.base_url + path,
        "trigger_id": site.triggers.give(member.id),
    }


def message_actions(
    site: Site, member: Member, channel: Channel, message: Json, *, actions: list[Json], state: Json
) -> Json:
    """A click (or choice) in a message."""
    ts = message["ts"]
    is_ephemeral = bool(message.get("is_ephemeral"))
    container: Json = {"type": "message", "message_ts": ts, "channel_id": channel.id, "is_ephemeral": is_ephemeral}
    if message.get("thread_ts"):
        container["thread_ts"] = message["thread_ts"]
    path = site.response_urls.give(channel.id, member.id, ts, message.get("thread_ts"))
    payload: Json = {
        "type": "block_actions",
        **_common(member),
        "container": container,
        "trigger_id": site.triggers.give(member.id),
        "channel": {"id": channel.id, "name": channel.name or "directmessage"},
        "state": {"values": state},
        "response_url": site.base_url + path,
        "actions": actions,
    }
    if not is_ephemeral:
        payload["message"] = without_metadata(message)
    return payload


def view_actions(site: Site, member: Member, view: Json, actions: list[Json], state: Json) -> Json:
    """A click in a modal or in Home."""
    return {
        "type": "block_actions",
        **_common(member),
        "container": {"type": "view", "view_id": view["id"]},
        "trigger_id": site.triggers.give(member.id, view["id"]),
        "view": {**view, "state": {"values": state}},
        "actions": actions,
    }


def submission(site: Site, member: Member, view: Json, values: Json) -> Json:
    """A modal's submit button."""
    return {
        "type": "view_submission",
        **_common(member),
        "trigger_id": site.triggers.give(member.id, view["id"]),
        "view": {**view, "state": {"values": values}},
        "response_urls": [],
    }


def closed(member: Member, view: Json, *, is_cleared: bool) -> Json:
    """A modal was closed without submitting."""
    return {"type": "view_closed", **_common(member), "view": view, "is_cleared": is_cleared}


def message_shortcut(site: Site, member: Member, channel: Channel, callback_id: str, message: Json) -> Json:
    """An entry of a message's menu."""
    path = site.response_urls.give(channel.id, member.id, message["ts"], message.get("thread_ts"))
    return {
        "type": "message_action",
        **_common(member),
        "callback_id": callback_id,
        "action_ts": site.clock.next_ts(),
        "trigger_id": site.triggers.give(member.id),
        "channel": {"id": channel.id, "name": channel.name or "directmessage"},
        "message_ts": message["ts"],
        "message": without_metadata(message),
        "response_url": site.base_url + path,
    }


def global_shortcut(site: Site, member: Member, callback_id: str) -> Json:
    """An entry of the workspace-wide menu."""
    return {
        "type": "shortcut",
        **_common(member),
        "callback_id": callback_id,
        "action_ts": site.clock.next_ts(),
        "trigger_id": site.triggers.give(member.id),
    }


def suggestion(member: Member, action_id: str, block_id: str, value: str, where: Json) -> Json:
    """What somebody typed into a select whose options the app suggests."""
    return {
        "type": "block_suggestion",
        **_common(member),
        "action_id": action_id,
        "block_id": block_id,
        "value": value,
        **where,
    }


def event(site: Site, body: Json) -> Json:
    """An event in its envelope of the Events API."""
    authorization = {"enterprise_id": None, "team_id": TEAM_ID, "user_id": BOT_USER, "is_bot": True}
    return {
        "token": VERIFICATION,
        "team_id": TEAM_ID,
        "api_app_id": APP_ID,
        "event": body,
        "type": "event_callback",
        "event_id": "Ev" + secrets.token_hex(5).upper(),
        "event_time": int(site.clock.now()),
        "authorizations": [{**authorization, "is_enterprise_install": False}],
        "is_ext_shared_channel": False,
        "event_context": secrets.token_hex(8),
    }


def action(element: Json, block_id: str, chosen: Any, at: str) -> Json:
    """What was done to one interactive element."""
    done: Json = {"type": element["type"], "action_id": element["action_id"], "block_id": block_id, "action_ts": at}
    if element["type"] == "button":
        return {**done, **{key: element[key] for key in ("text", "value", "style") if key in element}}
    return {**done, **state_of(element, chosen)}


def state_of(element: Json, chosen: Any) -> Json:
    """The state of an element, given what a person chose: an option's value, a list of them, or text.

    Raises:
        ValueError: The element has no such option.
    """
    kind: str = element["type"]
    match kind:
        case "static_select" | "radio_buttons" | "overflow":
            option = None if chosen is None else _option(element, chosen)
            return {"type": kind, "selected_option": option}
        case "external_select":
            option = None if chosen is None else _typed_option(chosen)
            return {"type": kind, "selected_option": option}
        case "multi_static_select" | "checkboxes":
            return {"type": kind, "selected_options": [_option(element, value) for value in chosen or ()]}
        case "multi_external_select":
            return {"type": kind, "selected_options": [_typed_option(value) for value in chosen or ()]}
        case "users_select" | "channels_select" | "conversations_select":
            return {"type": kind, f"selected_{kind.removesuffix('s_select')}": chosen}
        case "multi_users_select" | "multi_conversations_select":
            return {"type": kind, f"selected_{kind.removeprefix('multi_').removesuffix('_select')}": list(chosen or ())}
        case "datepicker":
            return {"type": kind, "selected_date": chosen}
        case "timepicker":
            return {"type": kind, "selected_time": chosen}
        case "datetimepicker":
            return {"type": kind, "selected_date_time": chosen}
        case _:
            return {"type": kind, "value": chosen}


def options_of(element: Json) -> list[Json]:
    """Every option, grouped or not."""
    grouped = [option for group in element.get("option_groups") or () for option in group["options"]]
    return [*(element.get("options") or ()), *grouped]


def _option(element: Json, value: Any) -> Json:
    for option in options_of(element):
        if option["value"] == value:
            return option
    raise ValueError(
        f"{element['action_id']} has no option {value!r}; it has {[o['value'] for o in options_of(element)]}"
    )


def _typed_option(chosen: Any) -> Json:
    if isinstance(chosen, dict):
        return chosen
    return {"text": {"type": "plain_text", "text": str(chosen), "emoji": True}, "value": str(chosen)}
