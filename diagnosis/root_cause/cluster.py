"""Who is who in a run: ranks, their nodes, local ranks, pids and GPU buses, from everything that tells it."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from diagnosis.case import Case, CaseFile
from diagnosis.log_facts import LogFacts, Sighting
from diagnosis.observations import Evidence

_NCCL_HOST = re.compile(
    r"(?:^|\s|>:)(?P<host>[A-Za-z0-9][\w.-]{0,80}):(?P<pid>\d{1,8}):\d{1,8} \[(?P<device>\d{1,3})\] "
)
_KERNEL_HOST = re.compile(
    r"(?:[A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d:\d\d(?:\.\d{1,9})?|"
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)) (?P<host>[\w.-]{1,80}) kernel: "
)
_JSON_RANK = re.compile(r'\s{0,20}\{[^\n]{0,400}?"(?:global_)?rank": ?"?(\d{1,7})\b')
_LABEL = re.compile(r"^\s{0,6}(\d{1,5}): ")
_BUS = re.compile(r"^(?:[0-9a-f]{4,8}:)?([0-9a-f]{2}):([0-9a-f]{2})")
_NAME_PARTS = re.compile(r"[^A-Za-z0-9-]|(?<=[a-z])_")
MAX_RANKS = 1 << 16
_GENERIC_HOSTS = frozenset({"localhost", "127.0.0.1"})
_TORCH_AGENT = ("elastic_worker_failed", "elastic_closing", "agent_got_signal", "elastic_forced_exit")


@dataclass(slots=True)
class Member:
    """One rank."""

    rank: int
    node: str | None = None
    local_rank: int | None = None
    pid: int | None = None
    bus: str | None = None


class Cluster:
    """Ranks and nodes of a case, and how to find one by whatever a line names."""

    def __init__(self, case: Case) -> None:
        self.members: dict[int, Member] = {}
        self.world: int | None = None
        self.task_files: set[str] = set()
        """Files whose `srun --label` numbers may be nodes: nothing proves that there is one task for each rank."""
        self._pids: dict[tuple[str, int], int] = {}
        self._hosts: dict[str, str] = {}
        self._tasks: dict[int, str] = {}
        self._locals: dict[tuple[str, int], int] = {}
        self._found: dict[str, str | None] = {}
        self._only: str | None = None
        self._file_nodes = {file.node for file, _ in case.logs() if file.node is not None}
        """Nodes that the names of logs tell."""
        for file, log in case.read_by_line():
            self._find_labels(file, log)
        for file, log in case.read_by_line():
            self._learn(file, log)
        for file in case.files:
            self._learn_exhibit(file)
        self._learn_positions(case)
        self._only = self._only_node()
        self._found.clear()

    @property
    def ranks(self) -> tuple[int, ...]:
        """Every rank that any file shows, in order."""
        return tuple(sorted(self.members))

    @property
    def everybody(self) -> set[int]:
        """All ranks there must be: those that any file shows, those between them, and the world as told."""
        last = max(self.members, default=-1)
        return set(range(min(max(last + 1, self.world or 0), MAX_RANKS))) | set(self.members)

    @property
    def size(self) -> int:
        """How many ranks there are, as far as known."""
        return max(self.world or 0, max(self.members, default=-1) + 1)

    def node_of(self, rank: int | None, file: CaseFile | None = None) -> str | None:
        """The node of a rank, or of the file where a line stands."""
        if rank is not None and rank in self.members and self._real(self.members[rank].node):
            return self._real(self.members[rank].node)
        return self.node_of_file(file) or (self._only if rank in self.members else None)

    def node_of_file(self, file: CaseFile | None) -> str | None:
        """The node whose file it is: by what its lines say, or else by its name."""
        if file is None:
            return None
        return self._real(self._hosts.get(file.path) or file.node) or self._named_in(file.path)

    def _named_in(self, path: str) -> str | None:
        """A node that other evidence told, where a file's name bears it: `n2.dmesg.log`."""
        if path not in self._found:
            parts = {part for part in _NAME_PARTS.split(path) if part}
            known = {self._real(member.node) for member in self.members.values()} | set(self._hosts.values())
            named = sorted(node for node in known if node is not None and _short(node) in parts)
            self._found[path] = named[0] if len(named) == 1 else None
        return self._found[path]

    def local_rank_of(self, rank: int | None) -> int | None:
        """The rank within its node."""
        return self.members[rank].local_rank if rank is not None and rank in self.members else None

    def rank_of(self, sighting: Sighting, file: CaseFile) -> int | None:
        """Whose line it is, as a global rank."""
        origin = sighting.symptom.origin
        if file.path in self.task_files and not _names_rank(sighting.symptom.evidence.text):
            return None
        if origin.rank is not None:
            return origin.rank
        if origin.local_rank is not None:
            return self.by_local(origin.local_rank, origin.node or file.path, file)
        in_json = _JSON_RANK.match(sighting.symptom.evidence.text)
        if in_json is not None:
            return int(in_json[1])
        return self.by_nccl_prefix(sighting.symptom.evidence)

    def by_local(self, local_rank: int, place: str, file: CaseFile) -> int | None:
        """The rank with this local rank on a node; on a run of one node they are the same."""
        found = self._locals.get((place, local_rank)) or self._locals.get((file.path, local_rank))
        if (place, local_rank) in self._locals or (file.path, local_rank) in self._locals:
            return found if found is not None else 0
        node = self.node_of_file(file)
        for member in self.members.values():
            if member.local_rank == local_rank and node is not None and is_same_node(self._real(member.node), node):
                return member.rank
        is_one_node = self.is_one_node() and len(self._file_nodes) <= 1
        return local_rank if is_one_node and (local_rank in self.members or not self.members) else None

    def by_pid(self, pid: int, node: str | None = None) -> int | None:
        """The rank of a process, where its launcher or its own lines told the pid."""
        if node is not None and (node, pid) in self._pids:
            return self._pids[node, pid]
        found = {rank for (_, known), rank in self._pids.items() if known == pid}
        return found.pop() if len(found) == 1 else None

    def by_bus(self, bus: str, node: str | None) -> int | None:
        """The rank whose GPU has this bus id on a node."""
        wanted = _bus_key(bus)
        found = {
            member.rank
            for member in self.members.values()
            if member.bus is not None
            and _bus_key(member.bus) == wanted
            and (node is None or self._real(member.node) is None or is_same_node(member.node, node))
        }
        return found.pop() if wanted is not None and len(found) == 1 else None

    def by_gpu(self, gpu_index: int, node: str | None) -> int | None:
        """The rank on a GPU: the local rank by convention, where the node's ranks are known."""
        on_node = [
            member for member in self.members.values() if node is None or is_same_node(self._real(member.node), node)
        ]
        found = {member.rank for member in on_node if member.local_rank == gpu_index}
        if len(found) == 1:
            return found.pop()
        return gpu_index if node is None and self.is_one_node() and gpu_index in self.members else None

    def is_whole_run(self, gpus: int) -> bool:
        """True when a node with this many GPUs holds every rank of the run, as far as the logs tell."""
        if not self.is_one_node() or len(self.members) > gpus:
            return False
        if self.world is not None:
            return self.world == gpus
        return len(self.members) * 3 >= gpus * 2 and max(self.members) < gpus

    def by_nccl_prefix(self, evidence: Evidence) -> int | None:
        """`host:pid:tid [device]` in front of a line of NCCL."""
        found = _NCCL_HOST.search(evidence.text[:200])
        if found is None:
            return None
        return self._pids.get((found["host"], int(found["pid"]))) if self._is_own_process(found) else None

    def node_of_task(self, task: int) -> str | None:
        """The node of a Slurm task, where `srun` named it."""
        return self._tasks.get(task)

    def ranks_on(self, node: str) -> tuple[int, ...]:
        """All ranks of a node."""
        found = (rank for rank, member in self.members.items() if is_same_node(self._real(member.node), node))
        return tuple(sorted(found))

    def is_one_node(self) -> bool:
        """True when nothing shows a second node."""
        nodes = {self._real(member.node) for member in self.members.values()} | set(self._hosts.values())
        return len({_short(node) for node in nodes if node is not None}) <= 1

    def _only_node(self) -> str | None:
        """The one node of a run that fits on it: one host is named, and ranks are local ranks there."""
        hosts = {self._real(member.node) for member in self.members.values()} | set(self._hosts.values())
        named = sorted(host for host in hosts if host is not None)
        locals_match = all(member.local_rank in {None, member.rank} for member in self.members.values())
        told = [member.local_rank for member in self.members.values() if member.local_rank is not None]
        fits = bool(told) and max(self.members, default=0) <= max(*told, 7)
        return named[0] if self.is_one_node() and named and locals_match and fits else None

    def _is_own_process(self, found: "re.Match[str]") -> bool:
        """One pid per rank; a host whose ranks share a pid (threads) cannot be told apart."""
        same = sum(pid == int(found["pid"]) and host == found["host"] for host, pid in self._pids)
        return same == 1

    def _real(self, node: str | None) -> str | None:
        return None if node in _GENERIC_HOSTS else node

    # Learning

    def _find_labels(self, file: CaseFile, log: LogFacts) -> None:
        """Whether `17:` in front of the lines is a rank: only with proof, because many start one task a node."""
        if file.envelope is None or "label" not in file.envelope:
            return
        by_node: Counter[str] = Counter()
        for sighting in log.all_of("srun_task_exited"):
            tasks = sum(1 for _ in _numbers(sighting.symptom.fields.get("tasks", "")))
            by_node[sighting.symptom.fields["node"]] += tasks
        launches = any(_LABEL.match(item.symptom.evidence.text) for item in log.all_of(*_TORCH_AGENT))
        if launches or max(by_node.values(), default=0) < 2:
            self.task_files.add(file.path)

    def _learn(self, file: CaseFile, log: LogFacts) -> None:
        self._learn_host(file, log)
        host = self._hosts.get(file.path) or file.node
        self.world = max(self.world or 0, log.world or 0) or None
        if file.path not in self.task_files:
            for rank in (*log.observed_ranks, *([file.rank] if file.rank is not None else [])):
                self._add(rank, host)
        for (node, pid), rank in file.processes_named.items():
            self._add(rank, node or host, None, pid)
        for (node, local_rank), rank in log.local_ranks.items():
            self._add(rank, node or host, local_rank)
            self._locals[node or file.path, local_rank] = rank
        for entry in log.elastic:
            if entry.rank is not None:
                self._add(entry.rank, entry.host, entry.local_rank, entry.pid)
                if entry.local_rank is not None:
                    self._locals[file.path, entry.local_rank] = entry.rank
        for sighting in log.sightings:
            self._learn_from(sighting, file)

    def _learn_host(self, file: CaseFile, log: LogFacts) -> None:
        """A file's node by what its lines say, when they agree: torchrun's summary, NCCL's prefix."""
        hosts = Counter(entry.host for entry in log.elastic if entry.host)
        for sighting in log.all_of("nccl_comm", "nccl_socket_error", "nccl_local_rank_left"):
            found = _NCCL_HOST.search(sighting.symptom.evidence.text[:200])
            if found is not None:
                hosts[found["host"]] += 1
        named = [host for host in hosts if self._real(host)]
        if len(named) == 1:
            self._hosts[file.path] = named[0]

    def _learn_from(self, sighting: Sighting, file: CaseFile) -> None:
        fields = sighting.symptom.fields
        name = sighting.symptom.signature
        if name == "nccl_comm":
            found = _NCCL_HOST.search(sighting.symptom.evidence.text[:200])
            host = fields.get("host") or (found["host"] if found else None) or file.node
            pid = fields.get("pid") or (found["pid"] if found else None)
            device = fields.get("cuda_device")
            rank, world = int(fields["rank"]), int(fields["world"])
            if world >= (self.world or 0):
                self.world = world
                self._add(rank, host, int(device) if device else None, int(pid) if pid else None)
                self.members[rank].bus = fields.get("bus") or self.members[rank].bus
        elif name == "srun_task_exited":
            is_by_rank = "label" in (file.envelope or "") and file.path not in self.task_files
            for task in _numbers(fields.get("tasks", "")):
                self._tasks.setdefault(task, fields["node"])
                if is_by_rank and task in self.members:
                    self._add(task, fields["node"])
        elif name in {"megatron_nan", "megatron_unexpected"} and fields.get("rank", "").isdecimal():
            device = fields.get("device", fields.get("device_before", ""))
            local = int(device) if device.isdecimal() else None
            self._add(int(fields["rank"]), fields.get("node", fields.get("node_before")), local)
        elif name in {"store_clients_missing", "store_barrier_missing"}:
            self.world = max(self.world or 0, int(fields["world"]))
        elif name == "mpi_abort" and "rank2" in fields:
            self._add(int(fields["rank2"]), fields["node"], None, int(fields["pid"]))
        elif name == "elastic_worker_failed":
            failed = self.by_local(int(fields["local_rank"]), file.path, file)
            if failed is not None:
                self._add(failed, None, int(fields["local_rank"]), int(fields["pid"]), file)

    def _learn_exhibit(self, file: CaseFile) -> None:
        for stack in file.stacks:
            if stack.rank is not None and not stack.is_child:
                self._add(stack.rank, file.node, stack.local_rank, stack.pid)
        for process in file.processes:
            if process.rank is not None:
                self._add(process.rank, file.node, None, process.pid)
        if file.dump is not None and file.dump.rank is not None:
            self._add(file.dump.rank, file.node)

    def _learn_positions(self, case: Case) -> None:
        """Local ranks that nobody told: a node's ranks follow each other, so the lowest is local rank 0."""
        nodes = {self._real(member.node) for member in self.members.values()} - {None}
        by_node = [self.ranks_on(node) for node in nodes if node is not None]
        if not nodes and self.is_one_node():
            by_node = [self.ranks]
        for ranks in by_node:
            is_row = ranks and ranks[-1] - ranks[0] + 1 == len(ranks) and (len(ranks) > 1 or len(by_node) == 1)
            if is_row and ranks[0] % len(ranks) == 0:
                for rank in ranks:
                    member = self.members[rank]
                    member.local_rank = rank - ranks[0] if member.local_rank is None else member.local_rank
        del case

    def _add(
        self,
        rank: int,
        node: str | None = None,
        local_rank: int | None = None,
        pid: int | None = None,
        file: CaseFile | None = None,
    ) -> None:
        member = self.members.setdefault(rank, Member(rank))
        node = node or (self._hosts.get(file.path) if file is not None else None)
        if node is not None and (member.node is None or member.node in _GENERIC_HOSTS):
            member.node = node
        if local_rank is not None and member.local_rank is None:
            member.local_rank = local_rank
        if pid is not None:
            member.pid = pid
            self._pids[node or member.node or "", pid] = rank


