"""Names that may be given to a run, and what is said of the others."""

import pytest

from bot.cli import main
from watcher.run_names import why_refused

REFUSED = [
    "",
    "  ",
    "a b/../c",
    "<!channel>",
    "<@U123>",
    "a&amp;b",
    "two\nlines",
    "esc\x1b[31m",
    "a\u202eb",
    "nul\0",
    "`code`",
    'quo"te',
    "it's",
    "“smart”",
    "a" * 101,
    "a" * 300,
    " run",
    "--last",
    "@here",
    "#general",
]


@pytest.mark.parametrize("name", REFUSED)
def test_what_nobody_can_type_is_refused(name):
    """Each for a reason."""
    assert why_refused(name)


@pytest.mark.parametrize(
    "name", ["run42", "llama-7b_v2.1", "team/run42", "lr=3e-4", "训练-7b", "läuft", "my run", "a" * 100]
)
def test_what_people_call_their_runs_is_allowed(name):
    """Whatever the language."""
    assert why_refused(name) is None


@pytest.mark.parametrize("name", [name for name in REFUSED if name.strip() and not name.startswith("-")])
@pytest.mark.parametrize("command", ["watch", "run"])
def test_a_watcher_does_not_start_under_such_a_name(name, command, tmp_path, capsys, monkeypatch):
    """One printable sentence on stderr, exit 2."""
    monkeypatch.chdir(tmp_path)
    words = [command, "--run", name, "--log", "train.log", *(["--", "true"] if command == "run" else [])]

    code = main(words)

    said = capsys.readouterr().err
    assert code == 2
    assert "Cannot watch a run called" in said
    assert said.strip().isprintable()


def test_a_run_of_a_settings_file_is_refused_too(tmp_path, capsys, monkeypatch):
    """Wherever the name was written."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runwatch.toml").write_text('[[runs]]\nname = "<!channel>"\nlogs = ["a.log"]\n')

    assert main(["watch"]) == 2
    assert "its name holds <" in capsys.readouterr().err
