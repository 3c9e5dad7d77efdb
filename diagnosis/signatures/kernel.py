"""Lines of the kernel and the NVIDIA driver: Xid, NVSwitch, PCIe, CPU, and what hangs in the kernel."""

import re
from collections.abc import Mapping

from diagnosis.observations import Category, Role
from diagnosis.signatures.process_names import where_it_may_train
from diagnosis.signatures.row import Ruling, Tier, row
from diagnosis.signatures.xid import ruling_of_xid

_FATAL = re.compile(r"(?i)uncorrect|\bfatal|context corrupt|(?<!no )action required|\bpanic")


def _ruling_of_machine_check(fields: Mapping[str, str]) -> Ruling:
    """Machines log what they corrected all day long; only what they could not correct ends anything."""
    is_grave = "uncorrected" in fields or _FATAL.search(fields.get("text", "")) is not None
    return Role.ROOT if is_grave else Role.CONTEXT, Category.NODE_LOST


TABLE = (
    row(
        "S051",
        "xid",
        Role.CONTEXT,
        Category.GPU_HARDWARE,
        Tier.HARDWARE,
        needle="Xid (",
        pattern=r"(?<!S)Xid \((?:PCI:)?(?P<bus>[0-9a-fA-F:.]{1,20})(?: GPU-I:(?P<instance>\d{1,3}))?\): "
        r"(?P<xid>\d{1,4})"
        r"(?:, pid='?(?P<pid><unknown>|\d{1,10})'?)?(?:, name=(?P<name>[^,\n]{0,64}))?(?:,? (?P<text>[^\n]{0,240}))?",
        advice="Look up the number in NVIDIA's Xid catalogue; find the GPU by the bus id, the rank by the pid.",
        source="NVIDIA Xid catalogue via leptonai/gpud, NVIDIA/open-gpu-kernel-modules#507",
        example="[811.1] NVRM: Xid (PCI:0000:5d:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
        ruling=ruling_of_xid,
    ),
    row(
        "S050",
        "gpu_fell_off_bus",
        Role.ROOT,
        Category.GPU_HARDWARE,
        Tier.HARDWARE,
        needle="fallen off the bus",
        pattern=r"(?:GPU (?P<bus>[0-9a-fA-F:.]{5,20})[^\n]{0,80})?fallen off the bus",
        advice="Restart the machine and check power, heat and seating; replace the GPU when it repeats.",
        source="NVIDIA/open-gpu-kernel-modules#507, NVSentinel#155, leptonai/gpud PR#1209",
        example="NVRM: GPU 0000:b3:00.0: GPU has fallen off the bus.",
    ),
    row(
        "S062b",
        "memory_failure",
        Role.ROOT,
        Category.RANK_CRASH,
        Tier.HARDWARE,
        needle="due to hardware memory corruption",
        pattern=r"(?:Sending SIGBUS to|Killing) (?P<name>[^\s:]{1,64}):(?P<pid>\d{1,10}) due to hardware memory "
        r"corruption",
        advice="Drain the node and replace the memory: the kernel took the page away from the process.",
        source="Linux mm/memory-failure.c",
        example="Memory failure: 0x3d4e9f2: Sending SIGBUS to python:4105 due to hardware memory corruption",
        ruling=where_it_may_train(Role.ROOT, Category.RANK_CRASH),
    ),
    row(
        "S050b",
        "gpu_init_failed",
        Role.ROOT,
        Category.GPU_HARDWARE,
        Tier.HARDWARE,
        needle=("RmInitAdapter failed", "rm_init_adapter failed"),
        pattern=r"NVRM: GPU (?P<bus>[0-9a-fA-F:.]{5,20}): (?:RmInitAdapter|rm_init_adapter) failed",
        advice="Restart the machine; check seating and power of that GPU, and replace it when it repeats.",
        source="NVIDIA/open-gpu-kernel-modules#472",
        example="NVRM: GPU 0000:b3:00.0: RmInitAdapter failed! (0x62:0xffff:2355)",
    ),
    row(
        "S057b",
        "fabric_manager_fatal",
        Role.ROOT,
        Category.GPU_HARDWARE,
        Tier.HARDWARE,
        needle="detected NVSwitch fatal error",
        pattern=r"detected NVSwitch fatal error (?P<sxid>\d{1,6})[^\n]{0,160}?(?:port (?P<link>\d{1,4}))?",
        advice="Restart the fabric manager or the node, and watch that port of the switch.",
        source="NVIDIA Fabric Manager user guide",
        example="[Mar 14 2026 09:01:01] [ERROR] [tid 4411] detected NVSwitch fatal error 20034 on fid 0 on NVSwitch "
        "pci bus id 00000000:c5:00.0 physical id 3 port 30",
    ),
    row(
        "S057",
        "sxid",
        Role.ROOT,
        Category.GPU_HARDWARE,
        Tier.HARDWARE,
        needle="SXid (",
        pattern=r"(?P<switch>nvidia-nvswitch\d{1,3})?:? ?SXid \(PCI:(?P<bus>[0-9a-fA-F:.]{1,20})\): (?P<sxid>\d{1,6}),"
        r"(?: (?P<severity>Fatal|Non-fatal),)?(?: Link (?P<link>\d{1,4}))?",
        advice="Restart the fabric or the node where the line says fatal; watch the trend where it does not.",
        source="leptonai/gpud sxid",
        example="nvidia-nvswitch3: SXid (PCI:0000:c5:00.0): 20034, Fatal, Link 30 LTSSM Fault Up",
        ruling=lambda fields: (
            Role.CONTEXT if fields.get("severity") == "Non-fatal" else Role.ROOT,
            Category.GPU_HARDWARE,
        ),
    ),
    row(
        "S058",
        "pcie_error",
        Role.CONTEXT,
        Category.GPU_HARDWARE,
        Tier.HARDWARE,
        needle=("PCIe Bus Error", "AER: "),
        pattern=r"(?:PCIe Bus Error: severity=|AER: (?:Multiple )?)(?P<severity>Corrected|Correctable|Uncorrected|"
        r"Uncorrectable|Fatal)(?: \((?P<kind>[\w-]{1,20})\))?",
        advice="Check the riser and the slot of that device.",
        source="rwth-i6/returnn#1486",
        example="pcieport 0000:3a:00.0: AER: Uncorrected (Fatal) error received: 0000:3b:00.0",
        ruling=lambda fields: (
            Role.CONTEXT if fields.get("severity", "").startswith("Correct") else Role.ROOT,
            Category.GPU_HARDWARE,
        ),
    ),
    row(
        "S059",
        "peer_memory",
        Role.CASCADE,
        Category.GPU_HARDWARE,
        Tier.HARDWARE,
        needle="nv_get_p2p_free_callback",
        pattern=r"nv_get_p2p_free_callback:\d{1,6} ERROR detected invalid context",
        advice="Look for the process that died while its memory was registered; suspect the driver only on a "
        "healthy run.",
        source="leptonai/gpud peermem",
        example="nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, skipping further "
        "processing",
    ),
    row(
        "S060",
        "gpu_throttled",
        Role.CONTEXT,
        Category.SLOWDOWN,
        Tier.HARDWARE,
        needle=("HW Slowdown", "HW Thermal Slowdown", "HW Power Brake", "SW Power Cap", "SW Thermal Slowdown"),
        pattern=r"(?P<reason>HW Slowdown|HW Thermal Slowdown|HW Power Brake Slowdown|SW Thermal Slowdown|SW Power Cap)"
        r"\s{0,40}: (?P<state>Active)",
        advice="Cool that GPU or swap it: one throttled GPU slows the whole job.",
        source="bigscience tr11 2022-04-28",
        example="        HW Thermal Slowdown               : Active",
    ),
    row(
        "S061a",
        "hung_task",
        Role.ROOT,
        Category.STORAGE_STALL,
        Tier.HARDWARE,
        needle="blocked for more than",
        pattern=r"INFO: task (?P<name>[^\n:]{1,64}):(?P<pid>\d{1,10}) blocked for more than (?P<seconds>\d{1,9}) "
        r"seconds",
        advice="Find the rank by the pid in the line, and check what it waits for: NFS, Lustre and FUSE are storage.",
        source="leptonai/gpud cpu matcher",
        example="INFO: task python3:4412 blocked for more than 120 seconds.",
        ruling=where_it_may_train(Role.ROOT, Category.STORAGE_STALL),
    ),
    row(
        "S061b",
        "soft_lockup",
        Role.ROOT,
        Category.NODE_LOST,
        Tier.HARDWARE,
        needle=("soft lockup", "hard LOCKUP", "rcu_sched self-detected stall", "detected stalls on CPUs"),
        pattern=r"BUG: soft lockup - CPU#(?P<cpu>\d{1,5}) stuck for (?P<seconds>\d{1,9})s|hard LOCKUP|"
        r"self-detected stall|detected stalls on CPUs",
        advice="Reboot the node and keep its kernel log.",
        source="leptonai/gpud cpu matcher",
        example="watchdog: BUG: soft lockup - CPU#17 stuck for 23s! [python3:4412]",
    ),
    row(
        "S062a",
        "kernel_panic",
        Role.ROOT,
        Category.NODE_LOST,
        Tier.HARDWARE,
        needle=("Kernel panic", "kernel BUG at"),
        pattern=r"Kernel panic - not syncing: ?(?P<text>[^\n]{0,200})|kernel BUG at (?P<where>\S{1,200})",
        advice="Take the node out, and keep what its console says.",
        source="leptonai/gpud os matcher",
        example="Kernel panic - not syncing: Fatal exception in interrupt",
    ),
    row(
        "S062b",
        "machine_check",
        Role.ROOT,
        Category.NODE_LOST,
        Tier.HARDWARE,
        needle=("Machine check events logged", "[Hardware Error]", "EDAC "),
        pattern=r"(?:mce: )?\[Hardware Error\]: (?P<text>[^\n]{0,200})|Machine check events logged|"
        r"EDAC [^\n]{0,60}?\b(?P<uncorrected>\d{1,6}) UE\b",
        advice="Drain the node: its CPU or memory is at fault.",
        source="leptonai/gpud os matcher",
        example="mce: [Hardware Error]: Machine check events logged",
        ruling=_ruling_of_machine_check,
    ),
)
