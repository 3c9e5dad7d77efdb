"""Lines about disks, file systems and checkpoints."""

from diagnosis.observations import Category, Role
from diagnosis.signatures.row import Tier, row

TABLE = (
    row(
        "S102",
        "disk_full",
        Role.ROOT,
        Category.DISK_FULL,
        Tier.HARDWARE,
        needle=("No space left on device", "Disk quota exceeded", "ENOSPC", "[Errno 28]", "[Errno 122]"),
        pattern=r"(?<!>: )No space left on device(?:[^\n]{0,20}: '(?P<path>[^'\n]{1,300})')?|Disk quota exceeded|"
        r"os error 28|ENOSPC|\[Errno (?:28|122)\]",
        advice="Run `df -h`, `df -i` and the quota of the target, /tmp, ~/.cache and /dev/shm; delete old checkpoints.",
        source="bghira/SimpleTuner#2353, BinItAI/visdet#95, ray#32481",
        example="OSError: [Errno 28] No space left on device: '/checkpoints/global_step_200'",
    ),
    row(
        "S103",
        "checkpoint_write_failed",
        Role.ROOT,
        Category.CHECKPOINT_FAILURE,
        Tier.EXCEPTION,
        needle=("PytorchStreamWriter failed writing", "file write failed"),
        pattern=r"PytorchStreamWriter failed writing(?: (?P<what>file [^\s:]{1,120}|central directory))?|file write "
        r"failed",
        advice="Resume from the checkpoint before this one, which is probably corrupt.",
        source="NVIDIA/Megatron-LM#314, THUDM/ChatGLM-6B#1166, rwth-i6/returnn#1829",
        example="RuntimeError: [enforce fail at inline_container.cc:471] . PytorchStreamWriter failed writing file "
        "data/301: file write failed",
    ),
    row(
        "S103b",
        "checkpoint_unexpected_pos",
        Role.CASCADE,
        Category.CHECKPOINT_FAILURE,
        Tier.EXCEPTION,
        needle="unexpected pos ",
        pattern=r"inline_container\.cc:\d{1,6}\][^\n]{0,20}unexpected pos \d{1,20} vs \d{1,20}",
        advice="Read the first exception of the chain: this one only came while the file was closed.",
        source="NVIDIA/Megatron-LM#314, torchforge#568",
        example="RuntimeError: [enforce fail at inline_container.cc:337] . unexpected pos 4996040960 vs 4996040856",
        may_start=True,
    ),
    row(
        "S105",
        "checkpoint_load_failed",
        Role.ROOT,
        Category.CHECKPOINT_FAILURE,
        Tier.EXCEPTION,
        needle=(
            "Error(s) in loading",
            "UnpicklingError",
            "Ran out of input",
            "CheckpointException",
            "CheckpointingException",
            "storage has wrong size",
            "latest_checkpointed_iteration.txt",
            "PytorchStreamReader failed",
            "invalid header or archive is corrupted",
            "Error while deserializing header",
        ),
        pattern=r"Error\(s\) in loading state_dict for (?P<model>[\w.]{1,120})|UnpicklingError|Ran out of input|"
        r"(?<!\bapi\.)(?<!CheckpointException: )Checkpoint(?:ing)?Exception|"
        r"storage has wrong size: expected|(?:Errno|Error|rror:|No such file)[^\n]{0,120}"
        r"latest_checkpointed_iteration\.txt|PytorchStreamReader failed|invalid header or archive is corrupted|"
        r"Error while deserializing header",
        advice="Go back one checkpoint, and check that its configuration is this run's.",
        source="pytorch/pytorch#12042, NVIDIA restart-agent TAXONOMY",
        example="RuntimeError: Error(s) in loading state_dict for LlamaForCausalLM: size mismatch for lm_head.weight",
    ),
    row(
        "S105b",
        "checkpoint_ranks",
        Role.ROOT,
        Category.CHECKPOINT_FAILURE,
        Tier.EXCEPTION,
        needle="CheckpointException ranks:",
        pattern=r"CheckpointException ranks:dict_keys\(\[(?P<failed>[\d, ]{1,400})\]\)",
        advice="Read the traceback below it that bears the number of the rank: every rank prints the same.",
        source="torch distributed/checkpoint/api.py",
        example="torch.distributed.checkpoint.api.CheckpointException: CheckpointException ranks:dict_keys([11])",
    ),
    row(
        "S106",
        "nfs_not_responding",
        Role.ROOT,
        Category.STORAGE_STALL,
        Tier.HARDWARE,
        needle=("nfs: server ", "Lock reclaim failed", "nfs_wb_all", "nfs_lock_and_join_requests"),
        pattern=r"nfs: server (?P<server>\S{1,200}) not responding|Lock reclaim failed|nfs_wb_all\+|"
        r"nfs_lock_and_join_requests\+",
        advice="Check the mount of that node; ask the storage team where several nodes print it.",
        source="leptonai/gpud nfs matcher, BVLC/caffe#6020",
        example="nfs: server filer7 not responding, still trying",
    ),
    row(
        "S106b",
        "nfs_ok",
        Role.CONTEXT,
        Category.STORAGE_STALL,
        Tier.HARDWARE,
        needle="nfs: server ",
        pattern=r"nfs: server (?P<server>\S{1,200}) OK",
        advice="",
        source="leptonai/gpud nfs matcher",
        example="nfs: server filer7 OK",
    ),
    row(
        "S107",
        "storage_io_error",
        Role.ROOT,
        Category.STORAGE_STALL,
        Tier.EXCEPTION,
        needle=(
            "Stale file handle",
            "Input/output error",
            "Transport endpoint is not connected",
            "Software caused connection abort",
            "LustreError",
            "Remote I/O error",
            "was lost",
            "[Errno 116]",
            "[Errno 121]",
            "[Errno 108]",
            "[Errno 110]",
            "[Errno 112]",
            "[Errno 117]",
        ),
        pattern=r"Stale (?:NFS )?file handle(?:: ?'?(?P<path>[^'\n]{1,300}))?|(?<!Error: )\bInput/output "
        r"error|Transport endpoint is not connected|\[Errno 103\] Software caused connection abort|LustreError: |"
        r"Remote I/O error|\[Errno (?:108|112|116|117|121)\]|\[Errno 110\][^\n]{0,60}: '/|"
        r"Connection to \S{1,80}-(?:OST|MDT)\w{1,10}[^\n]{0,40}was lost",
        advice="Give each node its own cache, and check whether the mount was lost.",
        source="modelscope/ms-swift#6695, hiyouga/LlamaFactory#3243, h5py#2346",
        example="OSError: [Errno 116] Stale file handle: '/shared/cache/tokens.arrow'",
    ),
    row(
        "S108",
        "local_disk_failed",
        Role.ROOT,
        Category.STORAGE_STALL,
        Tier.HARDWARE,
        needle=(
            "Remounting filesystem read-only",
            "nvme",
            "Buffer I/O error",
            "Read-only file system",
            "[Errno 30]",
            "Corruption of in-memory data",
        ),
        pattern=r"Remounting filesystem read-only|nvme\d{1,3}[^\n]{0,80}?(?:reset controller|Disabling device after "
        r"reset)|"
        r"Buffer I/O error on dev(?:ice)? (?P<device>\S{1,60})|\[Errno 30\]|"
        r"XFS \([^\n]{1,40}\): Corruption of in-memory data",
        advice="Drain the node and replace the disk.",
        source="leptonai/gpud disk matcher",
        example="EXT4-fs (nvme1n1): Remounting filesystem read-only",
    ),
)
