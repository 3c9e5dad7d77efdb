"""A snapshot's files in Slack: only where the channel may have them, only from our store, only as their manifest says."""

import io
import json
import tarfile
from pathlib import Path

import pytest

from bot.bundles import Bundles
from bot.settings import BotSettings
from tests.watcher.test_snapshot_safety import log, scene_of, snapshots_in
from watcher.snapshot import Order
from watcher.store import NotStored, files_at

__all__ = ["log"]


@pytest.fixture
async def stored(tmp_path, log):
    """Two snapshots in a shared folder; their places."""
    shared = tmp_path / "shared"
    snapshots = snapshots_in(tmp_path, url=str(shared))
    return [(await snapshots.take(scene_of(tmp_path, log), Order())).url for _ in range(2)]


def bundles(tmp_path, *channels):
    return Bundles(BotSettings(snapshot_url=str(tmp_path / "shared"), bundle_channels=channels))


async def test_the_bundle_holds_every_file_of_every_node(tmp_path, stored):
    data, why = await bundles(tmp_path, "C1")("C1", stored)

    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        names = archive.getnames()
        members = archive.getmembers()
    assert why == ""
    assert {name.split("/")[0] for name in names} == {place.rsplit("/", 1)[1] for place in stored}
    assert sum(name.endswith("/manifest.json") for name in names) == 2
    assert all(member.isfile() and member.uid == 0 for member in members)


async def test_other_channels_get_none_and_no_word_of_it(tmp_path, stored):
    assert await bundles(tmp_path, "C1")("C2", stored) == (None, "")
    assert await bundles(tmp_path)("C1", stored) == (None, "")


@pytest.mark.parametrize("place", ["/etc", "{shared}/../../etc", "s3://other/x"])
async def test_a_place_outside_the_store_is_never_read(tmp_path, stored, place):
    """A forged answer of a node leads nowhere."""
    data, why = await bundles(tmp_path, "C1")("C1", [place.format(shared=tmp_path / "shared")])

    assert data is None
    assert "elsewhere" in why


async def test_a_file_that_was_changed_is_not_sent(tmp_path, stored):
    """Nor one that the manifest does not know."""
    folder = Path(stored[0])
    told = json.loads((folder / "manifest.json").read_text())
    name = told["pieces"][0]["files"][0]["name"]
    (folder / name).write_text("something else")

    data, why = await bundles(tmp_path, "C1")("C1", stored)

    assert data is None
    assert "is not what its manifest says" in why


def test_what_is_too_large_is_refused_before_it_is_read(tmp_path, stored):
    with pytest.raises(NotStored, match="larger than"):
        list(files_at(stored[0], 10))


def test_an_object_store_is_read_the_same_way(tmp_path):
    memory = pytest.importorskip("fsspec").filesystem("memory")
    memory.pipe({"/bundles/run/x/a.log": b"1", "/bundles/run/x/manifest.json": b"{}"})

    assert dict(files_at("memory://bundles/run/x", 1000)) == {"a.log": b"1", "manifest.json": b"{}"}
