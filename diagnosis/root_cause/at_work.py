"""What a rank was at when it raised what tells no cause by itself: it saved, fetched a batch, or skipped steps."""

import re

from diagnosis.log_facts import Sighting
from diagnosis.observations import Category, Phase
from diagnosis.root_cause.candidates import Candidate
from diagnosis.root_cause.passed import SURVIVED_STEPS
from diagnosis.root_cause.timeline import Timeline

_RAISED = frozenset({"python_exception", "uncaught_exception"})
_SAVES = re.compile(
    r"(?i)save\w{0,24}(?:checkpoint|ckpt|state|pretrained|model|weights|snapshot)|"
    r"(?:checkpoint|ckpt|snapshot)\w{0,20}_?(?:save|write|upload)|(?:write|upload|dump|push)\w{0,12}_(?:checkpoint|ckpt)"
)
"""Functions that save, by their names."""
_OF_STORES = re.compile(
    r"^(?:botocore|boto3|s3fs|s3torchconnector|google|gcsfs|azure|adlfs|fsspec|aiobotocore|oss2|tos|obs|pyarrow|"
    r"huggingface_hub|requests|urllib3|http|aiohttp|ssl|msc|multistorageclient)\."
)
"""Libraries that carry files away."""
_OF_FILES = frozenset(
    {"OSError", "IOError", "PermissionError", "FileNotFoundError", "FileExistsError", "NotADirectoryError",
     "IsADirectoryError", "BlockingIOError"}
)  # fmt: skip


_LOADS = ("torch/utils/data/", "webdataset/", "streaming/base/", "grain/_src/", "dali/")
"""Code that only fetches batches."""
_ENDS_A_LOADER = ("__del__", "_shutdown_workers", "_try_put_index")
_OF_SKIPS = re.compile(r"(?i)\bskip(?:s|ped|ping)?\b|\bnan\b|\bnon-?finite\b|\bdiverg(?:ed|es|ence|ing)\b|\boverflow")
"""What a program says that will not skip any more steps."""
_STREAK = 2
"""Skipped steps that are more than a chance."""


def is_of_a_loader(found: Candidate) -> bool:
    """An exception of no kind of its own that came out of fetching a batch."""
    raised = found.sighting.raised
    if found.name not in _RAISED or found.category is not Category.RANK_CRASH or raised is None:
        return False
    return raised.passes(*_LOADS) and not raised.passes(*_ENDS_A_LOADER)


def is_of_a_save(found: Candidate, timeline: Timeline) -> bool:
    """An exception of no kind of its own that came out of a function that saves, or of files while a save ran."""
    symptom, raised = found.sighting.symptom, found.sighting.raised
    if found.name not in _RAISED or symptom.category is not Category.RANK_CRASH:
        return False
    if raised is not None and any(_SAVES.search(frame.function) is not None for frame in raised.frames):
        return True
    passage = timeline.passage_at(found.sighting, found.log)
    kind = symptom.fields.get("type") or symptom.fields.get("type2") or ""
    is_of_files = _OF_STORES.match(kind) is not None or kind.rsplit(".", 1)[-1] in _OF_FILES
    return passage is not None and passage.mark.phase is Phase.SAVING and is_of_files


def skipped_before(found: Candidate) -> Sighting | None:
    """Where the steps began that were skipped for their gradients, of one that gave up skipping."""
    fields = found.sighting.symptom.fields
    message = fields.get("message") or fields.get("message2") or ""
    if found.name not in _RAISED or found.category is not Category.RANK_CRASH or _OF_SKIPS.search(message) is None:
        return None
    attempt, order = found.sighting.attempt, found.sighting.order
    skips = [item for item in found.log.all_of("gradient_nan") if item.attempt == attempt and item.order < order]
    if sum(item.count for item in skips) < _STREAK:
        return None
    first = skips[-1]
    for item in reversed(skips):
        if first.steps_before - item.steps_before > SURVIVED_STEPS:
            break
        first = item
    return first
