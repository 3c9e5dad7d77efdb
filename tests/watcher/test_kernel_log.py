"""What the kernel says, read without waiting."""

import asyncio
import os

import pytest

from watcher.kernel_log import KernelLog, parse

XID = b"4,1234,5678901234,-;NVRM: Xid (PCI:0000:61:00): 79, pid='<unknown>', GPU has fallen off the bus.\n SUBSYSTEM=pci\n"
PLAIN = b"6,1233,5678901200,-;usb 1-1: new high-speed USB device number 2\n"


@pytest.fixture
def kernel(tmp_path):
    """A packet pipe: one record for each read, as /dev/kmsg gives them."""
    reading, writing = os.pipe2(os.O_NONBLOCK | os.O_DIRECT)
    yield f"/proc/self/fd/{reading}", lambda record: os.write(writing, record)
    os.close(reading)
    os.close(writing)


def test_a_record_is_read():
    """Number, time since the boot, and the text without its properties."""
    record = parse(XID)

    assert (record.number, record.seconds) == (1234, 5678.901234)
    assert record.text.endswith("fallen off the bus.")


@pytest.mark.parametrize("raw", [b"", b"junk", b"a,b,c;x", b"6,1;x", bytes(range(256))])
def test_junk_is_no_record(raw):
    """Whatever a kernel prints, nothing is raised."""
    assert parse(raw) is None


async def test_telling_lines_come_as_symptoms(kernel):
    """With the message's own number as its place, so that it is told once."""
    path, say = kernel
    log = KernelLog(path, poll_seconds=0.01)
    say(PLAIN)
    say(XID)

    symptom = await asyncio.wait_for(anext(aiter(log.follow("node17"))), 60)

    assert symptom.category == "gpu_hardware"
    assert (symptom.origin.node, symptom.evidence.offset) == ("node17", 1234)
    assert log.problem is None


async def test_what_was_told_before_a_restart_is_passed_over(kernel):
    """The count of the kernel says how far we were."""
    path, say = kernel
    log = KernelLog(path, after=1234, poll_seconds=0.01)
    say(XID)
    say(XID.replace(b"4,1234", b"4,1236"))

    symptom = await asyncio.wait_for(anext(aiter(log.follow("node17"))), 60)

    assert symptom.evidence.offset == 1236


async def test_a_kernel_log_that_cannot_be_read_is_said(tmp_path):
    """Once, in words."""
    log = KernelLog(str(tmp_path / "missing"))
    task = asyncio.create_task(anext(aiter(log.follow("node17"))))

    async with asyncio.timeout(60):
        while log.problem is None:
            await asyncio.sleep(0.01)
    task.cancel()

    assert log.problem == "kernel log not readable: no such file or directory"


@pytest.mark.parametrize("made", ["empty", "null"])
async def test_an_empty_kernel_log_is_none(made, tmp_path):
    """A container's stand-in for it, an empty file or /dev/null: its silence must not clear the kernel."""
    path = tmp_path / "kmsg"
    path.write_bytes(b"")
    log = KernelLog(str(path) if made == "empty" else "/dev/null", poll_seconds=0.01)
    following = asyncio.ensure_future(anext(aiter(log.follow("node17"))))

    await asyncio.wait([following], timeout=0.3)

    following.cancel()
    assert log.problem is not None
    assert "empty here" in log.problem
