"""Settings come from the environment over the file over the default, and no name is silently ignored."""

import dataclasses
from dataclasses import dataclass, field, replace

import pytest

from bot.configuration import WrongSettings, describe, environment_name, load_settings
from bot.settings import BotSettings
from diagnosis.durations import parse_duration, write_duration
from diagnosis.errors import Mistake
from diagnosis.incidents import Habits


@dataclass(frozen=True)
class Other:
    """Stands for another process that shares the environment."""

    poll_seconds: float = 0.25
    """How often."""
    cap_bytes: int = 1 << 20
    """How much."""
    is_on: bool = False
    """Whether."""
    names: tuple[str, ...] = ()
    """Which."""
    after: float = field(default=600.0, metadata={"unit": "seconds", "doc": "How long."})
    limit: int | None = None
    """How many; empty: no limit."""


def load(environment=(), text=None, tmp_path=None, kind=Other, **more):
    file = None
    if text is not None:
        file = tmp_path / "runwatch.toml"
        file.write_text(text)
    return load_settings(kind, dict(environment), file, known=(BotSettings, Other), **more)


@pytest.mark.parametrize(
    ("name", "text", "field_name", "value"),
    [
        ("RUNWATCH_POLL", "500ms", "poll_seconds", 0.5),
        ("RUNWATCH_CAP", "2MiB", "cap_bytes", 2 << 20),
        ("RUNWATCH_IS_ON", "yes", "is_on", True),
        ("RUNWATCH_NAMES", "a, b", "names", ("a", "b")),
        ("RUNWATCH_AFTER", "10m", "after", 600.0),
        ("RUNWATCH_LIMIT", "7", "limit", 7),
    ],
)
def test_units_stand_in_the_value(name, text, field_name, value):
    """`RUNWATCH_STALL_AFTER=10m`: nobody guesses seconds."""
    assert getattr(load({name: text}), field_name) == value


def test_the_environment_wins_over_the_file_and_options_over_both(tmp_path):
    """Default, file, environment, option: the nearer wins."""
    text = 'poll = "2s"\ncap = "2KiB"\n'

    assert load(text=text, tmp_path=tmp_path).poll_seconds == 2.0
    assert load({"RUNWATCH_POLL": "3s"}, text, tmp_path).poll_seconds == 3.0
    assert load({"RUNWATCH_POLL": "3s"}, text, tmp_path, overrides={"poll_seconds": 4.0}).poll_seconds == 4.0


@pytest.mark.parametrize(
    ("environment", "right"),
    [
        ({"RUNWATCH_POL": "1s"}, "There is no setting RUNWATCH_POL. Did you mean RUNWATCH_POLL?"),
        ({"RUNWATCH_POLL": "5"}, "a duration with its unit, such as 90s, 10m or 2h"),
        ({"RUNWATCH_CAP": "big"}, "a size with its unit, such as 256MiB"),
        ({"RUNWATCH_IS_ON": "maybe"}, "yes or no"),
        ({"RUNWATCH_LIMIT": "few"}, "a whole number"),
    ],
)
def test_what_is_wrong_is_said_with_what_is_right(environment, right):
    """A misspelt threshold is found at the start, not on the bad night."""
    with pytest.raises(WrongSettings) as refusal:
        load(environment)

    assert right in str(refusal.value)


def test_every_problem_is_said_at_once():
    """Nobody mends a file one start at a time."""
    with pytest.raises(WrongSettings) as refusal:
        load({"RUNWATCH_POLL": "x", "RUNWATCH_CAP": "y", "RUNWATCH_ZZZ": "1"})

    assert len(refusal.value.problems) == 3


def test_names_of_the_other_processes_are_known():
    """One environment serves watcher and bot."""
    assert load({"RUNWATCH_CHANNEL": "#training"}) == Other()


def test_unknown_names_in_the_file_are_refused_with_near_ones(tmp_path):
    """Tables belong to others, flat names must be settings."""
    with pytest.raises(WrongSettings, match="Did you mean poll"):
        load(text='pol = "1s"\n[[runs]]\nname = "run42"\n', tmp_path=tmp_path)


