"""What tests on a real GPU need; without one every test here skips, and says why."""

import os
import shutil
import subprocess
import sys

import pytest

PYTHON = os.environ.get("RUNWATCH_GPU_PYTHON", shutil.which("python3") or sys.executable)
"""The machine's own Python, which has PyTorch where any has; ours needs none."""


def why_no_gpu():
    """Empty where there is one."""
    if shutil.which("nvidia-smi") is None:
        return "no nvidia-smi here"
    found = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False, timeout=60)
    return "" if found.returncode == 0 and "GPU 0" in found.stdout else f"nvidia-smi: {found.stdout.strip()[:100]}"


def why_no_torch():
    """Empty where PyTorch sees a GPU."""
    look = "import torch; assert torch.cuda.is_available()"
    found = subprocess.run([PYTHON, "-c", look], capture_output=True, text=True, check=False, timeout=120)
    return "" if found.returncode == 0 else f"{PYTHON}: {(found.stderr.strip().splitlines() or ['?'])[-1]}"


@pytest.fixture(scope="session", autouse=True)
def gpu():
    """Skips without a GPU."""
    why = why_no_gpu()
    if why:
        pytest.skip(f"no NVIDIA GPU: {why}")


@pytest.fixture(scope="session")
def torch_python():
    """A Python with PyTorch that sees the GPU; skips without."""
    why = why_no_torch()
    if why:
        pytest.skip(f"no PyTorch with CUDA: {why}")
    return PYTHON
