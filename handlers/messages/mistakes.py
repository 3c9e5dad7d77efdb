"""What is said when a question cannot be answered: what was wrong, and what is right."""

from diagnosis import wording
from diagnosis.errors import Mistake
from handlers.command import Command
from handlers.find_run import NoSuchRun, WhichRun
from handlers.messages.blocks import Message, message
from handlers.messages.phrase import NOTHING, OR, Clause, Phrase, join, listed, number_of, say, with_code
from handlers.messages.spoken import what_can_be_asked
from handlers.names import typed
from handlers.spoken import NotACommand
from registry import Run


def sentence(text: str) -> Message:
    """A plain sentence."""
    return message(with_code(text))


def explain(mistake: Mistake, asked_for: object, prefix: str) -> Message:
    """A person's mistake, and what is right."""
    if isinstance(mistake, NoSuchRun):
        return message(no_such_run(mistake, prefix))
    if isinstance(mistake, WhichRun):
        return message(which_run(mistake, asked_for, prefix))
    if isinstance(mistake, NotACommand):
        return what_can_be_asked(str(mistake), mistake.commands, prefix)
    usage = NOTHING
    if isinstance(asked_for, Command):
        words = f"{asked_for.name} {asked_for.usage}".rstrip()
        usage = say("Right is: `/{prefix}{words}`", prefix=prefix, words=words)
    return message(join([with_code(str(mistake)), usage], " "))


def no_such_run(mistake: NoSuchRun, prefix: str) -> Phrase:
    """`No run run4. Did you mean run42 (running, step 41,213)?`."""
    first = say("No run `{name}`.", name=mistake.name)
    if mistake.near:
        return join([first, say("Did you mean {runs}?", runs=listed(map(_with_state, mistake.near), OR))], " ")
    if mistake.known:
        names = listed(say("`{name}`", name=name) for name in mistake.known)
        return join([first, say("I know {names}; `/{prefix}runs` lists all.", names=names, prefix=prefix)], " ")
    return join([first, no_runs()], " ")


def which_run(mistake: WhichRun, asked_for: object, prefix: str) -> Phrase:
    """Asks for a name, with the newest runs to choose from."""
    if not mistake.known:
        return no_runs()
    name = asked_for.name if isinstance(asked_for, Command) else "loss"
    names = listed((say("`{name}`", name=run) for run in mistake.known), OR)
    example = say("`/{prefix}{name} {run}`", prefix=prefix, name=name, run=typed(mistake.known[0]))
    first = say("Which run: {names}? For example {example}.", names=names, example=example)
    if not mistake.more:
        return first
    one, many = "There is {n} more: `/{prefix}runs` lists all.", "There are {n} more: `/{prefix}runs` lists all."
    return join([first, number_of(mistake.more, one, many, prefix=prefix)], " ")


def no_runs() -> Phrase:
    """Nobody watches anything yet."""
    return say(
        "No run is registered yet. On a training node: `runwatch watch --run NAME --log 'train*.log'`, "
        "or `runwatch run --run NAME -- CMD`."
    )


def registry_away() -> Message:
    """The registry does not answer."""
    return message(
        say(
            "The registry (Redis) does not answer, so I cannot look anything up just now. Nothing is lost: the nodes "
            "keep their findings on disk and send them when it is back. Please try again in a minute."
        )
    )


def own_failure() -> Message:
    """A bug of ours."""
    return message(
        say("That failed on my side, not yours; it is in my log. `runwatch doctor` checks what may be wrong.")
    )


def _with_state(run: Run) -> Phrase:
    step = say("step {step}", step=wording.whole(run.last_step)) if run.last_step is not None else NOTHING
    return say("`{name}` ({state})", name=run.name, state=join([say("{state}", state=Clause(run.state)), step], ", "))
