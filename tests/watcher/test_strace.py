"""Under strace: a watcher that follows, looks and saves touches nothing of others."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

from tests.watcher.conftest import ROOT, until
from tests.watcher.following import append, lines

pytestmark = [
    pytest.mark.scenario,
    pytest.mark.skipif(shutil.which("strace") is None or os.geteuid() != 0, reason="needs root and strace"),
]

SNAPSHOTS = int(os.environ.get("RUNWATCH_TEST_SNAPSHOTS", "2"))
CALLS = "kill,tkill,tgkill,pidfd_send_signal,ptrace,process_vm_writev,setpriority,sched_setaffinity,open,openat,openat2,creat,"
CALLS += "unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,truncate,ftruncate,chmod,fchmodat,chown,fchownat,link,linkat"
SIGNALS = ("kill(", "tkill(", "tgkill(", "pidfd_send_signal(")


@pytest.fixture
def traced(tmp_path, settings):
    """A watcher under strace; its calls once it ended."""
    out = tmp_path / "strace.txt"
    code = (
        "import asyncio, sys\nfrom pathlib import Path\nfrom watcher.agent import watch\n"
        "from watcher.settings import WatchedRun, WatcherSettings\n"
        f"asyncio.run(watch(WatcherSettings(runs=(WatchedRun('run42', {settings.runs[0].logs!r}),), node='node17', "
        f"state_dir=Path({str(settings.state_dir)!r}), redis_url={settings.redis_url!r}, heartbeat_seconds=0.2, "
        "tell_seconds=0.1, gpu_seconds=0.0, host_seconds=0.3)))\n"
    )
    process = subprocess.Popen(
        ["strace", "-f", "-qq", "-s", "4096", "-e", f"trace={CALLS}", "-o", str(out), sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        start_new_session=True,
    )

    def calls():
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(30)
        return out.read_text().splitlines()

    yield calls
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.mark.timeout(120 + 20 * SNAPSHOTS)
async def test_a_snapshot_signals_traces_and_writes_nothing_of_others(traced, settings, registry, log, job):
    """No signal to another process, no ptrace, nothing opened for writing outside the state folder."""
    log.write_bytes(lines(0, 200))
    await until(lambda: registry.ranks.all("run42"), 60)
    append(log, lines(200, 210))
    for number in range(SNAPSHOTS):
        deadline = await registry.now() + 60
        payload = {"run": "run42", "before_stop": True}  # taken whatever the hour's count says
        request = await registry.requests.ask("node17/run42", "snapshot", payload, deadline)
        answers = await registry.requests.gather(request, ["node17/run42"], deadline)
        assert answers["node17/run42"].body["error"] == ""
        append(log, lines(210 + number, 211 + number))

    seen = traced()
    ours = {int(line.split()[0]) for line in seen} | {
        int(pid) for line in seen for pid in re.findall(r"pid = (\d+)", line)
    }
    assert [line for line in seen if "ptrace(" in line or "process_vm_writev(" in line] == []
    assert [line for line in seen if "setpriority(" in line and not is_for_itself(line)] == []
    assert [line for line in seen if is_foreign_signal(line, ours)] == []
    assert [line for line in seen if writes_elsewhere(line, str(settings.state_dir))] == []
    assert any(str(settings.state_dir) in line and "O_CREAT" in line for line in seen)
    assert job.poll() is None
    assert log.read_bytes() == lines(0, 210 + SNAPSHOTS)


@pytest.fixture
def job(log):
    """A process of the job that holds the log."""
    log.touch()
    with log.open("ab") as file:
        process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], stdout=file)
    time.sleep(0.2)
    yield process
    process.kill()
    process.wait()


def is_for_itself(line):
    """A thread that steps back names itself."""
    found = re.match(r"(\d+)\s+setpriority\(PRIO_PROCESS, (\d+),", line)
    return found is not None and found[1] == found[2]


def is_foreign_signal(line, ours):
    call = line.split(None, 1)[1]
    if not call.startswith(SIGNALS):
        return False
    target = int(re.findall(r"\((-?\d+)", call)[0])
    return abs(target) not in ours


def writes_elsewhere(line, home):
    call = line.split(None, 1)[1]
    if " = -1 " in call or "+++" in call or "---" in call:
        return False
    if call.startswith(("open", "creat")) and not re.search(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|creat\(", call):
        return False
    paths = re.findall(r'"((?:[^"\\]|\\.)*)"', call)
    if not call.startswith(("open", "creat", "unlink", "rename", "mkdir", "truncate", "chmod", "chown", "link")):
        return False
    return any(path.startswith("/") and not path.startswith((home, "/dev/null", "/dev/shm")) for path in paths)