def _short(node: str) -> str:
    """A host without its domain; an address as it is."""
    return node if node[:1].isdigit() else node.split(".", 1)[0]


def is_same_node(one: str | None, other: str | None) -> bool:
    """Whether two names mean the same node, with or without its domain."""
    return one is not None and other is not None and _short(one) == _short(other)


def host_of(evidence: Evidence) -> str | None:
    """The host in front of a line of NCCL, `host:pid:tid [device]`, or of a collected kernel log."""
    found = _NCCL_HOST.search(evidence.text[:200]) or _KERNEL_HOST.match(evidence.text)
    return found["host"] if found is not None and found["host"] not in _GENERIC_HOSTS else None


def _numbers(text: str) -> Iterable[int]:
    """`0-2,5` as Slurm writes lists of tasks."""
    for part in text.strip("[]").split(",")[:256]:
        low, _, high = part.partition("-")
        if low.isdecimal() and (not high or high.isdecimal()):
            last = int(high) if high else int(low)
            yield from range(int(low), min(last, int(low) + 4096) + 1)


def _names_rank(text: str) -> bool:
    return re.search(r"\[rank ?\d{1,7}\]|\[Rank \d{1,7}\]|\bRank \d{1,7}:", text[:300]) is not None


def _bus_key(bus: str) -> str | None:
    """`0000:5d:00` and NCCL's `5d000` are the same GPU."""
    text = bus.lower()
    found = _BUS.match(text)
    if found is not None:
        return f"{found[1]}:{found[2]}"
    if re.fullmatch(r"[0-9a-f]{3,8}", text):
        number = int(text, 16)
        return f"{number >> 12 & 0xFF:02x}:{number >> 4 & 0xFF:02x}"
    return None
