"""What real logrotate loses of a writer that never reopens its file: a tenth of `python -m benchmarks.rotation`."""

import asyncio
import re
import shutil

import pytest

from benchmarks.rotation import rotate
from bot.rotation.check import check
from tests.watcher.conftest import findings, until

ENOUGH_ROTATIONS = 60
"""A cut loses something in one of eight, when a write falls between its copy and its end: ten in a row may lose nothing."""

pytestmark = [
    pytest.mark.scenario,
    pytest.mark.skipif(shutil.which("logrotate") is None, reason="logrotate is not installed"),
]


@pytest.mark.parametrize("mode", ["rename", "rename, compress later"])
@pytest.mark.parametrize("appends", [True, False], ids=["append", "overwrite"])
def test_a_rename_loses_nothing(tmp_path, mode, appends):
    """The job writes on into the renamed file, which stays."""
    found = rotate(tmp_path, mode, appends=appends, rotations=10)

    assert (found.lost, found.zeros) == (0, 0)
    assert found.written > 10_000


def test_a_rename_that_compresses_at_once_loses_what_the_job_writes_on(tmp_path):
    """The stanza that is usually copied, with a plain redirection."""
    found = rotate(tmp_path, "rename, compress at once", appends=True, rotations=10)

    assert found.lost > found.written / 2


def test_a_cut_loses_few_lines_and_fills_an_overwriters_file_with_zeros(tmp_path):
    """Why `>>` is advised."""
    for folder in ("append", "overwrite"):
        (tmp_path / folder).mkdir()

    appended = rotate(tmp_path / "append", "copytruncate", appends=True, rotations=10)
    overwritten = rotate(tmp_path / "overwrite", "copytruncate", appends=False, rotations=10)

    assert appended.zeros == 0
    assert overwritten.zeros > 100_000
    assert max(appended.lost, overwritten.lost) < 0.2 * appended.written


async def test_what_a_cut_lost_is_told(watching, settings, registry, log):
    """By `rotation check` afterwards, to the line; by the watcher while it happens, as far as it had not read them."""
    (log.parent / "train.log").touch()
    await watching(settings)

    lost = await asyncio.to_thread(rotate, log.parent, "copytruncate", appends=True, rotations=ENOUGH_ROTATIONS)

    holes = {hole.next_step: hole.lines for hole in check(log.parent / "train.log").holes}
    assert sum(holes.values()) == lost.lost > 0

    async def told():
        return {one.step: lines_in(one.text) for one in await findings(registry, "lines_lost")}

    assert await until(told)
    await until(lambda: has_read(registry, lost.written - 1))
    said = await told()
    assert set(said) <= set(holes)
    assert all(said[step] <= holes[step] for step in said)


async def has_read(registry, step):
    return any(rank.step == step for rank in await registry.ranks.all("run42"))


def lines_in(text):
    """`about 134 loss lines are missing …`, `about a loss line is missing …`."""
    return int(re.search(r"about ([\d,]+|a) loss line", text)[1].replace(",", "").replace("a", "1"))
