"""Every command and button is in its list, and none answers anybody who may not ask."""

import ast
from pathlib import Path

import pytest

import handlers
from handlers import BUTTONS, COMMANDS, FORMS, runwatch
from handlers.answering import answers
from handlers.authorise import MAY, Ruling, authorise
from handlers.command import Asked, Button, Desk, NotKnownNow, Right, Role, Who

ROOT = Path(handlers.__file__).parent
HOME = Who("U0ALICE", "T0HOME")


def names_in(name):
    """Modules in `handlers/` that define a constant of this name."""
    found = set()
    for path in ROOT.glob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.Assign) and any(getattr(target, "id", "") == name for target in node.targets):
                found.add(path.stem)
    return found


def test_every_command_file_is_in_the_list():
    """Nobody forgets the line."""
    listed = {command.name for command in COMMANDS}

    assert names_in("COMMAND") | {"runwatch"} == listed


def test_every_button_file_is_in_the_list():
    """The same for buttons."""
    assert (
        len(names_in("BUTTON")) + len(["ask, made of the commands"])
        == len(BUTTONS)
        == len({button.action for button in BUTTONS})
    )


def test_every_form_file_is_in_the_list():
    """And for forms."""
    assert len(names_in("FORM")) == len(FORMS) == len({form.callback for form in FORMS})


def test_every_family_of_words_is_in_the_list():
    """Every file with words after `/runwatch` is asked."""
    defined = {path.stem for path in (ROOT / "subjects").glob("*.py") if "\nSUBJECTS = (" in path.read_text()}

    assert {family.__name__.rpartition(".")[2] for family in runwatch._FAMILIES} == defined
    assert len({subject.name for subject in runwatch.SUBJECTS}) == len(runwatch.SUBJECTS)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_command_explains_itself(command):
    """A summary that fits a manifest, and an example."""
    assert command.summary
    assert len(command.summary) <= 2000
    assert not command.summary.endswith(".")
    assert command.examples


class Untouchable:
    """A registry that no refused question may reach, but for the line that says it was refused."""

    def __init__(self):
        self.written = []
        self.clock, self.audit = self, self

    async def estimate(self):
        return 1.0

    async def write(self, entry):
        self.written.append(entry)

    def __getattr__(self, name):
        raise AssertionError(f"a refused question asked the registry for {name}")


async def never(*_args, **_kwargs):
    raise AssertionError("a refused question had something drawn")


class One:
    """Everybody has this role."""

    def __init__(self, role):
        self.role = role

    async def role_of(self, who):
        if self.role is None:
            raise NotKnownNow("ratelimited")
        return self.role

    def holders(self, role):
        return ("U0OLGA", "S0ONCALL") if role is Role.OPERATOR else ()


def desk(home="T0HOME", role=Role.ADMIN):
    return Desk(Untouchable(), never, lambda: home, people=One(role))


@pytest.mark.parametrize(
    ("who", "home"),
    [
        (Who("U0EVE", "T0OTHER"), "T0HOME"),
        (Who("U0EVE", ""), "T0HOME"),
        (Who("", "T0HOME"), "T0HOME"),
        (Who("U0BOT", "T0HOME", is_bot=True), "T0HOME"),
        (HOME, None),
    ],
    ids=["other workspace", "no workspace", "nobody", "a bot", "home unknown"],
)
@pytest.mark.parametrize(
    "asked_for", [*COMMANDS, *BUTTONS, *FORMS], ids=lambda one: getattr(one, "name", None) or one.action
)
async def test_whoever_may_not_ask_gets_nothing_done(asked_for, who, home):
    """Every entry refuses before it touches anything, privately, and tells nothing of any run."""
    where = desk(home)
    said = [reply async for reply in answers(where, asked_for, Asked(who, "C1", "run42"))]

    (only,) = said
    assert only.is_private
    assert "run42" not in only.message.text
    assert [entry.result != "allowed" for entry in where.registry.written] == [True]


@pytest.mark.parametrize(
    "asked_for", [*COMMANDS, *BUTTONS, *FORMS], ids=lambda one: getattr(one, "name", None) or one.action
)
@pytest.mark.parametrize("role", [*Role, None], ids=lambda role: role or "unknown")
async def test_every_role_may_what_the_table_says(asked_for, role):
    """Each command and button × each role: below the least role nothing is touched, and who may is named."""
    where = desk(role=role)
    asked = Asked(HOME, "C1", "run42")
    ruling = await authorise(where, HOME, asked_for.right)

    assert (ruling.refusal is None) == (role is not None and asked_for.right in MAY[role])
    if ruling.refusal is not None:
        (only,) = [reply async for reply in answers(where, asked_for, asked)]
        assert only.is_private
        assert "run42" not in only.message.text


async def test_without_the_question_who_it_is_something_is_touched(monkeypatch):
    """Negative control: whoever lets a stranger in touches the registry, and that is seen."""

    async def everybody(desk, who, right):
        return Ruling(Role.ADMIN)

    monkeypatch.setattr("handlers.answering.authorise", everybody)

    with pytest.raises(AssertionError, match="asked the registry"):
        _ = [reply async for reply in answers(desk(), STOP, Asked(Who("U0EVE", "T0OTHER"), "C1", "run42"))]


async def test_a_refusal_names_who_may():
    """The role it needs, one's own, and the people and groups that have it."""
    (only,) = [reply async for reply in answers(desk(role=Role.VIEWER), STOP, Asked(HOME, "C1", "run42"))]

    assert "needs the role operator; yours is viewer" in only.message.text
    assert "<@U0OLGA> and <!subteam^S0ONCALL>" in only.message.text


STOP = Button("stop", never, Right.OPERATE)


def test_the_table_is_the_one_of_the_docs():
    """Members read and acknowledge; a snapshot, a mute and a close need responders."""
    assert MAY[Role.NOBODY] == frozenset()
    assert MAY[Role.VIEWER] == {Right.READ, Right.ACKNOWLEDGE}
    assert MAY[Role.ADMIN] == set(Right)
    rights = {command.name: command.right for command in COMMANDS} | {one.action: one.right for one in BUTTONS}
    assert {rights[name] for name in ("loss", "stall", "runs", "runwatch")} == {Right.READ}
    assert (rights["acknowledge"], rights["snapshot"]) == (Right.ACKNOWLEDGE, Right.RESPOND)
