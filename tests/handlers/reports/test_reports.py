"""The post-mortem: complete, and harmless whatever a log says."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from diagnosis.findings import Finding, Severity
from diagnosis.incidents import Act, Mute, Tracker
from diagnosis.incidents.explaining import ABOUT, EXPLANATION
from diagnosis.observations import Evidence, Origin
from handlers.messages.languages import speaking
from handlers.reports.document import Code, Heading, Paragraph, Points, Table
from handlers.reports.markdown import to_markdown
from handlers.reports.post_mortem import Told, post_mortem
from handlers.reports.web import to_html
from registry import Run
from registry.audit import NOT_DONE, Entry
from tests.bot.chinese import english_in

NOW = 1_700_000_000.0
ATTACK = "<script>alert(1)</script> <img src=x onerror=alert(1)> [a](javascript:x) ``` \x1b[2J <!channel> &amp; | |"


class Tags(HTMLParser):
    """Every tag and every address of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.addresses = set(), []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.addresses += [value for name, value in attrs if name in ("src", "href")]
        assert not [name for name, _ in attrs if name.startswith("on")]


def told(text="loss is NaN since step 41,200; last good: step 41,199", **more):
    tracker = Tracker()
    evidence = (Evidence("train.log", 12, f"{text} api_key=sk-abcdefghijklmnopqrstuvwx"),)
    finding = Finding("nonfinite_loss", Severity.CRITICAL, Origin("run42", "node17", 3, 3), text, evidence, 41_200)
    (opened,) = tracker.receive("e1", finding, NOW)
    name = opened.incident.id
    tracker.acknowledge(name, "U0ALICE", NOW + 60)
    tracker.set_mutes([Mute("run42", NOW + 600, "U0BOB", reason=text)], NOW + 61)
    tracker.act(name, Act("note", "U0BOB", text), NOW + 90)
    tracker.act(name, Act("resolve", "U0ALICE", "skipped batch 7"), NOW + 3600)
    run = Run("run42", world_size=8, last_step=41_300, last_loss=2.31, owner=text)
    effect = Entry(NOW + 60, "U0ALICE", "T1", "admin", "button", "acknowledge", name, text)
    names = {"U0ALICE": "Alice", "U0BOB": "Bob"}
    return Told(run, [tracker.get(name)], [], [effect], NOW + 7200, names, **more)


def test_it_tells_what_happened_what_helped_and_who():
    """Facts, evidence with its place, the timeline in order, names instead of ids."""
    page = to_markdown(post_mortem(told()))

    for words in (
        "# run42: what happened",
        "over after 1 h",
        "about 8.0 GPU-hours",
        "Alice closed it: skipped batch 7",
        "From the log: train.log:12",
        "What was done, and by whom",
    ):
        assert words in page, page
    moments = re.findall(r"^\| (2023-11-1\d \d\d:\d\d:\d\d) \| (\w+)", page, re.MULTILINE)
    assert [what for _, what in moments[:5]] == ["found", "taken", "muted", "note", "over"]
    assert "sk-abcdefghijkl" not in page


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("CUDA out of memory", "6 times, the last at 2023-11-14 22:13:25"),
        ("CUDA out of memory on rank {rank}", "and 5 more like it, the last at 2023-11-14 22:13:25"),
    ],
)
def test_the_same_of_many_ranks_is_one_row_with_its_number(text, times):
    """The timeline is read by people."""
    tracker = Tracker()
    for rank in range(6):
        said = text.format(rank=rank)
        finding = Finding("rank_crash", Severity.CRITICAL, Origin("run42", "node17", rank, rank), said)
        tracker.receive(f"e{rank}", finding, NOW + rank)
    (incident,) = tracker.open_of("run42")

    page = to_markdown(post_mortem(Told(Run("run42"), [incident], [], [], NOW + 60)))

    assert page.count("| found |") == 1
    assert f"{text.format(rank=0)} \\({times}\\) |" in page


