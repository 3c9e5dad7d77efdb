"""What a person pastes: a logrotate stanza, or the lines for a program that rotates its own log."""

import grp
import os
import pwd
import textwrap
from collections.abc import Sequence
from pathlib import Path

from bot.rotation.advice import Kind, losses, sentence
from watcher.log_writers import Writer

_STANZA = """\
{paths} {{
    # `daily` and `size` exclude each other (the last one wins), so the size is an upper bound here. It is looked at
    # when logrotate runs, which is once a day unless its timer or cron entry is made hourly.
    daily
    maxsize 500M
    rotate 7
    {way}
    compress
    delaycompress
    missingok
    notifempty{su}
}}
"""
_LOGURU = """\
from loguru import logger

# The program itself rotates: it opens the new file, so nothing is lost.
logger.add("{path}", rotation="500 MB", retention=7, compression="gz", enqueue=True)
"""
_LOGGING = """\
import logging.handlers

# The program itself rotates: it opens the new file, so nothing is lost. One process may write one file:
# give each rank its own, such as train-rank{{rank}}.log.
handler = logging.handlers.RotatingFileHandler("{path}", maxBytes=500_000_000, backupCount=7)
logging.getLogger().addHandler(handler)
"""


def logrotate(paths: Sequence[Path], kind: Kind, writers: Sequence[Writer]) -> str:
    """A stanza with its reasons above it."""
    told = [sentence(kind, writers), "What each way would lose here:"]
    told += [f"- {loss.way}: {loss.text}" + ("" if loss.is_fit else " (not used)") for loss in losses(kind)]
    if kind is Kind.OVERWRITES:
        told.append("The stanza below is for the next start, with `>>`; it is switched off until then.")
    head = "\n".join(
        textwrap.fill(line, 110, initial_indent="# ", subsequent_indent="#   " if line[0] == "-" else "# ")
        for line in told
    )
    names = " ".join(f'"{path}"' if " " in str(path) else str(path) for path in paths)
    stanza = _STANZA.format(paths=names, way="copytruncate", su=_su(paths))
    if kind is Kind.OVERWRITES:
        stanza = textwrap.indent(stanza, "# ")
    return f"{head}\n{stanza}"


def loguru(paths: Sequence[Path]) -> str:
    """For a program that logs with loguru."""
    return "\n".join(_LOGURU.format(path=path) for path in paths[:1])


def logging_handlers(paths: Sequence[Path]) -> str:
    """For a program that logs with Python's own logging."""
    return "\n".join(_LOGGING.format(path=path) for path in paths[:1])


def _su(paths: Sequence[Path]) -> str:
    """Logrotate runs as root and refuses a folder that others may write in, unless it is told as whom to work."""
    try:
        status = paths[0].parent.stat()
        if status.st_uid == 0 and not status.st_mode & (os.W_OK << 3 | os.W_OK):
            return ""
        return f"\n    su {pwd.getpwuid(status.st_uid).pw_name} {grp.getgrgid(status.st_gid).gr_name}"
    except (OSError, KeyError, IndexError):
        return ""
