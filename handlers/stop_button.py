"""The button that asks how a run is stopped: what would be done, and a second button that does it.

A watcher stops nothing that its run's owner did not allow when the run was registered; then a person gets exactly
the commands instead.
"""

from collections.abc import AsyncIterator, Sequence

from handlers.ask_nodes import ask_nodes
from handlers.command import Asked, Button, Desk, Reply, Right, Say, whisper
from handlers.find_run import named_run
from handlers.messages.snapshot import NOT_SAVED, SAVED, STOP
from handlers.messages.stop import CONFIRM_SECONDS, NodePlan, confirm, how_to_stop, nobody_answers, plan_of
from registry import Run


async def answer(desk: Desk, asked: Asked) -> AsyncIterator[Reply]:
    """What would be done; a second press by the same person does it."""
    told, _, name = asked.words.partition("/")
    # A button of an earlier version carries nothing but the name.
    run = await named_run(desk, name if told in {SAVED, NOT_SAVED} else asked.words)
    plans, silent = await plans_of(desk, run, "stop_plan", {}, desk.ask_deadline_seconds)
    if not plans:
        yield whisper(nobody_answers, run.name)
        return
    forbidden = [plan for plan in plans if not plan.is_allowed]
    if forbidden:
        why = "its owner did not allow stops when it was registered (`--allow-stop`)."
        yield Say(how_to_stop(run.name, plans, why, is_saved=told == SAVED))
        return
    until = await desk.registry.now() + CONFIRM_SECONDS
    value = f"{asked.who.user}/{until:.0f}/{run.name}"
    yield Say(confirm(run.name, asked.who.user, plans, silent, value))


async def plans_of(
    desk: Desk, run: Run, kind: str, payload: dict[str, str], seconds: float
) -> tuple[Sequence[NodePlan], Sequence[str]]:
    """What every node answers, and the nodes that do not."""
    found = await ask_nodes(desk, run.name, kind, payload, seconds)
    plans = [
        plan_of(beat.heartbeat.node, found.answers[beat.heartbeat.watcher])
        for beat in found.beats
        if beat not in found.silent
    ]
    return plans, [beat.heartbeat.node for beat in found.silent]


BUTTON = Button(STOP, answer, Right.OPERATE)
