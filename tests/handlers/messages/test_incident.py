"""The root message says what, where, since when, how sure and what to do, whatever the log held."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.workspace.mrkdwn import links, pings
from diagnosis.findings import Cleared, Finding, Severity
from diagnosis.incidents import Act, Mute, Reason, Tracker, Updated
from diagnosis.observations import Evidence, Origin
from handlers.messages.blocks import LONGEST_BLOCKS, LONGEST_TEXT, weight
from handlers.messages.incident import RunFacts, headline, rank_place, root
from handlers.messages.phrase import say
from handlers.messages.replies import reply
from tests.handlers.messages.test_escaping import ATTACKS

NOW = 1_780_000_000.0
NAN = Finding(
    "nonfinite_loss",
    Severity.CRITICAL,
    Origin("run42", "node17", 139, 3),
    "loss is NaN since step 41,200; last good: step 41,199 with loss 2.31",
    (Evidence("logs/train.log", 120411, "step=41200 loss=nan"),),
    41_200,
    41_199,
    seen_at=NOW,
    rule="first non-finite train loss",
    details={
        "last_good_step": "41,199",
        "last_good_loss": "2.31",
        "grad_norms": "0.9 → 4.7 → 96",
        "lr": "1.0e-4",
        "lr_change": "unchanged",
        "checkpoint": "41,000",
    },
)


def opened(finding, tracker=None):
    (said,) = (tracker or Tracker()).receive("e1", finding, NOW)
    return said.incident


def words(message):
    return str(message.blocks)


def test_the_root_answers_the_first_questions():
    """What, since when, where, last good step, lead-up, checkpoint, evidence, next steps, who has it."""
    message = root(opened(NAN))

    assert message.text.startswith("🔴 *run42 · loss is NaN since step 41,200*")
    assert "rank 139 (node17, local 3)" in message.text
    for said in (
        "Last good step 41,199: loss 2.31; grad norm 0.9 → 4.7 → 96; learning rate 1.0e-4, unchanged.",
        "Newest checkpoint before it: step 41,000.",
        "train.log:120411",
        "step=41200 loss=nan",
        "Copy the checkpoint of step 41,000 to a safe place. Then stop",
        "nobody has it yet",
        "rule: first non-finite train loss",
    ):
        assert said in words(message)


@pytest.mark.parametrize(("kind", "is_asked"), [("watcher_silent", False), ("stalled", True), ("run_down", True)])
def test_nobody_is_asked_for_a_snapshot_that_nobody_can_take(kind, is_asked):
    """Who would save the evidence is who is not heard."""
    found = Finding(kind, Severity.WARNING, Origin("run42"), "no watcher of the run can be heard", seen_at=NOW)
    tracker = Tracker()
    tracker.receive("e1", found, NOW)
    tracker.tick(NOW + 60)
    (incident,) = tracker.open_of("run42")

    assert ("Press Snapshot" in words(root(incident))) is is_asked


def test_the_title_says_the_time_once():
    """As the logs and all people have it: a date sign would say it again to everybody whose clock is UTC."""
    title = headline(opened(NAN))

    assert title.mrkdwn.count(" UTC") == 1
    assert "<!date" not in title.mrkdwn
    assert "(20:26:40 UTC)" in title.mrkdwn


@pytest.mark.parametrize(
    ("state", "first"),
    [("running", "Copy the checkpoint"), ("stalled", "Copy the checkpoint"), ("down", "Start again from the check")],
)
def test_nobody_is_told_to_stop_a_run_that_is_down(state, first):
    """The root reads anew when the run has died."""
    said = words(root(opened(NAN), RunFacts(state=state)))

    assert f"What to do:\\n• {first}" in said


def test_what_changed_stands_beside_its_lines_and_is_not_said_twice():
    """The learning rate is told once, old and new, with the step and the line."""
    moved = replace(
        NAN,
        details={
            **NAN.details,
            "lr_change": "1.0e-4 → 1.0e-1",
            "checkpoint_end": "keep-last-3 deletes it in about 1 h",
        },
        changes=("learning rate: 1.0e-4 → 1.0e-1 at step 41,198 (train.log:120405)",),
    )

    said = words(root(opened(moved)))

    assert "• learning rate: 1.0e-4 → 1.0e-1 at step 41,198 (train.log:120405)" in said
    assert "Last good step 41,199: loss 2.31; grad norm 0.9 → 4.7 → 96." in said
    assert "Newest checkpoint before it: step 41,000; keep-last-3 deletes it in about 1 h." in said
    assert "went from 1.0e-4 to 1.0e-1" in said


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (
            "a process crashed: ValueError: &lt;!channel&gt; *x*; it was rank 3",
            "ValueError: &amp;lt;!channel&amp;gt; ∗x∗*",
        ),
        ("bad {a;b} <t>; said", "bad {a;b} &lt;t&gt;*"),
        ("&lt;" * 400, "…*"),
    ],
)
def test_a_title_is_cut_at_a_half_stop_of_ours_and_stays_bold(text, title):
    """What an exception says is no sign of ours, and no entity is torn."""
    said = root(opened(Finding("rank_crash", Severity.CRITICAL, Origin("run42", "node17", 3, 3), text)))

    assert f"{title} (" in said.text
    assert said.text.count("*") == 2
    assert not re.search(r"&(?!amp;|lt;|gt;)", said.text)


def test_a_process_without_a_global_rank_is_named_by_its_local_one():
    """torchrun tells only that."""
    killed = replace(NAN, kind="killed", origin=Origin("run42", "node02"), details={"local_rank": "1"})

    assert "local rank 1 on node02" in root(opened(killed)).text


def test_a_global_and_a_local_rank_are_both_said():
    """People mean either by “rank 3”."""
    assert rank_place(139, "node17", 3).plain == "rank 139 (node17, local 3)"
    assert rank_place(3, "node17", 3).plain == "rank 3 (node17)"
    assert rank_place(3, None, None).plain == "rank 3"


@pytest.mark.parametrize(
    ("others", "named"),
    [
        ({"step": 41_201}, ", first on rank 139 (node17, local 3)"),
        ({}, ""),
        ({"step": None, "seen_at": NOW + 4}, ", first on rank 139 (node17, local 3)"),
        ({"step": None, "seen_at": NOW + 0.5}, ""),
        ({"step": None, "seen_at": NOW + 4, "node": "node18"}, ""),
        ({"step": None, "seen_at": None}, ""),
    ],
    ids=["later steps", "one step", "later", "one poll", "another clock", "no time"],
)
def test_many_ranks_are_counted_and_the_first_is_named_where_that_is_known(others, named):
    """`8 of 8 ranks, first on rank 139`; whose line was read first says nothing of who was first."""
    tracker = Tracker()
    others = dict(others)
    node = others.pop("node", "node17")
    incident = opened(replace(NAN, seen_at=NOW), tracker)
    for rank in range(140, 147):
        found = replace(NAN, origin=Origin("run42", node, rank, rank - 136), **{"seen_at": NOW, **others})
        tracker.receive(f"e{rank}", found, NOW + 1)

    assert (
        f"8 of 8 ranks{named}" == root(tracker.get(incident.id), RunFacts(8)).text.rpartition(" · ")[2].splitlines()[0]
    )


def test_a_mute_and_an_owner_show_in_the_root():
    """Who has it, until when it is quiet; and only the buttons that still do something."""
    tracker = Tracker()
    incident = opened(NAN, tracker)
    tracker.acknowledge(incident.id, "U0ALICE", NOW + 60)
    tracker.set_mutes([Mute("run42", NOW + 3600, "U0BOB")], NOW + 61)

    message = root(tracker.get(incident.id))

    assert "<@U0ALICE> has it since" in words(message)
    assert "asked by <@U0BOB>" in words(message)
    assert [element["action_id"] for element in message.blocks[-1]["elements"]] == ["snapshot", "more"]


def test_what_is_over_has_no_buttons():
    """Fewer buttons; on what is over only the report."""
    tracker = Tracker()
    opened(NAN, tracker)
    (said,) = tracker.ended("run42", "the run finished at step 50,000", NOW + 1700)

    message = root(said.incident)

    assert message.text.startswith("✅ *run42 · over after 28 min: loss is NaN since step 41,200*")
    assert [element["value"] for element in message.blocks[-1]["elements"]] == [f"report/{said.incident.id}"]
    assert reply(said).text == "Closed after 28 min: the run finished at step 50,000."


def test_what_is_over_at_once_has_no_span():
    """Both were read together: 0 s say nothing."""
    tracker = Tracker()
    at = opened(NAN, tracker).opened_at
    (said,) = tracker.receive("e2", Cleared("nonfinite_loss", NAN.origin, "loss is finite again at step 41,201"), at)

    assert root(said.incident).text.startswith("✅ *run42 · over at once: loss is NaN since step 41,200*")
    assert reply(said).text == "Over at once: loss is finite again at step 41,201."


def test_consequences_are_counted_in_words():
    """`Followed by 511 collective timeouts, kept quiet as a consequence.`"""
    tracker = Tracker()
    oom = replace(NAN, kind="gpu_oom", text="a GPU ran out of memory on rank 139", details={})
    incident = opened(oom, tracker)
    for rank in range(511):
        timeout = replace(NAN, kind="collective_timeout", origin=Origin("run42", "n", rank), details={})
        tracker.receive(f"t{rank}", timeout, NOW + 600)

    message = root(tracker.get(incident.id))

    assert "Followed by 511 collective timeouts, kept quiet as a consequence." in words(message)
    assert message.text.startswith("🔴 *run42 · a GPU ran out of memory* ")


def test_a_possible_repeat_is_labelled():
    """Better twice and labelled than never."""
    assert "This may be a repeat" in words(root(opened(NAN), is_repeat=True))


STALL = Finding(
    "stalled",
    Severity.CRITICAL,
    Origin("run42", "node02", 5),
    "stalled at step 41,205, no progress for 10 min",
    step=41_205,
    seen_at=NOW + 600,
    details={
        "more": "Storage or a file lock holds it up: rank 5 (node02) stopped first.",
        "next": "Find who holds the lock.",
    },
)


def test_a_second_trouble_is_told_below_the_first():
    """The reply has all that a root of its own would have; the root says it in one line, and whether it is over."""
    tracker = Tracker()
    opened(NAN, tracker)
    (then,) = tracker.receive("e2", STALL, NOW + 600)
    (over,) = tracker.receive("e3", Cleared("stalled", Origin("run42"), "progress again, at step 41,206"), NOW + 900)

    line = reply(then)
    first, later = words(root(then.incident)), words(root(over.incident))

    assert line.text == "Now also: *stalled at step 41,205, no progress for 10 min*, rank 5 (node02)."
    assert "rank 5 (node02) stopped first" in words(line)
    assert "• Find who holds the lock." in words(line)
    assert "❗ Also: *stalled at step 41,205, no progress for 10 min* (" in first
    assert "rank 139 (node17, local 3)" in headline(then.incident).plain
    assert "✅ Also, over again: stalled at step 41,205" in later
    assert reply(over).text == ("Over: progress again, at step 41,206. Still open: *loss is NaN since step 41,200*.")


def test_a_person_who_closes_an_incident_does_not_end_what_goes_on_beside_it():
    """The run is down all the same; only a restart makes that over."""
    tracker = Tracker()
    name = opened(NAN, tracker).id
    down = Finding("run_down", Severity.CRITICAL, Origin("run42"), "the run is down at step 41,300", seen_at=NOW)
    tracker.receive("e2", down, NOW + 600)
    (restarted,) = tracker.restarted("run42", 1, "the run trains again", NOW + 900)
    other = Tracker()
    opened(NAN, other)
    other.receive("e2", down, NOW + 600)
    (closed,) = other.act(name, Act("resolve", "U0ALICE", "killed it"), NOW + 900)

    assert "▫️ Also: *the run is down at step 41,300*" in words(root(closed.incident))
    assert "✅ Also, over again: the run is down at step 41,300" in words(root(restarted.incident))


def test_a_second_trouble_calls_whoever_has_the_first():
    """Nobody else is called again, and they must hear of it."""
    tracker = Tracker()
    incident = opened(NAN, tracker)
    tracker.acknowledge(incident.id, "U0ALICE", NOW + 60)

    (then,) = tracker.receive("e2", STALL, NOW + 600)

    assert "<@U0ALICE>, you have it." in reply(then).text


@pytest.mark.parametrize(
    "reason",
    [Reason.NEWS, Reason.FOLLOWED, Reason.WORSE, Reason.CAUSE_FOUND, Reason.AGAIN, Reason.REOPENED, Reason.NOTE],
)
def test_every_reason_to_reply_has_a_sentence(reason):
    """What is news is said with its place and its line."""
    said = reply(Updated(opened(NAN), reason, NOW + 60, ("e2",), NAN))

    assert "loss is NaN since step 41,200" in said.text
    assert "rank 139" in said.text


def test_a_stall_that_goes_on_to_the_end_is_told_as_a_later_state():
    """The run's end is no cause of the stall before it."""
    down = Finding("run_down", Severity.CRITICAL, Origin("run42", "node17", 2, 2), "the run is down: x", step=39)

    said = reply(Updated(opened(NAN), Reason.CAUSE_FOUND, NOW + 60, ("e2",), down))

    assert said.text == "The run is down now: its processes are gone, rank 2 (node17)."


