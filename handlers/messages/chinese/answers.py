"""The answers to questions in Chinese: loss, stall, snapshot, stop, diagnosis, report."""

from collections.abc import Mapping
from types import MappingProxyType

ANSWERS: Mapping[str, str] = MappingProxyType(
    {
        # Loss.
        "{mark} *{run}* has no loss to draw.": "{mark} *{run}* 没有可画的损失。",
        "{mark} *{run}* looks normal: loss {loss} at step {step}{trend}.": (
            "{mark} *{run}* 看起来正常：第 {step} 步损失 {loss}{trend}。"
        ),
        "{mark} *{run}* is worth watching since step {since}: {why}; loss now {loss} at step {step}{trend}.": (
            "{mark} *{run}* 自第 {since} 步起值得留意：{why}；现在第 {step} 步损失 {loss}{trend}。"
        ),
        "{mark} *{run}* is wrong since step {since}: {why}.{good}": (
            "{mark} *{run}* 自第 {since} 步起异常：{why}。{good}"
        ),
        "🔴 *{run}* is not going on ({state}); it printed no step and no loss before.": (
            "🔴 *{run}* 没有在训练（{state}）；此前没有打印任何步和损失。"
        ),
        "{mark} *{run}* is not going on ({state}), and was wrong since step {since}: {why}.{good}": (
            "{mark} *{run}* 没有在训练（{state}），并且自第 {since} 步起异常：{why}。{good}"
        ),
        "{mark} *{run}* is not going on ({state}), and is wrong: {why}; last {loss} at step {step}.": (
            "{mark} *{run}* 没有在训练（{state}），并且异常：{why}；最后在第 {step} 步为 {loss}。"
        ),
        "🔴 *{run}* is not going on ({state}), and has no loss to draw.": (
            "🔴 *{run}* 没有在训练（{state}），也没有可画的损失。"
        ),
        "🔴 *{run}* is not going on ({state}); until step {step} its loss looked normal: {loss}{trend}.": (
            "🔴 *{run}* 没有在训练（{state}）；到第 {step} 步为止损失看起来正常：{loss}{trend}。"
        ),
        "🔴 *{run}* is not going on ({state}); its loss was {loss} at step {step}, and before it: {why}.": (
            "🔴 *{run}* 没有在训练（{state}）；第 {step} 步损失 {loss}，此前：{why}。"
        ),
        "🟠 *{run}* is not heard of now; until step {step} its loss looked normal: {loss}{trend}.": (
            "🟠 *{run}* 目前没有消息；到第 {step} 步为止损失看起来正常：{loss}{trend}。"
        ),
        "🟠 *{run}* is not heard of now; its loss was {loss} at step {step}, and before it: {why}.": (
            "🟠 *{run}* 目前没有消息；第 {step} 步损失 {loss}，此前：{why}。"
        ),
        "{mark} *{run}* is worth watching, its incident is open: {why}; now {loss} at step {step}.": (
            "{mark} *{run}* 值得留意，其事件未解决：{why}；现在第 {step} 步为 {loss}。"
        ),
        "{mark} *{run}* is wrong: {why}; now {loss} at step {step}.": (
            "{mark} *{run}* 异常：{why}；现在第 {step} 步为 {loss}。"
        ),
        " Last good step {step}: loss {loss}.": "最后一个正常步 {step}：损失 {loss}。",
        ", level over the last {steps} steps": "，最近 {steps} 步持平",
        ", down from {loss} over the last {steps} steps": "，最近 {steps} 步从 {loss} 下降",
        ", up from {loss} over the last {steps} steps": "，最近 {steps} 步从 {loss} 上升",
        "What changed around step {step}:": "第 {step} 步前后有哪些变化：",
        "normal range before it {low}–{high}": "此前的正常范围 {low}–{high}",
        "normal range at this step {low}–{high}": "该步的正常范围 {low}–{high}",
        "grad norm {value}": "梯度范数 {value}",
        "grad norm {norms}": "梯度范数 {norms}",
        "learning rate {value}": "学习率 {value}",
        "loss scale {scale}": "损失缩放 {scale}",
        "newest step {step}": "最新步 {step}",
        "*This is a demo.* {living} train here, on this machine. {replayed} are recorded logs, played again: a "
        "date in one of their lines or charts is of then.": (
            "*这是演示。* {living} 在本机上真实训练。{replayed} 是重放的旧日志：行和图中若有日期，是当时的日期。"
        ),
        "Marked earlier: {told}{more}.": "此前的标记：{told}{more}。",
        "{n} open incident, see its thread": "{n} 个未解决的事件，见消息串",
        "{n} open incidents, see their threads": "{n} 个未解决的事件，见各消息串",
        "*{run}* and *{other}* have no step in common.": "*{run}* 和 *{other}* 没有共同的步。",
        "At step {step} both runs stand alike.": "在第 {step} 步两个任务相当。",
        "At step {step} *{run}* is {size} above *{other}*.": "在第 {step} 步， *{run}* 比 *{other}* 高 {size}。",
        "At step {step} *{run}* is {size} below *{other}*.": "在第 {step} 步， *{run}* 比 *{other}* 低 {size}。",
        "*{run}* has no points in that part.": "*{run}* 在这一段没有数据点。",
        # The root message's facts.
        "step {step}": "第 {step} 步",
        "{where}: {inner}.": "{where}：{inner}。",
        "{where}.": "{where}。",
        ", {course}": "，{course}",
        "rank {rank}": "rank {rank}",
        "local {local}": "local {local}",
        "Newest checkpoint before it: step {step}": "此前最新的检查点：第 {step} 步",
        "Newest checkpoint: step {step}": "最新的检查点：第 {step} 步",
        "{newest}; {end}.": "{newest}；{end}。",
        "{newest}.": "{newest}。",
        "tried to allocate {value}": "尝试分配 {value}",
        "PyTorch holds {value}": "PyTorch 占用 {value}",
        "{value} reserved but unallocated": "{value} 已保留但未分配",
        "operation {value}": "操作 {value}",
        "sequence number {value}": "序号 {value}",
        "limit {value}": "上限 {value}",
        "exit code {value}": "退出码 {value}",
        "signal {value}": "信号 {value}",
        "{free} of {total} free": "空闲 {free}/{total}",
        "From {places}:": "来自 {places}：",
        " ({span})": "（{span}）",
        " ({n} notes)": "（共 {n} 条）",
        ", {p}": "（{p}）",
        "over after {took}": "{took}后结束",
        "{run} · over: {what}": "{run} · 已结束：{what}",
        "{over}: {why}": "{over}：{why}",
        "{head}: {text}": "{head}：{text}",
        "{head}.": "{head}。",
        "Meant for {channel}, which took nothing from us: {why}.": "本应发到 {channel}，但该频道不接收：{why}。",
        "Open for {span}: *{what}*{place}{thread}.": "已持续 {span}： *{what}* {place}{thread}。",
        "{who} closed its incident {span} ago: *{what}*{place}{thread}.": (
            "{who} 在 {span}前关闭了它的事件： *{what}* {place}{thread}。"
        ),
        "🔴 *{run}* is not going on ({state}): *{what}*{place}, closed by {who} {span} ago{thread}.": (
            "🔴 *{run}* 没有在训练（{state}）： *{what}* {place}，{who} 在 {span}前关闭了事件{thread}。"
        ),
        "🔴 *{run}* is not going on ({state}): *{what}*{place}, open for {span}{thread}.": (
            "🔴 *{run}* 没有在训练（{state}）： *{what}* {place}，已持续 {span}{thread}。"
        ),
        " on {at}": "（{at}）",
        " ({link})": "（{link}）",
        "({link})": "（{link}）",
        "`{name}` ({state})": "`{name}` （{state}）",
        # Stall.
        " at step {step}": "（第 {step} 步）",
        "pauses lawfully ({phase}){at}, last progress {span} ago; that is no stall.": (
            "正常暂停（{phase}）{at}，最近进展在 {span}前；这不是停滞。"
        ),
        "is {text}; no step was printed yet.": "{text}；还没有打印任何步。",
        "trains{at}, last progress {span} ago.": "在训练{at}，最近进展在 {span}前。",
        "has ended{at}; it is not stalled.": "已结束{at}；没有停滞。",
        "prints nothing that I can read as progress, so I cannot tell whether it is stalled.": (
            "没有打印我能读作进展的内容，所以无法判断是否停滞。"
        ),
        "– I cannot tell whether it is stalled, because {text}.{last}": "– 无法判断是否停滞，因为{text}。{last}",
        " Last progress {span} ago{at}.": "最近进展在 {span}前{at}。",
        "is not fully watched: {text}.": "没有被完整看护：{text}。",
        "has been stalled for {span}{at}.": "已停滞 {span}{at}。",
        "stopped{at} ({state}), last progress {span} ago.": "已停下{at}（{state}），最近进展在 {span}前。",
        "is down{at}: {text}.": "已停止{at}：{text}。",
        "– {text}.": "– {text}。",
        "{text}{more}.": "{text}{more}。",
        "Not heard, and so not looked at: {named}{more}.": "没有消息，因此未查看：{named}{more}。",
        "{node} ({span})": "{node}（{span}）",
        " … and {n} nodes more": " …… 另有 {n} 个节点",
        "No watcher of it is known": "没有已知的监视进程",
        "{answered} of {asked} nodes answered": "{answered}/{asked} 个节点已应答",
        "could not look: {what}": "无法查看：{what}",
        "• Before you stop it, save the evidence: `/snapshot`.": "• 停止之前，先保存现场： `/snapshot` 。",
        "• Before anybody starts it again, save the evidence: `/snapshot`.": (
            "• 重新启动之前，先保存现场： `/snapshot` 。"
        ),
        "• Check that the watchers run on its nodes and reach Redis.": (
            "• 请确认监视进程在各节点上运行，并能连上 Redis。"
        ),
        "{n} ranks, {first} to {last}": "{n} 个 rank，{first} 到 {last}",
        "and {n} rows more": "另有 {n} 行",
        "{state} ({place})": "{state}（{place}）",
        # Causes.
        "No node shows another reason for its end than the numbers that went bad before it.": (
            "除了此前异常的数值，没有节点显示它结束的其他原因。"
        ),
        "Why cannot be told, because {why}.": "无法判断原因，因为{why}。",
        "Which rank stopped first cannot be told, because {why}.": "无法判断哪个 rank 最先停下，因为{why}。",
        "Which rank stopped first cannot be told; only rank {names} differs from the rest.": (
            "无法判断哪个 rank 最先停下；只有 rank {names} 与其他不同。"
        ),
        "Which rank stopped first cannot be told; ranks {names}{more} differ from the rest.": (
            "无法判断哪个 rank 最先停下；rank {names}{more} 与其他不同。"
        ),
        "Ranks {names}{more} show it; which was first cannot be told.": (
            "rank {names}{more} 都有此现象；无法判断谁最先。"
        ),
        "{node} · {sure}": "{node} · {sure}",
        "{place} stopped first · {sure}": "{place} 最先停下 · {sure}",
        "{place} failed first · {sure}": "{place} 最先出错 · {sure}",
        "{place} is whom the others wait for · {sure}": "其他进程在等 {place} · {sure}",
        "nothing that the nodes told tells the ranks apart": "各节点报告的内容无法区分各 rank",
        "{apart} ({lacks})": "{apart}（{lacks}）",
        "Because:": "依据：",
        "Or else: {other}.": "另一种可能：{other}。",
        "confidence: {level}": "把握：{level}",
        # Diagnosis of text and files.
        "There is no log in that message: paste some lines of it as a code block, or upload the file, and try again.": (
            "这条消息里没有日志：请以代码块粘贴几行，或上传文件，再试一次。"
        ),
        "🟠 *Nothing that ended the run*, but {n} worth a look.": "🟠 *没有导致任务结束的问题* ，但有 {n} 值得一看。",
        "🟢 *Nothing wrong found*.": "🟢 *没有发现问题* 。",
        "🟢 *Nothing wrong found*; I read no training loss in it either.": (
            "🟢 *没有发现问题* ；其中也没有读到训练损失。"
        ),
        "🟡 *Nothing wrong found* up to {place}: {why}.": "🟡 截至{place} *没有发现问题* ：{why}。",
        "line {n} of `{file}`": " `{file}` 第 {n} 行",
        "*Not known*": "*无法得知*",
        "🔴 *{what}*{where}": "🔴 *{what}* {where}",
        "at {time}": "时间 {time}",
        " · one of ranks {ranks}": " · rank {ranks} 之一",
        ", steps {first} to {last}": "，第 {first} 到 {last} 步",
        "read {lines} in {files}": "已读 {files}、{lines}",
        "could not read {names}": "无法读取 {names}",
        # Checklist.
        "Before you start *{run}* again:": "重新启动 *{run}* 之前：",
        "Before you start *{run}* again; its log told none of this, so look at each by hand:": (
            "重新启动 *{run}* 之前；它的日志没有写明这些，请逐项手动检查："
        ),
        "• *{what}*: {value} – {advice}": "• *{what}* ：{value} – {advice}",
        "• *{what}*: {advice}": "• *{what}* ：{advice}",
        "Its log does not tell these; look by hand:": "日志没有写明这些，请手动检查：",
        "So that I can read the loss of a *{name}* run:": "为了让我能读到 *{name}* 任务的损失：",
        "And before any restart:": "每次重启之前：",
        "Before a restart:": "重启之前：",
        "`{command} checklist RUN` fills in what its log told; `{command} checklist FRAMEWORK` says how to print the "
        "loss: {names}.": (
            "`{command} checklist RUN` 按日志填好； `{command} checklist FRAMEWORK` 说明如何打印损失：{names}。"
        ),
        # Snapshot.
        "Asking {count} of *{run}* to save the evidence; the answer comes within {span}.": (
            "正在请 *{run}* 的 {count}保存现场；{span}内答复。"
        ),
        "No watcher of *{run}* is known, so there is nobody to save anything.": (
            "没有已知的 *{run}* 监视进程，因此无人可以保存。"
        ),
        "Nothing was saved: no watcher of *{run}* answers. Last heard: {names}.": (
            "什么都没有保存： *{run}* 没有监视进程应答。最后一次消息：{names}。"
        ),
        "{node} ({span} ago)": "{node}（{span}前）",
        "{silent}*Snapshot of {run}: {count}, {size}, {span}.*": "{silent}*{run} 的现场：{count}，{size}，{span}。*",
        "under a second": "不到一秒",
        "{n} secret masked.": "已遮盖 {n} 处机密。",
        "{n} secrets masked.": "已遮盖 {n} 处机密。",
        "Note: {note}.": "备注：{note}。",
        "• {node}: no copy in the store, only on the node: {why}": "• {node}：存储中没有副本，只在节点上：{why}",
        "• {node}: {what}": "• {node}：{what}",
        "• {node}: {error}": "• {node}：{error}",
        "• {node}: {left}": "• {node}：{left}",
        "{node}: `{path}`": "{node}： `{path}`",
        "Before the restart: `/{prefix}runwatch checklist {run}`.": (
            "重启之前： `/{prefix}runwatch checklist {run}` 。"
        ),
        "The bundle is not here: {why}.": "打包文件不在这里：{why}。",
        "{node} did not answer": "{node} 没有应答",
        "• {node} did not answer": "• {node} 没有应答",
        "{node} saved nothing": "{node} 什么都没保存",
        "{node} lacks {what}": "{node} 缺少 {what}",
        "no node answered": "没有节点应答",
        "*Not yet safe to stop*: {told}{more}. What is missing would be lost.": (
            "*现在停止还不安全* ：{told}{more}。缺少的内容会丢失。"
        ),
        "*Safe to stop now*: {kept} of this node are saved.": "*现在可以安全停止* ：该节点的{kept}已保存。",
        "*Safe to stop now*: {kept} of every node are saved.": "*现在可以安全停止* ：所有节点的{kept}已保存。",
        "*Safe to stop now*: nothing more can be saved here.": "*现在可以安全停止* ：没有更多可保存的内容。",
        "*Safe to start again*: {kept} of this node are saved.": "*可以安全重启* ：该节点的{kept}已保存。",
        "*Safe to start again*: {kept} of every node are saved.": "*可以安全重启* ：所有节点的{kept}已保存。",
        "*Safe to start again*: nothing more can be saved here.": "*可以安全重启* ：没有更多可保存的内容。",
        "*Not all is saved yet*: {told}{more}. A new start may overwrite what is missing.": (
            "*尚未全部保存* ：{told}{more}。重新启动可能会覆盖缺少的内容。"
        ),
        "Not there: {absent}.": "没有：{absent}。",
        "on {nodes}{more}": "在 {nodes}{more}",
        "{what} ({inner})": "{what}（{inner}）",
        "Stop the run…": "停止任务…",
        "How to stop it": "如何停止",
        "{node} (its watcher was last heard {span} ago)": "{node}（最后一次消息在 {span}前）",
        "{node} (its watcher was last heard {span} ago; its logs are on a shared disk and were saved from {other})": (
            "{node}（最后一次消息在 {span}前；它的日志在共享盘上，已从 {other} 保存）"
        ),
        "{node} (its watcher was last heard {span} ago; {other} sees the folder of its logs too)": (
            "{node}（最后一次消息在 {span}前；{other} 也能看到它的日志目录）"
        ),
        "*No answer from* {names}{more}. ": "*没有应答：* {names}{more}。 ",
        "Stored on each node, and together at `{url}`.": "保存在各节点上，并汇总在 `{url}` 。",
        "Stored at `{path}`.": "保存在 `{path}` 。",
        "Stored on each node.": "保存在各节点上。",
        # Files.
        "Loss in these files": "这些文件中的损失",
        "{run} · {what} beside {other}": "{run} · {what}，对比 {other}",
        "{run} · numbers": "{run} · 数据",
        "{run} · GPUs of the last minutes": "{run} · 最近几分钟的 GPU",
        "Snapshot of {run}": "{run} 的现场",
        "Note: {note}": "备注：{note}",
        "not taken: {why}": "未保存：{why}",
        "copied to {url}": "已复制到 {url}",
        "• Not saved on {nodes}: {what}": "• {nodes} 上未保存：{what}",
        "{tool} ({n} pieces)": "{tool}（{n} 项）",
        "{pieces}: {why}": "{pieces}：{why}",
        "Snapshot of {run}: each piece, and the lines that were found": "{run} 的现场：各部分和找到的日志行",
        "Snapshot of {run}: all files, verified": "{run} 的现场：全部文件，已校验",
        # Stop.
        "torchrun, which ends its ranks": "torchrun（它会结束各 rank）",
        "the DeepSpeed launcher, which ends its ranks": "DeepSpeed 启动器（它会结束各 rank）",
        "Slurm, which tells every step": "Slurm（它会通知每个作业步）",
        "the launcher in the pod": "pod 中的启动器",
        "the launcher": "启动器",
        "the launcher, which ends its ranks": "启动器（它会结束各 rank）",
        "the training process itself": "训练进程本身",
        "• and {count} more nodes": "• 另有 {count} 个节点",
        "{nodes} do not answer and will not be asked.": "{nodes} 没有应答，不会向其发送。",
        "{who} wants to stop *{run}*.": "{who} 想停止 *{run}* 。",
        "The evidence is saved first. Then SIGTERM goes to:": "先保存现场，然后向以下发送 SIGTERM：",
        "Stop it now": "立即停止",
        "Only {who} can confirm, within a minute.": "只有 {who} 可以在一分钟内确认。",
        "To stop *{run}*, on each node:": "停止 *{run}* ，在每个节点上：",
        "To stop *{run}*, save the evidence first (press Snapshot), then on each node:": (
            "停止 *{run}* ：先按“保存现场”，然后在每个节点上："
        ),
        "I cannot stop it myself: {why}": "我不能自己停止它：{why}",
        "{who} stops *{run}*: evidence first, then SIGTERM.": "{who} 停止 *{run}* ：先保存现场，再发送 SIGTERM。",
        "I did not stop *{run}*, because its evidence is not complete.": "我没有停止 *{run}* ，因为现场不完整。",
        "If you want to stop it all the same, on each node:": "如果仍要停止，在每个节点上：",
        "*{run} is stopped, but memory of GPUs is still in use*: {ended} ended.": (
            "*{run} 已停止，但仍有 GPU 显存被占用* ：{ended}已结束。"
        ),
        "*{run} is not stopped everywhere*: {ended} ended, {left} left.": (
            "*{run} 没有完全停止* ：{ended}已结束，剩余 {left} 个。"
        ),
        "*{run} is stopped*: all {ended} ended, none is left behind.": "*{run} 已停止* ：全部 {ended}已结束，无残留。",
        "None of those left is known to hold memory of a GPU.": "残留的进程都没有占用 GPU 显存。",
        "To clean up, on each node:": "清理方法，在每个节点上：",
        "Evidence: {paths}.": "现场：{paths}。",
        "That was more than a minute ago, so I did nothing. Ask again how to stop *{run}*.": (
            "已超过一分钟，我什么都没做。请重新询问如何停止 *{run}* 。"
        ),
        "Only {who}, who asked for it, can confirm.": "只有提出请求的 {who} 可以确认。",
        "No watcher of *{run}* answers, so I cannot say how it is stopped.": (
            "*{run}* 没有监视进程应答，我无法说明如何停止。"
        ),
        "no process of the run": "没有该任务的进程",
        "process {pids}": "进程 {pids}",
        "{what} ({count} in all)": "{what}（共 {count}）",
        # Report.
        "{run} · what happened": "{run} · 事情经过",
        "{run}: what happened": "{run}：事情经过",
        "{run}: loss over all steps": "{run}：全部步的损失",
        "Made by Runwatch at {when}. All times are UTC.": "由 Runwatch 于 {when} 生成。所有时间均为 UTC。",
        "Chart (in the HTML report): {what}": "图表（见 HTML 报告）：{what}",
        "Nothing went wrong that Runwatch knows of.": "Runwatch 没有发现任何问题。",
        "What was done, and by whom": "谁做了什么",
        "Attempts": "启动记录",
        "attempt": "启动",
        "steps": "步",
        "began": "开始",
        "how": "方式",
        "when": "时间",
        "who": "谁",
        "what": "内容",
        "words": "原话",
        "result": "结果",
        "in words": "说明",
        "State": "状态",
        "Owner": "负责人",
        "Ranks": "rank 数",
        "Last step": "最后一步",
        "Last loss": "最后的损失",
        "First seen": "首次发现",
        "Last progress": "最近进展",
        "Incidents": "事件",
        "GPU time lost": "损失的 GPU 时间",
        "Log": "日志",
        "{n}, {m} open": "{n} 个，{m} 个未解决",
        "about {hours} GPU-hours": "约 {hours} GPU 小时",
        "Kind: {kind}, {severity}": "类型：{kind}，{severity}",
        "From {when}, open for {span}": "自 {when} 起，已持续 {span}",
        "From {when}, over after {span}": "自 {when} 起，{span}后结束",
        "Cost about {hours} GPU-hours": "约损失 {hours} GPU 小时",
        "Owner: {who}": "负责人：{who}",
        "Rule: {rule}": "规则：{rule}",
        "Followed by {counts}": "随后的后果：{counts}",
        "Also: {what}": "另有：{what}",
        "{said}, {place}": "{said}，{place}",
        "{said}. {more}": "{said}。{more}",
        "Where: {ranks} on {nodes}": "位置：{nodes} 上的 {ranks}",
        "Where: {place}": "位置：{place}",
        "rank {ranks}": "rank {ranks}",
        "The steps around step {step}": "第 {step} 步前后",
        "How it ended": "如何结束",
        "Evidence": "证据",
        "From the log: {places}": "来自日志：{places}",
        "Timeline": "时间线",
        "and {n} more like it": "另有 {n} 条类似",
        ", the last at {when}": "，最后一次在 {when}",
        "{who} closed it": "{who} 关闭",
        "By itself: {why}": "自行恢复：{why}",
        "By itself.": "自行恢复。",
        "found": "发现",
        "over for one": "其一恢复",
        "taken": "接手",
        "given back": "交还",
        "owner not heard of": "接手者无消息",
        "note": "备注",
        "muted": "静音",
        "unmuted": "取消静音",
        "quiet ended": "静音结束",
        "said again": "再次提醒",
        "over": "结束",
        "open again": "重新打开",
        "done": "已执行",
        "not done: not understood": "未执行：没有看懂",
        "refused": "已拒绝",
    }
)
