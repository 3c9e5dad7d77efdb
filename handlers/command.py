"""What a command or a button is, what it gets, and what it may answer."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from diagnosis.thresholds import Thresholds
from handlers.messages.blocks import Message
from handlers.messages.languages import to_the_asker
from registry import Registry


class Right(StrEnum):
    """What a person must be allowed to do."""

    READ = "read"
    ACKNOWLEDGE = "acknowledge"
    """Take an incident, give it back, write a note."""
    RESPOND = "respond"
    """Snapshot, mute, close."""
    OPERATE = "operate"
    """Stop a run, mute a whole node."""
    ADMINISTER = "administer"
    """Routes, digests, the audit."""


class Role(StrEnum):
    """What a person is to us; each may do what the one before may, and more."""

    NOBODY = "nobody"
    VIEWER = "viewer"
    RESPONDER = "responder"
    OPERATOR = "operator"
    ADMIN = "admin"


class Draw(Protocol):
    """Draws a chart off the event loop; `Painter.draw` is one."""

    async def __call__(self, chart: Callable[..., bytes], /, *args: Any, **kwargs: Any) -> bytes:
        """What `chart(*args, **kwargs)` returns."""
        ...


@dataclass(frozen=True, slots=True)
class Who:
    """The person who asks, as Slack tells it."""

    user: str
    team: str
    is_bot: bool = False


class NotKnownNow(Exception):
    """Slack could not be asked who somebody is."""


class People(Protocol):
    """Knows what each person is to us."""

    async def role_of(self, who: Who) -> Role:
        """The role of somebody of the home workspace; raises NotKnownNow when it cannot be found out."""
        ...

    def holders(self, role: Role) -> Sequence[str]:
        """The ids of people and user groups that were given this role."""
        ...

    async def names_of(self, user: str) -> Sequence[str]:
        """What somebody is called, the usual name first; raises NotKnownNow when it cannot be found out."""
        ...

    async def locale_of(self, user: str) -> str:
        """In which language somebody has their Slack, such as `zh-CN`; empty: not told; raises NotKnownNow."""
        ...


class NobodyKnown:
    """Where nobody has a role: everybody is refused."""

    async def role_of(self, who: Who) -> Role:
        """Nobody."""
        del who
        return Role.NOBODY

    def holders(self, role: Role) -> Sequence[str]:
        """None."""
        del role
        return ()

    async def names_of(self, user: str) -> Sequence[str]:
        """The id itself."""
        return (user,)

    async def locale_of(self, user: str) -> str:
        """Not told."""
        del user
        return ""


@dataclass(frozen=True, slots=True)
class Inspected:
    """What `inspect` found in somebody's files."""

    answer: Mapping[str, Any]
    """The answer of `runwatch inspect --json`."""
    chart: bytes | None = None
    left_out: tuple[str, ...] = ()
    """Files that could not be read, with the reason."""


class Inspect(Protocol):
    """Reads log text and log files."""

    async def __call__(self, pasted: str, files: Sequence["SharedFile"]) -> Inspected:
        """What is wrong in them."""
        ...


async def _inspects_nothing(pasted: str, files: Sequence["SharedFile"]) -> Inspected:
    del pasted, files
    return Inspected({})


async def _reaches_all(_channel: str) -> str:
    return ""


async def _no_bundle(_channel: str, _places: Sequence[str]) -> tuple[bytes | None, str]:
    return None, ""


@dataclass(frozen=True, slots=True)
class Desk:
    """What a handler may use."""

    registry: Registry
    draw: Draw
    home_team: Callable[[], str | None]
    """Id of the workspace this bot belongs to; None: Slack could not be asked yet."""
    prefix: str = ""
    ask_deadline_seconds: float = 5.0
    snapshot_deadline_seconds: float = 60.0
    thresholds: Thresholds = field(default_factory=Thresholds)
    people: People = field(default_factory=NobodyKnown)
    reach: Callable[[str], Awaitable[str]] = _reaches_all
    """Why nothing can be said in a channel; empty: it can."""
    inspect: Inspect = _inspects_nothing
    workspace_url: Callable[[], str] = str
    """Where the workspace is in a browser; empty: not known."""
    bundle: Callable[[str, Sequence[str]], Awaitable[tuple[bytes | None, str]]] = _no_bundle
    """A snapshot's files from the store as one, for a channel that may have them; else why not, or nothing."""

    def command(self, name: str) -> str:
        """How this workspace types one of our commands."""
        return f"/{self.prefix}{name}"


