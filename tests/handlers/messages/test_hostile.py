"""Whatever strangers write, in logs, names, notes or files: no surface calls anybody, links anywhere or outgrows Slack."""

import re
from collections.abc import Iterator

import pytest

from bot.workspace.blocks_check import problems_of_blocks, problems_of_view
from diagnosis.findings import Finding, Severity
from diagnosis.incidents import Act, Mute, Tracker
from diagnosis.observations import Evidence, Origin
from handlers.command import Role, SharedFile
from handlers.digests import Digest
from handlers.kept import Kept
from handlers.messages import escaping
from handlers.messages.diagnosis import diagnosis_answer, reading
from handlers.messages.digest import Period, digest_message
from handlers.messages.earlier import earlier_phrase
from handlers.messages.home import Overview, home_view, run_card
from handlers.messages.incident import RunFacts, root
from handlers.messages.modals import close_form, mute_form, note_form
from handlers.messages.mutes import muted, mutes_list
from handlers.messages.patience import patience_answer, patience_form
from handlers.messages.people import audit_list
from handlers.messages.replies import reply
from handlers.messages.routes import routed, routes_list
from handlers.messages.runs import runs_answer
from handlers.routes import Route
from handlers.run_list import Listing, page_of
from registry import Run
from registry.audit import Entry
from tests.handlers.messages.hostile import attack
from tests.handlers.messages.test_escaping import ATTACKS

NOW = 1_700_000_000.0
SIZES = (1, 40)
OURS = re.compile(r"<@U0ALICE>|<!date\^\d+\^[^|>]*\|[^|>]*>|<https://slack\.example/archives/C1/p10\|its thread>|<#C1>")


def incident_of(text):
    tracker = Tracker()
    origin = Origin(f"run {text}"[:200], text[:80], 3, 3)
    evidence = (Evidence(text[:200], 12, text), Evidence("b", None, text))
    details = {"category": "gpu_oom", "more": text, "signature": text[:50]}
    (opened,) = tracker.receive(
        "e1", Finding("cuda_oom", Severity.CRITICAL, origin, text, evidence, 7, details=details), NOW
    )
    said = [opened]
    name = opened.incident.id
    for act in (Act("acknowledge", "U0ALICE"), Act("note", "U0ALICE", text), Act("release", "U0ALICE")):
        said += tracker.act(name, act, NOW + 60)
    said += tracker.act(name, Act("resolve", "U0ALICE", text), NOW + 90)
    return tracker.get(name), said


def surfaces(text) -> Iterator[tuple[str, object]]:
    """Every message and view that shows something of a stranger's."""
    incident, said = incident_of(text)
    name = incident.run
    kept = Kept(incident, "C1", "1.0")
    run = Run(
        name, state=text[:60], owner=text, last_step=7, last_progress=NOW, log=text, labels={text[:40] or "x": text}
    )
    mute = Mute(name, NOW + 60, "U0ALICE", text[:40], text[:200])
    node = Mute("", NOW + 60, "U0ALICE", node=text[:80] or "n", reason=text[:200])
    facts = RunFacts(8, now=NOW, earlier=earlier_phrase(kept, "other", "https://slack.example"))
    answer = {
        "diagnosis": {"category": "gpu_oom", "culprit_node": text, "evidence": {"file": text, "line": 1, "text": text}}
        | {"because": [text] * 9, "next": [text] * 9, "confidence": text, "first_bad_time": text},
        "changes": [{"line": text}],
        "files": [{"lines": 3}],
    }
    yield "root", root(said[0].incident, facts)
    yield "root of what is over", root(incident, facts)
    yield from ((f"reply {one.reason}", reply(one)) for one in said[1:])
    yield "muted", muted(mute, NOW)
    yield "mutes", mutes_list([mute, node], NOW)
    yield "audit", audit_list([Entry(NOW, "U0ALICE", "T1", "viewer", "button", text[:40], text, text)] * 20, None)
    yield "routes", routes_list([Route(text[:150] or "x", "C1", "U0ALICE")])
    yield "routed", routed(text[:150], "C1", [text] * 9, text)
    yield "diagnosis", diagnosis_answer(answer, [text] * 9)
    yield "reading", reading([SharedFile(text, "u", 1)] * 9)
    yield "patience", patience_answer(name, {"stall": 60.0})
    yield (
        "digest",
        digest_message(
            Period(
                Digest("C1", "daily", by="U0ALICE"), NOW - 9, NOW + 99, [run], [kept] * 9, 1, "https://slack.example"
            )
        ),
    )
    page = page_of([run] * 30, Listing(state=text[:60]), {name: 1}, NOW)
    yield "runs", runs_answer(page, {name: 1}, NOW)
    overview = Overview(Role.VIEWER, NOW, [run] * 9, [run] * 9, 18, [kept] * 20, {text[:200] or "k": mute}, {name: 1})
    yield "view home", home_view(overview)
    yield "view run", run_card(run, [kept] * 9, NOW, "https://slack.example")
    yield "view note", note_form(incident, "x")
    yield "view close", close_form(incident, "x")
    yield "view mute", mute_form(incident, "x")
    yield "view patience", patience_form(name, {"stall": 61.0}, "C1")


def texts(value) -> Iterator[str]:
    """Every text that Slack reads signs in."""
    if isinstance(value, dict):
        if value.get("type") == "mrkdwn":
            yield value["text"]
        for part in value.values():
            yield from texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from texts(part)


@pytest.mark.parametrize("times", SIZES)
@pytest.mark.parametrize("attack", ATTACKS)
def test_no_surface_does_what_a_stranger_writes(attack, times):
    """No mention, no link but ours; and Slack's own rules hold, whatever the length."""
    for name, made in surfaces(attack * times):
        blocks = made["blocks"] if isinstance(made, dict) else made.blocks
        written = [*texts(blocks), *([] if isinstance(made, dict) else [made.text])]
        for text in written:
            left = OURS.sub("", text)
            assert "<" not in left, (name, text)
            assert ">" not in left, (name, text)
        if isinstance(made, dict):
            assert problems_of_view(made, lambda _: None) == [], name
        else:
            assert problems_of_blocks(made.blocks, lambda _: None) == [], name
            assert len(made.text) <= 4000, name


def test_unescaped_they_would(monkeypatch):
    """Negative control: with Slack's own signs let through, builder after builder calls people and makes links (A28)."""
    monkeypatch.setattr(escaping, "_SIGNS", {})

    _, _, wrong = attack(2_000, seed=7)

    said = " ".join(wrong.values())
    assert len(wrong) > 10
    assert "calls" in said
    assert "links to" in said
