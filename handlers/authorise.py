"""Who may do what, asked again at each click; whoever is not known may do nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from handlers.command import Desk, NotKnownNow, Right, Role, Who

_VIEWER = frozenset({Right.READ, Right.ACKNOWLEDGE})
MAY: Mapping[Role, frozenset[Right]] = MappingProxyType(
    {
        Role.NOBODY: frozenset(),
        Role.VIEWER: _VIEWER,
        Role.RESPONDER: _VIEWER | {Right.RESPOND},
        Role.OPERATOR: _VIEWER | {Right.RESPOND, Right.OPERATE},
        Role.ADMIN: frozenset(Right),
    }
)
"""Role → what it may do."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """Whether somebody may do something, and as what."""

    role: Role
    refusal: str | None = None
    """Why not, in words that tell nothing about any run; None: they may."""
    needs: Role | None = None
    """The least role that may."""
    holders: Sequence[str] = ()
    """Ids of people and user groups that have such a role."""


async def authorise(desk: Desk, who: Who, right: Right) -> Ruling:
    """Whether this person may do this, asked anew each time."""
    home = desk.home_team()
    if home is None:
        return _no("I do not know yet which workspace I belong to, because Slack has not told me. Please try again.")
    if not who.user or who.is_bot:
        return _no("Only people may ask me.")
    if not who.team or who.team != home:
        return _no("Only members of the workspace I belong to may ask me.")
    try:
        role = await desk.people.role_of(who)
    except NotKnownNow as away:
        return _no(f"I cannot ask Slack who you are ({away}), so I do nothing. Please try again in a minute.")
    if right in MAY[role]:
        return Ruling(role)
    if role is Role.NOBODY:
        return _no("Only full members of this workspace may ask me, and guests whom an admin named.")
    needs = least_role(right)
    return Ruling(role, f"That needs the role {needs}; yours is {role}.", needs, holders_of(desk, right))


def least_role(right: Right) -> Role:
    """The first role that may do it."""
    return next(role for role in Role if right in MAY[role])


def holders_of(desk: Desk, right: Right) -> tuple[str, ...]:
    """Everybody who was given a role that may do it."""
    found = [one for role in Role if right in MAY[role] for one in desk.people.holders(role)]
    return tuple(dict.fromkeys(found))


def _no(why: str) -> Ruling:
    return Ruling(Role.NOBODY, why)
