"""Limits of snapshots, at a tenth of what `python -m benchmarks.evidence` measures."""

import subprocess
import sys

from benchmarks.evidence import escapes, foreign_reads, hostile, large_logs, take_large


def test_no_name_of_a_run_leads_out_of_the_folder():
    """20,000 names with dots, slashes, zeros and tricks (RELIABILITY A31)."""
    assert escapes(20_000) == 0


def test_a_folder_that_is_flipped_to_a_link_never_leads_elsewhere(tmp_path):
    """10,000 opens against a thread that flips it all the time (RELIABILITY A31)."""
    _, foreign = foreign_reads(tmp_path, 10_000)

    assert foreign == 0


async def test_large_logs_cost_a_bounded_archive(tmp_path):
    """10 GB of logs, most of it holes (RELIABILITY A33)."""
    taken = await take_large(large_logs(tmp_path, 20, 512 << 20, 1 << 20), tmp_path / "snapshots", 1 << 20)

    assert taken.error == ""
    assert 0 < taken.archive_bytes <= 256 << 20


def test_hostile_files_cost_bounded_memory(tmp_path):
    """A gzip bomb, a hole of a tebibyte, very many files (RELIABILITY A35)."""
    folder = tmp_path / "logs"
    folder.mkdir()

    peak, said = hostile(folder, bomb_bytes=600 << 20, sparse_bytes=1 << 40, tiny=20_000)

    assert peak <= 96 << 20, said
    assert any("too much to unpack" in line for line in said)


def test_the_peak_that_is_measured_is_the_savers_own():
    """The kernel's `ru_maxrss` begins with the peak of whoever started the process: a big test worker, for one."""
    ask = "from benchmarks.evidence import own_peak_bytes; print(own_peak_bytes())"
    big = f"import subprocess, sys; held = b'x' * (300 << 20); subprocess.run([sys.executable, '-c', {ask!r}], check=True)"
    done = subprocess.run([sys.executable, "-c", big], capture_output=True, text=True, check=True)

    assert int(done.stdout) < 200 << 20
