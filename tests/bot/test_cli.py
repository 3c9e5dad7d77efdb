"""The command line: what each command refuses, and in which words."""

import gzip
import importlib
import lzma
import pkgutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import bot.inspect
from bot import cli, commands
from bot.cli import COMMANDS, FAILURE, FINE, IN_SLACK_ONLY, USAGE, main
from handlers.runwatch import SUBJECTS

ROOT = Path(__file__).parents[2]


def test_every_file_of_the_folder_is_a_command():
    """So nobody forgets the line."""
    assert {name for _, name, _ in pkgutil.iter_modules(commands.__path__)} == set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_summary_and_help(name, capsys):
    """`--help` of each command says in one line what it does, and exits 0."""
    code = main([name, "--help"])

    out = capsys.readouterr().out
    assert code == FINE
    assert importlib.import_module(f"bot.commands.{name}").SUMMARY in " ".join(out.split())
    assert out.rpartition("\n\n")[2].startswith("exit code")


@pytest.mark.parametrize(
    ("log", "code"),
    [
        ("".join(f"step={step} loss={3 - step / 1000:.4f} lr=0.0001\n" for step in range(300)), 0),
        ("".join(f"step={step} loss={'nan' if step > 200 else 2.5} lr=0.0001\n" for step in range(300)), 1),
        ("nothing of a training\n", 1),
        (None, 2),
        ("RuntimeError", 3),
    ],
    ids=["well", "trouble", "cannot tell", "no such file", "our own failure"],
)
def test_inspect_ends_with_the_code_that_its_help_names(log, code, tmp_path, capsys, monkeypatch):
    """A script may rely on it."""
    path = tmp_path / "train.log"
    if log is not None:
        path.write_text(log)
    if code == FAILURE:
        monkeypatch.setattr(bot.inspect, "inspect", lambda *_, **__: 1 // 0)

    assert main(["inspect", str(path)]) == code

    capsys.readouterr()
    main(["inspect", "--help"])
    told = " ".join(capsys.readouterr().out.split()).partition("exit codes: ")[2]
    assert [part.split()[0] for part in told.split("; ")] == ["0", "1", "2", "3"]


def test_without_a_command_the_list_is_shown(capsys):
    """A newcomer sees every command, and where to start."""
    assert main([]) == USAGE

    out = capsys.readouterr().out
    assert all(f"  {name} " in out for name in COMMANDS)
    assert "runwatch demo" in out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["insepct", "x"], "Did you mean `runwatch inspect`?"),
        (["frobnicate"], "There are: demo"),
        (["inspect"], "it needs PATH"),
        (["inspect", "/no/such/file"], "There is no file or folder /no/such/file."),
        (["inspect", "-"], "Standard input is not read: write it into a file first."),
        (["inspect", "--jsno", "x"], "Did you mean --json?"),
        (["watch"], "Nothing to watch."),
        (["watch", "--run", "a"], "Give both --run NAME and --log GLOB"),
        (["watch", "--run", "a", "--log", "x", "--label", "team"], "KEY=VALUE"),
        (["watch", "--config", "/no/such.toml"], "Cannot read /no/such.toml"),
        (["watch", "--run", "a", "--log", "x", "--from", "middle"], "auto"),
        (["bot"], "Set SLACK_BOT_TOKEN"),
        (["health"], "it needs bot|watcher"),
        (["snapshot"], "it needs RUN. "),
        (["replay", "--foo"], "unknown argument --foo"),
        (["inspect", "--jsno"], "Did you mean --json?"),
        (["demo", "--port", "99999"], "a port lies between 1 and 65,535"),
        (["demo", "--port", "-1"], "a port lies between 1 and 65,535"),
        (["demo", "--seconds", "-1"], "the demo needs some time"),
        (["demo", "--seconds", "nan"], "the demo needs some time"),
        (["redact", "/no/such/file"], "Cannot read /no/such/file"),
    ],
)
def test_wrong_use_gets_a_sentence_with_what_is_right(words, told, capsys, monkeypatch, tmp_path):
    """Exit 2, nothing on stdout, one sentence on stderr, no traceback."""
    monkeypatch.chdir(tmp_path)
    for name in ("SLACK_BOT_TOKEN", "RUNWATCH_CONFIG"):
        monkeypatch.delenv(name, raising=False)

    code = main(words)

    captured = capsys.readouterr()
    assert code == USAGE
    assert captured.out == ""
    assert told in captured.err
    assert "Traceback" not in captured.err


