"""Lines that are often taken for a failure and never are one."""

from diagnosis.observations import Category, Role
from diagnosis.signatures.row import Tier, row

TABLE = (
    row(
        "S113a",
        "launcher_noise",
        Role.BENIGN,
        Category.NONE,
        Tier.LAUNCHER,
        needle=("OMP_NUM_THREADS", "be retrieved (gai", "ACCESS_REG(", "To enable traceback see"),
        pattern=r"OMP_NUM_THREADS|cannot be retrieved \(gai error: |ACCESS_REG\(0x|To enable traceback see",
        source="leptonai/gpud notes, nanodet#415, kohya-ss#1434",
        example="[W socket.cpp:663] [c10d] The IPv6 network addresses of (node0, 29500) cannot be retrieved (gai "
        "error: -2 "
        "- Name or service not known).",
    ),
    row(
        "S113b",
        "nccl_trail",
        Role.BENIGN,
        Category.NONE,
        Tier.LAUNCHER,
        needle="NCCL INFO ",
        pattern=r"NCCL INFO [\w./]{1,80}:\d{1,6} -> \d{1,3}",
        advice="",
        source="kohya-ss#1434 logs",
        example="worker1:15:91 [3] NCCL INFO transport.cu:153 -> 2 [Proxy thread error]",
    ),
    row(
        "S113c",
        "python_warning",
        Role.BENIGN,
        Category.NONE,
        Tier.LAUNCHER,
        needle=("Warning: ",),
        pattern=r"\b(?:User|Future|Deprecation|Runtime|Resource|Pending\w{0,20}|Syntax|Import)Warning: ",
        source="CPython",
        example="/opt/lib/site.py:12: FutureWarning: `torch.cuda.amp.autocast(args...)` is deprecated.",
    ),
    row(
        "S113d",
        "boiler_plate",
        Role.BENIGN,
        Category.NONE,
        Tier.LAUNCHER,
        needle=(
            "This is most likely caused by incorrect usages of collectives",
            "It is possible that",
            "There are some potential root causes",
            "could be triggered by",
        ),
        pattern=r"^\W{0,4}(?:This is most likely caused by|It is possible that|There are some potential root causes|"
        r"[^\n]{0,80}could be triggered by)",
        advice="",
        source="torch, Ray",
        example="There are some potential root causes. (1) The process is killed by SIGKILL by OOM killer due to high "
        "memory "
        "usage.",
    ),
)
