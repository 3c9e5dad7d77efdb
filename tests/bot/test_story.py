"""The thread is the story: what it costs, whom it calls, what helped before, when it ends."""

import pytest

from bot.closing import close_what_ended
from diagnosis.costs import costs_of
from diagnosis.findings import Severity
from diagnosis.incidents import Act, Resolved, Tracker
from handlers.earlier import most_like
from handlers.kept import Kept
from handlers.messages.care import costs_line
from tests.bot.conftest import a_run, settled

HOUR = 3600.0
NOW = 1_000_000.0


def opened(tracker, finding, event="e1", now=NOW, **more):
    tracker.receive(event, finding(**more), now)
    tracker.tick(now + 10)
    return tracker.open_of(more.get("run", "run42"))[-1]


def test_gpu_hours_grow_until_it_is_over(finding):
    """Eight GPUs that stand for two hours are sixteen hours; then they count no more."""
    tracker = Tracker()
    incident = opened(tracker, finding)

    now = costs_of(incident, 8, NOW + 2 * HOUR)
    tracker.act(incident.id, Act("resolve", "U1"), NOW + 3 * HOUR)
    over = costs_of(tracker.get(incident.id), 8, NOW + 9 * HOUR)

    assert costs_line(now).plain == "About 16 GPU-hours lost so far, 8 more each hour."
    assert costs_line(over).plain == "It cost about 24 GPU-hours."


@pytest.mark.parametrize(
    ("kind", "severity", "world_size"),
    [
        ("spike", Severity.CRITICAL, 8),
        ("nonfinite_loss", Severity.WARNING, 8),
        ("nonfinite_loss", Severity.CRITICAL, None),
    ],
)
def test_a_run_that_trains_on_costs_nothing(finding, kind, severity, world_size):
    """A spike is no loss of GPUs, and of an unknown number of GPUs nothing is said."""
    incident = opened(Tracker(), finding, kind=kind, severity=severity)

    assert costs_of(incident, world_size, NOW + HOUR) is None


def test_a_node_whose_clock_is_wrong_makes_no_hours(finding):
    """A finding from 1970 is counted from when it was received."""
    incident = opened(Tracker(), finding, seen_at=5.0)

    assert costs_of(incident, 8, NOW + HOUR).gpu_hours == pytest.approx(8.0)


def test_the_same_line_before_is_found_before_the_same_trouble(finding):
    """The most alike of all earlier ones; an open one and another trouble are none."""
    tracker = Tracker()
    kept = []
    for number, (run, signature) in enumerate([("a", "cuda_oom"), ("b", "xid_79"), ("c", "xid_79")]):
        details = {"category": "gpu_hardware", "signature": signature}
        incident = opened(tracker, finding, f"e{number}", NOW + number, run=run, kind="k", details=details)
        tracker.act(incident.id, Act("resolve", "U1", "drained it" if run == "b" else ""), NOW + 100 + number)
        kept.append(Kept(tracker.get(incident.id), "C1", "1.0"))
    details = {"category": "gpu_hardware", "signature": "xid_79"}
    now = opened(tracker, finding, "e9", NOW + HOUR, run="d", kind="k", details=details)

    assert most_like(now, kept).incident.run == "b"
    assert most_like(now, kept[:1]).incident.run == "a"
    assert most_like(now, [Kept(now, "C1", "1.0")]) is None


@pytest.mark.parametrize(
    ("before", "now", "is_same"),
    [
        ("spike", "divergence", False),
        ("divergence", "spike", False),
        ("divergence", "divergence", True),
        ("loss_spike_reported", "spike", True),
        ("loss_scale_floor", "nonfinite_loss", False),
        ("nonfinite_grad_norm", "nonfinite_loss", True),
        ("initialising_too_long", "stalled", False),
    ],
)
def test_only_the_same_kind_of_failure_is_called_the_same(finding, before, now, is_same):
    """A spike that ended by itself tells nothing about a loss that climbs and stays."""
    tracker = Tracker()
    earlier = opened(tracker, finding, "e1", kind=before, details={})
    tracker.act(earlier.id, Act("resolve", "U1", "it helped"), NOW + 100)
    kept = [Kept(tracker.get(earlier.id), "C1", "1.0")]

    found = most_like(opened(Tracker(), finding, "e2", NOW + HOUR, run="run43", kind=now, details={}), kept)

    assert (found is not None) is is_same


