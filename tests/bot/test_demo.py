"""The demo's recorded runs say what they promise, to their last line: it may be left alone for an hour."""

import asyncio
import os
import re
import shlex
import sys
from pathlib import Path

import pytest

from bot.demo.stage import PLAYS, SAMPLES, LiveJob, Replay
from bot.demo.welcome import own_log_command, post_welcome
from bot.replay import replay
from bot.workspace import Workspace
from tests.bot.chinese import english_in
from tests.servers import PATIENT

WHOLE = [play for play in PLAYS if isinstance(play, Replay) and play.last_words]


@pytest.mark.parametrize("play", WHOLE, ids=lambda play: play.run)
def test_a_run_that_ends_well_is_not_told_otherwise(play, tmp_path):
    """Nothing is said of the healthy one, of none that it was told to stop."""
    log = tmp_path / f"{play.run}.log"
    log.write_bytes((SAMPLES / play.sample).read_bytes() + play.last_words.encode())

    said = replay([log]).posted

    assert said == [] or play.run != "gpt2-124m"
    assert [one.text for one in said if "TIME LIMIT" in one.text] == []


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_the_channel_tells_which_runs_are_logs_of_another_time(language, monkeypatch):
    """Above the first incident: an old date in a line or a chart is no riddle."""
    monkeypatch.setenv("RUNWATCH_LANGUAGE", language)
    async with Workspace.start(rate_limit=False, **PATIENT) as slack:
        await post_welcome(slack.page_url, slack.bot_token, "#training", PLAYS)
        (said,) = slack.messages()

    living = [play.run for play in PLAYS if isinstance(play, LiveJob)]
    assert re.findall(r"`(.+?)`", said["text"]) == [*living, *(play.run for play in PLAYS if play.run not in living)]
    assert bool(english_in(said["text"])) is (language == "en")


def test_what_the_lines_of_a_recorded_log_are_dated_is_said():
    """Each whose lines bear a year names it."""
    for play in PLAYS:
        if isinstance(play, Replay):
            years = set(re.findall(r"\b(20[12]\d)-\d\d-\d\d", (SAMPLES / play.sample).read_text()))
            assert all(year in play.source for year in years), play.run


async def test_a_log_of_ones_own_is_seen_by_the_command_that_is_printed(registry, redis_url, tmp_path):
    """Pasted into a shell as it stands, with the path of the log."""
    (tmp_path / "train.log").write_text("".join(f"step={step} loss=2.5 lr=0.0001\n" for step in range(50)))
    command = own_log_command(redis_url).replace("PATH/TO/train*.log", f"{tmp_path}/train*.log")
    environment = {
        **os.environ,
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    shell = await asyncio.create_subprocess_exec("sh", "-c", f"exec env {command}", env=environment)
    try:
        async with asyncio.timeout(60):
            while (run := await registry.runs.get("mine")) is None or run.last_step is None:
                await asyncio.sleep(0.05)
    finally:
        shell.terminate()
        await shell.wait()

    assert run.last_step == 49
    assert shlex.split(command)[1].endswith("runwatch")
