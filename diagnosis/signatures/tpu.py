"""Lines of TPU hosts: the verdicts of Megascale's error digest, and chips that failed."""

from diagnosis.observations import Category, Role
from diagnosis.signatures.row import Tier, row

TABLE = (
    row(
        "S123c",
        "megascale_bad_chip",
        Role.ROOT,
        Category.GPU_HARDWARE,
        Tier.HARDWARE,
        needle="that have bad TPUs are: ",
        pattern=r"hosts? that have bad TPUs are: (?P<node>[\w.-]{1,120})",
        advice="Take the host out of the fleet and start again from the newest checkpoint.",
        source="openxla/xla docs on Megascale errors",
        example="  The host that have bad TPUs are: tpu-v6e-7",
    ),
    row(
        "S123d",
        "megascale_network",
        Role.ROOT,
        Category.NETWORK_FAULT,
        Tier.NETWORK,
        needle="likely caused by a networking issue",
        pattern=r"Megascale detects a hang that is likely caused by a networking issue",
        advice="Look at the links between the hosts that the digest below lists.",
        source="openxla/xla docs on Megascale errors",
        example="Megascale detects a hang that is likely caused by a networking issue. Please examine the underlying "
        "networking stack for the following hosts.",
    ),
    row(
        "S123e",
        "megascale_input_stall",
        Role.ROOT,
        Category.DATALOADER_STALL,
        Tier.EXCEPTION,
        needle="that have data input stalls are: ",
        pattern=r"hosts? that have data input stalls are: (?P<node>[\w.-]{1,120})",
        advice="Check that the host reaches its data, and how fast it reads it.",
        source="openxla/xla docs on Megascale errors",
        example="  The host that have data input stalls are: tpu-v6e-3",
    ),
    row(
        "S123f",
        "megascale_programs_differ",
        Role.ROOT,
        Category.COLLECTIVE_HANG,
        Tier.EXCEPTION,
        needle=("running different modules on different", "inconsistent HLO module", "inconsistent TPU programs"),
        pattern=r"Megascale detects a hang that is likely caused by (?:running different modules|inconsistent (?:HLO "
        r"module|TPU programs))",
        advice="Check that every worker runs the same program: the same code, flags and shapes of data.",
        source="openxla/xla docs on Megascale errors, AI-Hypercomputer/maxtext#2490",
        example="Megascale detects a hang that is likely caused by inconsistent HLO module compilation across workers.",
    ),
    row(
        "S123g",
        "tpu_session_error",
        Role.ROOT,
        Category.GPU_HARDWARE,
        Tier.HARDWARE,
        needle=("detected TPU session error from worker", "SLICE_FAILURE_CHIP"),
        pattern=r"detected TPU session error from worker (?P<node>[\w-]{1,120})|SLICE_FAILURE_CHIP_\w{1,40}",
        advice="Take that host out and start again: its chips do not answer.",
        source="AI-Hypercomputer/maxtext#2041",
        example="Session is failing with the following status: Session master detected TPU session error from worker "
        "tpu-job-jax-v6e-8-5-15.headless-svc:8471.",
    ),
    row(
        "S123h",
        "tpu_fatal_interrupt",
        Role.ROOT,
        Category.GPU_HARDWARE,
        Tier.HARDWARE,
        needle="FATAL ERROR !!!! for [/dev/accel",
        pattern=r"FATAL ERROR !!!! for \[/dev/accel(?P<device>\d{1,3})",
        advice="Start again on another host; ask for the chip to be looked at where it happens again.",
        source="marin-community/marin#1534",
        example="synchronous_driver.cc:820] [/dev/accel0 tpu1013:pe1:0] !!!! FATAL ERROR !!!! for [/dev/accel0 "
        "tpu1013:pe1:0] , fatal_error: true",
    ),
)
