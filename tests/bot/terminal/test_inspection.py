"""The answer for a person's terminal."""

import gzip
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from bot.inspect import inspect
from bot.terminal.inspection import _TITLE, clean, print_answer
from diagnosis.observations import Category

STEPS = "".join(f"step {i} loss {3 - i / 1000:.4f}\n" for i in range(1, 120))
OOM = "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.11 GiB\n"


def printed(folder, width=100, *, colour=False):
    out = io.StringIO()
    print_answer(inspect([folder]), Console(file=out, width=width, force_terminal=colour, highlight=False))
    return out.getvalue()


def test_a_log_that_was_cut_is_well_only_up_to_there(tmp_path):
    """The headline says so, not a note below it."""
    (tmp_path / "train.log.gz").write_bytes(gzip.compress(STEPS.encode())[:-12])

    headline = " ".join(printed(tmp_path, width=300).split("\n")[0].split())

    assert headline.startswith("● Nothing is wrong up to line 1")
    assert headline.endswith("of train.log.gz: packed, and its end is missing: it was cut, or is still being written")


@pytest.mark.parametrize(
    "text",
    [
        "\x1b]0;owned\x07",
        "\x1b[2J\x1b[H",
        "\x9b31m",
        "a\rb",
        "\x08\x08",
        "\u202etxt.exe",
        "\u2066",
        "a\nb",
        "\x00",
        "\x7f",
        "\u2028",
    ],
)
def test_nothing_in_a_log_moves_the_cursor(text):
    shown = clean(text)
    assert shown.isprintable()


@given(st.text(max_size=200))
def test_what_is_shown_is_one_line_of_printable_text(text):
    shown = clean(text, 80)
    assert len(shown) <= 80
    assert not any(ord(char) < 32 or 0x7F <= ord(char) < 0xA0 for char in shown)


def test_markup_of_the_terminal_library_is_text(tmp_path):
    (tmp_path / "rank3.log").write_text(STEPS + OOM.replace("GPU 3", "[bold red]x[/] [/nope] GPU 3"))
    assert "[bold red]x[/] [/nope]" in printed(tmp_path, width=300)


def test_control_characters_of_a_log_do_not_arrive(tmp_path):
    (tmp_path / "rank\x1b[31m3.log").write_bytes((STEPS + "\x1b]0;owned\x07\x1b[2J" + OOM).encode())
    assert "\x1b" not in printed(tmp_path)
    assert "\x07" not in printed(tmp_path, colour=True)


def test_first_the_trouble_then_the_reasons_then_the_numbers(tmp_path):
    (tmp_path / "rank3.log").write_text(STEPS + OOM)
    text = printed(tmp_path)
    order = [
        "A GPU ran out of memory · rank 3",
        "first bad step 120",
        "rank3.log:120",
        "Next",
        "119 loss points",
        "rank3.log",
    ]
    places = [text.index(part) for part in order[:-1]]
    assert places == sorted(places)
    assert text.rindex("training log") > places[-1]


@pytest.mark.parametrize(
    ("log", "said"),
    [
        ({"train.log": "step 1 loss 2.5\n"}, ["1 loss point ·", "largest"]),
        ({}, ["No training loss was read", "what it is"]),
    ],
)
def test_what_is_not_there_has_no_words(tmp_path, log, said):
    """No plural for one point, no head of a table without a row."""
    for name, text in log.items():
        (tmp_path / name).write_text(text)

    text = printed(tmp_path)

    assert said[0] in text
    assert said[1] not in text


def test_a_reason_that_only_quotes_the_evidence_is_not_said_twice(tmp_path):
    """The line stands there once, with its place."""
    (tmp_path / "rank3.log").write_text(STEPS + OOM)

    assert printed(tmp_path, width=300).count("Tried to allocate 2.00 GiB.") == 1


def test_an_end_that_no_rule_knows_is_not_called_well(tmp_path):
    """The line is shown, nothing is concluded from it."""
    (tmp_path / "rank3.log").write_text(STEPS + "[FATAL] shard_server.cc:112 check failed: 63 vs. 64\nAborting.\n")

    said = printed(tmp_path, width=200)

    assert "trouble that no rule knows" in said.splitlines()[0]
    assert "rank3.log:120" in said
    assert "shard_server.cc:112" in said