@pytest.mark.parametrize(
    "text", ["not = [toml", "\udce9".encode("utf-8", "surrogateescape").decode("latin-1") + " = ="]
)
def test_a_file_that_is_no_toml_is_said(tmp_path, text):
    """With its place."""
    with pytest.raises(WrongSettings, match="is not valid TOML"):
        load(text=text, tmp_path=tmp_path)


def test_a_missing_file_is_said(tmp_path):
    """A named file that is not there is a mistake, not a default."""
    with pytest.raises(WrongSettings, match="Cannot read"):
        load_settings(Other, {}, tmp_path / "nowhere.toml")


def test_secrets_come_from_files_too(tmp_path):
    """`SLACK_BOT_TOKEN_FILE`, and never from runwatch.toml."""
    secret = tmp_path / "token"
    secret.write_text("xoxb-1-secret\n")

    assert load({"SLACK_BOT_TOKEN_FILE": str(secret)}, kind=BotSettings).slack_bot_token == "xoxb-1-secret"
    with pytest.raises(WrongSettings, match="Keep slack_bot_token out of"):
        load(text='slack_bot_token = "xoxb-1"', tmp_path=tmp_path, kind=BotSettings)
    with pytest.raises(WrongSettings, match="cannot be read"):
        load({"SLACK_BOT_TOKEN_FILE": str(tmp_path / "none")}, kind=BotSettings)


def test_secrets_are_never_shown():
    """A settings object may stand in a log."""
    shown = repr(BotSettings(slack_bot_token="xoxb-1-secret", slack_signing_secret="hush", redis_url="redis://:pw@h"))

    assert not any(secret in shown for secret in ("xoxb", "hush", "pw"))


def test_every_setting_of_the_bot_is_documented():
    """Each field has a line, and shows in the description with a name and a default."""
    rows = describe(BotSettings)

    assert len(rows) == len(dataclasses.fields(BotSettings))
    assert all(line.endswith(".") for _, _, line in rows)
    assert ("RUNWATCH_GROUP_WAIT", "5s") in {(name, default) for name, default, _ in rows}


@pytest.mark.parametrize(
    ("changes", "right"),
    [
        ({"command_prefix": "Über"}, "lower-case"),
        ({"slack_api_url": "slack.com"}, "starts with https://"),
        ({"http_port": 99_999}, "between 0 and 65535"),
    ],
)
def test_values_that_cannot_work_are_refused(changes, right):
    """With what is right."""
    with pytest.raises(ValueError, match=right):
        BotSettings(**changes)


@pytest.mark.parametrize(
    ("tokens", "right"),
    [
        ({}, "Set SLACK_BOT_TOKEN"),
        ({"slack_bot_token": "xapp-1"}, "start with xoxb-"),
        ({"slack_bot_token": "xoxb-1"}, "Set SLACK_APP_TOKEN for Socket Mode"),
        ({"slack_bot_token": "xoxb-1", "slack_app_token": "xoxb-2"}, "start with xapp-"),
    ],
)
def test_missing_and_mixed_up_tokens_are_said(tokens, right):
    """The three tokens of a Slack app are easily confused."""
    with pytest.raises(Mistake, match=right):
        BotSettings(**tokens).check_tokens()


def test_names_in_the_environment_come_from_the_fields():
    """The unit of a field is not part of its name outside."""
    assert environment_name("stall_after_seconds") == "RUNWATCH_STALL_AFTER"
    assert environment_name("redis_url") == "REDIS_URL"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("10m", 600), ("1h30m", 5400), ("0.5h", 1800), ("250ms", 0.25), ("2d", 172_800), ("0", 0)],
)
def test_durations_are_read_as_written(text, seconds):
    """And written so that they can be read again."""
    assert parse_duration(text) == seconds
    assert parse_duration(write_duration(seconds)) == seconds


@pytest.mark.parametrize("text", ["", "10", "m", "ten minutes", "1h 5", "-5m", "1e9s", "٣m"])
def test_a_duration_without_a_unit_is_none(text):
    """Nobody can see the unit of a bare number."""
    assert parse_duration(text) is None


def test_the_habits_of_the_tracker_are_settings_of_the_bot():
    """Every patience of the tracker can be set, under the same name and with the same default."""
    # A tracker alone has nobody who looks for a cause, so it waits for nothing.
    assert replace(BotSettings().habits, cause_wait_seconds=0.0) == Habits()
