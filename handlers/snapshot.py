"""`/snapshot RUN [note]`: every node saves its evidence now, and the answer says who did and what is missing."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from diagnosis.redaction import mask
from handlers.arguments import WrongWords, first_name
from handlers.ask_nodes import ask_nodes, beats_of
from handlers.command import Asked, Command, Desk, Reply, Right, Say, Upload, whisper
from handlers.find_run import find_run
from handlers.messages.phrase import say
from handlers.messages.snapshot import NodeSaved, asking, is_safe, no_bundle, nobody_to_ask, saved_of, snapshot_answer
from handlers.messages.snapshot_text import snapshot_text
from handlers.run_state import GONE
from handlers.shared_logs import elsewhere
from handlers.shown_runs import few_as_shown
from registry import Beat, Run

LONGEST_NOTE = 200


async def answer(desk: Desk, asked: Asked) -> AsyncIterator[Reply]:
    """First that it is being done, then what came of it."""
    name, note = _name_and_note(asked)
    run = await find_run(desk, asked, name)
    async for reply in take(desk, run, asked, note):
        yield reply


async def take(desk: Desk, run: Run, asked: Asked, note: str) -> AsyncIterator[Reply]:
    """Ask every node of a run to save its evidence."""
    beats = await beats_of(desk, run.name)
    if not any(not beat.is_silent for beat in beats):
        silent = [(beat.heartbeat.node, beat.age_seconds) for beat in beats]
        yield Say(nobody_to_ask(run.name, silent), is_trouble=True)
        return
    yield whisper(asking, run.name, len(beats), desk.snapshot_deadline_seconds)
    taken = await save(desk, run, asked.who.user, note)
    (shown,) = await few_as_shown(desk, [run])
    yield Say(
        snapshot_answer(
            run.name,
            taken.saved,
            taken.silent,
            taken.seconds,
            note,
            prefix=desk.prefix,
            may_stop=bool(run.facts.get("allow_stop")),
            is_gone=shown.state in GONE,
        ),
        is_trouble=not is_safe(taken.saved, taken.silent),
    )
    if not taken.answers:
        return
    yield Upload(
        f"snapshot-{run.name}.txt".replace("/", "_"),
        snapshot_text(run.name, taken.answers, note).encode(),
        say("Snapshot of {run}: each piece, and the lines that were found", run=run.name).plain,
    )
    data, why = await desk.bundle(asked.channel, [node.url for node in taken.saved if node.url])
    if data is not None:
        yield Upload(
            f"snapshot-{run.name}.tar.gz".replace("/", "_"),
            data,
            say("Snapshot of {run}: all files, verified", run=run.name).plain,
        )
    elif why:
        yield whisper(no_bundle, why)


@dataclass(frozen=True, slots=True)
class Taken:
    """What came of asking every node."""

    saved: Sequence[NodeSaved]
    silent: Sequence[NodeSaved]
    answers: Sequence[tuple[str, Mapping[str, Any]]]
    seconds: float


async def save(desk: Desk, run: Run, by: str, note: str, *, before_stop: bool = False) -> Taken:
    """Every node's evidence, by the deadline."""
    began = await desk.registry.now()
    payload = {"note": note[:LONGEST_NOTE], "by": by, "at": began, "before_stop": before_stop}
    found = await ask_nodes(desk, run.name, "snapshot", payload, desk.snapshot_deadline_seconds)
    heard = [(beat, found.answers[beat.heartbeat.watcher]) for beat in found.beats if beat not in found.silent]
    answers = [(beat.heartbeat.node, body) for beat, body in heard]
    return Taken(
        [saved_of(node, body) for node, body in answers],
        [_silent(beat, elsewhere(beat, run.name, heard)) for beat in found.silent],
        answers,
        await desk.registry.now() - began,
    )


def _silent(beat: Beat, logs: tuple[str, bool]) -> NodeSaved:
    other, are_saved = logs
    return NodeSaved(
        beat.heartbeat.node, silent_seconds=beat.age_seconds, logs_from=other, has_logs_elsewhere=are_saved
    )


def _name_and_note(asked: Asked) -> tuple[str | None, str]:
    """The run's name, and everything after it as the note."""
    if len(asked.words) > 500:
        raise WrongWords("That note is longer than 500 characters.")
    name, note = first_name(asked.words)
    return name or None, mask(note).text  # people paste whole command lines, and it is said to the channel


COMMAND = Command(
    name="snapshot",
    usage="RUN [note]",
    summary="Save the evidence on every node of a run, now",
    examples=("run42 before the restart",),
    answer=answer,
    right=Right.RESPOND,
)
