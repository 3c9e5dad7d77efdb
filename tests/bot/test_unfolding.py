"""Notebooks, and JSON on one line, give their training as lines that can be looked up in the file."""

import json

import pytest

from bot.inspect import inspect

RECORDS = [{"step": step, "loss": 3 - step / 100, "learning_rate": 1e-4} for step in range(1, 101)]
STATE = {
    "best_metric": None,
    "global_step": 100,
    "log_history": [*RECORDS, {"step": 100, "eval_loss": 9.0}, {"step": 100, "train_loss": 9.0, "train_runtime": 1.0}],
    "max_steps": 100,
}
HISTORY = {"history": {"loss": [one["loss"] for one in RECORDS], "val_loss": [9.0] * len(RECORDS)}, "params": {}}


def answer_of(folder, text, name="train.log"):
    (folder / name).write_text(text)
    return inspect([folder / name]).as_dict()


@pytest.mark.parametrize("separators", [None, (",", ":")])
@pytest.mark.parametrize("document", [RECORDS, STATE, {"logs": {"train": RECORDS}}, HISTORY])
def test_records_on_one_line_are_all_read(tmp_path, document, separators):
    """A dumped list, a minified trainer_state.json, Keras' history."""
    loss = answer_of(tmp_path, json.dumps(document, separators=separators))["loss"]

    assert (loss["points"], loss["first_step"], loss["last_step"]) == (100, 1, 100)
    assert (loss["first"], loss["last"]) == (2.99, 2.0)


def test_a_long_document_is_read_whole(tmp_path):
    """Longer than any line that is kept."""
    many = [{**one, "step": step, "note": "x" * 50} for step, one in enumerate(RECORDS * 100)]

    assert answer_of(tmp_path, json.dumps(many))["loss"]["points"] == 10_000


def test_a_document_longer_than_is_held_is_read_to_its_end(tmp_path, monkeypatch):
    """Its last record is told: a list, a list within an object, and objects without one."""
    monkeypatch.setattr("bot.unfolding.MOST_BYTES", 1 << 19)
    many = [{"step": step, "note": "é" * (step % 70), "loss": 3 - step / 20_000} for step in range(20_000)]
    texts = (json.dumps(many), json.dumps({"a": [1], "log_history": many, "b": 1}), "".join(map(json.dumps, many)))

    told = [answer_of(tmp_path, text, f"{at}.log")["loss"] for at, text in enumerate(texts)]

    assert [(one["points"], one["last_step"], one["last"]) for one in told] == [(20_000, 19_999, 2.00005)] * 3


@pytest.mark.parametrize("between", ["", " ", ", "])
def test_records_in_a_row_without_a_list_are_all_read(tmp_path, between):
    """As a program leaves them that forgets the end of the line."""
    loss = answer_of(tmp_path, between.join(map(json.dumps, RECORDS)))["loss"]

    assert (loss["points"], loss["last_step"], loss["last"]) == (100, 100, 2.0)


def test_the_record_is_quoted_without_those_in_front_of_it(tmp_path):
    """All stand on line 1."""
    records = [*RECORDS, {"step": 101, "loss": float("nan")}, {"step": 102, "loss": float("nan")}]

    (finding, *_) = answer_of(tmp_path, json.dumps(records))["findings"]

    assert finding["evidence"]["line"] == 1
    assert finding["evidence"]["text"] == '{"step": 101, "loss": NaN}'


COLUMNS = [
    HISTORY["history"],
    HISTORY,
    {"config": {"betas": [0.9, 0.95], "seed": 1}, **HISTORY},
    {"train_losses": HISTORY["history"]["loss"], "val_losses": [9.0] * 100, "lrs": [1e-4] * 100},
    {"val_loss": [9.0] * 100, "train_loss": HISTORY["history"]["loss"], "epoch": list(range(1, 101))},
]


@pytest.mark.parametrize("indent", [None, 1, 4])
@pytest.mark.parametrize("document", COLUMNS)
def test_columns_of_json_are_read_row_by_row(tmp_path, document, indent):
    """Dumped on one line or with indents."""
    told = answer_of(tmp_path, json.dumps(document, indent=indent), "history.json")

    loss = told["loss"]
    assert (loss["points"], loss["first_step"], loss["last_step"]) == (100, 1, 100)
    assert (loss["first"], loss["last"]) == (2.99, 2.0)
    assert told["diagnosis"]["category"] == "none"


def test_the_row_of_a_column_is_cited_by_the_line_of_its_loss(tmp_path):
    """Also where a line holds several of them."""
    values = [*HISTORY["history"]["loss"], float("nan")]
    one = json.dumps({"val_loss": [9.0] * 101, "loss": values}, indent=2)
    several = '{"val_loss": [9.0, 9.0, 9.0],\n "loss": [2.5, 2.25,\n  NaN]\n}\n'

    lines = [answer_of(tmp_path, text, "history.json")["findings"][0]["evidence"]["line"] for text in (one, several)]

    assert lines == [1 + next(at for at, line in enumerate(one.split("\n")) if "NaN" in line), 3]


