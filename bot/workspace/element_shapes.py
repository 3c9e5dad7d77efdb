"""The shapes of Block Kit's interactive elements and of the objects inside them."""

from __future__ import annotations

from typing import Any

from bot.workspace.shapes import Check, Rule, anything, boolean, by_type, items, number, one_of, shape, string, text

CONFIRM = shape(
    {
        "title": text(100, plain=True),
        "text": text(300),
        "confirm": text(30, plain=True),
        "deny": text(30, plain=True),
        "style": one_of("primary", "danger"),
    },
    required=("title", "text", "confirm", "deny"),
)
_OPTION = {"text": text(75), "value": string(150), "description": text(75)}
OPTION = shape({**_OPTION, "text": text(75, plain=True)}, required=("text", "value"))
_FREE_OPTION = shape(_OPTION, required=("text", "value"))
_OVERFLOW_OPTION = shape({**_OPTION, "url": string(3000)}, required=("text", "value"))
OPTION_GROUP = shape(
    {"label": text(75, plain=True), "options": items(OPTION, least=1, most=100)}, required=("label", "options")
)
SLACK_FILE = shape({"id": string(), "url": string()}, only_one_of=("id", "url"))
_PICTURES = {"image/png", "image/jpeg", "image/gif"}


def _known_picture(check: Check, value: Any, pointer: str) -> None:
    wanted = value.get("slack_file")
    if not isinstance(wanted, dict):
        return
    file = check.files(str(wanted.get("id") or wanted.get("url") or ""))
    # Slack scans an upload before it says what it is; until then the file "does not exist" here.
    if file is None or not file.get("mimetype"):
        check.complain("invalid slack file", f"{pointer}/slack_file")
    elif file["mimetype"] not in _PICTURES:
        check.complain("slack file must be a png, jpg, jpeg or gif", f"{pointer}/slack_file")


IMAGE_FIELDS: dict[str, Rule] = {
    "type": anything,
    "image_url": string(3000, 1),
    "slack_file": SLACK_FILE,
    "alt_text": string(2000),
}
IMAGE = shape(IMAGE_FIELDS, required=("alt_text",), only_one_of=("image_url", "slack_file"), also=_known_picture)
IMAGE_BLOCK = shape(
    {**IMAGE_FIELDS, "title": text(2000, plain=True), "block_id": string(255)},
    required=("alt_text",),
    only_one_of=("image_url", "slack_file"),
    also=_known_picture,
)


def _new_action_id(check: Check, value: Any, pointer: str) -> None:
    action_id = value.get("action_id")
    if not isinstance(action_id, str):
        return
    if action_id in check.action_ids:
        check.complain(f"`action_id` `{action_id}` already exists for another action", f"{pointer}/action_id")
    check.action_ids.add(action_id)
    check.focused += bool(value.get("focus_on_load"))


_ACTION: dict[str, Rule] = {"type": anything, "action_id": string(255, 1), "confirm": CONFIRM, "focus_on_load": boolean}
_PLACEHOLDER: dict[str, Rule] = {"placeholder": text(150, plain=True)}


def _element(fields: dict[str, Rule], required: tuple[str, ...] = (), one: tuple[str, ...] = ()) -> Rule:
    return shape({**_ACTION, **fields}, required=required, only_one_of=one, also=_new_action_id)


def _menu(fields: dict[str, Rule], one: tuple[str, ...] = (), *, multi: bool = False) -> Rule:
    several: dict[str, Rule] = {"max_selected_items": number} if multi else {"response_url_enabled": boolean}
    return _element({**_PLACEHOLDER, **fields, **several}, one=one)


