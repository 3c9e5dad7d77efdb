"""Which kinds of finding are one trouble, and which trouble explains which.

A trouble is named by its category where it has one (`gpu_oom`, `nan_inf` …), else by the finding's kind.
"""

from collections.abc import Mapping
from types import MappingProxyType

from diagnosis.findings import Finding
from diagnosis.observations import Category

TROUBLES: Mapping[str, str] = MappingProxyType(
    {
        "nonfinite_loss": Category.NAN_INF,
        "nonfinite_grad_norm": Category.NAN_INF,
        "nonfinite_reported": Category.NAN_INF,
        "nonfinite_eval": Category.NAN_INF,
        "loss_vanished": Category.NAN_INF,
        "loss_zero": Category.NAN_INF,
        "nan_counter": Category.NAN_INF,
        "overflow_streak": Category.NAN_INF,
        "loss_scale_floor": Category.NAN_INF,
        "loss_scale_drop": Category.NAN_INF,
        "spike": Category.LOSS_SPIKE,
        "sustained_spike": Category.LOSS_SPIKE,
        "loss_spike_reported": Category.LOSS_SPIKE,
        "divergence": Category.LOSS_SPIKE,
        "grad_norm_lead": Category.LOSS_SPIKE,
        "collective_timeout": Category.COLLECTIVE_HANG,
        "slowdown_reported": Category.SLOWDOWN,
        "node_lost_reported": Category.NODE_LOST,
        "killed": Category.RANK_CRASH,
        "stalled": "stall",
        "initialising_too_long": "stall",
    }
)
"""Finding kind → trouble, for kinds whose trouble bears another name."""

_DEATHS = (
    Category.GPU_OOM,
    Category.HOST_OOM,
    Category.GPU_HARDWARE,
    Category.DATALOADER_CRASH,
    Category.DISK_FULL,
    Category.CHECKPOINT_FAILURE,
    Category.RANK_CRASH,
    Category.PREEMPTED,
    Category.NODE_LOST,
)
AFTERMATH = "aftermath"
"""What other processes print once one has failed: counted, whatever it says."""

_STOPS = (Category.NETWORK_FAULT, Category.DATALOADER_STALL, Category.STORAGE_STALL, Category.INIT_TIMEOUT)
BROKEN = frozenset({*_DEATHS, *_STOPS, Category.COLLECTIVE_HANG, Category.SLOWDOWN})
"""Troubles that end, hold up or slow down a run: the line that is read first is seldom the cause."""
_FOLLOWERS = (Category.COLLECTIVE_HANG, "stall", "run_down", Category.SLOWDOWN)
UNWATCHED = "watcher_silent"


def _with_it(death: str) -> frozenset[str]:
    return frozenset({*_FOLLOWERS, Category.RANK_CRASH, Category.NETWORK_FAULT} - {death})


EXPLAINS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        # A process that died takes its peers with it: their timeouts, crashes and silence only follow.
        **{death: _with_it(death) for death in _DEATHS},
        # A node that is lost or was taken away takes its watcher along.
        **{death: _with_it(death) | {UNWATCHED} for death in (Category.PREEMPTED, Category.NODE_LOST)},
        **{stop: frozenset({*_FOLLOWERS, Category.RANK_CRASH}) for stop in _STOPS},
        Category.COLLECTIVE_HANG: frozenset({"stall", "run_down", Category.RANK_CRASH, Category.SLOWDOWN}),
        # The watchdog's timeouts, minutes later, only say again that the run stood.
        "stall": frozenset({Category.SLOWDOWN, Category.COLLECTIVE_HANG, Category.NETWORK_FAULT}),
        "run_down": frozenset({"stall", Category.SLOWDOWN}),
        # A loss that ran away and then became NaN is one story.
        Category.NAN_INF: frozenset({Category.LOSS_SPIKE}),
    }
)
"""Cause → the troubles that only follow from it; while the cause is open they are counted, not said.

`rank_crash` and `collective_hang` explain each other: whichever was announced first keeps the thread.
"""

_STANDS = frozenset({"stall", "run_down", Category.COLLECTIVE_HANG, Category.RANK_CRASH, Category.NETWORK_FAULT})
SAME_NIGHT: Mapping[str, frozenset[str]] = MappingProxyType({Category.NAN_INF: _STANDS, Category.LOSS_SPIKE: _STANDS})
"""Trouble → what often comes of it and needs words of its own: told in its thread, under the page that was sent."""


def trouble_of(finding: Finding) -> str:
    """The trouble a finding belongs to."""
    category = finding.details.get("category", "")
    if category and category != Category.NONE:
        return category
    return TROUBLES.get(finding.kind, finding.kind)


def is_aftermath(finding: Finding) -> bool:
    """Whether it only follows from another failure, as its own line tells."""
    return finding.details.get("follows") == "yes"


def explains(cause: str, consequence: str) -> bool:
    """Whether one trouble is enough to explain another."""
    return consequence in EXPLAINS.get(cause, frozenset())


def are_of_one_night(one: str, other: str) -> bool:
    """Whether two troubles of a run are one story, whichever was seen first."""
    return other in SAME_NIGHT.get(one, frozenset()) or one in SAME_NIGHT.get(other, frozenset())
