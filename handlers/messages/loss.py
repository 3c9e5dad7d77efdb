"""The answer to /loss: one sentence first, then what it rests on."""

from collections.abc import Sequence

from diagnosis import wording
from diagnosis.loss_advice import how_to_print_loss
from handlers.around import Around
from handlers.health import Health, Look
from handlers.kept import Kept
from handlers.marked import Marked
from handlers.messages.blocks import Message, context, fence, lines, message
from handlers.messages.phrase import NOTHING, Clause, Phrase, and_more, join, number_of, say, with_code
from handlers.messages.standing_incident import pointer
from handlers.run_state import NOT_GOING_ON, UNHEARD
from registry import Run

MARKS = {Health.NORMAL: "🟢", Health.WATCH: "🟠", Health.WRONG: "🔴", Health.UNKNOWN: "⚪"}
MOST_POINTED = 3
"""Open incidents told one by one; more are counted."""
_STOPPED = {
    Health.NORMAL: "🔴 *{run}* is not going on ({state}); until step {step} its loss looked normal: {loss}{trend}.",
    Health.WATCH: "🔴 *{run}* is not going on ({state}); its loss was {loss} at step {step}, and before it: {why}.",
}
_UNHEARD = {
    Health.NORMAL: "🟠 *{run}* is not heard of now; until step {step} its loss looked normal: {loss}{trend}.",
    Health.WATCH: "🟠 *{run}* is not heard of now; its loss was {loss} at step {step}, and before it: {why}.",
}
_AGAINST = {
    Health.WATCH: "{mark} *{run}* is worth watching, its incident is open: {why}; now {loss} at step {step}.",
    Health.WRONG: "{mark} *{run}* is wrong: {why}; now {loss} at step {step}.",
}
METRIC_NAMES = {"loss": "loss", "grad_norm": "grad norm", "lr": "learning rate"}


def loss_answer(
    run: Run,
    look: Look,
    now: float,
    *,
    opened: Sequence[Kept] = (),
    vs: Phrase = NOTHING,
    around: Around | None = None,
    marked: Marked | None = None,
    workspace_url: str = "",
) -> Message:
    """The message above the chart; the run is in the state that is shown."""
    notes = [_state(run, look, now)]
    if opened:
        one, many = "{n} open incident, see its thread", "{n} open incidents, see their threads"
        notes.append(number_of(len(opened), one, many))
    small = context(join(notes, " · "))
    pointers = lines([pointer(kept, workspace_url, now) for kept in opened[:MOST_POINTED]])
    if look.health is Health.UNKNOWN:
        if run.state in NOT_GOING_ON and run.last_step is None:
            # It broke before it could print any: how to print a loss is no help now.
            return message(verdict(run, look), pointers, small)
        how = how_to_print_loss(run.dialect, run=run.name, steps_seen=run.last_step or 0)
        why = lines([say("{why}", why=with_code(how.why))])
        return message(verdict(run, look), pointers, why, fence(how.lines), small)
    return message(
        verdict(run, look), pointers, lines([details(look), _earlier(marked), vs]), lines(what_changed(around)), small
    )


