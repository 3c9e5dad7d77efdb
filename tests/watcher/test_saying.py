"""What a watcher says on stderr to whoever started it."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

from watcher.saying import Saying

ROOT = Path(__file__).parents[2]


def saying(tmp_path=Path("/state")):
    said = []
    return Saying("db:6379", tmp_path, said.append), said


def test_a_pattern_that_matches_nothing_is_said_once():
    """And again when there is a file."""
    one, said = saying()
    for _ in range(5):
        one.follows("run42", ["/logs/*.log"], 0, ["no file matches /logs/*.log yet"])
    assert said == ["run42: no file matches /logs/*.log yet; looking again every second"]

    for _ in range(5):
        one.follows("run42", ["/logs/*.log"], 3, [])
    assert said[1:] == ["watching 3 files as run42 (pattern /logs/*.log)"]


def test_before_the_first_look_nothing_is_said():
    """No file was looked for yet."""
    one, said = saying()
    for _ in range(3):
        one.follows("run42", ["/logs/*.log"], 0, [])
    assert not said


def test_a_registry_that_is_away_is_said_once_and_when_it_is_back():
    """With where it is, why, and where the findings are meanwhile."""
    one, said = saying()
    for reason in (None, "refused", "timed out", None, None):
        one.registry(reason, has_spool=True)
    assert said == [
        "Redis at db:6379 does not answer (refused): findings are kept in /state until it does",
        "Redis at db:6379 answers again; what was kept is on its way",
    ]


def test_the_first_step_and_the_first_loss_are_said_once():
    """Who started it sees that the log is read, and how."""
    one, said = saying()
    for step, loss in [(None, None), (5, None), (10, None), (20, None), (30, 2.53125), (40, 2.5)]:
        one.follows("run42", ["/logs/*.log"], 1, [])
        one.reads("run42", "megatron", step, loss)
    assert said == [
        "watching 1 file as run42 (pattern /logs/*.log)",
        "run42: its lines are read (megatron): step 5, no loss on its lines so far",
        "run42: its lines are read (megatron): step 30, loss 2.531",
    ]


def test_nothing_that_is_said_holds_a_password_or_moves_the_cursor():
    """Whatever stands in a reason or a pattern."""
    one, said = saying()
    one.registry("cannot open redis://bob:s3cret@db:6379/0", has_spool=False)
    for _ in range(2):
        one.follows("run42", ["/logs/\x1b[2J\n*.log"], 1, [])
    assert "s3cret" not in " ".join(said)
    assert all(line.isprintable() for line in said)


async def test_stopping_without_registry_and_files_says_why_and_leaves_no_traceback(tmp_path):
    """SIGTERM while the reading thread sleeps: exit 0; stderr says what is missing, and never a password."""
    command = [sys.executable, "-m", "bot.cli", "watch", "--run", "rr2", "--log", str(tmp_path / "nope*.log")]
    environment = os.environ | {"REDIS_URL": "redis://bob:s3cret@127.0.0.1:1/0", "RUNWATCH_GPU": "0s"}
    watcher = await asyncio.create_subprocess_exec(
        *command, "--state-dir", str(tmp_path / "state"), env=environment, cwd=ROOT, stderr=subprocess.PIPE
    )
    said = ""
    async with asyncio.timeout(60):
        while "no file matches" not in said or "does not answer" not in said:
            said += (await watcher.stderr.readline()).decode()
        watcher.send_signal(signal.SIGTERM)
        said += (await watcher.stderr.read()).decode()
        code = await watcher.wait()

    assert code == 0
    assert "Redis at 127.0.0.1:1 does not answer" in said
    assert "s3cret" not in said
    assert "Traceback" not in said
    assert "never retrieved" not in said


def test_a_log_that_tells_nothing_is_shown_with_the_way_to_have_it_read_once():
    """A line of it, without what could move the cursor, and `--pattern`."""
    one, said = saying()
    one.unread("run42", None)
    for step in range(3):
        one.unread("run42", f"it#{step} crit~2.5\x1b[2J")
    assert len(said) == 2
    assert "it#0 crit~2.5" in said[0]
    assert "--pattern" in said[1]
    assert all(line.isprintable() for line in said)
