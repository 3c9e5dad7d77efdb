"""Words about losses and gradients. The numbers themselves are the detectors' business."""

from diagnosis.observations import Category, Role
from diagnosis.signatures.row import Tier, row

TABLE = (
    row(
        "S073a",
        "megatron_nan",
        Role.ROOT,
        Category.NAN_INF,
        Tier.EXCEPTION,
        needle=("found NaN in local", "found Inf in local"),
        pattern=r"Rank (?P<rank>\d{1,7})(?:, node (?P<node_before>[\w.-]{1,120}), device "
        r"(?P<device_before>[\w:]{1,20}), "
        r"iteration (?:-\d{1,12}|(?P<iteration>\d{1,12})))?: [^\n]{0,120}?found (?P<what>NaN|Inf) in local "
        r"(?P<where>grad norm|"
        r"forward loss|[\w ]{1,40})(?:[^\n]{0,160}?Device: (?P<device>[\w:]{1,20}), node: (?P<node>[\w.-]{1,120}))?",
        advice="Run that step again: the same rank again is data or code, else its GPU.",
        source="alibaba/Pai-Megatron-Patch#366, NVIDIA/Megatron-LM#780",
        example="AssertionError: Rank 11: found NaN in local grad norm in backward pass before data-parallel "
        "communication collective. Device: 3, node: node1",
        names_rank=True,
    ),
    row(
        "S073b",
        "megatron_unexpected",
        Role.ROOT,
        Category.NAN_INF,
        Tier.EXCEPTION,
        needle=": Unexpected result ",
        pattern=r"Rank (?P<rank>\d{1,7}), node (?P<node>[\w.-]{1,120}), device (?P<device>[\w:]{1,20}), iteration "
        r"(?P<iteration>\d{1,12}): Unexpected result (?P<result>\S{1,60}) \(message='(?P<message>[^'\n]{0,200})'",
        advice="Run that step again: the same rank again is data or code, else its GPU.",
        source="NVIDIA/Megatron-LM rerun_state_machine.py",
        example="RuntimeError: Rank 5, node node3, device 5, iteration 1200: Unexpected result nan (message='Spiky "
        "loss')",
        names_rank=True,
        ruling=lambda fields: (
            Role.ROOT,
            Category.LOSS_SPIKE if "piky" in fields.get("message", "") else Category.NAN_INF,
        ),
    ),
    row(
        "S074",
        "megatron_rerun",
        Role.ROOT,
        Category.GPU_HARDWARE,
        Tier.EXCEPTION,
        needle=(
            "rerun: unexpected result is not reproducible",
            "Possible transient error",
            "Possible persistent error",
            "possible Application error",
        ),
        pattern=r"unexpected result is not reproducible|Possible (?P<verdict>transient|persistent) error|"
        r"Correct result \(but (?P<application>possible Application error)\)",
        advice="Drain the node for a transient or persistent error; look at data and model for `Correct result`.",
        source="NVIDIA/Megatron-LM rerun_state_machine.py",
        example="Possible persistent error! First rerun: unexpected result is not reproducible within the tolerance",
        ruling=lambda fields: (
            (Role.CONTEXT, Category.NAN_INF) if fields.get("application") else (Role.ROOT, Category.GPU_HARDWARE)
        ),
    ),
    row(
        "S077a",
        "loss_is_nan",
        Role.ROOT,
        Category.NAN_INF,
        Tier.EXCEPTION,
        needle=(
            "Loss is nan",
            "Loss is NaN",
            "loss is NaN",
            "Loss is inf",
            "nan loss encountered",
            "NaN loss ",
            "infinite or NaN",
            "iverged with loss = NaN",
            "loss contains a NaN",
            "The loss returned in",
            "on-finite loss",
            "NaN detected in",
            "Invalid loss, ",
        ),
        pattern=r"[Ll]oss is (?:nan|NaN|inf|Inf)\b|\b(?:nan|NaN) loss (?:encountered|detected|during training)|"
        r"[Ll]oss became infinite or NaN(?: at iteration ?= ?(?P<iteration>\d{1,12}))?|loss contains a NaN|"
        r"[Dd]iverged with loss = NaN|"
        r"The loss returned in `\w{1,40}` is (?:nan|inf)|[Nn]on-finite loss[^\n]{0,60}?(?:stop|abort|terminat|exit)|"
        r"NaN detected in (?:output|input) of (?P<where>[\w.]{1,120})|Invalid loss, (?:terminating|stopping) training",
        advice="Look at the first step that is not finite: its batch, learning rate and dtype.",
        source="Lightning-AI/litgpt#185, Lumina-mGPT#37, allenai/OLMo#506, fairseq nan_detector.py, Keras",
        example="Loss is nan, stopping training",
    ),
    row(
        "S083",
        "sampler_nan",
        Role.ROOT,
        Category.NAN_INF,
        Tier.EXCEPTION,
        needle=("robability tensor contains either", "but found invalid values"),
        pattern=r"[Pp]robability tensor contains either|"
        r"to satisfy the constraint [^\n]{0,200}?but found invalid values",
        advice="Look at the first step that is not finite: its batch, learning rate and dtype.",
        source="PyTorch multinomial, torch.distributions",
        example="RuntimeError: probability tensor contains either `inf`, `nan` or element < 0",
    ),
    row(
        "S077b",
        "tensorboard_nan",
        Role.CONFIRM,
        Category.NAN_INF,
        Tier.EXCEPTION,
        needle="NaN or Inf found in input tensor",
        pattern=r"NaN or Inf found in input tensor",
        advice="",
        source="tensorboardX",
        example="NaN or Inf found in input tensor.",
    ),
    row(
        "S079",
        "loss_scale_floor",
        Role.ROOT,
        Category.NAN_INF,
        Tier.EXCEPTION,
        needle=("loss scale already at minimum", "Minimum loss scale reached"),
        pattern=r"loss scale already at minimum|Minimum loss scale reached \((?P<scale>[\d.e+-]{1,20})\)",
        advice="Go back to before the first overflow of the series; use bf16, a lower learning rate, or skip "
        "that data.",
        source="ymcui/Chinese-LLaMA-Alpaca#534, DeepSpeed loss_scaler.py, fairseq",
        example="Exception: Current loss scale already at minimum - cannot decrease scale anymore. Exiting run.",
    ),
    row(
        "S078",
        "fp16_overflow",
        Role.CONTEXT,
        Category.NAN_INF,
        Tier.EXCEPTION,
        needle=("OVERFLOW!", "loss scale overflow!", "Gradient overflow."),
        pattern=r"OVERFLOW! (?:Rank (?P<rank>\d{1,7}) )?[Ss]kipping step\.?(?: Attempted loss scale: "
        r"(?P<scale>[\d.e+]{1,24}), (?:reducing to (?P<reduced>[\d.e+-]{1,24})|but hysteresis is "
        r"(?P<hysteresis>\d{1,6})))?|"
        r"loss scale overflow!|Gradient overflow\.",
        advice="Watch it: many in a row after the start, or a scale under 1,000 that falls, mean divergence.",
        source="deepspeedai/DeepSpeed#931, bigscience-workshop/Megatron-DeepSpeed#347",
        example="[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, reducing to 32768",
    ),
    row(
        "S082",
        "gradient_nan",
        Role.ROOT,
        Category.NAN_INF,
        Tier.EXCEPTION,
        needle=(
            "Nan grad norm occurs",
            "on-finite grad",
            "Gradient contains NaN",
            "gradients contain NaN",
            "returned nan values",
            "is not finite",
        ),
        pattern=r"(?:Nan grad norm occurs|[Nn]on-finite grad|[Gg]radients? contains? NaN|returned nan values|"
        r"(?:total norm|grad(?:ient)?(?: norm)?) [^\n]{0,60}is not finite)(?:[^\n]{0,60}?"
        r"(?<![\w-])(?<!not )(?<!n't )(?<!not be )(?<!never )(?P<skips>[Ss]kip(?:s|ped|ping)?)(?![\w-]))?",
        advice="Look at the first step that is not finite: its batch, learning rate and dtype.",
        source="InternLM/InternEvo#375, NVIDIA restart-agent registry",
        example="Nan grad norm occurs, please check it",
        ruling=lambda fields: (Role.CONTEXT if "skips" in fields else Role.ROOT, Category.NAN_INF),
    ),
)
