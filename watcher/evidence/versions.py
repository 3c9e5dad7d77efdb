"""What runs here: kernel, driver, Python, the packages the job uses, ourselves, and what we could not see."""

import json
import os
import platform
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from watcher.bins import Bin
from watcher.evidence.collector import Outcome, Result, Scene
from watcher.job_environment import environment_of
from watcher.process_tree import text_of

_MATTERS = re.compile(
    r"torch(?:vision|audio|titan|tune|ft|data)?|triton|nvidia[-_].*|cuda[-_].*|cupy.*|apex|flash[-_]attn.*|xformers|"
    r"transformer[-_]engine.*|megatron.*|deepspeed|accelerate|transformers|datasets|tokenizers|safetensors|peft|trl|"
    r"lightning.*|pytorch[-_]lightning|fairscale|colossalai|composer|llm[-_]foundry|nemo.*|olmo.*|litgpt|bitsandbytes|"
    r"numpy|jax.*|flax|ray|vllm|wandb|mlflow|comet.*|mosaicml.*|horovod|mpi4py|webdataset|sentencepiece|py[-_]spy",
    re.IGNORECASE,
)
_INFO = re.compile(r"([A-Za-z0-9_.]+)-([^-]+)\.dist-info")


class Versions:
    """A small JSON."""

    name = "versions"
    seconds = 5.0
    bytes = 1 << 20

    def collect(self, scene: Scene, into: Bin) -> Result:
        """Read them from names of files; nothing of the job is imported or run."""
        into.write(
            "versions.json",
            json.dumps(
                {
                    "node": scene.node,
                    "time": time.time(),
                    "runwatch": _version("runwatch"),
                    "nvidia-ml-py": _version("nvidia-ml-py"),
                    "python": platform.python_version(),
                    "kernel": " ".join(os.uname()[i] for i in (0, 2, 3, 4)),
                    "system": text_of("/etc/os-release").partition("PRETTY_NAME=")[2].split("\n")[0].strip('"'),
                    "nvidia_driver": _first_line("/proc/driver/nvidia/version"),
                    "boot": _first_line("/proc/sys/kernel/random/boot_id"),
                    "uptime_seconds": time.clock_gettime(time.CLOCK_BOOTTIME),
                    "job_packages": dict(sorted(_packages(scene))),
                    "job_libraries": sorted(_libraries(scene)),
                    **scene.facts,
                },
                indent=1,
            )
            + "\n",
        )
        return Result(Outcome.COLLECTED)


def _packages(scene: Scene) -> Iterator[tuple[str, str]]:
    """Packages of the job's Python, by the names of their folders."""
    for site in {site for pid in scene.pids[:8] for site in _sites(pid)}:
        for folder in site.glob("*.dist-info"):
            found = _INFO.fullmatch(folder.name)
            if found and _MATTERS.fullmatch(found[1]):
                yield found[1].lower().replace("_", "-"), found[2]


def _sites(pid: int) -> set[Path]:
    environment = environment_of(pid)
    homes = [environment[name] for name in ("VIRTUAL_ENV", "CONDA_PREFIX") if environment.get(name)]
    program = text_of(f"/proc/{pid}/cmdline").split("\0")[0]
    homes += [str(Path(program).parent.parent)] if program.startswith("/") else []
    with suppress(OSError):
        homes.append(str(Path(f"/proc/{pid}/exe").readlink().parent.parent))
    return {
        site
        for home in homes
        for kind in ("site-packages", "dist-packages")
        for site in Path(home).glob(f"lib/python3*/{kind}")
    }


def _libraries(scene: Scene) -> set[str]:
    """The NVIDIA libraries that the job has loaded, with the version their file is called by."""
    paths = {
        line.split(maxsplit=5)[5]
        for pid in scene.pids[:2]
        for line in text_of(f"/proc/{pid}/maps", 4 << 20).splitlines()
        if re.search(r"/lib(?:nccl|cuda|cudart|cudnn|cublas|nvidia-ml|gloo|mpi|fabric|ibverbs)[\w-]*\.so", line)
    }
    return set(sorted(paths)[:64])


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _first_line(path: str) -> str | None:
    return text_of(path, 500).split("\n")[0].strip() or None
