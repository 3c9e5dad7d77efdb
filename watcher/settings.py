"""What can be set for a watcher: one frozen value for the process, one for each run it follows."""

import json
import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from diagnosis.formats.settings import ReadSettings, read_settings
from diagnosis.observations import NO_TEXT
from diagnosis.thresholds import Thresholds
from watcher.bookmarks import file_name

STARTS = ("auto", "start", "end")


def node_name() -> str:
    """This machine by the scheduler's name, which is the first part of its host name."""
    return socket.gethostname().partition(".")[0] or "node"


def default_state_dir() -> Path:
    """Where bookmarks, the spool and snapshots lie when nobody says otherwise."""
    base = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(base).expanduser() / "runwatch"


@dataclass(frozen=True, slots=True)
class WatchedRun:
    """One run as this node sees it."""

    name: str
    logs: tuple[str, ...]
    """Patterns of its log files, as a shell would read them."""
    owner: str | None = None
    """Whom to name in incidents."""
    channel: str | None = None
    """Where its incidents are told; None: the default channel."""
    labels: Mapping[str, str] = field(default_factory=lambda: NO_TEXT)
    rank: int | None = None
    """The global rank of logs that name none."""
    pids: tuple[int, ...] = ()
    """Processes of the job, where they cannot be found by their environment or open files."""
    match: str | None = None
    """Text that the command line of the job's processes holds."""
    checkpoints: tuple[str, ...] = ()
    """Folders of its checkpoints, where its command line does not name them."""
    stacks: bool = False
    """Whether py-spy may look at its processes, for a snapshot and when it stands."""
    ras: bool = False
    """Whether NCCL's RAS may be asked when it stands: in some versions of NCCL a question has ended the job."""
    allow_stop: bool = False
    """Whether people may stop it through Slack: SIGTERM to its launcher, after a snapshot."""
    keep_last: int | None = None
    """How many checkpoints the trainer keeps, so that a deadline can be told; None: as its log says."""
    pattern: str | None = None
    """A regular expression for its step lines, with groups named step, loss, lr, grad_norm, time or rank; asked before
    all that is known by itself, and refused with the reason where it could be slow."""
    logging_steps: int | None = None
    """Optimizer steps between two printed losses, where the lines tell no step; None: as the log lets tell."""

    def __post_init__(self) -> None:
        self.read_settings()

    def read_settings(self) -> ReadSettings:
        """How its logs are read. Raises `RefusedPattern`, a ValueError, with the reason."""
        return read_settings(self.pattern, self.logging_steps)


