"""Who is here: members, channels and user groups."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from bot.workspace.values import Json, Refused

TEAM_ID = "T0RUNWATCH"
TEAM_NAME = "Runwatch Local"
APP_ID = "A0RUNWATCH"
BOT_ID = "B0RUNWATCH"
BOT_USER = "U0RUNWATCH"
SLACKBOT = "USLACKBOT"


@dataclass(frozen=True, slots=True)
class Member:
    """One person (or bot) as users.info tells of them."""

    id: str
    name: str
    real_name: str
    is_admin: bool = False
    is_owner: bool = False
    is_restricted: bool = False
    """A guest of several channels."""
    is_ultra_restricted: bool = False
    """A guest of one channel."""
    is_stranger: bool = False
    """From another organisation, through a shared channel."""
    deleted: bool = False
    is_bot: bool = False
    tz: str = "UTC"
    team_id: str = TEAM_ID
    locale: str = "en-US"
    """In which language they have their Slack; told only where it is asked for."""

    def as_slack(self) -> Json:
        """The user object."""
        return {
            "id": self.id,
            "team_id": self.team_id,
            "name": self.name,
            "real_name": self.real_name,
            "deleted": self.deleted,
            "tz": self.tz,
            "tz_label": self.tz,
            "tz_offset": 0,
            "profile": {"real_name": self.real_name, "display_name": self.name, "team": self.team_id},
            "is_admin": self.is_admin,
            "is_owner": self.is_owner,
            "is_primary_owner": False,
            "is_restricted": self.is_restricted,
            "is_ultra_restricted": self.is_ultra_restricted,
            "is_stranger": self.is_stranger,
            "is_bot": self.is_bot,
            "is_app_user": False,
            "updated": 0,
        }


@dataclass(slots=True)
class Channel:
    """One conversation: a public channel, a private one, or a direct message with the app."""

    id: str
    name: str
    members: set[str] = field(default_factory=set)
    is_private: bool = False
    is_archived: bool = False
    is_im: bool = False
    user: str | None = None
    """The person of a direct message."""
    topic: str = ""

    @property
    def kind(self) -> str:
        """`channels`, `groups` or `im`: the first half of the scopes that concern it."""
        return "im" if self.is_im else "groups" if self.is_private else "channels"

    def as_slack(self, viewer: str = BOT_USER) -> Json:
        """The conversation object."""
        shared: Json = {
            "id": self.id,
            "created": 1_700_000_000,
            "is_archived": self.is_archived,
            "is_im": self.is_im,
            "is_mpim": False,
            "is_org_shared": False,
            "is_ext_shared": False,
            "context_team_id": TEAM_ID,
        }
        if self.is_im:
            return {**shared, "user": self.user, "is_open": True}
        return {
            **shared,
            "name": self.name,
            "name_normalized": self.name,
            "is_channel": not self.is_private,
            "is_group": self.is_private,
            "is_private": self.is_private,
            "is_general": self.name == "general",
            "is_member": viewer in self.members,
            "is_shared": False,
            "creator": "U0ALICE",
            "num_members": len(self.members),
            "topic": {"value": self.topic, "creator": "", "last_set": 0},
            "purpose": {"value": self.topic, "creator": "", "last_set": 0},
        }


@dataclass(frozen=True, slots=True)
class Group:
    """A user group: `@oncall`."""

    id: str
    handle: str
    users: tuple[str, ...]


class Directory:
    """Members, channels and groups by id, with the look-ups that Slack's methods need."""

    def __init__(self) -> None:
        self.members: dict[str, Member] = {}
        self.channels: dict[str, Channel] = {}
        self.groups: dict[str, Group] = {}

    def member(self, key: str) -> Member:
        """The member with this id or name."""
        found = self.members.get(key) or next((m for m in self.members.values() if m.name == key), None)
        if found is None:
            raise Refused("user_not_found")
        return found

    def channel(self, key: str) -> Channel:
        """The channel with this id or `#name`."""
        name = key.removeprefix("#")
        found = self.channels.get(key) or next((c for c in self.channels.values() if c.name == name), None)
        if found is None:
            raise Refused("channel_not_found")
        return found

    def channel_by_id(self, key: str) -> Channel:
        """The channel with this id; most of Slack's methods know no names."""
        if key not in self.channels:
            raise Refused("channel_not_found")
        return self.channels[key]

    def direct(self, user: str) -> Channel:
        """The direct message between the app and this person, opened when it is not."""
        member = self.member(user)
        channel_id = "D0" + member.id.removeprefix("U0")
        if channel_id not in self.channels:
            people = {member.id, BOT_USER}
            self.channels[channel_id] = Channel(channel_id, "", people, is_im=True, user=member.id)
        return self.channels[channel_id]

    def add_member(self, name: str, **facts: object) -> Member:
        """A new member, in every public channel unless a guest; `facts` as in `Member`."""
        member = Member(id=f"U0{_identifier(name)}", name=name, real_name=name.title())
        member = replace(member, **facts)  # type: ignore[arg-type]
        self.members[member.id] = member
        if not member.is_ultra_restricted:
            for channel in self.channels.values():
                if not channel.is_private and not channel.is_im:
                    channel.members.add(member.id)
        return member

    def change_member(self, key: str, **facts: object) -> Member:
        """The member with other facts: `change_member("bob", is_restricted=True)`."""
        member = replace(self.member(key), **facts)  # type: ignore[arg-type]
        self.members[member.id] = member
        return member

    def add_channel(self, name: str, *, private: bool = False, members: Iterable[str] = (), topic: str = "") -> Channel:
        """A new channel with these members (ids)."""
        channel = Channel(f"C0{_identifier(name)}", name, set(members), is_private=private, topic=topic)
        self.channels[channel.id] = channel
        return channel

    def add_group(self, handle: str, users: Iterable[str]) -> Group:
        """A user group of these members (names or ids)."""
        group = Group(f"S0{_identifier(handle)}", handle, tuple(self.member(user).id for user in users))
        self.groups[group.id] = group
        return group


def first_day() -> Directory:
    """The people and channels a new workspace starts with."""
    directory = Directory()
    directory.members = {
        BOT_USER: Member(BOT_USER, "runwatch", "Runwatch", is_bot=True),
        SLACKBOT: Member(SLACKBOT, "slackbot", "Slackbot", is_bot=True),
    }
    everyone = {"U0ALICE", "U0BOB"}
    directory.add_channel(
        "training", members={*everyone, "U0GUEST", BOT_USER}, topic="LLM training runs and their incidents"
    )
    directory.add_channel("general", members=everyone, topic="Everything else. Runwatch is not a member here")
    directory.add_channel("gpu-ops", private=True, members={*everyone, BOT_USER}, topic="Hardware, drivers, fabric")
    directory.add_member("alice", real_name="Alice Moreau", is_admin=True)
    directory.add_member("bob", real_name="Bob Tanaka")
    directory.add_member("guest", real_name="Gwen Guest", is_restricted=True, is_ultra_restricted=True)
    for name in ("alice", "bob", "guest"):
        directory.direct(name)
    return directory


def _identifier(name: str) -> str:
    return "".join(letter for letter in name.upper() if letter.isalnum())
