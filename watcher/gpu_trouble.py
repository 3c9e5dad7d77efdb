"""What is wrong with the GPUs of this node, said once when it begins and once when it is over."""

from collections.abc import Sequence

from diagnosis.findings import Cleared, Finding, Severity
from diagnosis.observations import Evidence, GpuSample, Origin
from watcher.boot import boot_name

_SILENT = "NVML does not answer"
_MISMATCH = "driver/library version mismatch"
_GONE = ("GPU is lost", "GPU requires reset", "unknown NVML error")


class GpuTrouble:
    """Turns readings (and their absence) into findings for one run."""

    def __init__(self, run: str, node: str) -> None:
        self._origin = Origin(run, node)
        self._place = f"NVML on {node} (boot {boot_name()})"
        self._lost: dict[str, int] = {}
        self._driver: str | None = None

    def look(self, newest: Sequence[GpuSample], problem: str | None, now: float) -> list[Finding | Cleared]:
        """What is new since the last look."""
        said: list[Finding | Cleared] = []
        for sample in newest:
            said += self._look_at(sample, now)
        return said + self._look_at_driver(problem or "", now, is_read=bool(newest))

    def _look_at(self, sample: GpuSample, now: float) -> list[Finding | Cleared]:
        name = sample.uuid or f"GPU {sample.gpu_index}"
        is_gone = sample.problem in _GONE
        if is_gone == (name in self._lost):
            return []
        where = f"GPU {sample.gpu_index} of {sample.node}"
        if not is_gone:
            del self._lost[name]
            return [Cleared("gpu_hardware", self._origin, f"{where} answers again", seen_at=now)]
        self._lost[name] = sample.gpu_index
        place = Evidence(self._place, None, f"{where} ({name}): {sample.problem}", sample.gpu_index)
        return [self._finding("gpu_hardware", Severity.CRITICAL, f"{where}: {sample.problem}", place, now)]

    def _look_at_driver(self, problem: str, now: float, *, is_read: bool) -> list[Finding | Cleared]:
        kind = None
        if problem.startswith(_SILENT):
            kind = "gpu_driver_silent"
        elif problem.startswith(_MISMATCH):
            kind = "gpu_driver_mismatch"
        if kind == self._driver or not (kind or is_read):
            return []
        before, self._driver = self._driver, kind
        if kind is None:
            text = f"the GPU driver of {self._origin.node} answers again"
            return [Cleared(str(before), self._origin, text, seen_at=now)]
        # A driver that hangs again after it came back is news again, so its place is the moment it began.
        place = Evidence(self._place, None, problem, int(now))
        return [self._finding(kind, Severity.WARNING, f"the GPU driver of {self._origin.node}: {problem}", place, now)]

    def _finding(self, kind: str, severity: Severity, text: str, evidence: Evidence, now: float) -> Finding:
        rule = "what the driver says, or that it says nothing"
        return Finding(kind, severity, self._origin, text, (evidence,), seen_at=now, rule=rule)
