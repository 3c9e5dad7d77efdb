"""What nvidia-smi printed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.exhibits import read_smi

TABLE = """Tue Mar  3 10:00:00 2026
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4     |
|-----------------------------------------+------------------------+----------------------+
|   0  NVIDIA H100 80GB HBM3          On  |   00000000:1B:00.0 Off |                    0 |
| N/A   34C    P0            112W /  700W |   70123MiB /  81559MiB |    100%      Default |
|                                         |                        |             Disabled |
|   1  NVIDIA H100 80GB HBM3          On  |   00000000:43:00.0 Off |                    0 |
| N/A   31C    P0             71W /  700W |   70101MiB /  81559MiB |      0%      Default |
|                                         |                        |             Disabled |
| Processes:                                                                              |
|    0   N/A  N/A      4021      C   /usr/bin/python3                            70110MiB |
|    1   N/A  N/A      4022      C   /usr/bin/python3                            70090MiB |
"""


def test_the_table():
    report = read_smi(TABLE.splitlines(), "n7")
    assert [
        (s.gpu_index, s.utilization_percent, s.power_watts, s.memory_used_bytes, s.pids) for s in report.samples
    ] == [
        (0, 100.0, 112.0, 70123 << 20, (4021,)),
        (1, 0.0, 71.0, 70101 << 20, (4022,)),
    ]
    assert report.bus_of == ((0, "00000000:1B:00.0"), (1, "00000000:43:00.0"))
    assert report.samples[0].node == "n7"
    assert report.notes == ()


def test_the_older_table():
    text = (
        "|   0  Tesla V100-SXM2...  On   | 00000000:00:1E.0 Off |                    0 |\n"
        "| N/A   42C    P0    60W / 300W |  15000MiB / 16160MiB |     87%      Default |\n"
    )
    (sample,) = read_smi(text.splitlines(), None).samples
    assert (sample.utilization_percent, sample.power_watts, sample.power_limit_watts) == (87.0, 60.0, 300.0)


def test_an_error_in_the_table_is_no_number():
    text = (
        "|   2  NVIDIA A100-SXM4-80GB   On   | 00000000:87:00.0 Off |                 ERR! |\n"
        "|ERR!  ERR! ERR!    ERR! / ERR! |  GPU is lost         |    ERR!      ERR! |\n"
    )
    report = read_smi(text.splitlines(), None)
    assert [note.what for note in report.notes] == ["lost"]
    for sample in report.samples:
        assert sample.utilization_percent is None
        assert sample.problem


@pytest.mark.parametrize(
    ("line", "what", "bus"),
    [
        ("Unable to determine the device handle for GPU0000:3B:00.0: Unknown Error", "lost", "0000:3B:00.0"),
        (
            "Unable to determine the device handle for GPU 0000:3B:00.0: GPU is lost.  Reboot the system to recover this GPU",
            "lost",
            "0000:3B:00.0",
        ),
        ("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure", "driver", None),
        ("Failed to initialize NVML: Driver/library version mismatch", "driver", None),
        ("nvidia-smi has not answered for 60 s", "silent", None),
    ],
)
def test_errors_are_evidence(line, what, bus):
    (note,) = read_smi([line], None).notes
    assert (note.what, note.bus, note.line) == (what, bus, 1)


def test_throttling_and_memory_wear_in_the_long_report():
    text = (
        "==============NVSMI LOG==============\n"
        "GPU 00000000:3B:00.0\n"
        "    Clocks Event Reasons\n"
        "        SW Power Cap                      : Active\n"
        "        HW Thermal Slowdown               : Active\n"
        "    ECC Errors\n"
        "        Volatile\n"
        "            DRAM Uncorrectable            : 2\n"
        "        Aggregate\n"
        "            DRAM Uncorrectable            : 9\n"
        "    Remapped Rows\n"
        "        Pending                           : Yes\n"
        "        Remapping Failure Occurred        : No\n"
    )
    report = read_smi(text.splitlines(), None)
    assert [(note.what, note.line, note.bus) for note in report.notes] == [
        ("throttled", 5, "00000000:3B:00.0"),
        ("ecc", 8, "00000000:3B:00.0"),
        ("remapped", 12, "00000000:3B:00.0"),
    ]


@given(st.text(max_size=300))
def test_any_text(text):
    read_smi(text.splitlines(), None)
    read_smi([TABLE.splitlines()[4], *text.splitlines()], None)
