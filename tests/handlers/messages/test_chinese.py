"""Chinese is whole: no sentence of ours stays English in it, and nothing of others is translated."""

import ast
import gzip
import re
from pathlib import Path

import pytest

import handlers
from bot.causes import details_of
from bot.inspect import inspect
from diagnosis import advice, wording
from diagnosis.detectors import line_words
from diagnosis.loss_advice import FRAMEWORKS, checklist, how_to_print_loss
from diagnosis.next_steps import next_steps
from diagnosis.observations import Category, ProcessSample
from diagnosis.signatures import ROWS
from handlers.messages.causes import CAUSES
from handlers.messages.chinese import CHINESE, CLAUSES
from handlers.messages.clauses import Clauses
from handlers.messages.diagnosis import diagnosis_answer
from handlers.messages.languages import clause_spoken, speaking
from handlers.messages.phrase import Clause, say
from handlers.messages.snapshot_text import snapshot_text
from handlers.messages.stall_rows import say_process
from tests.bot.chinese import english_in, told_in
from watcher import evidence

ROOT = Path(handlers.__file__).parent
SAYING = {"say", "number_of", "button", "plain", "form", "_text", "_select", "_title", "_said", "_head"}


def labels(path):
    """Every sentence that stands where something is said."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in SAYING:
            for argument in node.args:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield argument.value


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: path.stem)
def test_every_sentence_has_its_translation(path):
    """What is only values, code and signs needs none."""
    said = {text for text in labels(path) if re.search(r"[A-Za-z]{2}", re.sub(r"\{\w*\}|`[^`]*`", "", text))}
    ids = {text for text in said if re.fullmatch(r"[a-z_]+", text) and text not in CHINESE}

    assert said - set(CHINESE) - ids == set()


def test_what_help_tells_is_told_in_chinese():
    """Commands, words and shortcuts describe themselves."""
    said = [one.summary for one in (*handlers.COMMANDS, *handlers.runwatch.SUBJECTS)]

    assert [one for one in said if one not in CHINESE] == []


@pytest.mark.parametrize("row", ROWS.values(), ids=lambda row: row.name)
def test_what_a_known_line_means_and_asks_for(row):
    """Its advice, and its words."""
    with speaking("zh"):
        if row.category is not Category.NONE:
            assert not english_in(clause_spoken(line_words.words_for(row.name, row.category, {})))
        assert not row.advice or clause_spoken(row.advice) != row.advice
        assert not english_in(clause_spoken(row.advice))


def test_what_categories_are_called_and_ask_for():
    """The sentences of a cause and what to do about it."""
    told = [*CAUSES.values(), *(step for steps in advice.ADVICE.values() for step in steps)]
    with speaking("zh"):
        assert [text for text in told if clause_spoken(text) == text] == []


def test_how_a_loss_is_printed_and_what_is_checked():
    """For every framework, and by hand."""
    told = [
        text for name in (*FRAMEWORKS, None) for text in (how_to_print_loss(name).why, how_to_print_loss(name).also)
    ]
    told += [text for check in checklist({}) for text in (check.what, check.advice)]
    with speaking("zh"):
        assert [text for text in told if english_in(Clause(text).plain)] == []


LOGS = {
    "nan": [f"step={step} loss={'nan' if step > 150 else 2.5} lr=0.0001 grad_norm=1.0" for step in range(200)],
    "spike": [f"step={step} loss={9.5 if 300 < step < 330 else 2.5 + step % 3 / 100} lr=1e-4" for step in range(500)],
    "climb": [f"step={step} loss={2.5 + max(0, step - 400) / 50:.3f} lr=1e-4 grad_norm=1.0" for step in range(700)],
    "memory": [
        *(f"step={step} loss=2.5" for step in range(50)),
        "[rank2]: torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 336.00 MiB.",
    ],
    "crash": [
        *(f"step={step} loss=2.5" for step in range(50)),
        "Traceback (most recent call last):",
        '  File "train.py", line 7, in step',
        "KeyError: 'labels'",
    ],
    "killed": [*(f"step={step} loss=2.5" for step in range(50)), "slurmstepd: error: Detected 1 oom_kill event"],
    "too long": ["step 1 loss 2.5", "x" * 70_000, "step 2 loss 2.5", "y" * 70_000, "step 3 loss 2.5"],
    "nothing": ["Downloading the data", "Please wait for a while now"],
}


@pytest.mark.parametrize("name", LOGS)
def test_an_answer_about_a_log_is_chinese(name, tmp_path):
    """All that is not the log's own word: the answer, its findings, their steps and what changed."""
    log = tmp_path / "rank2.log"
    log.write_text("\n".join(LOGS[name]) + "\n")
    found = inspect([str(log)])
    with speaking("zh"):
        told = list(told_in(diagnosis_answer(found.as_dict())))
        for finding in found.case.findings:
            steps = next_steps(finding, ranks=1, world_size=8)
            steps += next_steps(finding, ranks=1, world_size=8, is_down=True)
            told += [Clause(text, has_code=True).plain for text in (*steps, *finding.changes, finding.rule)]
            told.append(Clause(wording.first_clause(finding.text)).plain)
        told += [
            Clause(line, has_code=True).plain
            for text in details_of(found.diagnosis).values()
            for line in text.splitlines()
        ]

    assert [text for text in told if english_in(text)] == []


