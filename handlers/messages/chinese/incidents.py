"""Incidents, their care, forms and Home in Chinese: English sentence → 中文."""

from collections.abc import Mapping
from types import MappingProxyType

INCIDENTS: Mapping[str, str] = MappingProxyType(
    {
        # The root message.
        "over at once: ": "随即结束：",
        "Over at once: {text}.": "随即结束：{text}。",
        "over after {took}: ": "已结束，历时 {took}：",
        "{count}{of} ranks": "{count}{of} 个 rank",
        " of {n}": "/{n}",
        "{count}, first on {rank}": "{count}，最先出现在 {rank}",
        "rank {rank} ({inner})": "rank {rank}（{inner}）",
        "local rank {local} on {node}": "{node} 上的 local rank {local}",
        "Last good step {step}": "最后一个正常步 {step}",
        "Before it: {inner}.": "此前：{inner}。",
        "Last step in the log: {step}.": "日志中的最后一步：{step}。",
        "learning rate {course}": "学习率 {course}",
        "learning rate {lr}{same}": "学习率 {lr}{same}",
        "The line says: {told}.": "日志行写明：{told}。",
        "What changed around it:": "前后有哪些变化：",
        "What to do:": "可以这样做：",
        "Followed by {counts}, kept quiet as a consequence.": "随后的 {counts} 只是其后果，不再单独通知。",
        "rule: {rule}": "规则：{rule}",
        "This may be a repeat: Slack did not say whether the first one arrived, and could not be asked.": (
            "这条可能重复：Slack 没有说明第一条是否送达，也无法查询。"
        ),
        "From the log, {places}:": "来自日志 {places}：",
        "From the log, `{place}`:": "来自日志 `{place}`：",
        # Who has it.
        "Open since {since}{span}": "自 {since} 起未解决{span}",
        "nobody has it yet": "还没有人接手",
        "nobody has it": "没有人接手",
        "{who} has it": "{who} 已接手",
        "{who} has it since {moment}": "{who} 自 {moment} 起接手",
        "quiet until {until}": "静音至 {until}",
        "quiet until {until}, asked by {who}": "静音至 {until}（{who} 设置）",
        "quiet until it is over, asked by {who}": "静音直到结束（{who} 设置）",
        "its node is quiet until {until}, asked by {who}": "该节点静音至 {until}（{who} 设置）",
        "the whole run is quiet until {until}, asked by {who}": "整个任务静音至 {until}（{who} 设置）",
        "About {hours} GPU-hours lost so far, {rate} more each hour.": (
            "目前约损失 {hours} GPU 小时，每小时再增加 {rate}。"
        ),
        "It cost about {hours} GPU-hours.": "共损失约 {hours} GPU 小时。",
        "Note by {who}: {text}{more}": "{who} 的备注：{text}{more}",
        "Over since {ended}": "已于 {ended} 结束",
        "closed by {who}": "由 {who} 关闭",
        "{over}: {why}": "{over}：{why}",
        # Buttons and forms.
        "Snapshot": "保存现场",
        "I have it": "我来处理",
        "Mute 1 h": "静音 1 小时",
        "Write a note…": "写备注…",
        "Mute…": "静音…",
        "Close…": "关闭…",
        "Give it back": "交还",
        "Export the report": "导出报告",
        "Write a note": "写备注",
        "Write": "写入",
        "Cancel": "取消",
        "Close": "关闭",
        "Close it": "关闭",
        "Close the incident": "关闭事件",
        "Mute": "静音",
        "Note": "备注",
        "What did you see or do?": "你看到了什么，做了什么？",
        "What helped?": "什么起了作用？",
        "Said again when the same failure comes back": "同样的故障再次出现时会再次提示",
        "What": "范围",
        "For how long": "多久",
        "Why": "原因",
        "Optional: shown in the list of mutes": "可选：显示在静音列表中",
        "15 minutes": "15 分钟",
        "1 hour": "1 小时",
        "4 hours": "4 小时",
        "1 day": "1 天",
        "3 days": "3 天",
        "a week": "一周",
        "Everything of this run": "该任务的一切",
        "Everything is still recorded; only *{run}* says nothing of it here.": (
            "一切照常记录，只是 *{run}* 不再在这里通知。"
        ),
        "“Until it is over” ends with the incident, after a week at the latest.": (
            "“直到结束”随事件结束而结束，最长一周。"
        ),
        "It stands in the thread of *{run}* and in the report.": "会写入 *{run}* 的消息串和报告。",
        "*{run}*: if it still fires or comes back, its thread opens again.": (
            "*{run}* ：如果仍在发生或再次出现，消息串会重新打开。"
        ),
        "End it": "结束静音",
        "Look at a run: type its name": "查找任务：输入名称",
        "Loss": "损失曲线",
        "Stall?": "是否停滞？",
        "Previous": "上一页",
        "Next": "下一页",
        "*Next*": "*下一步*",
        "Sort": "排序",
        # Lines in the thread.
        "Also: *{what}*{place}.": "另外： *{what}* {place}。",
        "Now also: *{what}*{place}.": "现在又出现： *{what}* {place}。",
        "{head} {who}, you have it.": "{head}{who}，这由你负责。",
        "Over: {text}. Still open: *{what}*.": "已结束：{text}。仍未解决： *{what}* 。",
        "{mark} Also: *{what}* ({moment})": "{mark} 另外： *{what}* （{moment}）",
        "{mark} Also, over again: {what} ({moment})": "{mark} 另外（已结束）：{what}（{moment}）",
        "Now critical: *{what}*{place}.": "升级为严重： *{what}* {place}。",
        "More about *{what}*{place}:": "关于 *{what}* {place}：",
        "Cause found: *{what}*{place}. What was said above only follows from it.": (
            "找到原因： *{what}* {place}。上面所说只是它的后果。"
        ),
        "The run is down now: its processes are gone{place}.": "任务现已停止：进程已不存在{place}。",
        "Again, in a later attempt of the run: *{what}*{place}.": "重启后再次出现： *{what}* {place}。",
        "Back again: *{what}*{place}.": "再次出现： *{what}* {place}。",
        "Note: {what}{place}.": "提示：{what}{place}。",
        "Over after {took}: {text}.": "{took}后结束：{text}。",
        "Closed after {took}: {text}.": "{took}后关闭：{text}。",
        "Closed: this only follows from another trouble of the run, {text}.": (
            "已关闭：这只是该任务另一故障的后果，{text}。"
        ),
        "Closed after {took} by {who}": "{who} 在 {took}后关闭",
        "{who} notes: {text}": "{who} 备注：{text}",
        "{who} gave it back; nobody has it now.": "{who} 已交还，现在没有人接手。",
        "{who} had it, and was not heard of since; nobody has it now.": "{who} 接手后一直没有消息，现在没有人接手。",
        "{who} opened it again.": "{who} 重新打开了它。",
        "The quiet is over, the trouble is not: {what}.": "静音已结束，故障仍在：{what}。",
        "Still open after {took}, and nobody has it: {what}.": "{took}后仍未解决，也没有人接手：{what}。",
        "The chart could not be added: {why}. `{command} {run}` draws it on request.": (
            "无法附上图表：{why}。可用 `{command} {run}` 绘制。"
        ),
        "Same failure before, {where}, {when}": "以前出现过同样的故障，{where}，{when}",
        "in this run": "就在该任务",
        "in *{run}*": "在 *{run}*",
        "its thread": "消息串",
        "{by} closed it: {text}": "{by} 关闭时写道：{text}",
        "{who} noted: {text}": "{who} 备注：{text}",
        "it ended by itself: {text}": "自行恢复：{text}",
        "{head}: {helped}.": "{head}：{helped}。",
        # What the person who pressed is told.
        "{who} has it already.": "{who} 已经接手。",
        "You have it already.": "你已经接手。",
        "Done; the thread of *{run}* shows it.": "已完成，见 *{run}* 的消息串。",
        "I no longer know that incident; it is older than what I keep.": "这个事件太久了，我已不再保存。",
        "That incident is over already.": "这个事件已经结束。",
        "Noted. It will show in the message as soon as a bot announces again, within a minute.": (
            "已记下，一分钟内会显示在消息中。"
        ),
        "A note needs some words.": "备注不能为空。",
        "Nothing to change: it stands like that already.": "无需更改：现状就是如此。",
        # Quiet.
        "{what} is quiet for {span}, until {until}.": "{what} 静音 {span}，至 {until}。",
        "{what} is quiet until it is over, after a week at the latest.": "{what} 静音直到结束，最长一周。",
        "Everything is still recorded.": "一切照常记录。",
        "`/runwatch unmute {name}` ends it.": "`/runwatch unmute {name}` 可结束静音。",
        "*{run}* speaks again. What still fires is said now.": "*{run}* 恢复通知。仍在发生的会立刻说明。",
        "*{run}* was not muted.": "*{run}* 没有被静音。",
        "Nothing is muted.": "目前没有静音。",
        "{what} for {span} more, asked by {who}{why}.": "{what} 还有 {span}（{who} 设置{why}）。",
        "*{node}* (what concerns this node alone)": "*{node}* （仅与该节点有关的）",
        "*{run}* (one incident, until it is over)": "*{run}* （一个事件，直到结束）",
        # What cannot be answered.
        "Those who may: {named}{more}, and the admins of this workspace.": (
            "可以这样做的有：{named}{more}，以及工作区管理员。"
        ),
        "The owners and admins of this workspace may; they can name others in Runwatch's settings.": (
            "工作区的所有者和管理员可以；他们可以在 Runwatch 设置中指定其他人。"
        ),
        "No run `{name}`.": "没有名为 `{name}` 的任务。",
        "Did you mean {runs}?": "你是指 {runs} 吗？",
        "I know {names}; `/{prefix}runs` lists all.": "我知道 {names}； `/{prefix}runs` 列出全部。",
        "Which run: {names}? For example {example}.": "哪个任务： {names} ？例如 {example} 。",
        "There is {n} more: `/{prefix}runs` lists all.": "还有 {n} 个： `/{prefix}runs` 列出全部。",
        "There are {n} more: `/{prefix}runs` lists all.": "还有 {n} 个： `/{prefix}runs` 列出全部。",
        "That failed on my side, not yours; it is in my log. `runwatch doctor` checks what may be wrong.": (
            "是我出错了，不是你；详情在我的日志里。 `runwatch doctor` 可检查原因。"
        ),
        # Home and lists.
        "🟢 *All quiet.* {runs}, nothing open.": "🟢 *一切正常。* {runs}，没有未解决的事件。",
        "Open incidents": "未解决的事件",
        "Your runs": "我的任务",
        "Other runs": "其他任务",
        "Runs": "任务",
        "Quiet now": "静音中",
        "open for {span}": "已持续 {span}",
        "ends in {left}": "还需 {left}",
        "last progress {age} ago": "最近进展 {age}前",
        "loss {loss}": "损失 {loss}",
        "step {step}{of}": "第 {step}{of} 步",
        "*{n} open*": "*{n} 个未解决*",
        "owner {owner}": "负责人 {owner}",
        "As of {now}": "更新于 {now}",
        "You are *{role}* here · `/{p}runwatch help` says the rest": "你的角色是 *{role}* · 更多见 `/{p}runwatch help`",
        "The answer comes into our direct messages.": "答案会发到我们的私信里。",
        "You are *{role}*.": "你的角色是 *{role}* 。",
        # Welcome and help.
        "I watch training runs and answer questions about them.": "我看护训练任务，并回答有关它们的问题。",
        "*Hello.* {here}": "*你好。* {here}",
        "• `{name}` lists the runs": "• `{name}` 列出所有任务",
        "• `{name} RUN` says whether its loss is normal, with the curve": "• `{name} RUN` 说明损失是否正常，并附曲线",
        "• `{name} RUN` says whether it stands, and for whom it waits": "• `{name} RUN` 说明任务是否停滞，在等谁",
        "• `@runwatch …` asks the same inside a thread; `@runwatch help` says the rest": (
            "• 在消息串里用 `@runwatch …` 提问； `@runwatch help` 说明其余用法"
        ),
        "• the menu of any message has *Runwatch: diagnose*: paste a log, or upload it": (
            "• 任意消息的菜单里有 *Runwatch: diagnose* ：粘贴或上传日志即可"
        ),
        "When a training run goes wrong, its thread opens here by itself; when all is well I say nothing.": (
            "训练任务出问题时，消息串会自动在这里打开；一切正常时我不出声。"
        ),
        "I answer questions here; `{route} PATTERN here` brings the incidents of those runs here, too.": (
            "我在这里回答问题； `{route} PATTERN here` 会把这些任务的事件也发到这里。"
        ),
        "Slash commands do not exist inside threads: there, mention me (`@runwatch loss run42`), or press a button. "
        "In the thread of an incident the run's name may be left out.": (
            "消息串里没有斜杠命令：请提及我（ `@runwatch loss run42` ）或按按钮。在事件的消息串里可以省略任务名。"
        ),
        "That needs the role {needs}; yours is {role}.": "这需要角色 {needs}，你的角色是 {role}。",
        "No run is registered yet. On a training node: `runwatch watch --run NAME --log 'train*.log'`, "
        "or `runwatch run --run NAME -- CMD`.": (
            "还没有登记任何任务。在训练节点上： `runwatch watch --run NAME --log 'train*.log'` "
            "或 `runwatch run --run NAME -- CMD` 。"
        ),
        "Noted: it stands in the first message of this thread, and in the report.": (
            "已记下：显示在该消息串的第一条和报告中。"
        ),
        "Example: `{name} {example}`": "例如： `{name} {example}`",
        # Reports and diagnoses.
        "The report of *{run}* ({count}), as HTML with charts and as Markdown:": (
            "*{run}* 的报告（{count}），HTML（含图表）和 Markdown："
        ),
        "The report of this incident of *{run}*, as HTML with charts and as Markdown:": (
            "*{run}* 该事件的报告，HTML（含图表）和 Markdown："
        ),
        "Reading the text; the answer comes below the message.": "正在阅读文本，答案会出现在该消息下方。",
        "Reading {named}; the answer comes below the message.": "正在阅读 {named}，答案会出现在该消息下方。",
        "confidence: {level}": "把握：{level}",
        "first bad step {step}": "第一个异常步 {step}",
        "What changed around it": "前后有哪些变化",
        "*What changed around it*": "*前后有哪些变化*",
        "*Because*": "*依据*",
        "*Findings*": "*发现*",
    }
)
