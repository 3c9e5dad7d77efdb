"""A file system whose reads never return: a process in state D that SIGKILL cannot end, on demand.

Plain Python over /dev/fuse (root, no libfuse). Reading MOUNT/stuck.log, or asking how full it is,
blocks the reader in the kernel until this program ends. It stands for a dead network mount, and for a tool blocked in the GPU driver.

usage: hung_fs.py MOUNT        prints "ready", ends at the end of its input
"""

import ctypes
import os
import stat
import struct
import sys
import threading
from pathlib import Path

NAME = b"stuck.log"
SIZE = 4096
_IN, _OUT = struct.Struct("<IIQQIIIHH"), struct.Struct("<IiQ")
LOOKUP, FORGET, GETATTR, OPEN, READ, STATFS, INIT, OPENDIR, READDIR, RELEASEDIR = 1, 2, 3, 14, 15, 17, 26, 27, 28, 29
INTERRUPT, DESTROY, BATCH_FORGET, RELEASE = 36, 38, 42, 18
libc = ctypes.CDLL(None, use_errno=True)


def attributes(node):
    """Root folder or the one file."""
    mode, size, inode = (stat.S_IFDIR | 0o755, 0, 1) if node == 1 else (stat.S_IFREG | 0o644, SIZE, 2)
    return struct.pack("<QQQQQQIIIIIIIIII", inode, size, 1, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


def serve(fuse):
    """Answer everything but reads and the question how full it is."""
    while True:
        try:
            request = os.read(fuse, 1 << 17)
        except OSError:
            return
        _, operation, unique, node, *_ = _IN.unpack_from(request)
        if operation in (READ, STATFS, FORGET, INTERRUPT, BATCH_FORGET):
            continue
        if operation == DESTROY:
            return
        data, error = answer(operation, node, request)
        try:
            os.write(fuse, _OUT.pack(_OUT.size + len(data), -error, unique) + data)
        except OSError:
            continue


def answer(operation, node, request):
    """What the kernel is told."""
    if operation == INIT:
        return struct.pack("<IIIIHHIIHHI", 7, 31, 65536, 0, 16, 12, 65536, 1, 0, 0, 0) + bytes(28), 0
    if operation == LOOKUP:
        found = request[_IN.size :].split(b"\0")[0] == NAME
        return (struct.pack("<QQQQII", 2, 0, 60, 60, 0, 0) + attributes(2), 0) if found else (b"", 2)
    if operation == GETATTR:
        return struct.pack("<QII", 60, 0, 0) + attributes(node), 0
    if operation in (OPEN, OPENDIR):
        return struct.pack("<QII", 1, 1, 0), 0
    if operation in (READDIR, RELEASE, RELEASEDIR):
        return b"", 0
    return b"", 38


def main(mount):
    """Mount, serve, unmount."""
    Path(mount).mkdir(parents=True, exist_ok=True)
    fuse = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={fuse},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
    if libc.mount(b"hung", os.fsencode(mount), b"fuse", 0, options):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    threading.Thread(target=serve, args=(fuse,), daemon=True).start()
    print("ready", flush=True)  # noqa: T201
    sys.stdin.buffer.read()
    libc.umount2(os.fsencode(mount), 2)  # lazily; closing /dev/fuse ends the waiting reads
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