def test_what_was_not_understood_is_not_called_done():
    """A command with wrong words did nothing."""
    asked = Entry(NOW, "U0ALICE", "T1", "admin", "command", "mute", "C1", "run42 5 years")

    page = to_markdown(post_mortem(Told(Run("run42"), [], [], [asked, replace(asked, result=NOT_DONE)], NOW)))

    assert page.count("run42 5 years") == 1
    assert "| not done: not understood |" in page


def test_the_page_loads_nothing_and_runs_nothing():
    """One file: no script, no address but its own pictures, a policy that forbids the rest."""
    page = to_html(post_mortem(told(pictures={"": b"\x89PNG"})), "run42")

    tags = Tags(page)
    assert not tags.tags & {"script", "iframe", "link", "object", "form", "a"}
    assert all(address.startswith("data:image/png;base64,") for address in tags.addresses)
    assert "default-src 'none'" in page


@pytest.mark.parametrize("attack", [ATTACK, ATTACK * 40, "\n\n# owned\n\n---", "| a | b |", "1. x", "`" * 9])
def test_no_text_of_a_stranger_breaks_out(attack):
    """What a log, a note or a name says stays text, in both writings."""
    page, plain = to_html(post_mortem(told(attack)), attack), to_markdown(post_mortem(told(attack)))

    assert not Tags(page).tags & {"script", "img", "a"}
    assert "\x1b" not in page + plain
    outside = re.sub(r"(?ms)^(`{3,})text$.*?^\1$", "", plain)
    assert not re.search(r"(?<!\\)<(script|img)", outside)
    assert "](javascript" not in outside
    assert "# owned" not in re.findall(r"^.*$", outside, re.MULTILINE)


def test_a_fence_in_a_log_does_not_end_ours():
    """The fence is longer than any in the text."""
    page = to_markdown([Code("a\n```\n# not a title"), Heading("after")])

    assert page.startswith("````text\na\n```\n# not a title\n````")


def test_every_part_has_both_writings():
    """A table of one row is none; points and paragraphs are escaped."""
    document = [
        Heading("t", 1),
        Paragraph("a *b*"),
        Points(["x_y_z"]),
        Table([["only", "head"]]),
        Table([["h"], ["|"]]),
    ]

    assert to_markdown(document) == "# t\n\na \\*b\\*\n\n- x\\_y\\_z\n\n| h |\n|---|\n| \\| |\n"
    assert "<td>|</td>" in to_html(document, "t")


def test_a_report_is_whole_in_chinese():
    """Headings, facts, what was done; what people and logs said stays."""
    with speaking("zh"):
        document = post_mortem(told())
        page, html = to_markdown(document), to_html(document, "run42")

    assert "# run42：事情经过" in page
    assert "| 发现 |" in page
    assert "skipped batch 7" in page
    assert '<html lang="zh">' in html
    ours = [
        line for line in page.splitlines() if "skipped batch" not in line and "U0" not in line and "sk-" not in line
    ]
    assert [line for line in ours if english_in(line.replace("loss is NaN since step 41,200", ""))] == []


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_death_after_a_nan_stands_in_the_report_with_its_cause(language):
    """What was told beside the NaN, whose it was, and both in the timeline."""
    tracker = Tracker()
    tracker.receive("e1", Finding("nonfinite_loss", Severity.CRITICAL, Origin("run42", "n1", 0), "loss is NaN"), NOW)
    text = "a process was killed by SIGKILL (exit code -9)"
    tracker.receive("e2", Finding("killed", Severity.CRITICAL, Origin("run42", "n1"), text), NOW + 60)
    (incident,) = tracker.open_of("run42")
    details = {
        "incident": incident.id,
        ABOUT: "rank_crash",
        "more": "Rank 1 (n1) failed first · confidence: low.\nBecause:",
    }
    tracker.receive("e3", Finding(EXPLANATION, "warning", Origin("run42", "n1", 1), text, details=details), NOW + 63)

    with speaking(language):
        page = to_markdown(post_mortem(Told(Run("run42"), tracker.open_of("run42"), [], [], NOW + 7200)))

    if language == "en":
        assert "Also: a process was killed by SIGKILL" in page
        assert page.count("failed first · confidence: low") == 2
    else:
        assert "另有：" in page
        assert [line for line in page.splitlines() if english_in(line.replace("run42", ""))] == []
