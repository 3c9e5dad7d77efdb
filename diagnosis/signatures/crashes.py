"""Lines of processes that crash in native code: segmentation faults, aborts, failed assertions, bus errors."""

from diagnosis.observations import Category, Role
from diagnosis.signatures.process_names import where_it_may_train
from diagnosis.signatures.row import Tier, row

TABLE = (
    row(
        "S047a",
        "segfault",
        Role.ROOT,
        Category.RANK_CRASH,
        Tier.SIGNAL,
        needle=("Segmentation fault", "SIGSEGV", "Segfault encountered"),
        pattern=r"Fatal Python error: Segmentation fault|!{3,12} ?Segfault encountered|"
        r"^\s{0,8}(?:\S{1,200}: line \d{1,7}:\s{1,4})?(?:\d{1,10} )?"
        r"Segmentation fault|\*\*\* SIGSEGV|"
        r"(?:\[(?P<node>[\w.-]{1,120}):(?P<pid>\d{1,10}):\d{1,6}:\d{1,10}\] )?Caught signal 11 "
        r"\(Segmentation fault|died with <Signals\.SIGSEGV",
        advice="Read the last `Current thread` frames, or the library in the kernel's line: they name the "
        "native code that crashed.",
        source="hallo2#56, NVIDIA/Megatron-LM#1880",
        example="Fatal Python error: Segmentation fault",
    ),
    row(
        "S047b",
        "kernel_segfault",
        Role.CONFIRM,
        Category.RANK_CRASH,
        Tier.HARDWARE,
        needle="segfault at",
        pattern=r"(?P<name>[^\s\[]{1,64})\[(?P<pid>\d{1,10})\]: segfault at [0-9a-f]{1,16} ip [0-9a-f]{1,16} sp "
        r"[0-9a-f]{1,16} error \d{1,4}(?: in (?P<library>[^\[\s]{1,120}))?",
        advice="Look at the library in the line: it is the one that crashed.",
        source="leptonai/gpud nccl matcher",
        example="[  912.441] python3[4412]: segfault at 7f01 ip 00007f01 sp 00007ffd error 4 in "
        "libnccl.so.2.20.5[7f01+1]",
        ruling=where_it_may_train(Role.CONFIRM, Category.RANK_CRASH),
    ),
    row(
        "S048d",
        "nccl_shared_memory",
        Role.ROOT,
        Category.RANK_CRASH,
        Tier.EXCEPTION,
        needle=("creating shared memory segment", "failed to extend /dev/shm/nccl"),
        pattern=r"Error while creating shared memory segment (?P<path>/dev/shm/nccl\S{1,80})|"
        r"failed to extend /dev/shm/nccl",
        advice="Run `df /dev/shm` on that node: give the container more shared memory (--shm-size, --ipc=host).",
        source="NVIDIA/nccl misc/shmutils.cc, #1171",
        example="Error while creating shared memory segment /dev/shm/nccl-sv7xQf (size 9637888)",
    ),
    row(
        "S048a",
        "cpp_terminate",
        Role.CONTEXT,
        Category.RANK_CRASH,
        Tier.SIGNAL,
        needle="terminate called after throwing",
        pattern=r"terminate called after throwing an instance of '(?P<type>[^']{1,120})'",
        advice="",
        source="sgl-project/sglang#1693",
        example="terminate called after throwing an instance of 'c10::DistBackendError'",
    ),
    row(
        "S048b",
        "cpp_what",
        Role.CONTEXT,
        Category.RANK_CRASH,
        Tier.SIGNAL,
        needle="what():",
        pattern=r"^\s{0,8}what\(\):\s{1,4}(?P<inner>[^\n]{1,300})",
        advice="",
        source="sgl-project/sglang#1693, MiniGPT-4#237",
        example="  what():  [Rank 1] NCCL watchdog thread terminated with exception: CUDA error: uncorrectable ECC "
        "error",
    ),
    row(
        "S048c",
        "python_aborted",
        Role.CONTEXT,
        Category.RANK_CRASH,
        Tier.SIGNAL,
        needle=("Fatal Python error: Aborted", "Aborted (core dumped)", "*** SIGABRT received"),
        pattern=r"Fatal Python error: Aborted|Aborted \(core dumped\)|\*\*\* SIGABRT received",
        advice="Read what stands before the abort.",
        source="MiniGPT-4#237, pytorch/xla#7138",
        example="Fatal Python error: Aborted",
    ),
    row(
        "S049",
        "fatal_signal",
        Role.ROOT,
        Category.RANK_CRASH,
        Tier.SIGNAL,
        needle=(
            "Bus error",
            "Illegal instruction",
            "Floating point exception",
            "*** SIGBUS",
            "*** SIGILL",
            "*** SIGFPE",
        ),
        pattern=r"(?:Fatal Python error: |^\s{0,8}(?:\S{1,200}: line \d{1,7}:\s{1,4})?(?:\d{1,10} )?)"
        r"(?P<text>Bus error|Illegal instruction|Floating point exception)|\*\*\* (?P<signal>SIG(?:BUS|ILL|FPE)) ",
        advice="Check `df /dev/shm` and lost files of the mount for a bus error; build again for this CPU for "
        "an illegal instruction.",
        source="hafs-community/HAFS#101, msr-fiddle/pipedream#28",
        example="Fatal Python error: Bus error",
    ),
    row(
        "S048e",
        "native_assertion",
        Role.ROOT,
        Category.RANK_CRASH,
        Tier.EXCEPTION,
        needle=": Assertion `",
        pattern=r"^(?:\[rank\d{1,7}\]: ?)?[\w./+-]{1,120}: \S{1,300}:\d{1,7}: (?![^\n]{0,200}block: \[)"
        r"[^\n]{1,800}?: Assertion `(?P<assertion>[^\n]{1,300})' failed\.",
        advice="Read what the assertion asks for: native code ended the process, with no traceback of Python.",
        source="glibc assert, deepspeedai/DeepSpeed#4888, #1627",
        example="python: /opt/conda/lib/site-packages/deepspeed/ops/csrc/aio/common/deepspeed_aio_common.cpp:"
        "125: int _do_io_complete(long long int): Assertion `n_completes >= min_completes' failed.",
    ),
)
