"""Lines that say outright that ranks disagree about a collective, or what one of them was about to send."""

from diagnosis.observations import Category, Role
from diagnosis.signatures.row import Tier, row

TABLE = (
    row(
        "S125",
        "deepep_timeout",
        Role.ROOT,
        Category.COLLECTIVE_HANG,
        Tier.EXCEPTION,
        needle=("DeepEP timeout", "DeepEP error: timeout", "DeepEP error: CPU recv timeout"),
        pattern=r"DeepEP timeout (?:for|check failed)|DeepEP error: (?:CPU recv )?timeout",
        advice="Look for the rank that did not send: who prints this waited, and its CUDA errors follow from it.",
        source="deepseek-ai/DeepEP csrc/kernels",
        example="DeepEP timeout for dispatch RDMA receiver, channel: 3, RDMA: 1, nvl: 0, src RDMA: 0, src nvl: 0",
    ),
    row(
        "S012a",
        "collective_fingerprints_differ",
        Role.ROOT,
        Category.COLLECTIVE_HANG,
        Tier.EXCEPTION,
        needle="Detected mismatch between collectives on ranks",
        pattern=r"Detected mismatch between collectives on ranks\. Rank (?P<rank>\d{1,7}) is running collective: "
        r"CollectiveFingerPrint\((?P<fingerprint>[^)]{0,300})\)(?:[^\n]{0,300}?but Rank (?P<other_rank>\d{1,7}) is "
        r"running collective: CollectiveFingerPrint\((?P<other_fingerprint>[^)]{0,300})\))?",
        advice="Look for branches that ranks take differently (missing modality, unused parameters, uneven "
        "batches); the odd fingerprint is the culprit's.",
        source="pytorch/pytorch#78022, modelscope/ms-swift PR#9443",
        example="RuntimeError: Detected mismatch between collectives on ranks. Rank 3 is running collective: "
        "CollectiveFingerPrint(SequenceNumber=12, OpType=BROADCAST, TensorShape=[64]), but Rank 0 is running "
        "collective: CollectiveFingerPrint(SequenceNumber=12, OpType=ALLREDUCE, TensorShape=[1]).",
    ),
    row(
        "S012b",
        "collectives_differ_in",
        Role.CONTEXT,
        Category.COLLECTIVE_HANG,
        Tier.EXCEPTION,
        needle="Collectives differ in the following aspects",
        pattern=r"Collectives differ in the following aspects: ?(?P<aspects>[^\n]{0,300})",
        advice="",
        source="pytorch PR#100214",
        example="Collectives differ in the following aspects: \t Op type: BROADCASTvs ALLREDUCE",
    ),
    row(
        "S012c",
        "collective_size_mismatch",
        Role.ROOT,
        Category.COLLECTIVE_HANG,
        Tier.EXCEPTION,
        needle="Received data size doesn't match expected size",
        pattern=r"(?:(?P<got>\d{1,20}) vs (?P<expected>\d{1,20})\. )?Received data size doesn't match expected size",
        advice="Look for code that takes different paths per rank; compare the step of the rank that prints "
        "this with the others'.",
        source="gloo transport/tcp/pair.cc, seen in real runs",
        example="what():  [enforce fail at gloo/transport/tcp/pair.cc:456] op.preamble.length <= op.nbytes. 68608 vs "
        "4. Received data size doesn't match expected size. Is there a distributed collective mismatch in your code?",
    ),
    row(
        "S013",
        "nccl_mismatch",
        Role.ROOT,
        Category.COLLECTIVE_HANG,
        Tier.EXCEPTION,
        needle=("Mismatched collective detected", "Message truncated : received"),
        pattern=r"Mismatched collective detected[^\n]{0,80}?(?:around rank (?P<around>\d{1,7}))|"
        r"Message truncated : received (?P<got>\d{1,20}) bytes instead of (?P<expected>\d{1,20})",
        advice="Look for uneven data, or code that sends other sizes or another order per rank; the network is well.",
        source="NVIDIA/nccl#296",
        example="NCCL WARN Mismatched collective detected, please check your collective calls at and around rank 3.",
    ),
    row(
        "S014a",
        "desync_lagging_ranks",
        Role.ROOT,
        Category.COLLECTIVE_HANG,
        Tier.EXCEPTION,
        needle="are the lagging ranks that caused this timeout",
        pattern=r"ranks \[(?P<ranks>[\d, ]{1,2000})\] are the lagging ranks that caused this timeout",
        advice="Look at the ranks that are named: they never joined, dead or elsewhere in the code.",
        source="torch TraceUtils.h",
        example="- To our best knowledge, ranks [3] are the lagging ranks that caused this timeout. They never joined "
        "any collectives",
    ),
    row(
        "S014b",
        "desync_unfinished",
        Role.ROOT,
        Category.COLLECTIVE_HANG,
        Tier.EXCEPTION,
        needle=("joined but didn't finish collective", "but didn't join collective"),
        pattern=r"\[(?P<ranks>[\d, ]{1,2000})\] (?:joined but didn't finish collective #(?P<seq>\d{1,20})|"
        r"finished collective #(?P<finished>\d{1,20}), but didn't join collective #(?P<missed>\d{1,20}))",
        advice="Look at the ranks that are named: those that didn't finish have a stuck kernel, those that "
        "didn't join are elsewhere.",
        source="torch TraceUtils.h",
        example="  - [1] finished collective #12, but didn't join collective #13 (count from 1)",
    ),
    row(
        "S014c",
        "barrier_missed",
        Role.ROOT,
        Category.COLLECTIVE_HANG,
        Tier.EXCEPTION,
        needle="failed to pass monitoredBarrier",
        pattern=r"\bRanks? (?P<ranks>\d[\d, ]{0,2000}) failed to pass monitoredBarrier",
        advice="Look at the ranks that are named: they never came to the barrier, dead or elsewhere in the code.",
        source="torch ProcessGroupGloo.cpp",
        example="RuntimeError: [Rank 0]: Ranks 3, 5 failed to pass monitoredBarrier in 600000 ms",
    ),
    row(
        "S014e",
        "horovod_missing",
        Role.ROOT,
        Category.COLLECTIVE_HANG,
        Tier.EXCEPTION,
        needle=("[missing ranks: ", "[horovod_", "[HorovodA", "[HorovodB", "/HorovodA", "/HorovodB"),
        pattern=r"\[missing ranks: (?P<ranks>\d[\d, ]{0,2000})\]|"
        r"^\s{0,4}(?:(?P<rank>\d{1,7}): )?\[(?:\w{1,80}/){0,8}[Hh]orovod(?:_|A|B)[^\]\n]{0,300}",
        advice="Look at the ranks that are named: they did not submit what the others wait for.",
        source="horovod/horovod#534, #1442, #2107",
        example="HorovodBroadcast_fully_connected_weights_0 [missing ranks: 0]",
        names_rank=True,
    ),
    row(
        "S014f",
        "horovod_stalled",
        Role.CASCADE,
        Category.COLLECTIVE_HANG,
        Tier.WATCHDOG,
        needle="waiting for remainder of ranks",
        pattern=r"by subset of ranks and are waiting for remainder of ranks for more than (?P<seconds>\d{1,7}) seconds",
        advice="Look at the ranks that are listed below the line: the others wait for them.",
        source="horovod/horovod stall_inspector.cc",
        example="One or more tensors were submitted to be reduced, gathered or broadcasted by subset of ranks and are "
        "waiting for remainder of ranks for more than 60 seconds.",
    ),
    row(
        "S014d",
        "barrier_broken",
        Role.CASCADE,
        Category.COLLECTIVE_HANG,
        Tier.WATCHDOG,
        needle=("reached monitoredBarrier, but received errors", "in monitoredBarrier"),
        pattern=r"reached monitoredBarrier, but received errors|in monitoredBarrier, (?:node|rank)",
        advice="Read rank 0's own log: it names the rank that did not come.",
        source="torch ProcessGroupGloo.cpp",
        example="RuntimeError: Rank 2 successfully reached monitoredBarrier, but received errors while waiting for "
        "send/recv "
        "from rank 0. Please check rank 0 logs for faulty rank.",
    ),
    row(
        "S015",
        "collective_nan_check",
        Role.ROOT,
        Category.NAN_INF,
        Tier.EXCEPTION,
        needle="checkForNaN",
        pattern=r"checkForNaN[^\n]{0,200}Assertion",
        advice="Look at this rank's GPU (Xid, ECC) and its batch: it was about to send a NaN.",
        source="pytorch/torchtitan#951",
        example="/pytorch/torch/csrc/distributed/c10d/NanCheck.cu:182: checkForNaN: block: [0,0,0], thread: [21,0,0] "
        "Assertion `!isnan(val)` failed.",
    ),
)
