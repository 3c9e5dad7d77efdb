"""What a snapshot saves, one file for each kind of evidence; `COLLECTORS` is the list, most valuable first."""

from watcher.evidence.cgroups import Cgroups
from watcher.evidence.checkpoints import Checkpoints
from watcher.evidence.collector import Collector
from watcher.evidence.disks import Disks
from watcher.evidence.flight_recorder import FlightRecorder
from watcher.evidence.gpu_ring import GpuRingTable
from watcher.evidence.host_memory import HostMemory
from watcher.evidence.host_ring import HostRingTable
from watcher.evidence.kernel_messages import KernelMessages
from watcher.evidence.launch_command import LaunchCommand
from watcher.evidence.log_tails import LogTails
from watcher.evidence.network import Network
from watcher.evidence.nvidia_smi import SmiProcesses, SmiReport, SmiTable, SmiTopology
from watcher.evidence.processes import Processes
from watcher.evidence.quiet_lines import QuietLines
from watcher.evidence.rotated_logs import RotatedLogs
from watcher.evidence.scheduler import Scheduler
from watcher.evidence.stacks import Stacks
from watcher.evidence.versions import Versions

COLLECTORS: tuple[Collector, ...] = (
    LogTails(),
    GpuRingTable(),
    HostRingTable(),
    QuietLines(),
    Processes(),
    LaunchCommand(),
    Cgroups(),
    KernelMessages(),
    HostMemory(),
    SmiTable(),
    Disks(),
    Network(),
    RotatedLogs(),
    FlightRecorder(),
    Checkpoints(),
    Versions(),
    Scheduler(),
    SmiReport(),
    SmiTopology(),
    SmiProcesses(),
    Stacks(),
)
"""Most valuable and least risky first (RULES 3.11): long reports of the driver and stacks come last."""

ESSENTIAL = frozenset({"log_tails", "gpu_ring", "processes", "kernel_messages"})
"""What nobody can get any more once the job is stopped; before it is in, no stop is called safe."""
ASKS_OTHERS = frozenset(
    collector.name for collector in COLLECTORS if collector.name.startswith(("nvidia_smi", "scheduler", "stacks"))
)
"""These run other programs, which may have to be waited for; meanwhile the rest is collected."""
