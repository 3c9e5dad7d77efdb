"""Evidence that is no training log: GPU samples, stacks, process states, flight-recorder dumps and the like.

Each parser is pure: text or bytes in, values out, bounded in memory, never an error whatever the bytes.
"""

from diagnosis.exhibits.cgroup import CgroupReport, read_cgroup
from diagnosis.exhibits.containers import ContainerEnd, ContainerReport, as_symptoms, read_containers
from diagnosis.exhibits.flight_recorder import Dump, read_dump
from diagnosis.exhibits.gpu_table import GpuTable, read_gpu_table
from diagnosis.exhibits.kinds import HEAD, kind_of, what_it_is
from diagnosis.exhibits.processes import ProcessState, has_kernel_pids, read_processes
from diagnosis.exhibits.ras import RasReport, is_ras, read_ras
from diagnosis.exhibits.smi_text import SmiReport, read_smi
from diagnosis.exhibits.stacks import Stack, read_stacks

__all__ = [
    "HEAD",
    "CgroupReport",
    "ContainerEnd",
    "ContainerReport",
    "Dump",
    "GpuTable",
    "ProcessState",
    "RasReport",
    "SmiReport",
    "Stack",
    "as_symptoms",
    "has_kernel_pids",
    "is_ras",
    "kind_of",
    "read_cgroup",
    "read_containers",
    "read_dump",
    "read_gpu_table",
    "read_processes",
    "read_ras",
    "read_smi",
    "read_stacks",
    "what_it_is",
]