def test_an_answer_about_a_cut_log_is_chinese(tmp_path):
    """Its headline and what is not known."""
    log = tmp_path / "rank2.log.gz"
    log.write_bytes(gzip.compress("".join(f"step={step} loss=2.5\n" for step in range(900)).encode())[:-12])
    found = inspect([str(log)])
    with speaking("zh"):
        told = list(told_in(diagnosis_answer(found.as_dict())))

    assert any("没有发现问题" in text and "缺少结尾" in text for text in told)
    assert [text for text in told if english_in(text)] == []


def test_what_to_do_next_is_no_next_page():
    """One English word, two in Chinese."""
    with speaking("zh"):
        said = str(diagnosis_answer({"diagnosis": {"category": "gpu_oom", "next": ["Press Snapshot."]}}).blocks)

    assert "*下一步*" in said
    assert "下一页" not in said


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("There are: `--last`, `--vs`.", "可用的有：`--last`，`--vs`。"),
        ("`foo`: there are `stall`, `first`.", "`foo` ：可用的有 `stall`，`first`。"),
        ("I am no member there: `/invite @runwatch` helps", "我不是该频道的成员：请在其中 `/invite @runwatch`"),
    ],
)
def test_words_to_type_and_the_stop_stay_what_they_are(english, chinese):
    """A list ends before the stop of its sentence, and what is typed is typed so in every language."""
    with speaking("zh"):
        assert clause_spoken(english) == chinese


def test_a_snapshot_s_text_is_chinese():
    """Its pieces keep the names of their files; the lines of the log are the log's."""
    body = {
        "path": "/s",
        "pieces": [{"name": "stacks", "outcome": "unavailable", "why": "not allowed for this run (--stacks)"}],
        "moments": [
            {"text": "loss is NaN since step 61", "file": "a.log", "line": 7, "quote": "loss is nan", "at": 5.0}
        ],
    }
    with speaking("zh"):
        text = snapshot_text("run42", [("n1", body), ("n2", {"error": "the host was not looked at yet"})], "mine")

    left = re.sub(r"(?m)^ +loss is nan$|stacks|--stacks|a\.log|run42|mine|n[12]|UTC|NaN|/s", "", text)
    assert re.findall(r"[A-Za-z]+", left) == []


