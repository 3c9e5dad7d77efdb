"""What is said about a stop: what would be done, what is left, how it is cleaned up."""

import pytest

from handlers.messages.snapshot import NodeSaved
from handlers.messages.stop import confirm, how_to_stop, not_safe, plan_of, stopped

PLAN = {
    "node": "node17",
    "way": "torchrun",
    "launchers": [{"pid": 77, "command": "torchrun train.py"}],
    "processes": 9,
    "commands": ["kill -TERM 77"],
    "allowed": True,
}


def test_the_question_says_what_is_done_where_and_who_may_confirm():
    said = confirm("run42", "U0ALICE", [plan_of("node17", PLAN)], ["node18"], "v")

    whole = str(said.blocks)
    assert said.text == "<@U0ALICE> wants to stop *run42*."
    assert "node17: torchrun, which ends its ranks, process 77 (9 processes in all)" in whole
    assert "node18 do not answer and will not be asked" in whole
    assert "Only <@U0ALICE> can confirm" in whole


def test_everything_ended():
    said = stopped("run42", [plan_of("node17", PLAN | {"ended": 9, "left": []})], [], ["/s/1"])

    assert said.text == "*run42 is stopped*: all 9 processes ended, none is left behind."
    assert "Evidence: `/s/1`." in str(said.blocks)


def test_what_is_left_is_named_with_its_gpus_and_the_command():
    left = [{"pid": 80, "name": "python3", "state": "waits in the kernel", "gpus": [3, 4]}]
    body = PLAN | {"ended": 8, "left": left, "cleanup": ["kill -TERM 80; sleep 10; kill -KILL 80"]}

    said = stopped("run42", [plan_of("node17", body)], ["node18"], [])

    whole = str(said.blocks)
    assert said.text == "*run42 is not stopped everywhere*: 8 processes ended, 1 left."
    assert "node17: python3 80 (waits in the kernel); process 80 still holds GPU 3, 4" in whole
    assert "node18 did not answer" in whole
    assert "kill -KILL 80" in whole


def test_memory_that_nobody_gave_back_is_told_though_all_ended():
    """Zombies keep the GPU memory."""
    body = PLAN | {"ended": 9, "left": [], "gpus_held": ["GPU 3: 40.0 GiB still in use by 4711"]}

    said = stopped("run42", [plan_of("node17", body)], [], [])

    assert "stopped, but memory of GPUs is still in use" in said.text
    assert "GPU 3: 40.0 GiB still in use by 4711" in str(said.blocks)


@pytest.mark.parametrize(
    ("is_saved", "head"),
    [
        (True, "To stop *run42*, on each node:"),
        (False, "To stop *run42*, save the evidence first (press Snapshot), then on each node:"),
    ],
)
def test_without_permission_the_commands_come_first_and_then_why(is_saved, head):
    """Nobody is sent to save what is saved."""
    why = "its owner did not allow stops (`--allow-stop`)."

    said = how_to_stop("run42", [plan_of("node17", PLAN)], why, is_saved=is_saved)

    whole = str(said.blocks)
    assert said.text == head
    assert whole.index("# node17\\nkill -TERM 77") < whole.index(f"I cannot stop it myself: {why}")


def test_missing_evidence_is_named():
    said = not_safe("run42", [NodeSaved("node17", essential=("log_tails",))], [], [plan_of("node17", PLAN)])

    assert "node17 lacks its logs" in str(said.blocks)


def test_an_answer_of_another_version_is_read_kindly():
    odd = {"launchers": [5, {"pid": "x"}], "left": "none", "processes": None, "commands": None, "cleanup": None}

    assert plan_of("node17", odd | {"left": []}).node == "node17"
    assert plan_of("node17", {}).pids == ()
