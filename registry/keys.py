"""Every key in Redis on one page: shape, type, lifetime, writer.

`{R}` is a run, `{W}` a watcher, in braces because they are the hash tag: everything one transaction touches
shares one tag, so it stays in one Cluster slot. Names are escaped first, so no name can forge another key.

    key                       type    what                                                writer  lifetime
    rw:runs                   zset    run → last activity                                 watcher as `Retention` says
    rw:watchers               zset    watcher → last heartbeat                            watcher a week after it
    rw:streams                zset    `epoch@watcher` → last registration                 watcher until settled and idle
    rw:servers                zset    run id and replication id of a Redis → first met    bot     the newest 200
    rw:run:{R}                hash    facts of a run (`registry.runs.Run`)                both    as `Retention` says
    rw:run:{R}:attempts       hash    attempt number → JSON                               watcher the run's
    rw:run:{R}:ranks          hash    rank → JSON (`RankProgress`)                        watcher 7 days after a write
    rw:run:{R}:watchers       zset    watcher → last heartbeat that named this run        watcher 7 days after a write
    rw:run:{R}:writer         string  the watcher that alone may write the series         watcher 30 s, renewed
    rw:run:{R}:series         hash    attempt → JSON of its rollup (count, width)         watcher the run's
    rw:run:{R}:tail           list    newest points, packed blobs of ten                  watcher 7 days after a write
    rw:run:{R}:roll:N         string  rollup of attempt N, ≤ 2,040 buckets                watcher the run's
    rw:run:{R}:marks          hash    what no rollup may blur, JSON                       watcher the run's
    rw:run:{R}:incidents      zset    incident → opened at                                bot     the run's
    rw:hb:{W}                 hash    heartbeat, GPU and process samples, JSON            watcher its ttl + 1 day
    rw:ev:{W}:EPOCH           stream  findings, IDs N-0 of the watcher's own count        watcher trimmed below settled
    rw:floor:{W}              hash    epoch → settled watermark the spool remembers       watcher until forgotten
    rw:led:{W}                hash    per finding: tries, intent, delivered; watermark    bot     trimmed below settled
    rw:dead                   zset    watcher → its newest dead letter                    bot     90 days
    rw:dead:{W}               hash    `epoch:number` → a finding five handlings failed    bot     90 days, newest 500
    rw:incident:{I}           hash    life cycle, thread, fields as JSON                  bot     90 days once closed
    rw:incident:{I}:timeline  hash    finding id → JSON                                   bot     as its incident
    rw:incidents              zset    incident → last change                              bot     trimmed to 90 days
    rw:incidents:open         zset    open incident → opened at                           bot     until closed and said
    rw:mutes                  hash    mute id → JSON with its end                         bot     dropped after its end
    rw:routes                 hash    rule → channel whose incidents it takes (JSON)      bot     until taken back
    rw:digests                hash    channel → how often it hears of all runs (JSON)     bot     until taken back
    rw:languages              hash    person or channel → the language chosen (JSON)      bot     until taken back
    rw:audit                  stream  every effect and refusal, each chained to the last  bot     90 days
    rw:lease:{NAME}           string  who may announce; of NAME-next, who would             bot     its ttl, renewed
    rw:seen:NAME              string  a delivery of Slack's that was taken                bot     1 day
    rw:req:{W}                stream  requests to a node with a deadline                  bot     1 hour after the last
    rw:ans:{Q}                stream  answers to one request                              watcher 1 hour after the last
    rw:wake                   pub/sub "there is something in stream S": never the truth   watcher none
"""

import string
from dataclasses import dataclass

PREFIX = "rw:"
DAY = 86_400
WEEK = 7 * DAY

