"""`/runwatch checklist [RUN|FRAMEWORK]`: what to look at before a restart, filled in from the log where it tells."""

import difflib
import math
import re
from collections.abc import AsyncIterator, Sequence
from itertools import pairwise
from statistics import median

from diagnosis import wording
from diagnosis.errors import Mistake
from diagnosis.incidents import Incident
from diagnosis.loss_advice import FRAMEWORKS, checklist, how_to_print_loss
from diagnosis.series import Series
from handlers.arguments import WrongWords, read_arguments
from handlers.command import Asked, Desk, Reply, Right, Say, whisper
from handlers.find_run import NoSuchRun, named_run
from handlers.kept import kept_of_run
from handlers.loss_standing import ABOUT_LOSS
from handlers.messages.checklist import checklist_in_general, checklist_of_framework, checklist_of_run
from handlers.messages.escaping import visible
from handlers.subjects.subject import Subject
from registry import Run

_ARGUMENT = re.compile(r"--?([a-z][\w-]{2,40})[ =]([\w.,:/@+-]{1,60})")
_STEPS_LOOKED_AT = 50
LEARNING_RATE = "learning rate: "
"""How a change of it begins, as an incident tells it."""


async def answer(desk: Desk, asked: Asked) -> AsyncIterator[Reply]:
    """For a run, for a framework, or in general."""
    given = read_arguments(asked.words)
    name = given.names[0] if given.names else asked.thread_run
    command = desk.command("runwatch")
    if name is None:
        yield whisper(checklist_in_general, checklist({}), command, FRAMEWORKS)
        return
    framework = _framework(name)
    if framework is not None:
        yield whisper(checklist_of_framework, name.lower(), how_to_print_loss(framework), checklist({}))
        return
    try:
        run = await named_run(desk, name)
    except NoSuchRun as unknown:
        raise _no_such(name, unknown) from unknown
    yield Say(checklist_of_run(run.name, checklist(await _read(desk, run))))


def _framework(name: str) -> str | None:
    return next((known for known in FRAMEWORKS if known == name.lower()), None)


def _no_such(name: str, unknown: NoSuchRun) -> Mistake:
    """A typing error in a framework's name, unless a run is nearer."""
    near = difflib.get_close_matches(name.lower(), FRAMEWORKS, n=1, cutoff=0.6)
    if unknown.near or not near:
        return unknown
    return WrongWords(f"No run and no framework `{visible(name)[:40]}`. Did you mean `{near[0]}`?")


async def _read(desk: Desk, run: Run) -> dict[str, str]:
    """What its log and its launch told, under the names of the checklist."""
    found: dict[str, str] = {}
    for environment in (await desk.registry.runs.environments(run.name)).values():
        found |= environment
    told = run.facts.get("environment")
    if isinstance(told, dict):
        found |= {str(name): str(value) for name, value in told.items()}
    found |= {name.replace("-", "_"): value for name, value in _ARGUMENT.findall(found.get("command", ""))}
    troubles = await _troubles(desk, run)
    if run.last_lr is not None:
        step = f" at step {wording.whole(run.last_step)}" if run.last_step is not None else ""
        found["lr"] = f"{_leap(troubles)}{wording.small(run.last_lr)}{step}"
    if run.world_size is not None:
        found["world_size"] = f"{run.world_size:,}"
    for name in ("batch_size", "loss_scale"):
        value = run.facts.get(name)
        if isinstance(value, int | float):
            found[name] = f"{value:,.0f}"
    loss = (await desk.registry.series.whole(run.name)).loss
    if len(loss):
        found.setdefault("log_level", "its loss lines are printed")
    told = {
        "checkpoint": _checkpoint(run, troubles, loss),
        "log_interval": _interval(loss.steps[-_STEPS_LOOKED_AT:]),
        "log_files": await _log_files(desk, run),
    }
    return found | {name: value for name, value in told.items() if value}


async def _troubles(desk: Desk, run: Run) -> list[Incident]:
    """The open incidents, the newest last; where none is open, the last of this attempt that a person closed."""
    every = sorted((kept.incident for kept in await kept_of_run(desk, run.name)), key=lambda one: one.opened_at)
    closed = [one for one in every if one.resolved_by and one.attempt >= run.attempt][-1:]
    return [one for one in every if one.is_open] or closed


def _leap(troubles: Sequence[Incident]) -> str:
    """`⚠ it changed around the trouble: 1.0e-3 → 1.0e18 at step 61 (train.log:62); now `; empty: it did not."""
    for incident in reversed(troubles):
        for line in (*incident.head.changes, incident.head.details.get("lr_line", "")):
            if line.startswith(LEARNING_RATE):
                return f"⚠ it changed around the trouble: {line.removeprefix(LEARNING_RATE)}; now "
    return ""


def _checkpoint(run: Run, troubles: Sequence[Incident], loss: Series) -> str:
    """The newest one, before the bad step where there is one; and the loss it was saved with."""
    saved = run.facts.get("checkpoint")
    for finding in (incident.head for incident in reversed(troubles)):
        before = finding.details.get("checkpoint", "").replace(",", "")
        if before.isdecimal():
            which = "the newest the log tells of"
            if finding.step is not None:
                which = f"the newest before the bad step {wording.whole(finding.step)}"
            return f"step {wording.whole(int(before))} is {which}{_loss_at(loss, int(before))}"
    wrong = [one.head.step for one in troubles if one.head.step is not None and one.trouble in ABOUT_LOSS]
    if wrong:
        bad = wording.whole(wrong[-1])
        if isinstance(saved, int) and saved < wrong[-1]:
            return f"step {wording.whole(saved)} is the newest before the bad step {bad}{_loss_at(loss, saved)}"
        newest = f"; step {wording.whole(saved)}, the newest, is not" if isinstance(saved, int) else ""
        return f"one from before step {bad}, and the log tells of none{newest}"
    if not isinstance(saved, int):
        return ""
    return f"step {wording.whole(saved)} is the newest the log tells of{_loss_at(loss, saved)}"


def _loss_at(loss: Series, saved: int) -> str:
    """`; its last loss was 2.31, at step 40,990`; empty: none is known from before it."""
    # From the end: a resumed run has some steps twice, and the newest attempt is the one that saved.
    last = next((at for at in range(len(loss) - 1, -1, -1) if loss.steps[at] <= saved), None)
    if last is None:
        return ""
    value, step = loss.values[last], wording.whole(loss.steps[last])
    if not math.isfinite(value):
        return f"; its loss was not finite any more at step {step}, so take an older one"
    return f"; its last loss was {wording.number(value)}, at step {step}"


async def _log_files(desk: Desk, run: Run) -> str:
    """How the ranks share their files."""
    files = {
        rank.origin.rank: (rank.origin.node, rank.evidence.file)
        for rank in await desk.registry.ranks.all(run.name)
        if rank.origin.rank is not None and rank.evidence is not None
    }
    if len(files) < 2:
        return ""
    count = len(set(files.values()))
    many = "one file" if count == 1 else f"{count:,} files"
    return f"one for each of {count:,} ranks" if count == len(files) else f"{len(files):,} ranks share {many}"


def _interval(steps: Sequence[float]) -> str:
    """How many steps apart its lines are."""
    gaps = [later - earlier for earlier, later in pairwise(steps) if later > earlier]
    if not gaps:
        return ""
    usual = median(gaps)
    return "every step" if usual == 1 else f"every {wording.whole(usual)} steps"


SUBJECTS = (
    Subject(
        "checklist", "[RUN|FRAMEWORK]", "what to look at before a restart, filled in from the log", answer, Right.READ
    ),
)
