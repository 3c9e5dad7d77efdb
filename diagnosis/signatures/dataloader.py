"""Lines of DataLoaders, their workers, and of data that comes over a network."""

from diagnosis.observations import Category, Role
from diagnosis.signatures.row import Tier, row

TABLE = (
    row(
        "S063a",
        "shm_bus_error",
        Role.CONFIRM,
        Category.DATALOADER_CRASH,
        Tier.EXCEPTION,
        needle="insufficient shared memory",
        pattern=r"bus error encountered in worker[^\n]{0,60}insufficient shared memory",
        advice="Run `df /dev/shm` during the run; raise it (docker --shm-size, --ipc=host, an emptyDir of "
        "medium Memory) or use sharing_strategy file_system.",
        source="bigscience tr1-13B, pytorch/pytorch#5040",
        example="ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory "
        "(shm).",
    ),
    row(
        "S063",
        "loader_worker_bus_error",
        Role.ROOT,
        Category.DATALOADER_CRASH,
        Tier.EXCEPTION,
        needle="is killed by signal: Bus error",
        pattern=r"DataLoader worker \(pid (?P<pid>\d{1,10})\) is killed by signal: Bus error",
        advice="Run `df /dev/shm` during the run; raise it (docker --shm-size, --ipc=host, an emptyDir of "
        "medium Memory).",
        source="bigscience tr1-13B, pytorch/pytorch#16979, msr-fiddle/pipedream#28",
        example="RuntimeError: DataLoader worker (pid 30882) is killed by signal: Bus error. It is possible that "
        "dataloader's workers are out of shared memory. Please try to raise your shared memory limit.",
    ),
    row(
        "S064",
        "loader_worker_killed",
        Role.ROOT,
        Category.HOST_OOM,
        Tier.EXCEPTION,
        needle="is killed by signal: Killed",
        pattern=r"DataLoader worker \(pid (?P<pid>\d{1,10})\) is killed by signal: Killed",
        advice="Look for the worker's pid in the kernel log (dmesg), and at the cgroup's memory.events of that node.",
        source="pytorch/pytorch#8976, #5902",
        example="RuntimeError: DataLoader worker (pid 164244) is killed by signal: Killed. ",
    ),
    row(
        "S064b",
        "loader_worker_exited",
        Role.CASCADE,
        Category.DATALOADER_CRASH,
        Tier.EXCEPTION,
        needle="exited unexpectedly",
        pattern=r"DataLoader worker \(pid(?:\(s\))? (?P<pid>\d{1,10})[\d, ]{0,200}\) exited unexpectedly"
        r"(?: with exit code (?P<exit_code>-?\d{1,5}))?",
        advice="Read the line above it, or the kernel log: they name the signal.",
        source="Visual-AI/3DRS#7, InternLM/InternEvo#415",
        example="RuntimeError: DataLoader worker (pid(s) 164244) exited unexpectedly",
        may_start=True,
    ),
    row(
        "S065a",
        "loader_worker_segfault",
        Role.ROOT,
        Category.DATALOADER_CRASH,
        Tier.EXCEPTION,
        needle=(
            "is killed by signal: Segmentation",
            "is killed by signal: Aborted",
            "is killed by signal: Illegal",
            "is killed by signal: Floating",
        ),
        pattern=r"DataLoader worker \(pid (?P<pid>\d{1,10})\) is killed by signal: (?P<signal>Segmentation fault|"
        r"Aborted|"
        r"Illegal instruction|Floating point exception)",
        advice="Suspect a decoder library, and try another version of it.",
        source="MhLiao/DB#94, mmsegmentation#2085",
        example="RuntimeError: DataLoader worker (pid 777) is killed by signal: Segmentation fault. ",
    ),
    row(
        "S065b",
        "loader_worker_terminated",
        Role.CASCADE,
        Category.PREEMPTED,
        Tier.EXCEPTION,
        needle=("is killed by signal: Terminated", "is killed by signal: Interrupt", "is killed by signal: Hangup"),
        pattern=r"DataLoader worker \(pid (?P<pid>\d{1,10})\) is killed by signal: (?:Terminated|Interrupt|Hangup)",
        advice="Find out who sent SIGTERM to the process group: preemption, or the teardown of something that "
        "failed before.",
        source="allenai/olmoearth_pretrain PR#604",
        example="RuntimeError: DataLoader worker (pid 777) is killed by signal: Terminated. ",
    ),
    row(
        "S066",
        "loader_exception",
        Role.ROOT,
        Category.DATALOADER_CRASH,
        Tier.EXCEPTION,
        needle=("in DataLoader worker process", "in pin memory thread"),
        pattern=r"(?:(?P<type>[\w.]{1,80}): )?Caught (?P<caught>[\w.]{1,80}) in (?:DataLoader worker process "
        r"(?P<worker>\d{1,5})|pin memory thread)",
        advice="Read what stands under `Original Traceback`, and look at the sample or file that it names.",
        source="pytorch DataLoader, pytorch/pytorch#33296",
        example="KeyError: Caught KeyError in DataLoader worker process 3.",
    ),
    row(
        "S067",
        "loader_timeout",
        Role.ROOT,
        Category.DATALOADER_STALL,
        Tier.EXCEPTION,
        needle=("DataLoader timed out after", "queue.Empty"),
        pattern=r"DataLoader timed out after (?P<seconds>[\d.]{1,12}) seconds|^\s{0,8}_?queue\.Empty\b",
        advice="Look what the worker is blocked on: input, or a lock.",
        source="pytorch/pytorch#33296, #43502",
        example="RuntimeError: DataLoader timed out after 120 seconds",
    ),
    row(
        "S063b",
        "torch_shared_memory_full",
        Role.ROOT,
        Category.DATALOADER_CRASH,
        Tier.HARDWARE,
        needle="unable to write to file </torch_",
        pattern=r"unable to write to file </torch_[^>\n]{1,80}>",
        advice="Give the container more shared memory (--shm-size, --ipc=host, an emptyDir of medium Memory), or take "
        "fewer loader workers.",
        source="pytorch/pytorch#13246, torch MapAllocator.cpp",
        example="RuntimeError: unable to write to file </torch_3312_1234567_0>: No space left on device (28)",
    ),
    row(
        "S068",
        "too_many_files",
        Role.ROOT,
        Category.DATALOADER_CRASH,
        Tier.EXCEPTION,
        needle=("items of ancdata", "Too many open files", "file-max limit", "[Errno 24]"),
        pattern=r"received 0 items of ancdata|Too many open files|\[Errno 24\]|"
        r"VFS: file-max limit (?P<limit>\d{1,12}) reached",
        advice="Raise the limit (`ulimit -n 65536`), or use sharing_strategy('file_system').",
        source="pytorch/pytorch#973, #25691, #34768",
        example="RuntimeError: received 0 items of ancdata",
    ),
    row(
        "S069",
        "loader_interrupted",
        Role.CONTEXT,
        Category.DATALOADER_STALL,
        Tier.EXCEPTION,
        needle="Exception ignored in: <",
        pattern=r"Exception ignored in: <[^\n]{0,120}DataLoaderIter\.__del__",
        advice="Look where the loader's main thread stood.",
        source="roytseng-tw/Detectron.pytorch#140, ultralytics#673",
        example="^CException ignored in: <bound method _DataLoaderIter.__del__ of <torch.utils.data.dataloader."
        "_DataLoaderIter object at 0x7f33d805aa20>>",
    ),
    row(
        "S072",
        "remote_data_error",
        Role.CASCADE,
        Category.DATALOADER_STALL,
        Tier.NETWORK,
        needle=(
            "ReadTimeout",
            "ConnectTimeout",
            "ProtocolError(",
            "remote data host",
            "EndpointConnectionError",
            "SlowDown",
            "ClientPayloadError",
            "ServerTimeoutError",
        ),
        pattern=r"(?:exceptions|httpx|httpcore|urllib3)\.(?:Read|Connect)Timeout\b|ReadTimeoutError|"
        r"ProtocolError\('Connection aborted|"
        r"disconnected from remote data host[^\n]{0,40}?Retrying in (?P<wait>[\d.]{1,8}) ?sec(?: \[(?P<try>\d{1,5})/"
        r"(?P<tries>\d{1,5})\])?|EndpointConnectionError|ClientPayloadError|ServerTimeoutError|\bSlowDown\b",
        advice="Cache the data locally: the object store is slow or blocked.",
        source="pytorch/pytorch#33296, mosaicml/streaming#686",
        example="Got disconnected from remote data host. Retrying in 5sec [3/20]",
        may_start=True,
    ),
)
