"""How a loss is printed and what to check before a restart, and what is wrong with a question, in Chinese."""

from collections.abc import Mapping
from types import MappingProxyType

CHECKS: Mapping[str, str] = MappingProxyType(
    {
        "{run} prints only a progress bar, so there is no loss to draw: {c}": (
            "{run} 只打印进度条，因此没有可画的损失：{c}"
        ),
        "{run} prints steps but no training loss in this log, so there is no loss to draw: {c}": (
            "{run} 的日志打印了步但没有训练损失，因此没有可画的损失：{c}"
        ),
        "{run} prints no step and no training loss in this log, so there is no loss to draw: {c}": (
            "{run} 的日志既没有步也没有训练损失，因此没有可画的损失：{c}"
        ),
        "print a line every few steps at INFO": "每隔几步以 INFO 级别打印一行",
        "the Trainer prints it every `logging_steps`": "Trainer 每 `logging_steps` 步打印一次",
        "a bar holds at most a loss that is overwritten; with the Trainer these arguments print lines": (
            "进度条里的损失会被覆盖；使用 Trainer 时这些参数可打印成行"
        ),
        "DeepSpeed prints step, skipped and lr, never the loss: print it in your own loop": (
            "DeepSpeed 打印 step、skipped 和 lr，从不打印损失：请在自己的循环中打印"
        ),
        "Megatron prints it on the last rank": "Megatron 在最后一个 rank 打印",
        "verl prints its metrics with the console logger": "verl 用 console logger 打印指标",
        "a Lightning bar is overwritten; a CSV logger keeps lines": "Lightning 进度条会被覆盖；CSV logger 会保留各行",
        "torchtitan prints it every `log_freq`": "torchtitan 每 `log_freq` 步打印一次",
        "MLLOG prints a loss only where the benchmark does": "MLLOG 只在基准测试打印时才有损失",
        "One file per rank, named by RANK (`train_rank${RANK}.log`), keeps ranks apart.": (
            "每个 rank 一个文件，按 RANK 命名（ `train_rank${RANK}.log` ），便于区分。"
        ),
        "global batch size": "全局批大小",
        "micro batch × accumulation × data-parallel size must be the same as before": (
            "micro batch × 累积 × 数据并行数必须与之前相同"
        ),
        "gradient accumulation": "梯度累积",
        "another number of GPUs needs another accumulation": "GPU 数不同则累积也要不同",
        "after a resume it must go on from the schedule, not from its start": (
            "恢复后必须接着学习率计划，而不是从头开始"
        ),
        "a resume may begin the search for it again": "恢复后可能重新搜索",
        "checkpoint to resume from": "用于恢复的检查点",
        "before the bad step, with a loss that was finite, and complete on every rank": (
            "在异常步之前，损失仍为有限值，且每个 rank 都完整"
        ),
        "log files": "日志文件",
        "one for each rank, opened to append (`>>`): ranks stay apart, and a rotation loses least": (
            "每个 rank 一个，以追加方式（ `>>` ）打开：便于区分，轮转时丢失最少"
        ),
        "world size": "world size",
        "parallel sizes must divide it": "必须能被各并行数整除",
        "log level": "日志级别",
        "INFO, so that step, loss, lr and grad norm are printed": "INFO，这样才会打印步、损失、学习率和梯度范数",
        "logging interval": "打印间隔",
        "every 10 steps or more often": "每 10 步或更频繁",
        "versions": "版本",
        "the same on every node as in the attempt that was good": "每个节点都与正常的那次启动相同",
        # What was asked.
        "A name with spaces needs quotes: `{words}`": "带空格的名称需要引号： `{words}`",
        "That is longer than {n} characters": "超过 {n} 个字符",
        "One run at a time: I do not know what to do with `{extra}`": "一次只能一个任务：我不知道如何处理 `{extra}`",
        "That lists all runs. For one run: `{loss} {name}`, or `{stall} {name}`": (
            "那会列出所有任务。单个任务用 `{loss} {name}` 或 `{stall} {name}`"
        ),
        "That lists all runs": "那会列出所有任务",
        "For one run: `{loss} {name}`, or `{stall} {name}`": "单个任务用 `{loss} {name}` 或 `{stall} {name}`",
        "There is no state `{name}`; there are {list}": "没有状态 `{name}`；可用的有 {list}",
        "One run at a time; both on one chart: `{words}`": "一次只能一个任务；两个画在一张图上： `{words}`",
        "One range of steps at a time: `--steps 41000..41300`": "一次只能一个步数范围： `--steps 41000..41300`",
        "One metric at a time: `--metric grad_norm`": "一次只能一个指标： `--metric grad_norm`",
        "There is no option `--{name}`": "没有选项 `--{name}`",
        "There are: {list}": "可用的有：{list}",
        "This command has no options": "该命令没有选项",
        "Did you mean `{words}`? For one run: `{loss} {name}`, or `{stall} {name}`": (
            "你是指 `{words}` 吗？单个任务用 `{loss} {name}` 或 `{stall} {name}`"
        ),
        "Did you mean `{words}`?": "你是指 `{words}` 吗？",
        "`--{name}` needs a value: `{example}`": "`--{name}` 需要一个值： `{example}`",
        "`--{name}` takes no value": "`--{name}` 不接受值",
        "`--vs {run}` is the same run; name another one": "`--vs {run}` 是同一个任务；请指定另一个",
        "There is no metric `{name}`; there are `loss`, `grad_norm` and `lr`": (
            "没有指标 `{name}` ；可用的有 `loss` 、 `grad_norm` 和 `lr`"
        ),
        "There is no metric `{name}`": "没有指标 `{name}`",
        "there are `loss`, `grad_norm` and `lr`": "可用的有 `loss` 、 `grad_norm` 和 `lr`",
        "Take either `--last` or `--steps`, not both": "`--last` 和 `--steps` 只能选一个",
        "This log prints no times, so `--last` needs a number of points: `--last 500`": (
            "该日志没有时间，因此 `--last` 需要点数： `--last 500`"
        ),
        "`--last {text}` is neither a time nor a number of points: `--last 2h` or `--last 500`": (
            "`--last {text}` 既不是时间也不是点数： `--last 2h` 或 `--last 500`"
        ),
        "`--steps {text}` is no range: `--steps 41000..41300`; one end may be left out": (
            "`--steps {text}` 不是范围： `--steps 41000..41300` ；可省略一端"
        ),
        "`--steps {text}` is no range: `--steps 41000..41300`": "`--steps {text}` 不是范围： `--steps 41000..41300`",
        "one end may be left out": "可省略一端",
        "`--steps {text}` ends before it begins": "`--steps {text}` 的终点在起点之前",
        "`--last` needs at least 2 points: `--last 500`, or a time such as `--last 2h`": (
            "`--last` 至少需要 2 个点： `--last 500` ，或时间如 `--last 2h`"
        ),
        "I can see no channel of that name; if it is private, `/invite @runwatch` there": (
            "我看不到这个名称的频道；若是私有频道，请在其中 `/invite @runwatch`"
        ),
        "I can see no such channel": "我看不到这个频道",
        "that channel is archived": "该频道已归档",
        "I am no member there: `/invite @runwatch` helps": "我不是该频道的成员：请在其中 `/invite @runwatch`",
        "Nothing of `{name}` was closed": "`{name}` 没有已关闭的事件",
        "The list can be sorted by {list}": "列表可按 {list} 排序",
        "Pages are counted from 1: `--page 2`": "页码从 1 开始： `--page 2`",
        "A label is named so: `--label team=vision`": "标签这样写： `--label team=vision`",
        "A label is named so: `label:team=vision`": "标签这样写： `label:team=vision`",
        "An owner is named so: `owner:bob`": "负责人这样写： `owner:bob`",
        "A rule is a run's name or a pattern of at most {n} characters: `llama-*`": (
            "规则是任务名称或不超过 {n} 个字符的模式： `llama-*`"
        ),
        "A rule and a channel: `/runwatch route llama-* #llama`, or `here` for this channel": (
            "规则加频道： `/runwatch route llama-* #llama` ，或用 `here` 表示该频道"
        ),
        "There are {n} rules already; `/runwatch unroute RULE` takes one away": (
            "已有 {n} 条规则； `/runwatch unroute RULE` 可删除一条"
        ),
        "There are {n} rules already": "已有 {n} 条规则",
        "`/runwatch unroute RULE` takes one away": "`/runwatch unroute RULE` 可删除一条",
        "There is no rule `{rule}`; `/runwatch route` lists them": "没有规则 `{rule}` ； `/runwatch route` 列出全部",
        "There is no rule `{rule}`": "没有规则 `{rule}`",
        "`/runwatch route` lists them": "`/runwatch route` 列出全部",
        "`{word}` is no channel: `#training`, its id, or `here`": "`{word}` 不是频道： `#training` 、频道 id 或 `here`",
        "I am not a member of it": "我不是它的成员",
        "I know no time zone `{word}`: `UTC`, `Europe/Paris`, `Asia/Shanghai`": (
            "我不认识时区 `{word}` ： `UTC` 、 `Europe/Paris` 、 `Asia/Shanghai`"
        ),
        "`{word}` is no time of day: `9` or `09:30`": "`{word}` 不是时刻： `9` 或 `09:30`",
        "`/runwatch digest daily`, `digest weekly 09:00 Europe/Paris` or `digest off`": (
            "`/runwatch digest daily` 、 `digest weekly 09:00 Europe/Paris` 或 `digest off`"
        ),
        "I do not know what to do with `{words}`": "我不知道如何处理 `{words}`",
        "I do not know `{word}`": "我不认识 `{word}`",
        "`{text}` is no time: `15m`, `1h` or `2d`": "`{text}` 不是时间： `15m` 、 `1h` 或 `2d`",
        "A mute ends after a week at the latest, so that nothing is forgotten: `7d`": ("静音最长一周，以免遗忘： `7d`"),
        "Which node? `/runwatch unmute node node17`": "哪个节点？ `/runwatch unmute node node17`",
        "Nothing is open": "没有未解决的事件",
        "Nothing is open of `{run}`": "`{run}` 没有未解决的事件",
        "{n} incidents of `{run}` are open: mention me in the thread of the one you mean": (
            "`{run}` 有 {n} 个未解决的事件：请在对应的消息串里提及我"
        ),
        "Limits are set so: `stall=30m first=2h phase=1h`; `stall=` takes one back": (
            "这样设置上限： `stall=30m first=2h phase=1h` ； `stall=` 可撤销一个"
        ),
        "Limits are set so: `stall=30m first=2h phase=1h`": "这样设置上限： `stall=30m first=2h phase=1h`",
        "`stall=` takes one back": "`stall=` 可撤销一个",
        "Thresholds are set so: `jump=0.5 spike=8 floor=10m`; `jump=` takes one back": (
            "这样设置阈值： `jump=0.5 spike=8 floor=10m` ； `jump=` 可撤销一个"
        ),
        "a number above 0, such as 0.5": "大于 0 的数，如 0.5",
        "a time such as 90s or 10m": "时间，如 90s 或 10m",
        "I speak {text}; `auto` takes a choice back": "我会说 {text}； `auto` 可撤销选择",
        "`{name}`: {c}": "`{name}` ：{c}",
        "a time between 30s and 7d, such as 20m or 2h": "30s 到 7d 之间的时间，如 20m 或 2h",
        "there are {list}": "可用的有 {list}",
        "`/runwatch audit` shows the newest entries, `/runwatch audit verify` checks all of them": (
            "`/runwatch audit` 显示最新记录， `/runwatch audit verify` 检查全部"
        ),
        "No run and no framework `{words}`": "没有任务或框架 `{words}`",
        "That note is longer than 500 characters": "备注超过 500 个字符",
        # Who may not.
        "I do not know yet which workspace I belong to, because Slack has not told me. Please try again": (
            "我还不知道自己属于哪个工作区，因为 Slack 尚未告知。请再试一次"
        ),
        "Please try again": "请再试一次",
        "I do not know yet which workspace I belong to, because Slack has not told me": (
            "我还不知道自己属于哪个工作区，因为 Slack 尚未告知"
        ),
        "Only people may ask me": "只有人可以向我提问",
        "Only members of the workspace I belong to may ask me": "只有我所属工作区的成员可以向我提问",
        "Only full members of this workspace may ask me, and guests whom an admin named": (
            "只有该工作区的正式成员和管理员指定的访客可以向我提问"
        ),
        "I cannot ask Slack who you are ({why}), so I do nothing": "我无法向 Slack 查询你是谁（{why}），所以什么都不做",
        "Please try again in a minute": "请过一分钟再试",
        # What Slack did not take.
        "The form did not open in time; please press again": "表单没有及时打开；请再按一次",
        "The form did not open in time": "表单没有及时打开",
        "please press again": "请再按一次",
        "The answer cannot be shown here: I am not a member of this channel": "无法在这里显示答案：我不是该频道的成员",
        "The file `{file}` cannot be shown here: I am not a member of this channel": (
            "无法在这里显示文件 `{file}` ：我不是该频道的成员"
        ),
        "`/invite @runwatch` helps": "`/invite @runwatch` 可解决",
        "The answer cannot be shown: my Slack app lacks the scope `{scope}`": (
            "无法显示答案：我的 Slack 应用缺少权限 `{scope}`"
        ),
        "The file `{file}` cannot be shown: my Slack app lacks the scope `{scope}`": (
            "无法显示文件 `{file}` ：我的 Slack 应用缺少权限 `{scope}`"
        ),
        "`runwatch doctor` checks all": "`runwatch doctor` 可全面检查",
        "The answer did not get through to Slack ({why})": "答案没有送达 Slack（{why}）",
        "The file `{file}` did not get through to Slack ({why})": "文件 `{file}` 没有送达 Slack（{why}）",
        "Please ask again": "请再问一次",
    }
)
