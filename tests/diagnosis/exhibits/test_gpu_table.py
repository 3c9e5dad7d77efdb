"""GPU samples under many headers."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.exhibits import read_gpu_table
from diagnosis.exhibits.gpu_table import KEPT_PER_GPU, columns_of

GIB = 1 << 30


def seconds(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def only(text: str, node: str | None = None):
    tables = read_gpu_table(text.splitlines(), node, seconds)
    assert len(tables) == 1
    return next(iter(tables.values()))


@pytest.mark.parametrize(
    "text",
    [
        (
            "timestamp, index, utilization.gpu [%], memory.used [MiB], memory.total [MiB], power.draw [W], power.limit [W]\n"
            "100, 3, 98 %, 71680 MiB, 81920 MiB, 512.25 W, 700.00 W\n"
        ),
        "time,gpu,util,mem_used_mib,mem_total_mib,power_w,power_limit\n100,3,98,71680,81920,512.25,700\n",
        (
            "ts,node,gpu_index,gpu_util,memory_used,memory_total,power_watts,power_limit_watts\n"
            "100,,3,98,71680 MiB,81920 MiB,512.25,700\n"
        ),
        (
            '"time","gpu_id","utilization","memory_used_bytes","memory_total_bytes","power","power_limit"\n'
            f'"100","GPU3","98","{70 * GIB}","{80 * GIB}","512.25","700"\n'
        ),
        "time,index,util,used [GiB],memory.total [GiB],power,power.limit\n100,3,98,70,80,512.25,700\n",
    ],
)
def test_headers_and_units(text):
    sample = only(text).readings[3][0].sample
    assert (sample.time, sample.utilization_percent, sample.power_watts, sample.power_limit_watts) == (
        100.0,
        98.0,
        512.25,
        700.0,
    )
    assert (sample.memory_used_bytes, sample.memory_total_bytes) == (70 * GIB, 80 * GIB)


@pytest.mark.parametrize(
    "cell", ["[N/A]", "[Not Supported]", "[Unknown Error]", "[GPU requires reset]", "N/A", "", "-", "ERR!"]
)
def test_what_is_no_number_is_no_reading(cell):
    sample = only(f"time,index,util,power\n100,0,{cell},{cell}\n").readings[0][0].sample
    assert sample.utilization_percent is None
    assert sample.power_watts is None


@pytest.mark.parametrize("cell", ["[GPU is lost]", "[Unknown Error]", "[GPU requires reset]", "ERR!"])
def test_a_sick_gpu_is_noted(cell):
    sample = only(f"time,index,util,power\n100,0,{cell},5\n").readings[0][0].sample
    assert sample.problem == cell.strip("[]")


def test_nodes_have_tables_of_their_own():
    text = "time,node,gpu,util,mem\n1,n1,0,5,1\n1,n2,0,9,1\n2,n2,0,8,1\n"
    tables = read_gpu_table(text.splitlines(), None, seconds)
    assert {node: [row.sample.utilization_percent for row in table.readings[0]] for node, table in tables.items()} == {
        "n1": [5.0],
        "n2": [9.0, 8.0],
    }


def test_rows_keep_their_line_and_text():
    table = only("time,index,util,power\n1,0,5,60\n\ngarbage\n2,1,7,61\n")
    assert (table.readings[1][0].line, table.readings[1][0].text) == (5, "2,1,7,61")
    assert table.newest_time == 2.0


def test_a_second_header_begins_another_order_of_columns():
    table = only("time,index,util,power\n1,0,5,60\ntime,index,power,util\n2,0,61,6\n")
    assert [row.sample.power_watts for row in table.readings[0]] == [60.0, 61.0]


def test_a_time_that_cannot_be_read_is_not_invented():
    table = only("time,index,util,power\nyesterday,0,5,60\n")
    assert math.isnan(table.readings[0][0].sample.time)
    assert table.newest_time is None


@pytest.mark.parametrize("stamp", ["1773480000.5", "1773480000500", "1773480000500000000"])
def test_programs_write_unix_times(stamp):
    table = only(f"time,index,util,power\n{stamp},0,5,60\n")
    assert table.newest_time == pytest.approx(1773480000.5, abs=0.001)


def test_only_the_newest_samples_are_kept():
    table = only("time,index,util,power\n" + "".join(f"{i},0,5,60\n" for i in range(KEPT_PER_GPU + 50)))
    assert len(table.readings[0]) == KEPT_PER_GPU
    assert table.newest_time == KEPT_PER_GPU + 49


@pytest.mark.parametrize("header", ["step,loss,lr", "a,b,c", "index,name", "time,util,power", ""])
def test_other_tables_are_no_gpu_samples(header):
    assert columns_of(header) is None


@given(st.lists(st.text(alphabet='0123456789,.-%WMiB[]ngpuN/A \n"', max_size=60), max_size=20))
def test_any_rows_are_taken(rows):
    read_gpu_table(["time,index,util,memory.used,power", *rows], "n", seconds)


@given(st.text(max_size=300))
def test_any_text_is_taken(text):
    read_gpu_table(text.splitlines(), None, seconds)