_STATIC: dict[str, Rule] = {
    "options": items(OPTION, least=1, most=100),
    "option_groups": items(OPTION_GROUP, least=1, most=100),
}
_EITHER = ("options", "option_groups")
_BOXES: dict[str, Rule] = {
    "options": items(_FREE_OPTION, least=1, most=10),
    "initial_options": items(_FREE_OPTION, least=1, most=10),
}
_TYPED: dict[str, Rule] = {**_PLACEHOLDER, "dispatch_action_config": anything, "initial_value": string(3000)}
_FILTER: dict[str, Rule] = {"default_to_current_conversation": boolean, "filter": anything}

BUTTON = _element(
    {
        "text": text(75, plain=True),
        "value": string(2000),
        "url": string(3000),
        "style": one_of("primary", "danger"),
        "accessibility_label": string(75),
    },
    required=("text",),
)

ELEMENTS: dict[str, Rule] = {
    "button": BUTTON,
    "overflow": _element({"options": items(_OVERFLOW_OPTION, least=1, most=5)}, ("options",)),
    "static_select": _menu({**_STATIC, "initial_option": OPTION}, _EITHER),
    "multi_static_select": _menu({**_STATIC, "initial_options": items(OPTION, most=100)}, _EITHER, multi=True),
    "external_select": _menu({"min_query_length": number, "initial_option": OPTION}),
    "multi_external_select": _menu({"min_query_length": number, "initial_options": items(OPTION)}, multi=True),
    "users_select": _menu({"initial_user": string()}),
    "multi_users_select": _menu({"initial_users": items(string())}, multi=True),
    "channels_select": _menu({"initial_channel": string()}),
    "conversations_select": _menu({"initial_conversation": string(), **_FILTER}),
    "multi_conversations_select": _menu({"initial_conversations": items(string()), **_FILTER}, multi=True),
    "checkboxes": _element(_BOXES, ("options",)),
    "radio_buttons": _element({"options": _BOXES["options"], "initial_option": _FREE_OPTION}, ("options",)),
    "datepicker": _element({**_PLACEHOLDER, "initial_date": string(10)}),
    "timepicker": _element({**_PLACEHOLDER, "initial_time": string(5), "timezone": string()}),
    "datetimepicker": _element({"initial_date_time": number}),
    "plain_text_input": _element({**_TYPED, "multiline": boolean, "min_length": number, "max_length": number}),
    "email_text_input": _element(_TYPED),
    "url_text_input": _element(_TYPED),
    "number_input": _element(
        {**_TYPED, "is_decimal_allowed": boolean, "min_value": anything, "max_value": anything}, ("is_decimal_allowed",)
    ),
    "rich_text_input": _element({**_TYPED, "initial_value": anything}),
    "file_input": _element({"filetypes": items(string()), "max_files": number}),
    "workflow_button": _element({"text": text(75, plain=True), "workflow": anything}, ("text", "workflow")),
    "feedback_buttons": _element(
        {"positive_button": anything, "negative_button": anything}, ("positive_button", "negative_button")
    ),
    "icon_button": _element({"icon": string(), "text": text(75, plain=True), "value": string(2000)}, ("icon", "text")),
    "image": IMAGE,
}

_TYPE_INS = {"plain_text_input", "email_text_input", "url_text_input", "number_input", "rich_text_input", "file_input"}
IN_CONTEXT_ACTIONS = {"feedback_buttons", "icon_button"}
_PRESSED = set(ELEMENTS) - _TYPE_INS - IN_CONTEXT_ACTIONS
IN_ACTIONS = _PRESSED - {"image"} | {"rich_text_input"}
IN_SECTION = _PRESSED
IN_INPUT = set(ELEMENTS) - IN_CONTEXT_ACTIONS - {"button", "overflow", "image", "workflow_button"}

ACTION_ELEMENT = by_type(ELEMENTS, IN_ACTIONS)
ACCESSORY = by_type(ELEMENTS, IN_SECTION)
INPUT_ELEMENT = by_type(ELEMENTS, IN_INPUT)
CONTEXT_ACTION = by_type(ELEMENTS, IN_CONTEXT_ACTIONS)
