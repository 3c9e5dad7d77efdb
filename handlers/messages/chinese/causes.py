"""What speaks for a cause, and what could not be looked at, in Chinese: clauses with values (see `clauses.py`)."""

from collections.abc import Mapping
from types import MappingProxyType

CAUSES: Mapping[str, str] = MappingProxyType(
    {
        # A whole cause in one line, as an incident keeps it.
        "{c} · confidence: {c2}": "{c} · 把握：{c2}",
        "{c}: {c2} · confidence: {c3}": "{c}：{c2} · 把握：{c3}",
        "{c}: {node} · confidence: {c2}": "{c}：{node} · 把握：{c2}",
        "{c} on {node} · confidence: {c2}": "{node} 上{c} · 把握：{c2}",
        "{c} · confidence: {c2}. {c3}": "{c} · 把握：{c2}。{c3}",
        "{c} stopped first": "{c} 最先停下",
        "{c} failed first": "{c} 最先出错",
        "{c} is whom the others wait for": "其他进程在等 {c}",
        "No node shows another reason for its end than the numbers that went bad before it": (
            "除了此前异常的数值，没有节点显示它结束的其他原因"
        ),
        "Why cannot be told, because {c}": "无法判断原因，因为{c}",
        "Which rank stopped first cannot be told, because {c}": "无法判断哪个 rank 最先停下，因为{c}",
        "Which rank stopped first cannot be told; only rank {n} differs from the rest": (
            "无法判断哪个 rank 最先停下；只有 rank {n} 与其他不同"
        ),
        "Which rank stopped first cannot be told; ranks {list} differ from the rest": (
            "无法判断哪个 rank 最先停下；rank {list} 与其他不同"
        ),
        "Ranks {list} show it; which was first cannot be told": "rank {list} 都有此现象；无法判断谁最先",
        "Because:": "依据：",
        "Or else: {c}": "另一种可能：{c}",
        "Or else: {text}": "另一种可能：{text}",
        "Could not look: {c}": "无法查看：{c}",
        "Could not look: {text}": "无法查看：{text}",
        # Ranks against the rest.
        "{r} waits in a collective at {frame}, while {n} others wait in a collective": (
            "{r} 在 {frame} 等待集合通信，而其他 {n} 个也在等待集合通信"
        ),
        "{r} waits for its data loader at {frame}, while {n} others wait in a collective": (
            "{r} 在 {frame} 等待数据加载器，而其他 {n} 个在等待集合通信"
        ),
        "{r} saves a checkpoint at {frame}, while {n} others wait in a collective": (
            "{r} 在 {frame} 保存检查点，而其他 {n} 个在等待集合通信"
        ),
        "{r} reads or locks a file at {frame}, while {n} others wait in a collective": (
            "{r} 在 {frame} 读取或锁定文件，而其他 {n} 个在等待集合通信"
        ),
        "{r} talks to a logger or tracker at {frame}, while {n} others wait in a collective": (
            "{r} 在 {frame} 与日志或跟踪服务通信，而其他 {n} 个在等待集合通信"
        ),
        "{r} is elsewhere in its code at {frame}, while {n} others wait in a collective": (
            "{r} 在 {frame} 处于代码的别处，而其他 {n} 个在等待集合通信"
        ),
        "{r} stands at {frame}, the {n} others elsewhere": "{r} 停在 {frame}，其他 {n} 个在别处",
        "{r} stands at collective {n} of group {group}, others at {n2}": (
            "{r} 停在组 {group} 的第 {n} 号集合通信，其他在第 {n2} 号"
        ),
        "{r} stands at collective {n} of group {group} in both dumps, others at {n2}": (
            "两次转储中 {r} 都停在组 {group} 的第 {n} 号集合通信，其他在第 {n2} 号"
        ),
        "last enqueued {n}, last completed {n2}: {name}": "最后入队 {n}，最后完成 {n2}：{name}",
        "last enqueued {n}, last completed {n2}: {name} at {frame}": (
            "最后入队 {n}，最后完成 {n2}：{name}，位于 {frame}"
        ),
        "{n} of {n2} ranks wait in a collective": "{n2} 个 rank 中有 {n} 个等待集合通信",
        "{n} of {n2} ranks wait for their data loader": "{n2} 个 rank 中有 {n} 个等待数据加载器",
        "{n} of {n2} ranks save a checkpoint": "{n2} 个 rank 中有 {n} 个在保存检查点",
        "{n} of {n2} ranks read or lock a file": "{n2} 个 rank 中有 {n} 个在读取或锁定文件",
        "{r} was stopped by a signal": "{r} 被信号停止",
        "{r} is dead": "{r} 已终止",
        "{r} waits in the GPU driver ({place})": "{r} 在 GPU 驱动中等待（{place}）",
        "{r} waits in the GPU driver": "{r} 在 GPU 驱动中等待",
        "{r} waits for a file lock that somebody else holds ({place})": "{r} 等待被别人持有的文件锁（{place}）",
        "{r} waits for a file lock that somebody else holds": "{r} 等待被别人持有的文件锁",
        "{r} waits in the kernel for storage ({place})": "{r} 在内核中等待存储（{place}）",
        "{r} waits in the kernel for storage": "{r} 在内核中等待存储",
        "{r} is in state D ({place})": "{r} 处于 D 状态（{place}）",
        "{r} is in state D": "{r} 处于 D 状态",
        "{r} waits for a child that waits for storage ({place})": "{r} 在等一个等待存储的子进程（{place}）",
        "{r} waits for a child that waits for storage": "{r} 在等一个等待存储的子进程",
        "{r} was found running in {n} looks, while {n2} others waited in {place}": (
            "{n} 次查看中 {r} 都在运行，而其他 {n2} 个在 {place} 等待"
        ),
        "{r} stood in {place} in {n} looks, while {n2} others ran": (
            "{n} 次查看中 {r} 停在 {place}，而其他 {n2} 个在运行"
        ),
        "{r} stood in {place} in {n} looks, while {n2} others waited in {place2}": (
            "{n} 次查看中 {r} 停在 {place}，而其他 {n2} 个在 {place2} 等待"
        ),
        "{r} was {state} in {n} looks, while {n2} others ran": "{n} 次查看中 {r} 处于 {state}，而其他 {n2} 个在运行",
        "{r} was {state} in {n} looks, while {n2} others were {state2}": (
            "{n} 次查看中 {r} 处于 {state}，而其他 {n2} 个处于 {state2}"
        ),
        "{r} was {state} in {n} looks, while {n2} others waited in {place}": (
            "{n} 次查看中 {r} 处于 {state}，而其他 {n2} 个在 {place} 等待"
        ),
        "{r} was found running in {n} looks, while {n2} others were {state}": (
            "{n} 次查看中 {r} 都在运行，而其他 {n2} 个处于 {state}"
        ),
        "{r} told step {n} last, the others {n2}": "{r} 最后报告第 {n} 步，其他为第 {n2} 步",
        "the last line of {r} is “{line}”": "{r} 的最后一行是“{line}”",
        "the last line of {r} is “{line}” where {n} ranks end with “{line2}”": (
            "{r} 的最后一行是“{line}”，而 {n} 个 rank 以“{line2}”结尾"
        ),
        "{r} fell silent {s} before the next one (clocks ±{n} s)": "{r} 比下一个早 {s}失去消息（时钟误差 ±{n} 秒）",
        "the watcher of {node} was last heard {s} after the last progress of the run; {c}": (
            "{node} 的监视进程最后一次消息在任务最近进展之后 {s}；{c}"
        ),
        "the watcher of {node} was last heard {s} before the last progress of the run; {c}": (
            "{node} 的监视进程最后一次消息在任务最近进展之前 {s}；{c}"
        ),
        "the other is still heard": "另一个仍有消息",
        "the {n} others are still heard": "其他 {n} 个仍有消息",
        "only the watcher of that node ended, and the run stopped for another reason": (
            "只是该节点的监视进程结束，任务因别的原因停止"
        ),
        "Find out whether {node} is alive: ping it, look at its console and the scheduler's view": (
            "查明 {node} 是否存活：ping、查看控制台和调度器视图"
        ),
        "If it lives, start the watcher there again and ask once more: nobody could look at {node}": (
            "若仍存活，在那里重启监视进程再问一次：没人能查看 {node}"
        ),
        # Waits in collectives.
        "{n} of {n2} ranks timed out in a collective; {r} printed no timeout": (
            "{n2} 个 rank 中有 {n} 个集合通信超时；{r} 没有打印超时"
        ),
        "{n} rank(s) timed out": "{n} 个 rank 超时",
        "{n} rank(s) timed out in {op}": "{n} 个 rank 在 {op} 超时",
        "{n} rank(s) timed out in {op} number {n2}": "{n} 个 rank 在第 {n2} 号 {op} 超时",
        "{r} did not come to the barrier": "{r} 没有到达屏障",
        "{r} did not submit what the others wait for": "{r} 没有提交其他进程等待的内容",
        "{r} enqueued only {n} collectives in group {group}, others {n2}": (
            "{r} 在组 {group} 只入队 {n} 个集合通信，其他为 {n2} 个"
        ),
        "all {n} reporting ranks of group {group} enqueued {n2} and completed {n3} collectives: they all joined, and "
        "it never finished": (
            "组 {group} 报告的 {n} 个 rank 都入队 {n2}、完成 {n3} 个集合通信：它们都加入了，却没有完成"
        ),
        "{r} waits in another collective at number {n}: {op} where {n2} ranks have {op2}": (
            "{r} 在第 {n} 号等待另一个集合通信：{op}，而 {n2} 个 rank 为 {op2}"
        ),
        "{r} runs another collective: {op} where {n} ranks have {op2}": (
            "{r} 在执行另一个集合通信：{op}，而 {n} 个 rank 为 {op2}"
        ),
        "local rank {n} closed its connections before anybody timed out": "local rank {n} 在任何超时之前关闭了连接",
        "a watchdog says of rank {n} alone that it stands": "看门狗只说 rank {n} 停住了",
        "torch itself names {r} as lagging": "torch 自己指出 {r} 落后",
        "torch says that {r} did not join the next collective": "torch 称 {r} 没有加入下一个集合通信",
        "NCCL found mismatched calls around rank {n}": "NCCL 在 rank {n} 附近发现不匹配的调用",
        "no step in the last {n} s of the log, after step {n2}": "日志最后 {n} 秒没有步，最后为第 {n2} 步",
        "no step in the last {n} s of the log, after step {n2}, where a step took {n3} s": (
            "日志最后 {n} 秒没有步，最后为第 {n2} 步，而一步通常 {n3} 秒"
        ),
        "saving a checkpoint had begun when the wait began, and did not end": "等待开始时正在保存检查点，且没有结束",
        "tokenising the dataset had begun when the wait began, and did not end": (
            "等待开始时正在对数据集分词，且没有结束"
        ),
        "an evaluation had begun when the wait began, and did not end": "等待开始时正在评估，且没有结束",
        "when it was interrupted, the main thread waited for data: {line}": "被中断时，主线程在等数据：{line}",
        "other evidence disagrees: {c}": "其他证据不一致：{c}",
        "other evidence disagrees: {text}": "其他证据不一致：{text}",
        "find who holds the lock: lslocks on its node; end that process, or give each rank its own file": (
            "找出谁持有锁：在该节点运行 lslocks；结束该进程，或给每个 rank 单独的文件"
        ),
        "suspect the network or a GPU: run nccl-tests over these nodes, read port counters and kernel logs": (
            "怀疑网络或 GPU：在这些节点上运行 nccl-tests，查看端口计数和内核日志"
        ),
        # GPUs.
        "spins in a collective": "在集合通信中空转",
        "is busy; without power nobody can tell work from waiting": "忙碌；没有功率读数无法区分工作与等待",
        "idles with its memory held": "空闲但显存被占用",
        "idles, and no process holds memory": "空闲且无进程占用显存",
        "gave no data": "没有数据",
        "no longer listed": "不再列出",
        "{n} GPUs stay at 100 % while {c} at 0 %": "{n} 块 GPU 保持 100 %，而{c} 0 %",
        "{n} GPUs on {node} stay at 100 % while {c} at 0 %": "{node} 上 {n} 块 GPU 保持 100 %，而{c} 0 %",
        "{n} GPUs stay at 100 % at low power while {c} at 0 %": "{n} 块 GPU 以低功率保持 100 %，而{c} 0 %",
        "{n} GPUs on {node} stay at 100 % at low power while {c} at 0 %": (
            "{node} 上 {n} 块 GPU 以低功率保持 100 %，而{c} 0 %"
        ),
        "GPU {n} is": "GPU {n} 为",
        "GPUs {list} are": "GPU {list} 为",
        "GPU {n} is lost": "GPU {n} 失联",
        "GPU {n} is lost on {node}": "{node} 上 GPU {n} 失联",
        "GPUs {list} are lost": "GPU {list} 失联",
        "GPUs {list} are lost on {node}": "{node} 上 GPU {list} 失联",
        "all {n} GPUs spin at 100 % and low power: every rank waits in a collective": (
            "全部 {n} 块 GPU 以低功率空转在 100 %：所有 rank 都在等集合通信"
        ),
        "all {n} GPUs on {node} spin at 100 % and low power: every rank waits in a collective": (
            "{node} 上全部 {n} 块 GPU 以低功率空转在 100 %：所有 rank 都在等集合通信"
        ),
        "all {n} GPUs stay at 100 %: without power this may be work or waiting": (
            "全部 {n} 块 GPU 保持 100 %：没有功率读数，可能是工作也可能是等待"
        ),
        "all {n} GPUs on {node} stay at 100 %: without power this may be work or waiting": (
            "{node} 上全部 {n} 块 GPU 保持 100 %：没有功率读数，可能是工作也可能是等待"
        ),
        "all {n} GPUs idle at 0 % with their memory held: the host side is stuck": (
            "全部 {n} 块 GPU 以 0 % 空闲且占用显存：主机侧卡住"
        ),
        "all {n} GPUs on {node} idle at 0 % with their memory held: the host side is stuck": (
            "{node} 上全部 {n} 块 GPU 以 0 % 空闲且占用显存：主机侧卡住"
        ),
        "all {n} GPUs idle and empty: their processes are gone": "全部 {n} 块 GPU 空闲且为空：进程已不存在",
        "all {n} GPUs on {node} idle and empty: their processes are gone": (
            "{node} 上全部 {n} 块 GPU 空闲且为空：进程已不存在"
        ),
        "the GPUs work": "各 GPU 在工作",
        "the GPUs on {node} work": "{node} 上各 GPU 在工作",
        "the GPUs show no clear pattern": "各 GPU 没有明显规律",
        "the GPUs on {node} show no clear pattern": "{node} 上各 GPU 没有明显规律",
        "no GPU data": "没有 GPU 数据",
        "no GPU data on {node}": "{node} 没有 GPU 数据",
        "{c}, while the GPUs of {n} other node(s) stay at 100 %": "{c}，而其他 {n} 个节点的 GPU 保持 100 %",
        "{n} GPUs are busy while {n2} idle at that moment, GPU {n3} first": (
            "当时 {n} 块 GPU 忙碌，{n2} 块空闲，GPU {n3} 最先"
        ),
        "the GPU driver of {node} reports memory faults, {n} times": "{node} 的 GPU 驱动报告内存故障 {n} 次",
        "{gpu} slows itself down: {text}": "{gpu} 自行降速：{text}",
        # Which line, which process, who was first.
        "rank {n}: {text}": "rank {n}：{text}",
        "printed after it: {text}": "其后打印：{text}",
        "in a loader worker: {text}": "在加载 worker 中：{text}",
        "{r} show the same, and nothing tells which was first": "{r} 现象相同，无法判断谁最先",
        "nothing tells which was first": "无法判断谁最先",
        "every step stands below it: a full buffer was printed when the process ended": (
            "所有步骤都在它下面：进程结束时才打印了缓冲区"
        ),
        "all workers were asked to stop from outside (SIGTERM), and none failed by itself": (
            "所有 worker 都被外部要求停止（SIGTERM），没有一个自行失败"
        ),
        "the launcher saw rank {n} fail first, and nobody else failed by itself": (
            "启动器看到 rank {n} 最先出错，且没有其他进程自行出错"
        ),
        "the supervisor saw this part fail first and ended the others": (
            "监管程序看到这一部分最先出错，并结束了其他部分"
        ),
        "nothing in the files tells whether that has to do with this run": "文件中没有迹象表明这与此任务有关",
        "it fits the run's last step if the kernel log's clock is of another time zone: assumed here": (
            "如果内核日志的时钟属于另一个时区，它就与该任务的最后一步相符：此处如此假定"
        ),
        "it was somebody else's, and why this run ended is not in these files": (
            "那是别人的，而此任务为何结束不在这些文件中"
        ),
        "it was raised while a batch was fetched": "它在读取一个批次时抛出",
        "it was raised while a checkpoint was saved": "它在保存检查点时抛出",
        "the first process to leave ended with code {n}: {c}": "最先离开的进程以代码 {n} 结束：{c}",
        "{r} ended alike at the same moment: the launcher cannot tell who was first": (
            "{r} 同时以同样方式结束：启动器无法判断谁最先"
        ),
        "an abort alone names nobody: the watchdog ends whoever waits": (
            "仅有 abort 不能指明是谁：看门狗会结束所有等待者"
        ),
        "an abort alone names nobody: the watchdog ends whoever waits, and the rank's own words are missing": (
            "仅有 abort 不能指明是谁：看门狗会结束所有等待者，而该 rank 自己的输出缺失"
        ),
        "only this node's launcher is among the files: the first to go may be on another node": (
            "文件中只有该节点的启动器：最先离开的可能在别的节点"
        ),
        "and it only reports that a peer went away: the first to go is not in these files": (
            "它只报告对端离开：最先离开的不在这些文件中"
        ),
        "what ended the run came later: {text}": "导致任务结束的在后面：{text}",
        "what ended the run {text}": "导致任务结束的是 {text}",
        "{r} said it is done while the others still trained": "{r} 表示已完成，而其他仍在训练",
        "the control group counts {n} out-of-memory kill(s)": "控制组统计到 {n} 次内存不足杀死",
        "the kernel log is here and shows no out-of-memory kill of it: somebody or something else killed it": (
            "内核日志在此，且没有显示它因内存不足被杀死：是别人或别的程序杀死了它"
        ),
        "the memory group's counter tells of no kill by the kernel; the kernel log was not read": (
            "内存组计数没有内核杀死的记录；内核日志未读取"
        ),
        "somebody's kill -9, or the scheduler: without the kernel log this cannot be told apart": (
            "某人的 kill -9 或调度器：没有内核日志无法区分"
        ),
        "the kernel ended it for lack of memory: without the kernel log this cannot be ruled out": (
            "内核因内存不足结束了它：没有内核日志无法排除"
        ),
        "the kernel ended it for lack of memory": "内核因内存不足结束了它",
        "without the kernel log this cannot be told apart": "没有内核日志无法区分",
        "read the kernel log of its node (dmesg): it alone can confirm it": (
            "阅读其节点的内核日志（dmesg）：只有它能确认"
        ),
        "read the kernel log of its node (dmesg), or the cgroup's oom_kill counter: they alone can confirm it": (
            "阅读其节点的内核日志（dmesg），或 cgroup 的 oom_kill 计数：只有它们能确认"
        ),
        "find the GPU by the bus id in the line, and the process by its pid": (
            "按行中的 bus id 找到 GPU，按 pid 找到进程"
        ),
        "give every rank the same number of batches: drop the last ones, pad, or use DDP's Join": (
            "让每个 rank 的批次数相同：丢弃末尾、补齐，或使用 DDP 的 Join"
        ),
        "find out whether the node is alive: ping, its console, the scheduler's view of it": (
            "查明节点是否存活：ping、控制台、调度器视图"
        ),
        "run the same step on another node: if the NaN is gone it was the GPU": (
            "在别的节点重跑该步：NaN 消失则是 GPU 的问题"
        ),
        "read the standard error of that process: its own words are not in these files": (
            "阅读该进程的标准错误：它自己的输出不在这些文件中"
        ),
        # Stops, network, numbers.
        "it was asked to stop from outside (SIGTERM)": "被外部要求停止（SIGTERM）",
        "no error of the training comes before it": "此前没有训练错误",
        "the scheduler cancelled it without giving a reason: scancel, or a task that ended": (
            "调度器未说明原因就取消了它：scancel，或某个任务结束"
        ),
        "the terminal it was started from closed (SIGHUP)": "启动它的终端关闭（SIGHUP）",
        "somebody interrupted it (Ctrl-C)": "有人中断了它（Ctrl-C）",
        "nothing earlier is in the files": "文件中没有更早的内容",
        "{n} log(s) report a broken transport": "{n} 个日志报告传输中断",
        "nothing tells which side broke: only the transport itself is named": "无法判断哪一侧中断：只提到传输本身",
        "the log of {node} ends {n} s before every other, without a word": (
            "{node} 的日志比其他都早 {n} 秒结束，没有任何说明"
        ),
        "{n} reporters all name the peer {peer}": "{n} 个报告者都指向对端 {peer}",
        "only {host} fails, and to {n} peers: its adapter or cable": (
            "只有 {host} 出错，且涉及 {n} 个对端：是其网卡或线缆"
        ),
        "steps take {n} s since step {n2}, {n3} times the {n4} s before": (
            "自第 {n2} 步起每步 {n} 秒，是此前 {n4} 秒的 {n3} 倍"
        ),
        "a log ends in words of trouble that no rule knows: “{line}”": "日志以未知的故障文字结尾：“{line}”",
        "nothing shows that ranks wait: these files cannot tell whether it hung": (
            "没有迹象表明 rank 在等待：这些文件无法判断是否卡住"
        ),
        "training is over: every rank that told steps had come to its end": (
            "训练已结束：所有报告步数的 rank 都到达了终点"
        ),
        "what timed out after it was the teardown": "其后超时的是收尾阶段",
        "{c}: no trouble unless it lasts": "{c}：除非持续，否则不是问题",
        "no error in the files": "文件中没有错误",
        "lines that tell them in words of their own are read with `--pattern`, see `docs/formats.md`": (
            "用自己的写法打印它们的行，可用 `--pattern` 读取，见 `docs/formats.md`"
        ),
        "loss climbs and stays: at least {n} since step {n2}": "损失上升且不回落：自第 {n2} 步起至少 {n}",
        "loss climbs and stays: at least {n} now": "损失上升且不回落：现在至少 {n}",
        "the best level before it was {n} at step {n2}": "此前的最佳水平为 {n}（第 {n2} 步）",
        "the first point above is that of step {n}": "第一个偏高的点在第 {n} 步",
        "nothing shows that the run ended of it": "没有迹象表明运行因此结束",
        "nothing shows that the run ended of it; the newest step is {n}": "没有迹象表明运行因此结束；最新步为 {n}",
        "no error and no wait in the files": "文件中没有错误，也没有等待",
        "no error in the files; the newest step is {n}": "文件中没有错误；最新步为 {n}",
        "no error and no wait in the files; the newest step is {n}": "文件中没有错误，也没有等待；最新步为 {n}",
        "Look whether the run still lives, and take `py-spy dump --nonblocking` of every rank while it does": (
            "查看任务是否仍存活，趁存活时对每个 rank 运行 `py-spy dump --nonblocking`"
        ),
        "Read the end of every other log, the scheduler's word and the kernel log of each node": (
            "阅读其他日志的末尾、调度器的说明和每个节点的内核日志"
        ),
        "Read the lines around it, and the same moment in the logs of other ranks": (
            "阅读其前后的行，以及其他 rank 日志的同一时刻"
        ),
        "Read how each process ended: its standard error, the scheduler's word, the kernel log of its node": (
            "查看每个进程如何结束：标准错误、调度器的说明、所在节点的内核日志"
        ),
    }
)
