"""A loss that climbs and stays: it is told above the spike that began it, and each step with its own line."""

import re

from bot.inspect import inspect

CALM = [2.2 + step % 7 / 100 for step in range(1, 1201)]


def answered(folder, losses):
    lines = [f"step={step} loss={loss:.4f} lr=1e-4\n" for step, loss in enumerate(losses, 1)]
    (folder / "train.log").write_text("".join(lines))
    return inspect([folder]).as_dict()


def test_a_climb_that_stays_is_more_than_the_spike_that_began_it(tmp_path):
    """Its advice is to stop, not to note it, and its first bad step is where the loss left its level."""
    climb = [2.2 + min(5.0, 0.12 * step) + step % 3 / 100 for step in range(400)]
    answer = answered(tmp_path, CALM + climb)
    said = answer["diagnosis"]

    assert {"loss_spike", "divergence"} <= {finding["kind"] for finding in answer["findings"]}
    assert (said["category"], said["confidence"]) == ("loss_spike", "high")
    assert said["because"][0].startswith("loss climbs and stays")
    assert said["next"][0].startswith("Stop: ")
    assert not any("only note it" in step.lower() for step in said["next"])
    assert 1201 <= said["first_bad_step"] <= 1206
    assert said["evidence"]["line"] == said["first_bad_step"]


def test_a_sentence_stands_beside_the_line_of_the_step_it_names(tmp_path):
    """The peak with the peak's line, the beginning with its own."""
    climb = [2.2 + min(5.0, 0.12 * step) + step % 3 / 100 for step in range(400)]
    because = answered(tmp_path, CALM + climb)["diagnosis"]["because"]
    told = [re.search(r"(?:at|of|since) step ([\d,]+) \(train\.log:(\d+)\)", text) for text in because]
    pairs = [(found[1].replace(",", ""), found[2]) for found in told if found]

    assert len(pairs) >= 3
    assert all(step == line for step, line in pairs)


def test_a_spike_that_came_back_stays_a_spike(tmp_path):
    """Nobody is told to stop for it."""
    said = answered(tmp_path, [*CALM, 5.0, 5.2, 5.1, 4.9, 4.0, *CALM[:300]])["diagnosis"]

    assert (said["category"], said["confidence"]) == ("loss_spike", "medium")
    assert said["next"][0].lower().startswith("only note it")
