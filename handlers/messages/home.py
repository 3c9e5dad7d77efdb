"""The Home of one person: their runs, what is open, what is quiet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from diagnosis import wording
from diagnosis.incidents import Incident, Mute, State
from handlers.command import Role
from handlers.kept import Kept
from handlers.messages.blocks import Block, actions, button, context, section
from handlers.messages.care import ACKNOWLEDGE
from handlers.messages.earlier import thread_link
from handlers.messages.incident import headline
from handlers.messages.modals import plain
from handlers.messages.mutes import about
from handlers.messages.phrase import NOTHING, Clause, Moment, Person, Phrase, join, number_of, say
from handlers.names import typed
from handlers.run_list import eta_seconds
from registry import Run

CHOOSE, UNMUTE = "choose_run", "unmute"
QUESTIONS = (("Loss", "loss"), ("Stall?", "stall"))
MOST_MINE, MOST_OTHERS, MOST_INCIDENTS, MOST_MUTES = 8, 8, 12, 8


@dataclass(frozen=True, slots=True)
class Overview:
    """What a Home shows."""

    role: Role
    now: float
    mine: Sequence[Run] = ()
    others: Sequence[Run] = ()
    known: int = 0
    """How many runs there are."""
    incidents: Sequence[Kept] = ()
    """Open ones, the loudest first."""
    mutes: Mapping[str, Mute] = field(default_factory=dict)
    open_of: Mapping[str, int] = field(default_factory=dict)
    workspace_url: str = ""
    prefix: str = ""


def home_view(seen: Overview) -> dict[str, Any]:
    """The whole view; only its last line changes when nothing happens."""
    parts: list[Block | None] = [
        _head(seen),
        _chooser(),
        *_incidents(seen),
        *_runs("Your runs", seen.mine, seen, MOST_MINE),
        *_runs("Other runs" if seen.mine else "Runs", seen.others, seen, MOST_OTHERS),
        *_mutes(seen),
        {"type": "divider"},
        context(say("You are *{role}* here · `/{p}runwatch help` says the rest", role=seen.role, p=seen.prefix)),
        context(say("As of {now}", now=Moment(seen.now))),
    ]
    return {"type": "home", "blocks": [part for part in parts if part is not None]}


def refused_view(why: Phrase) -> dict[str, Any]:
    """For whoever may read nothing."""
    return {"type": "home", "blocks": [section(why)]}


def _head(seen: Overview) -> Block:
    if not seen.known:
        return section(
            say(
                "*Nothing is watched yet.* On a training node: `runwatch watch --run NAME --log 'train*.log'`. "
                "When something goes wrong, its thread opens by itself."
            )
        )
    runs = number_of(seen.known, "{n} run", "{n} runs")
    if not seen.incidents:
        return section(say("🟢 *All quiet.* {runs}, nothing open.", runs=runs))
    free = sum(not kept.incident.acknowledged_by for kept in seen.incidents)
    count = number_of(len(seen.incidents), "{n} incident open", "{n} incidents open")
    nobody = say(", all taken")
    if free:
        nobody = say(", {n} without an owner", n=free) if len(seen.incidents) > 1 else say(", without an owner")
    return section(say("🔴 *{count}*{nobody} · {runs}", count=count, nobody=nobody, runs=runs))


def _chooser() -> Block:
    return {
        "type": "actions",
        "block_id": "choose",
        "elements": [
            {
                "type": "external_select",
                "action_id": CHOOSE,
                "placeholder": plain("Look at a run: type its name"),
                "min_query_length": 0,
            }
        ],
    }


def _incidents(seen: Overview) -> list[Block]:
    if not seen.incidents:
        return []
    blocks: list[Block] = [_title("Open incidents")]
    for kept in seen.incidents[:MOST_INCIDENTS]:
        incident, link = kept.incident, thread_link(kept, seen.workspace_url)
        small = join([_care(incident, seen.now), say("{link}", link=link) if link else NOTHING], " · ")
        block = section(join([headline(incident), small], "\n"))
        if incident.state is State.OPEN:
            block["accessory"] = button("I have it", f"{ACKNOWLEDGE}:{incident.id}", incident.id)
        blocks.append(block)
    more = len(seen.incidents) - MOST_INCIDENTS
    small_print = context(say("and {n} more", n=more)) if more > 0 else None
    return [*blocks, *([small_print] if small_print else [])]


def _care(incident: Incident, now: float) -> Phrase:
    span = wording.duration(max(0.0, now - incident.opened_at))
    owner = incident.acknowledged_by
    who = say("{who} has it", who=Person(owner)) if owner else say("nobody has it")
    quiet = say("quiet until {until}", until=Moment(incident.muted_until)) if incident.muted_until else NOTHING
    return join([say("open for {span}", span=span), who, quiet], " · ")


def _runs(title: str, runs: Sequence[Run], seen: Overview, most: int) -> list[Block]:
    if not runs:
        return []
    rows = [run_line(run, seen.open_of.get(run.name, 0), seen.now) for run in runs[:most]]
    blocks = [_title(title), section(join(rows, "\n"))]
    more = len(runs) - most
    small = context(say("and {n} more: `/{p}runs`", n=more, p=seen.prefix)) if more > 0 else None
    return [*blocks, *([small] if small else [])]


def run_line(run: Run, incidents: int, now: float) -> Phrase:
    """One run in one line."""
    step = NOTHING
    if run.last_step is not None:
        of = say(" of {n}", n=wording.whole(run.total_steps)) if run.total_steps else NOTHING
        step = say("step {step}{of}", step=wording.whole(run.last_step), of=of)
    left = eta_seconds(run, now)
    age = None if run.last_progress is None else wording.duration(max(0.0, now - run.last_progress))
    facts = [
        say("{state}", state=Clause(run.state)),
        step,
        say("loss {loss}", loss=wording.precise(run.last_loss)) if run.last_loss is not None else NOTHING,
        say("ends in {left}", left=wording.duration(left)) if left is not None else NOTHING,
        say("last progress {age} ago", age=age) if age is not None else NOTHING,
        say("*{n} open*", n=incidents) if incidents else NOTHING,
    ]
    mark = "🔴" if incidents else "🟢" if run.state == "running" else "⚪"
    return say("{mark} *{run}* · {facts}", mark=mark, run=run.name, facts=join(facts, " · "))


def _mutes(seen: Overview) -> list[Block]:
    if not seen.mutes:
        return []
    blocks: list[Block] = [_title("Quiet now")]
    for key, mute in list(seen.mutes.items())[:MOST_MUTES]:
        span = wording.duration(max(0.0, mute.until - seen.now))
        why = say(": {reason}", reason=mute.reason) if mute.reason else NOTHING
        form = "🔕 {what}, {span} more, asked by {who}{why}"
        said = say(form, what=about(mute), span=span, who=Person(mute.by), why=why)
        blocks.append({**section(said), "accessory": button("End it", f"{UNMUTE}:{key[:200]}", key)})
    return blocks


def _title(text: str) -> Block:
    return {"type": "header", "text": plain(text, 150)}


def run_card(run: Run, incidents: Sequence[Kept], now: float, workspace_url: str) -> dict[str, Any]:
    """One run in a window: how it stands, and its newest incidents."""
    blocks: list[Block | None] = [section(run_line(run, sum(kept.incident.is_open for kept in incidents), now))]
    facts = [
        say("owner {owner}", owner=run.owner) if run.owner else NOTHING,
        say("{n} ranks", n=f"{run.world_size:,}") if run.world_size else NOTHING,
        say("attempt {n}", n=run.attempt + 1) if run.attempt else NOTHING,
        say("log `{log}`", log=run.log) if run.log else NOTHING,
        *(say("{name}={value}", name=name, value=value) for name, value in list(run.labels.items())[:8]),
    ]
    blocks.append(context(join(facts, " · ")))
    for kept in incidents[:5]:
        link = thread_link(kept, workspace_url)
        blocks.append(section(join([headline(kept.incident), say("{link}", link=link) if link else NOTHING], " · ")))
    ask = [button(label, f"ask:{word}", f"{word} {typed(run.name)}") for label, word in QUESTIONS]
    blocks += [actions("ask", ask), context(say("The answer comes into our direct messages."))]
    return {
        "type": "modal",
        "title": plain(say("{run}", run=run.name), 24),
        "close": plain("Close", 24),
        "blocks": [block for block in blocks if block is not None],
    }
