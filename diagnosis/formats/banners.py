"""Lines that open a new attempt of a run, and what they tell of its environment and of its counting."""

import re

from diagnosis.formats.rules import BannerRule, FactRule, HintRule

BANNERS = (
    BannerRule(
        ("Setting OMP_NUM",),
        re.compile(r"(?:^|/run\.py:\d+\] |launcher/\w+\.py:\d+\] )Setting OMP_NUM_THREADS"),
        "torchrun starts",
    ),
    BannerRule(
        ("runner.py:", "^cmd = deepspeed"),
        re.compile(r"\[runner\.py:\d+:main\] cmd =|^cmd = deepspeed "),
        "the DeepSpeed launcher starts",
    ),
    BannerRule(
        ("WORLD INFO DICT",), re.compile(r"\[launch\.py:\d+:main\] WORLD INFO DICT"), "the DeepSpeed launcher starts"
    ),
    BannerRule(
        ("^using world size", "[before the start"),
        re.compile(r"^using world size: \d+|\[before the start of training step\]"),
        "Megatron starts",
    ),
    BannerRule(("Running training",), re.compile(r"\*{3,} Running training \*{3,}"), "the trainer starts"),
    BannerRule(
        ("esuming ", "Resumed ", "Continuing training"),
        re.compile(r"\b[Rr]esum(?:ing|ed) (?:training |train )?(?:from|at|the)\b|Continuing training from"),
        "training resumes",
    ),
    BannerRule(
        ("successfully loaded",),
        re.compile(r"successfully loaded checkpoint .* at iteration [1-9]\d*"),
        "training resumes from a checkpoint",
    ),
    BannerRule(
        ("Training starts at", "Starting training", "Starting from step"),
        re.compile(r"Training starts at step \d+|Starting training loop|Starting from step \d+"),
        "training starts",
    ),
    BannerRule(("run_start",), re.compile(r'"key": "run_start"'), "the benchmark starts"),
    BannerRule(("^Multi-GPU support",), re.compile(r"^Multi-GPU support is "), "llm.c starts"),
    BannerRule(("^nohup: ",), re.compile(r"^nohup: "), "the command starts"),
    BannerRule(
        ("Restarting worker", "restart_count="),
        re.compile(r"Restarting worker group|restart_count=[1-9]"),
        "the launcher restarts the workers",
    ),
)

FACTS = (
    FactRule(("version", "Version"), re.compile(r"(?i)\b(?:py)?torch[ _]version[ .:=]+ *v?(\d+\.\d+[\w.+]*)"), "torch"),
    FactRule(
        ("version", "VERSION", "Version"), re.compile(r"(?i)\bcuda[ _]version[ .:=]+ *v?(\d+\.\d+[\w.]*)"), "cuda"
    ),
    FactRule(
        ("Driver Version", "driver version", "driver_version"),
        re.compile(r"(?i)\bdriver[ _]version[ .:=]+ *v?(\d+\.\d+[\w.]*)"),
        "driver",
    ),
    FactRule(
        ("NCCL_VERSION", "NCCL version"), re.compile(r"\bNCCL[ _](?i:version)[ .:=]+ *v?(\d+\.\d+[\w.]*)"), "nccl"
    ),
    FactRule(
        ("info ....", "DeepSpeed info", "deepspeed version"),
        re.compile(r"(?i)\bdeepspeed (?:info|version)[ .:=]+(?: *version=)? *v?(\d+\.\d+[\w.]*)"),
        "deepspeed",
    ),
    FactRule(("transformers_version",), re.compile(r"\"transformers_version\": \"([\w.]+)\""), "transformers"),
    FactRule(
        ("git hash", "git_hash", "git-hash", "Git "),
        re.compile(r"(?i)\bgit[ _-](?:hash|commit|info|sha)[\w ]*[ .:=]+ *([0-9a-f]{7,40})\b"),
        "git",
    ),
    FactRule(("^cmd = ", "runner.py:"), re.compile(r"\bcmd = (.{1,400})"), "command"),
    FactRule(
        ("world_size", "world size", "World size"),
        re.compile(r"(?i)\b(?:dist_)?world[ _]size ?[:=] ?(\d+)"),
        "world_size",
    ),
    FactRule(
        ("save_total_limit", "keep_last", "keep_latest", "max_to_keep"),
        re.compile(
            r"\b(?:save_total_limit|keep_last_n|keep_last|keep_latest_n|max_to_keep)[\"']?\s{0,3}[:=]\s{0,3}(\d{1,6})\b"
        ),
        "save_total_limit",
    ),
)

HINTS = (
    HintRule(("Total optimization",), re.compile(r"Total optimization steps = ([\d,]{1,20})"), "total_steps"),
    HintRule(
        ("^logging_steps", "'logging_steps", '"logging_steps'),
        re.compile(r"[\"']?\blogging_steps[\"']?\s*[:=]\s*(\d{1,9})\b"),
        "logging_steps",
    ),
    HintRule(("Num Epochs",), re.compile(r"\bNum Epochs = ([\d,]{1,20})"), "epochs"),
)
"""How a trainer that prints no step counts."""