@dataclass(frozen=True, slots=True)
class SharedFile:
    """A file in Slack."""

    name: str
    url: str
    """Where it is downloaded, with our token."""
    bytes: int


IN_TERMINAL = "terminal"
"""How something is asked where no picture can be shown."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One question: who, where, and the words after the command."""

    who: Who
    channel: str
    words: str = ""
    thread_run: str | None = None
    """The run of the incident thread it was asked in."""
    thread_incident: str | None = None
    how: str = "command"
    """command, button, modal, shortcut, mention, home, terminal: for the audit."""
    thread_ts: str | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    """What was filled into a modal: action id → text or chosen value."""
    pasted: str = ""
    """The text of the message that a shortcut was used on."""
    files: tuple[SharedFile, ...] = ()
    """The files of that message."""


@dataclass(frozen=True, slots=True)
class Say:
    """A message; private: only the asker sees it."""

    message: Message
    is_private: bool = False
    replaces: bool = False
    """Whether it takes the place of the message that was clicked in."""
    is_trouble: bool = False
    """Whether it tells of trouble, or that nobody can tell: then a question in a terminal ends with exit code 1."""


def whisper(compose: Callable[..., Message], /, *args: Any, **kwargs: Any) -> Say:
    """A message that only the asker sees, in the asker's language."""
    with to_the_asker():
        return Say(compose(*args, **kwargs), is_private=True)


@dataclass(frozen=True, slots=True)
class Upload:
    """A file for the place where it was asked: a chart, a table."""

    name: str
    data: bytes
    title: str


@dataclass(frozen=True, slots=True)
class Open:
    """A modal for the asker; only a fresh click, command or shortcut can open one."""

    view: Mapping[str, Any]


def opened(draw: Callable[..., Mapping[str, Any]], /, *args: Any, **kwargs: Any) -> Open:
    """A modal in the asker's language."""
    with to_the_asker():
        return Open(draw(*args, **kwargs))


Reply = Say | Upload | Open
Answer = Callable[[Desk, Asked], AsyncIterator[Reply]]


@dataclass(frozen=True, slots=True)
class Command:
    """Something a person can type."""

    name: str
    usage: str
    """The arguments, as the help shows them."""
    summary: str
    examples: tuple[str, ...]
    answer: Answer
    right: Right = Right.READ


@dataclass(frozen=True, slots=True)
class Button:
    """Something a person can press; its value comes as the words of the question."""

    action: str
    answer: Answer
    right: Right = Right.RESPOND


@dataclass(frozen=True, slots=True)
class Modal:
    """A form; what it was opened for comes as the words of the question, what was filled in as its values."""

    callback: str
    answer: Answer
    right: Right
    check: Callable[[Mapping[str, str]], Mapping[str, str]] = lambda _values: {}
    """Block id → what is wrong there; said in the form, which then stays."""

    @property
    def action(self) -> str:
        """Its name in the audit."""
        return self.callback


@dataclass(frozen=True, slots=True)
class Shortcut:
    """An entry of a message's menu."""

    callback: str
    title: str
    """At most 24 characters."""
    summary: str
    answer: Answer
    right: Right = Right.READ

    @property
    def action(self) -> str:
        """Its name in the audit."""
        return self.callback


@dataclass(frozen=True, slots=True)
class Select:
    """A menu that suggests while somebody types."""

    action: str
    suggest: Callable[[Desk, str], Awaitable[Sequence[tuple[str, str]]]]
    """What was typed → label and value of each entry."""
    right: Right = Right.READ
