"""Runs that are well, though something in their logs may frighten; and quiet troubles of the numbers."""

import random

from tests.diagnosis.root_cause.build import (
    WAITING,
    Story,
    clock,
    closing,
    gpu_csv,
    megatron,
    plain,
    pyspy,
    timeout,
    traceback,
)


def wandering(last: int, *, seed: int = 3, spike: tuple[int, int, float] | None = None) -> str:
    """A loss with noise; a spike from one step to another, to a height."""
    draw = random.Random(seed)
    lines = []
    for step in range(1, last + 1):
        loss = 2.0 + 6.0 / (1 + step / 20) + draw.gauss(0, 0.02)
        norm = 0.5 + abs(draw.gauss(0, 0.05))
        if spike is not None and spike[0] <= step < spike[1]:
            loss, norm = spike[2] + draw.gauss(0, 0.02), norm * 12
        lines.append(f"{clock(step * 2)},000 INFO step {step}/9000 loss {loss:.4f} grad_norm {norm:.3f} lr 1.00e-04\n")
    return "".join(lines)


CALM = (
    Story(
        "a finished run whose processes were closed by their launcher",
        {
            "train.log": wandering(300)
            + "2026-03-14 09:10:02,000 INFO Training completed. Saving final model\n"
            + closing(range(4), at=605)
            + "[rank0]:[W1206 09:11:40.123456789 ProcessGroupNCCL.cpp:1496] Warning: WARNING: destroy_process_group() was not called before program exit, which can leak resources.\n"
        },
        "none",
    ),
    Story(
        "a download at the start while the GPUs idle",
        {
            "train.log": f"{clock(0)},000 INFO downloading tokenizer\nDownloading (…)model.bin: 100%|██████████| 9.98G/9.98G [03:20<00:00, 49.9MB/s]\n"
            + plain(1, 200, begin=260),
            "gpu.csv": gpu_csv(dict.fromkeys(range(8), 0), busy_until=-1, until=240),
        },
        "none",
    ),
    Story(
        "only rank 0 prints steps, the others a line at the start",
        {
            "rank0.log": plain(1, 300, rank=0),
            **{f"rank{r}.log": f"{clock(0)},000 INFO [rank{r}] model built\n" for r in range(1, 8)},
        },
        "none",
    ),
    Story(
        "a last line that is still being written",
        {"train.log": wandering(300) + "2026-03-14 09:10:02,000 INFO step 301/9000 lo"},
        "none",
    ),
    Story(
        "compiling takes minutes, and the stacks show it",
        {
            "train.log": f"{clock(0)},000 INFO torch.compile: max-autotune\n" + plain(1, 40, begin=600),
            "pyspy.txt": "".join(pyspy(800 + r, WAITING, rank=r) for r in range(4)),
        },
        "none",
        also=("collective_hang",),
    ),
    Story(
        "a loss that falls fast at the start is no spike",
        {"train.log": wandering(400)},
        "none",
    ),
    Story(
        "one high loss in four hundred",
        {"train.log": wandering(400, spike=(250, 251, 3.4))},
        "none",
        also=("loss_spike",),
    ),
    Story(
        "a spike that came back after forty steps",
        {"train.log": wandering(500, spike=(300, 340, 7.5))},
        "loss_spike",
        step=(299, 302),
    ),
    Story(
        "a divergence that never came back",
        {"train.log": wandering(500, spike=(320, 501, 8.4))},
        "loss_spike",
        step=(318, 324),
    ),
    Story(
        "the last thing printed is a warning of a library",
        {
            "train.log": wandering(200)
            + "/v/site-packages/torch/utils/checkpoint.py:464: UserWarning: torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly.\n  warnings.warn(\n"
        },
        "none",
    ),
    Story(
        "retries of a store that answered in the end",
        {
            "train.log": "".join(
                f"WARNING:urllib3.connectionpool:Retrying (Retry(total={4 - i}, connect=None, read=None, redirect=None, status=None)) after connection broken by 'ReadTimeoutError(\"HTTPSConnectionPool(host='huggingface.co', port=443): Read timed out.\")': /api\n"
                for i in range(3)
            )
            + wandering(200)
        },
        "none",
    ),
    Story(
        "an evaluation that runs now",
        {
            "train.log": wandering(300)
            + "2026-03-14 09:10:03,000 INFO ***** Running Evaluation *****\n  8%|▊         | 21/262 [00:20<03:52,  1.04it/s]\n",
            "gpu.csv": gpu_csv({}, busy_until=600, until=630),
        },
        "none",
    ),
    Story(
        "Megatron counts a NaN and prints no loss for it",
        {
            "train.log": megatron(1, 120)
            + "".join(
                f" [{clock(1210 + 10 * i)}.000000] iteration {121 + i:8d}/   50000 | consumed samples: 61952 | elapsed time per iteration (ms): 10000.0 | "
                "learning rate: 1.000E-04 | global batch size:   512 | loss scale: 1.0 | number of skipped iterations:   1 | number of nan iterations:   1 |\n"
                for i in range(6)
            )
        },
        "nan_inf",
        step=(121, 121),
    ),
    Story(
        "a NaN in one line, and then numbers again",
        {
            "train.log": wandering(200)
            + "2026-03-14 09:06:42,000 INFO step 201/9000 loss nan grad_norm nan lr 1.00e-04\n"
            + wandering(500).split("step 200/", 1)[1].split("\n", 2)[2]
        },
        "nan_inf",
        also=("none",),
    ),
    Story(
        "grad norm is infinite, the loss is not yet",
        {
            "train.log": wandering(200)
            + "".join(
                f"{clock(402 + 2 * i)},000 INFO step {201 + i}/9000 loss {2.3 + i:.3f} grad_norm inf lr 1.00e-04\n"
                for i in range(8)
            )
        },
        "nan_inf",
        step=(201, 201),
    ),
    Story(
        "scale search of fp16 at the start, and some skips later",
        {
            "ds.log": "".join(
                f"[2026-03-14 09:00:{i:02d},101] [INFO] [loss_scaler.py:190:update_scale] [deepspeed] OVERFLOW! Rank 0 Skipping step. "
                f"Attempted loss scale: {2 ** (32 - i)}, reducing to {2 ** (31 - i)}\n"
                for i in range(12)
            )
            + wandering(300)
        },
        "none",
    ),
    Story(
        "an exception that the program caught and logged",
        {
            "train.log": wandering(100)
            + traceback("ValueError: could not parse caption 17", frames=[("/w/data.py", 3, "parse", "raise")])
            + wandering(300).split("step 100/", 1)[1].split("\n", 1)[1]
        },
        "none",
    ),
    Story(
        "a watchdog's warning that did not come true",
        {
            "train.log": wandering(100)
            + "[rank0]:[W1206 09:11:40.123456789 ProcessGroupNCCL.cpp:4561] [PG ID 0 PG GUID 0 Rank 0]  using GPU 0 to perform barrier as devices used by this process are currently unknown. This can potentially cause a hang if this rank to GPU mapping is incorrect.\n"
            + wandering(300).split("step 100/", 1)[1].split("\n", 1)[1]
        },
        "none",
    ),
    Story(
        "restarted twice, trains now",
        {
            "job.log": "".join(
                f"W0314 0{8 + k}:00:00.000000 77 torch/distributed/run.py:793] Setting OMP_NUM_THREADS environment variable for each process to be 1\n"
                + plain(1 + 40 * k, 40 + 40 * k, begin=3600 * (k - 1))
                + (timeout(3, 9, at=3600 * (k - 1) + 700) if k < 2 else "")
                for k in range(3)
            )
        },
        "none",
    ),
    Story(
        "other lines go on long after the last step, and nothing shows a wait",
        {
            "train.log": plain(1, 120)
            + "".join(f"{clock(300 + 60 * minute)},000 INFO heartbeat ok\n" for minute in range(20))
        },
        "none",
    ),
    Story(
        "somebody stopped a run that had long been silent",
        {
            "train.log": plain(1, 120)
            + f"{clock(1800)},000 INFO [rank0] Received signal 15 (SIGTERM), will stop after this step\n"
        },
        "collective_hang",
        also=("preempted",),
    ),
    Story(
        "only the batch system tells that the job failed",
        {
            "job.out": plain(1, 120)
            + "\nSender: LSF System <lsfadmin@host17>\nSubject: Job 12345: <train> in cluster <c1> Exited\n\n"
            "Exited with exit code 1.\n\nResource usage summary:\n\n    CPU time :     123.00 sec.\n"
        },
        "rank_crash",
        evidence="Exited with exit code 1.",
    ),
    Story(
        "the batch system tells that the job was killed",
        {"job.out": plain(1, 120) + "\nExited with exit code 137.\n"},
        "host_oom",
        also=("rank_crash",),
    ),
)
