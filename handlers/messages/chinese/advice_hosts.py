"""What to do about a telling line, in Chinese: hosts, numbers, network, schedulers and storage."""

from collections.abc import Mapping
from types import MappingProxyType

ADVICE_HOSTS: Mapping[str, str] = MappingProxyType(
    {
        # Launchers, runtimes and machines that other makers have.
        "Read the kernel log for the device's reset; drain the node where it happens again.": (
            "阅读内核日志中该设备的复位记录；若再次发生，隔离该节点。"
        ),
        "Look for the rank that did not send: who prints this waited, and its CUDA errors follow from it.": (
            "找出没有发送的 rank：打印此行的是在等待它，其 CUDA 错误由此而来。"
        ),
        "Drain the node and replace the memory: the kernel took the page away from the process.": (
            "隔离节点并更换内存：内核收回了该进程的内存页。"
        ),
        "Read what the assertion asks for: native code ended the process, with no traceback of Python.": (
            "查看断言的条件：原生代码结束了进程，没有 Python 回溯。"
        ),
        "Read the traceback below it that bears the number of the rank: every rank prints the same.": (
            "阅读其下带有该 rank 编号的回溯：每个 rank 打印的内容相同。"
        ),
        "Take the host out of the fleet and start again from the newest checkpoint.": (
            "把该主机移出集群，从最新检查点重新开始。"
        ),
        "Look at the links between the hosts that the digest below lists.": ("检查其下摘要所列主机之间的链路。"),
        "Check that the host reaches its data, and how fast it reads it.": ("检查该主机能否访问其数据，以及读取速度。"),
        "Check that every worker runs the same program: the same code, flags and shapes of data.": (
            "检查每个进程是否运行同一程序：相同的代码、参数和数据形状。"
        ),
        "Take that host out and start again: its chips do not answer.": ("移出该主机并重新开始：它的芯片没有响应。"),
        "Start again on another host; ask for the chip to be looked at where it happens again.": (
            "换一台主机重新开始；若再次发生，请检修该芯片。"
        ),
        "Check the security group (all traffic within it), and that libfabric and the plugin fit together.": (
            "检查安全组（组内的所有流量），以及 libfabric 与插件是否匹配。"
        ),
        "Take `py-spy dump --nonblocking` of every rank before it is ended, and read each rank's last lines.": (
            "在进程被结束之前对每个 rank 执行 `py-spy dump --nonblocking` ，并阅读每个 rank 的最后几行。"
        ),
        "Read what each rank did last: the monitor only saw that heartbeats stopped.": (
            "查看每个 rank 最后做了什么：监视器只知道心跳停止了。"
        ),
        "Read the stacks of all threads that stand below it, of every process.": ("阅读其下每个进程所有线程的堆栈。"),
        "Read the full digest below it (task 0 of slice 0, or the resource manager): it lists where each host stood.": (
            "阅读其下的完整摘要（slice 0 的 task 0，或资源管理器）：它列出每台主机停在何处。"
        ),
        "Exclude the node and requeue: Slurm could not start the job's tasks there.": (
            "排除该节点并重新排队：Slurm 无法在那里启动作业的任务。"
        ),
        "Correct the image's name or the secret of its registry: that pod never started.": (
            "更正镜像名称或镜像仓库的密钥：该 pod 从未启动。"
        ),
        "Read the traceback beside it: nobody caught it, and the process ended.": (
            "阅读旁边的回溯：没有代码捕获它，进程因此结束。"
        ),
        "Find what filled the node's memory: a program that guards it ended the process before the kernel did.": (
            "查明是什么占满了节点内存：在内核介入之前，守护内存的程序就结束了该进程。"
        ),
        "Run `df /dev/shm` on that node: give the container more shared memory (--shm-size, --ipc=host).": (
            "在该节点上运行 `df /dev/shm` ：给容器更多共享内存（--shm-size、--ipc=host）。"
        ),
        "Look whether the remote process ended first; else check the link with hccn_tool on both servers.": (
            "查看对端进程是否先结束；否则在两台服务器上用 hccn_tool 检查链路。"
        ),
        "Drain the instance and take another: its Neuron device reports a fault of its hardware.": (
            "停用该实例并换一个：它的 Neuron 设备报告硬件故障。"
        ),
        "Start again on another machine: this one's accelerator memory is at fault.": (
            "换一台机器重新开始：这台机器的加速器内存有故障。"
        ),
        "Read the pod's own log (`kubectl logs --previous`) and its events: the code alone tells no cause.": (
            "阅读 pod 自己的日志（`kubectl logs --previous`）和事件：仅凭退出码说明不了原因。"
        ),
        "Read the output of the rank that the launcher names: it ended first.": (
            "阅读启动器指出的 rank 的输出：它最先结束。"
        ),
        "Read the output of the process that the launcher names: it ended first.": (
            "阅读启动器指出的进程的输出：它最先结束。"
        ),
        "Restart the machine; check seating and power of that GPU, and replace it when it repeats.": (
            "重启机器；检查该 GPU 的插槽与供电，若再次发生则更换。"
        ),
        "Restart the fabric manager or the node, and watch that port of the switch.": (
            "重启 fabric manager 或节点，并留意交换机的该端口。"
        ),
        "Look whether nvidia-smi lists the GPUs on that node, and what CUDA_VISIBLE_DEVICES says there.": (
            "查看该节点上 nvidia-smi 是否列出 GPU，以及 CUDA_VISIBLE_DEVICES 的值。"
        ),
        "Find out whether that node is alive: ping, its console, the scheduler's view of it.": (
            "查明该节点是否存活：ping、控制台、调度器的视角。"
        ),
        "Give the container more shared memory (--shm-size, --ipc=host, an emptyDir of medium Memory), or take fewer "
        "loader workers.": (
            "给容器更多共享内存（--shm-size、--ipc=host、medium 为 Memory 的 emptyDir），或减少加载 worker。"
        ),
        # Host memory and kernel.
        "Raise the limit of the job or pod where the line says MEMCG; free memory of the node where it says NONE.": (
            "若该行写 MEMCG，提高作业或 pod 的上限；若写 NONE，释放节点内存。"
        ),
        "Raise the memory limit, or take fewer loader workers and less offload.": (
            "提高内存上限，或减少加载 worker 和 offload。"
        ),
        "Raise --mem, or take fewer loader workers and less offload.": "提高 --mem，或减少加载 worker 和 offload。",
        "Raise the memory limit of the step, or take fewer loader workers and less offload.": (
            "提高作业步的内存上限，或减少加载 worker 和 offload。"
        ),
        "Ask for more memory, or take fewer loader workers and less offload.": (
            "申请更多内存，或减少加载 worker 和 offload。"
        ),
        "Read the kernel log (dmesg): it tells whether memory ran out or somebody sent kill -9.": (
            "阅读内核日志（dmesg）：它说明是内存不足还是有人发送了 kill -9。"
        ),
        "Look at the `Top 10 memory users` in the line: they filled the memory, not the task that was killed.": (
            "查看该行中的 `Top 10 memory users` ：是它们占满了内存，而不是被杀的 task。"
        ),
        "Offload less, and save fewer states at once.": "减少 offload，并减少同时保存的状态。",
        "Check that every node reaches every other at the address it gives (GLOO_SOCKET_IFNAME, /etc/hosts, firewall): "
        "who prints this only could not reach somebody.": (
            "检查各节点能否按其给出的地址互相连通（GLOO_SOCKET_IFNAME、/etc/hosts、防火墙）：打印此行者只是连不上别人。"
        ),
        "Raise the memory limit of the pod or container: files in its /dev/shm may count against it.": (
            "提高 pod 或容器的内存上限：其 /dev/shm 中的文件也可能计入其中。"
        ),
        "Read what that container printed last (`docker logs`), and look whether Docker says OOMKilled of it "
        "(`docker inspect`).": (
            "查看该容器最后打印的内容（`docker logs`），并查看 Docker 是否说它 OOMKilled（`docker inspect`）。"
        ),
        "Start the node's fabric manager (`systemctl status nvidia-fabricmanager`) in the driver's own version: "
        "NVSwitch machines do not work without it.": (
            "启动该节点的 fabric manager（`systemctl status nvidia-fabricmanager`），版本须与驱动一致："
            "没有它，NVSwitch 机器无法工作。"
        ),
        "Compare `nvidia-smi` inside and outside the container: the driver of that node does not fit the CUDA "
        "of this image, or was replaced without a restart.": (
            "比较容器内外的 `nvidia-smi`：该节点的驱动与此镜像的 CUDA 不匹配，或更换后没有重启。"
        ),
        "Check ulimit and overcommit; take fewer workers, spawn instead of fork, or memory maps.": (
            "检查 ulimit 和 overcommit；减少 worker，用 spawn 代替 fork，或使用内存映射。"
        ),
        "Read the last `Current thread` frames, or the library in the kernel's line: they name the native code that "
        "crashed.": "阅读最后的 `Current thread` 帧，或内核行中的库：它们指明崩溃的原生代码。",
        "Look at the library in the line: it is the one that crashed.": "查看该行中的库：崩溃的就是它。",
        "Read what stands before the abort.": "阅读 abort 之前的内容。",
        "Check `df /dev/shm` and lost files of the mount for a bus error; build again for this CPU for an illegal "
        "instruction.": "总线错误：检查 `df /dev/shm` 和挂载中丢失的文件；非法指令：为该 CPU 重新编译。",
        "Find the rank by the pid in the line, and check what it waits for: NFS, Lustre and FUSE are storage.": (
            "按行中的 pid 找到 rank，查看它在等什么：NFS、Lustre 和 FUSE 都是存储。"
        ),
        "Reboot the node and keep its kernel log.": "重启节点并保留其内核日志。",
        "Take the node out, and keep what its console says.": "移出该节点，并保留控制台内容。",
        "Drain the node: its CPU or memory is at fault.": "隔离节点：其 CPU 或内存有故障。",
        # Numbers.
        "Run that step again: the same rank again is data or code, else its GPU.": (
            "重跑该步：仍是同一 rank 说明是数据或代码，否则是 GPU。"
        ),
        "Drain the node for a transient or persistent error; look at data and model for `Correct result`.": (
            "瞬时或持续错误：隔离节点；若为 `Correct result` ：查看数据和模型。"
        ),
        "Look at the first step that is not finite: its batch, learning rate and dtype.": (
            "查看第一个非有限值的步：批次、学习率和数据类型。"
        ),
        "Go back to before the first overflow of the series; use bf16, a lower learning rate, or skip that data.": (
            "回到这一连串溢出之前；使用 bf16、降低学习率，或跳过那些数据。"
        ),
        "Watch it: many in a row after the start, or a scale under 1,000 that falls, mean divergence.": (
            "留意：启动后连续多次，或低于 1,000 的缩放继续下降，意味着发散。"
        ),
        # Network.
        "Go to the named peer: many ranks naming one mean its node died, one adapter naming many means that adapter or "
        "its cable.": "查看被点名的对端：许多 rank 指向同一个说明其节点终止；一块网卡指向许多个说明是该网卡或线缆。",
        "Check cable, transceiver and switch port of that host's link.": "检查该主机链路的线缆、光模块和交换机端口。",
        "Check cable, optic and slot of that port.": "检查该端口的线缆、光模块和插槽。",
        "Raise `ulimit -l` for reg_mr or create_cq; check the route and the RoCE GID index for modify_qp.": (
            "reg_mr 或 create_cq：提高 `ulimit -l` ；modify_qp：检查路由和 RoCE GID index。"
        ),
        "Look for an earlier error of the peer; suspect the network where both sides only print this.": (
            "查找对端更早的错误；若双方都只打印这一行，则怀疑网络。"
        ),
        "Read the log of the peer: its instance went away, or its network did.": (
            "阅读对端的日志：其实例离开，或网络中断。"
        ),
        "Check NCCL_SOCKET_IFNAME, the firewall and the interface.": "检查 NCCL_SOCKET_IFNAME、防火墙和网络接口。",
        "Check why NCCL falls back to sockets: they are slow across nodes.": "查明 NCCL 为何退回 socket：跨节点很慢。",
        "Look at the peer process that went away.": "查看离开的对端进程。",
        "Look at the rank that is missing from these lines: this one waited.": "查看这些行中没有出现的 rank：它在等。",
        "Go to the peer that did not acknowledge: it died, or its network did.": (
            "查看没有确认的对端：它终止了，或其网络中断。"
        ),
        # Schedulers and storage.
        "Ask for more time, or save on a warning (--signal=USR1@N), where it was the time limit; requeue where it was "
        "preempted.": "若是时间上限，申请更长时间或在警告时保存（--signal=USR1@N）；若是抢占，重新排队。",
        "Exclude the node and requeue.": "排除该节点并重新排队。",
        "Read the output of the first task to leave: later ones only follow it.": (
            "阅读最先离开的 task 的输出：后面的只是后果。"
        ),
        "Read the lines above: they say why the step is taken down.": "阅读上面几行：它们说明作业步为何被终止。",
        "Ask who stopped it: the training itself did not fail.": "问清谁停止了它：训练本身没有出错。",
        "Save before the time limit, and chain jobs.": "在时间上限之前保存，并串接作业。",
        "Ask who ended it, a person or the scheduler: the training itself did not fail.": (
            "问清谁结束了它，某人还是调度器：训练本身没有出错。"
        ),
        "Write checkpoints and caches to a volume, request ephemeral storage, or raise the priority class.": (
            "把检查点和缓存写到卷上，申请临时存储，或提高优先级。"
        ),
        "Resume on a new node; save on notice.": "在新节点上恢复；收到通知时保存。",
        "Find out who sent it: sacct or scontrol, node events, a time limit, a person, or another component.": (
            "查明是谁发送的：sacct 或 scontrol、节点事件、时间上限、某人，或其他组件。"
        ),
        "Requeue, and resume from the newest checkpoint.": "重新排队，并从最新的检查点恢复。",
        "Run `df -h`, `df -i` and the quota of the target, /tmp, ~/.cache and /dev/shm; delete old checkpoints.": (
            "查看目标、/tmp、~/.cache 和 /dev/shm 的 `df -h` 、 `df -i` 和配额；删除旧检查点。"
        ),
        "Resume from the checkpoint before this one, which is probably corrupt.": (
            "从前一个检查点恢复，这一个可能已损坏。"
        ),
        "Read the first exception of the chain: this one only came while the file was closed.": (
            "阅读链中的第一个异常：这一个只是关闭文件时出现的。"
        ),
        "Go back one checkpoint, and check that its configuration is this run's.": (
            "退回一个检查点，并确认其配置属于该任务。"
        ),
        "Check the mount of that node; ask the storage team where several nodes print it.": (
            "检查该节点的挂载；若多个节点都打印，请联系存储团队。"
        ),
        "Give each node its own cache, and check whether the mount was lost.": (
            "给每个节点单独的缓存，并检查挂载是否丢失。"
        ),
        "Drain the node and replace the disk.": "隔离节点并更换磁盘。",
    }
)
