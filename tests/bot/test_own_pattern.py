"""A log that nothing known can read, and the pattern its owner gives for it."""

import pytest

from bot.cli import main
from bot.first_look import first_look
from bot.inspect import inspect
from bot.replay import replay
from bot.second_reader import SecondReader
from bot.setup import runs_of_file
from diagnosis.errors import Mistake
from diagnosis.formats.bulk.block import StepBlock
from diagnosis.formats.settings import read_settings
from diagnosis.observations import Origin, StepSample
from watcher.settings import WatchedRun

PATTERN = r"^it (?P<step>\d+) :: L=(?P<loss>\S+) gn~(?P<grad_norm>\S+)"


@pytest.fixture
def log(tmp_path):
    """Words of nobody's, without one that means loss."""

    def write(steps):
        path = tmp_path / "own.log"
        path.write_text("".join(f"it {i} :: L={3 - i / 1e6:.6f} gn~0.2\n" for i in range(1, steps + 1)))
        return path

    return write


@pytest.mark.parametrize("steps", [200, 60_000])
def test_a_log_of_nobodys_words_is_read(log, steps):
    """Line by line, and in bulk above a mebibyte."""
    answer = inspect([log(steps)], settings=read_settings(PATTERN)).as_dict()

    assert (answer["loss"]["points"], answer["loss"]["first_step"], answer["loss"]["last_step"]) == (steps, 1, steps)
    assert answer["files"][0]["dialect"] == "own pattern"


def test_without_it_the_log_tells_nothing(log):
    """The same log: nothing is made up of it."""
    assert inspect([log(200)]).as_dict()["loss"]["points"] == 0


def test_a_first_look_takes_it_too(log):
    """`inspect --sample`."""
    assert first_look(log(200), settings=read_settings(PATTERN)).points == 200


def test_a_replay_takes_it_too(log):
    """`replay` plays what the bot would have read."""
    assert replay([log(200)], settings=read_settings(PATTERN)).points == 200


def test_the_second_process_reads_by_it(log):
    """What a log of more than 128 MB is read by."""
    reader = SecondReader(log(500), "own.log", Origin(), read_settings(PATTERN))
    told = [item for items, _ in reader.read() for item in items]

    assert sum(len(item.steps) if isinstance(item, StepBlock) else isinstance(item, StepSample) for item in told) == 500


def test_steps_between_two_losses_can_be_told(tmp_path):
    """Where the lines of a log carry none."""
    log = tmp_path / "trainer.log"
    log.write_text("".join(f"{{'loss': {3 - i / 10}, 'learning_rate': 0.1}}\n" for i in range(5)))

    assert inspect([log], settings=read_settings(logging_steps=20)).as_dict()["loss"]["last_step"] == 100


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--pattern", "(?P<loss>(a+)+)$"], "could take very long on one line"),
        (["--pattern", "loss"], "must name a group `loss` or `step`"),
        (["--logging-steps", "0"], "are 1 or more"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_reason(log, capsys, options, words):
    """By `inspect`, `replay` and `watch`, before anything is read."""
    path = str(log(3))

    assert main(["inspect", path, *options]) == 2
    assert main(["replay", path, *options]) == 2
    assert main(["watch", "--run", "run42", "--log", path, *options]) == 2
    assert capsys.readouterr().err.count(words) == 3


def test_a_settings_file_names_the_run_whose_pattern_is_refused(tmp_path):
    """With the reason."""
    file = tmp_path / "runwatch.toml"
    file.write_text("[[runs]]\nname = 'run42'\nlogs = ['a.log']\npattern = '(?P<loss>(a+)+)$'\n")

    with pytest.raises(Mistake, match=r"run run42: The pattern could take very long"):
        runs_of_file(file)


def test_a_run_keeps_its_pattern():
    """From its settings to what reads its logs."""
    settings = WatchedRun("run42", ("*.log",), pattern=PATTERN, logging_steps=10).read_settings()

    assert (settings.pattern.pattern, settings.logging_interval) == (PATTERN, 10)