async def test_a_critical_incident_calls_people_once(workspace, bot, registry, publish, finding):
    """`@here` when it opens; not when it is edited, not when it comes back, not for a warning."""
    await publish(finding())
    await settled(registry, 1)
    (root,) = workspace.messages()
    first = root["text"]
    await workspace.click(root["ts"], "acknowledge")
    await workspace.until(lambda: "has it since" in str(workspace.messages()[0]["blocks"]))
    await publish(finding("divergence", severity=Severity.WARNING, run="run43", rank=None))
    await settled(registry, 2, 20)

    posted = [str(call.args.get("text")) for call in workspace.calls_of("chat.postMessage")]

    assert first.endswith("<!here>")
    assert sum("<!here>" in one for one in posted) == 1
    assert "<!here>" not in str(workspace.messages()[0]["blocks"])


async def test_one_night_is_one_page(workspace, bot, registry, publish, finding):
    """NaN, then the run stands: one root, one `@here`; the stall is told in the thread, and the root says it, too."""
    await publish(finding())
    await settled(registry, 1)
    await publish(finding("stalled", rank=5, text="stalled at step 41,205, no progress for 10 min"))
    await settled(registry, 2, 20)

    (root,) = await workspace.until(
        lambda: [one for one in workspace.messages() if "❗ Also: *stalled" in str(one["blocks"])]
    )
    (reply,) = workspace.replies(root["ts"])
    posted = [call.args for call in workspace.calls_of("chat.postMessage")]

    assert reply["text"].startswith("Now also: *stalled at step 41,205")
    assert sum("<!here>" in str(one.get("text")) for one in posted) == 1
    assert not any(one.get("reply_broadcast") for one in posted)


async def test_a_reply_that_calls_is_seen_in_the_channel(workspace, bot, registry, publish, finding):
    """A warning that turned critical: in a thread nobody would be called who does not follow it."""
    await publish(finding("loss_spike", severity=Severity.WARNING))
    await settled(registry, 1, 20)
    await publish(finding("divergence"))
    await settled(registry, 2, 20)

    (calling,) = [one.args for one in workspace.calls_of("chat.postMessage") if "<!here>" in str(one.args.get("text"))]

    assert calling["thread_ts"]
    assert calling["reply_broadcast"]


async def test_what_helped_then_is_said_now(workspace, bot, registry, publish, finding):
    """The root links the earlier thread, and repeats how it was closed."""
    await a_run(registry)
    await publish(finding())
    await settled(registry, 1)
    (root,) = workspace.messages()
    await workspace.mention("close skipped batch 7", thread_ts=root["ts"])
    await workspace.until(lambda: "✅" in workspace.messages()[0]["text"])

    await publish(finding(run="run43"))
    await settled(registry, 2)

    said = str(workspace.messages()[-1]["blocks"])
    assert "Same failure before, in *run42*" in said
    assert "<@U0ALICE> closed it: skipped batch 7" in said
    assert f"/archives/{workspace.channel}/p{root['ts'].replace('.', '')}|its thread>" in said


async def test_an_incident_of_a_run_that_ended_long_ago_is_closed(registry, finding):
    """Not at once: it may be started again; after a day nobody is reminded any more."""
    tracker = Tracker()
    now = await registry.now()
    await registry.runs.see("run42", state="crashed")
    opened(tracker, finding, now=now)

    early = await close_what_ended(registry, tracker, 86_400.0, now + HOUR)
    (late,) = await close_what_ended(registry, tracker, 86_400.0, now + 25 * HOUR)

    assert early == []
    assert isinstance(late, Resolved)
    assert late.text == "the run crashed 25 h ago and was not started again"


async def test_a_report_arrives_as_two_files(workspace, bot, registry, publish, finding):
    """`/runwatch report run42`, and the entry of the menu for one incident."""
    await a_run(registry, bad_from=151)
    await publish(finding(step=151, line="step=151 loss=nan"))
    await settled(registry, 1)
    (root,) = workspace.messages()
    await workspace.click(root["ts"], "acknowledge")
    incident = next(iter(await registry.incidents.all_open()))

    await workspace.slash("/runwatch", "report run42")
    files = await workspace.until(lambda: _files(workspace, "run42-report"), 60)
    await workspace.click(root["ts"], "more", value=f"report/{incident}")
    mine = await workspace.until(lambda: _files(workspace, f"run42-{incident}."), 60)

    page = workspace.file_bytes(next(file["id"] for file in files if file["name"].endswith(".html"))).decode()
    assert "data:image/png;base64," in page
    assert "<td>alice</td>" in page
    assert {file["name"].rpartition(".")[2] for file in files} == {"html", "md"}
    assert len(mine) >= 2


def _files(workspace, name):
    found = [file for message in workspace.all_messages() for file in message.get("files") or ()]
    mine = [file for file in found if file["name"].startswith(name) and not file["name"].endswith(".png")]
    return mine if len(mine) >= 2 else None
