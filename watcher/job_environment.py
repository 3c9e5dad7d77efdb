"""The few names of a job's environment that may be looked at: they place it, none of them opens a door."""

from collections.abc import Iterable, Mapping

from watcher.process_tree import text_of

ALLOWED = frozenset((
    "RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK", "NODE_RANK", "NNODES", "MASTER_ADDR",
    "MASTER_PORT", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "TORCHELASTIC_MAX_RESTARTS",
    "OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "CUDA_LAUNCH_BLOCKING",
    "CUDA_DEVICE_MAX_CONNECTIONS", "NVIDIA_VISIBLE_DEVICES", "VIRTUAL_ENV", "CONDA_PREFIX",
    "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "TORCH_DISTRIBUTED_DEBUG", "TORCH_SHOW_CPP_STACKTRACES",
    "TORCH_FR_BUFFER_SIZE", "TORCH_FR_DUMP_TEMP_FILE", "TORCH_CPP_LOG_LEVEL", "GLOO_SOCKET_IFNAME", "UCX_TLS",
    "FI_PROVIDER", "FI_EFA_USE_DEVICE_RDMA", "TOKENIZERS_PARALLELISM", "TRITON_CACHE_DIR", "HF_HOME",
    "XDG_CACHE_HOME", "PYTHONUNBUFFERED", "SLURM_JOB_ID", "SLURM_JOBID", "SLURM_JOB_NAME", "SLURM_JOB_NODELIST",
    "SLURM_JOB_NUM_NODES", "SLURM_JOB_PARTITION", "SLURM_NODEID", "SLURM_NNODES", "SLURM_NTASKS", "SLURM_PROCID",
    "SLURM_LOCALID", "SLURM_STEP_ID", "SLURM_RESTART_COUNT", "SLURM_CLUSTER_NAME", "OMPI_COMM_WORLD_RANK",
    "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "KUBERNETES_SERVICE_HOST", "HOSTNAME", "POD_NAME",
    "POD_NAMESPACE", "JOB_COMPLETION_INDEX", "PBS_JOBID", "LSB_JOBID",
))  # fmt: skip
_FAMILIES = ("NCCL_", "TORCH_NCCL_", "RUNWATCH_RUN")
"""Settings of the libraries that carry the collectives; none of them holds a secret."""
_MOST_BYTES = 256 << 10


def environment_of(pid: int) -> dict[str, str]:
    """The allowed part of a process's initial environment; empty where we may not look."""
    pairs = (entry.partition("=") for entry in text_of(f"/proc/{pid}/environ", _MOST_BYTES).split("\0"))
    return {name: value for name, _, value in pairs if is_allowed(name)}


def first_of(pids: Iterable[int], *names: str) -> str | None:
    """The first of these names that any of the processes has."""
    for pid in pids:
        environment: Mapping[str, str] = environment_of(pid)
        for name in names:
            if environment.get(name):
                return environment[name]
    return None


def is_allowed(name: str) -> bool:
    """True for a name whose value may leave the node (masked, as everything)."""
    return name in ALLOWED or name.startswith(_FAMILIES)
