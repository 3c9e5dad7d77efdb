"""What each person is to us: by the settings, by user group, and by what Slack says of them.

Kept for five minutes; when Slack cannot be asked after that, nobody is anybody.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bot.settings import BotSettings
from bot.slack import Slack
from bot.slack_answers import Answer, Outcome
from handlers.command import NotKnownNow, Role, Who

logger = logging.getLogger(__name__)

KEPT_SECONDS = 300.0
ASK_SECONDS = 4.0
"""Somebody waits for the answer."""
_ORDER = tuple(Role)
_NOT_THERE = frozenset({"user_not_found", "user_not_visible", "users_not_found"})


class SlackPeople:
    """Asks Slack who somebody is; groups are asked once for all."""

    def __init__(self, slack: Slack, settings: BotSettings, now: Callable[[], float] = time.monotonic) -> None:
        self._slack = slack
        self._now = now
        self._named: Mapping[Role, tuple[str, ...]] = {
            Role.VIEWER: settings.viewers,
            Role.RESPONDER: settings.responders,
            Role.OPERATOR: settings.operators,
            Role.ADMIN: settings.admins,
        }
        self._members = Role(settings.members_role)
        self._trusts_admins = settings.workspace_admins_are_admins
        self._kept: dict[str, tuple[float, Any]] = {}
        self._turn = asyncio.Lock()

    def holders(self, role: Role) -> Sequence[str]:
        """The ids of people and groups that the settings name for it."""
        return self._named.get(role, ())

    async def role_of(self, who: Who) -> Role:
        """The highest of all the roles somebody has."""
        async with self._turn:
            facts = await self._known(f"user {who.user}", lambda: self._ask_user(who.user))
            if facts is None or facts.get("deleted") or facts.get("is_bot") or facts.get("is_stranger"):
                return Role.NOBODY
            roles = [role for role, named in self._named.items() if who.user in named]
            roles += await self._by_group(who.user)
        is_guest = facts.get("is_restricted") or facts.get("is_ultra_restricted")
        if not is_guest:
            roles.append(self._members)
            if self._trusts_admins and (facts.get("is_admin") or facts.get("is_owner")):
                roles.append(Role.ADMIN)
        return max(roles, key=_ORDER.index, default=Role.NOBODY)

    async def names_of(self, user: str) -> Sequence[str]:
        """What somebody is called in Slack, the usual name first."""
        async with self._turn:
            facts = await self._known(f"user {user}", lambda: self._ask_user(user)) or {}
        profile = facts.get("profile") or {}
        said = (profile.get("display_name"), facts.get("real_name"), facts.get("name"), user)
        return tuple(dict.fromkeys(str(name) for name in said if name))

    async def locale_of(self, user: str) -> str:
        """In which language somebody has their Slack."""
        async with self._turn:
            facts = await self._known(f"user {user}", lambda: self._ask_user(user)) or {}
        return str(facts.get("locale") or "")

    async def _by_group(self, user: str) -> list[Role]:
        roles = []
        for role, named in self._named.items():
            for group in (one for one in named if not one.startswith(("U", "W"))):
                members = await self._known(f"group {group}", lambda group=group: self._ask_group(group))  # type: ignore[misc]
                if members and user in members:
                    roles.append(role)
        return roles

    async def _known(self, name: str, ask: Callable[[], Any]) -> Any:
        known = self._kept.get(name)
        if known is not None and self._now() - known[0] < KEPT_SECONDS:
            return known[1]
        try:
            async with asyncio.timeout(ASK_SECONDS):
                found = await ask()
        except TimeoutError as silent:
            raise NotKnownNow("no answer in time") from silent
        self._kept[name] = (self._now(), found)
        return found

    async def _ask_user(self, user: str) -> Mapping[str, Any] | None:
        answer = await self._slack.read("users.info", {"user": user, "include_locale": True})
        if answer.is_ok:
            return dict(answer.data.get("user") or {})
        if answer.error in _NOT_THERE:
            return None
        raise NotKnownNow(_why(answer))

    async def _ask_group(self, group: str) -> frozenset[str]:
        """The members of a group, by id or handle. A group nobody can look into gives nobody a role."""
        if not group.startswith("S"):
            found = await self._slack.read("usergroups.list", {})
            handle = group.removeprefix("@")
            ids = [str(one.get("id")) for one in found.data.get("usergroups") or () if one.get("handle") == handle]
            if not found.is_ok or not ids:
                logger.warning("The user group %s cannot be found: %s", group, found.error or "no such handle")
                return frozenset()
            group = ids[0]
        answer = await self._slack.read("usergroups.users.list", {"usergroup": group})
        if not answer.is_ok:
            logger.warning("Nobody has a role by the user group %s: %s", group, answer.error)
        return frozenset(map(str, answer.data.get("users") or ()))


def _why(answer: Answer) -> str:
    if answer.error == "missing_scope":
        return "my Slack app lacks the scope users:read"
    return answer.error or ("Slack is busy" if answer.outcome is Outcome.LIMITED else "Slack does not answer")
