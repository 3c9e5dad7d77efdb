"""Running the training through `runwatch run`."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.watcher.conftest import ROOT, findings

PROGRAM = """
import sys
from pathlib import Path
from watcher.launch import launch
from watcher.settings import WatchedRun, WatcherSettings
settings = WatcherSettings(node="node17", state_dir=Path({state!r}), redis_url={url!r}, poll_seconds=0.02,
                           wake_seconds=0.0, bookmark_seconds=0.05, heartbeat_seconds=0.2, gpu_seconds=0.0)
sys.exit(launch(settings, WatchedRun("run42", ()), sys.argv[1:]))
"""


@pytest.fixture
def launched(settings):
    """Start a command through the launcher."""
    started = []

    def start(*command, url=settings.redis_url, **options):
        program = PROGRAM.format(state=str(settings.state_dir), url=url)
        process = subprocess.Popen(
            [sys.executable, "-c", program, *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            **options,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def python(code):
    return sys.executable, "-c", code


async def test_a_crash_is_told_with_what_led_to_it(launched, registry, settings):
    """Output passes through unchanged, the exit code comes back, the end is a finding."""
    process = launched(
        *python(
            "import sys, time\n"
            "for step in range(30): print(f'step={step} loss=2.5 lr=0.0001 grad_norm=1.0')\n"
            "print('step=30 loss=nan lr=0.0001 grad_norm=nan')\n"
            "print('nothing goes on', file=sys.stderr)\n"
            "sys.exit(3)\n"
        )
    )
    out, err = process.communicate(timeout=60)

    assert process.returncode == 3
    assert out.decode().splitlines()[-1] == "step=30 loss=nan lr=0.0001 grad_norm=nan"
    assert b"nothing goes on" in err
    (bad,) = await findings(registry, "nonfinite_loss")
    (down,) = await findings(registry, "run_down")
    assert (bad.step, down.details["last_step"]) == (30, "30")
    assert "exit code 3" in down.text
    assert (await registry.runs.get("run42")).state == "crashed"
    kept = sorted(path.name for path in settings.home.glob("output/run42/*/*.log"))
    assert kept == ["stderr.log", "stdout.log"]


async def test_a_good_end_is_no_trouble(launched, registry):
    """A run that ends with 0 is finished, and nobody is woken."""
    process = launched(*python("print('step=1 loss=2.5 lr=0.0001 grad_norm=1.0')"))

    process.communicate(timeout=60)

    assert process.returncode == 0
    assert (await registry.runs.get("run42")).state == "finished"
    assert await findings(registry) == []


async def test_the_job_ended_by_a_signal(launched, registry):
    """As a shell would say it: 128 + n, and in words."""
    process = launched(*python("import os; os.kill(os.getpid(), 9)"))

    process.communicate(timeout=60)

    assert process.returncode == 128 + 9
    (down,) = await findings(registry, "run_down")
    assert "SIGKILL" in down.text


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1])
def test_signals_are_passed_on(launched, number):
    """A scheduler's warning reaches the job."""
    process = launched(
        *python(
            "import signal, sys, time\n"
            f"signal.signal({int(number)}, lambda *_: sys.exit(7))\n"
            "print('ready', flush=True)\n"
            "while True: time.sleep(0.1)\n"
        )
    )
    assert process.stdout.readline() == b"ready\n"

    process.send_signal(number)

    assert process.wait(timeout=60) == 7


@pytest.mark.parametrize("where", ["nowhere", "behind a folder that cannot be looked into"])
def test_a_command_that_is_not_there_is_said(launched, tmp_path, monkeypatch, where):
    """As a shell does: 127 and a sentence."""
    if where != "nowhere":
        (tmp_path / "loop").symlink_to(tmp_path / "loop")
        monkeypatch.setenv("PATH", f"{tmp_path / 'loop'}:{os.environ['PATH']}")
    process = launched("no-such-program-at-all")

    _, err = process.communicate(timeout=60)

    assert process.returncode == 127
    assert b"cannot start no-such-program-at-all" in err


def test_a_registry_that_is_away_does_not_hold_the_job(launched):
    """The job's output and its exit code do not depend on anything of ours."""
    process = launched(*python("print('done')"), url="redis://127.0.0.1:1/0")

    out, _ = process.communicate(timeout=60)

    assert (process.returncode, out) == (0, b"done\n")


def test_a_state_folder_that_takes_no_writes_does_not_hold_the_job(launched, settings):
    """Not even the copy of the output is worth a failed job."""
    settings.state_dir.write_text("a file where the folder should be")

    out, err = launched(*python("print('done')")).communicate(timeout=60)

    assert out == b"done\n"
    assert b"cannot be kept" in err


def test_the_watcher_killed_leaves_the_job_alone(launched):
    """kill -9 of the watching process: the job goes on and its output still passes."""
    process = launched(
        *python("import sys\nprint('ready', flush=True)\nsys.stdin.readline()\nprint('done', flush=True)"),
        stdin=subprocess.PIPE,
    )
    assert process.stdout.readline() == b"ready\n"
    for pid in _children(process.pid):
        if "watcher" in Path(f"/proc/{pid}/cmdline").read_text():
            os.kill(pid, signal.SIGKILL)

    process.stdin.write(b"\n")
    process.stdin.flush()
    out = process.stdout.readline()

    assert out == b"done\n"
    assert process.wait(timeout=60) == 0


def _children(pid):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        if len(found) >= 2:
            return [int(child) for child in found]
        time.sleep(0.02)
    raise AssertionError("no watcher was started")
