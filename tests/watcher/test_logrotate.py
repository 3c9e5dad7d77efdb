"""Real logrotate, a real writer that never reopens its file, and the tail beside them."""

import gzip
import shutil
import subprocess
import sys
import time
from collections import Counter

import pytest

from tests.watcher.following import Follower

pytestmark = [
    pytest.mark.scenario,
    pytest.mark.skipif(shutil.which("logrotate") is None, reason="logrotate is not installed"),
]

WRITER = """
import sys, time
rate, number = int(sys.argv[1]), 0
began = time.monotonic()
while time.monotonic() - began < float(sys.argv[2]):
    while number < (time.monotonic() - began) * rate:
        sys.stdout.write(f"step={number:09d} loss=2.5 lr=0.0001 grad_norm=1.0\\n")
        number += 1
    sys.stdout.flush()
    time.sleep(0.002)
"""
ROTATIONS = 8
SECONDS = 6.0

MODES = {
    "copytruncate": "copytruncate",
    "copytruncate, compressed": "copytruncate\n compress",
    "create": "create 0600",
    "create, compressed at once": "create 0600\n compress",
    "create, compressed later": "create 0600\n compress\n delaycompress",
    "dates in names": "create 0600\n dateext\n dateformat -%Y%m%d-%s",
}


@pytest.mark.parametrize("rate", [50, 20_000])
@pytest.mark.parametrize("appends", [True, False], ids=["append", "overwrite"])
@pytest.mark.parametrize("mode", MODES)
def test_nothing_that_is_on_the_disk_is_missed_and_nothing_is_read_twice(tmp_path, mode, appends, rate):
    """Whatever logrotate itself loses is lost; everything else is read once."""
    log = tmp_path / "train.log"
    log.touch()
    conf = tmp_path / "logrotate.conf"
    conf.write_text(f"{log} {{\n rotate 100\n size 1\n missingok\n notifempty\n {MODES[mode]}\n}}\n")
    conf.chmod(0o600)
    tail = Follower(log)
    with log.open("ab" if appends else "wb") as file:
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(rate), str(SECONDS)], stdout=file)
    began, rotated = time.monotonic(), 0
    while writer.poll() is None:
        if time.monotonic() - began > (rotated + 1) * SECONDS / (ROTATIONS + 1):
            subprocess.run(["logrotate", "-f", "-s", tmp_path / "state", conf], check=True, capture_output=True)
            rotated += 1
        tail.poll(seconds=0.05)
        time.sleep(0.05)
    tail.poll(times=20)

    seen = Counter(line for line in tail.lines if line.endswith(b"grad_norm=1.0"))
    on_disk = {line for path in tmp_path.glob("train.log*") for line in _lines(path)}
    assert rotated >= ROTATIONS - 1
    assert not [line for line, times in seen.items() if times > 1][:3]
    assert not sorted(on_disk - seen.keys())[:3]


def _lines(path):
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    whole = data.replace(b"\0", b"").splitlines()
    return [line for line in whole if line.startswith(b"step=") and line.endswith(b"grad_norm=1.0")]
