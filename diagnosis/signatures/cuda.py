"""Errors of CUDA, cuBLAS and cuDNN as a rank prints them.

CUDA is asynchronous: the Python line of such an error may be wrong, the rank is right. Hints such as
CUDA_LAUNCH_BLOCKING are advice, never evidence.
"""

from diagnosis.observations import Category, Role
from diagnosis.signatures.row import Tier, row

_SIZE = r"[\d.]{1,20} [KMGT]?i?B(?:ytes)?"

TABLE = (
    row(
        "S029a",
        "cuda_oom_corrupted",
        Role.CASCADE,
        Category.RANK_CRASH,
        Tier.EXCEPTION,
        needle="Tried to allocate more than",
        pattern=r"(?:CUDA|HIP|XPU) out of memory\. Tried to allocate more than 1EB",
        advice="Look for the error before it: the size is corrupted, and memory is not the problem.",
        source="rwth-i6/returnn#1466",
        example="torch.OutOfMemoryError: CUDA out of memory. Tried to allocate more than 1EB memory.",
        may_start=True,
    ),
    row(
        "S029",
        "cuda_oom",
        Role.ROOT,
        Category.GPU_OOM,
        Tier.HARDWARE,
        needle=("CUDA out of memory", "HIP out of memory", "XPU out of memory", "NPU out of memory"),
        pattern=r"(?:CUDA|HIP|XPU|NPU) out of memory"
        r"(?!\. Tried to allocate more than 1EB|[^\n]{0,80}?\b[Ss]kip(?:ping|ped)\b)"
        r"(?:\. Tried to allocate "
        rf"(?P<tried>{_SIZE})[.,]?)?(?: ?\(?[GN]PU (?P<gpu>\d{{0,3}})[; ] ?(?:has a total capac(?:i)?ty of )?"
        rf"(?P<total>{_SIZE})(?: total capacity)?)?"
        rf"(?:[^\n]{{0,80}}? (?:of which )?(?P<free>{_SIZE}) (?:is )?free)?"
        rf"(?:[^\n]{{0,300}}?this process has (?P<in_use>{_SIZE}) memory in use)?"
        rf"(?:[^\n]{{0,200}}?allocated memory (?P<allocated>{_SIZE}) is allocated by PyTorch)?"
        rf"(?:[^\n]{{0,200}}? (?P<unallocated>{_SIZE}) is reserved by PyTorch but unallocated)?",
        advice="Take a smaller micro-batch or sequence, activation checkpointing or more sharding; set "
        "expandable_segments:True where much is reserved but unallocated.",
        source="modelscope/FunASR#2006, modelscope/ms-swift#6301, rwth-i6/returnn#1466",
        example="[rank2]: torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 336.00 MiB. GPU 2 has a "
        "total capacity of 79.11 GiB of which 121.25 MiB is free. Including non-PyTorch memory, this process has "
        "78.98 GiB memory in use. Of the allocated memory 71.20 GiB is allocated by PyTorch, and 5.73 GiB is reserved "
        "by PyTorch but unallocated.",
    ),
    row(
        "S029b",
        "paddle_oom",
        Role.ROOT,
        Category.GPU_OOM,
        Tier.HARDWARE,
        needle=("Out of memory error on", "CUDA error(2), out of memory"),
        pattern=r"Out of memory error on GPU (?P<gpu>\d{1,3})\."
        r"(?: Cannot allocate (?P<tried>[\d.]{1,20}[KMGT]?B) memory)?"
        r"(?:[^\n]{0,120}?available memory is only (?P<free>[\d.]{1,20}[KMGT]?B))?|CUDA error\(2\), out of memory",
        advice="Take a smaller batch or sequence, recompute or more sharding; see whether another process uses "
        "that GPU.",
        source="yeyupiaoling/PaddlePaddle-DeepSpeech#60, PaddlePaddle/PaddleClas#2749",
        example="Out of memory error on GPU 0. Cannot allocate 165.586182MB memory on GPU 0, 5.866455GB memory has "
        "been allocated and available memory is only 67.937500MB.",
    ),
    row(
        "S030",
        "nccl_cuda_oom",
        Role.ROOT,
        Category.GPU_OOM,
        Tier.HARDWARE,
        needle=("'out of memory'", "Failed to CUDA calloc"),
        pattern=r"(?:\[(?P<device>\d{1,3})\][^\n]{0,120})?(?:(?:Cuda|HIP) failure (?:\d{1,4} )?'out of memory'|"
        r"Failed to CUDA calloc (?:async )?(?P<bytes>\d{1,20}) bytes)",
        advice="Leave head-room outside torch's allocator: empty_cache before new process groups, a smaller "
        "NCCL_BUFFSIZE.",
        source="NVIDIA/nccl#1235, rwth-i6/returnn#1626",
        example="node3:991:1188 [4] include/alloc.h:184 NCCL WARN Cuda failure 'out of memory'",
    ),
    row(
        "S031",
        "cuda_library_oom",
        Role.ROOT,
        Category.GPU_OOM,
        Tier.HARDWARE,
        needle=(
            "CUBLAS_STATUS_ALLOC_FAILED",
            "CUDNN_STATUS_ALLOC_FAILED",
            "CUDNN_STATUS_NOT_INITIALIZED",
            "CUDA error: out of memory",
            "cudaErrorMemoryAllocation",
        ),
        pattern=r"(?P<status>CUBLAS_STATUS_ALLOC_FAILED|CUDNN_STATUS_ALLOC_FAILED|CUDNN_STATUS_NOT_INITIALIZED|"
        r"CUDA error: out of memory|cudaErrorMemoryAllocation)",
        advice="Look how full the GPU was just before, and treat it as out of GPU memory.",
        source="Lornatang/RFB_ESRGAN-PyTorch#5, NVIDIA restart-agent registry",
        example="RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
    ),
    row(
        "S031b",
        "xla_oom",
        Role.ROOT,
        Category.GPU_OOM,
        Tier.HARDWARE,
        needle=("RESOURCE_EXHAUSTED: ", "OOM when allocating tensor"),
        pattern=r"RESOURCE_EXHAUSTED: (?:Out of memory|OOM|Attempting to (?:reserve|allocate)|Failed to allocate)"
        r"[^\n]{0,80}?(?:allocat\w{0,5} (?P<bytes>\d{1,20}) bytes)?|"
        r"OOM when allocating tensor",
        advice="Take a smaller batch or more sharding; set XLA_PYTHON_CLIENT_MEM_FRACTION where another process"
        " shares the device.",
        source="JAX and TensorFlow runtimes",
        example="jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate "
        "12884901888 bytes.",
    ),
    row(
        "S038b",
        "cuda_no_device",
        Role.ROOT,
        Category.RANK_CRASH,
        Tier.EXCEPTION,
        needle=("No CUDA GPUs are available", "no CUDA-capable device"),
        pattern=r"No CUDA GPUs are available|no CUDA-capable device is detected",
        advice="Look whether nvidia-smi lists the GPUs on that node, and what CUDA_VISIBLE_DEVICES says there.",
        source="PyTorch CUDA initialisation",
        example="RuntimeError: No CUDA GPUs are available",
    ),
    row(
        "S032",
        "cublas_failed",
        Role.ROOT,
        Category.RANK_CRASH,
        Tier.EXCEPTION,
        needle="CUBLAS_STATUS_",
        pattern=r"(?P<status>CUBLAS_STATUS_(?:EXECUTION_FAILED|INTERNAL_ERROR|INVALID_VALUE|NOT_SUPPORTED|"
        r"NOT_INITIALIZED|ARCH_MISMATCH))",
        advice="Check in this order: GPU memory, an index out of range before it, NaN or shapes, then the card "
        "itself where it is always the same one.",
        source="yifan123/flow_grpo#181, deepspeedai/DeepSpeed#294",
        example="RuntimeError: CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasGemmEx( handle )`",
        may_start=True,
    ),
    row(
        "S033a",
        "device_assert",
        Role.ROOT,
        Category.RANK_CRASH,
        Tier.EXCEPTION,
        needle=("device-side assert triggered", "cudaErrorAssert"),
        pattern=r"device-side assert triggered|cudaErrorAssert",
        advice="Check token, label and position ids for values out of range; the first Assertion line above "
        "tells which.",
        source="deepspeedai/Megatron-DeepSpeed#207, huggingface/trl#1995",
        example="[rank137]: RuntimeError: CUDA error: device-side assert triggered",
    ),
    row(
        "S033b",
        "device_assertion",
        Role.ROOT,
        Category.RANK_CRASH,
        Tier.EXCEPTION,
        needle="Assertion `",
        pattern=r"\.cuh?:\d{1,6}: [^\n]{0,300}?block: \[\d{1,9},\d{1,9},\d{1,9}\], thread: \[\d{1,9},\d{1,9},\d{1,9}\] "
        r"Assertion `(?P<assertion>(?!!isnan)[^`']{1,200})[`'] failed",
        advice="Read the first of these lines: the others are the same event.",
        source="huggingface/trl#1995",
        example="../aten/src/ATen/native/cuda/Indexing.cu:1292: indexSelectLargeIndex: block: [7,0,0], thread: "
        "[32,0,0] "
        "Assertion `srcIndex < srcSelectDimSize` failed.",
    ),
    row(
        "S034",
        "cuda_illegal_access",
        Role.ROOT,
        Category.RANK_CRASH,
        Tier.EXCEPTION,
        needle=("an illegal memory access was encountered", "cudaErrorIllegalAddress"),
        pattern=r"an illegal memory access was encountered|cudaErrorIllegalAddress",
        advice="Switch custom kernels off (flash attention, MoE) and run again; run dcgmi diag where it is "
        "always the same GPU.",
        source="axolotl#1473, pytorch/torchtitan#810, Dao-AILab/flash-attention#121",
        example="RuntimeError: CUDA error: an illegal memory access was encountered",
    ),
    row(
        "S035",
        "cuda_launch_error",
        Role.ROOT,
        Category.RANK_CRASH,
        Tier.EXCEPTION,
        needle=(
            "CUDA error: misaligned",
            "failure: misaligned",
            "unspecified launch failure",
            "invalid device function",
            "an illegal instruction was encountered",
            "no kernel image is available",
        ),
        pattern=r"(?:CUDA error|Cuda failure[^\n]{0,10}|CUDA_ERROR\w{0,40}): ?'?(?P<text>misaligned address|"
        r"unspecified "
        r"launch failure|invalid device function|an illegal instruction was encountered|no kernel image is available)",
        advice="Look for Xid 13 or 79 in the kernel log before blaming code; build for this GPU where it says "
        "`no kernel image`.",
        source="NVIDIA Xid catalogue, CUDA runtime strings",
        example="RuntimeError: CUDA error: unspecified launch failure",
    ),
    row(
        "S036",
        "cuda_ecc",
        Role.ROOT,
        Category.GPU_HARDWARE,
        Tier.HARDWARE,
        needle=("uncorrectable ECC error", "CUDA_ERROR_ECC_UNCORRECTABLE", "cudaErrorECCUncorrectable"),
        pattern=r"uncorrectable ECC error encountered|CUDA_ERROR_ECC_UNCORRECTABLE|cudaErrorECCUncorrectable",
        advice="Drain the node and run `nvidia-smi -q -d ECC,ROW_REMAPPER`; reset the GPU, replace it when it repeats.",
        source="kohya-ss/sd-scripts#1434, huggingface/trl#4149, stas00/ml-engineering",
        example="RuntimeError: CUDA error: uncorrectable ECC error encountered",
    ),
    row(
        "S037",
        "cuda_nvlink",
        Role.ROOT,
        Category.GPU_HARDWARE,
        Tier.HARDWARE,
        needle=("uncorrectable NVLink error", "peer GPU memory over nvlink"),
        pattern=r"uncorrectable NVLink error|Invalid access of peer GPU memory over nvlink",
        advice="Check the fabric manager and `nvidia-smi nvlink -e`, then drain the node.",
        source="MIC-DKFZ/nnUNet#1519, pytorch/pytorch#58155",
        example="RuntimeError: CUDA error: uncorrectable NVLink error detected during the execution",
    ),
    row(
        "S038c",
        "cuda_not_ready",
        Role.ROOT,
        Category.GPU_HARDWARE,
        Tier.HARDWARE,
        needle=("system not yet initialized", "CUDA_ERROR_SYSTEM_NOT_READY", "cudaErrorSystemNotReady"),
        pattern=r"system not yet initialized|CUDA_ERROR_SYSTEM_NOT_READY|cudaErrorSystemNotReady",
        advice="Start the node's fabric manager (`systemctl status nvidia-fabricmanager`) in the driver's own version: "
        "NVSwitch machines do not work without it.",
        source="NVIDIA Fabric Manager user guide, CUDA error 802",
        example="RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before "
        "calling NumCudaDevices() that might have already set an error? Error 802: system not yet initialized",
    ),
    row(
        "S038d",
        "cuda_driver_unfit",
        Role.ROOT,
        Category.RANK_CRASH,
        Tier.EXCEPTION,
        needle=(
            "unsupported display driver",
            "forward compatibility was attempted",
            "NVIDIA driver on your system is too old",
            "CUDA driver version is insufficient",
        ),
        pattern=r"system has unsupported display driver|forward compatibility was attempted on non supported HW|"
        r"NVIDIA driver on your system is too old|CUDA driver version is insufficient for CUDA runtime version",
        advice="Compare `nvidia-smi` inside and outside the container: the driver of that node does not fit the CUDA "
        "of this image, or was replaced without a restart.",
        source="CUDA errors 803, 804 and 35, PyTorch",
        example="RuntimeError: The NVIDIA driver on your system is too old (found version 11040).",
    ),
    row(
        "S038",
        "gpu_vanished",
        Role.ROOT,
        Category.GPU_HARDWARE,
        Tier.HARDWARE,
        needle=(
            "Unable to determine the device handle",
            "GPU is lost",
            "GPU requires reset",
            "No devices were found",
            "device(s) is/are busy or unavailable",
            "CUDA unknown error",
        ),
        pattern=r"Unable to determine the device handle for [Gg][Pp][Uu] ?(?P<bus>[0-9A-Fa-f:.]{1,30})|GPU is lost|"
        r"GPU requires reset|^\s{0,4}No devices were found|device\(s\) is/are busy or unavailable|CUDA unknown error",
        advice="Look for Xid 79 in the kernel log; restart the machine cold, check power and seating, replace "
        "the GPU when it repeats.",
        source="rwth-i6/returnn#1486, learning-at-home/hivemind#509",
        example="Unable to determine the device handle for GPU 0000:3B:00.0: Unknown Error",
    ),
    row(
        "S039",
        "cuda_aftermath",
        Role.CASCADE,
        Category.RANK_CRASH,
        Tier.EXCEPTION,
        needle=(
            "driver shutting down",
            "previous error during capture",
            "CUDA error: initialization error",
            "CUDA-capable device(s)",
        ),
        pattern=r"CUDA error: driver shutting down|previous error during capture|CUDA error: initialization error",
        advice="Look for an earlier failure, or for CUDA that was used after a fork.",
        source="NVIDIA restart-agent registry, NVIDIA/nccl#1029",
        example="RuntimeError: CUDA error: driver shutting down",
        may_start=True,
    ),
    row(
        "S039b",
        "cuda_advice",
        Role.BENIGN,
        Category.NONE,
        Tier.EXCEPTION,
        needle=("CUDA kernel errors might be", "CUDA_LAUNCH_BLOCKING", "TORCH_USE_CUDA_DSA"),
        pattern=r"CUDA kernel errors might be asynchronously reported|passing CUDA_LAUNCH_BLOCKING|TORCH_USE_CUDA_DSA",
        advice="",
        source="torch c10/cuda/CUDAException.cpp",
        example="CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below "
        "might be incorrect.",
    ),
)
