"""`/runwatch checklist`: what to look at before a restart, as far as the log told."""

import pytest

from diagnosis.observations import Evidence, Origin, RankProgress
from tests.bot.conftest import a_run


async def said_for(workspace, words):
    """What the asker, and only they, is told; else what the channel is told."""
    await workspace.slash("/runwatch", words)
    (said,) = await workspace.until(lambda: workspace.ephemerals() or workspace.messages())
    return str(said["blocks"])


async def test_a_run_is_filled_in_as_far_as_its_log_told(workspace, bot, registry):
    """Known values with their advice, the rest under `look by hand`."""
    await a_run(registry)
    await registry.runs.see(
        "run42",
        last_lr=1e-4,
        last_step=150,
        world_size=8,
        batch_size=512.0,
        checkpoint=100,
        environment={"torch": "2.4.1", "command": "train.py --gradient-accumulation-steps 4"},
    )

    said = await said_for(workspace, "checklist run42")

    known, by_hand = said.split("look by hand")
    for told in (
        "*global batch size*: 512 –",
        "*gradient accumulation*: 4 –",
        "*learning rate*: 1.0e-4 at step",
        "*checkpoint to resume from*: step 100",
        "*world size*: 8 –",
        "*versions*: torch 2.4.1 –",
        "*logging interval*: every step –",
    ):
        assert told in known
    assert "*log level*: its loss lines are printed –" in known
    assert "*loss scale*" in by_hand


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (None, "step 100 is the newest the log tells of; its last loss was 2.75, at step 100 –"),
        (131, "step 80 is the newest before the bad step 131; its last loss was 2.80, at step 80 –"),
    ],
)
async def test_the_checkpoint_is_told_with_its_last_loss(workspace, registry, goes_wrong, bad, told):
    """The newest; where something went wrong, the newest before that."""
    await a_run(registry)
    await registry.runs.see("run42", checkpoint=100)
    await goes_wrong(bad)

    await workspace.slash("/runwatch", "checklist run42")

    await workspace.until(lambda: f"*checkpoint to resume from*: {told}" in str(workspace.messages()))


@pytest.mark.parametrize(
    ("newest", "told"),
    [
        (None, "one from before step 61, and the log tells of none –"),
        (2500, "one from before step 61, and the log tells of none; step 2,500, the newest, is not –"),
        (40, "step 40 is the newest before the bad step 61; its last loss was 2.90, at step 40 –"),
    ],
)
@pytest.mark.parametrize("is_closed", [False, True], ids=["open", "closed by a person"])
async def test_a_learning_rate_that_leapt_is_no_plain_value(
    workspace, bot, registry, publish, finding, *, newest, told, is_closed
):
    """With the value before and its line; and the checkpoint is one from before the bad step."""
    await a_run(registry)
    await registry.runs.see("run42", last_lr=1e18, last_step=2564, **({"checkpoint": newest} if newest else {}))
    leap = "learning rate: 1.0e-3 → 1.0e18 at step 61 (train.log:62)"
    await publish(finding(step=61, changes=("epoch: 2", leap)))
    (root,) = await workspace.until(workspace.messages)
    if is_closed:
        await workspace.mention("close mended", thread_ts=root["ts"])
        await workspace.until(lambda: "✅" in workspace.messages()[0]["text"])

    await workspace.slash("/runwatch", "checklist run42")
    said = await workspace.until(lambda: [one for one in workspace.messages() if "Before you start" in one["text"]])

    value = "⚠ it changed around the trouble: 1.0e-3 → 1.0e18 at step 61 (train.log:62); now 1.0e18 at step 2,564 –"
    assert f"*learning rate*: {value}" in str(said[0]["blocks"])
    assert f"*checkpoint to resume from*: {told}" in str(said[0]["blocks"])


@pytest.fixture
def goes_wrong(workspace, bot, publish, finding):
    """An incident at a step, with step 80 the newest checkpoint before it."""

    async def tell(step):
        if step is not None:
            await publish(finding(step=step, details={"checkpoint": "80"}))
            await workspace.until(workspace.messages)

    return tell


async def test_a_loss_that_was_bad_already_spoils_the_checkpoint(workspace, bot, registry):
    """Said with the step."""
    await a_run(registry, bad_from=151)
    await registry.runs.see("run42", checkpoint=160)

    said = await said_for(workspace, "checklist run42")

    assert "its loss was not finite any more at step 160, so take an older one" in said


@pytest.mark.parametrize(
    ("file", "told"),
    [("rank{}.log", "one for each of 4 ranks –"), ("train.log", "4 ranks share one file –")],
)
async def test_how_the_ranks_share_their_files_is_told(workspace, bot, registry, file, told):
    """Each its own, or all in one."""
    await a_run(registry)
    await registry.ranks.update(
        "run42",
        [
            RankProgress(Origin("run42", "node1", rank), 150, 0.0, 0.0, evidence=Evidence(file.format(rank), 1, "x"))
            for rank in range(4)
        ],
    )

    assert f"*log files*: {told}" in await said_for(workspace, "checklist run42")


async def test_a_framework_is_told_how_to_print_its_loss(workspace, bot, registry):
    """Also in capitals, and before any run exists."""
    said = await said_for(workspace, "checklist HuggingFace")

    assert "logging_steps=10" in said
    assert "global batch size" in said


@pytest.mark.parametrize(
    ("words", "right"),
    [
        ("checklist", "fills in what its log told"),
        ("checklist run4", "Did you mean `run42`"),
        ("checklist megatrom", "Did you mean `megatron`?"),
        ("checklst run42", "Did you mean `checklist`?"),
    ],
)
async def test_anything_else_gets_what_is_right(workspace, bot, registry, words, right):
    """A sentence with a near name."""
    await a_run(registry)

    assert right in await said_for(workspace, words)
