"""What waits in one channel, the most urgent first, nothing ever dropped."""

from dataclasses import replace

import pytest

from bot.outbox import Act, Outbox
from diagnosis.findings import Finding, Severity
from diagnosis.incidents import Opened, Reason, Tracker, Updated
from diagnosis.observations import Origin


def incident(run, severity=Severity.CRITICAL):
    tracker = Tracker()
    tracker.receive(f"{run}-e", Finding("nonfinite_loss", severity, Origin(run, "n", 0), "x"), 0.0)
    return tracker.open_of(run)[0]


def opened(run, severity=Severity.CRITICAL):
    one = incident(run, severity)
    return Opened(one, Reason.NEW, 0.0, (f"{run}-e",), one.head)


def news(one, reason, *events):
    return Updated(one.incident, reason, 0.0, events)


def drained(outbox, now=0.0):
    works = []
    while (work := outbox.next(now)) is not None:
        works.append((work.act, work.incident))
    return works


def test_criticals_come_first():
    """A warning that came first waits for the critical that came after."""
    outbox, warning, critical = Outbox(), opened("a", Severity.WARNING), opened("b")
    outbox.put(warning)
    outbox.put(critical)

    assert [name for _, name in drained(outbox)] == [critical.incident.id, warning.incident.id]


def test_of_equals_the_one_that_waits_longest_goes_first():
    """Nobody starves behind names that sort earlier."""
    outbox, roots = Outbox(), [opened(f"run{number}") for number in range(30)]
    for root in roots:
        outbox.put(root)

    assert [name for _, name in drained(outbox)] == [root.incident.id for root in roots]


def test_a_root_that_is_put_back_keeps_what_joined_it():
    """Slack did not answer: the ranks that came meanwhile are settled by it all the same, each once."""
    outbox, root = Outbox(), opened("a")
    outbox.put(root)
    outbox.put(news(root, Reason.JOINED, "second"))
    for _ in range(3):
        work = outbox.next(0.0)
        assert (work.act, work.events) == (Act.ROOT, ("a-e", "second"))
        outbox.put_back(work, 0.0, 0.0)
    outbox.put(news(root, Reason.JOINED, "third"))

    assert outbox.next(0.0).events == ("a-e", "second", "third")


def test_one_trouble_of_one_run_is_told_in_its_order():
    """That it came, that it went, that it came again: nobody overtakes, also not while Slack takes nothing."""
    outbox, first = Outbox(), opened("a")
    again = replace(first, incident=replace(first.incident, id="a-2"))
    for said in (first, news(first, Reason.WORSE, "over"), again):
        outbox.put(said)

    root = outbox.next(0.0)
    assert outbox.next(0.0, [root.incident]) is None
    outbox.put_back(root, 0.0, 5.0)
    assert outbox.next(1.0) is None

    works = [outbox.next(6.0) for _ in range(3)]
    assert [(work.act, work.incident) for work in works] == [
        (Act.ROOT, first.incident.id),
        (Act.REPLY, first.incident.id),
        (Act.ROOT, "a-2"),
    ]


def test_another_run_waits_for_nobody():
    """Only the same trouble of the same run has an order."""
    outbox, first, other = Outbox(), opened("a"), opened("b")
    outbox.put(first)
    outbox.put(other)
    outbox.put_back(outbox.next(0.0), 0.0, 60.0)

    assert outbox.next(0.0).incident == other.incident.id


def test_a_reply_waits_for_its_root():
    """Root, reply, then the edit that both need."""
    outbox, root = Outbox(edit_interval_seconds=3.0), opened("a")
    outbox.put(root)
    outbox.put(news(root, Reason.WORSE, "e2"))

    assert [act for act, _ in drained(outbox)] == [Act.ROOT, Act.REPLY]
    assert [act for act, _ in drained(outbox, now=3.1)] == [Act.EDIT]


def test_many_edits_are_one():
    """Five hundred ranks are one edit that settles five hundred findings."""
    outbox, root = Outbox(), opened("a")
    outbox.put(root)
    drained(outbox)
    for rank in range(500):
        outbox.put(news(root, Reason.JOINED, f"e{rank}"))

    (work,) = [outbox.next(10.0)]

    assert (work.act, len(work.events)) == (Act.EDIT, 500)
    assert outbox.is_empty


def test_edits_keep_their_distance():
    """One edit now, the next only after the interval."""
    outbox, root = Outbox(edit_interval_seconds=3.0), opened("a")
    outbox.put(news(root, Reason.JOINED, "e1"))
    assert outbox.next(0.0).act is Act.EDIT
    outbox.put(news(root, Reason.JOINED, "e2"))

    assert outbox.next(1.0) is None
    assert outbox.seconds_to_next(1.0) == pytest.approx(2.0)
    assert outbox.next(3.0).events == ("e2",)


def test_a_root_settles_what_joined_before_it_was_posted():
    """Ranks that joined meanwhile are shown by the root itself."""
    outbox, root = Outbox(), opened("a")
    outbox.put(root)
    outbox.put(news(root, Reason.JOINED, "e2"))

    assert outbox.next(0.0).events == ("a-e", "e2")
    assert outbox.is_empty


@pytest.mark.parametrize("reason", [None, Reason.WORSE, Reason.JOINED])
def test_what_could_not_be_done_comes_again_later(reason):
    """Put back, it waits its time and loses nothing."""
    outbox, root = Outbox(), opened("a")
    outbox.put(root if reason is None else news(root, reason, "e2"))
    work = outbox.next(0.0)

    outbox.put_back(work, 0.0, 5.0)

    assert outbox.next(4.9) is None
    again = outbox.next(5.1)
    assert (again.act, again.events) == (work.act, work.events)


def test_one_incident_does_one_thing_at_a_time():
    """While its root is being posted, its reply waits; another incident goes on."""
    outbox, one, other = Outbox(), opened("a"), opened("b")
    outbox.put(news(one, Reason.WORSE, "e2"))
    outbox.put(news(other, Reason.WORSE, "e3"))

    assert outbox.next(0.0, busy={one.incident.id}).incident == other.incident.id
    assert outbox.next(0.0, busy={one.incident.id}).incident == other.incident.id
    assert outbox.next(0.0, busy={one.incident.id}) is None


def test_severity_that_rises_raises_the_urgency():
    """An incident that turned critical overtakes."""
    outbox, first, second = Outbox(), opened("a", Severity.WARNING), opened("b", Severity.WARNING)
    outbox.put(first)
    outbox.put(second)
    worse = replace(second.incident, severity=Severity.CRITICAL)
    outbox.put(Updated(worse, Reason.JOINED, 0.0, ("e9",)))

    assert outbox.next(0.0).incident == worse.id


def test_news_goes_on_while_edits_have_no_room():
    """A storm of edits never holds up a root."""
    outbox, old, new = Outbox(), opened("a"), opened("b")
    outbox.put(news(old, Reason.JOINED, "e2"))

    assert outbox.next(0.0, may_edit=False) is None
    assert outbox.seconds_to_next(0.0, may_edit=False) is None
    outbox.put(new)

    assert outbox.next(0.0, may_edit=False).act is Act.ROOT