@pytest.mark.parametrize(
    "document",
    [{"loss": [[1.0, 2.0], [3.0, 4.0]]}, {"betas": [0.9, 0.95], "loss_weights": [1.0, 2.0]}, {"loss": ["a", "b"]}],
)
def test_lists_that_are_no_history_tell_no_loss(tmp_path, document):
    """Weights, names, pairs."""
    assert answer_of(tmp_path, json.dumps(document, indent=2), "config.json")["loss"]["points"] == 0


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"step": 1, "loss": 2.5, "note": "x" * 9000}) + "\n" + json.dumps({"step": 2, "loss": 2.25}) + "\n",
        "[\n" + ",\n".join(json.dumps(one) for one in ({"step": 1, "loss": 2.5}, {"step": 2, "loss": 2.25})) + "\n]\n",
        json.dumps({"step": 2, "loss": 2.25}),
    ],
)
def test_one_record_a_line_is_read_as_ever(tmp_path, text):
    """However long the first is, and whatever stands between them."""
    loss = answer_of(tmp_path, text)["loss"]

    assert (loss["last_step"], loss["last"]) == (2, 2.25)


@pytest.mark.parametrize(
    "text",
    [
        "[{",
        '[{"step": 1, "loss": 2.5}, {"step": 2, "lo',
        '{"a": [[[[',
        "[" * 9000,
        '{"loss": [1',
        '{"cells": [{"cell_type": "code',
        '{"loss": [\n1,\n2',
    ],
)
def test_half_a_document_is_no_error(tmp_path, text):
    """As a run leaves it that dies while it writes."""
    assert answer_of(tmp_path, text)["files"]


def notebook(*outputs):
    code = {"cell_type": "code", "metadata": {}, "source": ["print('step 1 loss 9.5')\n"], "outputs": list(outputs)}
    return json.dumps({"cells": [code], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def printed(lines):
    return {"name": "stdout", "output_type": "stream", "text": [line + "\n" for line in lines]}


def shown(rows):
    html = [
        "<table>\n",
        "  <thead>\n",
        "    <tr>\n",
        "      <th>Step</th>\n",
        "      <th>Training Loss</th>\n",
        "    </tr>\n",
    ]
    for step, loss in rows:
        html += ["    <tr>\n", f"      <td>{step}</td>\n", f"      <td>{loss}</td>\n", "    </tr>\n"]
    return {"output_type": "display_data", "data": {"text/html": html, "text/plain": ["<IPython.HTML object>"]}}


def test_what_a_notebook_printed_is_read_and_its_code_is_not(tmp_path):
    """Each line has the number by which an editor finds it."""
    text = notebook(printed([*(f"step {step} loss {3 - step / 100}" for step in range(1, 81)), "step 81 loss nan"]))

    answer = answer_of(tmp_path, text, "train.ipynb")

    assert (answer["loss"]["points"], answer["loss"]["first"], answer["loss"]["nonfinite"]) == (81, 2.99, 1)
    line = answer["findings"][0]["evidence"]["line"]
    assert "step 81 loss nan" in text.split("\n")[line - 1]


def test_the_table_of_a_trainer_in_a_notebook_is_read(tmp_path):
    """Cells of HTML, one a line."""
    rows = [(step, 3 - step / 1000) for step in range(10, 501, 10)]

    loss = answer_of(tmp_path, notebook(shown(rows)), "train.ipynb")["loss"]

    assert (loss["points"], loss["first_step"], loss["last_step"], loss["last"]) == (50, 10, 500, 2.5)


@pytest.mark.parametrize("separators", [None, (",", ":")])
def test_a_notebook_on_one_line_is_read(tmp_path, separators):
    """What its cells printed and the table of a Trainer."""
    lines = [f"step {step} loss {3 - step / 100}" for step in range(1, 81)]
    rows = [(step, 3 - step / 1000) for step in range(10, 501, 10)]

    told = [
        answer_of(tmp_path, json.dumps(json.loads(notebook(one)), separators=separators), "train.ipynb")["loss"]
        for one in (printed(lines), shown(rows))
    ]

    assert [(one["points"], one["first_step"], one["last_step"]) for one in told] == [(80, 1, 80), (50, 10, 500)]


def test_the_error_of_a_notebook_is_its_cause(tmp_path):
    """The traceback is kept as strings of several lines."""
    error = {
        "output_type": "error",
        "ename": "OutOfMemoryError",
        "evalue": "CUDA out of memory.",
        "traceback": [
            "Traceback (most recent call last)",
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 15.00 GiB",
        ],
    }
    text = notebook(printed([f"step {step} loss {3 - step / 100}" for step in range(1, 81)]), error)

    assert answer_of(tmp_path, text, "train.ipynb")["diagnosis"]["category"] == "gpu_oom"


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("m.xml", '<?xml version="1.0"?>\n<run><loss>2.5</loss></run>\n', "XML, no log; give the run's text log"),
        ("m.log", "<!DOCTYPE html>\n<html><body>loss 2.5</body></html>\n", "HTML, no log; give the run's text log"),
        ("m.yaml", "losses:\n- 2.5\n- 2.25\nlr: fast\n", "this is YAML: give the run's text log"),
        ("m.ipynb", notebook(), "this is a notebook, of which only the printed outputs are read"),
    ],
)
def test_other_documents_are_named_and_the_way_is_told(tmp_path, name, text, why):
    """Nobody has to guess what to give instead."""
    assert why in answer_of(tmp_path, text, name)["diagnosis"]["unknown"][0]
