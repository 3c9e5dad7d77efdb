"""What kind of file this is, by its content; the name only helps where content cannot tell."""

import codecs
import json
import re
from typing import Any

from diagnosis.exhibits.gpu_table import columns_of
from diagnosis.exhibits.ras import is_ras

HEAD = 8192
"""Bytes of a file that are looked at."""

_PYSPY = re.compile(r"^Process \d{1,10}: ", re.MULTILINE)
_THREAD = re.compile(r"^Thread (?:0x[0-9a-fA-F]{1,16}|\d{1,20}) \((?:idle|active)", re.MULTILINE)
_FAULTHANDLER = re.compile(r"\A(?:Thread|Current thread) 0x[0-9a-f]{1,16} ")
_KERNEL_LINE = re.compile(
    r"^(?:<\d{1,3}>)?\[\s{0,8}\+?\d{1,9}\.\d{6}\] |"
    r"^\[[A-Z][a-z]{2} [A-Z][a-z]{2}\s{1,2}\d{1,2} \d\d:\d\d:\d\d \d{4}\] |"
    r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d,\d{6}[+-]\d\d:\d\d |"
    r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d) \S{1,80} kernel: |"
    r"^\S{1,40}\s{1,2}\d{1,2} \d\d:\d\d:\d\d \S{1,80} kernel: "
)
_TRAINS = re.compile(r"(?i)(?:\bloss\b|\bstep|\biter(?:ation)?\b)[^\n]{0,20}\d")
"""A line that the kernel did not write, whatever its stamp looks like."""
_KERNEL_WORDS = re.compile(r"^\[\s{0,8}\+?\d{1,9}\.\d{1,9}\] |\bNVRM: |\bkernel: |\bamdgpu \d", re.MULTILINE)
"""What a file says that is called a kernel log, however its stamps were cut."""
_KERNEL_NAME = re.compile(r"dmesg|kern(?:el)?[._-]?log|kmsg")
_SMI = re.compile(
    r"NVIDIA-SMI \d|NVSMI LOG|NVIDIA-SMI has failed|Failed to initialize NVML|"
    r"\A(?:Unable to determine the device handle for|No devices were found)|\A# (?:gpu|Idx)\s",
    re.IGNORECASE,
)
_SMI_HEAD = re.compile(
    r"^[\s|+=-]{0,200}$|^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d: ]{8,20}\s{0,10}$|^\W{0,4}nvidia-smi\b[^\n]{0,80}$"
)
_CGROUP = re.compile(
    r"^\s{0,8}(?:memory\.(?:limit_in_bytes|max_usage_in_bytes|oom_control|events|max|failcnt|current)\b|oom_kill \d)",
    re.MULTILINE,
)
_SCHEDULER = re.compile(
    r"^\s{0,4}JobID[ |]{1,40}\S|^\s{0,20}JOBID\s{1,20}PARTITION|^\s{0,4}JobId=\d{1,12} (?:JobName|ArrayJobId)=|"
    r"^Name:\s{2,20}\S{1,200}\nNamespace:|^apiVersion: v1\n(?:items:|kind: (?:Pod|List)\b)|"
    r"^NAME {1,80}READY {1,20}STATUS {1,20}RESTARTS |"
    r"^\s{0,4}LAST SEEN\s{1,12}TYPE\s{1,12}REASON|^\s{0,4}Type\s{1,12}Reason\s{1,12}Age\s",
    re.MULTILINE,
)
_WRITTEN = re.compile(r"(?i)\.(?:md|rst|py|sh|toml)$")
"""What people write beside their logs: it may speak of any trouble."""
_PS = re.compile(r"\A\s{0,20}(?:\S{1,20}\s{1,12}){0,12}PID\s[^\n]{0,200}\bS(?:TAT)?\b")
_RECORDER_WORDS = (b"pg_config", b"entries", b"nccl_version", b"comm_lib_version", b"record_id", b"pg_status")
_RECORDER_NAMES = re.compile(r"(?:^|[_.-])fr[_.-]|nccl_trace|comm_lib_trace|flight[_-]?recorder|(?:^|/)rank_\d{1,7}$")


_MARKUP = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*<(?:\?|!doctype |)(xml|html)\b", re.IGNORECASE)
_BEYOND_ASCII = bytes(range(0x80, 0x100))
_CONTROLS = bytes((*range(8), *range(0x0E, 0x1B), *range(0x1C, 0x20), 0x7F))
"""None of these is printed by a program that writes text: without backspace, bell is rare."""
_TRACKERS = {
    b"brain.Event:": "a binary TensorBoard event file; give the run's text log, or the loss saved there as CSV",
    b":W&B": "a binary offline W&B run; give its files/output.log or the job's own log, or the chart exported as CSV",
}
"""How the files of trackers begin, and the way to their numbers."""


def kind_of(head: bytes, name: str) -> str:
    """The kind of a file, from its first `HEAD` bytes and its name, in the words of `inspect --json`."""
    head = head[:HEAD]
    if head[:1] == b"\x80" and head[1:2] in b"\x02\x03\x04\x05":
        words = any(word in head for word in _RECORDER_WORDS)
        return "flight_recorder" if words or _RECORDER_NAMES.search(name) else "unknown"
    if not head.strip():
        return "unknown"
    if _is_binary(head) or _MARKUP.match(head) is not None:
        return "unknown"
    text = head.decode("utf-8", "replace").lstrip("\ufeff")
    if text.lstrip()[:1] in "{[":
        by_json = _json_kind(text) or ("unknown" if "\n" in text.strip() and _is_document(text, len(head)) else None)
        if by_json is not None:
            return by_json
    return "unknown" if _WRITTEN.search(name) else _text_kind(text, name)