def test_a_run_that_is_well(tmp_path):
    (tmp_path / "train.log").write_text(STEPS + "Training completed\n")
    text = printed(tmp_path)
    assert text.startswith("● Nothing is wrong")
    assert "What changed" not in text
    assert "largest change " in text  # a fall is no jump


@pytest.mark.parametrize("width", [20, 40, 80, 250])
def test_any_width(tmp_path, width):
    (tmp_path / "rank3.log").write_text(STEPS + OOM)
    assert max(len(line) for line in printed(tmp_path, width).splitlines()) <= width


def test_every_category_has_a_title():
    assert set(_TITLE) == set(Category)


def test_the_loudest_of_a_kind_is_shown(tmp_path):
    """However many quieter ones stand before it."""
    relayed = "ray.exceptions.RayTaskError(NotImplementedError): ray::main_task() (pid=19443, ip=10.0.0.1)\n"
    (tmp_path / "train.log").write_text(STEPS + relayed + "NotImplementedError\n")
    assert [str(one.severity) for one in inspect([tmp_path]).findings] == ["info", "critical"]

    shown = printed(tmp_path)

    assert "critical  a process of the training crashed: NotImplementedError (and 1 more)" in shown
    assert "in consequence of another failure" not in shown


def test_a_silent_end_is_neither_well_nor_a_hang(tmp_path):
    """Nothing shows a wait, and nothing shows that all is well."""
    steps = "".join(f"2026-03-14 09:00:{i:02d},000 INFO step {i}/900 loss 2.{900 - i} lr 1e-4\n" for i in range(1, 60))
    late = "".join(f"2026-03-14 09:{i}:00,000 INFO heartbeat ok\n" for i in range(10, 30))
    (tmp_path / "train.log").write_text(steps + late)

    shown = printed(tmp_path)

    assert "Nobody can tell from these files whether it hung" in shown
    assert "Nothing is wrong" not in shown


def calm(first, last, level=2.5, back=0):
    """Lines of a loss that hardly moves."""
    return "".join(f"step={i + back} loss={level + i % 7 / 100:.4f} lr=1e-4\n" for i in range(first, last))


def headline(text):
    return " ".join(text.partition("\n\n")[0].split())


def test_above_a_critical_finding_nothing_is_called_right(tmp_path):
    """Also where the run went on after it."""
    killed = (
        "slurmstepd: error: Detected 1 oom_kill event in StepId=123.0. Some of the step tasks have been OOM Killed.\n"
    )
    (tmp_path / "train.log").write_text(calm(1, 801) + killed + calm(601, 900))
    text = printed(tmp_path, width=200)

    assert "critical  the host ran out of memory" in text
    assert "Nothing is wrong" not in text
    assert "no error" not in text
    assert "critical, though nothing shows that the run ended of it: the host ran out of memory" in headline(text)


def test_a_spike_that_came_back_is_noted_in_the_headline(tmp_path):
    """It needs nobody, but it is not nothing."""
    (tmp_path / "train.log").write_text(calm(1, 1000) + calm(1000, 1016, 3.4) + calm(1016, 1500))
    text = printed(tmp_path, width=200)

    assert "info" in text
    assert headline(text).startswith("● Nothing needs you now; noted: loss spikes from 2.5")
    assert headline(text).endswith("and came back")


def test_without_findings_nothing_is_wrong(tmp_path):
    """As before."""
    (tmp_path / "train.log").write_text(calm(1, 500))
    assert headline(printed(tmp_path)).startswith("● Nothing is wrong")


def test_a_log_of_own_words_is_shown_with_the_way_to_have_it_read(tmp_path):
    """A line of it, and `--pattern`; not where the lines hold no numbers at all."""
    (tmp_path / "train.log").write_text("".join(f"it#{i} crit~{2.5 - i / 1000:.4f} gn~0.4\n" for i in range(200)))
    text = printed(tmp_path, width=200)
    assert "it#199 crit~2.3010" in text
    assert "--pattern" in text

    (tmp_path / "train.log").write_text("milk\nbread\n" * 50)
    assert "--pattern" not in printed(tmp_path, width=200)
