"""What the tests of runs that stop share: a bot's short patience, and how to wait for what it says."""

from diagnosis.thresholds import Thresholds

LIMITS = Thresholds(
    stall_after=2.0, stall_min=2.0, stall_max=2.5, stall_first_step=30.0, stall_phase=30.0, watcher_silent_after=60.0
)
"""Real runs wait minutes; each of these is an ordinary setting."""


async def root_about(workspace, words, seconds=60.0):
    """The first root message whose blocks hold these words."""

    def found():
        return next((one for one in workspace.messages() if words in str(one)), None)

    return await workspace.until(found, seconds)


async def asked(workspace, command, words):
    """What a command answers."""
    before = len(workspace.messages())
    await workspace.slash(command, words)
    answers = await workspace.until(lambda: workspace.messages()[before:])
    return answers[0]
