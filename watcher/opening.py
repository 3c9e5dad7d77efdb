"""Opening a log without trusting its name: regular files only, no symbolic links, never a wait."""

import ctypes
import errno
import os
import stat
import struct

_OPENAT2 = 437
"""The system call's number, the same on every architecture."""
_RESOLVE_NO_SYMLINKS = 0x04
_RESOLVE_NO_MAGICLINKS = 0x02
_RESOLVE_BENEATH = 0x08
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NOCTTY
_NO_SUCH_CALL = (errno.ENOSYS, errno.EPERM, errno.E2BIG, errno.EINVAL)

_KINDS = (
    (stat.S_ISLNK, "is a symbolic link; name the file itself"),
    (stat.S_ISDIR, "is a directory"),
    (stat.S_ISFIFO, "is a FIFO; reading it would take the job's data away"),
    (stat.S_ISSOCK, "is a socket"),
    (stat.S_ISCHR, "is a device"),
    (stat.S_ISBLK, "is a device"),
)


class Refused(Exception):
    """We do not read this path, and why."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path} {reason}")
        self.path = path
        self.reason = reason


def open_log(path: str, beneath: str | None = None) -> int:
    """A descriptor of the regular file at `path`; below `beneath` no directory may be a symbolic link.

    Raises:
        Refused: it is not a regular file, or a link leads to it.
        OSError: it cannot be opened.
    """
    # Looked at before it is opened: opening a device can already do something to it.
    _refuse_unless_regular(path, os.lstat(path).st_mode)
    descriptor = _open(path, beneath)
    try:
        _refuse_unless_regular(path, os.fstat(descriptor).st_mode)
    except Refused:
        os.close(descriptor)
        raise
    return descriptor


def _refuse_unless_regular(path: str, mode: int) -> None:
    if stat.S_ISREG(mode):
        return
    reason = next((words for is_kind, words in _KINDS if is_kind(mode)), "is not a regular file")
    raise Refused(path, reason)


def _open(path: str, beneath: str | None) -> int:
    try:
        if beneath is None or not path.startswith(beneath.rstrip("/") + "/"):
            return os.open(path, _FLAGS)
        return _open_beneath(path, beneath)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise Refused(path, "is a symbolic link, or lies behind one; name the file itself") from None
        raise


def _open_beneath(path: str, root: str) -> int:
    root_descriptor = os.open(root, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        relative = os.path.relpath(path, root)
        resolve = _RESOLVE_NO_SYMLINKS | _RESOLVE_NO_MAGICLINKS | _RESOLVE_BENEATH
        how = struct.pack("QQQ", _FLAGS, 0, resolve)
        libc = ctypes.CDLL(None, use_errno=True)
        descriptor = libc.syscall(_OPENAT2, root_descriptor, os.fsencode(relative), how, len(how))
        if descriptor >= 0:
            return int(descriptor)
        code = ctypes.get_errno()
        if code in _NO_SUCH_CALL:  # an old kernel, or a container that forbids it: the name itself is still checked
            return os.open(path, _FLAGS)
        raise OSError(code, os.strerror(code), path)
    finally:
        os.close(root_descriptor)
