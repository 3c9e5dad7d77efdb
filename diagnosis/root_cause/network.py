"""Transports that gave up: a peer that many name, an adapter that fails to many peers, a node that fell silent."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from diagnosis.case import Case
from diagnosis.log_facts import Sighting
from diagnosis.observations import Category, Evidence, Role
from diagnosis.root_cause.candidates import Candidate, candidate
from diagnosis.root_cause.cluster import Cluster
from diagnosis.root_cause.lead import HIGH, LOW, MEDIUM, Lead, said
from diagnosis.root_cause.timeline import Timeline
from diagnosis.signatures import ROWS

NETWORK = ("nccl_socket_error", "ib_completion", "nccl_peer_closed", "nccl_async_error", "nccl_remote_error",
           "ofi_failed", "ucx_retries", "hccl_link_error", "nccl_error_raised", "nccl_error_kind")  # fmt: skip
SILENT_BEFORE = 60.0
"""Seconds by which a node's log ends before all others' to be called silent."""


def lead_of(case: Case, cluster: Cluster, timeline: Timeline) -> Lead | None:
    """The network, or the peer that went away; None when nothing speaks of it."""
    found = list(_sightings(case, cluster))
    if not found:
        return None
    first = min(found, key=lambda item: (_detail(item), item.time or float("inf"), item.sighting.order))
    symptom = first.sighting.symptom
    lead = Lead(Category.NETWORK_FAULT, symptom.evidence, symptom.signature, MEDIUM, time=first.time)
    lead.step = timeline.first_bad(first.sighting, first.log, symptom.evidence)
    lead.because.append(
        said(symptom.evidence, f"{len({item.file.path for item in found})} log(s) report a broken transport")
    )
    lead.next = [ROWS[symptom.signature].advice]
    named = _named_peer(found)
    if named is not None:
        lead.node, evidence, sentence = named
        lead.evidence = evidence
        lead.because.insert(0, said(evidence, sentence))
        lead.confidence = HIGH if len(found) > 2 else MEDIUM
    else:
        lead.because.append("nothing tells which side broke: only the transport itself is named")
        lead.confidence = MEDIUM if len(found) > 1 else LOW
    silent = silent_node(case, cluster)
    if silent is not None and (lead.node is None or lead.node == silent[0]):
        lead.node, lead.category = silent[0], Category.NODE_LOST
        lead.because.append(silent[1])
    return lead


def silent_node(case: Case, cluster: Cluster) -> tuple[str, str] | None:
    """A node whose logs end well before all others', without any error of its own."""
    ends: dict[str, float] = {}
    troubled: set[str] = set()
    lines: dict[str, Evidence] = {}
    for file, log in case.logs():
        node = cluster.node_of_file(file)
        if node is None or log.last_time is None:
            continue
        if log.last_time >= ends.get(node, 0.0):
            ends[node] = log.last_time
            newest = [line for rank in log.ranks.values() for line in rank.newest]
            if newest:
                lines[node] = max(newest, key=lambda line: line.line or 0)
        if any(item.symptom.role is not Role.CONTEXT and item.attempt == log.attempt for item in log.sightings):
            troubled.add(node)
    if len(ends) < 2:
        return None
    earliest, second = sorted(ends.values())[:2]
    node = min(ends, key=lambda name: ends[name])
    if node in troubled or second - earliest < SILENT_BEFORE or node not in lines:
        return None
    return node, said(
        lines[node], f"the log of {node} ends {second - earliest:.0f} s before every other, without a word"
    )


def _sightings(case: Case, cluster: Cluster) -> Iterator[Candidate]:
    for file, log in case.logs():
        for sighting in log.sightings:
            is_known = sighting.symptom.signature in NETWORK and not _is_of_cuda(sighting)
            if sighting.attempt == log.attempt and is_known and sighting.steps_after == 0:
                yield candidate(sighting, file, log, cluster)


def _is_of_cuda(sighting: Sighting) -> bool:
    """NCCL says that CUDA failed under it: no transport did."""
    kind = sighting.symptom.fields.get("kind", "").lower()
    return "cuda" in kind


def _host_in(peer: str) -> str:
    """An address without its port; the colons of IPv6 are its own."""
    return peer if peer.count(":") > 1 else peer.split(":", maxsplit=1)[0]


def _detail(found: Candidate) -> int:
    """Lines that name a call or a peer tell more than envelopes."""
    return NETWORK.index(found.name) if found.name in NETWORK[:3] else 3


def _named_peer(found: list[Candidate]) -> tuple[str | None, Evidence, str] | None:
    """The one peer that several name; or the one host whose adapter fails to several peers."""
    by_peer: dict[str, list[Candidate]] = defaultdict(list)
    by_host: Counter[str] = Counter()
    for item in found:
        peer = item.sighting.symptom.fields.get("peer")
        if peer and item.name in {
            "nccl_peer_closed",
            "ib_completion",
            "nccl_socket_error",
            "ofi_failed",
            "hccl_link_error",
        }:
            by_peer[_host_in(peer)].append(item)
            host = item.sighting.symptom.fields.get("host")
            if host:
                by_host[host] += 1
    sayers = {peer: {_sayer(item) for item in items} for peer, items in by_peer.items()}
    if len(by_peer) == 1 and len(next(iter(sayers.values()))) >= 2:
        peer, items = next(iter(by_peer.items()))
        evidence = items[0].sighting.symptom.evidence
        return peer, evidence, f"{len(sayers[peer])} reporters all name the peer {peer}"
    if len(by_peer) >= 2 and len(by_host) == 1:
        host = next(iter(by_host))
        item = next(iter(by_peer.values()))[0]
        return (
            host,
            item.sighting.symptom.evidence,
            f"only {host} fails, and to {len(by_peer)} peers: its adapter or cable",
        )
    return None


def _sayer(item: Candidate) -> tuple[str, int | None, int | None]:
    return item.file.path, item.rank, item.sighting.symptom.evidence.line