def reasons_of_collectors():
    """Every reason that stands where a collector says what became of it, with values in its places."""
    for path in sorted(Path(evidence.__file__).parent.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Result" and len(node.args) > 1:
                for said in ast.walk(node.args[1]):
                    if isinstance(said, ast.JoinedStr):
                        text = "".join(_filled(part) for part in said.values)
                        yield text.replace(" s/x", " s; it cannot be killed (pid 7, D)")
                        break
                    if isinstance(said, ast.Constant) and len(str(said.value)) > 2:
                        yield said.value


def _filled(part):
    """A number where one is written as such, a place in brackets, and else a program's name."""
    if isinstance(part, ast.Constant):
        return part.value
    named = ast.unparse(part.value)
    if named == "where":
        return "/x"
    return "7" if part.format_spec is not None or "code" in named or "pid" in named else "xy-smi"


@pytest.mark.parametrize("reason", sorted(set(reasons_of_collectors())))
def test_why_a_piece_is_missing_is_chinese(reason):
    """Only programs, paths and numbers stay."""
    with speaking("zh"):
        told = clause_spoken(reason)

    assert not re.search(r"[a-z]{3,} [a-z]{2,}", re.sub(r"/[\w/]+|xy-smi", "", told)), told


@pytest.mark.parametrize("state", ["running", "sleeping", "disk-sleep", "stopped", "zombie", "gone", "idle", "dead"])
def test_what_a_process_does_is_chinese(state):
    """In the table of `/stall`."""
    process = ProcessSample("n1", 1.0, 7, "python", state=state)
    with speaking("zh"):
        assert not re.search(r"[a-z]{2}", say_process(process).plain)


def test_what_others_wrote_stays_as_it_is():
    """A log's line, a note, a name: also where they are words of ours."""
    with speaking("zh"):
        assert say("{who} noted: {text}", who="bob", text="loss is NaN").plain == "bob 备注：loss is NaN"
        assert say("*{run}* stopped", run="loss").plain == "loss stopped"
        assert clause_spoken("rank 3: RuntimeError: a GPU is lost").endswith("RuntimeError: a GPU is lost")
        assert clause_spoken("a process crashed: loss is NaN") == "一个进程崩溃：loss is NaN"


def test_several_sentences_and_halves_are_translated_each():
    """As they are joined: by a stop, a half-stop, or with the line that shows them."""
    with speaking("zh"):
        assert clause_spoken("loss is NaN since step 41,200; last good: step 41,199 with loss 2.1") == (
            "损失自第 41,200 步起为 NaN；最后一个正常步：41,199，损失 2.1"
        )
        assert clause_spoken("There is no option `--foo`. Did you mean `--csv`?") == (
            "没有选项 `--foo`。你是指 `--csv` 吗？"
        )
        assert clause_spoken("• rank 2 is dead (processes of node002)") == "• rank 2 已终止（node002 的进程）"
        assert clause_spoken("rank 4 is dead (rank4.log:12)") == "rank 4 已终止（rank4.log:12）"


@pytest.mark.parametrize(
    "text", ["a; " * 600, "rank 1: " * 240, "`" * 1999, "(" * 1999, "x. X" * 490, "loss is " * 240]
)
def test_no_text_makes_it_slow(text):
    """Found in one pass: what fits no form is left alone (the limit of the test run ends what does not)."""
    with speaking("zh"):
        for start in range(20):
            clause_spoken(text[start:])


@pytest.mark.parametrize("english", CLAUSES, ids=range(len(CLAUSES)))
def test_a_clause_keeps_its_values_and_its_code(english):
    """Every value of the one stands in the other, and commands are letter for letter the same."""
    chinese = CLAUSES[english]

    assert sorted(re.findall(r"\{\w+\}", chinese)) == sorted(re.findall(r"\{\w+\}", english))
    assert sorted(re.findall(r"`[^`]+`", chinese)) == sorted(re.findall(r"`[^`]+`", english))


def test_numbers_clauses_and_words_are_told_apart():
    """What a value is called says what it must be."""
    clauses = Clauses({"hot": "热"}, {"step {n}": "步 {n}", "{c} now": "{c}了", "{node} now": "{node} 现在"}, {})

    assert clauses.translate("step 7") == "步 7"
    assert clauses.translate("step seven") == "step seven"
    assert clauses.translate("hot now") == "热了"
    assert clauses.translate("node17 now") == "node17 现在"
    assert clauses.translate("two words now") == "two words now"


@pytest.mark.parametrize(
    "filled",
    [
        "0 at step 6,000",
        "its loss lines are printed",
        "step 41,000 is the newest the log tells of; its last loss was 2.31, at step 40,990",
        "step 4 is the newest before the bad step 5; its loss was not finite any more at step 4, so take an older one",
        "one for each of 4 ranks",
        "8 ranks share one file",
        "8 ranks share 2 files",
        "every 10 steps",
    ],
)
def test_what_a_checklist_fills_in_is_told_in_chinese(filled):
    """Only names and numbers stay."""
    with speaking("zh"):
        told = say("{text}", text=Clause(filled)).plain

    assert not set(re.findall(r"[A-Za-z]+", told)) - {"rank"}
