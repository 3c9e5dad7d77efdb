"""What the detectors, the watchers and the monitor find, in Chinese: clauses with values (see `clauses.py`)."""

from collections.abc import Mapping
from types import MappingProxyType

FINDINGS: Mapping[str, str] = MappingProxyType(
    {
        # When and where.
        "now": "刚刚",
        "at step {n}": "第 {n} 步",
        "since step {n}": "自第 {n} 步起",
        "at a step the log does not name": "日志未写明步数",
        "{c} on rank {n}": "rank {n} 上{c}",
        "{c} on {node}": "{node} 上{c}",
        "{c} on rank {n}: {text}": "rank {n} 上{c}：{text}",
        "{c} on {node}: {text}": "{node} 上{c}：{text}",
        "{c} on rank {n}: {c2}": "rank {n} 上{c}：{c2}",
        "{c} on {node}: {c2}": "{node} 上{c}：{c2}",
        "{c}: {text}": "{c}：{text}",
        "rank {n}": "rank {n}",
        "rank {n} (local {n2})": "rank {n}（local {n2}）",
        "rank {n} ({node})": "rank {n}（{node}）",
        "rank {n} ({node}, local {n2})": "rank {n}（{node}，local {n2}）",
        "ranks {n} and {n2}": "rank {n} 和 {n2}",
        "ranks {list} and {n}": "rank {list} 和 {n}",
        "ranks {list} and {n} more": "rank {list} 等（另有 {n} 个）",
        "{c} ({c2})": "{c}（{c2}）",
        "{c} ({place})": "{c}（{place}）",
        "{n} more": "另有 {n} 项",
        "{n} nodes": "{n} 个节点",
        "{n} steps": "{n} 步",
        "every step": "每一步",
        "every {n} steps": "每 {n} 步",
        # Numbers that are none.
        "loss": "损失",
        "grad norm": "梯度范数",
        "evaluation loss": "评估损失",
        "the loss": "损失",
        "loss is NaN": "损失为 NaN",
        "loss is infinite": "损失为无穷大",
        "loss is minus infinite": "损失为负无穷",
        "loss is NaN now": "损失变为 NaN",
        "loss is infinite now": "损失变为无穷大",
        "loss is NaN since step {n}": "损失自第 {n} 步起为 NaN",
        "loss is infinite since step {n}": "损失自第 {n} 步起为无穷大",
        "loss is minus infinite since step {n}": "损失自第 {n} 步起为负无穷",
        "grad norm is NaN now": "梯度范数变为 NaN",
        "grad norm is infinite now": "梯度范数变为无穷大",
        "grad norm is NaN since step {n}": "梯度范数自第 {n} 步起为 NaN",
        "grad norm is infinite since step {n}": "梯度范数自第 {n} 步起为无穷大",
        "grad norm is not finite": "梯度范数不是有限值",
        "loss {n} → {n2} at step {n3}": "损失在第 {n3} 步从 {n} 变为 {n2}",
        "loss was not finite at step {n}": "损失在第 {n} 步不是有限值",
        "loss {name} at step {n}": "损失在第 {n} 步出现 {name}",
        "loss was not finite for a moment": "损失曾短暂不是有限值",
        "grad norm was not finite for a moment": "梯度范数曾短暂不是有限值",
        "{c} was not finite for a moment": "{c}曾短暂不是有限值",
        "loss is NaN from step {n}": "损失从第 {n} 步起为 NaN",
        "loss is infinite from step {n}": "损失从第 {n} 步起为无穷大",
        "grad norm is NaN from step {n}": "梯度范数从第 {n} 步起为 NaN",
        "grad norm is infinite from step {n}": "梯度范数从第 {n} 步起为无穷大",
        "grad norm is NaN at step {n}": "梯度范数在第 {n} 步为 NaN",
        "grad norm is infinite at step {n}": "梯度范数在第 {n} 步为无穷大",
        "{c}, the grad norm not finite since step {n}": "{c}，梯度范数自第 {n} 步起不是有限值",
        "{c}, after one bad point": "{c}，此前有一个异常点",
        "{c}, after {n} bad points": "{c}，此前有 {n} 个异常点",
        "finite again at step {n}": "在第 {n} 步恢复为有限值",
        "finite again at step {n} (loss {n2})": "在第 {n} 步恢复为有限值（损失 {n2}）",
        "{c} and the loss field is gone, as this trainer does for a NaN loss": (
            "{c}，且损失字段消失（该训练器遇到 NaN 损失时如此）"
        ),
        "{c} and the loss prints as 0.0, which hides a NaN": "{c}，且损失打印为 0.0，掩盖了 NaN",
        "{c} while the loss still prints as {n}": "{c}，而损失仍打印为 {n}",
        "last good: step {n} with loss {n2}": "最后一个正常步：{n}，损失 {n2}",
        "last good: step {n}": "最后一个正常步：{n}",
        "last good: the point before it with loss {n}": "最后一个正常点：前一个点，损失 {n}",
        "last good: the point before it": "最后一个正常点：前一个点",
        "no point before it was finite": "此前没有任何有限值的点",
        "loss is finite again at step {n}; the bad steps were probably skipped": (
            "损失在第 {n} 步恢复为有限值；异常步可能已被跳过"
        ),
        "{c} is finite again at step {n} (loss {n2}); the bad steps were probably skipped": (
            "{c}在第 {n} 步恢复为有限值（损失 {n2}）；异常步可能已被跳过"
        ),
        "{c} is finite again at step {n}": "{c}在第 {n} 步恢复为有限值",
        "{c} is finite again at step {n} (loss {n2})": "{c}在第 {n} 步恢复为有限值（损失 {n2}）",
        "{c} is finite at step {n}": "{c}在第 {n} 步为有限值",
        "{c} is finite again now": "{c}已恢复为有限值",
        "the bad steps were probably skipped": "异常步可能已被跳过",
        "evaluation loss is NaN at step {n}": "第 {n} 步的评估损失为 NaN",
        "evaluation loss is infinite at step {n}": "第 {n} 步的评估损失为无穷大",
        "evaluation loss is NaN at step {n}, while the training loss is finite": (
            "第 {n} 步的评估损失为 NaN，而训练损失是有限值"
        ),
        "evaluation loss is infinite at step {n}, while the training loss is finite": (
            "第 {n} 步的评估损失为无穷大，而训练损失是有限值"
        ),
        "evaluation loss is {n} at a step the log does not name, while the training loss is finite": (
            "评估损失为 {n}（日志未写明步数），而训练损失是有限值"
        ),
        "evaluation loss is {n} at a step the log does not name": "评估损失为 {n}（日志未写明步数）",
        "evaluation loss is finite again: {n}": "评估损失恢复为有限值：{n}",
        "the trainer counts {n} NaN iterations at step {n2} and skipped them": (
            "训练器在第 {n2} 步统计到 {n} 次 NaN 迭代，并跳过了它们"
        ),
        "no NaN iteration is counted any more at step {n}": "第 {n} 步不再统计到 NaN 迭代",
        "the loss is no longer printed since step {n}, although {n2} lines before had it: this trainer drops a NaN "
        "loss from its line": "自第 {n} 步起不再打印损失，而此前 {n2} 行都有：该训练器会从行中去掉 NaN 损失",
        "the loss prints as exactly 0.0 since step {n}, after {n2}: a NaN that the trainer's filter hides, or a batch "
        "without labels": (
            "自第 {n} 步起损失恰好打印为 0.0，此前为 {n2}：是训练器过滤器掩盖的 NaN，或是没有标签的批次"
        ),
        "the loss prints again: {n}": "损失恢复打印：{n}",
        # Jumps, spikes, divergence.
        "loss spikes at step {n}: {n2} before, peak {n3} at step {n4}": (
            "损失在第 {n} 步突升：此前 {n2}，第 {n4} 步达到峰值 {n3}"
        ),
        "loss spikes from {n} to {n2} at step {n3}": "损失在第 {n3} 步从 {n} 突升到 {n2}",
        "loss spikes from {n} to {n2} at a step the log does not name": "损失从 {n} 突升到 {n2}（日志未写明步数）",
        "loss has not come back since its spike at step {n}: {n2} before, peak {n3}, now {n4}": (
            "损失自第 {n} 步的尖峰后没有恢复：此前 {n2}，峰值 {n3}，现在 {n4}"
        ),
        "the loss is back at {n} at step {n2}: it peaked at {n3} at step {n4} and was up for {n5} steps ({c})": (
            "损失在第 {n2} 步回到 {n}：第 {n4} 步达到峰值 {n3}，偏高持续 {n5} 步（{c}）"
        ),
        "the loss is back at {n} at step {n2}": "损失在第 {n2} 步回到 {n}",
        "since the resume at step {n} the loss is {n2}, it was {n3} at the same steps before": (
            "自第 {n} 步恢复训练以来损失为 {n2}，此前相同步数为 {n3}"
        ),
        "since the resume at step {n} the loss is {n2}, it was {n3} just before": (
            "自第 {n} 步恢复训练以来损失为 {n2}，恢复前为 {n3}"
        ),
        "the loss is in its usual band again at step {n}": "损失在第 {n} 步回到常态范围",
        "fast spike": "快速尖峰",
        "slow spike": "慢速尖峰",
        "not fully recovered": "未完全恢复",
        "not recovered": "未恢复",
        "still up": "仍然偏高",
        "related to the restart": "与重启有关",
        "it recovered by itself": "自行恢复",
        "it had not recovered when the log ended": "日志结束时仍未恢复",
        "the loss climbs": "损失上升",
        "the loss climbed at step {n} and stays": "损失在第 {n} 步上升且不回落",
        "loss climbs and stays: at least {n} since step {n2}, after {n3} at step {n4}": (
            "损失上升且不回落：自第 {n2} 步起至少 {n}，此前第 {n4} 步为 {n3}"
        ),
        "loss stays above its usual band since step {n}: at least {n2}, usually {n3}": (
            "损失自第 {n} 步起高于常态范围：至少 {n2}，通常 {n3}"
        ),
        "at least {n}, usually {n2}": "至少 {n}，通常 {n2}",
        "loss no longer improves: about {n} since step {n2}": "损失不再改善：自第 {n2} 步起约 {n}",
        "grad norm rose {n}-fold to {n2} at step {n3} while the loss is still calm at {n4}: a spike often follows "
        "within a few steps": "梯度范数在第 {n3} 步升至 {n2}（{n} 倍），损失仍平稳在 {n4}：几步之内常会出现尖峰",
        "grad norm rose {n}-fold to {n2} at step {n3}: a spike often follows within a few steps": (
            "梯度范数在第 {n3} 步升至 {n2}（{n} 倍）：几步之内常会出现尖峰"
        ),
        "grad norm rose many-fold to {n2} at step {n3}: a spike often follows within a few steps": (
            "梯度范数在第 {n3} 步大幅升至 {n2}：几步之内常会出现尖峰"
        ),
        "grad norm rose many-fold to {n2} at step {n3} while the loss is still calm at {n4}: a spike often follows "
        "within a few steps": "梯度范数在第 {n3} 步大幅升至 {n2}，损失仍平稳在 {n4}：几步之内常会出现尖峰",
        "grad norm is back at {n} at step {n2}": "梯度范数在第 {n2} 步回到 {n}",
        # Loss scale and speed.
        "the loss scale fell {n}-fold, from {n2} to {n3}, at step {n4}": (
            "损失缩放在第 {n4} 步从 {n2} 降到 {n3}（{n} 倍）"
        ),
        "{n} optimizer steps in a row were skipped for overflow since step {n2}": (
            "自第 {n2} 步起，连续 {n} 个优化步因溢出被跳过"
        ),
        "{n} optimizer steps in a row were skipped for overflow": "连续 {n} 个优化步因溢出被跳过",
        "the loss scale is at its minimum ({n}) and steps are still skipped, {n2} in a row since step {n3}: nothing "
        "is learned any more": "损失缩放已到最小值（{n}），仍在跳步，自第 {n3} 步起连续 {n2} 次：不再学到任何东西",
        "the loss scale is at its minimum ({n}) and steps are still skipped, {n2} in a row: nothing is learned any "
        "more": "损失缩放已到最小值（{n}），仍在跳步，连续 {n2} 次：不再学到任何东西",
        "the optimizer steps again at step {n}": "优化器在第 {n} 步恢复更新",
        "steps are {n} % slower than this run's normal since step {n2}": "自第 {n2} 步起，步速比该任务常态慢 {n} %",
        "steps are as fast as before again at step {n}": "第 {n} 步恢复原来的速度",
        "training went on after it, at step {n}": "其后训练继续，在第 {n} 步",
        "the run was started again and trains at step {n}": "任务已重启，正在第 {n} 步训练",
        # The monitor.
        "stalled at step {n}, no progress for {s}": "在第 {n} 步停滞，{s}没有进展",
        "stalled, no progress for {s}": "停滞，{s}没有进展",
        "the run is down at step {n}: its processes are gone": "任务在第 {n} 步停止：进程已不存在",
        "the run is down: its processes are gone": "任务已停止：进程已不存在",
        "nobody knows whether it trains": "无人知道它是否在训练",
        "the same goes for {n} more runs: {words}": "另有 {n} 个任务也是如此：{words}",
        "the same goes for {name}": "{name} 也是如此",
        "the watcher on {node} fell silent {s} ago": "{node} 上的监视进程在 {s}前失去消息",
        "no watcher of the run can be heard at step {n}; nobody knows whether it trains": (
            "在第 {n} 步之后听不到任何监视进程；无人知道它是否在训练"
        ),
        "no watcher of the run can be heard; nobody knows whether it trains": (
            "听不到该任务的任何监视进程；无人知道它是否在训练"
        ),
        "the run trains again in attempt {n}, now at step {n2}": "任务在第 {n} 次启动中恢复训练，现在第 {n2} 步",
        "the run finished at step {n}": "任务在第 {n} 步完成",
        "the run has ended": "任务已结束",
        "progress again in attempt {n}, at step {n2}": "第 {n} 次启动恢复进展，第 {n2} 步",
        "progress again, at step {n}": "恢复进展，第 {n} 步",
        "new steps again, now at step {n}": "又有新的步，现在第 {n} 步",
        "still at step {n}, but {s} without a step are allowed now": "仍在第 {n} 步，但现在允许 {s}没有新步",
        "its watcher is heard again": "其监视进程恢复消息",
        "no watcher of the run can be heard at step {n}": "第 {n} 步时听不到该任务的任何监视进程",
        "no watcher of the run can be heard": "听不到该任务的任何监视进程",
        "it had stalled at step {n} before that": "此前已在第 {n} 步停滞",
        "it had stalled before that": "此前已停滞",
        "it no longer shows": "不再出现",
        "the nodes were asked for the cause": "已向各节点询问原因",
        "no progress for {s} during {c}; {s2} are usual at most for this run": (
            "在{c}期间 {s}没有进展；该任务通常至多 {s2}"
        ),
        "no progress for {s}; {s2} are usual at most for this run": "{s}没有进展；该任务通常至多 {s2}",
        "no first step for {s}; {s2} are allowed": "{s}没有出现第一步；允许 {s2}",
        "the watcher on {node}, which reads its steps, was last heard {s} ago": (
            "读取其步数的监视进程（{node}）最近一次消息在 {s}前"
        ),
        "of the {n} watchers that read its steps none was heard for {s}": (
            "读取其步数的 {n} 个监视进程在 {s}内都没有消息"
        ),
        "no watcher of it is heard any more": "已听不到它的任何监视进程",
        "no step was read for {s}, and no watcher that reads the steps can be heard": (
            "{s}没有读到新步，也听不到读取步数的监视进程"
        ),
        "nobody knows whether the run trains": "无人知道任务是否在训练",
        "step {n}, the last one {s} ago": "第 {n} 步，最近一次在 {s}前",
        "step {n}, the last one {s} ago; {n2} watcher(s) silent: {list}": (
            "第 {n} 步，最近一次在 {s}前；{n2} 个监视进程无消息：{list}"
        ),
        "{n} watcher(s) silent: {list}": "{n} 个监视进程无消息：{list}",
        "its log is in no known form, so its progress is unknown": "日志格式未知，因此进展不明",
        "every process of the run is gone, and it did not say that it finished": (
            "任务的所有进程都已不存在，且没有表明已完成"
        ),
        "nothing has been heard of it yet": "还没有任何消息",
        "starting for {s}": "已启动 {s}",
        "a step": "一步",
        # The watchers.
        "the disk of {folder} on {node} is full in about {s} at this rate: {size} free, {rate} more every hour": (
            "{node} 上 {folder} 所在磁盘按此速度约 {s}后写满：剩余 {size}，每小时增加 {rate}"
        ),
        "the disk of {folder} on {node} no longer fills up at that rate": "{node} 上 {folder} 所在磁盘不再以此速度增长",
        "the disk of {folder} is full in about {s} at this rate: {size} free, {rate} more every hour": (
            "{folder} 所在磁盘按此速度约 {s}后写满：剩余 {size}，每小时增加 {rate}"
        ),
        "the next checkpoint of {size} will not fit into {folder} on {node}: {free} free": (
            "下一个检查点（{size}）放不进 {node} 上的 {folder}：剩余 {free}"
        ),
        "the next checkpoint of {size} will not fit into {folder}: {free} free": (
            "下一个检查点（{size}）放不进 {folder}：剩余 {free}"
        ),
        "the next checkpoint fits again into {folder}": "下一个检查点又放得进 {folder}",
        "the GPU driver of {node} answers again": "{node} 的 GPU 驱动恢复应答",
        "the GPU driver of {node}: {problem}": "{node} 的 GPU 驱动：{problem}",
        "GPU {n} of {node} answers again": "{node} 的 GPU {n} 恢复应答",
        "GPU {n} of {node}: {problem}": "{node} 的 GPU {n}：{problem}",
        "GPU {n}: {problem}": "GPU {n}：{problem}",
        "GPU is lost": "GPU 失联",
        "GPU requires reset": "GPU 需要复位",
        "`{command}` ended with exit code {n} after {s}": "`{command}` 在 {s}后以退出码 {n} 结束",
        "about {c} missing after a rotation of the log: {c2}": "日志轮转后约有{c}丢失：{c2}",
        "{n} loss lines are": " {n} 行损失",
        "a loss line is": "一行损失",
        "it goes on at step {n} after step {n2}": "在第 {n2} 步之后直接到第 {n} 步",
        # Rules.
        "first non-finite train loss": "训练损失首次不是有限值",
        "evaluation loss is not finite": "评估损失不是有限值",
        "grad norm not finite at {n} of {n2} points in a row": "梯度范数连续 {n}/{n2} 个点不是有限值",
        "{n} above the median of the points before, limit {n2}": "比此前各点的中位数高 {n}，阈值 {n2}",
        "{n} above the median of the points before, which did not vary at all": (
            "比此前各点的中位数高 {n}，而此前毫无波动"
        ),
        "{n} times the usual spread above the median of the points before, limit {n2}": (
            "比此前各点的中位数高出 {n} 倍常态波动，阈值 {n2}"
        ),
        "{n} above all {n2} points before it, limit {n3}": "比此前全部 {n2} 个点高 {n}，阈值 {n3}",
        "{n} points {n2} above all before, limit {n3}": "{n} 个点比此前全部高 {n2}，阈值 {n3}",
        "{n} above the level before it after {n2} steps": "{n2} 步后仍比此前水平高 {n}",
        "minimum of {n} points {n2} above, limit {n3}": "{n} 个点的最小值高 {n2}，阈值 {n3}",
        "five points above {n} times the usual {n2}": "五个点高于常态 {n2} 的 {n} 倍",
        "recent minimum {n} above the mean, limit {n2}": "近期最小值比均值高 {n}，阈值 {n2}",
        "{n} of {n2} points above {n3} medians of {n4}": "{n2} 个点中有 {n} 个高于中位数 {n4} 的 {n3} 倍",
        "grew {n}-fold or more at each of {n2} points": "连续 {n2} 个点每次增长 {n} 倍以上",
        "number of nan iterations {n} → {n2}, {n3} lines in a row": "nan 迭代数 {n} → {n2}，连续 {n3} 行",
        "no loss on {n} lines after {n2} lines with one": "{n2} 行有损失之后 {n} 行没有",
        "0.0 at {n} points in a row after a median of {n2}": "中位数 {n2} 之后连续 {n} 个点为 0.0",
        "fell by more than {n}": "下降超过 {n}",
        "{n} skips in a row, {n2} allowed": "连续跳过 {n} 次，允许 {n2} 次",
        "a skip at scale {n}, minimum {n2}": "缩放为 {n} 时跳步，最小值 {n2}",
        "log loss slope {n} per step over {n2} buckets, limit {n3}": "{n2} 段的对数损失斜率每步 {n}，阈值 {n3}",
        "{n} of {n2} points below {n3} of the median, limit {n4}": "{n2} 个点中 {n} 低于中位数的 {n3}，阈值 {n4}",
        "a known line in the log ({name})": "日志中的已知行（{name}）",
        "a known line in the log ({name}) that names a cause": "日志中指明原因的已知行（{name}）",
        "a known line in the log ({name}) that follows from a failure": "日志中由故障引出的已知行（{name}）",
        "{name}, confidence {c}": "{name}，把握{c}",
        "stalled, {s} allowed": "停滞，允许 {s}",
        "run_down, {s} allowed": "任务停止，允许 {s}",
        "run_down": "任务停止",
        "watcher_silent, {s} allowed": "监视进程无消息，允许 {s}",
        "watcher_silent": "监视进程无消息",
        "no progress for {s}, {s2} allowed": "{s}没有进展，允许 {s2}",
        "steps go on behind a hole within a minute after the file was cut or replaced": (
            "文件被截断或替换后一分钟内，步数在缺口之后继续"
        ),
        "free room over the last looks, as a straight line": "按最近几次剩余空间的直线推算",
        "free room against the size of the newest checkpoint": "剩余空间与最新检查点大小相比",
        "what the driver says, or that it says nothing": "驱动所说的，或没有应答",
        "the launched command ended with a status that is not 0": "启动的命令以非 0 状态结束",
        "in consequence of another failure, {c}": "因另一故障，{c}",
        # What changed.
        "new attempt": "新的启动",
        "new attempt: {text}": "新的启动：{text}",
        "learning rate: {x} → {y} at step {n}": "学习率：{x} → {y}，第 {n} 步",
        "learning rate: {text}": "学习率：{text}",
        "grad norm: {x} ({n}-fold) at step {n2}": "梯度范数：{x}（{n} 倍），第 {n2} 步",
        "grad norm: {text}": "梯度范数：{text}",
        "batch size: {text}": "批大小：{text}",
        "loss scale: {text}": "损失缩放：{text}",
        "sequence length: {text}": "序列长度：{text}",
        "skipped steps: {text}": "跳过的步：{text}",
        "learning-rate schedule: {c}": "学习率计划：{c}",
        "learning-rate schedule: {text}": "学习率计划：{text}",
        "warning line: {text}": "警告行：{text}",
        "epoch: {text}": "轮次：{text}",
        "speed: {text}": "速度：{text}",
        "driver: {text}": "驱动：{text}",
        "{c} at step {n}": "{c}，第 {n} 步",
        "decay from {n}": "从 {n} 开始衰减",
        "rises again from {n}": "从 {n} 再次上升",
        "{n} for overflow": "{n} 次，因溢出",
        "unchanged": "未变",
        "keep-last-{n} deletes it in about {s} at this pace": "按此速度，keep-last-{n} 约 {s}后会删除它",
        "keep-last-{n} has probably deleted it": "keep-last-{n} 可能已删除它",
        "step {n} is the newest before it": "此前最新的是第 {n} 步",
        "step {n} is the newest before it, keep-last-{n2} deletes it in about {s}": (
            "此前最新的是第 {n} 步，keep-last-{n2} 约 {s}后会删除它"
        ),
        "step {n} is the newest the log tells of": "日志写明的最新一步是 {n}",
        "step {n} is the newest before the bad step {n2}": "第 {n} 步是坏步 {n2} 之前最新的一个",
        "{c}; its last loss was {n}, at step {n2}": "{c}；其最后的损失为 {n}（第 {n2} 步）",
        "{c}; its loss was not finite any more at step {n}, so take an older one": (
            "{c}；其损失在第 {n} 步已不是有限值，请用更早的检查点"
        ),
        "{n} at step {n2}": "{n}（第 {n2} 步）",
        "its loss lines are printed": "其损失行有打印",
        "one for each of {n} ranks": "{n} 个 rank 各一个文件",
        "{n} ranks share one file": "{n} 个 rank 共用一个文件",
        "{n} ranks share {n2} files": "{n} 个 rank 共用 {n2} 个文件",
    }
)
