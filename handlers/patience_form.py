"""The form of a run's patience."""

from collections.abc import AsyncIterator, Mapping

from handlers.command import Asked, Desk, Modal, Reply, Right, whisper
from handlers.find_run import named_run
from handlers.messages.patience import PATIENCE_FORM, patience_answer
from handlers.patience import FACT, LIMITS, read_patience, wrong_in


async def answer(desk: Desk, asked: Asked) -> AsyncIterator[Reply]:
    """What was filled in holds; what was left empty is as for every run."""
    run = await named_run(desk, asked.words)
    wanted = read_patience(_limits(asked.values))
    await desk.registry.runs.update(run.name, **{FACT: wanted})
    yield whisper(patience_answer, run.name, wanted, is_new=True)


def check(values: Mapping[str, str]) -> Mapping[str, str]:
    """Said beside the field, while the form is still open."""
    return {name: why[:1].upper() + why[1:] for name, why in wrong_in(_limits(values)).items()}


def _limits(values: Mapping[str, str]) -> dict[str, str]:
    return {name: values.get(name, "") for name in LIMITS}


FORM = Modal(PATIENCE_FORM, answer, Right.OPERATE, check)
