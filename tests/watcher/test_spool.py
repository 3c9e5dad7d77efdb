"""The spool: what was accepted is there after anything, and no number ever means two findings."""

import contextlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import textwrap

import pytest

from diagnosis.findings import Cleared
from diagnosis.observations import Origin
from registry import wire
from tests.registry.values import finding
from watcher import spool as spool_module
from watcher.memory_spool import MOST_RECORDS, MemorySpool
from watcher.records import records_in
from watcher.spool import DAMAGE_GAP, Spool, SpoolFull, SpoolTaken


@pytest.fixture
def home(tmp_path):
    return tmp_path / "spool"


def reopened(spool: Spool) -> Spool:
    spool.close()
    return Spool(spool.directory)


def test_what_was_accepted_is_there_after_a_restart(home):
    """Number, epoch and the finding itself."""
    spool = Spool(home)
    assert [spool.accept(finding(offset)) for offset in range(3)] == [1, 2, 3]

    again = reopened(spool)

    assert again.epoch == spool.epoch
    assert [wire.decode(record.body) for record in again.pending()] == [finding(offset) for offset in range(3)]
    assert again.accept(finding(9)) == 4


def test_the_same_finding_is_accepted_once(home):
    """Seen again after a crash it keeps its number, until the bookmark is past its line."""
    spool = Spool(home)
    spool.accept(finding(1))
    spool.drop_delivered(1)
    again = reopened(spool)

    assert again.knows(finding(1))
    assert again.accept(finding(1)) == 1
    again.bookmarked()
    assert not again.knows(finding(1))


def test_a_clearing_is_accepted_like_a_finding(home):
    """That something is over goes the same way, once."""
    spool = Spool(home)
    cleared = Cleared("stall", Origin("run42"), "it moves again", step=8, time=5.0)

    assert spool.accept_all([cleared, finding(1), cleared]) == [1, 2, 1]


def test_delivered_findings_leave_the_disk(home, monkeypatch):
    """Below the watermark nothing is kept, and the count goes on."""
    monkeypatch.setattr(spool_module, "SEGMENT_BYTES", 2000)
    spool = Spool(home)
    for offset in range(50):
        spool.accept(finding(offset))
    full = spool.size_bytes

    spool.drop_delivered(50)
    assert spool.size_bytes == full
    spool.bookmarked()

    assert spool.size_bytes == 0
    assert spool.pending() == []
    assert reopened(spool).accept(finding(99)) == 51


def test_delivered_is_remembered(home):
    """After a restart only what is not settled is pending."""
    spool = Spool(home)
    for offset in range(5):
        spool.accept(finding(offset))
    spool.drop_delivered(3)

    again = reopened(spool)

    assert again.delivered == 3
    assert [record.number for record in again.pending()] == [4, 5]
    assert [record.number for record in again.pending(after=4)] == [5]


def test_a_watermark_from_nowhere_is_not_believed(home):
    """Nothing can be settled that was never accepted."""
    spool = Spool(home)
    spool.accept(finding(1))

    spool.drop_delivered(1000)
    (home / "delivered").write_text("junk")

    assert spool.delivered == 1
    assert reopened(spool).delivered == 0


def test_a_torn_last_record_costs_itself(home):
    """Cut at any byte, the records before it are there, and its number is not used again."""
    spool = Spool(home)
    spool.accept(finding(1))
    first = spool.size_bytes
    spool.accept(finding(2))
    spool.close()
    (segment,) = home.glob("*.seg")
    data = segment.read_bytes()

    for cut in range(first + 1, len(data)):
        segment.write_bytes(data[:cut])
        again = Spool(home)
        assert [record.number for record in again.pending()] == [1]
        assert again.last_number > DAMAGE_GAP
        again.close()
        for extra in set(home.glob("*.seg")) - {segment}:
            extra.unlink()


def test_a_cut_between_records_is_no_damage(home):
    """What was never begun needs no gap."""
    spool = Spool(home)
    spool.accept(finding(1))
    size = spool.size_bytes
    spool.accept(finding(2))
    spool.close()
    (segment,) = home.glob("*.seg")
    os.truncate(segment, size)

    assert Spool(home).accept(finding(3)) == 2


@pytest.mark.parametrize("flip", ["magic", "length", "checksum", "number", "body"])
def test_one_damaged_record_costs_one_record(home, flip):
    """Whatever part is damaged, the next one is found."""
    spool = Spool(home)
    for offset in range(5):
        spool.accept(finding(offset))
    spool.close()
    (segment,) = home.glob("*.seg")
    data = bytearray(segment.read_bytes())
    at = len(data) // 5 * 2 + {"magic": 0, "length": 5, "checksum": 8, "number": 12, "body": 60}[flip]
    data[at] ^= 0xFF
    segment.write_bytes(data)

    again = Spool(home)

    assert [record.number for record in again.pending()] == [1, 2, 4, 5]
    assert again.corrupt_records >= 1
    assert again.accept(finding(9)) == 6


