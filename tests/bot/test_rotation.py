"""A rotation that fits the writer, and proof whether one lost something: real writers, real files, real logrotate."""

import gzip
import os
import shutil
import subprocess
import sys
import time

import pytest

from bot.cli import main
from bot.rotation.advice import Kind, Way, kind_of, losses
from bot.rotation.check import check, wait_for_lines
from watcher.log_writers import writers_of

WRITER = "import sys, time\nfor n in range(10**6):\n print(f'step={n} loss=2.5 lr=0.1', flush=True); time.sleep(0.02)"


def lines(first, last):
    return b"".join(b"step=%d loss=2.5 lr=0.0001 grad_norm=1.0\n" % step for step in range(first, last + 1))


@pytest.fixture
def writing():
    """Start a writer on a log, opened as a shell would."""
    running = []

    def start(log, mode):
        with log.open(mode) as file:
            running.append(subprocess.Popen([sys.executable, "-c", WRITER], stdout=file))
        deadline = time.monotonic() + 60
        while not log.stat().st_size and time.monotonic() < deadline:
            time.sleep(0.02)
        return running[-1]

    yield start
    for process in running:
        process.kill()
        process.wait()


def test_how_a_writer_keeps_its_file_open_is_seen(tmp_path, writing):
    """`>>` appends, `>` does not; whoever only reads is no writer."""
    appended, overwritten = tmp_path / "a.log", tmp_path / "b.log"
    one, other = writing(appended, "ab"), writing(overwritten, "wb")
    with appended.open("rb"):
        (first,), (second,) = writers_of(appended), writers_of(overwritten)

    assert (first.pid, first.appends, first.is_redirected, first.is_live) == (one.pid, True, True, True)
    assert (second.pid, second.appends) == (other.pid, False)


def test_a_job_that_writes_into_a_deleted_file_is_told_with_its_rescue(tmp_path, writing):
    """The stanza that everybody copies: rename, compress at once, with a plain redirection."""
    log = tmp_path / "train.log"
    process = writing(log, "ab")
    log.rename(tmp_path / "train.log.1")
    log.touch()
    (tmp_path / "train.log.1.gz").write_bytes(gzip.compress((tmp_path / "train.log.1").read_bytes()))
    renamed = check(log)
    (tmp_path / "train.log.1").unlink()

    deleted = check(log)

    assert any("writes on into" in problem for problem in renamed.problems)
    assert any(f"cp /proc/{process.pid}/fd/1" in problem for problem in deleted.problems)


def test_over_live_rotated_and_packed_files_nothing_is_missing(tmp_path, writing):
    (tmp_path / "train.log.2.gz").write_bytes(gzip.compress(lines(0, 99)))
    (tmp_path / "train.log.1").write_bytes(lines(100, 199))
    (tmp_path / "train.log").write_bytes(lines(200, 299))

    found = check(tmp_path / "train.log", at_least=300)

    assert (found.loss_lines, found.problems) == (300, ())


def test_lines_that_stand_in_no_file_are_counted_and_placed(tmp_path):
    """Between two files the steps go on, or they are lost."""
    (tmp_path / "train.log.1").write_bytes(lines(0, 99))
    (tmp_path / "train.log").write_bytes(lines(103, 199))

    found = check(tmp_path / "train.log", at_least=200)

    assert found.problems == (
        "about 3 loss lines are in no file: train.log.1 ends at step 99, train.log begins at step 103",
        "3 loss lines went missing: 200 before, 197 now",
    )


def test_every_tenth_step_is_no_hole(tmp_path):
    """What is usual between neighbours is usual between files."""
    every_tenth = lines(0, 2000).splitlines(keepends=True)[::10]
    (tmp_path / "train.log.1").write_bytes(b"".join(every_tenth[:100]))
    (tmp_path / "train.log").write_bytes(b"".join(every_tenth[100:]))

    assert check(tmp_path / "train.log").holes == ()


def test_old_files_that_are_not_packed_are_named_but_the_newest_may_wait(tmp_path):
    for number in (3, 2, 1):
        (tmp_path / f"train.log.{number}").write_bytes(lines(300 - number * 100, 399 - number * 100))
    (tmp_path / "train.log").write_bytes(lines(300, 310))

    assert check(tmp_path / "train.log").problems == ("not compressed: train.log.3, train.log.2",)


def test_a_new_line_is_noticed(tmp_path, writing):
    log = tmp_path / "train.log"
    writing(log, "ab")

    assert wait_for_lines([log], 20.0) == {log: True}


def test_what_each_way_loses_depends_on_the_writer():
    """Renaming fits nobody who does not open the file anew."""
    assert kind_of([]) is Kind.UNKNOWN
    assert [loss.way for loss in losses(Kind.APPENDS) if loss.is_fit] == [Way.COPYTRUNCATE]
    assert [loss.way for loss in losses(Kind.OVERWRITES) if loss.is_fit] == []


def test_the_stanza_stands_under_its_reasons(tmp_path, writing, capsys):
    """For an appending writer it is live; for one that overwrites it is switched off until the next start."""
    appended, overwritten = tmp_path / "a.log", tmp_path / "b.log"
    writing(appended, "ab")
    writing(overwritten, "wb")

    codes = (
        main(["rotation", "config", "--log", str(appended)]),
        main(["rotation", "config", "--log", str(overwritten)]),
    )

    first, second = capsys.readouterr().out.split("# Written by")[1:]
    assert codes == (0, 0)
    assert f"\n{appended} {{" in first
    assert "which appends" in first
    for word in ("daily", "maxsize 500M", "rotate 7", "copytruncate", "compress", "missingok", "notifempty"):
        assert f"    {word}" in first
    assert f"\n# {overwritten} {{" in second
    assert not [line for line in second.splitlines()[1:] if line and not line.startswith("#")]