def what_it_is(head: bytes) -> str:
    """Why a file of kind unknown tells nothing, from its first bytes."""
    if not head.strip():
        return "empty" if not head else "nothing but white space"
    if head.startswith(b"\x7fELF"):
        return "a program, no log"
    for mark, words in _TRACKERS.items():
        if mark in head[:64]:
            return words
    if _is_binary(head) or head[:1] == b"\x80":
        return "binary data, no log"
    markup = _MARKUP.match(head)
    if markup is not None:
        return f"{markup[1].decode().upper()}, no log; give the run's text log, or its numbers as CSV or JSON lines"
    return "no log"


def _is_document(text: str, size: int) -> bool:
    """True for a JSON file that is no list of steps: settings, an expected answer, a result; a long one by its head."""
    try:
        return not _tells_steps(json.loads(_closed(text) if size >= HEAD else text))
    except (ValueError, RecursionError):
        return False


def _closed(text: str) -> str:
    """The beginning of a long document, cut behind its last whole entry and closed; raises ValueError when it ends."""
    waiting, is_text, is_escaped, kept = "", False, False, ("", "")
    for place, letter in enumerate(text):
        if is_text:
            is_text = is_escaped or letter != '"'
            is_escaped = letter == "\\" and not is_escaped
        elif letter == '"':
            is_text = True
        elif letter in "{[":
            waiting = ("}" if letter == "{" else "]") + waiting
            kept = text[: place + 1], waiting
        elif letter in "}]":
            waiting = waiting[1:]
            if not waiting:
                raise ValueError("more comes behind its end, so it is no document")
        elif letter == ",":
            kept = text[:place], waiting
    return "".join(kept)


def _tells_steps(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_tells_steps(item) or _is_curve(key, item) for key, item in value.items())
    return isinstance(value, list) and any(isinstance(item, dict | list) for item in value)


def _is_curve(key: str, item: Any) -> bool:
    """True for `"train_loss": [2.5, 2.25]`."""
    is_loss = key.lower().endswith(("loss", "losses"))
    return is_loss and isinstance(item, list) and len(item) > 1 and all(isinstance(one, int | float) for one in item)


def _is_binary(head: bytes) -> bool:
    sample = head.lstrip(b"\x00")  # a copied and truncated log begins with zeros
    odd = len(sample) - len(sample.translate(None, _CONTROLS))
    foreign = len(sample) - len(sample.translate(None, _BEYOND_ASCII))
    blanks = sum(map(sample.count, (b" ", b"\n", b"\t")))
    is_noise = foreign * 4 > len(sample) and blanks * 25 < len(sample) and not _is_utf8(sample)
    return not sample or odd * 20 > len(sample) or is_noise


def _is_utf8(sample: bytes) -> bool:
    """True but for a letter that the end of the sample cuts."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return False
    return True


def _json_kind(text: str) -> str | None:
    start = text.lstrip()
    if "\n" not in start.rstrip() and start.startswith(('{"apiVersion":', '[{"Id":')):
        return "scheduler"
    if '"frames"' in text and ('"thread_id"' in text or '"os_thread_id"' in text):
        return "stacks"
    if is_ras(text):
        return "nccl_ras"
    if '"pg_config"' in text or ('"entries"' in text and ('"collective_seq_id"' in text or '"record_id"' in text)):
        return "flight_recorder"
    if start.count("\n") and start.split("\n", 1)[0].rstrip().endswith("}"):
        return None  # one JSON object per line: a log
    if ('"wchan"' in text or '"cpu_times"' in text) and ('"status"' in text or '"state"' in text):
        return "process_state"
    if '"OOMKilled"' in text or '"stoppedReason"' in text or ('"apiVersion"' in text and '"kind"' in text):
        return "scheduler"
    if '"sha256"' in text or '"manifest"' in text:
        return "manifest"
    return None


def _text_kind(text: str, name: str) -> str:
    lines = [line for line in text.split("\n")[:60] if line.strip()]
    if _THREAD.search(text) and (_PYSPY.search(text) or _FAULTHANDLER.match(text)):
        return "stacks"
    if any(columns_of(line) for line in lines[:5]):
        return "gpu_samples"
    if _is_smi(text):
        return "nvidia_smi"
    if _PS.match(text):
        return "process_state"
    if _SCHEDULER.search(text):
        return "scheduler"
    if is_ras(text):
        return "nccl_ras"
    kernel = sum(_KERNEL_LINE.match(line) is not None and _TRAINS.search(line) is None for line in lines)
    if kernel * 2 > len(lines) or (_KERNEL_NAME.search(name) and _KERNEL_WORDS.search(text)):
        return "kernel_log"
    if _CGROUP.search(text) and not re.search(r"loss|step", text):
        return "cgroup"
    if _is_table(lines):
        return "table"
    return "training_log"


def _is_smi(text: str) -> bool:
    """True when nvidia-smi's words come first, not somewhere in the banner of a training log."""
    found = _SMI.search(text[:600])
    before = text[: found.start()] if found else ""
    return found is not None and all(_SMI_HEAD.match(line) for line in before.split("\n"))


def _is_table(lines: list[str]) -> bool:
    """A csv of numbers under one header line."""
    if len(lines) < 2:
        return False
    columns = lines[0].count(",")
    if not columns or any(line.count(",") != columns for line in lines[1:-1][:20]):
        return False
    cells = [cell.strip().strip('"') for line in lines[1:4] for cell in line.split(",")]
    numbers = sum(bool(re.fullmatch(r"-?[\d.]{1,24}(?:[eE][+-]?\d{1,3})?|nan|inf|", cell)) for cell in cells)
    return numbers * 2 >= len(cells) and not re.search(r"\d", lines[0].split(",")[0])