@pytest.mark.parametrize("attack", ATTACKS)
def test_hostile_words_stay_words_everywhere(attack):
    """Run name, node, sentence, rule, details and log line: none becomes a mention, a link or a broken fence."""
    finding = Finding(
        attack,
        Severity.CRITICAL,
        Origin(attack, attack, 1, 1),
        attack,
        (Evidence(attack, 1, attack),),
        1,
        rule=attack,
        details={
            "last_good_loss": attack,
            "last_good_step": attack,
            "checkpoint": attack,
            "checkpoint_end": attack,
            "lr_change": attack,
            "exit_code": attack,
            "last_step": attack,
            "more": attack,
        },
        changes=(attack,) * 5,
    )

    message = root(opened(finding))

    assert_harmless(message)


@given(st.text(max_size=6000), st.text(min_size=1, max_size=200))
def test_no_size_of_log_line_breaks_the_limits(line, name):
    """Any text in any place stays within what Slack takes, also when edited."""
    finding = Finding(
        "k",
        Severity.CRITICAL,
        Origin(name, name, 1),
        line,
        (Evidence(name, 1, line),) * 5,
        details={"more": line, "checkpoint": line, "last_step": line},
        changes=(line,) * 7,
    )

    message = root(opened(finding), note=say("Meant for {channel}.", channel=name), is_repeat=True)

    assert_harmless(message)


def assert_harmless(message):
    """Within limits, nobody pinged, nothing linked, and no sign of Slack's but our own dates."""
    posted = {"text": message.text, "blocks": message.blocks}
    assert len(message.text) <= LONGEST_TEXT < 4000
    assert sum(weight(block) for block in message.blocks) <= LONGEST_BLOCKS < 12_000
    assert pings(posted) == []
    assert links(posted, bare=False) == []
    for text in mrkdwn_texts(message):
        without_dates = re.sub(r"<!date\^\d+\^\{[a-z_]+\}[^<>|]*\|[^<>|]*>", "", text)
        assert not set(without_dates) & set("<>")
    for block in message.blocks:
        if block["type"] == "section":
            assert len(block["text"]["text"]) <= 3000
            assert block["text"]["verbatim"] is True


def mrkdwn_texts(message):
    yield message.text
    for block in message.blocks:
        if block["type"] == "section":
            yield block["text"]["text"]
        elif block["type"] == "context":
            yield from (element["text"] for element in block["elements"])
