"""Lines of accelerators that are not NVIDIA's: AMD, Ascend, Gaudi.

What is common (an exception, a watchdog's timeout, out of memory) stands with its family; here are the words that
only one maker's runtime or driver uses.
"""

from collections.abc import Mapping

from diagnosis.observations import Category, Role
from diagnosis.signatures.row import Tier, row

_AMD_DEVICE = r"amdgpu (?P<bus>[0-9a-f:.]{5,16}): [^\n]{0,40}?"


def _ruling_of_gaudi(fields: Mapping[str, str]) -> tuple[Role, Category]:
    """A device that cannot be had is the machine's fault, anything else the program's or the compiler's."""
    text = fields.get("text", "") + fields.get("what", "")
    is_device = any(word in text for word in ("Device acquire", "Device not found", "device lost", "Device reset"))
    return Role.ROOT, Category.GPU_HARDWARE if is_device else Category.RANK_CRASH


TABLE = (
    row(
        "S116a",
        "amd_gpu_hang",
        Role.ROOT,
        Category.GPU_HARDWARE,
        Tier.HARDWARE,
        needle="HW Exception by GPU node",
        pattern=r"HW Exception by GPU node-(?P<gpu_node>\d{1,4})[^\n]{0,80}?reason ?: ?(?P<reason>[^\n]{1,60})",
        advice="Read the kernel log (amdgpu, RAS errors) and rocm-smi; reset the GPU, drain the node when it repeats.",
        source="ROCm/legacy-rocm-build#4021",
        example="HW Exception by GPU node-5 (Agent handle: 0x556d9ea3fc10) reason :GPU Hang",
    ),
    row(
        "S116b",
        "amd_memory_fault",
        Role.ROOT,
        Category.RANK_CRASH,
        Tier.EXCEPTION,
        needle="Memory access fault by GPU node",
        pattern=r"Memory access fault by GPU node-(?P<gpu_node>\d{1,4})[^\n]{0,80}?on address (?P<address>\S{1,24})"
        r"(?:[^\n]{0,20}?Reason: (?P<reason>[^\n]{1,60}))?",
        advice="Suspect the kernel, or code built for another GPU (HSA_OVERRIDE_GFX_VERSION); suspect the "
        "hardware where it is always the same GPU.",
        source="sgl-project/sglang#10195, ROCm/legacy-rocm-build#5238",
        example="Memory access fault by GPU node-5 (Agent handle: 0x9b3c4d0) on address 0x7ee24e9fe000. Reason: "
        "Unknown.",
    ),
    row(
        "S116c",
        "amd_device_assertion",
        Role.ROOT,
        Category.RANK_CRASH,
        Tier.EXCEPTION,
        needle="Device-side assertion `",
        pattern=r"Device-side assertion `(?P<assertion>[^`'\n]{1,200})[`'] failed",
        advice="Check token, label and position ids for values out of range.",
        source="mosaicml/composer#2758",
        example="/pytorch/aten/src/ATen/native/hip/Indexing.hip:1292: indexSelectLargeIndex: Device-side assertion "
        "`srcIndex < srcSelectDimSize' failed.",
    ),
    row(
        "S116d",
        "amd_queue_error",
        Role.ROOT,
        Category.RANK_CRASH,
        Tier.SIGNAL,
        needle="aborting with error : HSA_STATUS_ERROR",
        pattern=r"aborting with error : (?P<text>HSA_STATUS_ERROR\w{0,60})",
        advice="Read the assertion or fault above it; for OUT_OF_RESOURCES look at the GPU's memory.",
        source="mosaicml/composer#2758",
        example=":0:rocdevice.cpp            :2660: 2347343541 us: 12870: [tid:0x7f4c0b5ff700] Device::callbackQueue "
        "aborting with error : HSA_STATUS_ERROR_EXCEPTION: An HSAIL operation resulted in a hardware exception.",
    ),
    row(
        "S117a",
        "amd_uncorrectable",
        Role.ROOT,
        Category.GPU_HARDWARE,
        Tier.HARDWARE,
        needle="ncorrectable hardware error(",
        pattern=_AMD_DEVICE + r"[Uu]ncorrectable hardware error\((?P<text>\w{1,60})\)",
        advice="Drain the node and reset the GPU; replace it when it repeats.",
        source="ROCm/legacy-rocm-build#4021, Linux amdgpu_ras",
        example="[500967.571516] amdgpu 0000:dd:00.0: {1}uncorrectable hardware error(ERREVENT_ATHUB_INTERRUPT) "
        "detected!",
    ),
    row(
        "S117b",
        "amd_reset",
        Role.CONFIRM,
        Category.GPU_HARDWARE,
        Tier.HARDWARE,
        needle="GPU reset begin",
        pattern=_AMD_DEVICE + r"GPU reset begin",
        advice="Read the lines above: they say why the driver reset the GPU.",
        source="ROCm/legacy-rocm-build#4021, Linux amdgpu_device",
        example="[Sat Jan  7 14:25:56 2023] amdgpu 0000:e3:00.0: amdgpu: GPU reset begin!",
    ),
    row(
        "S117c",
        "amd_page_fault",
        Role.CONFIRM,
        Category.RANK_CRASH,
        Tier.HARDWARE,
        needle=("VM_L2_PROTECTION_FAULT", "retry page fault"),
        pattern=_AMD_DEVICE + r"(?:VM_L2_PROTECTION_FAULT_STATUS|(?:\[\w{1,20}\] )?(?:no-)?retry page fault)",
        advice="Suspect the program first, the hardware where it is always this GPU.",
        source="sgl-project/sglang#10195",
        example="[Tue Sep  9 02:30:28 2025] amdgpu 0000:c6:00.0: amdgpu: VM_L2_PROTECTION_FAULT_STATUS:0x00341051",
    ),
    row(
        "S118a",
        "npu_memory_error",
        Role.ROOT,
        Category.GPU_HARDWARE,
        Tier.HARDWARE,
        needle=("HBM MULTI BIT ECC", "HBM Multi-bit ECC", "UCE ERROR", "HCCS LINK ERROR"),
        pattern=r"(?P<text>HBM MULTI BIT ECC|HBM Multi-bit ECC|\bUCE ERROR|HCCS LINK ERROR)",
        advice="Drain the node, look at npu-smi info and reset the device.",
        source="Ascend/pytorch ProcessGroupHCCL, mindspore UCEException",
        example="HBM MULTI BIT ECC, Uncorrectable ECC, device_id=3, event_id=0x80e01801, time us=67672363666.",
    ),
    row(
        "S118b",
        "npu_core_exception",
        Role.ROOT,
        Category.RANK_CRASH,
        Tier.EXCEPTION,
        needle=("core exception", "core execution is abnormal", "Aicore kernel execute failed", "exception of "),
        pattern=r"(?P<text>\b(?:vector |cube |ai ?)core exception|(?:vector |cube |ai ?)core execution is abnormal|"
        r"Aicore kernel execute failed(?:[^\n]{0,200}?kernel_name=\s{0,8}(?P<kernel>\S{1,80}))?|"
        r"exception of (?:fftsplus )?(?:aivec(?:tor)?|aicore) error)",
        advice="Look up the failed operator in the plog (ascend/log); suspect the hardware where it is always "
        "the same device.",
        source="Ascend/pytorch#66, vllm-project/vllm-ascend#5043, hiyouga/LlamaFactory#3670",
        example="        rtDeviceSynchronizeWithTimeout execute failed, reason=[vector core exception][FUNC:"
        "FuncErrorReason][FILE:error_message_manage.cc][LINE:53]",
    ),
    row(
        "S119a",
        "hccl_timeout",
        Role.CASCADE,
        Category.COLLECTIVE_HANG,
        Tier.WATCHDOG,
        needle=("of the Notify register times out", "fftsplus task timeout occurred"),
        pattern=r"wait execution of the Notify register times out(?:[^\n]{0,200}?remote rank:? ?\[(?P<awaited>\w{1,10})"
        r"\])?(?:[^\n]{0,200}?tag\[(?P<op>[A-Za-z]{1,40}))?|hccl fftsplus task timeout occurred",
        advice="Look on the other ranks for an error before the line's time minus HCCL_EXEC_TIMEOUT, then for "
        "uneven data, then at the links.",
        source="vllm-project/vllm-ascend#3413, hiyouga/LlamaFactory#975, InternLM/lmdeploy#3354",
        example="EI0002: [PID: 2969] 2025-10-11-15:09:34.713.335 The wait execution of the Notify register times out. "
        "Reason: The Notify register has not received the Notify record from remote rank: [24]. base information: "
        "[streamID:[109], taskID[38], taskType[Notify Wait], tag[AllReduce_group_name_1654NHRAllReduceComm_device]].",
        may_start=True,
    ),
    row(
        "S119b",
        "npu_stream_timeout",
        Role.CASCADE,
        Category.COLLECTIVE_HANG,
        Tier.WATCHDOG,
        needle=(
            "Stream synchronize timeout",
            "stream sync timeout",
            "task timeout",
            "NPU error, error code is",
            "NPU warning, error code is",
            "NPU function error",
        ),
        pattern=r"Stream synchronize timeout|reason=\[(?:stream sync|task) timeout\]|NPU (?:function )?"
        r"(?:error|warning)[^\n]{0,120}?error code is (?:107020|507046|507048)",
        advice="Read the plog of every rank: the earliest error is the cause.",
        source="Ascend/pytorch#48, #43, vllm-project/vllm-ascend#1443",
        example="EE1002: 2024-09-03-16:50:00.041.231 Stream synchronize timeout. rtDeviceSynchronize execute failed, "
        "reason=[stream sync timeout]",
        may_start=True,
    ),
    row(
        "S119c",
        "hccl_connect_timeout",
        Role.CASCADE,
        Category.INIT_TIMEOUT,
        Tier.STORE,
        needle="Getting socket times out",
        pattern=r"Getting socket times out",
        advice="Look at the rank that does not print this line: it never came to set up its connections.",
        source="vllm-project/vllm-ascend#486",
        example="EI0006: [PID: 1292363] 2025-04-08-18:07:20.444.436 Getting socket times out. Reason: Remote Rank did "
        "not send the data in time. Please check the reason for the rank being stuck",
        may_start=True,
    ),
    row(
        "S119f",
        "hccl_call_failed",
        Role.CASCADE,
        Category.COLLECTIVE_HANG,
        Tier.NETWORK,
        needle=("HCCL function error", "OPS function error: Hccl", "HCCL error in: "),
        pattern=r"(?:HCCL function error: |OPS function error: (?=Hccl))(?P<op>\w{1,60}), "
        r"error code is (?P<code>\d{1,5})|Error: (?:\[ERROR\] )?HCCL error in: ",
        advice="Read the EI line below it, and the other ranks: the call failed because somebody did not answer.",
        source="vllm-project/vllm-ascend#486, vllm-project/speculators#1115",
        example="RuntimeError: InnerRunOpApi:torch_npu/csrc/framework/OpParamMaker.cpp:281 OPS function error: "
        "HcclAllreduce, error code is 6",
        may_start=True,
    ),
    row(
        "S119g",
        "hccl_link_error",
        Role.CASCADE,
        Category.NETWORK_FAULT,
        Tier.NETWORK,
        needle=("ROCE CQE error", "RoCE CQE error", "Transport init error. Reason: "),
        pattern=r"Transport init error\. Reason: |"
        r"R[Oo]CE CQE error occurred(?:[^\n]{0,40}?Local information: server (?P<host>[\w.:-]{1,80}?), "
        r"device id \d{1,4})?(?:[^\n]{0,40}?Remote information: server (?P<peer>[\w.:-]{1,80}?), device id)?",
        advice="Look whether the remote process ended first; else check the link with hccn_tool on both servers.",
        source="Ascend HCCL error codes, EI0013; vllm-project/vllm-ascend#3162",
        example="EI0013: [PID: 3312] 2026-03-14-09:02:00.649.300 An ROCE CQE error occurred. Local information: server "
        "10.0.0.1, device id 1. Remote information: server 10.0.0.2, device id 2. Possible cause: 1. The network "
        "between two devices is abnormal.",
        may_start=True,
    ),
    row(
        "S119d",
        "hccp_busy",
        Role.ROOT,
        Category.RANK_CRASH,
        Tier.EXCEPTION,
        needle="Failed to initialize the HCCP process",
        pattern=r"Failed to initialize the HCCP process",
        advice="End the processes of the earlier training that hold the devices, wait ten seconds, start again.",
        source="hiyouga/LlamaFactory#3839",
        example="EJ0001: 2024-05-21-11:57:54.167.645 Failed to initialize the HCCP process. Reason: Maybe the last "
        "training process is running.",
    ),
    row(
        "S119e",
        "npu_call_failed",
        Role.CONTEXT,
        Category.RANK_CRASH,
        Tier.EXCEPTION,
        needle="RankID:",
        pattern=r"\(PID:(?P<pid>\d{1,10}), Device:(?P<device>\d{1,3}), RankID:(?P<rank>\d{1,7})\) (?P<code>ERR\d{5}) "
        r"(?P<text>[^\n]{1,80})",
        advice="",
        source="Ascend/pytorch error codes",
        example="[ERROR] 2025-10-11-15:09:34 (PID:2969, Device:0, RankID:101) ERR00100 PTA call acl api failed.",
        names_rank=True,
    ),
    row(
        "S123a",
        "neuron_hardware",
        Role.ROOT,
        Category.GPU_HARDWARE,
        Tier.HARDWARE,
        needle=("NRT_EXEC_HW_ERR", "NEURON_HW_ERR="),
        pattern=r"(?P<text>NRT_EXEC_HW_ERR\w{0,20}|NEURON_HW_ERR=\w{1,30})",
        advice="Drain the instance and take another: its Neuron device reports a fault of its hardware.",
        source="AWS Neuron runtime troubleshooting",
        example="2026-Mar-14 09:01:25.004 4412:4499 ERROR  NMGR:kmgr_execute  Failed to execute model, "
        "NRT_EXEC_HW_ERR_HBM_UE (1202)",
    ),
    row(
        "S123b",
        "tpu_hardware",
        Role.ROOT,
        Category.GPU_HARDWARE,
        Tier.HARDWARE,
        needle="uncorrectable HBM ECC error",
        pattern=r"uncorrectable HBM ECC error",
        advice="Start again on another machine: this one's accelerator memory is at fault.",
        source="libtpu",
        example="INTERNAL: Core halted unexpectedly: INTERNAL: uncorrectable HBM ECC error on TPU_3_CORE_0",
    ),
    row(
        "S123i",
        "xpu_device_lost",
        Role.ROOT,
        Category.GPU_HARDWARE,
        Tier.HARDWARE,
        needle="ERROR_DEVICE_LOST",
        pattern=r"\b(?:ZE_RESULT|UR_RESULT|PI)_ERROR_DEVICE_LOST\b",
        advice="Read the kernel log for the device's reset; drain the node where it happens again.",
        source="oneapi-src/oneCCL, Level Zero",
        example="oneCCL: ze_call.cpp:44 do_call: EXCEPTION: ze error at zeCommandQueueExecuteCommandLists, code: "
        "ZE_RESULT_ERROR_DEVICE_LOST",
    ),
    row(
        "S120",
        "gaudi_failed",
        Role.ROOT,
        Category.RANK_CRASH,
        Tier.EXCEPTION,
        needle=("synStatus", "MODULE:PT_BRIDGE"),
        pattern=r"synStatus ?[= ] ?(?:synStatus )?(?P<status>\d{1,4}) \[(?P<text>[^\]\n]{1,80})\]"
        r"(?P<what>[^\n]{0,60})|FATAL ERROR :: MODULE:PT_BRIDGE",
        advice="Read $HABANA_LOGS for the operator; for `Device acquire failed` look in hl-smi for another "
        "process, or reset the card.",
        source="huggingface/optimum-habana#1426, #1611",
        example="[rank2]: RuntimeError: Graph compile failed. synStatus=synStatus 26 [Generic failure].",
        ruling=_ruling_of_gaudi,
    ),
)
