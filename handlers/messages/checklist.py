"""What to look at before a restart: what the log told, and what nobody could read from it."""

from collections.abc import Sequence

from diagnosis.loss_advice import Check, HowToPrint
from handlers.messages.blocks import Message, context, fence, lines, message
from handlers.messages.phrase import Clause, Phrase, say, with_code


def checklist_of_run(run: str, checks: Sequence[Check]) -> Message:
    """Filled in for one run."""
    known = [check for check in checks if check.value]
    unknown = [check for check in checks if not check.value]
    head = say("Before you start *{run}* again:", run=run)
    if not known:
        head = say("Before you start *{run}* again; its log told none of this, so look at each by hand:", run=run)
    told = [
        say(
            "• *{what}*: {value} – {advice}",
            what=Clause(check.what),
            value=with_code(check.value or ""),
            advice=with_code(check.advice),
        )
        for check in known
    ]
    rest = [say("• *{what}*: {advice}", what=Clause(check.what), advice=with_code(check.advice)) for check in unknown]
    if known and unknown:
        rest.insert(0, say("Its log does not tell these; look by hand:"))
    return message(head, lines(told), lines(rest))


def checklist_of_framework(name: str, how: HowToPrint, checks: Sequence[Check]) -> Message:
    """How its loss is printed, and what to look at, without a run."""
    return message(
        say("So that I can read the loss of a *{name}* run:", name=name),
        fence(how.lines),
        context(with_code(how.also)),
        lines([say("And before any restart:"), *(_by_hand(check) for check in checks)]),
    )


def checklist_in_general(checks: Sequence[Check], command: str, frameworks: Sequence[str]) -> Message:
    """Without a run and without a framework."""
    return message(
        say("Before a restart:"),
        lines(_by_hand(check) for check in checks),
        context(
            say(
                "`{command} checklist RUN` fills in what its log told; `{command} checklist FRAMEWORK` says how to "
                "print the loss: {names}.",
                command=command,
                names=", ".join(frameworks),
            )
        ),
    )


def _by_hand(check: Check) -> Phrase:
    return say("• *{what}*: {advice}", what=Clause(check.what), advice=with_code(check.advice))