def test_a_demo_does_not_take_another_port_than_the_one_it_was_given(capsys):
    """Whoever names a port has bookmarked or forwarded it."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        assert main(["demo", "--port", str(port), "--seconds", "1"]) == USAGE

    assert f"Port {port} of 127.0.0.1 is taken" in capsys.readouterr().err


def test_our_own_failure_is_called_ours(capsys, monkeypatch):
    """Exit 3, and the sentence says that the person did nothing wrong."""
    monkeypatch.setattr(
        cli,
        "module_of",
        lambda _: type("Broken", (), {"SUMMARY": "", "configure": lambda _: None, "run": lambda _: 1 / 0}),
    )
    monkeypatch.delenv("RUNWATCH_TRACEBACK", raising=False)

    assert main(["inspect"]) == cli.FAILURE
    assert "our own failure, not yours" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["inspect", "replay"])
def test_a_link_that_leads_nowhere_is_told_from_a_wrong_name(command, capsys, tmp_path):
    """`ls` shows it, so "there is no file" would puzzle."""
    (tmp_path / "train.log").symlink_to("/no/such/disk/train.log")

    assert main([command, str(tmp_path / "train.log")]) == USAGE

    assert f"{tmp_path}/train.log is a link to /no/such/disk/train.log, which is not there." in capsys.readouterr().err


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress, lambda data: data.decode().encode("utf-16")])
def test_secrets_are_shown_masked_however_the_file_is_packed(pack, capfd, tmp_path):
    """What a rotated log holds is masked where it is unpacked, so it is here."""
    file = tmp_path / "train.log.1"
    file.write_bytes(pack(b"step 1\nWANDB_API_KEY=0123456789abcdef0123456789abcdef01234567\n"))

    assert main(["redact", str(file)]) == 0

    told = capfd.readouterr()
    assert told.out.startswith("step 1\nWANDB_API_KEY=")
    assert "0123456789abcdef" not in told.out
    assert told.err == "1 secret masked\n"


@pytest.mark.parametrize("name", ["watch", "inspect", "redact"])
def test_a_command_imports_its_own_side_only(name):
    """A node never loads Slack's libraries or matplotlib, whatever it is asked."""
    code = (
        "import sys, contextlib, io; from bot.cli import main\n"
        f"with contextlib.redirect_stdout(io.StringIO()): main([{name!r}, '--help'])\n"
        "print([m for m in ('slack_bolt', 'slack_sdk', 'aiohttp', 'matplotlib', 'pandas', 'numpy') if m in sys.modules])"
    )

    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)

    assert out.stdout.strip() == "[]"


def test_a_closed_pipe_is_no_failure(tmp_path):
    """`runwatch inspect … | head` ends quietly."""
    log = tmp_path / "a.log"
    log.write_text("".join(f"step={n} loss=2.0\n" for n in range(1, 50)))

    done = subprocess.run(
        f"{sys.executable} -m bot.cli inspect --json {log} | true",
        shell=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )

    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


def test_every_word_of_slack_that_is_no_command_is_known():
    """So nobody forgets it."""
    assert set(IN_SLACK_ONLY) == {subject.name for subject in SUBJECTS} - set(COMMANDS)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["checklist", "run42"], "type `/runwatch checklist run42` there"),
        *(([word], f"type `/runwatch {word}` there") for word in IN_SLACK_ONLY),
        (["checklst"], "Did you mean `/runwatch checklist`, which is typed in Slack?"),
        (["inspct"], "Did you mean `runwatch inspect`?"),
    ],
)
def test_a_word_of_slack_is_sent_there(typed, said, capsys):
    """A newcomer reads of it and types it in a shell."""
    assert main(typed) == USAGE

    assert said in capsys.readouterr().err
