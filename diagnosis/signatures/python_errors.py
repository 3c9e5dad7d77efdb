"""Python's own words: tracebacks line by line, and the exception at their end.

`diagnosis/tracebacks.py` puts the lines together again. The exception row is asked last, when no other row
knows the line better.
"""

import re
from collections.abc import Mapping

from diagnosis.observations import Category, Role
from diagnosis.signatures.row import Tier, row

_ASKED_TO_STOP = frozenset({"KeyboardInterrupt", "SIGTERMException"})
_WARNINGS = ("Warning",)
_NAN = re.compile(
    r"(?i)\bloss (?:is|was|became|=) ?(?:nan|inf)\b|\bnan loss\b|\b(?:found|result|unexpected) (?:a )?(?:nan|inf)\b"
)
"""A person's own words for a loss that is no number."""
_MET = re.compile(
    r"(?i)\b(?:retrying|(?:will|going to) retry|re-?trying|skipping|ignoring|ignored|continuing|falling back)\b"
)
"""What a program says that goes on."""
_GAVE_UP = re.compile(
    r"(?i)\bexhausted\b|\bg(?:ave|iv(?:e|es|ing)) up\b|\bfailed after\b|"
    r"\bafter \d{1,6} (?:retries|attempts|tries|times)\b|"
    r"\b(?:max(?:imum)?|too many) [^\n]{0,30}(?:retries|attempts|tries|skips|skipped)\b|\bno more\b|"
    r"\b(?:not|never|cannot|can't|without|stop(?:s|ped)?|instead of) (?:retrying|skipping|ignoring|continuing)\b"
)
"""What it says when it goes on no longer."""


def _ruling_of_exception(fields: Mapping[str, str]) -> tuple[Role, Category]:
    name = fields.get("type", "").rsplit(".", 1)[-1]
    if name in _ASKED_TO_STOP:
        return Role.CASCADE, Category.PREEMPTED
    if name == "SystemExit" or name.endswith(_WARNINGS):
        return Role.CONTEXT, Category.NONE
    message = fields.get("message") or fields.get("message2") or ""
    return Role.ROOT, Category.NAN_INF if _NAN.search(message) is not None else Category.RANK_CRASH


def _ruling_of_uncaught(fields: Mapping[str, str]) -> tuple[Role, Category]:
    """Who tries again, or goes on without it, has caught it after all."""
    role, category = _ruling_of_exception(fields)
    message = fields.get("message", "")
    is_met = role is Role.ROOT and _MET.search(message) is not None and _GAVE_UP.search(message) is None
    return (Role.CONTEXT if is_met else role), category