def verdict(run: Run, look: Look) -> Phrase:
    """Normal, watch or wrong, and since which step; a run that does not go on is not called normal."""
    mark = MARKS[look.health]
    if look.health is Health.UNKNOWN:
        if run.state in NOT_GOING_ON:
            form = "🔴 *{run}* is not going on ({state}), and has no loss to draw."
            if run.last_step is None:
                form = "🔴 *{run}* is not going on ({state}); it printed no step and no loss before."
            return say(form, run=run.name, state=Clause(run.state))
        return say("{mark} *{run}* has no loss to draw.", mark=mark, run=run.name)
    facts = {
        "mark": mark,
        "run": run.name,
        "loss": wording.precise(look.last_loss or 0.0),
        "step": wording.whole(look.last_step),
        "since": wording.whole(look.since_step),
        "why": Clause(look.why),
        "trend": _trend(look),
        "state": Clause(run.state),
    }
    if look.health is not Health.WRONG and run.state in NOT_GOING_ON:
        return say(_STOPPED[look.health], **facts)
    if look.health is not Health.WRONG and run.state == UNHEARD:
        return say(_UNHEARD[look.health], **facts)
    if look.has_incident and look.health is Health.WRONG and run.state in NOT_GOING_ON:
        return say(
            "{mark} *{run}* is not going on ({state}), and is wrong: {why}; last {loss} at step {step}.", **facts
        )
    if look.has_incident and look.health in _AGAINST:
        return say(_AGAINST[look.health], **facts)
    if look.health is Health.NORMAL:
        return say("{mark} *{run}* looks normal: loss {loss} at step {step}{trend}.", **facts)
    if look.health is Health.WATCH:
        form = "{mark} *{run}* is worth watching since step {since}: {why}; loss now {loss} at step {step}{trend}."
        return say(form, **facts)
    good = NOTHING
    if look.last_good_step is not None:
        loss = wording.number(look.last_good_loss)
        good = say(" Last good step {step}: loss {loss}.", step=wording.whole(look.last_good_step), loss=loss)
    form = "{mark} *{run}* is wrong since step {since}: {why}.{good}"
    if run.state in NOT_GOING_ON:
        form = "{mark} *{run}* is not going on ({state}), and was wrong since step {since}: {why}.{good}"
    return say(form, good=good, **facts)


def what_changed(around: Around | None) -> list[Phrase]:
    """The changes around one step, each with its line."""
    if around is None:
        return []
    head = say("What changed around step {step}:", step=wording.whole(around.step))
    return [head, *(say("• {line}", line=Clause(line)) for line in around.lines)]


def details(look: Look) -> Phrase:
    """The other numbers of the newest step, and what was normal there."""
    facts = []
    if look.band is not None:
        low, high = look.band
        before, here = "normal range before it {low}–{high}", "normal range at this step {low}–{high}"
        form = before if look.health is Health.WRONG else here
        facts.append(say(form, low=wording.number(low), high=wording.number(high)))
    if look.grad_norm is not None:
        facts.append(say("grad norm {value}", value=wording.number(look.grad_norm)))
    if look.lr is not None:
        facts.append(say("learning rate {value}", value=wording.small(look.lr)))
    if look.health is Health.WRONG and look.last_step is not None:
        facts.append(say("newest step {step}", step=wording.whole(look.last_step)))
    return join(facts, " · ")


def _earlier(marked: Marked | None) -> Phrase:
    """What the chart marks farther back, the newest first."""
    if marked is None:
        return NOTHING
    told = join((say("{what}", what=Clause(one)) for one in marked.told), "; ")
    return say("Marked earlier: {told}{more}.", told=told, more=and_more(marked.more))


def compared(run: str, other: str, difference: float | None, step: float | None) -> Phrase:
    """How two runs stand at the newest step both have."""
    if difference is None:
        return say("*{run}* and *{other}* have no step in common.", run=run, other=other)
    size = wording.precise(abs(difference))
    if abs(difference) < 0.005:
        return say("At step {step} both runs stand alike.", step=wording.whole(step))
    above = "At step {step} *{run}* is {size} above *{other}*."
    below = "At step {step} *{run}* is {size} below *{other}*."
    return say(above if difference > 0 else below, step=wording.whole(step), run=run, other=other, size=size)


def nothing_in_part(run: str) -> Message:
    """The part asked for holds no points."""
    return message(say("*{run}* has no points in that part.", run=run))


def _trend(look: Look) -> Phrase:
    if look.earlier_loss is None or look.last_loss is None or not look.span_steps:
        return NOTHING
    difference = look.last_loss - look.earlier_loss
    steps = wording.whole(look.span_steps)
    if abs(difference) < max(0.005, 0.002 * abs(look.earlier_loss)):
        return say(", level over the last {steps} steps", steps=steps)
    down, up = ", down from {loss} over the last {steps} steps", ", up from {loss} over the last {steps} steps"
    return say(down if difference < 0 else up, loss=wording.precise(look.earlier_loss), steps=steps)


def _state(run: Run, look: Look, now: float) -> Phrase:
    newest = run.last_progress or look.last_time
    age = NOTHING
    if newest is not None:
        age = say("last progress {age} ago", age=wording.duration(max(0.0, now - newest)))
    return join([say("{state}", state=Clause(run.state)), age], ", ")
