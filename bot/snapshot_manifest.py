"""What the manifest of a watcher's snapshot tells of the files beside it: their node, and what each of them is."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

NAME = "manifest.json"
VERSIONS = "versions.json"
MAX_BYTES = 1 << 20

_KINDS: Mapping[str, str] = MappingProxyType(
    {
        "gpu_ring": "gpu_samples",
        "nvidia_smi_table": "gpu_samples",
        "nvidia_smi_report": "nvidia_smi",
        "processes": "process_state",
        "cgroups": "cgroup",
        "kernel_messages": "kernel_log",
        "host_memory": "unknown",
        "disks": "unknown",
        "versions": "unknown",
        "host_ring": "unknown",
        "quiet_lines": "unknown",
        "launch_command": "unknown",
        "network": "unknown",
        "checkpoints": "unknown",
        "scheduler": "scheduler",
        "nvidia_smi_topology": "unknown",
        "nvidia_smi_processes": "unknown",
    }
)
"""Kinds by the collector's name; a log's tail is recognised by its content like any log."""
_LIST = "rotated-logs.txt"
"""Beside it lie the copies themselves, which are logs."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """One snapshot; empty for a folder that is none."""

    node: str | None = None
    pieces: Mapping[str, str] = field(default_factory=dict)
    """File name → collector."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """File name → the path it was copied from, which may tell rank and node."""
    booted: float | None = None
    """When the node was started, Unix seconds: kernel lines count from there."""

    def kind_of(self, path: str) -> str | None:
        """The kind of a file of the snapshot, where its collector tells."""
        name = path.rsplit("/", 1)[-1]
        return "unknown" if name == _LIST else _KINDS.get(self.pieces.get(name, ""))

    def source_of(self, path: str) -> str | None:
        """The path on the node that a file of the snapshot was copied from."""
        return self.sources.get(path.rsplit("/", 1)[-1])


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a folder; what cannot be read is no manifest."""
    told = _object(folder / NAME)
    if "manifest" not in told:
        return Manifest()
    node = told.get("node")
    versions = _object(folder / VERSIONS)
    now, up = versions.get("time"), versions.get("uptime_seconds")
    return Manifest(
        node[:200] if isinstance(node, str) and node else None,
        {str(file.get("name")): name for name, file in _files(told.get("pieces"))},
        {
            str(file.get("name")): str(file["source"])[:4096]
            for _, file in _files(told.get("pieces"))
            if file.get("source")
        },
        now - up if isinstance(now, float) and isinstance(up, float) else None,
    )


def _object(path: Path) -> dict[str, Any]:
    try:
        if not path.is_file() or path.stat().st_size > MAX_BYTES:
            return {}
        told = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


def _files(pieces: Any) -> list[tuple[str, Mapping[str, Any]]]:
    """Each file of the manifest, with its collector."""
    return [
        (str(piece.get("name")), file)
        for piece in (pieces if isinstance(pieces, list) else [])
        if isinstance(piece, dict) and isinstance(piece.get("files"), list | tuple)
        for file in piece["files"]
        if isinstance(file, dict)
    ]
