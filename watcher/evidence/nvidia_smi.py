"""What nvidia-smi says: a table of numbers, its long report, how the GPUs are connected, who uses them.

One call at a time; the first that gets no answer is the last: on a driver that hangs each would cost its limit.
"""

from watcher.bins import Bin
from watcher.evidence.collector import Result, Scene
from watcher.evidence.programs import Program

_FIELDS = (
    "timestamp,index,uuid,name,utilization.gpu,utilization.memory,memory.used,memory.total,power.draw,power.limit,"
    "temperature.gpu,clocks.sm,pstate,ecc.errors.uncorrected.volatile.total,pcie.link.gen.current,compute_mode"
)


class _Smi:
    """One way to call it."""

    name = ""
    seconds = 10.0
    bytes = 4 << 20
    arguments: tuple[str, ...] = ()
    ending = "txt"

    def collect(self, scene: Scene, into: Bin) -> Result:
        """Run it; a field it does not know is named in its output."""
        what = self.name.removeprefix("nvidia_smi_").replace("_", "-")
        program = Program(("nvidia-smi", *self.arguments), f"nvidia-smi-{what}-{scene.node}.{self.ending}")
        return program.collect(into, self.seconds - 2, scene.silent)


class SmiTable(_Smi):
    """The numbers of all GPUs at this moment."""

    name = "nvidia_smi_table"
    ending = "csv"
    arguments = (f"--query-gpu={_FIELDS}", "--format=csv")


class SmiReport(_Smi):
    """Everything it can say: clocks, ECC, retired pages, processes."""

    name = "nvidia_smi_report"
    seconds = 20.0
    arguments = ("-q",)


class SmiTopology(_Smi):
    """Which GPUs and network cards sit behind the same switch."""

    name = "nvidia_smi_topology"
    arguments = ("topo", "-m")


class SmiProcesses(_Smi):
    """Which processes use which GPU, and how much."""

    name = "nvidia_smi_processes"
    arguments = ("pmon", "-c", "1")
