"""Counters within an epoch made into steps of the run, where the line tells how long an epoch is."""

from diagnosis.formats.line_format import Settle, Values


def whole_steps(first_epoch: int) -> Settle:
    """Step = epochs before this one × their length + the counter; `first_epoch` is what the first is called.

    A log that has an earlier one counts from that (`Steps.whole` knows what came before).
    """

    def settle(values: Values) -> bool:
        if "step_in_epoch" in values and values.get("steps_per_epoch") and "epoch" in values and "step" not in values:
            values["first_epoch"] = float(first_epoch)
        else:
            values.pop("steps_per_epoch", None)
        return True

    return settle