TABLE = (
    row(
        "S025a",
        "traceback",
        Role.CONTEXT,
        Category.RANK_CRASH,
        Tier.EXCEPTION,
        needle="Traceback (most recent call last)",
        pattern=r"(?P<original>Original )?Traceback \(most recent call last\)(?:: \(RANK (?P<told_rank>\d{1,7})\))?",
        source="CPython",
        example="Traceback (most recent call last):",
    ),
    row(
        "S025b",
        "traceback_frame",
        Role.CONTEXT,
        Category.RANK_CRASH,
        Tier.EXCEPTION,
        needle='File "',
        pattern=r'^\s{1,12}File "(?P<path>[^"\n]{1,400})", line (?P<at>\d{1,7})(?:,? in (?P<function>[^\n]{1,160}))?',
        source="CPython",
        example='  File "/workspace/train.py", line 306, in main',
    ),
    row(
        "S026",
        "traceback_chained",
        Role.CONTEXT,
        Category.RANK_CRASH,
        Tier.EXCEPTION,
        needle=("During handling of the above exception", "The above exception was the direct cause"),
        pattern=r"During handling of the above exception|The above exception was the direct cause",
        advice="",
        source="CPython; bigscience tr1-13B",
        example="During handling of the above exception, another exception occurred:",
    ),
    row(
        "S026b",
        "traceback_ignored",
        Role.CONTEXT,
        Category.RANK_CRASH,
        Tier.EXCEPTION,
        needle="Exception ignored in",
        pattern=r"Exception ignored in(?: sys\.unraisablehook)?: ",
        source="CPython sys.unraisablehook",
        example="Exception ignored in: <function Pool.__del__ at 0x7f>",
    ),
    row(
        "S025e",
        "uncaught_exception",
        Role.ROOT,
        Category.RANK_CRASH,
        Tier.EXCEPTION,
        needle="ncaught ",
        pattern=r"(?:\brank=(?P<rank>\d{1,7})\] {1,4})?\b[Uu]ncaught (?:exception:? {1,4})?"
        r"(?P<type>[A-Za-z_][\w.]{0,80}(?:Error|Exception))\b(?:: (?P<message>[^\n]{0,300}))?",
        ruling=_ruling_of_uncaught,
        advice="Read the traceback beside it: nobody caught it, and the process ended.",
        source="allenai/OLMo#550",
        example="[2024-04-18 15:55:06] CRITICAL [olmo.util:158, rank=6] Uncaught HfHubHTTPError: 429 Client Error: Too "
        "Many Requests for url: https://huggingface.co/api/datasets/glue",
        names_rank=True,
    ),
    row(
        "S025f",
        "rank_error_snippet",
        Role.CONTEXT,
        Category.RANK_CRASH,
        Tier.EXCEPTION,
        needle=" Error Snippet]",
        pattern=r"\[Ranks? (?P<ranks>[\d, ]{1,200}) Error Snippet\]",
        source="ray.train.v2 worker_group/poll.py",
        example="[Rank 1 Error Snippet]:",
    ),
    row(
        "S025c",
        "wrong_arguments",
        Role.ROOT,
        Category.RANK_CRASH,
        Tier.EXCEPTION,
        needle=(": error: argument ", ": error: unrecognized arguments", ": error: the following arguments are"),
        pattern=r"^[\w./-]{1,120}: error: (?:argument |unrecognized arguments|the following arguments are required)",
        advice="Correct the command: the script does not know these arguments, and nothing was trained.",
        source="CPython argparse",
        example="train.py: error: argument --stage: invalid choice: 'stf' (choose from 'sft', 'rm', 'ppo')",
    ),
    row(
        "S025d",
        "script_not_found",
        Role.ROOT,
        Category.RANK_CRASH,
        Tier.EXCEPTION,
        needle=": can't open file '",
        pattern=r"^[\w./-]{1,120}: can't open file '[^'\n]{1,400}': \[Errno \d{1,3}\]",
        advice="Correct the path or the working directory: Python did not find the script, and nothing was trained.",
        source="CPython",
        example="python: can't open file '/workspace/train.py': [Errno 2] No such file or directory",
    ),
)

EXCEPTION = row(
    "S025",
    "python_exception",
    Role.ROOT,
    Category.RANK_CRASH,
    Tier.EXCEPTION,
    needle=(
        "Error",
        "Exception",
        "Interrupt",
        "Exit",
        "Exhausted",
        "Fault",
        "Failure",
        "Timeout",
        "Unsupported",
        "queue.Empty",
        "queue.Full",
    ),
    pattern=r"^\s{0,2}(?![^\n]{0,80}out of memory[^\n]{0,80}\b[Ss]kip(?:ping|ped)\b)"
    r"(?P<type>(?:[A-Za-z_]\w{0,60}\.){0,8}[A-Za-z_]\w{0,60}(?:Error|Exception|Interrupt|Exit|"
    r"Exhausted|"
    r"Fault|Failure)|(?:[a-z_]\w{0,60}\.){1,8}[A-Z]\w{0,60}(?:Timeout|TimeoutExpired|Unsupported)|"
    r"queue\.(?:Empty|Full)|Exception)(?:: (?P<message>[^\n]{0,300}))?\s{0,4}:?$|"
    r"^\s{0,2}(?![^\n]{0,80}out of memory[^\n]{0,80}\b[Ss]kip(?:ping|ped)\b)"
    r"(?P<type2>(?:[A-Za-z_]\w{0,60}\.){0,8}[A-Za-z_]\w{0,60}(?:Error|Exception|Interrupt)): "
    r"(?P<message2>[^\n]{1,300})",
    advice="Read the first traceback of that process, and mend what it names.",
    source="NVIDIA nvidia-resiliency-ext TAXONOMY, pytorch/pytorch#17113",
    example="ValueError: Expected input batch_size (8) to match target batch_size (7).",
    ruling=_ruling_of_exception,
)
"""The last line of a traceback, whatever its type: asked only when no other row of any table took the line."""