@dataclass(frozen=True, slots=True)
class WatcherSettings:
    """Everything that can be set for one watcher process."""

    runs: tuple[WatchedRun, ...] = ()
    node: str = field(default_factory=node_name)
    """This machine's name in every answer."""
    state_dir: Path = field(default_factory=default_state_dir)
    """Bookmarks, spool and snapshots; needs a disk that survives a restart."""
    redis_url: str = field(default="redis://127.0.0.1:6379/0", repr=False)
    """The job registry."""
    request_key: str = field(default="", repr=False)
    """A secret shared with the bot: this node then answers only what is signed with it; also from
    RUNWATCH_REQUEST_KEY_FILE."""
    start_from: str = "auto"
    """Where to begin with a log never seen: start, end, or auto (the start if it is small)."""
    small_log_bytes: int = 64 << 20
    """A log up to this size is read from its start."""
    warm_up_bytes: int = 256 << 10
    """So much before the start is read to know what is normal; nothing is said about it."""
    poll_seconds: float = 0.25
    """How often logs are looked at; where the kernel tells of changes, sooner."""
    wake_seconds: float = 0.4
    """How soon at the earliest a change wakes the watcher again."""
    most_cpu_share: float = 0.5
    """The most of one core that this watcher takes while any of its runs catches up with a long log, after a quick
    start; reading what is written meanwhile comes first."""
    most_open_files: int = 256
    """More log files than this are read in turn."""
    bookmark_seconds: float = 2.0
    """How often the place in each log is written down."""
    read_deadline_seconds: float = 10.0
    """A path that does not answer for this long is left out."""
    tell_seconds: float = 2.0
    """How often new numbers go to the registry, and half as often how far the ranks got."""
    heartbeat_seconds: float = 5.0
    """How often this node says what it sees."""
    gpu_seconds: float = 1.0
    """How often the GPUs are read; 0: never."""
    gpu_deadline_seconds: float = 10.0
    """A driver that does not answer for this long is reported."""
    host_seconds: float = 5.0
    """How often processes, memory and disks are looked at."""
    disk_look_seconds: float = 60.0
    """How often the room on the run's disks and its newest checkpoint are looked at."""
    snapshot_seconds: float = 60.0
    """A snapshot is finished with what it has after this."""
    snapshot_total_bytes: int = 256 << 20
    """The most a snapshot may hold."""
    snapshot_keep_bytes: int = 2 << 30
    """Older snapshots are removed beyond this."""
    snapshots_per_hour: int = 4
    """A run's snapshots on one node within an hour; more are refused (one before a stop never is)."""
    snapshot_url: str = ""
    """Where a copy of each snapshot goes: a shared folder, or a store's URL such as s3://bucket/prefix (needs the
    extra `store`); empty: each node keeps its own only."""
    watcher_host: str = "127.0.0.1"
    """Address on which this watcher answers /healthz, where it has a port."""
    watcher_port: int = 0
    """Port of that address; 0: none. Several watchers of one node need one each."""
    metrics: bool = False
    """Whether /metrics answers beside /healthz, for Prometheus; needs `pip install 'runwatch[metrics]'`."""
    watcher_dead_man_url: str = field(default="", repr=False)
    """An https address that is asked again and again while this watcher really observes; its silence calls somebody."""
    dead_man_hosts: tuple[str, ...] = ()
    """The hosts that a dead-man address may name; one that is not here is refused at the start."""
    dead_man_every_seconds: float = 60.0
    """How often the dead-man address is asked."""
    thresholds: Thresholds = field(default_factory=Thresholds)

    @property
    def home(self) -> Path:
        """This node's part of the state folder, which several nodes may share."""
        return self.state_dir / file_name(self.node)

    def __post_init__(self) -> None:
        if self.start_from not in STARTS:
            raise ValueError(f"RUNWATCH_START_FROM is one of {', '.join(STARTS)}, not {self.start_from!r}.")
        if 0 < len(self.request_key) < 16:
            raise ValueError("RUNWATCH_REQUEST_KEY has 16 characters or more.")
        if not 0 < self.most_cpu_share <= 1:
            raise ValueError("RUNWATCH_MOST_CPU_SHARE lies above 0 and is at most 1.")
        if not 0 <= self.watcher_port < 65_536:
            raise ValueError("RUNWATCH_WATCHER_PORT lies between 0 and 65535.")
        if self.watcher_dead_man_url:
            # Only where somebody pings.
            from watcher.dead_man import why_refused  # noqa: PLC0415

            refused = why_refused(self.watcher_dead_man_url, self.dead_man_hosts, "RUNWATCH_WATCHER_DEAD_MAN_URL")
            if refused:
                raise ValueError(refused)
        for name in ("poll_seconds", "read_deadline_seconds", "heartbeat_seconds", "dead_man_every_seconds"):
            if getattr(self, name) <= 0:
                raise ValueError(f"RUNWATCH_{name.removesuffix('_seconds').upper()} must be above 0.")


def settings_to_json(settings: WatcherSettings) -> str:
    """One line that `settings_from_json` reads: for a process of our own, through a pipe (it holds the address)."""
    plain = {item.name: getattr(settings, item.name) for item in fields(settings)}
    plain["runs"] = [
        {item.name: getattr(run, item.name) for item in fields(run)} | {"labels": dict(run.labels)}
        for run in settings.runs
    ]
    plain["thresholds"] = {item.name: getattr(settings.thresholds, item.name) for item in fields(settings.thresholds)}
    return json.dumps(plain, default=str)


def settings_from_json(line: str) -> WatcherSettings:
    """The settings that were written by `settings_to_json`."""
    plain = json.loads(line)
    plain["runs"] = tuple(
        WatchedRun(**run | {name: tuple(run[name]) for name in ("logs", "pids", "checkpoints")})
        for run in plain["runs"]
    )
    return WatcherSettings(
        **plain | {"state_dir": Path(plain["state_dir"]), "thresholds": Thresholds(**plain["thresholds"])}
    )
