"""The form of a run's thresholds, and how its watchers hear of it."""

from collections.abc import AsyncIterator, Mapping

from handlers.ask_nodes import ask_nodes
from handlers.command import Asked, Desk, Modal, Reply, Right, Say, whisper
from handlers.find_run import named_run
from handlers.limits import FACT, SETTABLE, read_limits, wrong_in
from handlers.messages.blocks import Message
from handlers.messages.limits import LIMITS_FORM, limits_answer
from registry import Run

WAIT_SECONDS = 2.0
"""So long the answer waits for the watchers; those that are slower take it with their next heartbeat."""


async def answer(desk: Desk, asked: Asked) -> AsyncIterator[Reply]:
    """What was filled in holds; what was left empty is as for every run."""
    run = await named_run(desk, asked.words)
    heard = await keep(desk, run, limits := read_limits(_limits(asked.values)))
    yield whisper(limits_answer, run.name, limits, desk.thresholds, heard=heard)


async def keep(desk: Desk, run: Run, limits: Mapping[str, float]) -> tuple[int, int]:
    """Write the thresholds down and tell the watchers; how many took them, of how many."""
    await desk.registry.runs.update(run.name, **{FACT: dict(limits)})
    told = await ask_nodes(desk, run.name, "limits", {"limits": dict(limits)}, WAIT_SECONDS)
    took = sum(body.get("taken") is True for body in told.answers.values())
    return took, len(told.beats)


async def said(desk: Desk, run: Run, limits: Mapping[str, float]) -> AsyncIterator[Say]:
    """Keeps them, and says to all in the channel what holds from now on."""
    heard = await keep(desk, run, limits)
    told: Message = limits_answer(run.name, limits, desk.thresholds, heard=heard)
    yield Say(told)


def check(values: Mapping[str, str]) -> Mapping[str, str]:
    """Said beside the field, while the form is still open."""
    return {word: why[:1].upper() + why[1:] for word, why in wrong_in(_limits(values)).items()}


def _limits(values: Mapping[str, str]) -> dict[str, str]:
    return {word: values.get(word, "") for word in SETTABLE}


FORM = Modal(LIMITS_FORM, answer, Right.OPERATE, check)
