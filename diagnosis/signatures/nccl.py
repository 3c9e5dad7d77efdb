"""Lines of torch's NCCL watchdog and of NCCL itself about collectives.

The text is matched, never `ProcessGroupNCCL.cpp:NNN`: the number changes with every release. One line comes
per rank and process group, hundreds within a second. It is the alarm clock, not the fire.
"""

from collections.abc import Mapping

from diagnosis.observations import Category, Role
from diagnosis.signatures.row import Tier, row

_GROUP = r"\[PG (?:ID (?P<group_id>\d{1,9}) PG GUID )?(?P<group>[^\s(\]]{1,60})(?:\((?P<group_name>[^)]{0,80})\))? "
_GROUP_RANK = _GROUP + r"Rank (?P<rank>\d{1,7})\]\s{1,3}"


def _ruling_of_nccl_error(fields: Mapping[str, str]) -> tuple[Role, Category]:
    """A wrong call is the program's own fault; every other kind is an envelope."""
    is_misuse = fields["kind"].startswith("invalid ") or fields["kind"] in {"ncclInvalidUsage", "ncclInvalidArgument"}
    return (Role.ROOT if is_misuse else Role.CASCADE), Category.RANK_CRASH


TABLE = (
    row(
        "S001",
        "nccl_watchdog_timeout",
        Role.CASCADE,
        Category.COLLECTIVE_HANG,
        Tier.WATCHDOG,
        needle="Watchdog caught collective operation timeout",
        pattern=r"(?:\[(?:PG [^\]]{0,80} )?Rank (?P<rank>\d{1,7})\] )?Watchdog caught collective operation timeout"
        r"(?=:? ?(?:W|$))(?:: Work[A-Z]{1,12}\((?:SeqNum=(?P<seq>\d{1,20}),? ?)?(?:OpType=(?P<op>\w{1,40}))?"
        r"(?:, NumelIn=(?P<numel_in>\d{1,20}))?(?:, NumelOut=(?P<numel_out>\d{1,20}))?"
        r"(?:, Timeout\(ms\)=(?P<timeout_ms>\d{1,12}))?\)(?: ran for (?P<ran_ms>\d{1,12}) milliseconds)?)?",
        advice="Look for any error before the line's time minus the time it ran; else for the rank that is "
        "missing from the timeouts or enqueued less.",
        source="NVIDIA/nccl#1111, hiyouga/LlamaFactory#7396, OFA-Sys/OFA#271, huggingface/accelerate#157",
        example="[rank5]:[E ProcessGroupNCCL.cpp:563] [Rank 5] Watchdog caught collective operation timeout: "
        "WorkNCCL(SeqNum=15734, OpType=ALLREDUCE, NumelIn=220084533, NumelOut=220084533, Timeout(ms)=600000) "
        "ran for 600055 milliseconds before timing out.",
        may_start=True,
        names_rank=True,
    ),
    row(
        "S002",
        "nccl_work_counters",
        Role.CASCADE,
        Category.COLLECTIVE_HANG,
        Tier.WATCHDOG,
        needle=("last enqueued NCCL work", "last enqueued work"),
        pattern=_GROUP_RANK + r"(?:Timeout at NCCL work: |Exception \([^)]{0,60}\) detected by watchdog at work: |"
        r"failure detected by watchdog at work sequence id: )(?P<work>\d{1,20})(?: PG status:|,)? "
        r"last enqueued (?:NCCL )?work: (?P<enqueued>-?\d{1,20}), last completed (?:NCCL )?work: "
        r"(?P<completed>-?\d{1,20})",
        advice="Compare the counters within one process group: the rank that enqueued least never came; equal "
        "ones mean network, GPU or P2P.",
        source="modelscope/FunASR#2006, huggingface/accelerate#3512, Pein2017/CoordExp",
        example="[rank7]:[E218 10:48:25.133625152 ProcessGroupNCCL.cpp:2268] [PG ID 0 PG GUID 0(default_pg) Rank 7]  "
        "failure detected by watchdog at work sequence id: 1512677 PG status: last enqueued work: 1512684, "
        "last completed work: 1512676",
        names_rank=True,
    ),
    row(
        "S003a",
        "nccl_dump_signal",
        Role.CASCADE,
        Category.COLLECTIVE_HANG,
        Tier.WATCHDOG,
        needle="Received a dump signal due to a collective timeout",
        pattern=r"(?:" + _GROUP_RANK + r")?Received a dump signal due to a collective timeout from\s{1,3}"
        r"(?:rank (?P<signalled_by>\d{1,7})|(?P<own>this local rank))"
        r"(?:[^\n]{0,200}?[Ll]ast enqueued NCCL work: (?P<enqueued>-?\d{1,20}), last completed NCCL work: "
        r"(?P<completed>-?\d{1,20}))?",
        advice="Look at the stack of the rank that only obeys another's signal: it was not waiting in that collective.",
        source="Pein2017/CoordExp, modelscope/ms-swift#6301, bytedance/Protenix#321",
        example="[rank0]:[E810 03:04:11.562817005 ProcessGroupNCCL.cpp:1858] [PG ID 0 PG GUID 0(default_pg) Rank 0] "
        "Received a dump signal due to a collective timeout from  rank 1 and we will try our best to dump the debug "
        "info. Last enqueued NCCL work: 77, last completed NCCL work: 77.This is most likely caused by …",
        names_rank=True,
    ),
    row(
        "S003b",
        "nccl_dump_observed",
        Role.CASCADE,
        Category.COLLECTIVE_HANG,
        Tier.WATCHDOG,
        needle="dump signal from another rank",
        pattern=r"(?:" + _GROUP_RANK + r")?Observed flight recorder dump signal from another rank",
        advice="Look for the rank that timed out first.",
        source="Pein2017/CoordExp",
        example="[rank0]:[E810 03:04:11.562617930 ProcessGroupNCCL.cpp:1794] [PG ID 0 PG GUID 0(default_pg) Rank 0] "
        "Observed flight recorder dump signal from another rank via TCPStore.",
        names_rank=True,
    ),
    row(
        "S004",
        "nccl_first_group",
        Role.CONTEXT,
        Category.COLLECTIVE_HANG,
        Tier.WATCHDOG,
        needle="First PG on this rank to signal dumping",
        pattern=r"(?:" + _GROUP_RANK + r")?First PG on this rank to signal dumping",
        advice="",
        source="NVIDIA llm-benchmarking FAQ (torch 2.7 container), Pein2017/CoordExp",
        example="[rank1]:[E810 03:04:11.063317267 ProcessGroupNCCL.cpp:2573] [PG ID 0 PG GUID 0(default_pg) Rank 1] "
        "First PG on this rank to signal dumping.",
        names_rank=True,
    ),
    row(
        "S005a",
        "nccl_stack_missing",
        Role.CONTEXT,
        Category.COLLECTIVE_HANG,
        Tier.WATCHDOG,
        needle="Stack trace of the failed collective not found",
        pattern=r"Stack trace of the failed collective not found",
        advice="Set TORCH_FR_BUFFER_SIZE=2000 (before torch 2.9 TORCH_NCCL_TRACE_BUFFER_SIZE) and "
        "TORCH_NCCL_DUMP_ON_TIMEOUT=1 for the next run.",
        source="huggingface/accelerate#3512, pytorch docs",
        example="Stack trace of the failed collective not found, potentially because FlightRecorder is disabled.",
    ),
    row(
        "S005b",
        "nccl_failed_stack",
        Role.CONTEXT,
        Category.COLLECTIVE_HANG,
        Tier.WATCHDOG,
        needle="Stack trace of the failed collective: ",
        pattern=r"Stack trace of the failed collective: ?(?P<stack>[^\n]{0,300})",
        advice="Look at the first frame outside torch: it is the call that hung.",
        source="torch 2.9 reports",
        example="Stack trace of the failed collective: ",
    ),
    row(
        "S006",
        "nccl_dumping",
        Role.CONTEXT,
        Category.COLLECTIVE_HANG,
        Tier.WATCHDOG,
        needle=("preparing to dump debug info", "Heartbeat monitor timed out!", "flight recorder dumps to finish"),
        pattern=r"preparing to dump debug info|Heartbeat monitor timed out!|flight recorder dumps to finish",
        advice="Collect one flight-recorder file per rank before they are overwritten.",
        source="hiyouga/LlamaFactory#8261, pytorch/torchtitan PR#1748",
        example="ProcessGroupNCCL preparing to dump debug info. Include stack trace: 1",
    ),
    row(
        "S007a",
        "nccl_going_down",
        Role.CASCADE,
        Category.COLLECTIVE_HANG,
        Tier.WATCHDOG,
        needle=("Some NCCL operations have failed or timed out", "taking the entire process down"),
        pattern=r"Some NCCL operations have failed or timed out|(?:we are )?taking the entire process down",
        advice="Read the lines above: they say why the process aborts itself.",
        source="kohya-ss/sd-scripts#1434, microsoft/TRELLIS.2#90",
        example="[Rank 5] To avoid data inconsistency, we are taking the entire process down.",
    ),
    row(
        "S007b",
        "nccl_thread_terminated",
        Role.CASCADE,
        Category.COLLECTIVE_HANG,
        Tier.WATCHDOG,
        needle="watchdog thread terminated with exception",
        pattern=r"(?:\[(?:PG [^\]]{0,80} )?Rank (?P<rank>\d{1,7})\] )?(?:NCCL|Process group) watchdog thread "
        r"terminated with exception: (?P<inner>[^\n]{1,300})",
        advice="Read what stands inside: `CUDA error` is this rank's own fault, `Watchdog caught` a wait for "
        "another rank.",
        source="kohya-ss/sd-scripts#1434, huggingface/open-r1#620",
        example="[E ProcessGroupNCCL.cpp:916] [Rank 1] NCCL watchdog thread terminated with exception: CUDA error: "
        "uncorrectable ECC error encountered",
        names_rank=True,
    ),
    row(
        "S008",
        "nccl_watchdog_stuck",
        Role.CASCADE,
        Category.COLLECTIVE_HANG,
        Tier.WATCHDOG,
        needle="watchdog got stuck for",
        pattern=r"(?:" + _GROUP_RANK + r")?(?:ProcessGroupNCCL's )?watchdog got stuck for (?P<seconds>\d{1,9}) seconds",
        advice="Read the kernel log of that node for a dying GPU, and look some 8 minutes earlier for an "
        "ordinary timeout.",
        source="snowflakedb/ArcticTraining#219, hiyouga/LlamaFactory#8549",
        example="[rank2]:[F ProcessGroupNCCL.cpp:1279] [PG 0 Rank 2] ProcessGroupNCCL's watchdog got stuck for 480 "
        "seconds without making progress in monitoring enqueued collectives.",
        may_start=True,
        names_rank=True,
    ),
    row(
        "S009a",
        "nccl_async_error",
        Role.CASCADE,
        Category.NETWORK_FAULT,
        Tier.NETWORK,
        needle=("raised the following async exception", "remote process exited or there was a network error"),
        pattern=r"raised the following async exception: (?P<inner>[^\n]{1,200})|"
        r"NCCL error: remote process exited or there was a network error",
        advice="Go to the named peer's node and read its log: it died, or its network did.",
        source="pytorch/pytorch#150916",
        example="[PG 5 Rank 0] NCCL watchdog thread terminated with exception: NCCL error: remote process exited or "
        "there was a network error, NCCL version 2.20.5",
        may_start=True,
    ),
    row(
        "S009b",
        "nccl_remote_error",
        Role.CASCADE,
        Category.NETWORK_FAULT,
        Tier.NETWORK,
        needle="ncclRemoteError",
        pattern=r"ncclRemoteError: A call failed possibly due to a network error or a remote process exiting",
        advice="Read the `Last error` line below it for the peer.",
        source="pytorch/pytorch#150916",
        example="ncclRemoteError: A call failed possibly due to a network error or a remote process exiting "
        "prematurely.",
        may_start=True,
    ),
    row(
        "S009c",
        "nccl_peer_closed",
        Role.CASCADE,
        Category.NETWORK_FAULT,
        Tier.NETWORK,
        needle="Connection closed by remote peer",
        pattern=r"Connection closed by remote peer (?P<peer>[^\s<]{1,120})(?:<(?P<port>\d{1,5})>)?",
        advice="Read the log of that peer: its process went away first.",
        source="pytorch/pytorch#150916, NVIDIA/nccl#1235",
        example="socketProgress: Connection closed by remote peer node1<57244>",
        may_start=True,
    ),
    row(
        "S010a",
        "nccl_error_raised",
        Role.CASCADE,
        Category.RANK_CRASH,
        Tier.NETWORK,
        needle=("NCCL error in: ", "NCCL Error "),
        pattern=r"NCCL (?:error in: (?P<where>[^,\n]{1,200}), |Error \d{1,2}: )(?P<kind>[^,\n]{1,80})"
        r"(?:, NCCL version (?P<version>[\w.]{1,20}))?",
        advice="Read the `Last error` line and the `NCCL WARN` above it: they say what really failed.",
        source="NVIDIA/nccl#1029, NVIDIA/nccl#1235",
        example="torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/"
        "ProcessGroupNCCL.cpp:1691, unhandled cuda error (run with NCCL_DEBUG=INFO for details), NCCL version 2.19.3",
        may_start=True,
        ruling=_ruling_of_nccl_error,
    ),
    row(
        "S010d",
        "nccl_cuda_failure",
        Role.CASCADE,
        Category.RANK_CRASH,
        Tier.EXCEPTION,
        needle=("Cuda failure ", "cuda failure "),
        pattern=r"(?:NCCL WARN |^\s{0,8})[Cc]uda failure (?:\d{1,5} )?'(?P<text>(?!out of memory)[^'\n]{1,80})'",
        advice="Look for an earlier error of the same process; check fabric manager and driver where it is "
        "`invalid argument` at the start.",
        source="NVIDIA/nccl#1562, pytorch/pytorch#121209",
        example="gpu46:78367:78492 [0] transport/nvls.cc:244 NCCL WARN Cuda failure 1 'invalid argument'",
        may_start=True,
    ),
    row(
        "S010c",
        "duplicate_gpu",
        Role.ROOT,
        Category.RANK_CRASH,
        Tier.EXCEPTION,
        needle="Duplicate GPU detected",
        pattern=r"Duplicate GPU detected : rank (?P<first>\d{1,7}) and rank (?P<second>\d{1,7}) both on CUDA device",
        advice="Give each process its own GPU: torch.cuda.set_device(LOCAL_RANK), or CUDA_VISIBLE_DEVICES of "
        "each task.",
        source="NCCL init.cc",
        example="NCCL WARN Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 7000",
    ),
    row(
        "S010b",
        "nccl_error_kind",
        Role.CASCADE,
        Category.RANK_CRASH,
        Tier.NETWORK,
        needle=(
            "ncclUnhandledCudaError",
            "ncclSystemError",
            "ncclInternalError",
            "ncclInvalidUsage",
            "ncclInvalidArgument",
        ),
        pattern=r"(?P<kind>nccl(?:UnhandledCudaError|SystemError|InternalError|InvalidUsage|InvalidArgument)):? ?"
        r"(?P<text>[^\n]{0,160})",
        advice="Read the `Last error` and `NCCL WARN` lines beside it.",
        source="NVIDIA/nccl#1029",
        example="ncclUnhandledCudaError: Call to CUDA function failed.",
        may_start=True,
        ruling=_ruling_of_nccl_error,
    ),
    row(
        "S011a",
        "nccl_aborted",
        Role.CASCADE,
        Category.COLLECTIVE_HANG,
        Tier.WATCHDOG,
        needle="NCCL communicator was aborted",
        pattern=r"NCCL communicator was aborted(?: on rank (?P<rank>\d{1,7}))?",
        advice="Look at the ranks that this one was waiting for.",
        source="modelscope/FunASR#2006, huggingface/transformers#28119",
        example="RuntimeError: NCCL communicator was aborted on rank 1.",
        names_rank=True,
    ),
    row(
        "S011b",
        "nccl_comm",
        Role.CONTEXT,
        Category.NONE,
        Tier.WATCHDOG,
        needle=("NCCL INFO comm ", "NCCL INFO ncclCommInit"),
        pattern=r"(?:(?P<host>[\w.-]{1,80}):(?P<pid>\d{1,8}):\d{1,8} \[(?P<device>\d{1,3})\] )?NCCL INFO "
        r"(?:ncclCommInit\w{0,20} )?comm 0x[0-9a-f]{1,16} rank (?P<rank>\d{1,7}) n[Rr]anks (?P<world>\d{1,7})"
        r"(?: cudaDev (?P<cuda_device>\d{1,3}))?"
        r"(?: nvmlDev \d{1,3})?(?: busId (?P<bus>[0-9a-f]{1,10}))?[^\n]{0,60}- (?P<event>Init|Abort|Destroy) "
        r"(?:COMPLETE|START)",
        advice="",
        source="NCCL INFO lines",
        example="train-w-0:15325:16092 [2] NCCL INFO comm 0xba13701 rank 2 nranks 16 cudaDev 2 busId 61000 - Init "
        "COMPLETE",
    ),
    row(
        "S011c",
        "nccl_local_rank_left",
        Role.CONTEXT,
        Category.COLLECTIVE_HANG,
        Tier.WATCHDOG,
        needle="Connection closed by localRank",
        pattern=r"Connection closed by localRank (?P<left>\d{1,4})",
        advice="",
        source="modelscope/FunASR#2006",
        example="train-w-0:15323:16180 [0] NCCL INFO [Service thread] Connection closed by localRank 2",
    ),
)
