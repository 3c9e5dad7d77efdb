"""Lines that say what a run does when it does not train: evaluate, save, load, tokenise, finish.

A lawful pause is not a stall, so the beginning matters; an evaluation's own loss is kept as `eval_loss`.
"""

import re

from diagnosis.formats.rules import PhaseRule, pattern
from diagnosis.observations import Phase

_EVALUATED = (
    (
        ("validation loss at", "validation results"),
        r"validation (?:loss|results) at iteration (?P<step>\d{1,15}).*?lm[ _]loss value: #",
    ),
    ((", val loss ",), r"(?:^|[\s\])|>])step (?P<step>\d{1,15}): train loss \S+(?: BPC)?, val loss #"),
    ((" val_loss:",), r"^step:(?P<step>\d{1,15})/\d+ val_loss:#"),
    (("^s:",), r"^s:(?P<step>\d{1,15}) tel:#"),
    ((" val ",), r"^(?P<step>\d{1,15}) val #$"),
    ((": Val loss ",), r"^Iter (?P<step>\d{1,15}): Val loss #"),
    ((" val loss ",), r"^iter (?P<step>\d{1,15}):? (?:step \d+:? )?val loss #"),
    (
        ("^val loss", "^validation loss", "^eval loss", "^Val loss", "^Validation loss", "^Validation Loss"),
        r"^(?i:val(?:idation)?|eval) (?i:loss)(?: (?P<step>\d{1,15}):)?:? +#(?!:|\d)",
    ),
    (("eval_loss",), r"['\"]eval_loss['\"]: ?['\"]?#"),
    (("valid_loss",), r"['\"]valid_loss['\"]: ?['\"]?#"),
    (("validate step:",), r"\bvalidate step:\s+(?P<step>\d{1,15})\s+loss:\s+#"),
    (("eval metrics after",), r"eval metrics after step: (?P<step>\d{1,15}), loss=#"),
    (("eval_accuracy",), r"\"key\": \"eval_accuracy\", \"value\": #"),
    (("valid | ", "valid on '"), r"\bvalid(?: on '[^']*' subset)? \| .*?\bloss #"),
    (("^chosen: ",), r"^chosen: .*, loss: #"),
    (
        ("^ppl: ", "Completed eval", "eval_stop", "Evaluation, AUC"),
        r"^ppl: [\d.]+|^Completed eval step|\"eval_stop\"|Evaluation, AUC",
    ),
)
_EVALUATES = (
    (
        ("Running Evaluation", "Running evaluation", "Running Prediction"),
        r"\*+ Running (?:[Ee]valuation|[Pp]rediction)",
    ),
    (("Evaluating ",), r"\*+ Evaluating |^Evaluating (?:iter|\(step)"),
    (("evaluating HellaSwag", "evaluating on "), r"^evaluating (?:HellaSwag|on )"),
    (
        ("valuating at ", "Validating at ", "validating at ", "valuating after "),
        r"\b(?i:evaluating|validating) (?:at|after) (?i:step|iteration|iter|epoch)[ _:=]*(?P<step>\d{1,15})?",
    ),
    (("> working on", "> running eval", "eval_start"), r"> working on iteration|> running evaluation|\"eval_start\""),
    (("Starting eval", "Running validation", "Starting validation"), r"(?:Starting|Running) (?:eval|validation)"),
    (
        ("^[eval batch", "Epoch(val)", "Iter(val)", "^val[", "^Test:"),
        r"^\[eval batch=|(?:Epoch|Iter)\(val\)|^val\[|^Test: +\[",
    ),
)
_SAVED = (
    (
        ("successfully saved", "heckpoint saved", "Saved checkpoint", "saved checkpoint", "Saved model"),
        r"(?i)successfully saved checkpoint|checkpoint saved|saved (?:the )?(?:model|checkpoint)",
    ),
    (("Finished saving", "finished saving", "heckpoint finished"), r"(?i)finished saving|checkpoint finished"),
)
_SAVES = (
    (
        ("saving ", "Saving "),
        (
            r"\b[Ss]aving (?:the )?(?:[\w.]+ ){0,3}(?:checkpoint|model|optimizer|state|weights)\b"
            r"(?:.*?(?:iteration|step|global_step|checkpoint-)[ _]*(?P<step>\d{1,15}))?"
        ),
    ),
    (("Writing checkpoint", "writing checkpoint", "Save checkpoint"), r"(?i)(?:writing|save) checkpoint"),
)
_LOADED = (
    (
        ("successfully loaded", "heckpoint loaded", "Loaded checkpoint", "loaded checkpoint", "Finished loading"),
        r"(?i)successfully loaded checkpoint|checkpoint loaded|loaded checkpoint|finished loading",
    ),
)
_LOADS = (
    (
        ("loading checkpoint", "loading weights", "Loading "),
        r"\b[Ll]oading (?:the )?(?:[\w.]+ ){0,3}(?:checkpoint|model|weights|optimizer)\b",
    ),
)
_TOKENISES = (
    (
        ("okeniz", "Preprocessing dataset", "building the index"),
        r"^(?:Running )?[Tt]okeniz(?:er|ing)\b|(?i:preprocessing dataset)|building the index",
    ),
)
_FINISHED = (
    (("train_runtime",), r"['\"]train_runtime['\"]: |^ +train_runtime +="),
    (("after training is", "run_stop"), r"\[after training is done\]|\"key\": \"run_stop\""),
    (
        (
            "Training complete",
            "Training done",
            "Training is",
            "raining finished",
            "raining has finished",
            "Finished training",
        ),
        r"[Tt]raining (?:is |has )?(?:completed|complete\b|finished|done\b)|Finished training",
    ),
    (("exiting program",), r"\bexiting program (?:at iteration|after) \d"),
    (("Trainer.fit` stopped",), r"`Trainer\.fit` stopped: `max_(?:epochs|steps)"),
    (
        ("saving the final", "exits successfully", "Loss for final"),
        r"^saving the final model|exits successfully|Loss for final step",
    ),
)

RULES = tuple(
    PhaseRule(needles, pattern(text), phase, begins)
    for phase, begins, table in (
        (Phase.EVALUATING, False, _EVALUATED),
        (Phase.EVALUATING, True, _EVALUATES),
        (Phase.SAVING, False, _SAVED),
        (Phase.LOADING, False, _LOADED),
        (Phase.FINISHED, True, _FINISHED),
        (Phase.SAVING, True, _SAVES),
        (Phase.LOADING, True, _LOADS),
        (Phase.TOKENISING, True, _TOKENISES),
    )
    for needles, text in table
)
"""First speaks first. A line with an evaluation's loss also says that the evaluation is over."""

_STEP = re.compile(r"[\"'](?:current_steps|global_step|step|num_updates|valid_num_updates)[\"']: ?[\"']?(\d+)")


def step_beside(text: str) -> int | None:
    """The step that an object with an evaluation's loss carries, or None."""
    match = _STEP.search(text) if "eval_loss" in text or "valid_loss" in text else None
    return int(match[1]) if match is not None else None
