"""A node that does not answer: who else has its logs."""

import pytest

from diagnosis.observations import Heartbeat
from handlers.messages.silent_nodes import silent_nodes
from handlers.messages.snapshot import NodeSaved
from handlers.shared_logs import elsewhere
from registry import Beat


def beat(node, logs=""):
    fields = {"shared_logs/run42": logs} if logs else {}
    return Beat(Heartbeat(f"{node}/run42", node, 0.0, fields=fields))


@pytest.mark.parametrize(
    ("silent", "answers", "found"),
    [
        ("f1-a f1-b", [("node1", "", ["f1-a", "f1-b", "f1-c"])], ("node1", True)),
        ("f1-a f1-b", [("node1", "f1-a", ["f1-a"])], ("node1", False)),
        ("f1-a", [("node1", "f1-z", [])], ("node1", False)),
        ("f1-a", [("node1", "f2-a", ["f2-a"]), ("node2", "", ["f1-a"])], ("node2", True)),
        ("f1-a", [("node1", "f2-a", ["f2-a"])], ("", False)),
        ("", [("node1", "f1-a", ["f1-a"])], ("", False)),
        ("f1-a", [("node1", "", None)], ("", False)),
    ],
    ids=["all saved", "some saved", "sees the folder", "the second", "another disk", "its own disk", "older watcher"],
)
def test_the_best_other_node_is_found(silent, answers, found):
    """One that saved them all before one that only sees their folder."""
    told = [(beat(node, logs), {"shared_logs": saved}) for node, logs, saved in answers]

    assert elsewhere(beat("node9", silent), "run42", told) == found


@pytest.mark.parametrize(
    ("logs_from", "saved", "sentence"),
    [
        ("", False, "*No answer from* node9 (its watcher was last heard 4 min ago). "),
        ("node8", False, "node9 (its watcher was last heard 4 min ago; node8 sees the folder of its logs too)"),
        ("node8", True, "4 min ago; its logs are on a shared disk and were saved from node8). "),
    ],
)
def test_the_line_of_a_silent_node_names_the_other(logs_from, saved, sentence):
    node = NodeSaved("node9", silent_seconds=240.0, logs_from=logs_from, has_logs_elsewhere=saved)

    assert sentence in silent_nodes([node]).mrkdwn
