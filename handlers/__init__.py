"""What a person can do in Slack: one file per command and button, told by these two lists."""

from handlers import (
    acknowledge,
    ask_button,
    choose_run,
    close_form,
    confirm_stop,
    diagnose,
    limits_form,
    loss,
    more,
    mute_button,
    mute_form,
    note_form,
    patience_form,
    runs,
    runs_pages,
    runwatch,
    snapshot,
    snapshot_button,
    stall,
    stop_button,
    suggest_runs,
    unmute_button,
)

_ABOUT_RUNS = (loss.COMMAND, stall.COMMAND, snapshot.COMMAND, runs.COMMAND)
RUNWATCH = runwatch.make(_ABOUT_RUNS)
COMMANDS = (*_ABOUT_RUNS, RUNWATCH)
"""Every slash command; by mention the same."""
ASK = ask_button.make(_ABOUT_RUNS)
BUTTONS = (
    acknowledge.BUTTON,
    mute_button.BUTTON,
    snapshot_button.BUTTON,
    more.BUTTON,
    stop_button.BUTTON,
    confirm_stop.BUTTON,
    runs_pages.BUTTON,
    unmute_button.BUTTON,
    choose_run.BUTTON,
    ASK,
)
"""Every button of our messages."""
FORMS = (note_form.FORM, close_form.FORM, mute_form.FORM, patience_form.FORM, limits_form.FORM)
"""Every form that people fill in."""

SELECTS = (suggest_runs.SELECT,)
"""Every menu that suggests while somebody types."""
SHORTCUTS = (diagnose.SHORTCUT,)
"""Every entry of ours in the menu of a message."""

__all__ = ["BUTTONS", "COMMANDS", "FORMS", "RUNWATCH", "SELECTS", "SHORTCUTS"]
