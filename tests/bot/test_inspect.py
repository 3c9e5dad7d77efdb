"""The answer for programs: DESIGN 3.2, schema 1."""

import json

import pytest

from bot.inspect import inspect

STEPS = "".join(f"step {i} loss {3 - i / 1000:.4f} grad_norm 0.5 lr 1.0e-04\n" for i in range(1, 120))
FAILED = (
    "Traceback (most recent call last):\n"
    '  File "/opt/run/train.py", line 88, in <module>\n'
    "    main()\n"
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.11 GiB\n"
)


def answer_of(tmp_path, **files):
    for name, text in files.items():
        (tmp_path / f"{name}.log").write_text(text)
    return inspect([tmp_path])


def test_the_keys_of_the_contract(tmp_path):
    told = json.loads(answer_of(tmp_path, rank3=STEPS + FAILED).as_json())
    assert set(told) >= {
        "schema",
        "files",
        "loss",
        "grad_norm",
        "lr",
        "jumps",
        "tracebacks",
        "attempts",
        "findings",
        "diagnosis",
    }
    assert set(told["files"][0]) >= {"path", "kind", "dialect", "envelope", "ranks", "node", "lines"}
    assert set(told["diagnosis"]) >= {
        "category",
        "culprit_rank",
        "culprit_node",
        "first_bad_step",
        "first_bad_time",
        "confidence",
        "evidence",
        "because",
        "next",
        "unknown",
    }
    assert told["tracebacks"] == 1


def test_every_reason_can_be_looked_up(tmp_path):
    answer = answer_of(tmp_path, rank3=STEPS + FAILED)
    told = answer.diagnosis.as_dict()
    assert (told["category"], told["culprit_rank"], told["first_bad_step"]) == ("gpu_oom", 3, 120)
    line = (tmp_path / told["evidence"]["file"]).read_text().splitlines()[told["evidence"]["line"] - 1]
    assert line == told["evidence"]["text"]
    assert all(".log:" in reason for reason in told["because"])
    assert answer.found_trouble


def test_numbers_that_are_none_are_words(tmp_path):
    text = STEPS + "step 120 loss nan grad_norm inf lr 1.0e-04\nstep 121 loss nan grad_norm nan lr 1.0e-04\n"
    answer = answer_of(tmp_path, train=text)
    told = json.loads(answer.as_json(), parse_constant=pytest.fail)
    assert told["diagnosis"]["category"] == "nan_inf"
    assert told["loss"]["nonfinite"] == 2
    assert told["loss"]["last"] == "nan"


def test_a_run_that_is_well_is_left_in_peace(tmp_path):
    answer = answer_of(tmp_path, train=STEPS + "Training completed\n")
    assert not answer.found_trouble
    assert answer.diagnosis.as_dict()["category"] == "none"
    assert answer.diagnosis.as_dict()["culprit_rank"] is None


def test_secrets_stay_behind(tmp_path):
    secret = "hf_" + "abcdefghij" * 4
    text = (
        STEPS
        + f"token={secret} RuntimeError: login with {secret} failed\n"
        + FAILED.replace("GPU 3", f"{secret} GPU 3")
    )
    assert secret not in answer_of(tmp_path, train=text).as_json()


def test_the_curve_of_many_ranks_is_one_curve(tmp_path):
    answer = answer_of(tmp_path, rank0=STEPS, rank1=STEPS)
    points = answer.series().loss
    assert len(points) == 119


def test_the_order_of_paths_does_not_matter(tmp_path):
    (tmp_path / "rank0.log").write_text(STEPS)
    (tmp_path / "rank1.log").write_text(STEPS + FAILED)
    paths = [tmp_path / "rank0.log", tmp_path / "rank1.log"]
    first, second = inspect(paths).diagnosis.as_dict(), inspect(paths[::-1]).diagnosis.as_dict()
    assert (first["category"], first["culprit_rank"], first["evidence"]) == (
        second["category"],
        second["culprit_rank"],
        second["evidence"],
    )


def test_no_file_at_all_tells_nothing(tmp_path):
    answer = inspect([tmp_path])
    assert answer.blind
    assert json.loads(answer.as_json())["files"] == []
