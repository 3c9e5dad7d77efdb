"""What can be set for the Slack process; `configuration.py` reads it."""

import re
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

from diagnosis.errors import Mistake

if TYPE_CHECKING:
    from diagnosis.incidents.habits import Habits

_PREFIX = re.compile(r"([a-z0-9][a-z0-9_-]{0,11})?", re.ASCII)
"""What Slack takes at the head of a command."""
_LANGUAGES = ("en", "zh")
_MENTIONS = {"": "", "nobody": "", "@here": "<!here>", "@channel": "<!channel>"}
_ROLES = ("nobody", "viewer", "responder", "operator", "admin")


@dataclass(frozen=True, slots=True)
class BotSettings:
    """Settings of `runwatch bot`, each with its unit in its name."""

    slack_bot_token: str = field(default="", repr=False)
    """Bot token (`xoxb-…`); also from the file named by SLACK_BOT_TOKEN_FILE."""
    slack_app_token: str = field(default="", repr=False)
    """App-level token (`xapp-…`, scope connections:write) for Socket Mode; set: Socket Mode is used."""
    slack_signing_secret: str = field(default="", repr=False)
    """Signing secret, for HTTP instead of Socket Mode."""
    slack_api_url: str = "https://slack.com/api/"
    """Where the Slack API is; another Slack-shaped server or a proxy may stand here."""
    redis_url: str = field(default="redis://127.0.0.1:6379/0", repr=False)
    """The registry: redis://, rediss://, unix://."""
    request_key: str = field(default="", repr=False)
    """A secret shared with the watchers, of 16 characters or more: what nodes are asked is signed with it, so that who
    may only write to Redis orders nothing of them; also from RUNWATCH_REQUEST_KEY_FILE."""
    audit_key: str = field(default="", repr=False)
    """A secret of the bots alone, of 16 characters or more: the audit is chained under it, so that who may only write
    to Redis cannot write it anew; also from RUNWATCH_AUDIT_KEY_FILE."""
    channel: str = ""
    """Channel for runs without their own: an id (C0123ABCD) or a #name."""
    language: str = "en"
    """What the bot speaks in Slack: en, or zh (中文; what a log says and why stays as it is)."""
    mention: str = "@here"
    """Who is called by a critical incident, once: @here, @channel, a user group (S0123ABCD), a person, or nobody."""
    fallback_channel: str = ""
    """Where a message goes when its channel refuses it (archived, not a member); empty: the default channel."""
    fallback_webhook: str = field(default="", repr=False)
    """A URL that takes {"text": …} when Slack has taken nothing for long; also from RUNWATCH_FALLBACK_WEBHOOK_FILE."""
    fallback_after_seconds: float = 600.0
    """How long Slack must have taken nothing before the incidents that wait go to the webhook, once each."""
    keep_runs_seconds: float = 180 * 86_400.0
    """A run nobody heard of for so long is forgotten, with its numbers and incidents; 0: never."""
    most_runs: int = 10_000
    """Beyond so many, the runs that were idle longest are forgotten, none of the last day; 0: no limit."""
    command_prefix: str = ""
    """Put before every slash command, for workspaces where /loss is taken: `rw-` gives /rw-loss."""
    members_role: str = "viewer"
    """What every full member of the workspace may: nobody, viewer (read, acknowledge), responder, operator, admin."""
    workspace_admins_are_admins: bool = True
    """Whether owners and admins of the workspace are admins here too."""
    viewers: tuple[str, ...] = ()
    """People (U0123ABCD) and user groups (S0123ABCD or @handle) that may read and acknowledge, guests too."""
    responders: tuple[str, ...] = ()
    """Those who may also mute, close and take snapshots."""
    operators: tuple[str, ...] = ()
    """Those who may also stop a run and mute a node."""
    admins: tuple[str, ...] = ()
    """Those who may do everything: routes, digests, the audit."""
    http_host: str = "127.0.0.1"
    """Address to listen on for signed HTTP requests (without Socket Mode)."""
    http_port: int = 3000
    """Port of that address; 0: any free one."""
    health_port: int = 0
    """Port on `http_host` that answers /healthz; 0: none in Socket Mode, the same port over HTTP."""
    metrics: bool = False
    """Whether /metrics answers beside /healthz, for Prometheus; needs `pip install 'runwatch[metrics]'`."""
    dead_man_url: str = field(default="", repr=False)
    """An https address that is asked again and again while this bot is well; its silence calls somebody."""
    dead_man_hosts: tuple[str, ...] = ()
    """The hosts that a dead-man address may name; one that is not here is refused at the start."""
    dead_man_every_seconds: float = 60.0
    """How often the dead-man address is asked."""
    self_test_after_seconds: float = 0.0
    """After so long without a word in the default channel it is said there that all are watched; 0: never."""
    stop_grace_seconds: float = 10.0
    """How long a stopping bot may take to finish the post in hand."""
    socket_silence_seconds: float = 60.0
    """A Socket Mode connection without any frame for so long is replaced."""
    ask_deadline_seconds: float = 5.0
    """How long /stall waits for the nodes."""
    snapshot_deadline_seconds: float = 60.0
    """How long /snapshot waits for the nodes."""
    snapshot_url: str = ""
    """The store that watchers copy snapshots to, as the bot reads it; needed for bundles in Slack."""
    bundle_channels: tuple[str, ...] = ()
    """Channels (ids) that may have a snapshot's bundle as a file; everywhere else only the summary is shown."""
    judge_every_seconds: float = 2.0
    """How often the monitor judges what only the whole run can know."""
    judge_idle_after_seconds: float = 3 * 86_400.0
    """A run nobody heard of for so long is no longer judged."""
    lease_seconds: float = 45.0
    """How long a bot that fell silent keeps the right to announce; longer than one Slack call may take."""
    slack_deadline_seconds: float = 20.0
    """Total time for one Slack call, answer included."""
    channel_interval_seconds: float = 1.0
    """Least time between two posts in one channel (Slack allows about one a second)."""
    home_refresh_seconds: float = 30.0
    """How often the App Home of somebody who looks at it is shown anew, when something changed."""
    edit_interval_seconds: float = 3.0
    """Least time between two edits of one root message; what comes in between is shown together."""
    repeat_after_seconds: float = 600.0
    """A channel that could not be read for so long after an unclear answer gets the message again, marked."""
    chart_tries: int = 4
    """How often a chart is tried before the thread is told in words."""
    chart_redraw_seconds: float = 5.0
    """How long after an incident changed its chart is drawn anew; what changes meanwhile is in the same one."""
    chart_apart_seconds: float = 60.0
    """The shortest time between two charts of one thread."""
    group_wait_seconds: float = 5.0
    """How long a new incident that is not critical gathers ranks before it is announced."""
    cause_wait_seconds: float = 6.0
    """How long the news of a crash or a broken collective waits for the search for its cause; 0: not at all."""
    settle_seconds: float = 30.0
    """What else breaks within this time of the opening is told in the same thread; a further kind without a reply."""
    reopen_within_seconds: float = 600.0
    """A trouble that comes back this soon after it was resolved reopens its thread."""
    inhibit_for_seconds: float = 3600.0
    """How long after its last finding a cause keeps its consequences unsaid, and in its thread what comes of it."""
    claim_for_seconds: float = 14_400.0
    """How long an acknowledged incident stays its owner's without a word of theirs; 0: for ever."""
    close_after_end_seconds: float = 86_400.0
    """How long after its run ended, and was not started again, an incident is closed."""
    reminders_seconds: tuple[float, ...] = (1800.0, 7200.0, 21_600.0, 86_400.0)
    """When an incident nobody acknowledged is said again in its thread, after opening; the last repeats."""

    def __post_init__(self) -> None:
        """Refuse what cannot work, with what is right."""
        if not _PREFIX.fullmatch(self.command_prefix):
            message = (
                f"RUNWATCH_COMMAND_PREFIX={self.command_prefix!r} cannot stand in a command: use up to 12 lower-case "
                "letters, digits, hyphens and underscores, such as rw-."
            )
            raise ValueError(message)
        if self.language not in _LANGUAGES:
            message = f"RUNWATCH_LANGUAGE={self.language!r} is no language of mine; there are {', '.join(_LANGUAGES)}."
            raise ValueError(message)
        if self.mention not in _MENTIONS and not re.fullmatch(r"[SUW][A-Z0-9]{2,30}", self.mention):
            message = f"RUNWATCH_MENTION={self.mention!r} calls nobody: @here, @channel, S0123ABCD or U0123ABCD do."
            raise ValueError(message)
        if self.members_role not in _ROLES:
            message = f"RUNWATCH_MEMBERS_ROLE={self.members_role!r} is no role; there are {', '.join(_ROLES)}."
            raise ValueError(message)
        if 0 < len(self.request_key) < 16:
            raise ValueError("RUNWATCH_REQUEST_KEY has 16 characters or more.")
        if 0 < len(self.audit_key) < 16:
            raise ValueError("RUNWATCH_AUDIT_KEY has 16 characters or more.")
        if not self.slack_api_url.startswith(("http://", "https://")):
            message = f"SLACK_API_URL={self.slack_api_url!r} is no URL: it starts with https://."
            raise ValueError(message)
        if self.dead_man_url:
            # A watcher reads these settings only for their names, and stays small.
            from watcher.dead_man import why_refused  # noqa: PLC0415

            refused = why_refused(self.dead_man_url, self.dead_man_hosts, "RUNWATCH_DEAD_MAN_URL")
            if refused:
                raise ValueError(refused)
        if self.dead_man_every_seconds <= 0:
            raise ValueError("RUNWATCH_DEAD_MAN_EVERY must be above 0.")
        if not 0 <= self.http_port < 65_536 or not 0 <= self.health_port < 65_536:
            message = "RUNWATCH_HTTP_PORT and RUNWATCH_HEALTH_PORT lie between 0 and 65535."
            raise ValueError(message)

    @property
    def mention_sign(self) -> str:
        """Slack's own sign for whom a critical incident calls; empty: nobody."""
        if self.mention in _MENTIONS:
            return _MENTIONS[self.mention]
        return f"<!subteam^{self.mention}>" if self.mention.startswith("S") else f"<@{self.mention}>"

    @property
    def uses_sockets(self) -> bool:
        """Whether Slack is reached by Socket Mode."""
        return bool(self.slack_app_token)

    @property
    def habits(self) -> "Habits":
        """What the tracker of incidents needs of these."""
        # A watcher reads these settings only for their names, and stays small.
        from diagnosis.incidents.habits import Habits  # noqa: PLC0415

        return Habits(**{named.name: getattr(self, named.name) for named in fields(Habits)})

    def check_tokens(self) -> None:
        """Say what is missing for a start, as a person would.

        Raises:
            Mistake: A token is missing or is plainly of another kind.
        """
        if not self.slack_bot_token:
            raise Mistake(
                "Set SLACK_BOT_TOKEN (or SLACK_BOT_TOKEN_FILE) to the bot token of your Slack app; "
                "`runwatch manifest` prints the app to create, `runwatch demo` needs no Slack at all."
            )
        if not self.slack_bot_token.startswith(("xoxb-", "xoxe.xoxb-")):
            raise Mistake("SLACK_BOT_TOKEN is not a bot token: those start with xoxb-. Did you paste another one?")
        if self.slack_app_token and not self.slack_app_token.startswith("xapp-"):
            raise Mistake("SLACK_APP_TOKEN is not an app-level token: those start with xapp-.")
        if not self.slack_app_token and not self.slack_signing_secret:
            raise Mistake(
                "Set SLACK_APP_TOKEN for Socket Mode (no public address needed), or SLACK_SIGNING_SECRET for HTTP."
            )
