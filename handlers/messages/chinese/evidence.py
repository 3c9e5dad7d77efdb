"""What shows a cause, what could not be looked at, and what a snapshot could not take, in Chinese."""

from collections.abc import Mapping
from types import MappingProxyType

EVIDENCE: Mapping[str, str] = MappingProxyType(
    {
        # What shows it.
        "processes of {node}": "{node} 的进程",
        "memory of {node}": "{node} 的内存",
        "GPU readings of {node}": "{node} 的 GPU 读数",
        "kernel log of {node}": "{node} 的内核日志",
        "heartbeats of {node}": "{node} 的心跳",
        "stack of pid {n} on {node}": "{node} 上 pid {n} 的调用栈",
        # What could not be looked at.
        "cannot tell which run the processes are of (pid {pids}): name this run's by `match` or `pids` in its [[runs]] "
        "table": "无法判断进程属于哪个任务（pid {pids}）：请在 [[runs]] 表中用 `match` 或 `pids` 指明",
        "no process of this run was found here, only those of other runs": (
            "这里没有找到该任务的进程，只有其他任务的进程"
        ),
        "which rank: neither the line nor its file names one": "哪个 rank：该行和文件都没有写明",
        "which of the suspects was first": "嫌疑者中谁最先",
        "which rank: nothing that the nodes told tells the ranks apart": "哪个 rank：各节点报告的内容无法区分",
        "which rank: nothing in the files tells the ranks apart": "哪个 rank：文件中没有内容能区分",
        "nothing that the nodes told tells the ranks apart": "各节点报告的内容无法区分各 rank",
        "nothing that the nodes told tells the ranks apart ({list})": "各节点报告的内容无法区分各 rank（{list}）",
        "no kernel log": "没有内核日志",
        "no kernel log (Xid, out-of-memory kills, NFS)": "没有内核日志（Xid、内存不足、NFS）",
        "no kernel log is among the files (Xid, out-of-memory kills, NFS)": "文件中没有内核日志（Xid、内存不足、NFS）",
        "no log of {n} rank(s), the first is rank {n2}": "缺少 {n} 个 rank 的日志，第一个是 rank {n2}",
        "no process states": "没有进程状态",
        "no stacks and no flight-recorder dumps": "没有调用栈，也没有 flight-recorder 转储",
        "no stacks and no flight-recorder dumps are among the files": "文件中没有调用栈和 flight-recorder 转储",
        "no GPU readings": "没有 GPU 读数",
        "no GPU samples are among the files": "文件中没有 GPU 采样",
        "kernel log not readable": "内核日志不可读",
        "kernel log not readable: {text}": "内核日志不可读：{text}",
        "no NVIDIA driver here": "没有 NVIDIA 驱动",
        "no NVIDIA GPU here": "没有 NVIDIA GPU",
        "no {name} here": "没有 {name}",
        "{node}: {c}": "{node}：{c}",
        "{c} ({n} nodes)": "{c}（{n} 个节点）",
        "its watcher did not answer in time": "其监视进程没有及时应答",
        "{node}: its watcher was last heard {n} s ago": "{node}：最后一次消息在 {n} 秒前",
        "{node}: {n} more telling lines than its watcher keeps": "{node}：还有 {n} 行重要日志超出保存上限",
        "there is no file to read": "没有可读的文件",
        "{path}: there is no file to read": "{path}：没有可读的文件",
        "{file}: no line of it tells a training step or a loss": "{file}：没有任何一行写明训练步或损失",
        "and {n} more": "另有 {n} 项",
        "line {n} is longer than 64 KiB: what stands behind that was not read": (
            "第 {n} 行超过 64 KiB，其后的内容没有读"
        ),
        "{n} lines, the first is line {n2}, are longer than 64 KiB: what stands behind that was not read": (
            "{n} 行超过 64 KiB（最先是第 {n2} 行），其后的内容没有读"
        ),
        "{a} and {b} were read as logs of one run; if they are of two, look at each by itself": (
            "{a} 与 {b} 被当作同一个任务的日志；若属于两个任务，请分别查看"
        ),
        "packed, and its end is missing: it was cut, or is still being written": "压缩文件缺少结尾：被截断，或仍在写入",
        "it is not UTF-8, and its encoding is not known: words beyond ASCII were not read": (
            "不是 UTF-8，编码未知：没有读 ASCII 以外的文字"
        ),
        "packed, and damaged: {text}": "压缩文件已损坏：{text}",
        # What became of a piece of a snapshot, and why.
        "collected": "已保存",
        "empty": "无内容",
        "unavailable": "无法取得",
        "timed out": "超时",
        "failed": "失败",
        "cut: {name} printed more than {n} bytes": "已截断：{name} 的输出超过 {n} 字节",
        "the run was not quiet": "任务没有静默",
        "{name} ended with exit code {n}": "{name} 以退出码 {n} 结束",
        "{name} did not answer in {n} s": "{name} 在 {n} 秒内没有应答",
        "{name} gave no answer in {n} s: a dead mount?": "{name} 在 {n} 秒内没有应答：挂载点已失效？",
        "it cannot be killed (pid {n}, {state})": "它无法被杀死（pid {n}，{state}）",
        "/proc is not readable here": "这里的 /proc 不可读",
        "neither /proc/net nor /sys/class/net is readable here": "这里的 /proc/net 和 /sys/class/net 都不可读",
        "an earlier {name} still hangs (pid {n}, {state})": "先前的 {name} 仍卡住（pid {n}，{state}）",
        "kernel log not readable: {path} is empty here": "内核日志不可读：{path} 在此为空",
        "not asked: {name} gave no answer a moment ago": "没有询问：{name} 刚才没有应答",
        "{n} more processes are not listed": "另有 {n} 个进程没有列出",
        "no log is followed": "没有跟踪任何日志",
        "no process of the job was found on this node": "该节点上没有找到作业的进程",
        "no process of the job was found here: name one with --match, or its log is written elsewhere": (
            "这里没有找到作业的进程：请用 --match 指明，或它的日志写在别处"
        ),
        "no GPU was read": "没有读到 GPU",
        "no dump was found": "没有找到转储",
        "no InfiniBand here": "没有 InfiniBand",
        "no checkpoint was found ({place})": "没有找到检查点（{place}）",
        "no folder is known": "没有已知的文件夹",
        "no rotated copy lies beside the logs": "日志旁没有轮转的副本",
        "the job's environment names none": "作业环境中没有写明",
        "no control group of the job is readable here": "没有可读的作业控制组",
        "not allowed for this run (--stacks)": "该任务不允许（--stacks）",
        "the host was not looked at yet": "还没有查看主机",
        "{name}: {c}": "{name}：{c}",
        "not enough room: {size} MiB free where snapshots lie, and {size2} MiB of that stay free for the job": (
            "空间不足：保存现场处剩余 {size} MiB，其中 {size2} MiB 为作业保留"
        ),
        "its owner did not allow stops when it was registered (`--allow-stop`)": (
            "登记时负责人没有允许停止（ `--allow-stop` ）"
        ),
        "process {n} still holds GPU {list}": "进程 {n} 仍占用 GPU {list}",
        # What a process does.
        "sleeping": "睡眠",
        "state D": "D 状态",
        "waits in the kernel": "在内核中等待",
        "stopped": "已暂停",
        "tracing-stop": "被调试器暂停",
        "zombie": "僵尸进程",
        "gone": "已消失",
        "dead": "已终止",
        "idle": "空闲",
        "lives": "仍在运行",
    }
)
