"""Files people and the app uploaded: what is known of each, and its bytes."""

from __future__ import annotations

import mimetypes
import secrets
from collections.abc import Callable
from pathlib import Path

from bot.workspace.values import Json, Refused

_PICTURES = {b"\x89PNG": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}
_PRETTY = {"png": "PNG", "jpg": "JPEG", "gif": "GIF", "text": "Plain Text", "csv": "CSV", "json": "JSON"}


class Shelf:
    """Files by id; bytes in memory, or on disk when the workspace has a folder."""

    def __init__(self, folder: Path | None, record: Callable[[Json], None], tell: Callable[..., None]) -> None:
        self._folder = folder
        self._record = record
        self._tell = tell
        self._bytes: dict[str, bytes] = {}
        self.known: dict[str, Json] = {}
        """What is known of each file, in Slack's shape."""
        self.waiting: dict[str, Json] = {}
        """Upload secret → file that was announced and not yet completed."""

    def announce(self, name: str, length: int, user: str, created: float, *, alt_txt: str | None) -> tuple[str, str]:
        """A place for an upload: its file id and the secret of its URL."""
        file_id = "F" + secrets.token_hex(5).upper()
        secret = secrets.token_urlsafe(24)
        self.waiting[secret] = {"id": file_id, "name": name, "size": length, "user": user, "created": int(created)}
        if alt_txt:
            self.waiting[secret]["alt_txt"] = alt_txt
        return file_id, secret

    def announced(self, file_id: str) -> Json | None:
        """The announced upload of this file id."""
        return next((file for file in self.waiting.values() if file["id"] == file_id), None)

    def store(self, file_id: str, data: bytes) -> None:
        """Keep the bytes."""
        if self._folder is None:
            self._bytes[file_id] = data
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / file_id).write_bytes(data)

    def has_bytes(self, file_id: str) -> bool:
        """Whether the bytes arrived."""
        return file_id in self._bytes or (self._folder is not None and (self._folder / file_id).exists())

    def read(self, file_id: str) -> bytes:
        """The bytes."""
        if file_id not in self.known or not self.has_bytes(file_id):
            raise Refused("file_not_found")
        return self._bytes[file_id] if self._folder is None else (self._folder / file_id).read_bytes()

    def save(self, file: Json) -> None:
        """What is known of this file changed."""
        self.known[file["id"]] = file
        self._record({"op": "file", "file": file})
        self._tell("file", file=file)

    def find(self, file_id: str) -> Json:
        """What is known of this file, to change."""
        if file_id not in self.known:
            raise Refused("file_not_found")
        return self.known[file_id]


def type_of(name: str, data: bytes) -> tuple[str, str, str]:
    """Mimetype, Slack's filetype and its pretty name: pictures by their first bytes, the rest by name."""
    mimetype = next((mime for head, mime in _PICTURES.items() if data.startswith(head)), None)
    if mimetype is None:
        mimetype = mimetypes.guess_type(name)[0] or ("text/plain" if _is_text(data) else "application/octet-stream")
        if mimetype.startswith("image/"):
            mimetype = "application/octet-stream"  # the name says picture, the bytes do not
    filetype = {"image/jpeg": "jpg", "text/plain": "text"}.get(mimetype, mimetype.rsplit("/", 1)[-1])
    return mimetype, filetype, _PRETTY.get(filetype, filetype.upper())


def _is_text(data: bytes) -> bool:
    try:
        data[:4096].decode()
    except UnicodeDecodeError as broken:
        return len(data) > 4096 and broken.start > 4090  # a character cut by our own slice
    return b"\0" not in data[:4096]
