"""Lines of NCCL's transports, InfiniBand and RoCE, gloo and UCX."""

from collections.abc import Mapping

from diagnosis.observations import Category, Role
from diagnosis.signatures.row import Tier, row

_FLUSH = "5"


def _ruling_of_completion(fields: Mapping[str, str]) -> tuple[Role, Category]:
    """Status 5 is only the flush after the first failure; 12 may be the failure itself."""
    status = fields.get("status") or fields.get("old_status") or fields.get("new_status") or fields.get("peer_status")
    return (Role.CONTEXT if status == _FLUSH else Role.CASCADE), Category.NETWORK_FAULT


TABLE = (
    row(
        "S084",
        "ib_completion",
        Role.CASCADE,
        Category.NETWORK_FAULT,
        Tier.NETWORK,
        needle=("Got completion from peer", "Got completion with error"),
        pattern=r"(?:(?P<host>[\w.-]{1,80}):\d{1,8}:\d{1,8} \[(?P<device>\d{1,3})\][^\n]{0,120}?)?Got completion "
        r"(?:from peer "
        r"(?P<peer>[\w.:%-]{1,80})(?:<\d{1,6}>)? with (?:status=(?:(?P<status>\d{1,4})|"
        r"\w{1,60}\((?P<new_status>\d{1,4})\))|error (?P<peer_status>\d{1,4}))|"
        r"with error (?P<old_status>\d{1,4}))(?:[^\n]{0,200}?hca (?P<hca>[\w:]{1,40}))?",
        advice="Go to the named peer: many ranks naming one mean its node died, one adapter naming many means "
        "that adapter or its cable.",
        source="NVIDIA/nccl#1814, #1664, #902, #905, #1405",
        example="node4:881:1099 [2] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer "
        "10.1.0.7<41234> with status=12 opcode=0 len=0 vendor err 129 (Recv)",
        may_start=True,
        ruling=_ruling_of_completion,
    ),
    row(
        "S086",
        "ib_async_event",
        Role.ROOT,
        Category.NETWORK_FAULT,
        Tier.HARDWARE,
        needle=("async event", "async fatal event"),
        pattern=r"(?:(?P<host>[\w.-]{1,80}):\d{1,8}:\d{1,8} \[\d{1,3}\][^\n]{0,80}?)?NET/IB : "
        r"(?:(?P<device>[\w:]{1,40}) )?(?:Got (?:non-fatal )?async event ?: |async fatal event ?: )"
        r"(?P<event>[^\n]{1,80})",
        advice="Check cable, transceiver and switch port of that host's link.",
        source="NCCL src/transport/net_ib",
        example="node9:12:44 [0] NCCL WARN NET/IB : mlx5_3:1 Got async event : port error",
        ruling=lambda fields: (
            Role.CONTEXT if "client reregistration" in fields.get("event", "") else Role.ROOT,
            Category.NETWORK_FAULT,
        ),
    ),
    row(
        "S087",
        "mlx5_link",
        Role.ROOT,
        Category.NETWORK_FAULT,
        Tier.HARDWARE,
        needle=("mlx5_", "Port module event", "health compromised"),
        pattern=r"mlx5_core \S{1,20} (?P<interface>[\w.-]{1,30}): Link down|(?P<device>mlx5_\d{1,3}): Port: \d{1,3} "
        r"Link DOWN|"
        r"Port module event\[error\]: module (?P<module>\d{1,3}), (?P<text>[^\n]{1,80})|insufficient power on the PCIe "
        r"slot|mlx5_core [^\n]{0,80}?(?:device's health compromised|TX timeout (?:detected|on queue))|"
        r"mlx5_error_sw_reset:\d{1,6}",
        advice="Check cable, optic and slot of that port.",
        source="leptonai/gpud infiniband matcher",
        example="mlx5_core 0000:3b:00.0 ens1f0: Link down",
    ),
    row(
        "S087c",
        "mlx5_link_up",
        Role.CONTEXT,
        Category.NETWORK_FAULT,
        Tier.HARDWARE,
        needle="mlx5_",
        pattern=r"mlx5_core \S{1,20} (?P<interface>[\w.-]{1,30}): Link up|(?P<device>mlx5_\d{1,3}): Port: \d{1,3} Link "
        r"(?:UP|ACTIVE)",
        source="Linux mlx5_core",
        example="mlx5_core 0000:3b:00.0 ens1f0: Link up",
    ),
    row(
        "S088",
        "verbs_failed",
        Role.ROOT,
        Category.NETWORK_FAULT,
        Tier.NETWORK,
        needle="Call to ibv_",
        pattern=r"Call to (?P<call>ibv_\w{1,40})(?:\(\))? (?:failed|returned)(?: with (?:error )?(?P<text>[^\n]{1,80}))"
        r"?",
        advice="Raise `ulimit -l` for reg_mr or create_cq; check the route and the RoCE GID index for modify_qp.",
        source="NVIDIA/nccl src ibvwrap",
        example="NCCL WARN Call to ibv_modify_qp failed with error Connection timed out",
    ),
    row(
        "S089",
        "nccl_socket_error",
        Role.CASCADE,
        Category.NETWORK_FAULT,
        Tier.NETWORK,
        needle=(
            "NCCL WARN Call to ",
            "NCCL WARN Socket recv failed",
            "NCCL WARN Net : Call to ",
            "NCCL WARN NET/Socket",
            ": Call to ",
        ),
        pattern=r"(?:(?P<host>[\w.-]{1,80}):(?P<pid>\d{1,8}):\d{1,8} \[(?P<device>\d{1,3})\][^\n]{0,120}?)?NCCL WARN "
        r"(?:Net : |\w{1,40}: )?"
        r"(?:Call to (?P<call>write|read|recv|send|connect|accept|poll)(?: (?:from|to) (?P<peer>[^\s<]{1,80})"
        r"(?:<\d{1,6}>)?)?"
        r" (?:failed|returned)(?: ?: (?P<text>[^\n]{1,80}))?|Socket recv failed|NET/Socket : [^\n]{0,60}failed)",
        advice="Look for an earlier error of the peer; suspect the network where both sides only print this.",
        source="NVIDIA/nccl#193, #1235, #1311, pytorch/pytorch#150916",
        example="worker1-0d9gnb:15:91 [3] include/socket.h:398 NCCL WARN Call to recv failed : Connection reset by "
        "peer.",
        may_start=True,
    ),
    row(
        "S089b",
        "ofi_failed",
        Role.CASCADE,
        Category.NETWORK_FAULT,
        Tier.NETWORK,
        needle=("NET/OFI Request", ":efa:cq:"),
        pattern=r"(?:(?P<host>[\w.-]{1,80}):\d{1,8}:\d{1,8} \[\d{1,3}\][^\n]{0,80}?)?NET/OFI Request "
        r"(?:\S{1,24} )?completed with error\. RC: (?P<status>\d{1,4})(?:\. Error: (?P<text>[^.\n]{1,80}))?|"
        r":efa:cq:\w{1,60}\(\):\d{1,6}<warn> err: \d{1,4}, message: (?P<message>[^\n]{1,60}?) My EFA addr"
        r"(?:[^\n]{0,200}?Peer host id: (?P<peer>[\w-]{1,40}))?",
        advice="Read the log of the peer: its instance went away, or its network did.",
        source="aws/aws-ofi-nccl#161, #346",
        example="algo-1:462:600 [0] ofi_process_cq:1033 NCCL WARN NET/OFI Request 0x7f3c completed with error. RC: 21. "
        "Error: unknown error. Completed length: 0",
        may_start=True,
    ),
    row(
        "S089c",
        "ofi_setup_failed",
        Role.ROOT,
        Category.NETWORK_FAULT,
        Tier.NETWORK,
        needle=("NET/OFI Couldn't ", "NET/OFI Unable to ", "NET/OFI Creating new endpoint"),
        pattern=r"NCCL WARN NET/OFI (?P<text>Couldn't open \w{1,20}|Unable to insert remote address|Creating new "
        r"endpoint for domain \S{1,40} failed)",
        advice="Check the security group (all traffic within it), and that libfabric and the plugin fit together.",
        source="aws/aws-ofi-nccl#24, #663, #889",
        example="ip-172-32-45-165:72593:73427 [7] create_nccl_ofi_component:459 NCCL WARN NET/OFI Couldn't open AV. "
        "RC: -22, ERROR: Invalid argument",
    ),
    row(
        "S090",
        "nccl_bootstrap",
        Role.ROOT,
        Category.NETWORK_FAULT,
        Tier.NETWORK,
        needle=("no socket interface found", "NCCL WARN Connect to", ": Connect to ", "Timeout: no connection after"),
        pattern=r"Bootstrap : no socket interface found|NCCL WARN (?:\w{1,40}: )?(?:Connect to (?P<peer>[^\s<]{1,80})"
        r"(?:<(?P<port>\d{1,6})>)? (?:failed|returned) ?:? ?(?P<text>[^\n]{1,80})|Timeout: no connection after)",
        advice="Check NCCL_SOCKET_IFNAME, the firewall and the interface.",
        source="NVIDIA/nccl#708",
        example="NCCL WARN Bootstrap : no socket interface found",
    ),
    row(
        "S090b",
        "nccl_no_infiniband",
        Role.CONTEXT,
        Category.SLOWDOWN,
        Tier.NETWORK,
        needle="NET/IB : No device found",
        pattern=r"NET/IB : No device found",
        advice="Check why NCCL falls back to sockets: they are slow across nodes.",
        source="NCCL source",
        example="NCCL INFO NET/IB : No device found.",
    ),
    row(
        "S091a",
        "gloo_peer_closed",
        Role.CASCADE,
        Category.RANK_CRASH,
        Tier.STORE,
        needle=("Connection closed by peer [", "Read error [", "Write error ["),
        pattern=r"(?:gloo/transport/[^\]\n]{1,80}\] )?(?:Connection closed by peer \[|Read error \[|Write error \[)"
        r"(?P<peer>[\w.:%]{1,60})\]:?(?P<port>\d{0,6})",
        advice="Look at the peer process that went away.",
        source="pytorch/pytorch#75512, rwth-i6/returnn#1484, Pein2017/CoordExp",
        example="RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:547] Connection closed by peer "
        "[10.0.7.7]:57000",
    ),
    row(
        "S091c",
        "gloo_no_mesh",
        Role.ROOT,
        Category.INIT_TIMEOUT,
        Tier.STORE,
        needle="connectFullMesh failed",
        pattern=r"connectFullMesh failed",
        advice="Check that every node reaches every other at the address it gives (GLOO_SOCKET_IFNAME, /etc/hosts, "
        "firewall): who prints this only could not reach somebody.",
        source="pytorch gloo, sgl-project/sglang#3226",
        example="RuntimeError: Gloo connectFullMesh failed with [gloo/transport/tcp/pair.cc:144] no error",
    ),
    row(
        "S091b",
        "gloo_timeout",
        Role.CASCADE,
        Category.COLLECTIVE_HANG,
        Tier.WATCHDOG,
        needle="Timed out waiting ",
        pattern=r"Timed out waiting (?P<ran_ms>\d{1,12})ms for (?P<op>send|recv) operation to complete",
        advice="Look at the rank that is missing from these lines: this one waited.",
        source="pytorch/pytorch#75512, hkust simpleRL#17",
        example="RuntimeError: [gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting 60000ms for recv operation "
        "to "
        "complete",
        may_start=True,
    ),
    row(
        "S092",
        "ucx_retries",
        Role.CASCADE,
        Category.NETWORK_FAULT,
        Tier.NETWORK,
        needle="ransport retry count exceeded",
        pattern=r"[Tt]ransport retry count exceeded(?: on (?P<device>[\w:/]{1,40}))?",
        advice="Go to the peer that did not acknowledge: it died, or its network did.",
        source="openucx/ucx#9590",
        example="ib_mlx5_log.c:177  Transport retry count exceeded on mlx5_0:1/IB (synd 0x15 vend 0x81 hw_synd 0/0)",
        may_start=True,
    ),
)
