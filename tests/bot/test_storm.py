"""512 ranks cry at once: one rank ran out of memory, 511 waited for it ten minutes and say so, in any order."""

import random
from contextlib import AsyncExitStack
from dataclasses import replace

from bot.app import bot_running
from diagnosis.chronicle import Chronicle
from diagnosis.findings import Finding
from diagnosis.formats.reader import LogReader
from diagnosis.judge import Judge
from diagnosis.node_facts import LogAccount, NodeFacts
from diagnosis.observations import Heartbeat, Origin
from registry import StreamId, wire
from registry.facts import pack
from tests.bot.test_nodes import a_node

NODES, PER_NODE, CULPRIT = 64, 8, 139
BEGAN = 1_795_992_000.0
STEP = "[rank{rank}] step {step}/9000 loss 2.5 grad_norm 1.0 lr 1e-4\n"
OOM = (
    "[rank{rank}]: Traceback (most recent call last):\n"
    '[rank{rank}]:   File "/code/train.py", line 88, in <module>\n'
    "[rank{rank}]:     loss.backward()\n"
    "[rank{rank}]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU {local} has a total "
    "capacity of 79.15 GiB of which 1.20 GiB is free.\n"
)
TIMEOUT = (
    "[rank{rank}]:[E1129 22:31:{second:02}.123456789 ProcessGroupNCCL.cpp:607] [Rank {rank}] Watchdog caught collective "
    "operation timeout: WorkNCCL(SeqNum=7701, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for "
    "600029 milliseconds before timing out.\n"
)


class Node:
    """One node's eight logs as its watcher reads them: what it finds, and what it answers when it is asked."""

    def __init__(self, number: int) -> None:
        self.name = f"node{number:02}"
        clock = random.Random(number).uniform(-2.0, 2.0)
        judge = Judge()
        self.findings: list[Finding] = []
        accounts = []
        for local in range(PER_NODE):
            rank = number * PER_NODE + local
            reader = LogReader(f"/logs/rank{rank}.log", Origin("run42", self.name, rank, local))
            text = "".join(STEP.format(rank=rank, step=step) for step in range(1, 30))
            is_culprit = rank == CULPRIT
            chronicle = Chronicle()
            for piece, at in ((text, BEGAN), (self._last_words(rank, local), BEGAN + (30 if is_culprit else 630))):
                for seen in reader.feed(piece.encode(), at + clock):
                    chronicle.observe(seen)
                    self.findings += [said for said in judge.observe(seen) if isinstance(said, Finding)]
            newest = {str(rank): reader.recent_evidence(rank)}
            accounts.append(
                LogAccount(
                    reader.file,
                    tuple(chronicle.observations()),
                    newest,
                    rank=rank,
                    ranks=(rank,),
                    node=self.name,
                    lines=reader.lines,
                )
            )
        self._facts = pack(NodeFacts(self.name, BEGAN + 640 + clock, clock, tuple(accounts)))

    @staticmethod
    def _last_words(rank: int, local: int) -> str:
        return OOM.format(rank=rank, local=local) if rank == CULPRIT else TIMEOUT.format(rank=rank, second=rank % 60)

    async def answer(self, request):
        return {"node": self.name, "facts": self._facts}


async def test_one_cause_is_one_incident_however_many_ranks_cry(workspace, registry, settings):
    """The one that ran out of memory is named, with its node and line; 511 timeouts are a number, and no reply."""
    nodes = [Node(number) for number in range(NODES)]
    order = [(node, number, said) for node in nodes for number, said in enumerate(node.findings, 1)]
    random.Random(7).shuffle(order)
    now = await registry.now()
    await registry.runs.see("run42", state="running", world_size=NODES * PER_NODE, last_step=29, dialect="general")
    for node in nodes:
        await registry.heartbeats.beat(Heartbeat(node.name, node.name, now, runs=("run42",)), ttl=3600)
        await registry.events.register(StreamId(node.name, "e1"))

    async with AsyncExitStack() as stack:
        for node in nodes:
            await stack.enter_async_context(a_node(registry, node.answer, node.name))
        await stack.enter_async_context(bot_running(settings(ask_deadline_seconds=4.0)))
        await workspace.connected()
        counts = dict.fromkeys((node.name for node in nodes), 0)
        for node, _, said in order:
            counts[node.name] += 1
            body = wire.encode(replace(said, seen_at=now))
            await registry.events.publish(node.name, "e1", counts[node.name], body)
        await workspace.until(lambda: "511 collective timeouts" in str(workspace.messages()))

    (root,) = workspace.messages()
    assert "a GPU ran out of memory" in root["text"]
    assert "rank 139 (node17, local 3)" in root["text"]
    assert "`rank139.log:33`" in str(root["blocks"])
    assert workspace.replies(root["ts"]) == []
