"""What to do, in Chinese: next steps of findings and categories, and how a loss is printed."""

from collections.abc import Mapping
from types import MappingProxyType

STEPS: Mapping[str, str] = MappingProxyType(
    {
        "Press Snapshot: it saves the logs and the state of every node before they are gone": (
            "按“保存现场”：在丢失之前保存每个节点的日志和状态"
        ),
        "See whether the node answers and its watcher runs ({x} there); the job itself may be well": (
            "查看节点是否应答、其监视进程是否在运行（在该节点运行 {x}）；作业本身可能正常"
        ),
        "{x} looks at every node again, now": "{x} 会立即重新查看每个节点",
        # Numbers.
        "Start again from the checkpoint of step {n}": "从第 {n} 步的检查点重新开始",
        "Start again from the checkpoint of step {n}, from before the streak": (
            "从连续跳步之前第 {n} 步的检查点重新开始"
        ),
        "Start again from the checkpoint of step {n} once that is mended": "修复后从第 {n} 步的检查点重新开始",
        "Start again from the newest checkpoint": "从最新的检查点重新开始",
        "Start again from the newest checkpoint once that is mended": "修复后从最新的检查点重新开始",
        "Nothing yet: the optimizer usually skips one such step": "暂时不必处理：优化器通常会跳过这样的单个步",
        "If it goes on, or the loss follows, this becomes critical": "如果持续出现，或损失也随之异常，这里会升级为严重",
        "Stop the run soon: weights that once were NaN never come back, and every checkpoint from now on is bad": (
            "尽快停止任务：权重一旦变为 NaN 就无法恢复，此后的每个检查点都是坏的"
        ),
        "Start again from a checkpoint of step {n} or before: weights that once were NaN never come back": (
            "从第 {n} 步或更早的检查点重新开始：权重一旦变为 NaN 就无法恢复"
        ),
        "Start again from the checkpoint of step {n}: weights that once were NaN never come back": (
            "从第 {n} 步的检查点重新开始：权重一旦变为 NaN 就无法恢复"
        ),
        "Start again from a checkpoint from before it: weights that once were NaN never come back": (
            "从此前的检查点重新开始：权重一旦变为 NaN 就无法恢复"
        ),
        "Go on from the checkpoint of step {n} and skip the data of these steps": (
            "从第 {n} 步的检查点继续，并跳过这些步的数据"
        ),
        "Go on from a checkpoint before it and skip the data of these steps": "从此前的检查点继续，并跳过这些步的数据",
        "Copy the checkpoint of step {n} to a safe place, which rotation is about to delete": (
            "把第 {n} 步的检查点复制到安全的地方，轮转即将删除它"
        ),
        "Copy the checkpoint of step {n} to a safe place": "把第 {n} 步的检查点复制到安全的地方",
        "Then stop: NaN weights never come back": "然后停止：NaN 权重无法恢复",
        "Run that step once more: the same rank again means its data or the code, another result means its GPU": (
            "再跑一次该步：仍是同一 rank 说明是数据或代码，结果不同说明是 GPU"
        ),
        "Only one rank shows it: suspect its GPU (Xid, ECC) or its data shard before the learning rate": (
            "只有一个 rank 出现：先怀疑它的 GPU（Xid、ECC）或数据分片，再考虑学习率"
        ),
        "Find out why the learning rate went from {x} to {y}, and mend that first": (
            "查明学习率为何从 {x} 变为 {y}，先解决它"
        ),
        "The grad norm rose before the loss did: look at the data of these steps, then at the clipping": (
            "梯度范数先于损失上升：先看这些步的数据，再看梯度裁剪"
        ),
        "Look at the batch of step {n}: empty values, labels that are all masked, abnormally long sequences": (
            "查看第 {n} 步的批次：空值、全被遮盖的标签、异常长的序列"
        ),
        "Look at the batch of that step: empty values, labels that are all masked, abnormally long sequences": (
            "查看该步的批次：空值、全被遮盖的标签、异常长的序列"
        ),
        "The gradients do not fit fp16 any more: look at the grad norm before the streak": (
            "梯度已超出 fp16 范围：查看连续跳步之前的梯度范数"
        ),
        "Lower the learning rate or clip harder; bf16 needs no loss scale at all": (
            "降低学习率或加强裁剪；bf16 完全不需要损失缩放"
        ),
        "Watch it, do not stop yet: most spikes come back by themselves within some dozens of steps": (
            "先观察，不要停止：多数尖峰在几十步内自行恢复"
        ),
        "Not back after about 500 steps: go on from the checkpoint of step {n} and skip the data of these steps": (
            "约 500 步后仍未恢复：从第 {n} 步的检查点继续，并跳过这些步的数据"
        ),
        "Not back after about 500 steps: go on from a checkpoint before it and skip the data of these steps": (
            "约 500 步后仍未恢复：从此前的检查点继续，并跳过这些步的数据"
        ),
        "Stop soon: what did not come back with the checkpoint will not come back by itself": (
            "尽快停止：没有随检查点恢复的内容不会自行恢复"
        ),
        "Check that weights, optimizer state, schedule and data order were all loaded, and at the right step": (
            "请确认权重、优化器状态、学习率计划和数据顺序都已加载，且步数正确"
        ),
        "Compare batch size, accumulation and learning rate with the attempt before, then resume again": (
            "与上一次运行对比批大小、梯度累积和学习率，然后重新恢复训练"
        ),
        "Stop: a loss that climbs and stays up does not come back by itself": "停止：上升且不回落的损失不会自行恢复",
        "Go on from the checkpoint of step {n}, with a lower learning rate or past the data of these steps": (
            "从第 {n} 步的检查点继续，降低学习率或跳过这些步的数据"
        ),
        "Go on from a checkpoint from before the loss left its best, with a lower learning rate or past the data of "
        "these steps": "从损失偏离最佳之前的检查点继续，降低学习率或跳过这些步的数据",
        "Was it resumed lately? Check that optimizer state, schedule and data order came back too": (
            "最近是否恢复过训练？请确认优化器状态、学习率计划和数据顺序也已恢复"
        ),
        "A loss of exactly 0.0 is nearly always a NaN that a filter hides, or a batch whose labels are all masked": (
            "恰好为 0.0 的损失几乎总是被过滤器掩盖的 NaN，或标签全被遮盖的批次"
        ),
        "With the Trainer: `logging_nan_inf_filter=False` shows it as it is": (
            "使用 Trainer 时： `logging_nan_inf_filter=False` 会如实显示"
        ),
        "The trainer skipped these batches, so the weights are still good: find out which data they were": (
            "训练器跳过了这些批次，权重仍然完好：查明是哪些数据"
        ),
        "The training loss is finite, so the weights are probably good: look at the evaluation data for empty "
        "labels": "训练损失是有限值，权重多半完好：检查评估数据是否有空标签",
        "Nothing yet: keep an eye on the next steps, and make sure a recent checkpoint is kept": (
            "暂时无需操作：留意接下来的步，并确保保留最近的检查点"
        ),
        "`/stall` compares the ranks: look for one slow rank first (GPU clocks and heat, its data, its network)": (
            "`/stall` 会比较各 rank：先找一个慢的 rank（GPU 频率和温度、数据、网络）"
        ),
        "{x} compares the ranks: look for one slow rank first (GPU clocks and heat, its data, its network)": (
            "{x} 会比较各 rank：先找一个慢的 rank（GPU 频率和温度、数据、网络）"
        ),
        # Memory.
        "{size} is reserved but not used: try `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`": (
            "{size} 已保留但未使用：试试 `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`"
        ),
        "Something else holds {size} GiB of this GPU: `nvidia-smi` on {there} shows what": (
            "其他程序占用了该 GPU 的 {size} GiB：在{there}上用 `nvidia-smi` 查看"
        ),
        "The job itself fills the GPU: smaller micro-batch or sequences, activation checkpointing, or more sharding": (
            "作业自己占满了 GPU：减小 micro-batch 或序列、启用激活检查点，或增加分片"
        ),
        "Smaller micro-batch or sequences, activation checkpointing, or more sharding": (
            "减小 micro-batch 或序列、启用激活检查点，或增加分片"
        ),
        "It ran until step {n}: look for a longer batch there, or memory that grows step by step (a leak)": (
            "它运行到第 {n} 步：看那里是否有更长的批次，或内存逐步增长（泄漏）"
        ),
        "It failed before the first step, so it will fail again the same way: change the size first": (
            "它在第一步之前就失败，还会同样失败：先改变大小"
        ),
        "The kernel did not end it for lack of memory: ask who sent kill -9 (a person, the scheduler, a limit)": (
            "不是内核因内存不足结束它：问清谁发送了 kill -9（某人、调度器或限制）"
        ),
        "`dmesg -T | grep -i oom` on {there} shows whether the kernel ended it for lack of memory": (
            "在{there}上运行 `dmesg -T | grep -i oom` 可知内核是否因内存不足结束了它"
        ),
        "If so: fewer loader workers, less prefetch, or a higher memory limit": (
            "如果是：减少加载 worker 和预取，或提高内存上限"
        ),
        "If not, ask who sent kill -9": "如果不是，问清谁发送了 kill -9",
        "`dmesg -T | grep -i oom` on {there} names the process that was killed and the limit that was hit": (
            "在{there}上运行 `dmesg -T | grep -i oom` 可知哪个进程被杀、触到了哪个上限"
        ),
        "Fewer loader workers, less prefetch, no offload; or a higher --mem or pod limit": (
            "减少加载 worker 和预取、不用 offload；或提高 --mem 或 pod 上限"
        ),
        "that node": "该节点",
        # Crashes.
        "Read the traceback that ends at `{place}`; what other ranks print only follows from it": (
            "阅读在 `{place}` 结束的 traceback；其他 rank 打印的只是后果"
        ),
        "Read the first traceback of that process; what other ranks print only follows from it": (
            "阅读该进程的第一个 traceback；其他 rank 打印的只是后果"
        ),
        "Read what that process printed last, before exit code {n}; other ranks only follow it": (
            "阅读该进程在退出码 {n} 之前最后打印的内容；其他 rank 只是后果"
        ),
        "Find out who sent it: `sacct -j JOB`, `scontrol show job`, node events, a time limit, or a person": (
            "查明是谁发送的： `sacct -j JOB` 、 `scontrol show job` 、节点事件、时间上限或某人"
        ),
        "Ask for more time, or save often enough before the limit (a warning signal can do it)": (
            "申请更长时间，或在上限前及时保存（可用警告信号）"
        ),
        "`/stall` asks every node which rank stopped first: the others only wait for it": (
            "`/stall` 会询问每个节点哪个 rank 最先停下：其他的只是在等它"
        ),
        "{x} asks every node which rank stopped first: the others only wait for it": (
            "{x} 会询问每个节点哪个 rank 最先停下：其他的只是在等它"
        ),
        "Before the job is gone: `py-spy dump --nonblocking` of every rank; whose stack differs is the suspect": (
            "趁作业还在：对每个 rank 运行 `py-spy dump --nonblocking` ；栈不同的就是嫌疑者"
        ),
        "Read the last lines of its logs, on the rank that ended first": "阅读最先结束的 rank 的日志末尾",
        "Delete old checkpoints or logs there, or let the trainer keep fewer, before the disk is full": (
            "在磁盘写满之前，删除那里的旧检查点或日志，或让训练器少保留一些"
        ),
        "`runwatch rotation config` prints a rotation that fits this writer; `rotation check` counts the rest": (
            "`runwatch rotation config` 打印适合该写入方式的轮转配置； `rotation check` 统计其余"
        ),
        "Nobody looks at that node now: check that the watcher runs there and reaches Redis": (
            "现在无人看护该节点：请确认监视进程在运行并能连上 Redis"
        ),
        # Advice of a category.
        "take a smaller micro-batch or sequence, activation checkpointing or more sharding": (
            "减小 micro-batch 或序列，启用激活检查点，或增加分片"
        ),
        "look at that rank's memory over time: a steady rise is a leak or longer sequences, a sudden one the batch": (
            "查看该 rank 的显存变化：稳步上升是泄漏或更长的序列，突然上升是批次"
        ),
        "ask nvidia-smi on that node whether a stale process holds memory; end it by pid, after looking whose it is": (
            "在该节点用 nvidia-smi 查看是否有残留进程占用显存；确认归属后按 pid 结束"
        ),
        "read the kernel log (dmesg) and the cgroup's memory.events of that node": (
            "阅读该节点的内核日志（dmesg）和 cgroup 的 memory.events"
        ),
        "take fewer loader workers and less prefetch, no offload, or a higher --mem or pod limit": (
            "减少加载 worker 和预取，不用 offload，或提高 --mem 或 pod 上限"
        ),
        "keep the newest checkpoint from before the first bad step: rotation may delete it": (
            "保留第一个异常步之前最新的检查点：轮转可能删除它"
        ),
        "look at the batch, learning rate and dtype of that step": "查看该步的批次、学习率和数据类型",
        "run that step again from the checkpoint before it: the same rank again is data or code, else its GPU": (
            "从之前的检查点重跑该步：仍是同一 rank 说明是数据或代码，否则是 GPU"
        ),
        "only note it where the loss came back within some tens of steps": "若损失在几十步内恢复，记下即可",
        "go back to the checkpoint before it where it did not; skip those batches or lower the learning rate": (
            "若没有恢复，回到之前的检查点；跳过这些批次或降低学习率"
        ),
        "take py-spy dump --nonblocking of every rank, and group the stacks: the odd one is the culprit": (
            "对每个 rank 运行 py-spy dump --nonblocking 并按栈分组：与众不同的就是元凶"
        ),
        "switch the flight recorder on for the next run: TORCH_FR_BUFFER_SIZE=2000, TORCH_NCCL_DUMP_ON_TIMEOUT=1": (
            "下次运行打开 flight recorder：TORCH_FR_BUFFER_SIZE=2000，TORCH_NCCL_DUMP_ON_TIMEOUT=1"
        ),
        "save the kernel log and GPU state of the suspect's node before the job is stopped": (
            "停止作业之前，保存嫌疑节点的内核日志和 GPU 状态"
        ),
        "read the peer's own log first: it may have died of something else": "先看对端自己的日志：它可能死于别的原因",
        "look at port counters and link events of both nodes, then run nccl-tests between them": (
            "查看两个节点的端口计数和链路事件，再在它们之间运行 nccl-tests"
        ),
        "drain the node and run nvidia-smi -q -d ECC,ROW_REMAPPER; reset the GPU, replace it when it repeats": (
            "隔离该节点并运行 nvidia-smi -q -d ECC,ROW_REMAPPER；复位 GPU，重复出现则更换"
        ),
        "start again without that node from the newest checkpoint": "不用该节点，从最新的检查点重新开始",
        "look at the sample or file that the traceback names": "查看 traceback 指出的样本或文件",
        "run once with num_workers=0, to see the error in the main process": (
            "用 num_workers=0 运行一次，在主进程中看到错误"
        ),
        "look at the stacks of the loader workers (comm pt_data_worker): the cause is there": (
            "查看加载 worker（comm pt_data_worker）的栈：原因在那里"
        ),
        "preprocess offline when rank 0 is busy before the first collective; or set a longer timeout": (
            "若 rank 0 在第一次集合通信前忙碌，请离线预处理；或延长超时"
        ),
        "check the mount on that node: df, ls with a timeout, the kernel log; then ask the storage team": (
            "检查该节点的挂载：df、带超时的 ls、内核日志；然后联系存储团队"
        ),
        "give each node its own cache": "给每个节点单独的缓存",
        "look at df -h, df -i and the quota of the target; /tmp, ~/.cache and /dev/shm count too": (
            "查看目标的 df -h、df -i 和配额；/tmp、~/.cache 和 /dev/shm 也算"
        ),
        "resume from the checkpoint before the one that was being written: that one is probably incomplete": (
            "从正在写的检查点之前的那个恢复：正在写的可能不完整"
        ),
        "check space, quota and speed of the checkpoint storage, and whether the last checkpoint is whole": (
            "检查检查点存储的空间、配额和速度，以及最后的检查点是否完整"
        ),
        "resume from the checkpoint before it": "从之前的检查点恢复",
        "save asynchronously or sharded: that shortens the pause": "异步或分片保存：可缩短停顿",
        "read the first traceback or signal of that process, from its own standard error": (
            "在该进程自己的标准错误中阅读第一个 traceback 或信号"
        ),
        "set PYTHONFAULTHANDLER=1 and TORCHELASTIC_ERROR_FILE for the next run": (
            "下次运行设置 PYTHONFAULTHANDLER=1 和 TORCHELASTIC_ERROR_FILE"
        ),
        "find out who sent it: sacct or scontrol, node events, a time limit, a person": (
            "查明是谁发送的：sacct 或 scontrol、节点事件、时间上限、某人"
        ),
        "resume from the newest checkpoint; save on the warning signal": "从最新的检查点恢复；在收到警告信号时保存",
        "find out whether the node is alive: its console, the scheduler's view, when its logs ended": (
            "查明节点是否存活：控制台、调度器视图、日志何时结束"
        ),
        "start again without it from the newest checkpoint": "不用它，从最新的检查点重新开始",
        "find the ranks that never came: nodes without a log, image pulls, MASTER_ADDR, firewall, port": (
            "找出从未到达的 rank：没有日志的节点、镜像拉取、MASTER_ADDR、防火墙、端口"
        ),
        "compare SM clocks, power, temperature and PCIe width of every GPU: one slow GPU slows all ranks": (
            "比较每块 GPU 的 SM 频率、功率、温度和 PCIe 宽度：一块慢的 GPU 会拖慢所有 rank"
        ),
        "run a benchmark on each node; halve the nodes until the slow one is found": (
            "在每个节点上跑基准测试；对半排查直到找到慢的节点"
        ),
    }
)
