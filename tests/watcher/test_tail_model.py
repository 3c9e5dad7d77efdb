"""Any sequence of what happens to log files, against a model that knows what was written.

Rules of hypothesis write, rotate, truncate, delete, compress, restart the reader from its bookmark, in any
order. At the end every line that could still be read was read once, and lines of one file came in order.
"""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from tests.counts import examples
from tests.watcher.following import Follower
from watcher.bookmarks import Bookmarks
from watcher.lingering import LINGER_SECONDS

# Shrinking takes minutes: ask for it when something fails.
PHASES = tuple(Phase) if "RUNWATCH_SHRINK" in os.environ else (Phase.generate,)


class LogFiles(RuleBasedStateMachine):
    """One log, its writer, its rotation, and the tail."""

    def __init__(self):
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="rw-tail-"))
        self.log = self.folder / "train.log"
        self.bookmarks = Bookmarks(self.folder / "state", "run")
        self.next = 0
        self.clock = 4_000_000_000
        self.file = 0
        self.file_of = {}
        self.unread = set()
        """Lines written that the tail has not shown yet."""
        self.may_be_lost = set()
        self.deleted = set()
        self.destroyed = set()
        """Files whose content is on the disk no more."""
        self.births = 0
        self.held = b""
        self.writer = None
        self.is_down = False
        self.saved = None
        self._reopen()
        self.tail = Follower(self.log, chunk_bytes=512).poll()
        self.opened = {self._named()}

    def teardown(self):
        if self.is_down:
            self._start()
        self._finish_line()
        self.tail.poll(8)
        self.check()
        os.close(self.writer)
        self.tail.tail.close()
        shutil.rmtree(self.folder)

    # -- the job

    @rule(count=st.integers(1, 40))
    def write(self, count):
        self._write(count)

    @rule(count=st.integers(50, 200))
    def write_much(self, count):
        self._write(count)

    @precondition(lambda self: not self.held)
    @rule(cut=st.integers(12, 13))
    def write_half_a_line(self, cut):
        line = self._line()
        os.write(self.writer, line[:cut])
        self.held = line[cut:]
        self._touch()

    # -- what happens to the files

    @rule(reopens=st.booleans(), compress=st.sampled_from(["no", "plain", "kept"]))
    def rename(self, reopens, compress):
        if reopens:
            self._finish_line()
        self._shift()
        self.log.rename(self._copy(1))
        self.log.touch()
        self._set_time(self.log)
        if compress != "no" and reopens:
            self._gzip(1)
        if reopens:
            self._reopen()

    @rule(compress=st.booleans())
    def copytruncate(self, compress):
        self._finish_line()
        if not self._writes_to_log():
            return
        self._shift()
        shutil.copyfile(self.log, self._copy(1))
        self._set_time(self._copy(1))
        os.truncate(self.log, 0)
        self._set_time(self.log)
        if compress:
            self._gzip(1)

    @rule(regrow=st.integers(0, 200))
    def truncate_without_a_copy(self, regrow):
        self._finish_line()
        if not self._writes_to_log():
            return
        self.may_be_lost |= {number for number in self.unread if self.file_of[number] == self.file}
        self.destroyed.add(self.file)
        os.truncate(self.log, 0)
        self._set_time(self.log)
        self.file += 1
        if regrow:
            self._write(regrow)

    @rule()
    def delete_and_create(self):
        self._finish_line()
        if self.log.exists():
            if self._writes_to_log() and (self.is_down or self._named() not in self.opened):
                self.may_be_lost |= {number for number in self.unread if self.file_of[number] == self.file}
            if self._writes_to_log():
                self.deleted.add(self.file)
                self.destroyed.add(self.file)
            self.log.unlink()
        self._reopen()

    # -- the tail

    @precondition(lambda self: not self.is_down)
    @rule(times=st.integers(1, 3))
    def poll(self, times):
        self.tail.poll(times)
        if any(source.open_files for source in self.tail.tail._open):
            self.opened.add(self._named())
        self.unread -= {int(line[5:-1]) for line in self.tail.lines if line.endswith(b".") and line[:5] == b"step="}

    @precondition(lambda self: not self.is_down)
    @rule()
    def wait(self):
        self._finish_line()
        self.tail.poll(8)
        self.tail.poll(2, LINGER_SECONDS + 1)
        self.check()

    @precondition(lambda self: not self.is_down)
    @rule()
    def set_aside(self):
        """As when there are more files than may be open; a file that is not held cannot be read once it is deleted."""
        tail = self.tail.tail
        tail._most_open, most = 0, tail._most_open
        tail._make_room([])
        tail._most_open = most
        if not any(source.open_files for source in tail._open):
            self.opened.clear()

    @precondition(lambda self: not self.is_down)
    @rule()
    def stop(self):
        self.save()
        # With the tail goes the last descriptor of a deleted file.
        self.may_be_lost |= {number for number in self.unread if self.file_of[number] in self.deleted}
        self.tail.tail.close()
        self.is_down = True

    @precondition(lambda self: not self.is_down)
    @rule()
    def save(self):
        self.bookmarks.save(self.tail.places(), {})
        self.saved = list(self.tail.lines)

    @precondition(lambda self: not self.is_down and self.saved is not None)
    @rule()
    def kill(self):
        self.tail.tail.close()
        self.is_down = True
        # What was shown since the bookmark is shown again; findings are recognised by their key.
        self.tail.lines = list(self.saved)
        self.unread = set(range(self.next)) - {int(line[5:-1]) for line in self.saved}
        self.may_be_lost |= {number for number in self.unread if self.file_of[number] in self.destroyed}

    @precondition(lambda self: self.is_down)
    @rule()
    def start(self):
        self._start()

    def _start(self):
        places = self.bookmarks.load()
        shown = self.tail.lines
        self.tail = Follower(self.log, places=places, chunk_bytes=512)
        self.tail.lines = shown
        self.tail.poll()
        self.opened = {self._named()}
        self.is_down = False

    def check(self):
        whole = [line for line in self.tail.lines if line.startswith(b"step=") and line.endswith(b".")]
        assert len(whole) == len(set(whole)), "read twice"
        shown = {int(line[5:-1]) for line in whole}
        for file in set(self.file_of.values()):
            order = [number for line in whole if self.file_of[number := int(line[5:-1])] == file]
            assert order == sorted(order), "out of order"
        missing = set(range(self.next)) - shown - self.may_be_lost
        assert not missing or self.held, "lost"
        self.unread = missing

    # -- helpers

    def _line(self):
        number = self.next
        self.next += 1
        self.unread.add(number)
        self.file_of[number] = self.file
        return f"step={number:07d}.\n".encode()

    def _write(self, count):
        self._finish_line()
        os.write(self.writer, b"".join(self._line() for _ in range(count)))
        self._touch()

    def _finish_line(self):
        if self.held:
            os.write(self.writer, self.held)
            self.held = b""
            self._touch()

    def _touch(self):
        self.clock += 1
        os.utime(self.writer, (self.clock, self.clock))

    def _set_time(self, path):
        self.clock += 1
        os.utime(path, (self.clock, self.clock))

    def _reopen(self):
        if self.writer is not None:
            os.close(self.writer)
        self.writer = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self.file += 1
        self.births += 1
        self._touch()

    def _named(self):
        """The file that bears the log's name, told apart from all before it."""
        status = self.log.stat()
        return (status.st_ino, self.births)

    def _writes_to_log(self):
        return self.log.exists() and os.fstat(self.writer).st_ino == self.log.stat().st_ino

    def _copy(self, number):
        return self.folder / f"train.log.{number}"

    def _shift(self):
        for number in range(40, 0, -1):
            for name in (self._copy(number), Path(f"{self._copy(number)}.gz")):
                if name.exists():
                    name.rename(str(name).replace(f".{number}", f".{number + 1}"))

    def _gzip(self, number):
        if self._copy(number).stat().st_size:
            subprocess.run(["gzip", "-f", self._copy(number)], check=True)


LogFiles.TestCase.settings = settings(
    max_examples=examples(60),
    stateful_step_count=25,
    suppress_health_check=list(HealthCheck),
    phases=PHASES,
)
TestLogFiles = LogFiles.TestCase