def test_a_lost_spool_is_a_new_life(home):
    """Numbers begin again only under a new epoch, whatever part of the files was lost."""
    spool = Spool(home)
    spool.accept(finding(1))
    spool.close()

    for loss in (lambda: shutil.rmtree(home), (home / "epoch").unlink, lambda: _remove(home.glob("*.seg"))):
        before = Spool(home)
        before.accept(finding(2))
        before.close()
        loss()
        again = Spool(home)
        assert again.epoch not in {"", before.epoch}
        again.close()


def test_a_second_watcher_is_refused(home):
    """Two processes must not count in one place; the message says who and what to do."""
    spool = Spool(home)

    with pytest.raises(SpoolTaken, match=rf"pid {os.getpid()}.*own state directory"):
        Spool(home)

    spool.close()
    Spool(home).close()


def test_a_directory_removed_under_us_is_noticed(home):
    """Writes into files that have no name any more would be gone; a new file is begun."""
    spool = Spool(home)
    spool.accept(finding(1))
    shutil.rmtree(home)

    assert spool.accept(finding(2)) == 2

    assert [record.number for path in home.glob("*.seg") for record in records_in(path.read_bytes())] == [2]


def test_a_full_disk_accepts_nothing_and_recovers(home):
    """Too full a disk is SpoolFull, what was there stays, and with room again the next finding goes in."""
    spool = Spool(home)
    spool.accept(finding(1))

    with _no_file_beyond(spool.size_bytes + 50), pytest.raises(SpoolFull):
        spool.accept(finding(2))
    assert [record.number for record in spool.pending()] == [1]

    number = spool.accept(finding(2))
    assert number > 1
    assert [record.number for record in reopened(spool).pending()] == [1, number]


def test_a_disk_full_at_the_start_is_no_crash(home):
    """It begins as soon as there is room."""
    home.mkdir()
    with _no_file_beyond(0):
        spool = Spool(home)
        assert spool.epoch == ""
        with pytest.raises(SpoolFull):
            spool.accept(finding(1))

    assert spool.accept(finding(1)) >= 1
    assert spool.epoch
    assert len(reopened(spool).pending()) == 1


@pytest.mark.scenario
def test_a_really_full_disk(tmp_path):
    """A tmpfs without room: nothing half accepted, nothing lost, and it goes on when there is room."""
    place = tmp_path / "small"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", place], check=True)
    try:
        spool, accepted = Spool(place / "spool"), 0
        with contextlib.suppress(SpoolFull):
            for offset in range(10_000):
                spool.accept(finding(offset))
                accepted += 1
        assert 10 < accepted < 10_000
        assert len(reopened(spool).pending()) == accepted
        spool.close()
        subprocess.run(["mount", "-o", "remount,size=1m", place], check=True)
        again = Spool(place / "spool")
        again.accept(finding(99_999))
        assert len(reopened(again).pending()) == accepted + 1
        again.close()
    finally:
        subprocess.run(["umount", "-l", place], check=True)


def test_a_runaway_is_stopped(home, monkeypatch):
    """The disk belongs to the job: beyond its size the spool is full."""
    monkeypatch.setattr(spool_module, "MOST_BYTES", 2000)
    spool = Spool(home)

    with pytest.raises(SpoolFull, match="nobody fetched"):
        spool.accept_all([finding(offset) for offset in range(100)])


def test_findings_get_new_numbers_when_theirs_are_taken(home):
    """Renumbered they are the same findings, and stay so after a restart."""
    spool = Spool(home)
    spool.accept_all([finding(offset) for offset in range(3)])

    renewed = spool.renumber(spool.pending(after=1), above=10)

    assert [record.number for record in renewed] == [11, 12]
    assert [record.number for record in spool.pending()] == [1, 11, 12]
    assert spool.accept(finding(2)) == 12


def test_every_accepted_finding_survives_kill_9(home):
    """Killed at random while it writes, the spool holds all that was said to be accepted."""
    script = textwrap.dedent("""
        import sys
        from tests.registry.values import finding
        from watcher.spool import Spool
        spool = Spool(sys.argv[1])
        for offset in range(int(sys.argv[2]), 1_000_000):
            print(offset, spool.accept(finding(offset)), flush=True)
    """)
    told: dict[int, int] = {}
    for life in range(4):
        child = subprocess.Popen(
            [sys.executable, "-c", script, home, str(life * 100_000)], stdout=subprocess.PIPE, text=True
        )
        for line, _ in zip(child.stdout, range(40 + 17 * life), strict=False):
            offset, number = map(int, line.split())
            told[offset] = number
        child.kill()
        for line in child.stdout:
            if line.endswith("\n"):
                offset, number = map(int, line.split())
                told[offset] = number
        child.wait()

    kept = {wire.decode(record.body).evidence[0].offset: record.number for record in Spool(home).pending()}

    assert told.items() <= kept.items()
    assert len(set(kept.values())) == len(kept)


def test_the_memory_spool_is_bounded():
    """When too many wait the oldest goes and is counted."""
    spool = MemorySpool()
    for offset in range(MOST_RECORDS + 5):
        spool.accept(finding(offset))

    assert len(spool.pending()) == MOST_RECORDS
    assert spool.dropped == 5
    assert spool.accept(finding(3)) == 4


def _remove(paths):
    for path in list(paths):
        path.unlink()


@contextlib.contextmanager
def _no_file_beyond(size: int):
    """A disk too full for any file to grow beyond this, without root."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
