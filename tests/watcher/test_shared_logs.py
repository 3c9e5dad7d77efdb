"""Two nodes name a file on a shared disk alike; a file of one node alone has no such name."""

import pytest

from watcher.shared_logs import SharedLogs

NODE1 = """\
21 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 21 0:40 / /data rw,relatime shared:5 - nfs4 store:/export/training rw,vers=4.2
31 21 0:41 / /data/local rw - xfs /dev/nvme0n1 rw
32 21 0:42 / /mnt/big\\040disk rw - lustre 10.0.0.1@tcp:/lfs rw
"""
NODE2 = """\
21 1 254:0 / / rw,relatime - ext4 /dev/sda1 rw
44 21 0:51 /runs /workspace rw,relatime - nfs4 store:/export/training rw,vers=4.1
45 21 0:51 / /lfs rw - lustre 10.0.0.1@tcp:/lfs rw
"""


@pytest.fixture
def on(tmp_path):
    def node(name, table):
        (tmp_path / name).write_text(table)
        return SharedLogs(tmp_path / name)

    return node


def test_wherever_it_is_mounted_a_shared_file_has_one_name(on):
    """Also when only a part of it is mounted, and under a path with a blank."""
    one, two = on("node1", NODE1), on("node2", NODE2)

    assert one.names_of(["/data/runs/r/rank0.log"]) == two.names_of(["/workspace/r/rank0.log"])
    assert one.names_of(["/mnt/big disk/r/a.log"]) == two.names_of(["/lfs/r/a.log"])


def test_what_lies_on_a_disk_of_the_node_has_none(on):
    """A local disk that is mounted inside the shared one hides it."""
    assert on("node1", NODE1).names_of(["/var/log/train.log", "/data/local/train.log"]) == []


def test_the_folder_can_be_told_from_the_file(on):
    """Whoever sees the folder may know of no such file."""
    first, second = on("node1", NODE1).names_of(["/data/r/a.log", "/data/r/b.log"])

    assert first.partition("-")[0] == second.partition("-")[0]
    assert first != second


def test_a_heartbeat_names_no_more_than_it_may(on):
    assert len(on("node1", NODE1).names_of(f"/data/{number}.log" for number in range(200))) == 64


def test_without_a_table_nothing_is_shared(on, tmp_path):
    """Another system, or a container that hides it."""
    assert SharedLogs(tmp_path / "none").names_of(["/data/a.log"]) == []
    assert on("odd", "junk\n\n1 2 3 - x\n").names_of(["/data/a.log"]) == []
