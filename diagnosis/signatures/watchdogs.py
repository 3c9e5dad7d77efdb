"""Lines of watchdogs that are not PyTorch's: a person's own, a launcher's rank monitor, a trainer's step watchdog.

They say that a run stands, and nothing of why: what stood first is asked of everything else.
"""

from diagnosis.observations import Category, Role
from diagnosis.signatures.row import Tier, row

_SETTING = r"(?![^\n]{0,200}\b(?:will|would|if|unless|when|after no|armed|enabled|disabled|configured|timeout ?[=:])\b)"
"""What it would do, told when it is set up."""
_LASTED = r"\d{1,9}(?:\.\d{1,6})? ?(?:s|secs?|seconds?|m|mins?|minutes?|h|hours?)\b"
_STANDS = (
    r"(?:\bno (?:training )?(?:progress|heartbeats?|steps?|activity|log output)\b(?! bars?\b)|\bnot (?:progressed|"
    r"advanced|made (?:any )?progress|sent (?:a |any )?heartbeats?)\b|\b(?:hang|stall|deadlock) (?:was )?detected\b|"
    r"\b(?:is|seems?|appears?)(?: to be)? (?:hung|stuck|stalled|frozen)\b)"
)
_ENDS = r"(?<!to )\b(?:kill|abort|terminat|exit|restart|shut|stopp)(?:ing|ed|s)?\b"

TABLE = (
    row(
        "S124a",
        "own_watchdog",
        Role.CASCADE,
        Category.COLLECTIVE_HANG,
        Tier.WATCHDOG,
        needle=("progress for ", "eartbeat", "kill", "abort", "hang detected", "hung", "stuck", "frozen", "exiting"),
        pattern=r"(?i)^"
        + _SETTING
        + r"(?=[^\n]{0,300}?"
        + _STANDS
        + r")(?=[^\n]{0,400}?"
        + _LASTED
        + r")(?=[^\n]{0,500}?"
        + _ENDS
        + r")(?:[^\n]{0,160}?\brank[ =:#]{0,2}(?P<stands>\d{1,7})\b(?=[^\n]{0,40}\b(?:no|not|is|seems|"
        r"appears|stuck|hung)\b))?",
        advice="Take `py-spy dump --nonblocking` of every rank before it is ended, and read each rank's last lines.",
        source="PrimeIntellect-ai/prime-rl#2142, watchdogs in training scripts",
        example="2026-03-14 09:34:00,000 ERROR No progress for 1800 s, killing",
    ),
    row(
        "S124b",
        "rank_monitor_timeout",
        Role.CASCADE,
        Category.COLLECTIVE_HANG,
        Tier.WATCHDOG,
        needle="RankMonitorServer",
        pattern=r"RankMonitorServer[^\n]{0,40}?Did not get (?:initial|subsequent) heartbeat\. Waited "
        r"(?P<seconds>[\d.]{1,12}) seconds",
        advice="Read what each rank did last: the monitor only saw that heartbeats stopped.",
        source="NVIDIA nvidia-resiliency-ext rank_monitor_server.py",
        example="[WARNING] [RankMonitorServer:34] Did not get subsequent heartbeat. Waited 171.92 seconds.",
    ),
    row(
        "S124c",
        "step_watchdog",
        Role.CASCADE,
        Category.COLLECTIVE_HANG,
        Tier.WATCHDOG,
        needle="Watchdog triggered because step has not",
        pattern=r"Watchdog triggered because step has not incremented in the last (?P<seconds>[\d.]{1,12}) seconds",
        advice="Read the stacks of all threads that stand below it, of every process.",
        source="apple/axlearn trainer.py",
        example="trainer process   0 step       90] Watchdog triggered because step has not incremented in the last "
        "1800 seconds.",
    ),
    row(
        "S124d",
        "megascale_hang",
        Role.CASCADE,
        Category.COLLECTIVE_HANG,
        Tier.WATCHDOG,
        needle=("Megascale hang detected", "Megascale detects a hang but"),
        pattern=r"Megascale hang detected: Timed out waiting for \d{1,9} graphs|Megascale detects a hang but cannot "
        r"determine the root cause",
        advice="Read the full digest below it (task 0 of slice 0, or the resource manager): it lists where each host "
        "stood.",
        source="openxla/xla docs on Megascale errors, AI-Hypercomputer/maxtext#2490",
        example="Megascale hang detected: Timed out waiting for 4 graphs to complete at launch_id 13650. Already "
        "completed: 100.",
    ),
)
