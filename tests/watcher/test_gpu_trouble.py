"""What is wrong with the GPUs, told once."""

import pytest

from diagnosis.findings import Cleared, Finding
from diagnosis.observations import GpuSample
from watcher.gpu_trouble import GpuTrouble


def card(index, problem=None):
    return GpuSample("node17", index, 1.0, f"GPU-{index}", problem=problem)


@pytest.fixture
def trouble():
    return GpuTrouble("run42", "node17")


def test_a_lost_card_is_told_once_and_its_return_too(trouble):
    """Which one, where, in the driver's words."""
    assert trouble.look([card(0), card(1)], None, 1.0) == []

    (lost,) = trouble.look([card(0), card(1, "GPU is lost")], None, 2.0)
    again = trouble.look([card(0), card(1, "GPU is lost")], None, 3.0)
    (back,) = trouble.look([card(0), card(1)], None, 4.0)

    assert isinstance(lost, Finding)
    assert (lost.kind, lost.severity, lost.text) == ("gpu_hardware", "critical", "GPU 1 of node17: GPU is lost")
    assert "GPU-1" in lost.evidence[0].text
    assert again == []
    assert isinstance(back, Cleared)


@pytest.mark.parametrize(
    ("problem", "kind"),
    [
        ("NVML does not answer (state D, in os_acquire_rwlock)", "gpu_driver_silent"),
        ("driver/library version mismatch: reboot or reload the driver", "gpu_driver_mismatch"),
    ],
)
def test_a_driver_that_cannot_be_asked_is_told_once(trouble, problem, kind):
    """Its silence is the strongest sign there is."""
    (silent,) = trouble.look([], problem, 10.0)

    assert (silent.kind, silent.severity) == (kind, "warning")
    assert problem in silent.text
    assert trouble.look([], problem, 11.0) == []
    assert trouble.look([], None, 12.0) == []
    (back,) = trouble.look([card(0)], None, 13.0)
    assert (back.kind, "answers again" in back.text) == (kind, True)


def test_a_silence_after_a_silence_is_news_again(trouble):
    """The spool must not take it for the first one."""
    (first,) = trouble.look([], "NVML does not answer (state D)", 10.0)
    trouble.look([card(0)], None, 20.0)

    (second,) = trouble.look([], "NVML does not answer (state D)", 30.0)

    assert first.key != second.key


def test_the_same_lost_card_after_a_restart_is_the_same_finding(trouble):
    """Its key does not depend on when we looked."""
    (first,) = trouble.look([card(1, "GPU is lost")], None, 10.0)
    (again,) = GpuTrouble("run42", "node17").look([card(1, "GPU is lost")], None, 99.0)

    assert first.key == again.key


@pytest.mark.parametrize("problem", ["no NVIDIA driver here", "the GPU reader ended", None])
def test_a_node_without_gpus_is_no_trouble(trouble, problem):
    """It is said in the heartbeat, and nobody is woken."""
    assert trouble.look([], problem, 1.0) == []
