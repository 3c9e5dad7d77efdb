"""The tables: every row is reachable, complete and quick."""

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import diagnosis.signatures as package
from diagnosis.observations import Category, Evidence, Origin, Role
from diagnosis.signatures import LIMIT, ROWS, TABLES, Signature, match, may_match
from diagnosis.signatures.prefilter import RARE, piece_of
from tests.counts import examples

SUPPORT = {"__init__", "row", "prefilter", "exit_codes", "xid", "process_names"}


def names(text: str) -> list[str]:
    return [symptom.signature for symptom in match(text, Origin(), Evidence("log", 1, text))]


@pytest.mark.parametrize("found", ROWS.values(), ids=ROWS)
def test_every_row_matches_its_example(found: Signature):
    """A row without a line that matches it is dead."""
    assert may_match(found.example)
    assert found.name in names(found.example)


@pytest.mark.parametrize("found", ROWS.values(), ids=ROWS)
def test_every_row_says_where_it_was_seen(found: Signature):
    """And what to do, unless it only gives data."""
    assert found.source
    assert found.number.startswith("S")
    assert found.advice or found.role in {Role.CONTEXT, Role.BENIGN, Role.CONFIRM}


@pytest.mark.parametrize("found", ROWS.values(), ids=ROWS)
def test_every_needle_is_quick_to_look_for(found: Signature):
    """Its piece begins with a letter that is rare in metric lines, so healthy lines stay cheap."""
    for needle in found.needles:
        assert needle.startswith("^") or piece_of(needle)[0] in RARE


def test_every_table_of_the_folder_is_in_the_list():
    """A new family needs its line in TABLES."""
    files = {path.stem for path in Path(package.__file__).parent.glob("*.py")} - SUPPORT

    assert len(files) == len(TABLES)


def test_names_are_unique():
    """A row is found by its name."""
    rows = [found for table in TABLES for found in table]

    assert len({found.name for found in rows}) == len(rows)


HEALTHY = [
    (
        " iteration    31219/  115311 | consumed samples: 47778736 | elapsed time per iteration (s): 106.11 | learning rate: "
        "5.279E-05 | global batch size: 2048 | lm loss: 5.095951E+00 | grad norm: 957.666 | number of skipped iterations: 0 |"
    ),
    "2026-11-29 16:07:58,716 INFO [rank0] step 1/600 loss 5.7460 grad_norm 1.409 lr 1.00e-03 tok/s 20960",
    "{'loss': 1.1087, 'grad_norm': 0.6261, 'learning_rate': 1.6e-05, 'epoch': 0.26}",
    " 26%|██▌       | 1021/3906 [1:18:16<3:32:48,  4.43s/it]",
    "[titan] 2025-03-11 09:04:01,000 - root - INFO - step:  1  loss:  8.2  memory: 62.41GiB(78.1%)  tps: 97  mfu: 26.11%",
    "step 100/19560 | loss 7.63 (+nanz)| norm 1.2 (+0.41z)| lr 8.57e-05 | 3.5 ms | 45.2% bf16 MFU | 152221 tok/s",
    "2019-03-14 09:15:02 INFO epoch 3 step 1940 loss 2.9391 lr 0.000400 411.7 samples/s",
]


@pytest.mark.parametrize("line", HEALTHY)
def test_healthy_metric_lines_stop_at_the_prefilter(line: str):
    """They are by far the most lines of any log."""
    assert not may_match(line)
    assert names(line) == []


@given(st.text(max_size=300))
@settings(max_examples=examples(300))
def test_the_prefilter_never_hides_a_row(text: str):
    """Whatever stands around a telling line."""
    for found in (ROWS["cuda_oom"], ROWS["xid"], ROWS["python_exception"]):
        line = (
            found.example if found.name == "python_exception" else text.replace("\n", " ")[:200] + " " + found.example
        )

        assert may_match(line)


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=2000))
@settings(max_examples=examples(300))
def test_any_text_is_read_without_an_error(text: str):
    """Whatever it holds."""
    match(text, Origin(), Evidence("log", 1, text))


def seconds(line: str) -> float:
    begin = time.process_time()
    match(line, Origin(), Evidence("log", 1, line))
    return time.process_time() - begin


REPEATS = [
    *(needle.lstrip("^") for found in ROWS.values() for needle in found.needles),
    *(found.example for found in ROWS.values()),
    "a:1:1 [0] ",
    "[PG 1 Rank ",
    "ranks [1, 2, ",
    'File "',
    "PCIe ",
    "((((",
    "[[[[",
    "    ",
    "1:1:",
    "a.a.",
    "Error.",
    "Call to recv from a",
    "Command [",
    "Got completion from peer a",
    "Xid (",
    "mlx5_1: Port: 1 Link ",
]


def test_no_line_makes_it_slow():
    """64 KiB of any needle or example again and again: a pattern that backtracks would show as seconds of CPU."""
    slowest = max((seconds((repeat * (65_536 // len(repeat) + 1))[:65_536]), repeat[:40]) for repeat in REPEATS)

    assert slowest[0] < 1.0, slowest


def test_only_the_beginning_of_an_endless_line_is_looked_at():
    """What a line tells stands near its beginning."""
    assert names(" " * (LIMIT + 10) + "CUDA error: uncorrectable ECC error encountered") == []


def test_roles_and_categories_are_those_of_the_contract():
    """No row invents one."""
    assert {found.role for found in ROWS.values()} <= set(Role)
    assert {found.category for found in ROWS.values()} <= set(Category)
