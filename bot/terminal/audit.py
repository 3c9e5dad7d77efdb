"""`runwatch registry audit`: who did what, as a table or as JSON lines, and whether the chain holds."""

import argparse
import json
import sys
from datetime import UTC, datetime

from rich.console import Console

from bot.terminal.inspection import clean
from bot.terminal.printing import table_of
from registry import Registry
from registry.audit import ALLOWED, NOT_DONE, entry_of, settled

FINE, BROKEN = 0, 1
NEWEST = 50
WIDTH_OF_A_PIPE = 400


async def audit(registry: Registry, options: argparse.Namespace) -> int:
    """Print the newest entries, or all of them as JSON lines; exit 1 when the chain is broken."""
    if options.json:
        async for _, content in registry.audit.all():
            sys.stdout.write(json.dumps(entry_of(content), ensure_ascii=True) + "\n")
    else:
        rows = [["when (UTC)", "who", "role", "what", "about", "words", "how", "result"]]
        for one in settled(list(reversed(await registry.audit.newest(NEWEST)))):
            when = datetime.fromtimestamp(one.at, UTC).strftime("%Y-%m-%d %H:%M:%S")
            result = {ALLOWED: "done", NOT_DONE: NOT_DONE}.get(one.result, "refused")
            told = (one.user, one.role, one.action, one.target, one.words, one.how, result)
            rows.append([when, *(clean(cell, 60) for cell in told)])
        if len(rows) == 1:
            print("Nobody has done anything yet.")
            return FINE
        width = None if sys.stdout.isatty() else WIDTH_OF_A_PIPE
        Console(file=sys.stdout, soft_wrap=True, highlight=False, width=width).print(table_of(rows))
    verdict = await registry.audit.verify()
    if verdict.broken_at is not None:
        sys.stderr.write(f"The chain is broken at {verdict.broken_at}: entries were changed or taken out.\n")
        return BROKEN
    sys.stderr.write(f"{verdict.entries:,} entries, all of them fit together; the newest hash is {verdict.head}.\n")
    if verdict.unchecked:
        said = "were made with a key that is not here (RUNWATCH_AUDIT_KEY), so only their order was checked"
        sys.stderr.write(f"{verdict.unchecked:,} of them {said}.\n")
    if verdict.keyless:
        sys.stderr.write(f"{verdict.keyless:,} of them are from before there was a key.\n")
    return FINE
