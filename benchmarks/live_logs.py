"""Step lines as trainers print them, for as many ranks as a node has."""

import math
import time
from collections.abc import Callable

Write = Callable[[int, int, float], str]
"""(step, rank, loss) → what this rank prints for the step."""
TOTAL = 5_000_000


def loss_at(step: int) -> float:
    """A loss that falls and wobbles as losses do."""
    return 2.3 + 4.0 / math.sqrt(step) + 0.02 * math.sin(step * 12.9898) * math.cos(step * 78.233)


def plain(step: int, rank: int, loss: float) -> str:
    """A script of one's own."""
    del rank
    return f"step={step} loss={loss:.4f} lr=0.0001 grad_norm={1.0 + loss / 10:.3f}\n"


def megatron(step: int, rank: int, loss: float) -> str:
    """Megatron-LM with its time stamp."""
    del rank
    stamp = time.strftime("%Y-%m-%d %H:%M:%S")
    return (
        f" [{stamp}] iteration {step:8d}/ {TOTAL} | consumed samples: {step * 512:12d} | "
        f"elapsed time per iteration (ms): {900 + loss:.1f} | learning rate: {3e-4 * (1 - step / TOTAL):.6E} | "
        f"global batch size:   512 | lm loss: {loss:.6E} | loss scale: 1.0 | grad norm: {1.0 + loss / 10:.3f} | "
        "number of skipped iterations:   0 | number of nan iterations:   0 |\n"
    )


def hugging_face(step: int, rank: int, loss: float) -> str:
    """A Trainer whose bar is redrawn, cleared for the dict, and drawn again."""
    del rank
    clock = f"{step // 60:02d}:{step % 60:02d}"
    bar = f"\r {step * 100 // TOTAL:2d}%|{'█' * 3:10s}| {step}/{TOTAL} [{clock}<99:59,  1.01s/it]"
    return (
        f"{bar}\r{' ' * len(bar)}\r{{'loss': {loss:.4f}, 'grad_norm': {1.0 + loss / 10:.6f}, "
        f"'learning_rate': {3e-4 * (1 - step / TOTAL):.12g}, 'epoch': {step / 100_000:.2f}}}\n{bar}"
    )


def dicts_alone(step: int, rank: int, loss: float) -> str:
    """A Trainer whose bar goes to another file."""
    return hugging_face(step, rank, loss).rpartition("\n")[0].rpartition("\r")[2] + "\n"


def unrounded(step: int, rank: int, loss: float) -> str:
    """The same as `print` shows numbers that nobody rounded."""
    del rank
    norm, rate = 1.0 + loss / 10, 3e-4 * (1 - step / TOTAL)
    said = {"loss": round(loss, 4), "grad_norm": norm, "learning_rate": rate, "epoch": round(step / 100_000, 2)}
    return f"{said}\n"


def never_rounded(step: int, rank: int, loss: float) -> str:
    """The same with a small learning rate, where loss and epoch are not rounded either."""
    del rank
    rate = 5e-5 * (1 - step / TOTAL)
    return f"{ {'loss': loss, 'grad_norm': 1.0 + loss / 10, 'learning_rate': rate, 'epoch': step / 123_457} }\n"


def torchtitan(step: int, rank: int, loss: float) -> str:
    """Torchtitan under torchrun, every rank's line with its tag."""
    now = time.time()
    stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(now))
    return (
        f"[rank{rank}]:[titan] {stamp},{int(now % 1 * 1000):03d} - root - INFO - step: {step:2d}  loss: {loss:7.4f}  "
        f"grad_norm: {1.0 + loss / 10:7.4f}  memory: 47.21GiB(49.69%)  tps: {7000 + step % 97:,}  "
        f"tflops: {111 + step % 7 / 10:.2f}  mfu: {35 + step % 9 / 10:.2f}%\n"
    )


DIALECTS: dict[str, Write] = {
    "plain": plain,
    "Megatron": megatron,
    "HF dict + bar": hugging_face,
    "HF dict alone": dicts_alone,
    "torchtitan": torchtitan,
}


def text_of(write: Write, first: int, count: int, rank: int, *, own_loss: bool) -> str:
    """What a rank prints in `count` steps; with `own_loss` no other rank prints the same."""
    shift = rank / 50 if own_loss else 0.0
    return "".join(write(step, rank, loss_at(step) + shift) for step in range(first, first + count))
