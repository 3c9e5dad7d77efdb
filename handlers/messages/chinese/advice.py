"""What to do about a telling line, in Chinese: the advice of the rows in `diagnosis/signatures/`, first half."""

from collections.abc import Mapping
from types import MappingProxyType

ADVICE: Mapping[str, str] = MappingProxyType(
    {
        # Accelerators and GPUs.
        "Read the kernel log (amdgpu, RAS errors) and rocm-smi; reset the GPU, drain the node when it repeats.": (
            "阅读内核日志（amdgpu、RAS 错误）和 rocm-smi；复位 GPU，重复出现则隔离节点。"
        ),
        "Suspect the kernel, or code built for another GPU (HSA_OVERRIDE_GFX_VERSION); suspect the hardware where it "
        "is always the same GPU.": (
            "怀疑内核，或为其他 GPU 编译的代码（HSA_OVERRIDE_GFX_VERSION）；若总是同一块 GPU，则怀疑硬件。"
        ),
        "Check token, label and position ids for values out of range.": "检查 token、label 和 position id 是否越界。",
        "Read the assertion or fault above it; for OUT_OF_RESOURCES look at the GPU's memory.": (
            "阅读其上方的断言或故障；若为 OUT_OF_RESOURCES，查看 GPU 显存。"
        ),
        "Drain the node and reset the GPU; replace it when it repeats.": "隔离节点并复位 GPU；重复出现则更换。",
        "Read the lines above: they say why the driver reset the GPU.": "阅读上面几行：它们说明驱动为何复位 GPU。",
        "Suspect the program first, the hardware where it is always this GPU.": (
            "先怀疑程序；若总是这块 GPU，则怀疑硬件。"
        ),
        "Drain the node, look at npu-smi info and reset the device.": "隔离节点，查看 npu-smi info 并复位设备。",
        "Look up the failed operator in the plog (ascend/log); suspect the hardware where it is always the same "
        "device.": "在 plog（ascend/log）中查找失败的算子；若总是同一设备，则怀疑硬件。",
        "Look on the other ranks for an error before the line's time minus HCCL_EXEC_TIMEOUT, then for uneven data, "
        "then at the links.": (
            "在其他 rank 上查找该行时间减去 HCCL_EXEC_TIMEOUT 之前的错误，再看数据是否不均，再看链路。"
        ),
        "Read the plog of every rank: the earliest error is the cause.": "阅读每个 rank 的 plog：最早的错误就是原因。",
        "Look at the rank that does not print this line: it never came to set up its connections.": (
            "查看没有打印这一行的 rank：它从未来建立连接。"
        ),
        "Read the EI line below it, and the other ranks: the call failed because somebody did not answer.": (
            "阅读下面的 EI 行和其他 rank：调用失败是因为有人没有应答。"
        ),
        "End the processes of the earlier training that hold the devices, wait ten seconds, start again.": (
            "结束占用设备的旧训练进程，等十秒，再重新开始。"
        ),
        "Read $HABANA_LOGS for the operator; for `Device acquire failed` look in hl-smi for another process, or reset "
        "the card.": (
            "在 $HABANA_LOGS 中查找算子；若为 `Device acquire failed` ，用 hl-smi 查看其他进程，或复位该卡。"
        ),
        "Look for the error before it: the size is corrupted, and memory is not the problem.": (
            "查找此前的错误：大小已损坏，问题不在内存。"
        ),
        "Take a smaller micro-batch or sequence, activation checkpointing or more sharding; set "
        "expandable_segments:True where much is reserved but unallocated.": (
            "减小 micro-batch 或序列，启用激活检查点或增加分片；若保留未分配的很多，设置 expandable_segments:True。"
        ),
        "Take a smaller batch or sequence, recompute or more sharding; see whether another process uses that GPU.": (
            "减小批次或序列，重计算或增加分片；查看是否有其他进程使用该 GPU。"
        ),
        "Leave head-room outside torch's allocator: empty_cache before new process groups, a smaller NCCL_BUFFSIZE.": (
            "在 torch 分配器之外留出余量：新建进程组前 empty_cache，减小 NCCL_BUFFSIZE。"
        ),
        "Look how full the GPU was just before, and treat it as out of GPU memory.": (
            "查看此前 GPU 占用多少，按显存不足处理。"
        ),
        "Take a smaller batch or more sharding; set XLA_PYTHON_CLIENT_MEM_FRACTION where another process shares the "
        "device.": "减小批次或增加分片；若与其他进程共用设备，设置 XLA_PYTHON_CLIENT_MEM_FRACTION。",
        "Check in this order: GPU memory, an index out of range before it, NaN or shapes, then the card itself where "
        "it is always the same one.": "依次检查：GPU 显存、此前的索引越界、NaN 或形状；若总是同一块卡，再查卡本身。",
        "Check token, label and position ids for values out of range; the first Assertion line above tells which.": (
            "检查 token、label 和 position id 是否越界；上面第一条 Assertion 行指明是哪个。"
        ),
        "Read the first of these lines: the others are the same event.": "阅读这些行中的第一条：其余是同一事件。",
        "Switch custom kernels off (flash attention, MoE) and run again; run dcgmi diag where it is always the same "
        "GPU.": "关闭自定义内核（flash attention、MoE）再运行；若总是同一块 GPU，运行 dcgmi diag。",
        "Look for Xid 13 or 79 in the kernel log before blaming code; build for this GPU where it says `no kernel "
        "image`.": "先在内核日志中查找 Xid 13 或 79，再怀疑代码；若提示 `no kernel image` ，请为该 GPU 编译。",
        "Drain the node and run `nvidia-smi -q -d ECC,ROW_REMAPPER`; reset the GPU, replace it when it repeats.": (
            "隔离节点并运行 `nvidia-smi -q -d ECC,ROW_REMAPPER` ；复位 GPU，重复出现则更换。"
        ),
        "Check the fabric manager and `nvidia-smi nvlink -e`, then drain the node.": (
            "检查 fabric manager 和 `nvidia-smi nvlink -e` ，然后隔离节点。"
        ),
        "Look for Xid 79 in the kernel log; restart the machine cold, check power and seating, replace the GPU when "
        "it repeats.": "在内核日志中查找 Xid 79；冷启动机器，检查供电和插接，重复出现则更换 GPU。",
        "Look for an earlier failure, or for CUDA that was used after a fork.": (
            "查找更早的故障，或 fork 之后使用了 CUDA。"
        ),
        "Look up the number in NVIDIA's Xid catalogue; find the GPU by the bus id, the rank by the pid.": (
            "在 NVIDIA 的 Xid 目录中查找该编号；按 bus id 找到 GPU，按 pid 找到 rank。"
        ),
        "Restart the machine and check power, heat and seating; replace the GPU when it repeats.": (
            "重启机器，检查供电、散热和插接；重复出现则更换 GPU。"
        ),
        "Restart the fabric or the node where the line says fatal; watch the trend where it does not.": (
            "若该行写明 fatal，重启 fabric 或节点；否则观察趋势。"
        ),
        "Check the riser and the slot of that device.": "检查该设备的转接卡和插槽。",
        "Look for the process that died while its memory was registered; suspect the driver only on a healthy run.": (
            "查找在内存注册期间终止的进程；只有任务正常时才怀疑驱动。"
        ),
        "Cool that GPU or swap it: one throttled GPU slows the whole job.": (
            "给该 GPU 降温或更换：一块降频的 GPU 会拖慢整个作业。"
        ),
        "Lower the memory use: the GPU is about to run out of it.": "降低显存占用：GPU 即将耗尽显存。",
        # Collectives and coordination.
        "Look for branches that ranks take differently (missing modality, unused parameters, uneven batches); the odd "
        "fingerprint is the culprit's.": (
            "查找各 rank 走向不同的分支（缺失模态、未用参数、批次不均）；与众不同的 fingerprint 就是元凶。"
        ),
        "Look for code that takes different paths per rank; compare the step of the rank that prints this with the "
        "others'.": "查找各 rank 走不同路径的代码；比较打印此行的 rank 与其他 rank 的步。",
        "Look for uneven data, or code that sends other sizes or another order per rank; the network is well.": (
            "查找不均的数据，或各 rank 大小、顺序不同的代码；网络没有问题。"
        ),
        "Look at the ranks that are named: they never joined, dead or elsewhere in the code.": (
            "查看被点名的 rank：它们从未加入，已终止或在代码别处。"
        ),
        "Look at the ranks that are named: those that didn't finish have a stuck kernel, those that didn't join are "
        "elsewhere.": "查看被点名的 rank：没有完成的内核卡住，没有加入的在别处。",
        "Look at the ranks that are named: they never came to the barrier, dead or elsewhere in the code.": (
            "查看被点名的 rank：它们从未到达屏障，已终止或在代码别处。"
        ),
        "Look at the ranks that are named: they did not submit what the others wait for.": (
            "查看被点名的 rank：它们没有提交其他进程等待的内容。"
        ),
        "Look at the ranks that are listed below the line: the others wait for them.": (
            "查看该行下方列出的 rank：其他进程在等它们。"
        ),
        "Read rank 0's own log: it names the rank that did not come.": "阅读 rank 0 自己的日志：它指明哪个 rank 没来。",
        "Look at this rank's GPU (Xid, ECC) and its batch: it was about to send a NaN.": (
            "查看该 rank 的 GPU（Xid、ECC）和批次：它正要发送 NaN。"
        ),
        "Read the logs of the tasks that are listed below it; at the start check that all were launched and reach the "
        "coordinator.": "阅读下方列出的 task 的日志；启动阶段请确认都已启动并能连上协调者。",
        "Read the log of that task, and ask the scheduler what became of its machine (preemption, eviction).": (
            "阅读该 task 的日志，并向调度器查询其机器的情况（抢占、驱逐）。"
        ),
        "Read the logs of the tasks that are listed below it, and ask the scheduler what became of their machines.": (
            "阅读下方列出的 task 的日志，并向调度器查询其机器的情况。"
        ),
        "Find the tasks that never came: machines without a log, image pulls, a wrong coordinator address.": (
            "找出从未到达的 task：没有日志的机器、镜像拉取、错误的协调者地址。"
        ),
        "Read the logs of the other tasks: this one ends because another died.": (
            "阅读其他 task 的日志：它是因为另一个终止而结束。"
        ),
        "Read the earlier log of that task: its process ended and was started again while the others trained.": (
            "阅读该 task 更早的日志：其进程结束后在其他训练时被重新启动。"
        ),
        "Start again from the newest checkpoint on a TPU that is made anew: its worker was told to leave (preemption "
        "or maintenance).": "在新建的 TPU 上从最新检查点重新开始：该 worker 被要求离开（抢占或维护）。",
        "Find out whether the node is alive (console, scheduler, preemption), or so loaded that its raylet did not "
        "answer.": "查明节点是否存活（控制台、调度器、抢占），或负载过高导致 raylet 没有应答。",
        "Find out what became of the node: its console, the scheduler's view, when its logs ended.": (
            "查明节点的情况：控制台、调度器视图、日志何时结束。"
        ),
        "Read the .err log of that worker: a wrong environment, or too little memory.": (
            "阅读该 worker 的 .err 日志：环境有误，或内存不足。"
        ),
        "Look for any error before the line's time minus the time it ran; else for the rank that is missing from the "
        "timeouts or enqueued less.": (
            "查找该行时间减去其运行时长之前的错误；否则找没有出现在超时中、或入队较少的 rank。"
        ),
        "Compare the counters within one process group: the rank that enqueued least never came; equal ones mean "
        "network, GPU or P2P.": "在同一进程组内比较计数：入队最少的 rank 没有到；相等则是网络、GPU 或 P2P。",
        "Look at the stack of the rank that only obeys another's signal: it was not waiting in that collective.": (
            "查看只响应他人信号的 rank 的栈：它并不在等那个集合通信。"
        ),
        "Look for the rank that timed out first.": "找出最先超时的 rank。",
        "Set TORCH_FR_BUFFER_SIZE=2000 (before torch 2.9 TORCH_NCCL_TRACE_BUFFER_SIZE) and "
        "TORCH_NCCL_DUMP_ON_TIMEOUT=1 for the next run.": (
            "下次运行设置 TORCH_FR_BUFFER_SIZE=2000（torch 2.9 之前为 TORCH_NCCL_TRACE_BUFFER_SIZE）和 "
            "TORCH_NCCL_DUMP_ON_TIMEOUT=1。"
        ),
        "Look at the first frame outside torch: it is the call that hung.": (
            "查看 torch 之外的第一帧：那就是卡住的调用。"
        ),
        "Collect one flight-recorder file per rank before they are overwritten.": (
            "在被覆盖之前，为每个 rank 收集一个 flight-recorder 文件。"
        ),
        "Read the lines above: they say why the process aborts itself.": "阅读上面几行：它们说明进程为何自行中止。",
        "Read what stands inside: `CUDA error` is this rank's own fault, `Watchdog caught` a wait for another rank.": (
            "阅读其中内容： `CUDA error` 是该 rank 自身的问题， `Watchdog caught` 是在等别的 rank。"
        ),
        "Read the kernel log of that node for a dying GPU, and look some 8 minutes earlier for an ordinary timeout.": (
            "在该节点内核日志中查看 GPU 是否濒临失效，并在约 8 分钟之前查找普通超时。"
        ),
        "Go to the named peer's node and read its log: it died, or its network did.": (
            "到被点名对端的节点阅读其日志：是它终止了，或其网络中断。"
        ),
        "Read the `Last error` line below it for the peer.": "阅读下面的 `Last error` 行以确定对端。",
        "Read the log of that peer: its process went away first.": "阅读该对端的日志：它的进程最先离开。",
        "Read the `Last error` line and the `NCCL WARN` above it: they say what really failed.": (
            "阅读 `Last error` 行和上方的 `NCCL WARN` ：它们说明真正的故障。"
        ),
        "Look for an earlier error of the same process; check fabric manager and driver where it is `invalid argument` "
        "at the start.": ("查找同一进程更早的错误；若启动时为 `invalid argument` ，检查 fabric manager 和驱动。"),
        "Give each process its own GPU: torch.cuda.set_device(LOCAL_RANK), or CUDA_VISIBLE_DEVICES of each task.": (
            "给每个进程单独的 GPU：torch.cuda.set_device(LOCAL_RANK)，或每个 task 的 CUDA_VISIBLE_DEVICES。"
        ),
        "Read the `Last error` and `NCCL WARN` lines beside it.": "阅读旁边的 `Last error` 和 `NCCL WARN` 行。",
        "Look at the ranks that this one was waiting for.": "查看它在等待的 rank。",
        # Data.
        "Run `df /dev/shm` during the run; raise it (docker --shm-size, --ipc=host, an emptyDir of medium Memory) or "
        "use sharing_strategy file_system.": (
            "运行期间执行 `df /dev/shm` ；调大它（docker --shm-size、--ipc=host、medium 为 Memory 的 emptyDir），"
            "或使用 sharing_strategy file_system。"
        ),
        "Run `df /dev/shm` during the run; raise it (docker --shm-size, --ipc=host, an emptyDir of medium Memory).": (
            "运行期间执行 `df /dev/shm` ；调大它（docker --shm-size、--ipc=host、medium 为 Memory 的 emptyDir）。"
        ),
        "Look for the worker's pid in the kernel log (dmesg), and at the cgroup's memory.events of that node.": (
            "在内核日志（dmesg）中查找该 worker 的 pid，并查看该节点 cgroup 的 memory.events。"
        ),
        "Read the line above it, or the kernel log: they name the signal.": "阅读上一行或内核日志：它们指明信号。",
        "Suspect a decoder library, and try another version of it.": "怀疑解码库，换一个版本试试。",
        "Find out who sent SIGTERM to the process group: preemption, or the teardown of something that "
        "failed before.": ("查明谁向进程组发送了 SIGTERM：抢占，或此前故障引起的清理。"),
        "Read what stands under `Original Traceback`, and look at the sample or file that it names.": (
            "阅读 `Original Traceback` 下的内容，查看它指出的样本或文件。"
        ),
        "Look what the worker is blocked on: input, or a lock.": "查看 worker 阻塞在什么上：输入或锁。",
        "Raise the limit (`ulimit -n 65536`), or use sharing_strategy('file_system').": (
            "提高上限（ `ulimit -n 65536` ），或使用 sharing_strategy('file_system')。"
        ),
        "Look where the loader's main thread stood.": "查看加载器主线程停在哪里。",
        "Cache the data locally: the object store is slow or blocked.": "把数据缓存到本地：对象存储缓慢或受阻。",
        # Starting and launching.
        "Read the last lines of rank 0, which hosts the store: it is gone.": (
            "阅读 rank 0（存储所在）的最后几行：它已不在。"
        ),
        "Find the ranks that never started: nodes without a log, image pulls, MASTER_ADDR, firewall, a slower copy of "
        "the data.": "找出从未启动的 rank：没有日志的节点、镜像拉取、MASTER_ADDR、防火墙、较慢的数据拷贝。",
        "Find the ranks that never came: nodes without a log; look for an earlier job on the same port where there are "
        "too many.": "找出从未到达的 rank：没有日志的节点；若数量过多，查找同一端口上更早的作业。",
        "Look for an earlier error of rank 0; else check its address, its port, and whether it is up.": (
            "查找 rank 0 更早的错误；否则检查其地址、端口，以及是否在运行。"
        ),
        "Preprocess offline or raise the timeout: rank 0 is busy before its first collective.": (
            "离线预处理或延长超时：rank 0 在第一次集合通信之前忙碌。"
        ),
        "Read what that process printed last, and look for its pid in the kernel log.": (
            "阅读该进程最后的输出，并在内核日志中查找其 pid。"
        ),
        "Look for the pid that is not among those that are closed: it failed first.": (
            "找出不在被关闭之列的 pid：它最先出错。"
        ),
        "Look for what failed before: the agent killed this process itself.": (
            "查找此前的故障：是 agent 自己杀死了该进程。"
        ),
        "Read the log of the worker that failed: the launcher only reports it.": (
            "阅读出错 worker 的日志：启动器只是报告它。"
        ),
        "Find out who sent it: sacct or scontrol, node events, a time limit, a person, or a parent whose other part "
        "crashed.": "查明是谁发送的：sacct 或 scontrol、节点事件、时间上限、某人，或另一部分崩溃的父进程。",
        "Find the nodes that never came to the rendezvous: no log, another endpoint or run id, a firewall.": (
            "找出从未到达汇合点的节点：没有日志、端点或 run id 不同、防火墙。"
        ),
        "Look which node stopped logging first: the one with the rendezvous store went away.": (
            "查看哪个节点最先停止打印：汇合存储所在的节点离开了。"
        ),
        "Read the traceback inside the message.": "阅读消息中的 traceback。",
        "Look for the process that failed first: the launcher ends the others because of it.": (
            "找出最先出错的进程：启动器因此结束了其他进程。"
        ),
        "Read the output of the command inside: this is only its wrapper.": "阅读内部命令的输出：这只是外层包装。",
        "Read the log of the part that the supervisor names.": "阅读监管程序指明的那部分的日志。",
        "Look for the part that failed first: the supervisor ends the others because of it.": (
            "找出最先出错的部分：监管程序因此结束了其他部分。"
        ),
        "Read the output of the rank that MPI names: it ended first.": "阅读 MPI 指明的 rank 的输出：它最先结束。",
        "Find out whether that node is alive, whether its pod was killed (exit code 137: memory), and whether its "
        "network answers.": "查明该节点是否存活、pod 是否被杀（退出码 137：内存）、网络是否应答。",
        "Read the traceback of the rank that the launcher names.": "阅读启动器指明的 rank 的 traceback。",
        "Read the standard error of the script: it says why it ended.": "阅读脚本的标准错误：它说明为何结束。",
        "Read the standard error of the job: its scheduler only reports how it ended.": (
            "阅读作业的标准错误：调度器只报告它如何结束。"
        ),
        "End the earlier job that holds the port, or give this one another MASTER_PORT.": (
            "结束占用端口的旧作业，或给它另一个 MASTER_PORT。"
        ),
        "Read the traceback of every rank for a code of 1, the kernel log for -9: the rank in the launcher's command "
        "may not be the one.": (
            "代码为 1 时阅读每个 rank 的 traceback，为 -9 时阅读内核日志：启动器命令中的 rank 未必是它。"
        ),
        "Open the .err log of that worker: the reasons that Ray lists are always the same.": (
            "打开该 worker 的 .err 日志：Ray 列出的原因总是一样。"
        ),
        "Read the exception at the end of its traceback: it was raised in that worker.": (
            "阅读 traceback 末尾的异常：它在该 worker 中抛出。"
        ),
        "Read the first traceback of that process, and mend what it names.": (
            "阅读该进程的第一个 traceback，修复它指出的问题。"
        ),
        "Correct the command: the script does not know these arguments, and nothing was trained.": (
            "修正命令：脚本不认识这些参数，没有训练任何内容。"
        ),
        "Correct the path or the working directory: Python did not find the script, and nothing was trained.": (
            "修正路径或工作目录：Python 没有找到脚本，没有训练任何内容。"
        ),
    }
)
