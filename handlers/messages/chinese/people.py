"""What one person reads in Chinese: help, lists, routes, summaries, refusals, mistakes."""

from collections.abc import Mapping
from types import MappingProxyType

PEOPLE: Mapping[str, str] = MappingProxyType(
    {
        # The list of runs.
        "*{found} of {known}*.": "*{found}/{known}* 。",
        "*{known}*{troubled}.": "*{known}* {troubled}。",
        ", {n} with an open incident": "（其中 {n} 个有未解决的事件）",
        "of {n}": "/ {n}",
        "{n} open": "{n} 个未解决",
        "{n} tokens/s": "{n} tokens/s",
        "{n} s a step": "每步 {n} 秒",
        "sorted by {sort}": "按{sort}排序",
        "state {state}": "状态：{state}",
        "label {label}": "标签 {label}",
        "page {page} of {last}": "第 {page}/{last} 页",
        "there is no page {wanted}, this is the only one": "没有第 {wanted} 页，只有这一页",
        "there is no page {wanted}, this is the last": "没有第 {wanted} 页，这是最后一页",
        "By {sort}": "按{sort}",
        # Home.
        "🔴 *{count}*{nobody} · {runs}": "🔴 *{count}* {nobody} · {runs}",
        ", all taken": "（都有人接手）",
        ", {n} without an owner": "（{n} 个无人接手）",
        ", without an owner": "（无人接手）",
        "🔕 {what}, {span} more, asked by {who}{why}": "🔕 {what}，还有 {span}（{who} 设置{why}）",
        "*Nothing is watched yet.* On a training node: `runwatch watch --run NAME --log 'train*.log'`. "
        "When something goes wrong, its thread opens by itself.": (
            "*还没有看护任何任务。* 在训练节点上： `runwatch watch --run NAME --log 'train*.log'` 。"
            "出问题时，消息串会自动打开。"
        ),
        "and {n} more: `/{p}runs`": "另有 {n} 个： `/{p}runs`",
        "attempt {n}": "第 {n} 次启动",
        "log `{log}`": "日志 `{log}`",
        ": {reason}": "：{reason}",
        # Forms.
        "This {trouble}, until it is over": "这个{trouble}，直到结束",
        "Every {trouble} of this run": "该任务的所有{trouble}",
        "Everything that concerns {node} alone": "仅与 {node} 有关的一切",
        "No progress for": "多久没有进展",
        "by the run's own pace: between 3 and 20 minutes": "按任务自身的节奏：3 到 20 分钟",
        "Before the first step": "第一步之前",
        "45 minutes": "45 分钟",
        "An evaluation or a save": "评估或保存",
        "at least 30 minutes, or three of its longest": "至少 30 分钟，或最长一次的三倍",
        "How long *{run}* may stand before its thread opens. Empty: as for every run.": (
            "*{run}* 停多久才打开消息串。留空：与所有任务相同。"
        ),
        "Patience": "耐心",
        "Set": "设置",
        "• {label}: *{span}*": "• {label}： *{span}*",
        "• {label}: {default}, as for every run": "• {label}：{default}，与所有任务相同",
        "From now on this holds for *{run}*:": "从现在起 *{run}* 适用：",
        "Now this holds for *{run}*:": "*{run}* 目前适用：",
        "`/runwatch patience {run} stall=30m first=2h phase=1h` changes it.": (
            "`/runwatch patience {run} stall=30m first=2h phase=1h` 可修改。"
        ),
        # Languages.
        "To you I speak {language}": "我对你说{language}",
        "in this channel {language}": "在该频道说{language}",
        "in this channel the language of the workspace": "在该频道说工作区的语言",
        "{said}. {how}": "{said}。{how}",
        "`/runwatch language zh` or `en` chooses yours, `auto` takes it back; with `here` behind it, the channel's.": (
            "`/runwatch language zh` 或 `en` 选择你的语言， `auto` 撤销；后面加 `here` 则是频道的。"
        ),
        "I no longer speak a language of your own choice to you.": "我不再对你使用你所选的语言。",
        "From now on I speak {language} to you.": "从现在起我对你说{language}。",
        "What all can read stays in the channel's language: `/runwatch language {language} here` changes that.": (
            "所有人都能看到的内容仍用频道的语言： `/runwatch language {language} here` 可更改。"
        ),
        "This channel reads the language of the workspace again.": "该频道恢复使用工作区的语言。",
        "From now on I speak {language} in this channel; open threads follow with their next change.": (
            "从现在起我在该频道说{language}；已打开的消息串在下次更新时改用。"
        ),
        # Thresholds.
        "Thresholds": "阈值",
        "As for every run: {value}": "与所有任务相同：{value}",
        "A jump is marked when the loss moves by more than": "损失变化超过多少时标记跳变",
        "A spike stands so many times its usual spread above": "尖峰高出常态波动的倍数",
        "A spike opens a thread when it is so far above": "尖峰高出多少时打开消息串",
        "Divergence: the loss stays so far above its best": "发散：损失持续高出最佳值多少",
        "The shortest time without progress that is a stall": "多久没有进展才算停滞（最短）",
        "From when on the numbers of *{run}* are called wrong. Empty: as for every run.": (
            "*{run}* 的数值从何时起算异常。留空：与所有任务相同。"
        ),
        "`/runwatch thresholds {run} {example}` changes it.": "`/runwatch thresholds {run} {example}` 可修改。",
        "No watcher of it is heard now; it holds as soon as one is.": "目前听不到它的监视进程；一旦听到即生效。",
        "All its watchers ({n}) judge by it already.": "它的全部 {n} 个监视进程已按此判断。",
        "{n} of {all} watchers judge by it already, the others with their next heartbeat.": (
            "{all} 个监视进程中有 {n} 个已按此判断，其余在下次心跳时生效。"
        ),
        "from when on its numbers are called wrong": "它的数值从何时起算异常",
        # Who may do what.
        "• *{role}*: {may}{named}": "• *{role}* ：{may}{named}",
        " ({named}{more})": "（{named}{more}）",
        "ask everything, take an incident, give it back, write notes": "提问、接手和交还事件、写备注",
        "also snapshot, mute, close, reopen": "还可以保存现场、静音、关闭、重新打开",
        "also stop a run, mute a node, set patience and thresholds": "还可以停止任务、静音节点、设置耐心和阈值",
        "also routes, digests, the channel's language, the audit": "还可以管理路由、汇总、频道语言和审计",
        "Roles are set in Runwatch's settings, by person or user group; they are asked for again at each click.": (
            "角色在 Runwatch 设置中按人或用户组指定；每次点击都会重新核对。"
        ),
        "*The newest {n} entries.*": "*最新的 {n} 条记录。*",
        "Nothing was done yet.": "还没有任何操作。",
        " All {n} fit together; the newest hash is `{h}`.": " 全部 {n} 条前后吻合；最新哈希为 `{h}` 。",
        " *The chain is broken at* `{at}`: entries were changed or taken out.": (
            " *链条在此断开：* `{at}` ，有记录被改动或删除。"
        ),
        "{at} {who} ({role}): {action}{words} · {how}{refused}": (
            "{at} {who}（{role}）：{action}{words} · {how}{refused}"
        ),
        " · nothing came of it": " · 未执行",
        " · refused": " · 已拒绝",
        # Routes.
        "Every run goes to the default channel. `/runwatch route llama-* #llama` makes a rule.": (
            "所有任务都发到默认频道。 `/runwatch route llama-* #llama` 可新建规则。"
        ),
        "*{n} rules:*": "*{n} 条规则：*",
        ", set by {who}": "，由 {who} 设置",
        "The first that fits counts: a run's exact name, its own setting, labels, owners, then the longest pattern. "
        "All others go to the default channel.": (
            "以最先匹配的为准：任务的确切名称、任务自己的设置、标签、负责人，然后是最长的模式。其余发到默认频道。"
        ),
        "Incidents of `{rule}` go to {channel} from now on.": "从现在起 `{rule}` 的事件发到 {channel}。",
        "But {trouble}: until then they go to the fallback channel.": "但{trouble}：在此之前发到备用频道。",
        "The rule `{rule}` is gone. Open threads stay where they are.": (
            "规则 `{rule}` 已删除。已打开的消息串保持不动。"
        ),
        "No run of today fits it.": "目前没有任务匹配它。",
        "Today that is {named}{more}; open threads stay where they are.": (
            "目前匹配 {named}{more}；已打开的消息串保持不动。"
        ),
        # Summaries.
        "Yesterday": "昨天",
        "The last week": "上周",
        ", nothing went wrong": "，一切正常",
        "no run was heard of": "没有任务",
        " ({counts})": "（{counts}）",
        " and {n} other kinds": "以及另外 {n} 种",
        ", in {n} runs": "，涉及 {n} 个任务",
        "{named}{more}{of}.": "{named}{more}{of}。",
        "half were over within {span}": "一半在 {span}内结束",
        "somebody had one after {span}, usually": "通常 {span}后有人接手",
        "about {hours} GPU-hours lost": "约损失 {hours} GPU 小时",
        "{said}.": "{said}。",
        "*Still open*": "*仍未解决*",
        "{a} to {b}": "{a} 至 {b}",
        "{n} muted: `/runwatch mutes`": "{n} 个静音： `/runwatch mutes`",
        "*Runwatch is here* and has told of nothing yet.": "*Runwatch 已就位*，还没有可报告的事。",
        "*Nothing to tell* for {span}, and this message got through.": "已有 {span}*无事可报*，这条消息也顺利送达。",
        "runs in training: {n}": "训练中的任务：{n}",
        "watchers heard: {n}": "有消息的监视器：{n}",
        "watchers silent: {n}": "无消息的监视器：{n}",
        "`/runwatch digest off` ends these": "`/runwatch digest off` 可停止",
        "each day at {time} ({zone})": "每天 {time}（{zone}）",
        "each Monday at {time} ({zone})": "每周一 {time}（{zone}）",
        "This channel gets a summary {when}; `/runwatch digest off` ends it.": (
            "该频道将在{when}收到汇总； `/runwatch digest off` 可停止。"
        ),
        "This channel gets no summary any more.": "该频道不再收到汇总。",
        "This channel gets no summary. `/runwatch digest daily 09:00 Europe/Paris` changes that.": (
            "该频道没有汇总。 `/runwatch digest daily 09:00 Europe/Paris` 可开启。"
        ),
        "This channel gets a summary {when}{who}.": "该频道在{when}收到汇总{who}。",
        ", asked by {who}": "（{who} 设置）",
        # Help.
        "*Everything else:*": "*其他：*",
        "Everything I can be asked:": "可以问我的一切：",
        "*`{name}`*  {summary}.": "*`{name}`*  {summary}。",
        "*In an incident:*": "*事件中：*",
        "*After it:* `{name} checklist RUN` before a restart, `{name} report RUN` for what happened.": (
            "*事后：* 重启前用 `{name} checklist RUN` ，事情经过用 `{name} report RUN` 。"
        ),
        "`{name} all` shows every word and option, `{name} loss` or `{name} mute` just one.": (
            "`{name} all` 列出所有用法和选项， `{name} loss` 或 `{name} mute` 只讲一个。"
        ),
        "Help, and everything that is not a question about one run": "帮助，以及不针对单个任务的一切",
        "The loss of a run: normal, watch or wrong, with its chart": "任务的损失：正常、留意或异常，附曲线",
        "Hung or busy, since when, and which rank stopped first": "是否卡住、从何时起、哪个 rank 最先停下",
        "Save the evidence on every node of a run, now": "立即在任务的每个节点上保存现场",
        "Every run: state, step, loss, speed, end in sight, last progress, open incidents": (
            "所有任务：状态、步、损失、速度、剩余时间、最近进展、未解决的事件"
        ),
        "{summary}.": "{summary}。",
        "quiet until a time; all is still recorded": "静音到某个时间；一切照常记录",
        "ends the quiet": "结束静音",
        "every quiet that holds": "列出所有静音",
        "you have its incident: reminders stop": "接手它的事件：不再提醒",
        "you give it back": "交还",
        "a line in its thread and report": "在消息串和报告中写一行",
        "it is over": "关闭事件",
        "it is not over": "事件并未结束",
        "what to look at before a restart, filled in from the log": "重启前要检查什么，按日志填好",
        "what happened, as HTML with charts and as Markdown": "发生了什么，HTML（含图表）和 Markdown",
        "which channel hears of a run": "任务的事件发到哪个频道",
        "takes a route back": "删除一条路由",
        "a summary in this channel, each day or week": "该频道每天或每周的汇总",
        "how long it may stand": "可以停多久",
        "which language I speak to you, or in this channel": "我对你或在该频道说哪种语言",
        "who may do what, and what you may": "谁可以做什么，你可以做什么",
        "who did what": "谁做了什么",
        # What cannot be answered.
        "`{loss} {run}` shows its curve, `{stall} {run}` looks at every node now.": (
            "`{loss} {run}` 显示曲线， `{stall} {run}` 立即查看每个节点。"
        ),
        "`{name} help` says the rest.": "其余见 `{name} help` 。",
        "Right is: `/{prefix}{words}`": "正确写法： `/{prefix}{words}`",
        "The registry (Redis) does not answer, so I cannot look anything up just now. Nothing is lost: the nodes "
        "keep their findings on disk and send them when it is back. Please try again in a minute.": (
            "注册中心（Redis）没有应答，现在查不到任何内容。什么都不会丢：节点把发现保存在磁盘上，恢复后会补发。"
            "请过一分钟再试。"
        ),
    }
)
