"""Evidence on a bad night, with everything real: three nodes, of which one freezes, one's driver hangs, one's disk is full."""

import json
import os
import signal
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.archives import STEP, verified
from tests.scenarios.product import Product
from tests.scenarios.room import until

pytestmark = [
    pytest.mark.scenario,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount a small disk"),
]

DEADLINE = 25.0


@pytest.fixture
def product(tmp_path):
    with Product(tmp_path) as made:
        yield made


@pytest.fixture
def hanging(tmp_path):
    """A folder with an nvidia-smi that never answers; which were started."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "nvidia-smi").write_text(f"#!/bin/sh\necho $$ >> {tmp_path}/called\nexec sleep 600\n")
    (folder / "nvidia-smi").chmod(0o755)
    yield folder
    for pid in (tmp_path / "called").read_text().split():
        if "sleep" in command_of(pid):
            os.kill(int(pid), signal.SIGKILL)


def command_of(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


@contextmanager
def small_disk(folder):
    """A disk of 200 MiB, less than what must stay free for the job."""
    folder.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200m", "tmpfs", folder], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


@pytest.mark.timeout(300)
def test_the_answer_comes_at_the_deadline_and_names_all_three(product, hanging):
    """Silent first, then what each could not save; what was saved is whole, and without secrets."""
    with small_disk(product.state_of("node02")):
        product.open()
        product.start_bot(RUNWATCH_SNAPSHOT_DEADLINE=f"{DEADLINE:.0f}s")
        for rank, node in enumerate(("node01", "node02", "node03")):
            log = product.home / f"{node}.log"
            log.write_text("".join(STEP.format(rank=rank, step=step) for step in range(200)))
            path = f"{hanging}:{os.environ['PATH']}" if node == "node01" else os.environ["PATH"]
            product.start_watcher(node, {"run42": str(log)}, PATH=path)
        product.connected()
        until(lambda: "3 of 3" in told(product, "/stall", "3 of 3"), what="three watchers are heard")
        frozen = product.members["node03"].process
        frozen.send_signal(signal.SIGSTOP)
        began = time.monotonic()

        product.slack.slash("/snapshot", "run42 before the restart")
        said = until(lambda: about(product, "Snapshot of run42:"), DEADLINE + 60, what="the answer")

        took = time.monotonic() - began
        frozen.send_signal(signal.SIGCONT)
    whole = json.dumps(said["blocks"], ensure_ascii=False)
    assert said["text"].startswith("*No answer from* node03 (its watcher was last heard"), said["text"]
    assert "1 of 3 nodes" in said["text"]
    assert "nvidia_smi_table: nvidia-smi did not answer" in whole
    assert "node02: not enough room" in whole
    assert "*Not yet safe to stop*: node03 did not answer and node02 saved nothing." in whole
    assert DEADLINE - 1 <= took <= 1.8 * DEADLINE
    assert len((product.home / "called").read_text().split()) == 1
    (archive,) = product.state_of("node01").glob("**/manifest.json")
    assert verified(archive.parent) >= 200
    assert not [path for path in product.state_of("node02").glob("**/snapshots/**/*") if path.is_file()]


def told(product, command, words):
    """Ask, and what was said that holds these words."""
    product.slack.slash(command, "run42")
    time.sleep(2)
    return json.dumps(about(product, words) or {})


def about(product, words):
    return next((one for one in product.slack.messages() if words in json.dumps(one, ensure_ascii=False)), None)
