"""A snapshot's bundle as one file for Slack: only for channels that may have it, only from the configured store.

Each file is checked against the manifest beside it before it is packed; nothing is ever unpacked here.
"""

import asyncio
import hashlib
import io
import json
import logging
import tarfile
from collections.abc import Mapping, Sequence

from bot.settings import BotSettings
from watcher.store import NotStored, files_at

MOST_BYTES = 256 << 20
"""Of all nodes together, before packing."""
SECONDS = 120.0

logger = logging.getLogger(__name__)


class Bundles:
    """Packs what the nodes have stored."""

    def __init__(self, settings: BotSettings) -> None:
        self._root = settings.snapshot_url.rstrip("/")
        self._channels = frozenset(settings.bundle_channels)

    async def __call__(self, channel: str, places: Sequence[str]) -> tuple[bytes | None, str]:
        """The bundle, and why there is none; both empty where this channel gets none."""
        if channel not in self._channels or not self._root:
            return None, ""
        foreign = [place for place in places if not place.startswith(f"{self._root}/") or "/../" in place]
        if foreign or not places:
            return None, "the nodes store their snapshots elsewhere than this bot reads (RUNWATCH_SNAPSHOT_URL)"
        try:
            async with asyncio.timeout(SECONDS):
                return await asyncio.to_thread(pack, places), ""
        except (NotStored, TimeoutError) as problem:
            return None, str(problem) or f"the store did not answer in {SECONDS:.0f} s"


def pack(places: Sequence[str]) -> bytes:
    """One tar.gz with a folder for each node's snapshot; times and owners are left out.

    Raises:
        NotStored: a snapshot cannot be read, or a file is not what its manifest says.
    """
    out, left = io.BytesIO(), MOST_BYTES
    with tarfile.open(fileobj=out, mode="w:gz", compresslevel=6) as archive:
        for place in places:
            files = dict(files_at(place, left))
            left -= sum(len(data) for data in files.values())
            _verify(place, files)
            folder = place.rsplit("/", 1)[-1]
            for name, data in sorted(files.items()):
                member = tarfile.TarInfo(f"{folder}/{name}")
                member.size, member.mode = len(data), 0o600
                archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


def _verify(place: str, files: Mapping[str, bytes]) -> None:
    """Every file of the manifest is there with its hash, and no other."""
    try:
        told = json.loads(files["manifest.json"])
        wanted = {file["name"]: file["sha256"] for piece in told["pieces"] for file in piece["files"]}
    except (KeyError, ValueError, TypeError) as problem:
        raise NotStored(f"{place} has no manifest that can be read") from problem
    found = {name: hashlib.sha256(data).hexdigest() for name, data in files.items() if name != "manifest.json"}
    if found != wanted:
        raise NotStored(f"{place} is not what its manifest says")