@pytest.mark.scenario
@pytest.mark.skipif(shutil.which("logrotate") is None, reason="logrotate is not installed")
def test_logrotate_takes_the_stanza_and_check_finds_nothing_missing(tmp_path, writing, capsys):
    """Printed, pasted, forced: the counts before and after agree."""
    log = tmp_path / "train.log"
    log.write_bytes(lines(0, 500))
    main(["rotation", "config", "--log", str(log)])
    conf = tmp_path / "logrotate.conf"
    conf.write_text(capsys.readouterr().out)
    conf.chmod(0o600)

    code = main(["rotation", "check", str(log), "--force", str(conf), "--wait", "0"])

    said = capsys.readouterr().out
    assert (code, "before the rotation: 501" in said, "nothing is missing" in said) == (0, True, True), said
    assert (tmp_path / "train.log.1").exists()


def test_a_run_of_the_settings_file_names_its_logs(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runwatch.toml").write_text('[[runs]]\nname = "run42"\nlogs = ["/data/run42/*.log"]\n')

    known, unknown = main(["rotation", "config", "--run", "run42"]), main(["rotation", "config", "--run", "run43"])

    assert (known, unknown) == (0, 2)
    assert "/data/run42/*.log {" in capsys.readouterr().out


def test_other_programs_get_their_own_lines(tmp_path, capsys):
    main(["rotation", "config", "--log", "/data/a.log", "--for", "loguru"])
    main(["rotation", "config", "--log", "/data/a.log", "--for", "logging"])

    said = capsys.readouterr().out
    assert 'logger.add("/data/a.log", rotation="500 MB"' in said
    assert 'RotatingFileHandler("/data/a.log", maxBytes=500_000_000, backupCount=7)' in said
    assert os.linesep in said


STANZAS = """\
# weekly
weekly
/var/log/syslog
/var/log/mail.log
{
    compress
}
%s/*.log "%s/with blank.log" {
    daily
    compress   # at once
    %s
    postrotate
        true
    endscript
}
"""


@pytest.mark.parametrize(
    "case",
    [
        ("missingok", "ab", "what python writes on will be deleted"),
        ("delaycompress", "ab", "it is rotated once only"),
        ("copytruncate", "wb", "each copy will be full of zeros"),
        ("copytruncate", "ab", None),
    ],
)
def test_a_rotation_that_is_already_set_up_is_judged_by_the_writer(tmp_path, writing, monkeypatch, case):
    """Found by its pattern among all that logrotate is told."""
    option, mode, words = case
    log, conf = tmp_path / "train.log", tmp_path / "logrotate.conf"
    conf.write_text(STANZAS % (tmp_path, tmp_path, option))
    monkeypatch.setattr("bot.rotation.existing.stanzas_for.__defaults__", ((str(conf), str(tmp_path / "none.d")),))
    writing(log, mode)

    said = " ".join(check(log).problems)

    assert (words in said) if words else said == ""


@pytest.fixture
def logs(tmp_path):
    """Two ranks' logs, one with a rotated copy, one with a packed one."""
    for name, first in (("rank0.log.1", 0), ("rank0.log", 100), ("rank1.log", 100)):
        (tmp_path / name).write_bytes(lines(first, first + 99))
    (tmp_path / "rank1.log-20260101.gz").write_bytes(gzip.compress(lines(0, 99)))
    return tmp_path


@pytest.mark.parametrize(
    "named",
    [
        ["*.log"],
        ["*"],
        ["."],
        ["rank0.log", "rank1.log"],
        [f"rank{n}" for n in ("0.log.1", "0.log", "1.log")],
        ["rank?.log"],
    ],
    ids=["pattern", "everything", "folder", "names", "as a shell spells it out", "sign"],
)
def test_check_takes_what_people_type(logs, capsys, monkeypatch, named):
    """A pattern in quotes or spelled out by the shell, a folder, names: each live log once, with its copies."""
    monkeypatch.chdir(logs)

    code = main(["rotation", "check", *named, "--wait", "0"])

    said = capsys.readouterr().out
    assert code == 0, said
    assert [line for line in said.splitlines() if line.endswith("in 2 files")] == [
        f"{logs}/rank0.log: 200 loss lines in 2 files",
        f"{logs}/rank1.log: 200 loss lines in 2 files",
    ]


def test_check_takes_a_run_of_the_settings_file(logs, capsys, monkeypatch):
    monkeypatch.chdir(logs)
    (logs / "runwatch.toml").write_text(f'[[runs]]\nname = "run42"\nlogs = ["{logs}/rank*.log"]\n')

    assert main(["rotation", "check", "--run", "run42", "--wait", "0"]) == 0
    assert capsys.readouterr().out.count("200 loss lines") == 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["*.txt"], "No log fits *.txt"),
        ([], "Say which logs"),
        (["*.log", "--before", "9"], "--before counts the lines of one log, and these are 2."),
    ],
)
def test_check_says_what_it_cannot_take(logs, capsys, monkeypatch, words, told):
    monkeypatch.chdir(logs)

    assert main(["rotation", "check", *words, "--wait", "0"]) == 2
    assert told in capsys.readouterr().err