RUNS = PREFIX + "runs"
WATCHERS = PREFIX + "watchers"
STREAMS = PREFIX + "streams"
SERVERS = PREFIX + "servers"
DEAD = PREFIX + "dead"
INCIDENTS = PREFIX + "incidents"
OPEN_INCIDENTS = PREFIX + "incidents:open"
MUTES = PREFIX + "mutes"
ROUTES = PREFIX + "routes"
DIGESTS = PREFIX + "digests"
LANGUAGES = PREFIX + "languages"
AUDIT = PREFIX + "audit"
WAKE = PREFIX + "wake"

RUN_PARTS = ("attempts", "ranks", "watchers", "writer", "series", "tail", "marks", "incidents")
"""What a run has beside its hash and its rollups."""

_PLAIN = frozenset(string.ascii_letters + string.digits + "-_./+= ")
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class StreamId:
    """One stream of findings: a watcher and the epoch of its spool."""

    watcher: str
    epoch: str

    def __str__(self) -> str:
        return f"{self.epoch}@{self.watcher}"

    @classmethod
    def parse(cls, text: str) -> "StreamId":
        """Read what `str` wrote. An epoch never holds an `@`."""
        epoch, _, watcher = text.partition("@")
        return cls(watcher, epoch)


def is_name(text: str) -> bool:
    """Return True for what may name a run, a node or a watcher."""
    return 0 < len(text) <= _LONGEST_NAME


def escaped(name: str) -> str:
    """Return a name that cannot break out of its place in a key.

    >>> escaped("run42"), escaped("a}:tail"), escaped("训练")
    ('run42', 'a%7D%3Atail', '训练')
    """
    if not is_name(name):
        raise ValueError(f"a name has 1 to {_LONGEST_NAME} characters, this one has {len(name)}")
    return "".join(c if c in _PLAIN or (ord(c) > 127 and c.isprintable()) else _percent(c) for c in name)


def _percent(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))


def tag_of(key: str) -> str | None:
    """Return the hash tag of a key; None: the whole key decides its slot."""
    _, brace, rest = key.partition("{")
    tag, closing, _ = rest.partition("}")
    return tag if brace and closing and tag else None


def run(name: str, part: str = "") -> str:
    """Return a key of one run: its hash, or a part such as `tail`."""
    key = f"{PREFIX}run:{{{escaped(name)}}}"
    return f"{key}:{part}" if part else key


def roll(name: str, attempt: int) -> str:
    """Return the rollup of one attempt of a run."""
    return run(name, f"roll:{attempt}")


def heartbeat(watcher: str) -> str:
    """Return the heartbeat of a watcher."""
    return f"{PREFIX}hb:{{{escaped(watcher)}}}"


def events(stream: StreamId) -> str:
    """Return the stream of findings of one watcher and epoch."""
    return f"{PREFIX}ev:{{{escaped(stream.watcher)}}}:{escaped(stream.epoch)}"


def floor(watcher: str) -> str:
    """Return the watermarks a watcher's spool remembers."""
    return f"{PREFIX}floor:{{{escaped(watcher)}}}"


def ledger(watcher: str) -> str:
    """Return the ledger of one watcher's findings."""
    return f"{PREFIX}led:{{{escaped(watcher)}}}"


def dead(watcher: str) -> str:
    """Return what could not be handled of one watcher's findings."""
    return f"{PREFIX}dead:{{{escaped(watcher)}}}"


def incident(incident_id: str, part: str = "") -> str:
    """Return a key of one incident: its hash or its timeline."""
    key = f"{PREFIX}incident:{{{escaped(incident_id)}}}"
    return f"{key}:{part}" if part else key


def lease(name: str) -> str:
    """Return a lease: only its holder acts."""
    return f"{PREFIX}lease:{{{escaped(name)}}}"


def requests(watcher: str) -> str:
    """Return the stream of requests to one watcher."""
    return f"{PREFIX}req:{{{escaped(watcher)}}}"


def answers(request_id: str) -> str:
    """Return the stream of answers to one request."""
    return f"{PREFIX}ans:{{{escaped(request_id)}}}"


def seen(name: str) -> str:
    """Return the mark that a delivery of Slack's was taken."""
    return f"{PREFIX}seen:{escaped(name)}"
