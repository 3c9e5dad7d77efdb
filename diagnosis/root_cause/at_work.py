"""What a rank was at when it raised what tells no cause by itself: it saved, or it fetched a batch."""

import re

from diagnosis.observations import Category, Phase
from diagnosis.root_cause.candidates import Candidate
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
