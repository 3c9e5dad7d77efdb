"""Modals on each person's screen, and each person's App Home."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from bot.workspace.clock import Clock
from bot.workspace.messages import name_blocks
from bot.workspace.people import APP_ID, BOT_ID, TEAM_ID
from bot.workspace.values import Json, Refused

MAX_STACK = 3
_OPTIONAL = ("submit", "close", "private_metadata", "callback_id", "external_id")


class Windows:
    """A stack of modals per person (three at most), and one Home view each."""

    def __init__(self, clock: Clock, record: Callable[[Json], None], tell: Callable[..., None]) -> None:
        self._clock = clock
        self._record = record
        self._tell = tell
        self.stacks: dict[str, list[Json]] = {}
        """Open modals by person, the topmost last."""
        self.homes: dict[str, Json] = {}

    def open(self, user: str, view: Json) -> Json:
        """A new modal; it takes the place of whatever was open."""
        self._refuse_known_external_id(view)
        made = self._made(view)
        made["root_view_id"] = made["id"]
        self.stacks[user] = [made]
        self._show(user)
        return made

    def push(self, user: str, view: Json) -> Json:
        """A modal on top of the open one."""
        stack = self.stacks.get(user)
        if not stack:
            raise Refused("not_found")
        if len(stack) >= MAX_STACK:
            raise Refused("push_limit_reached")
        self._refuse_known_external_id(view)
        made = self._made(view)
        made.update(root_view_id=stack[0]["id"], previous_view_id=stack[-1]["id"])
        stack.append(made)
        self._show(user)
        return made

    def update(self, user: str, old: Json, view: Json) -> Json:
        """Another content in the same window."""
        made = self._made(view)
        made.update(
            id=old["id"], root_view_id=old.get("root_view_id", old["id"]), previous_view_id=old.get("previous_view_id")
        )
        made["hash"] = self._hash()
        stack = self.stacks[user]
        stack[stack.index(old)] = made
        self._show(user)
        return made

    def publish(self, user: str, view: Json, expected_hash: str | None) -> Json:
        """The person's Home."""
        old = self.homes.get(user)
        if expected_hash and old and old["hash"] != expected_hash:
            raise Refused("hash_conflict")
        made = self._made(view)
        made["root_view_id"] = made["id"] = old["id"] if old else made["id"]
        self.homes[user] = made
        self._record({"op": "home", "user": user, "view": made})
        self._tell("home", user=user, view=made)
        return made

    def find(self, *, view_id: str | None = None, external_id: str | None = None) -> tuple[str, Json]:
        """The person and the open modal of this id."""
        for user, stack in self.stacks.items():
            for view in stack:
                if view["id"] == view_id or (external_id and view["external_id"] == external_id):
                    return user, view
        raise Refused("not_found")

    def close(self, user: str, *, everything: bool = False) -> None:
        """The topmost modal goes, or all."""
        stack = self.stacks.get(user, [])
        if everything:
            stack.clear()
        elif stack:
            stack.pop()
        self._show(user)

    def _made(self, view: Json) -> Json:
        made: Json = {
            "id": "V" + secrets.token_hex(5).upper(),
            "team_id": TEAM_ID,
            "app_id": APP_ID,
            "bot_id": BOT_ID,
            "app_installed_team_id": TEAM_ID,
            "hash": self._hash(),
            "state": {"values": {}},
            "previous_view_id": None,
            "clear_on_close": False,
            "notify_on_close": False,
            **{key: None if key in {"submit", "close"} else "" for key in _OPTIONAL},
            **view,
        }
        name_blocks(made["blocks"])
        return made

    def _hash(self) -> str:
        return f"{int(self._clock.now())}.{secrets.token_hex(4)}"

    def _refuse_known_external_id(self, view: Json) -> None:
        wanted = view.get("external_id")
        if wanted and any(v["external_id"] == wanted for stack in self.stacks.values() for v in stack):
            raise Refused("duplicate_external_id")

    def _show(self, user: str) -> None:
        self._tell("modals", user=user, stack=self.stacks.get(user, []))
